//! A long dialogue, cut off at every octet of either direction: what was confirmed was done, what was
//! open is listed, nothing is settled twice, and who connects again settles each message once.
//!
//! The books of the model follow the dialogue as far as its octets come: they say what each end is
//! told, to the last event, and what the client knows of its requests.

use bytes::Bytes;
use stomp_proto::client::{AckMode, AckRequest, SendRequest};
use stomp_proto::{CloseReason, HeartBeat, Session, UsageError, Version};

use crate::broker::{Answers, Broker};
use crate::harness::{Other, Pair, Setup, ms};
use crate::model::books::What;
use crate::model::endings::{Answer, Asked};
use crate::model::operations::Operation;
use crate::model::player::{Player, Stage};
use crate::network::{Chunking, Cut, Dice};

/// All that a client and a broker have to say to each other, whatever becomes of the session in the
/// meantime.
fn dialogue() -> Vec<Operation> {
    use Operation::{Begin, Disconnect, Drive, Turn, Wait};
    let receipt = true;
    let daring = false;
    let subscribe = |mode, receipt| Operation::Subscribe { name: None, mode, receipt, daring };
    let send = |transaction, receipt| Operation::Send { transaction, receipt };
    let deliver = |to| Operation::Deliver { to, message_id: None, ack_id: None, daring };
    let settle = |nack, token, transaction| {
        let receipt = token % 2 == 1;
        Operation::Settle { nack, token, transaction, receipt, daring }
    };
    let confirm = || Operation::Confirm(0);
    let end = |commit, place| Operation::End { commit, place, receipt };
    let mut all = vec![subscribe(0, receipt), subscribe(1, receipt), subscribe(2, false), Drive];
    all.extend([confirm(), confirm(), confirm(), Drive]);
    all.extend([send(None, receipt), send(None, receipt), send(None, false), Drive]);
    // Of the mode client 4 to 7, client-individual 8 to 11, auto 12.
    all.extend([0, 0, 0, 0, 1, 1, 1, 1, 2].map(deliver));
    all.extend([
        Drive,
        settle(false, 1, None),
        Turn,
        settle(false, 3, None),
        settle(true, 2, None),
    ]);
    all.extend([confirm(), confirm(), confirm(), Drive, confirm(), confirm(), confirm(), Drive]);
    // Both ends beat.
    all.extend([Wait(1600), Begin, send(Some(0), receipt), settle(false, 1, Some(0)), Drive]);
    all.extend([Begin, send(Some(1), false), settle(true, 1, Some(1)), Turn]);
    all.extend([end(true, 0), end(false, 0), Drive, confirm(), Drive]);
    all.extend([deliver(1), deliver(0), deliver(0), Drive]);
    all.extend([Operation::Unsubscribe { place: 0, receipt }, Drive, confirm(), Drive]);
    // Late, of the subscription that has ended; and a transaction that is left open.
    all.extend([settle(false, 3, None), Begin, settle(false, 0, Some(0)), send(Some(0), receipt)]);
    all.extend([deliver(0), Turn, Disconnect, Drive, confirm(), confirm(), Drive]);
    all
}

/// What cuts it off.
#[derive(Clone, Copy, Debug)]
struct Fault {
    cut: Cut,
    other: Other,
}

const NONE: Fault = Fault { cut: Cut::End, other: Other::Stays };

/// One direction ends, and what the other end has to say to it arrives.
const HALF: Fault = NONE;
/// Both ends find out at once, or one of them later.
const ENDED: Fault = Fault { cut: Cut::End, other: Other::Ends(Cut::End, ms(0)) };
const RESET: Fault = Fault { cut: Cut::Reset, other: Other::Ends(Cut::Reset, ms(0)) };
const RESET_LATER: Fault = Fault { cut: Cut::Reset, other: Other::Ends(Cut::Reset, ms(700)) };
/// One end, or neither, finds out but by the silence.
const SILENT: Fault = Fault { cut: Cut::Silence, other: Other::Ends(Cut::Silence, ms(0)) };
const ENDED_AND_SILENT: Fault = Fault { cut: Cut::End, other: Other::Ends(Cut::Silence, ms(0)) };

