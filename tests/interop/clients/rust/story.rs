//! What a session goes through, feature by feature.

use core::time::Duration;
use std::thread;

use stomp_proto::Version;
use stomp_proto::client::{AckMode, EndTransaction, SendRequest};

use super::peer::Peer;
use super::{Outcome, Setting, lacks, ok};

const BEAT: Duration = Duration::from_secs(1);
const BINARY: &[u8] = b"\0\xff\xfe\x80 \0 end\n\0";
const MIB: usize = 1 << 20;
const DEAD_LETTERS: &str = "/queue/ActiveMQ.DLQ";

pub(super) fn play(setting: &Setting) -> Outcome<()> {
    let queue = &*setting.queue;
    let mut peer = Peer::connect(setting)?;
    ok("connect")?;
    peer.subscribe(queue, AckMode::ClientIndividual)?;
    ok("subscribe")?;
    peer.send(SendRequest::new(queue).body("héllo"))?;
    let message = peer.message("héllo".as_bytes())?;
    ok("send")?;
    ok("receipt")?;
    peer.ack(&message)?;
    ok("ack")?;
    nack(&mut peer, setting)?;
    transaction(&mut peer, queue)?;
    body(&mut peer, queue, BINARY)?;
    ok("binary")?;
    let large: Vec<u8> = (0..=u8::MAX).cycle().take(MIB).collect();
    body(&mut peer, queue, &large)?;
    ok("1-MiB")?;
    escapes(&mut peer, setting)?;
    heart_beat(&mut peer, setting)?;
    peer.disconnect()?;
    ok("disconnect")?;
    ack_modes(setting)
}

fn nack(peer: &mut Peer, setting: &Setting) -> Outcome<()> {
    if setting.is_activemq && setting.version == Version::V1_0 {
        return lacks("nack", "ActiveMQ has no NACK in 1.0");
    }
    let request = SendRequest::new(&setting.queue).header("persistent", "true");
    peer.send(request.body("again"))?;
    let message = peer.message(b"again")?;
    peer.nack(&message)?;
    if setting.is_activemq {
        let dead = peer.subscribe(DEAD_LETTERS, AckMode::ClientIndividual)?;
        let message = peer.message(b"again")?;
        peer.ack(&message)?;
        peer.unsubscribe(dead)?;
    } else {
        let again = peer.message(b"again")?;
        let redelivered = again.headers().get("redelivered");
        equal(&redelivered.as_deref(), &Some("true"))?;
        peer.ack(&again)?;
    }
    ok("nack")
}

fn transaction(peer: &mut Peer, queue: &str) -> Outcome<()> {
    let aborted = peer.session().begin()?;
    peer.session().send(&SendRequest::new(queue).transaction(&aborted).body("aborted"))?;
    let receipt = peer.session().next_receipt();
    peer.session().abort(EndTransaction::new(aborted).receipt(receipt)).map_err(refused)?;
    peer.receipt(receipt)?;

    let committed = peer.session().begin()?;
    for body in ["committed", "together"] {
        peer.session().send(&SendRequest::new(queue).transaction(&committed).body(body))?;
    }
    let receipt = peer.session().next_receipt();
    peer.session().commit(EndTransaction::new(committed).receipt(receipt)).map_err(refused)?;
    peer.receipt(receipt)?;
    for body in ["committed", "together"] {
        let message = peer.message(body.as_bytes())?;
        peer.ack(&message)?;
    }
    ok("transaction")
}

/// A body that comes back as it was sent.
fn body(peer: &mut Peer, queue: &str, body: &[u8]) -> Outcome<()> {
    peer.send(SendRequest::new(queue).body(body.to_vec()))?;
    let message = peer.message(body)?;
    peer.ack(&message)
}

fn escapes(peer: &mut Peer, setting: &Setting) -> Outcome<()> {
    let value = match setting.version {
        Version::V1_0 => return lacks("escapes", "1.0 has no escapes"),
        Version::V1_1 => "a:b\\c\nd",
        Version::V1_2 => "a:b\\c\nd\re",
    };
    let request = SendRequest::new(&setting.queue).header("x:escaped", value);
    peer.send(request.body("escaped"))?;
    let message = peer.message(b"escaped")?;
    equal(&message.headers().get("x:escaped").as_deref(), &Some(value))?;
    peer.ack(&message)?;
    ok("escapes")
}

/// Nothing but beats, until somebody else sends a message.
fn heart_beat(peer: &mut Peer, setting: &Setting) -> Outcome<()> {
    if setting.version == Version::V1_0 {
        return lacks("heart-beat", "1.0 has no heart-beats");
    }
    let agreed = peer.session().heart_beat();
    equal(&(agreed.outgoing, agreed.incoming), &(Some(BEAT), Some(BEAT)))?;
    let other = setting.clone();
    let sender = thread::spawn(move || {
        thread::sleep(other.silence);
        send_late(&other).map_err(|error| error.to_string())
    });
    let message = peer.message(b"still here")?;
    peer.ack(&message)?;
    sender.join().map_err(|_| "the other session panicked")??;
    ok("heart-beat")
}

fn send_late(setting: &Setting) -> Outcome<()> {
    let mut peer = Peer::connect(setting)?;
    peer.send(SendRequest::new(&setting.queue).body("still here"))?;
    peer.disconnect()
}

/// What is left of three messages when some of them were acknowledged.
fn ack_modes(setting: &Setting) -> Outcome<()> {
    let cases: [(AckMode, &[usize], &[&str]); 3] = [
        (AckMode::Auto, &[], &[]),
        (AckMode::Client, &[1], &["three"]),
        (AckMode::ClientIndividual, &[0, 2], &["two"]),
    ];
    for (mode, acknowledged, left) in cases {
        let mut peer = Peer::connect(setting)?;
        peer.subscribe(&setting.queue, mode)?;
        let mut messages = Vec::new();
        for body in ["one", "two", "three"] {
            peer.send(SendRequest::new(&setting.queue).body(body))?;
            messages.push(peer.message(body.as_bytes())?);
        }
        equal(&messages.iter().all(|it| it.token().is_none()), &(mode == AckMode::Auto))?;
        for index in acknowledged {
            peer.ack(messages.get(*index).ok_or("there are three messages")?)?;
        }
        peer.disconnect()?;

        let mut next = Peer::connect(setting)?;
        next.send(SendRequest::new(&setting.queue).body("behind them"))?;
        next.subscribe(&setting.queue, AckMode::ClientIndividual)?;
        for body in left.iter().chain(&["behind them"]) {
            let message = next.message(body.as_bytes())?;
            next.ack(&message)?;
        }
        next.disconnect()?;
    }
    ok("ack-modes")
}

fn refused<T>(refused: stomp_proto::Refused<T>) -> stomp_proto::UsageError {
    refused.error
}

fn equal<T: PartialEq + core::fmt::Debug>(is: &T, should_be: &T) -> Outcome<()> {
    if is == should_be { Ok(()) } else { Err(format!("{is:?} instead of {should_be:?}").into()) }
}
