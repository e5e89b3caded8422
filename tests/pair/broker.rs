//! The application behind the server: a broker in memory, with a queue for each destination.

use alloc::collections::{BTreeMap, VecDeque};
use core::time::Duration;

use bytes::Bytes;
use stomp_proto::server::{
    Accept, ConnectFrame, ConnectReply, Delivered, Delivery, Event, Failure, LedgerEntry, Reply,
    SendFrame, SubscriptionId, Work,
};
use stomp_proto::{Server, UsageError};

use crate::harness::Application;
use crate::listener::body;

type ServerEnd = Server<Duration, u64>;

/// When and how requests are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    AtOnce,
    /// When the test says so.
    Later,
    /// With ERROR.
    Failing(&'static str),
}

/// A reply that the broker owes.
#[derive(Debug)]
pub(crate) enum Owed {
    Connect(ConnectReply),
    /// Of SUBSCRIBE, with the place of the subscriber.
    Subscribe(Reply, usize),
    Other(Reply),
}

#[derive(Debug)]
struct Subscriber {
    subscription: SubscriptionId,
    destination: String,
    is_confirmed: bool,
    has_ended: bool,
}

#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) accept: Accept,
    pub(crate) answers: Answers,
    /// Whether it takes no events.
    pub(crate) is_asleep: bool,
    /// Whether UNSUBSCRIBE takes back what is open.
    pub(crate) takes_back: bool,
    /// The CONNECT of this session.
    pub(crate) client: Option<ConnectFrame>,
    /// The replies that are owed, oldest first.
    pub(crate) owed: VecDeque<Owed>,
    /// Of this session, in the order of their SUBSCRIBE; `#0` is the first.
    subscribers: Vec<Subscriber>,
    /// By destination, the messages that wait for a subscriber.
    queues: BTreeMap<String, VecDeque<u64>>,
    /// All that came in, from 1 on.
    messages: Vec<(String, Delivery)>,
    /// The bodies of those that clients sent.
    pub(crate) sent: Vec<Bytes>,
    /// Those that were delivered, as often as they were.
    pub(crate) delivered: Vec<u64>,
    /// What became of them: each is consumed, refused or given back, be it when the session ends.
    pub(crate) consumed: Vec<u64>,
    pub(crate) refused: Vec<u64>,
    pub(crate) given_back: Vec<u64>,
    /// Headers that deliveries were made without.
    pub(crate) dropped_headers: usize,
    is_closed: bool,
    told: Vec<String>,
}

impl Broker {
    pub(crate) fn new(accept: Accept) -> Self {
        Self {
            accept,
            answers: Answers::AtOnce,
            is_asleep: false,
            takes_back: false,
            client: None,
            owed: VecDeque::new(),
            subscribers: Vec::new(),
            queues: BTreeMap::new(),
            messages: Vec::new(),
            sent: Vec::new(),
            delivered: Vec::new(),
            consumed: Vec::new(),
            refused: Vec::new(),
            given_back: Vec::new(),
            dropped_headers: 0,
            is_closed: false,
            told: Vec::new(),
        }
    }

    /// The events since the last time, in words.
    pub(crate) fn told(&mut self) -> Vec<String> {
        core::mem::take(&mut self.told)
    }

    pub(crate) fn meet_a_new_session(&mut self) {
        self.owed.clear();
        self.subscribers.clear();
        self.is_closed = false;
    }

    /// Takes a message in; its number.
    pub(crate) fn publish(&mut self, destination: &str, delivery: Delivery) -> u64 {
        self.messages.push((destination.to_owned(), delivery));
        let number = self.messages.len() as u64;
        self.queues.entry(destination.to_owned()).or_default().push_back(number);
        number
    }

    /// Takes messages in that have nothing but a body.
    pub(crate) fn publish_all<const N: usize>(&mut self, destination: &str, bodies: [&str; N]) {
        for body in bodies {
            let delivery = Delivery::builder(destination).body(body.to_owned()).build();
            self.publish(destination, delivery);
        }
    }

    /// How many messages came in: each has that number.
    pub(crate) fn taken(&self) -> u64 {
        self.messages.len() as u64
    }

