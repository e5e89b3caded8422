//! Any calls in any order: no panic, no value lost or given twice, no octet that is not STOMP.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use bytes::Buf;
use proptest::prelude::*;
use stomp_proto::codec::{Decoder, DecoderConfig, Item};
use stomp_proto::server::{
    Accept, ConnectReply, Delivery, Event, Failure, LedgerEntry, Reply, SubscriptionId, Work,
};
use stomp_proto::{Command, HeartBeat, Role, Server, ServerConfig, Session, Version};

use crate::harness::{PRESETS, limited, ms};

#[derive(Clone, Debug)]
enum Step {
    Feed(String),
    Poll,
    Accept,
    /// Confirms the reply at that place among those that are owed.
    Confirm(usize),
    Fail,
    Deliver {
        subscription: usize,
        message_id: Option<u8>,
        large: bool,
    },
    Release(usize),
    /// The client acknowledges what was written at that place, perhaps in a transaction.
    Settle {
        message: usize,
        nack: bool,
        transaction: Option<u8>,
    },
    Drain(usize),
    Wait(u64),
    Eof,
    Lost,
}

/// A session with all that can be said about it from outside.
struct Observer {
    server: Server<Duration, u64>,
    version: Version,
    now: Duration,
    connects: Vec<ConnectReply>,
    replies: Vec<Reply>,
    subscriptions: Vec<SubscriptionId>,
    delivered: u64,
    /// What the ledger has to give back some day.
    open: BTreeSet<u64>,
    wire: Decoder,
    messages: Vec<BTreeMap<String, String>>,
    answered: BTreeSet<String>,
    last: Option<Command>,
    receipts: u32,
    is_over: bool,
}

impl Observer {
    fn new(config: ServerConfig, version: Version) -> Self {
        Self {
            server: Server::new(config, ms(0)),
            version,
            now: ms(0),
            connects: Vec::new(),
            replies: Vec::new(),
            subscriptions: Vec::new(),
            delivered: 0,
            open: BTreeSet::new(),
            wire: Decoder::new(DecoderConfig::default()),
            messages: Vec::new(),
            answered: BTreeSet::new(),
            last: None,
            receipts: 0,
            is_over: false,
        }
    }

    fn come_back(&mut self, entries: &[LedgerEntry<u64>]) {
        for entry in entries {
            assert!(self.open.remove(&entry.value), "{entry:?} came back, but was not open");
        }
        assert!(entries.is_sorted_by_key(|entry| entry.tag), "{entries:?}");
    }

    fn poll(&mut self) {
        let Some(event) = self.server.poll_event(self.now) else { return };
        assert!(!self.is_over, "after the last event: {event:?}");
        match event {
            Event::Connect { reply, .. } => return self.connects.push(reply),
            Event::Send { reply, .. }
            | Event::Unsubscribe { reply, .. }
            | Event::Disconnect { reply, .. } => self.replies.push(reply),
            Event::Subscribe { frame, reply } => {
                self.subscriptions.push(frame.subscription());
                self.replies.push(reply);
            }
            Event::Ack { deliveries, reply, .. } | Event::Nack { deliveries, reply, .. } => {
                assert!(!deliveries.is_empty());
                self.come_back(&deliveries);
                self.replies.push(reply);
            }
            Event::Commit { work, reply, .. } => {
                for work in work {
                    if let Work::Ack { deliveries, .. } | Work::Nack { deliveries, .. } = work {
                        self.come_back(&deliveries);
                    }
                }
                self.replies.push(reply);
            }
            Event::Closed { open, .. } => {
                self.come_back(&open);
                assert!(self.open.is_empty(), "never came back: {:?}", self.open);
                self.is_over = true;
            }
        }
        assert_eq!(self.server.unacknowledged(), self.open.len());
    }