fn setup(version: Version, chunking: Chunking) -> Setup {
    let beats = HeartBeat { can_send: 1000, wants: 1000 };
    let mut setup = Setup::new(version, chunking);
    setup.client = setup.client.heart_beat(beats);
    setup.accept = setup.accept.heart_beat(beats);
    setup
}

/// Where a session is cut off: behind how many octets of the client's, and of the server's.
type Cuts = [Option<usize>; 2];

/// Holds the dialogue with a fault in it.
fn hold(setup: &Setup, answers: Answers, cuts: Cuts, fault: Fault) -> Player {
    let mut setup = setup.clone();
    setup.other = fault.other;
    let mut player = Player::new((setup, answers));
    let Pair { up, down, .. } = &mut player.pair;
    for (wire, cut) in [up, down].into_iter().zip(cuts) {
        (wire.cut, wire.cut_is) = (cut, fault.cut);
    }
    for operation in dialogue() {
        player.play(&operation);
    }
    player.play(&Operation::Wait(30_000));
    player
}

/// What was confirmed was done, what was not is known, and each message is settled once.
fn check(player: &mut Player) {
    let cuts = format!("cut at {:?} and {:?}", player.pair.up.cut, player.pair.down.cut);
    assert!(player.has_client_closed && player.server == Stage::Closed, "{cuts}");
    let Pair { client, server, broker, up, .. } = &mut player.pair;
    assert!(client.is_finished() && server.is_finished(), "{cuts}");
    assert_eq!(client.send(&SendRequest::new("/q")), Err(UsageError::Closed), "{cuts}");
    for (asked, is_done) in player.asked.iter().map(|it| (it, is_done(it, &player.asked, broker))) {
        let has_left = up.record().len() > asked.start;
        assert!(is_done != Some(false) || asked.answer != Answer::Receipt, "{cuts}: {asked:?}");
        assert!(is_done != Some(true) || has_left, "{cuts}: {asked:?}");
    }
    assert_settled_once(broker, &cuts);
}

/// Whether what was asked for has happened, if that can be told by what the broker has.
fn is_done(asked: &Asked, all: &[Asked], broker: &Broker) -> Option<bool> {
    Some(match &asked.what {
        What::Send { body, transaction: None } => broker.sent.contains(&Bytes::from(body.clone())),
        What::Settle { nack, transaction: None, .. } => {
            let done = if *nack { &broker.refused } else { &broker.consumed };
            done.contains(&asked.settles?)
        }
        What::Commit(number) => {
            let is_part = |it: &&Asked| it.what.transaction() == Some(*number);
            let parts = all.iter().filter(is_part).map(|it| is_done(&alone(it), all, broker));
            let parts: Vec<_> = parts.flatten().collect();
            assert!(parts.iter().all(|part| *part == parts[0]), "{asked:?} is done in part");
            parts[0]
        }
        _ => return None,
    })
}

/// A request as if it were of no transaction.
fn alone(asked: &Asked) -> Asked {
    let mut asked = asked.clone();
    if let What::Send { transaction, .. } | What::Settle { transaction, .. } = &mut asked.what {
        *transaction = None;
    }
    asked
}

/// Each message that was delivered was consumed, refused or given back, for each time that it was.
fn assert_settled_once(broker: &Broker, cuts: &str) {
    let mut settled = [&broker.consumed[..], &broker.refused, &broker.given_back].concat();
    let mut delivered = broker.delivered.clone();
    settled.sort_unstable();
    delivered.sort_unstable();
    assert_eq!(settled, delivered, "{cuts}");
}

