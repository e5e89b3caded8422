//! Anything at any time, to small buffers and on a bad network: what must hold whatever happens.

use bytes::Bytes;
use proptest::prelude::*;
use stomp_proto::client::{AckMode, SendRequest, SubscribeRequest};
use stomp_proto::codec::Limits;
use stomp_proto::server::{Delivery, Failure, Reply};
use stomp_proto::{HeartBeat, Session, Version};

use super::cases;
use crate::broker::Answers;
use crate::harness::{Pair, Setup, ms};
use crate::network::Chunking;

#[derive(Clone, Debug)]
pub(crate) enum Whim {
    Subscribe(AckMode),
    Unsubscribe(usize),
    Send {
        len: usize,
        receipt: bool,
    },
    Settle {
        nack: bool,
    },
    SendInTransaction {
        commit: bool,
    },
    Disconnect,
    Publish(usize),
    Answer(Answers),
    Confirm(usize),
    Fail,
    Appetite(usize),
    Asleep(bool),
    Latency(u64),
    Capacity(usize),
    Turn,
    Run(u64),
    /// Nobody takes a turn for so long.
    Oversleep(u64),
    Silence {
        up: bool,
    },
    Cut {
        up: bool,
        ahead: usize,
    },
    Lose,
    Reconnect,
}

fn whims() -> impl Strategy<Value = Vec<Whim>> {
    let modes = vec![AckMode::Auto, AckMode::Client, AckMode::ClientIndividual];
    let answers = [Answers::AtOnce, Answers::AtOnce, Answers::AtOnce, Answers::Later];
    let whim = prop_oneof![
        60 => prop::sample::select(modes).prop_map(Whim::Subscribe),
        15 => any::<usize>().prop_map(Whim::Unsubscribe),
        50 => (0..3000_usize, any::<bool>()).prop_map(|(len, receipt)| Whim::Send { len, receipt }),
        70 => any::<bool>().prop_map(|nack| Whim::Settle { nack }),
        20 => any::<bool>().prop_map(|commit| Whim::SendInTransaction { commit }),
        120 => (0..3000_usize).prop_map(Whim::Publish),
        60 => any::<usize>().prop_map(Whim::Confirm),
        10 => prop::sample::select(answers.to_vec()).prop_map(Whim::Answer),
        20 => prop::sample::select(vec![0, 1, usize::MAX, usize::MAX]).prop_map(Whim::Appetite),
        20 => prop::bool::weighted(0.3).prop_map(Whim::Asleep),
        10 => (0..500_u64).prop_map(Whim::Latency),
        20 => (20..3000_usize).prop_map(Whim::Capacity),
        60 => Just(Whim::Turn),
        120 => (0..2000_u64).prop_map(Whim::Run),
        10 => Just(Whim::Reconnect),
        4 => (0..10_000_u64).prop_map(Whim::Oversleep),
        3 => Just(Whim::Disconnect),
        2 => Just(Whim::Answer(Answers::Failing("no"))),
        2 => Just(Whim::Fail),
        2 => any::<bool>().prop_map(|up| Whim::Silence { up }),
        3 => (any::<bool>(), 0..3000_usize).prop_map(|(up, ahead)| Whim::Cut { up, ahead }),
        2 => Just(Whim::Lose),
    ];
    prop::collection::vec(whim, 0..80)
}

fn setups() -> impl Strategy<Value = Setup> {
    let version = prop::sample::select(Version::ALL.to_vec());
    let chunking = prop_oneof![Just(Chunking::Whole), any::<u64>().prop_map(Chunking::Random)];
    let beats = prop::array::uniform4(prop_oneof![Just(0), 1..3000_u32]);
    let most = (50..5000_usize, 50..5000_usize);
    (version, chunking, beats, most).prop_map(|(version, chunking, beats, most)| {
        let mut limits = Limits::default();
        (limits.max_inbox_len, limits.max_outbox_len) = most;
        let mut setup = Setup::new(version, chunking);
        let heart_beat = |can_send, wants| HeartBeat { can_send, wants };
        setup.client = setup.client.heart_beat(heart_beat(beats[0], beats[1]));
        setup.accept = setup.accept.heart_beat(heart_beat(beats[2], beats[3]));
        setup.client = setup.client.limits(limits.clone());
        setup.server.limits = limits;
        setup
    })
}

/// What was told of any end, over all sessions.
#[derive(Default)]
struct Log {
    client: Vec<String>,
    server: Vec<String>,
    sessions: usize,
}

impl Log {
    fn take(&mut self, pair: &mut Pair) {
        self.client.extend(pair.listener.told());
        self.server.extend(pair.broker.told());
    }

    /// The sessions are over, all of them and each once, and nobody has broken the protocol.
    fn check(&self) {
        for told in [&self.client, &self.server] {
            let closed = told.iter().filter(|it| it.starts_with("CLOSED"));
            assert_eq!(closed.clone().count(), self.sessions, "{told:?}");
            // A stream may be cut off, by the network or by an end that has waited long enough.
            let mut wrong = closed.filter(|it| it.contains("Protocol("));
            assert!(wrong.all(|it| it.contains("Truncated")), "{told:?}");
        }
    }
}

