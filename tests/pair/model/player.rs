//! Plays operations on a pair, and holds each end against the books after every one.

use alloc::collections::VecDeque;
use core::time::Duration;

use bytes::Buf;
use stomp_proto::Session;
use stomp_proto::client::{AckMode, AckToken, Message, ReceiptId, SubscriptionId, Transaction};
use stomp_proto::server::Dialect;

use super::books::{Books, Ids, Outcome, Request, What};
use super::endings::Asked;
use super::operations::{NAMES, Operation};
use crate::broker::Answers;
use crate::harness::{Pair, Setup, V1_0, ms};

/// What the client is to be told.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    Words(String),
    /// A message of the subscription at that place.
    Message {
        number: u64,
        of: usize,
    },
}

/// A subscription, as the client has it.
#[derive(Clone, Debug)]
pub(super) struct Subscribed {
    pub(super) id: SubscriptionId,
    pub(super) name: String,
    pub(super) mode: AckMode,
    pub(super) is_live: bool,
}

/// What acknowledges a message, and whether it has.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) of_client: AckToken,
    pub(super) ids: Ids,
    pub(super) number: u64,
    /// The place of the subscription.
    pub(super) of: usize,
    pub(super) usage: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    None,
    /// In a transaction that is open.
    In(u64),
    Full,
}

/// What confirming a request does, beside its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Live(usize),
    End,
}

/// How far the server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Connected,
    /// The application has been told of DISCONNECT.
    Closing,
    Closed,
}

pub(crate) struct Player {
    pub(crate) pair: Pair,
    pub(super) books: Books,
    /// Under way to the server.
    pub(super) requests: VecDeque<Request>,
    /// That the application has not answered.
    pub(super) owed: VecDeque<(Option<ReceiptId>, Effect)>,
    /// What the application behind the server is to be told.
    pub(super) to_be_told: Vec<String>,
    /// Under way to the client.
    pub(super) expected: VecDeque<Expected>,
    pub(super) subscriptions: Vec<Subscribed>,
    pub(super) transactions: Vec<(u64, Transaction)>,
    pub(super) begun: u64,
    pub(super) tokens: Vec<Token>,
    /// Messages of the listener's that were looked at.
    pub(super) seen: usize,
    pub(super) disconnected: Option<Duration>,
    pub(crate) server: Stage,
    pub(crate) has_client_closed: bool,
    /// All that the client has asked for.
    pub(crate) asked: Vec<Asked>,
    /// The octets that go out before the next request.
    pub(super) start: usize,
    /// The events of the client that a frame made, CONNECTED first.
    pub(super) heard: usize,
}

impl Player {
    pub(crate) fn new((setup, answers): (Setup, Answers)) -> Self {
        let books = Books::new(setup.version, setup.server.dialect);
        let mut pair = setup.connected();
        pair.broker.answers = answers;
        Self {
            pair,
            books,
            requests: VecDeque::new(),
            owed: VecDeque::new(),
            to_be_told: Vec::new(),
            expected: VecDeque::new(),
            subscriptions: Vec::new(),
            transactions: Vec::new(),
            begun: 0,
            tokens: Vec::new(),
            seen: 0,
            disconnected: None,
            server: Stage::Connected,
            has_client_closed: false,
            asked: Vec::new(),
            start: 0,
            heard: 1,
        }
    }

    pub(crate) fn play(&mut self, operation: &Operation) {
        match *operation {
            Operation::Subscribe { name, mode, receipt, daring } => {
                self.subscribe(name, mode, receipt, daring);
            }
            Operation::Unsubscribe { place, receipt } => self.unsubscribe(place, receipt),
            Operation::Renew(name) => self.renew(name % NAMES.len()),
            Operation::Send { transaction, receipt } => self.send(transaction, receipt),
            Operation::Settle { nack, token, transaction, receipt, daring } => {
                self.settle(nack, token, transaction, receipt, daring);
            }
            Operation::Begin => self.begin(),
            Operation::End { commit, place, receipt } => self.end(commit, place, receipt),
            Operation::Disconnect => self.disconnect(),
            Operation::Deliver { to, message_id, ack_id, daring } => {
                self.deliver(to, message_id, ack_id, daring);
            }
            Operation::Confirm(place) => self.confirm(place),
            Operation::Release(of) => self.release(of),
            Operation::Fail => self.fail(),
            Operation::Turn => {
                self.pair.turn();
            }
            Operation::Drive => self.pair.drive(),
            Operation::Wait(time) => self.pair.run_for(ms(time)),
            Operation::Lose => self.lose(),
            Operation::CutUp => self.pair.up.cut = Some(self.pair.up.record().len()),
            Operation::CutDown => {
                self.pair.turn();
                self.observe();
                self.pair.down.cut = Some(self.pair.down.record().len());
            }
        }
        self.observe();
        let is_cut = self.pair.down.is_cut();
        if matches!(operation, Operation::Drive) && !self.has_client_closed && !is_cut {
            assert!(self.expected.is_empty(), "never told: {:?}", self.expected);
        }
    }

