//! A queue: messages in order, the consumers in turn, and who has what.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;

use stomp_proto::Text;
use stomp_proto::destination::{ConsumerTag, QueueFlags};

use super::message::{Kept, Message, Time};
use crate::backend::Outcome;

/// Names a queue; not used again when it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueId(pub(super) u64);

/// Names a session of the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(pub(super) u64);

/// The place of a message in its queue.
pub(super) type Position = u64;

#[derive(Debug)]
pub(super) struct Queue {
    pub(super) name: Text,
    pub(super) flags: QueueFlags,
    /// The session that an exclusive queue is of.
    pub(super) owner: Option<SessionId>,
    ready: BTreeMap<Position, Entry>,
    /// What consumers have and have not settled.
    out: BTreeMap<Position, (Entry, Consumer)>,
    next: Position,
    octets: usize,
    has_dropped: bool,
    /// The next in turn first.
    consumers: VecDeque<Place>,
}

/// Names a consumer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Consumer {
    pub(super) session: SessionId,
    pub(super) tag: ConsumerTag,
}

#[derive(Debug)]
struct Entry {
    message: Kept,
    time: Time,
}

#[derive(Debug)]
struct Place {
    consumer: Consumer,
    /// Deliveries that it may have unsettled.
    credit: usize,
    unsettled: usize,
}

/// A message that is the turn of a consumer.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) consumer: Consumer,
    pub(super) position: Position,
    pub(super) message: Arc<Message>,
    pub(super) time: Time,
}

impl Queue {
    pub(super) fn new(name: Text, flags: QueueFlags, owner: Option<SessionId>) -> Self {
        Self {
            name,
            flags,
            owner,
            ready: BTreeMap::new(),
            out: BTreeMap::new(),
            next: 0,
            octets: 0,
            has_dropped: false,
            consumers: VecDeque::new(),
        }
    }

    /// What its messages count, those that are out as well.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    pub(super) fn push(&mut self, message: Arc<Message>) {
        self.octets += message.octets();
        let message = Kept::new(message);
        self.ready.insert(self.next, Entry { message, time: Time::First });
        self.next += 1;
    }

    /// Drops messages from the front that nobody has; whether it had to for the first time.
    pub(super) fn shrink_to(&mut self, octets: usize) -> bool {
        let had_dropped = self.has_dropped;
        while self.octets > octets {
            let Some((_, entry)) = self.ready.pop_first() else { break };
            self.octets -= entry.message.octets();
            self.has_dropped = true;
        }
        !had_dropped && self.has_dropped
    }

    /// The next message, if there is a consumer for it that may have one more, by its credit and by
    /// what is said of its session.
    pub(super) fn assign(
        &mut self,
        mut may_have: impl FnMut(SessionId) -> bool,
    ) -> Option<Assignment> {
        if self.ready.is_empty() {
            return None;
        }
        let is_free =
            |place: &Place| place.unsettled < place.credit && may_have(place.consumer.session);
        let turn = self.consumers.iter().position(is_free)?;
        self.consumers.rotate_left(turn);
        let mut place = self.consumers.pop_front()?;
        place.unsettled += 1;
        let consumer = place.consumer.clone();
        self.consumers.push_back(place);
        let (position, entry) = self.ready.pop_first()?;
        let (message, time) = (entry.message.message(), entry.time);
        self.out.insert(position, (entry, consumer.clone()));
        Some(Assignment { consumer, position, message, time })
    }

    /// Settles what a consumer had. What is to be had again goes back to its place.
    pub(super) fn settle(&mut self, position: Position, outcome: Outcome) {
        let Some((mut entry, consumer)) = self.out.remove(&position) else { return };
        if let Some(place) = self.consumers.iter_mut().find(|place| place.consumer == consumer) {
            place.unsettled = place.unsettled.saturating_sub(1);
        }
        match outcome {
            Outcome::Consumed | Outcome::Rejected => self.octets -= entry.message.octets(),
            Outcome::Unsent => {
                self.ready.insert(position, entry);
            }
            Outcome::GivenBack => {
                entry.time = Time::Again;
                self.ready.insert(position, entry);
            }
        }
    }

    pub(super) fn consume(&mut self, consumer: Consumer, credit: usize) {
        self.consumers.push_back(Place { consumer, credit, unsettled: 0 });
    }

    /// Ends a consumer. What it has stays out until it is settled.
    pub(super) fn cancel(&mut self, consumer: &Consumer) {
        self.consumers.retain(|place| place.consumer != *consumer);
    }

    /// Ends all consumers of a session.
    pub(super) fn cancel_all(&mut self, session: SessionId) {
        self.consumers.retain(|place| place.consumer.session != session);
    }

    pub(super) fn consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.consumers.iter().map(|place| &place.consumer)
    }
}