    /// The messages that wait for a subscriber.
    pub(crate) fn waiting(&self, destination: &str) -> Vec<u64> {
        self.queues.get(destination).into_iter().flatten().copied().collect()
    }

    /// What the server calls a subscription.
    pub(crate) fn subscription(&self, number: usize) -> SubscriptionId {
        self.subscribers[number].subscription
    }

    /// Answers the oldest request that waits.
    pub(crate) fn confirm(&mut self, server: &mut ServerEnd) {
        let owed = self.owed.pop_front().expect("a request that waits");
        self.confirm_this(server, owed);
    }

    pub(crate) fn confirm_this(&mut self, server: &mut ServerEnd, owed: Owed) {
        assert!(self.try_confirm(server, owed), "refused");
    }

    /// `false`: the session is over, or cannot say it.
    pub(crate) fn try_confirm(&mut self, server: &mut ServerEnd, owed: Owed) -> bool {
        match owed {
            Owed::Connect(reply) => server.accept(reply, &self.accept).is_ok(),
            Owed::Subscribe(reply, place) => {
                let is_confirmed = server.confirm(reply).is_ok();
                self.subscribers[place].is_confirmed |= is_confirmed;
                is_confirmed
            }
            Owed::Other(reply) => server.confirm(reply).is_ok(),
        }
    }

    /// Fails the oldest request that waits.
    pub(crate) fn fail(&mut self, server: &mut ServerEnd, message: &str) {
        let failure = Failure::new(message);
        match self.owed.pop_front().expect("a request that waits") {
            Owed::Connect(reply) => server.fail(reply, &failure),
            Owed::Subscribe(reply, _) | Owed::Other(reply) => server.fail(reply, &failure),
        }
        .expect("failed");
    }

    fn answer(&mut self, server: &mut ServerEnd, owed: Owed) {
        let answers = self.answers;
        self.owed.push_back(owed);
        match answers {
            Answers::AtOnce => self.confirm(server),
            Answers::Later => {}
            Answers::Failing(message) => self.fail(server, message),
        }
    }

    fn take_in(&mut self, frame: &SendFrame) {
        self.sent.push(frame.body().clone());
        self.publish(&frame.destination(), Delivery::relay(frame).build());
    }

    /// Puts messages back to the front of their queues, for the next subscriber.
    fn take_back(&mut self, open: Vec<LedgerEntry<u64>>) {
        self.given_back.extend(values(&open));
        for LedgerEntry { value, .. } in open.into_iter().rev() {
            let place = usize::try_from(value - 1).expect("small");
            let destination = self.messages[place].0.clone();
            self.queues.entry(destination).or_default().push_front(value);
        }
    }

    /// Delivers one message of a queue, to one of its subscribers in turn. `false`: not now.
    fn deliver_one(&mut self, server: &mut ServerEnd, destination: &str) -> bool {
        let Some(&number) = self.queues[destination].front() else { return false };
        let is_due =
            |it: &&Subscriber| it.is_confirmed && !it.has_ended && it.destination == destination;
        let due: Vec<_> = self.subscribers.iter().filter(is_due).collect();
        let Some(turn) = number.checked_rem(due.len() as u64) else { return false };
        let subscription = due[usize::try_from(turn).expect("small")].subscription;
        let delivered = self.deliver_to(server, subscription, number);
        let is_no_surprise =
            |it: &UsageError| matches!(it, UsageError::LimitExceeded(_) | UsageError::Closed);
        assert!(delivered.as_ref().err().is_none_or(is_no_surprise), "{delivered:?}");
        delivered.is_ok()
    }

    /// Delivers a message that waits; from then on it waits no longer.
    pub(crate) fn deliver_to(
        &mut self,
        server: &mut ServerEnd,
        subscription: SubscriptionId,
        number: u64,
    ) -> Result<(), UsageError> {
        let place = usize::try_from(number - 1).expect("small");
        let (destination, delivery) = &self.messages[place];
        match server.deliver(subscription, delivery, number) {
            Ok(Delivered { settled, dropped_headers, .. }) => {
                let queue = self.queues.get_mut(destination).expect("the queue it waits in");
                queue.retain(|waiting| *waiting != number);
                self.delivered.push(number);
                self.consumed.extend(settled);
                self.dropped_headers += dropped_headers;
                Ok(())
            }
            Err(refused) => {
                assert_eq!(refused.token, number);
                Err(refused.error)
            }
        }
    }