    /// Ends the session if nothing did; everything is said then.
    pub(super) fn finish(&mut self) {
        self.play(&Operation::Drive);
        self.disconnect();
        self.play(&Operation::Drive);
        // What a transaction held is open again, so that it can be taken back.
        for of in (0..self.books.subscriptions.len()).step_by(2) {
            self.release(of);
        }
        while !self.owed.is_empty() && self.server != Stage::Closed {
            self.play(&Operation::Confirm(0));
        }
        self.play(&Operation::Wait(30_000));
        assert!(self.has_client_closed && self.server == Stage::Closed);
        assert!(self.pair.client.is_finished() && self.pair.server.is_finished());
        let Pair { client, server, .. } = &mut self.pair;
        assert_eq!((client.poll_timeout(), server.poll_timeout()), (None, None));
        assert!(!client.outbox().has_remaining() && !server.outbox().has_remaining());
    }

    // ---- what comes of it

    /// Holds both ends against the books, as far as the octets have come.
    pub(super) fn observe(&mut self) {
        while self.server != Stage::Closed {
            let has_come = |it: &Request| it.end <= self.pair.up.read_count();
            if !self.requests.front().is_some_and(has_come) {
                break;
            }
            if let Some(request) = self.requests.pop_front() {
                self.process(&request);
            }
        }
        let told = self.pair.broker.told();
        if let Some(reason) = self.end_of_server(&told) {
            if reason.starts_with("Protocol") {
                let words = "CLOSED by ERROR: malformed frame";
                self.expect(Expected::Words(words.to_owned()));
            }
            self.close_server(&reason);
        }
        assert_eq!(told, core::mem::take(&mut self.to_be_told));
        for told in self.pair.listener.told() {
            self.hear(&told);
        }
        self.check_unconfirmed();
    }

    fn process(&mut self, request: &Request) {
        let place = self.books.subscriptions.len();
        match self.books.process(&request.what) {
            Outcome::Silent => self.apply(request.receipt, Effect::Nothing),
            Outcome::Fault(reason, message) => {
                let about = request.receipt.map(|receipt| format!(" about {receipt}"));
                let about = about.unwrap_or_default();
                self.expect(Expected::Words(format!("CLOSED by ERROR{about}: {message}")));
                self.close_server(&format!("Protocol({reason})"));
            }
            Outcome::Told(words) => {
                self.to_be_told.push(words);
                let effect = match request.what {
                    What::Subscribe { .. } => Effect::Live(place),
                    What::Disconnect => Effect::End,
                    _ => Effect::Nothing,
                };
                if effect == Effect::End {
                    self.server = Stage::Closing;
                }
                match self.pair.broker.answers {
                    Answers::AtOnce => self.apply(request.receipt, effect),
                    _ => self.owed.push_back((request.receipt, effect)),
                }
            }
        }
    }

    /// A request was confirmed.
    pub(super) fn apply(&mut self, receipt: Option<ReceiptId>, effect: Effect) {
        if let Some(receipt) = receipt {
            self.expect(Expected::Words(format!("RECEIPT {receipt}")));
        }
        match effect {
            Effect::Nothing => {}
            Effect::Live(place) => self.books.subscriptions[place].is_confirmed = true,
            Effect::End => {
                self.expect(Expected::Words("CLOSED Disconnected".to_owned()));
                self.close_server("Disconnected");
            }
        }
    }

    pub(super) fn expect(&mut self, expected: Expected) {
        self.expected.push_back(expected);
    }

    pub(super) fn close_server(&mut self, reason: &str) {
        self.server = Stage::Closed;
        self.to_be_told.push(format!("CLOSED {reason} {:?}", self.books.close()));
    }

    fn hear(&mut self, told: &str) {
        let is_next = match self.expected.front() {
            Some(Expected::Words(words)) => words == told,
            _ => false,
        };
        match told.strip_prefix("CLOSED ").filter(|_| !is_next) {
            Some(reason) => self.hear_the_end(reason),
            None => match self.expected.pop_front() {
                Some(Expected::Message { number, of }) => self.hear_message(told, number, of),
                Some(Expected::Words(words)) => assert_eq!(told, words),
                None => panic!("nobody has said {told:?}"),
            },
        }
        self.heard += usize::from(is_next || !told.starts_with("CLOSED"));
        self.note_confirmation(told);
        if told.starts_with("CLOSED") {
            self.has_client_closed = true;
            self.expected.clear();
        }
    }

    fn hear_message(&mut self, told: &str, number: u64, of: usize) {
        let Subscribed { name, mode, .. } = &self.subscriptions[of];
        let is_nameless = self.is_nameless();
        let mut live = (0..).zip(&self.subscriptions).filter(|(_, it)| it.is_live);
        let whose = live.find(|(at, it)| if is_nameless { *at == of } else { it.name == *name });
        let whose = whose.map_or("of nobody".to_owned(), |(at, _)| format!("#{at}"));
        assert_eq!(told, format!("MESSAGE {whose} \"{number}\""));
        let message = &self.pair.listener.messages[self.seen];
        self.seen += 1;
        let ids = ids(message);
        let token = message.token();
        assert_eq!(token.is_some(), *mode != AckMode::Auto, "{message:?}");
        self.books.learn(number, &ids);
        self.tokens.extend(token.map(|token| Token {
            of_client: token,
            ids,
            number,
            of,
            usage: Usage::None,
        }));
    }

    /// Whether nothing but the destination tells whose a message is.
    pub(super) fn is_nameless(&self) -> bool {
        self.books.version == V1_0 && self.books.dialect == Dialect::KUBEMQ
    }
}

fn ids(message: &Message) -> Ids {
    let header = |name| message.headers().get(name).map(String::from).unwrap_or_default();
    Ids {
        subscription: header("subscription"),
        message_id: header("message-id"),
        ack: header("ack"),
    }
}