/// The client connects again, says again what it does not know to have been heard, and consumes all
/// that there is.
fn go_on(player: &mut Player) {
    let (owed, once): (Vec<_>, Vec<_>) = {
        let left = player.pair.up.record().len();
        let is_owed = |it: &&Asked| it.answer == Answer::Nothing && it.receipt.is_some();
        let sends = player.asked.iter().filter(|it| sent(it).is_some());
        let (owed, heard): (Vec<_>, Vec<_>) = sends.partition(is_owed);
        let once = owed.iter().filter(|it| it.start >= left).chain(&heard);
        let once = once.filter(|it| it.receipt.is_some()).filter_map(|it| sent(it)).collect();
        (owed.iter().filter_map(|it| Some((it.receipt?, sent(it)?))).collect(), once)
    };
    let pair = &mut player.pair;
    (pair.setup.other, pair.broker.answers) = (Other::Stays, Answers::AtOnce);
    let old = pair.listener.messages.len();
    pair.reconnect(pair.setup.client.clone());
    pair.drive();
    for (receipt, body) in &owed {
        pair.client.send(&SendRequest::new("/sent").body(body.clone()).receipt(*receipt)).unwrap();
    }
    for destination in ["/nowhere", "/sent"] {
        pair.subscribe(destination, AckMode::ClientIndividual);
    }
    pair.drive();
    for message in &pair.listener.messages[old..] {
        let (token, receipt) = (message.token().unwrap(), pair.client.next_receipt());
        pair.client.ack(AckRequest::new(&token).receipt(receipt)).unwrap();
    }
    pair.drive();
    assert_eq!((pair.client.unconfirmed().count(), pair.server.unacknowledged()), (0, 0));
    pair.client.disconnect(pair.now).unwrap();
    pair.drive();
    assert_eq!(pair.listener.closed, Some(CloseReason::Disconnected));
    let broker = &pair.broker;
    let mut settled = [&broker.consumed[..], &broker.refused].concat();
    settled.sort_unstable();
    assert!(settled.into_iter().eq(1..=broker.taken()), "each once, and none is left");
    assert_settled_once(broker, "at last");
    let count = |body: &Bytes| broker.sent.iter().filter(|sent| *sent == body).count();
    assert!(owed.iter().all(|(_, body)| matches!(count(body), 1 | 2)), "none is lost");
    assert!(once.iter().all(|body| count(body) == 1), "none is lost, none is there twice");
}

/// The body that was sent, other than in a transaction.
fn sent(asked: &Asked) -> Option<Bytes> {
    match &asked.what {
        What::Send { body, transaction: None } => Some(Bytes::from(body.clone())),
        _ => None,
    }
}

/// A session that is cut off before it is one: nothing comes of it, and the next is like any other.
fn hold_handshake(setup: &Setup, cuts: Cuts, fault: Fault) {
    let mut setup = setup.clone();
    setup.other = fault.other;
    let mut pair = setup.start();
    for (wire, cut) in [&mut pair.up, &mut pair.down].into_iter().zip(cuts) {
        (wire.cut, wire.cut_is) = (cut, fault.cut);
    }
    pair.run_for(ms(30_000));
    let (told, broker_told) = (pair.listener.told(), pair.broker.told());
    let cuts = format!("cut at {cuts:?} by {fault:?}: {told:?}, {broker_told:?}");
    for told in [&told, &broker_told] {
        let closed = told.iter().filter(|it| it.starts_with("CLOSED")).count();
        assert!(closed == 1 && told.len() <= 2, "{cuts}");
    }
    assert!(told.len() < 2 || broker_told.len() == 2, "{cuts}: it is accepted or not connected");
    assert!(broker_told.last().unwrap().ends_with("[]"), "{cuts}");
    assert!(pair.client.is_finished() && pair.server.is_finished(), "{cuts}");
    assert_eq!(pair.client.unconfirmed().count(), 0);
    pair.setup.other = Other::Stays;
    pair.reconnect(pair.setup.client.clone());
    pair.drive();
    assert_eq!(pair.listener.told(), [format!("CONNECTED {}", pair.setup.version)]);
}