fn follow(pair: &mut Pair, log: &mut Log, whim: &Whim) {
    let body = |len: usize| Bytes::from(vec![b'x'; len]);
    match *whim {
        Whim::Subscribe(mode) => {
            let request = SubscribeRequest::new("/q").ack(mode);
            pair.listener.subscriptions.extend(pair.client.subscribe(&request));
        }
        Whim::Unsubscribe(place) => {
            if let Some(place) = place.checked_rem(pair.listener.subscriptions.len()) {
                let _: Result<_, _> = pair.client.unsubscribe(pair.listener.subscriptions[place]);
            }
        }
        Whim::Send { len, receipt } => {
            let mut request = SendRequest::new("/sent").body(body(len));
            if receipt {
                request = request.receipt(pair.client.next_receipt());
            }
            let _: Result<_, _> = pair.client.send(&request);
        }
        // Each once, but not if there is no room at the time.
        Whim::Settle { nack } => {
            if let Some(token) = pair.listener.messages.pop().and_then(|it| it.token()) {
                let client = &mut pair.client;
                let _: Result<_, _> = if nack { client.nack(&token) } else { client.ack(&token) };
            }
        }
        Whim::SendInTransaction { commit } => {
            let Ok(transaction) = pair.client.begin() else { return };
            let request = SendRequest::new("/sent").transaction(&transaction);
            let _: Result<_, _> = pair.client.send(&request);
            drop(request);
            let client = &mut pair.client;
            let ended = if commit { client.commit(transaction) } else { client.abort(transaction) };
            assert!(ended.is_ok(), "it is never refused for lack of room");
        }
        Whim::Disconnect => {
            let _: Result<_, _> = pair.client.disconnect(pair.now);
        }
        Whim::Publish(len) => {
            let delivery = Delivery::builder("/q").body(body(len)).build();
            pair.broker.publish("/q", delivery);
        }
        Whim::Answer(answers) => pair.broker.answers = answers,
        Whim::Confirm(place) => {
            if let Some(place) = place.checked_rem(pair.broker.owed.len()) {
                let owed = pair.broker.owed.remove(place).unwrap();
                pair.broker.try_confirm(&mut pair.server, owed);
            }
        }
        Whim::Fail => {
            let _: Result<_, _> = pair.server.fail(None::<Reply>, &Failure::new("enough"));
        }
        Whim::Appetite(appetite) => pair.listener.appetite = appetite,
        Whim::Asleep(is_asleep) => pair.broker.is_asleep = is_asleep,
        Whim::Latency(latency) => {
            (pair.up.latency, pair.down.latency) = (ms(latency), ms(latency / 2));
        }
        Whim::Capacity(capacity) => {
            (pair.up.capacity, pair.down.capacity) = (capacity, capacity);
        }
        Whim::Turn => {
            pair.turn();
        }
        Whim::Run(time) => pair.run_for(ms(time)),
        Whim::Oversleep(time) => pair.now += ms(time),
        Whim::Silence { up: true } => pair.up.fall_silent(),
        Whim::Silence { up: false } => pair.down.fall_silent(),
        Whim::Cut { up, ahead } => {
            let wire = if up { &mut pair.up } else { &mut pair.down };
            wire.cut = Some(wire.record().len() + ahead);
        }
        Whim::Lose => pair.lose(),
        Whim::Reconnect => {
            end(pair);
            log.take(pair);
            pair.listener.messages.clear();
            pair.broker.answers = Answers::AtOnce;
            pair.reconnect(pair.setup.client.clone());
            log.sessions += 1;
        }
    }
}

/// The session ends at once, if it has not ended.
fn end(pair: &mut Pair) {
    (pair.listener.appetite, pair.broker.is_asleep) = (usize::MAX, false);
    pair.lose();
    pair.turn();
    assert!(pair.client.is_finished() && pair.server.is_finished());
}

/// A pair, and all that happens to it.
pub(crate) type Chaos = (Setup, Vec<Whim>);

fn chaos() -> impl Strategy<Value = Chaos> {
    (setups(), whims())
}

/// Sees that sessions end and books balance.
pub(crate) fn follow_all((setup, whims): Chaos) {
    let mut pair = setup.start();
    let mut log = Log { sessions: 1, ..Log::default() };
    for whim in &whims {
        follow(&mut pair, &mut log, whim);
    }
    (pair.listener.appetite, pair.broker.is_asleep) = (usize::MAX, false);
    (pair.up.capacity, pair.down.capacity) = (10_000, 10_000);
    let _: Result<_, _> = pair.client.disconnect(pair.now);
    pair.run_for(ms(60_000));
    if pair.listener.closed.is_some() {
        assert!(pair.client.is_finished(), "whatever the other end does");
    }
    end(&mut pair);
    log.take(&mut pair);
    log.check();
    let broker = &pair.broker;
    let settled = [&broker.consumed, &broker.refused, &broker.given_back];
    let mut settled: Vec<u64> = settled.into_iter().flatten().copied().collect();
    let mut delivered = broker.delivered.clone();
    settled.sort_unstable();
    delivered.sort_unstable();
    assert_eq!(settled, delivered);
}

proptest! {
    #![proptest_config(cases(600))]

    /// Nothing panics, no deadline stays behind, nothing follows the last event, every message is
    /// settled once for each time that it was delivered, and neither end accuses the other.
    #[test]
    fn whatever_happens_sessions_end_and_books_balance(chaos in chaos()) {
        follow_all(chaos);
    }
}