    fn drain(&mut self, count: usize) {
        let octets = self.server.outbox().copy_to_bytes(count);
        self.wire.push(&octets);
        while let Some(item) = self.wire.next_item().expect("what a server writes is STOMP") {
            let Item::Frame(frame) = item else {
                assert!(self.last.is_some(), "a beat before CONNECTED");
                continue;
            };
            assert_ne!(self.last, Some(Command::Error), "a frame after ERROR: {frame:?}");
            assert_eq!(frame.command().sender(), Role::Server);
            let is_first = matches!(frame.command(), Command::Connected | Command::Error);
            assert!(is_first || self.last.is_some(), "before CONNECTED: {frame:?}");
            self.last = Some(frame.command());
            match frame.command() {
                Command::Connected => self.wire.set_version(self.version),
                Command::Message => {
                    let headers = frame.headers().iter();
                    let headers = headers.map(|one| (one.name().into(), one.value().into()));
                    self.messages.push(headers.collect());
                }
                _ => {}
            }
            if let Some(id) = frame.header("receipt-id") {
                assert!(self.answered.insert(id.to_string()), "{id} was answered twice");
            }
        }
    }

    fn feed(&mut self, frame: &str) {
        self.receipts += 1;
        let frame = frame.replace("RECEIPT", &format!("receipt:{}\n", self.receipts));
        self.server.receive(frame.as_bytes());
    }

    fn settle(&mut self, message: usize, nack: bool, transaction: Option<u8>) {
        let Some(message) = self.messages.get(message % self.messages.len().max(1)) else { return };
        let names: &[(&str, &str)] = match self.version {
            Version::V1_0 => &[("message-id", "message-id")],
            Version::V1_1 => &[("message-id", "message-id"), ("subscription", "subscription")],
            Version::V1_2 => &[("id", "ack")],
        };
        let mut frame = if nack { "NACK\n".to_owned() } else { "ACK\n".to_owned() };
        for (to, from) in names {
            let Some(value) = message.get(*from) else { return };
            frame = format!("{frame}{to}:{value}\n");
        }
        if let Some(transaction) = transaction {
            frame = format!("{frame}transaction:{transaction}\n");
        }
        self.feed(&(frame + "RECEIPT\n\0"));
    }

    fn deliver(&mut self, subscription: usize, message_id: Option<u8>, large: bool) {
        let known = self.subscriptions.get(subscription % self.subscriptions.len().max(1));
        let Some(subscription) = known else { return };
        let mut delivery = Delivery::builder("/q").header("k", "a\rb:c");
        if let Some(id) = message_id {
            // Of the kind that the session draws itself.
            let (id, place) = (id / 4, id % 4);
            let (id, ack) = (format!("{id}-{place}"), format!("a{id}-{place}"));
            delivery = delivery.message_id(&id).ack_id(&ack);
        }
        let delivery = delivery.body(if large { "x".repeat(3000) } else { String::new() });
        self.delivered += 1;
        let value = self.delivered;
        match self.server.deliver(*subscription, &delivery.build(), value) {
            Ok(delivered) => match delivered.settled {
                Some(settled) => assert_eq!(settled, value),
                None => assert!(self.open.insert(value)),
            },
            Err(refused) => assert_eq!(refused.token, value),
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Feed(frame) => self.feed(frame),
            Step::Poll => self.poll(),
            Step::Accept => {
                let Some(reply) = self.connects.pop() else { return };
                let heart_beat = HeartBeat { can_send: 1000, wants: 1000 };
                let accept = Accept::new("s").heart_beat(heart_beat);
                let _ = self.server.accept(reply, &accept);
            }
            Step::Confirm(at) => {
                if self.replies.is_empty() {
                    return;
                }
                let reply = self.replies.swap_remove(at % self.replies.len());
                let _ = self.server.confirm(reply);
            }
            Step::Fail => {
                let _ = self.server.fail(self.replies.pop(), &Failure::new("a:b\nc"));
            }
            Step::Deliver { subscription, message_id, large } => {
                self.deliver(*subscription, *message_id, *large);
            }
            Step::Release(at) => {
                let known = self.subscriptions.get(at % self.subscriptions.len().max(1));
                let Some(subscription) = known else { return };
                let released = self.server.release(*subscription);
                self.come_back(&released);
            }
            Step::Settle { message, nack, transaction } => {
                self.settle(*message, *nack, *transaction);
            }
            Step::Drain(count) => self.drain(*count),
            Step::Wait(milliseconds) => {
                self.now += ms(*milliseconds);
                self.server.handle_timeout(self.now);
                let next = self.server.poll_timeout();
                assert!(next.is_none_or(|next| next > self.now), "{next:?} at {:?}", self.now);
            }
            Step::Eof => self.server.handle_eof(),
            Step::Lost => self.server.handle_lost(),
        }
    }