/// How many octets each end says until the client is connected, and in all.
fn lengths(setup: &Setup, answers: Answers) -> [[usize; 2]; 2] {
    let connected = setup.clone().connected();
    let mut player = hold(setup, answers, [None; 2], NONE);
    check(&mut player);
    let Pair { broker, up, down, .. } = &player.pair;
    assert_eq!(broker.consumed, [12, 4, 5, 9, 6, 7, 15]);
    assert_eq!(broker.refused, [8]);
    // 10 was acknowledged in the transaction that was left open, 16 is of the subscription that ended.
    assert_eq!(broker.given_back, [10, 11, 14, 16, 17]);
    assert_eq!(broker.sent.len(), 4);
    let said = [up, down].map(|wire| String::from_utf8_lossy(wire.record()).into_owned());
    for (said, commands) in said.iter().zip(COMMANDS) {
        for command in commands {
            assert!(said.contains(&format!("\0{command}\n")), "{command}");
        }
        assert!(said.contains("\0\n"), "a beat");
    }
    assert_eq!(player.pair.client.unconfirmed().count(), 0);
    let lengths =
        [&connected, &player.pair].map(|it| [&it.up, &it.down].map(|it| it.record().len()));
    go_on(&mut player);
    lengths
}

/// What either end has to say beside CONNECT and CONNECTED.
const COMMANDS: [&[&str]; 2] = [
    &["SUBSCRIBE", "SEND", "ACK", "NACK", "BEGIN", "COMMIT", "ABORT", "UNSUBSCRIBE", "DISCONNECT"],
    &["RECEIPT", "MESSAGE"],
];

/// Cuts one direction off at one octet in so many, from the first on.
fn cut_at(octets: [usize; 2], setup: &Setup, answers: Answers, fault: Fault) {
    let [connected, whole] = lengths(setup, answers);
    for direction in [0, 1] {
        for cut in (octets[0]..=whole[direction]).step_by(octets[1]) {
            let mut cuts = [None; 2];
            cuts[direction] = Some(cut);
            if cut <= connected[direction] {
                hold_handshake(setup, cuts, fault);
                continue;
            }
            let mut player = hold(setup, answers, cuts, fault);
            check(&mut player);
            go_on(&mut player);
        }
    }
}

/// Cuts at every octet, each in one version.
fn in_one_version_or_another(answers: Answers, fault: Fault) {
    for (first, version) in Version::ALL.into_iter().enumerate() {
        cut_at([first, 3], &setup(version, Chunking::Whole), answers, fault);
    }
}

#[test]
fn one_direction_ends_at_any_octet_in_any_version() {
    for version in Version::ALL {
        cut_at([0, 1], &setup(version, Chunking::Whole), Answers::AtOnce, HALF);
    }
}

#[test]
fn one_direction_ends_at_any_octet_and_a_broker_takes_its_time() {
    in_one_version_or_another(Answers::Later, HALF);
}

#[test]
fn both_directions_end_at_any_octet() {
    in_one_version_or_another(Answers::AtOnce, ENDED);
}

#[test]
fn the_connection_is_reset_at_any_octet() {
    in_one_version_or_another(Answers::AtOnce, RESET);
}

#[test]
fn the_connection_is_reset_at_any_octet_and_one_end_finds_out_later() {
    in_one_version_or_another(Answers::AtOnce, RESET_LATER);
}

#[test]
fn both_directions_fall_silent_at_any_octet() {
    in_one_version_or_another(Answers::AtOnce, SILENT);
}

#[test]
fn one_direction_ends_at_any_octet_and_the_other_falls_silent() {
    in_one_version_or_another(Answers::AtOnce, ENDED_AND_SILENT);
}

#[test]
fn one_direction_ends_and_octets_are_read_one_by_one() {
    for (first, version) in Version::ALL.into_iter().enumerate() {
        cut_at([5 * first, 15], &setup(version, Chunking::Octets), Answers::AtOnce, HALF);
    }
}

#[test]
fn each_direction_ends_somewhere_in_reads_of_any_length() {
    let mut dice = Dice::new(2012);
    for version in Version::ALL {
        let setup = setup(version, Chunking::Random(7));
        let [connected, whole] = lengths(&setup, Answers::AtOnce);
        for _ in 0..60 {
            let cuts = [0, 1].map(|at| {
                let most = (whole[at] - connected[at] - 1) as u64;
                Some(connected[at] + 1 + usize::try_from(dice.roll(most)).unwrap())
            });
            let mut player = hold(&setup, Answers::AtOnce, cuts, HALF);
            check(&mut player);
            go_on(&mut player);
        }
    }
}
