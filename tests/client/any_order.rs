//! Any calls in any order, and octets in any pieces: nothing panics, and what must hold does.

use bytes::Buf;
use proptest::prelude::*;
use stomp_proto::client::{
    AckMode, AckRequest, AckToken, EndTransaction, Event, SendRequest, SubscribeRequest,
    SubscriptionId, Transaction, UnsubscribeRequest,
};
use stomp_proto::{Command, Frame, HeartBeat, Session, Version};

use crate::harness::{App, NOTHING, config, message, receipt};

#[derive(Clone, Debug)]
enum Step {
    Feed(String),
    Poll,
    Take(usize),
    Advance(u64),
    Eof,
    Lost,
    Send { with_receipt: bool },
    Subscribe { by_client: bool, named: bool },
    Unsubscribe,
    Ack,
    Begin,
    Commit,
    SendFrame,
    Disconnect,
    Succeed,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let whole = prop_oneof![
        6 => Just("CONNECTED\nversion:1.2\nheart-beat:500,500\n\n\0".to_owned()),
        2 => Just("CONNECTED\nsession: s\n\n\0".to_owned()),
        8 => (0..4u8).prop_map(|id| message(&id.to_string(), "m")),
        2 => Just("MESSAGE\nmessage-id:1\ndestination:/q\n\nx\0".to_owned()),
        6 => (0..6u8).prop_map(|id| receipt(&id.to_string())),
        1 => Just("ERROR\nreceipt-id:2\n\n\0".to_owned()),
        3 => Just("\n".to_owned()),
        1 => "[A-Z\n:\0]{0,12}",
    ];
    let step = prop_oneof![
        10 => whole.prop_map(Step::Feed),
        8 => Just(Step::Poll),
        4 => (0..200usize).prop_map(Step::Take),
        4 => (0..900u64).prop_map(Step::Advance),
        1 => Just(Step::Eof),
        1 => Just(Step::Lost),
        4 => any::<bool>().prop_map(|with_receipt| Step::Send { with_receipt }),
        4 => any::<(bool, bool)>()
            .prop_map(|(by_client, named)| Step::Subscribe { by_client, named }),
        2 => Just(Step::Unsubscribe),
        4 => Just(Step::Ack),
        2 => Just(Step::Begin),
        2 => Just(Step::Commit),
        1 => Just(Step::SendFrame),
        1 => Just(Step::Disconnect),
        1 => Just(Step::Succeed),
    ];
    let connected = Just(Step::Feed("CONNECTED\nversion:1.1\n\n\0".into()));
    (prop::option::of(connected), prop::collection::vec(step, 0..60))
        .prop_map(|(first, steps)| first.into_iter().chain([Step::Poll]).chain(steps).collect())
}

/// An application that does what it is told, and keeps what it gets.
struct Anybody {
    app: App,
    out: Vec<u8>,
    is_closed: bool,
    is_lost: bool,
    subscriptions: Vec<SubscriptionId>,
    tokens: Vec<AckToken>,
    transactions: Vec<Transaction>,
}

impl Anybody {
    fn new() -> Self {
        let beats = HeartBeat { can_send: 300, wants: 300 };
        Self {
            app: App::unwritten(config().heart_beat(beats)),
            out: Vec::new(),
            is_closed: false,
            is_lost: false,
            subscriptions: Vec::new(),
            tokens: Vec::new(),
            transactions: Vec::new(),
        }
    }