    /// Whatever happened, the session ends when its transport does.
    fn end(mut self) {
        self.drain(usize::MAX);
        self.server.handle_lost();
        while !self.is_over {
            let owed = self.replies.len() + self.connects.len();
            self.poll();
            assert!(self.is_over || self.replies.len() + self.connects.len() > owed);
        }
        assert!(self.server.is_finished());
        assert!(self.server.poll_event(self.now).is_none());
        assert_eq!((self.server.poll_timeout(), self.server.outbox().remaining()), (None, 0));
    }
}

fn step() -> impl Strategy<Value = Step> {
    let feed = |frame: String| Step::Feed(frame);
    let mode = prop::sample::select(vec!["auto", "client", "client-individual"]);
    let transaction = || prop::option::of(0..3u8);
    prop_oneof![
        2 => (0..3u8, mode).prop_map(move |(id, mode)| {
            feed(format!("SUBSCRIBE\nid:{id}\ndestination:/q\nack:{mode}\nRECEIPT\n\0"))
        }),
        2 => (0..3u8).prop_map(move |id| feed(format!("UNSUBSCRIBE\nid:{id}\nRECEIPT\n\0"))),
        2 => transaction().prop_map(move |name| {
            let line = name.map(|name| format!("transaction:{name}\n")).unwrap_or_default();
            feed(format!("SEND\ndestination:/q\n{line}RECEIPT\nx\0"))
        }),
        3 => (0..3u8, 0..3usize).prop_map(move |(name, which)| {
            let command = ["BEGIN", "COMMIT", "ABORT"][which];
            feed(format!("{command}\ntransaction:{name}\nRECEIPT\n\0"))
        }),
        1 => prop::sample::select(vec!["\n", "\r\n", "DISCONNECT\nRECEIPT\n\0", "SEND\ndest"])
            .prop_map(move |octets| feed(octets.to_owned())),
        10 => Just(Step::Poll),
        1 => Just(Step::Accept),
        8 => (0..4usize).prop_map(Step::Confirm),
        8 => (0..4usize, prop::option::of(0..32u8), prop::bool::weighted(0.1)).prop_map(
            |(subscription, message_id, large)| Step::Deliver { subscription, message_id, large }
        ),
        1 => (0..4usize).prop_map(Step::Release),
        8 => (0..20usize, any::<bool>(), transaction())
            .prop_map(|(message, nack, transaction)| Step::Settle { message, nack, transaction }),
        6 => (0..4000usize).prop_map(Step::Drain),
        2 => (0..900u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_is_said_twice(
        version in prop::sample::select(Version::ALL.to_vec()),
        preset in 0..3usize,
        opens in prop::bool::weighted(0.95),
        steps in prop::collection::vec(step(), 1..80),
        ends in prop::option::weighted(0.3, (any::<bool>(), 0..80usize)),
        fails in prop::option::weighted(0.1, 0..80usize),
    ) {
        let mut config = limited(|limits| {
            limits.max_outbox_len = 4000;
            limits.max_unacknowledged = 6;
            limits.max_subscriptions = 4;
            limits.max_transaction_frames = 4;
        });
        config.dialect = PRESETS[preset];
        let mut observer = Observer::new(config, version);
        if opens {
            let beats = "heart-beat:1000,1000\n";
            observer.feed(&format!("CONNECT\naccept-version:{version}\nhost:h\n{beats}\n\0"));
            observer.step(&Step::Poll);
            observer.step(&Step::Accept);
        }
        for (number, step) in steps.iter().enumerate() {
            observer.step(step);
            if fails == Some(number) {
                observer.step(&Step::Fail);
            }
            if let Some((lost, at)) = ends {
                if at == number {
                    observer.step(if lost { &Step::Lost } else { &Step::Eof });
                }
            }
        }
        observer.end();
    }
}