    fn work(&mut self, work: Work<u64>) -> String {
        match work {
            Work::Send(frame) => {
                self.take_in(&frame);
                format!("SEND {} {}", frame.destination(), body(frame.body()))
            }
            Work::Ack { frame, deliveries } => self.ack(frame.subscription(), &deliveries),
            Work::Nack { frame, deliveries } => self.nack(frame.subscription(), &deliveries),
        }
    }

    fn ack(&mut self, of: SubscriptionId, deliveries: &[LedgerEntry<u64>]) -> String {
        self.consumed.extend(values(deliveries));
        format!("ACK {} {:?}", self.name(of), values(deliveries))
    }

    fn nack(&mut self, of: SubscriptionId, deliveries: &[LedgerEntry<u64>]) -> String {
        self.refused.extend(values(deliveries));
        format!("NACK {} {:?}", self.name(of), values(deliveries))
    }

    fn place(&self, subscription: SubscriptionId) -> usize {
        let place = self.subscribers.iter().position(|it| it.subscription == subscription);
        place.expect("a subscription that was told of")
    }

    fn name(&self, subscription: SubscriptionId) -> String {
        format!("#{}", self.place(subscription))
    }
}

impl Application<ServerEnd> for Broker {
    fn is_hungry(&mut self) -> bool {
        !self.is_asleep
    }

    fn handle(&mut self, server: &mut ServerEnd, event: Event<u64>, _: Duration) {
        assert!(!self.is_closed, "{event:?} after the last event");
        let (words, owed) = match event {
            Event::Connect { frame, reply } => {
                let words = format!("CONNECT {}", frame.version());
                self.client = Some(frame);
                (words, Owed::Connect(reply))
            }
            Event::Send { frame, reply } => {
                self.take_in(&frame);
                let words = format!("SEND {} {}", frame.destination(), body(frame.body()));
                (words, Owed::Other(reply))
            }
            Event::Subscribe { frame, reply } => {
                let (subscription, destination) = (frame.subscription(), frame.destination());
                let place = self.subscribers.len();
                let words = format!("SUBSCRIBE #{place} {destination} {}", frame.mode());
                self.subscribers.push(Subscriber {
                    subscription,
                    destination: destination.into_owned(),
                    is_confirmed: false,
                    has_ended: false,
                });
                (words, Owed::Subscribe(reply, place))
            }
            Event::Unsubscribe { frame, reply } => {
                let place = self.place(frame.subscription());
                self.subscribers[place].has_ended = true;
                if self.takes_back {
                    let open = server.release(frame.subscription());
                    self.take_back(open);
                }
                (format!("UNSUBSCRIBE #{place}"), Owed::Other(reply))
            }
            Event::Ack { frame, deliveries, reply } => {
                (self.ack(frame.subscription(), &deliveries), Owed::Other(reply))
            }
            Event::Nack { frame, deliveries, reply } => {
                (self.nack(frame.subscription(), &deliveries), Owed::Other(reply))
            }
            Event::Commit { transaction, work, reply } => {
                let work: Vec<_> = work.into_iter().map(|work| self.work(work)).collect();
                (format!("COMMIT {transaction}: {}", work.join(", ")), Owed::Other(reply))
            }
            Event::Disconnect { reply, .. } => ("DISCONNECT".to_owned(), Owed::Other(reply)),
            Event::Closed { reason, open } => {
                self.is_closed = true;
                self.told.push(format!("CLOSED {reason:?} {:?}", values(&open)));
                self.take_back(open);
                return;
            }
        };
        self.told.push(words);
        self.answer(server, owed);
    }

    fn go_on(&mut self, server: &mut ServerEnd) {
        self.queues.retain(|_, waiting| !waiting.is_empty());
        for destination in self.queues.keys().cloned().collect::<Vec<_>>() {
            while self.deliver_one(server, &destination) {}
        }
    }
}

fn values(entries: &[LedgerEntry<u64>]) -> Vec<u64> {
    entries.iter().map(|entry| entry.value).collect()
}