    fn follow(&mut self, step: Step) {
        let before = self.app.client.outbox().remaining();
        let is_refused = match step {
            Step::Feed(octets) => return self.app.feed(octets),
            Step::Poll => return self.poll(),
            Step::Take(count) => return self.take(count),
            Step::Advance(by) => {
                let at = u64::try_from(self.app.now.as_millis()).unwrap() + by;
                return self.app.at(at);
            }
            Step::Eof => return self.app.client.handle_eof(),
            Step::Lost => {
                self.is_lost = true;
                return self.app.client.handle_lost();
            }
            Step::Succeed => return self.succeed(),
            Step::Send { with_receipt } => {
                let receipt = self.app.client.next_receipt();
                let request = SendRequest::new("/q").body("x");
                let request = if with_receipt { request.receipt(receipt) } else { request };
                self.app.client.send(&request).is_err()
            }
            Step::Subscribe { by_client, named } => {
                let mode = if by_client { AckMode::Client } else { AckMode::Auto };
                let request = SubscribeRequest::new("/q").ack(mode);
                let request = if named { request.id("0") } else { request };
                let subscription = self.app.client.subscribe(&request);
                self.subscriptions.extend(subscription.iter());
                subscription.is_err()
            }
            Step::Unsubscribe => {
                let Some(id) = self.subscriptions.pop() else { return };
                self.app.client.unsubscribe(UnsubscribeRequest::new(id)).is_err()
            }
            Step::Ack => {
                let Some(token) = self.tokens.pop() else { return };
                self.app.client.ack(AckRequest::new(&token)).is_err()
            }
            Step::Begin => {
                let transaction = self.app.client.begin();
                let is_refused = transaction.is_err();
                self.transactions.extend(transaction);
                is_refused
            }
            Step::Commit => {
                let Some(transaction) = self.transactions.pop() else { return };
                let refused = self.app.client.commit(EndTransaction::new(transaction)).err();
                let is_refused = refused.is_some();
                self.transactions.extend(refused.map(|refused| refused.token));
                is_refused
            }
            Step::SendFrame => {
                let frame = Frame::builder(Command::Send).header("receipt", "3").build();
                self.app.client.send_frame(&frame).is_err()
            }
            Step::Disconnect => self.app.client.disconnect(self.app.now).is_err(),
        };
        let after = self.app.client.outbox().remaining();
        if is_refused {
            assert_eq!(after, before, "a refusal queues nothing");
        } else if !self.is_lost {
            assert!(after > before, "the rest does");
        }
    }

    fn poll(&mut self) {
        match self.app.event() {
            Some(_) if self.is_closed => panic!("an event after the last"),
            Some(Event::Closed(_)) => self.is_closed = true,
            Some(Event::Message(message)) => self.tokens.extend(message.token()),
            _ => {}
        }
    }

    fn take(&mut self, count: usize) {
        let outbox = self.app.client.outbox();
        let count = count.min(outbox.remaining());
        self.out.extend_from_slice(&outbox.copy_to_bytes(count));
    }

    fn succeed(&mut self) {
        self.check();
        let successor = self.app.client.successor(config(), self.app.now);
        self.app = App::of(successor.unwrap());
        (self.is_closed, self.is_lost, self.out) = (false, false, Vec::new());
    }

    /// What must hold of the octets that have left.
    fn check(&mut self) {
        self.take(usize::MAX);
        let frames = self.out.split(|octet| *octet == 0);
        let commands: Vec<_> = frames
            .map(<[u8]>::trim_ascii_start)
            .map(|frame| frame.split(|octet| *octet == b'\n').next().unwrap_or_default().to_vec())
            .collect();
        let at = |command: &[u8]| commands.iter().position(|it| it == command);
        assert!(matches!(at(b"CONNECT"), Some(0) | None));
        assert!(commands.iter().filter(|it| *it == b"CONNECT").count() <= 1);
        if let Some(last) = at(b"DISCONNECT") {
            let behind = commands.get(last + 1);
            assert!(behind.is_none_or(Vec::is_empty), "nothing follows DISCONNECT");
            let is_whole = behind.is_some();
            assert!(!is_whole || self.out.ends_with(b"\n\n\0"), "not even a heart-beat");
        }
    }
}

proptest! {
    #[test]
    fn any_calls_in_any_order_do_no_harm(steps in steps()) {
        let mut anybody = Anybody::new();
        for step in steps {
            anybody.follow(step);
        }
        anybody.app.client.handle_lost();
        while !anybody.is_closed {
            anybody.poll();
        }
        assert!(anybody.app.client.is_finished());
        assert_eq!(anybody.app.client.poll_timeout(), None);
        anybody.check();
        assert_eq!(anybody.app.told(), NOTHING);
    }

    #[test]
    fn octets_in_any_pieces_tell_the_same(
        ids in prop::collection::vec(0..4u8, 0..12),
        version in prop::sample::select(&Version::ALL[..]),
        pieces in prop::collection::vec(1..40usize, 1..20),
    ) {
        let mut octets = format!("\nCONNECTED\nversion:{version}\n\n\0\n");
        for id in ids {
            octets += &if id == 0 { receipt("1") } else { message("0", &id.to_string()) };
        }
        octets += "ERROR\nmessage:x\n\n\0";
        let mut whole = App::new(config());
        let expected = whole.hears(&octets);
        let mut app = App::new(config());
        let mut told = Vec::new();
        let mut rest = octets.as_bytes();
        for piece in pieces.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(piece.min(rest.len()));
            told.extend(app.hears(now));
            rest = later;
        }
        prop_assert_eq!(told, expected);
    }
}
