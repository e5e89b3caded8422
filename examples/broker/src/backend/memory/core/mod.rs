//! All queues, exchanges and consumers, under one lock: sessions, and what they ask for.

mod topology;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;

use stomp_proto::Text;
use stomp_proto::destination::ConsumerTag;
use stomp_proto::server::Failure;
use tokio::sync::Notify;
use tracing::warn;

use super::exchange::Exchanges;
use super::queue::{Assignment, Queue, QueueId, SessionId};
use super::step::Step;
use super::{MemoryLimits, Token};
use crate::backend::Outcome;

#[derive(Debug)]
pub(super) struct Core {
    limits: MemoryLimits,
    exchanges: Exchanges,
    queues: BTreeMap<QueueId, Queue>,
    names: BTreeMap<Text, QueueId>,
    sessions: BTreeMap<SessionId, Session>,
    next_id: u64,
    /// Told when a full queue is so no longer.
    room: Arc<Notify>,
}

#[derive(Debug)]
struct Session {
    /// What is its turn and was not fetched; bounded by the credit of its consumers.
    mail: VecDeque<Mail>,
    has_mail: Arc<Notify>,
    consumers: BTreeMap<ConsumerTag, QueueId>,
    /// For consumers that start from now on.
    prefetch_count: Option<u16>,
}

#[derive(Debug)]
pub(super) enum Mail {
    Message(QueueId, Assignment),
    Cancelled(ConsumerTag),
}

/// What became of steps that are to be carried out as one.
#[derive(Debug)]
pub(super) enum Performed {
    Done,
    Failed(Failure),
    /// A queue is full. Nothing was done.
    Full(Vec<Step>),
}

impl Core {
    pub(super) fn new(limits: MemoryLimits, room: Arc<Notify>) -> Self {
        Self {
            limits,
            exchanges: Exchanges::new(),
            queues: BTreeMap::new(),
            names: BTreeMap::new(),
            sessions: BTreeMap::new(),
            next_id: 0,
            room,
        }
    }

    // ---- sessions

    pub(super) fn open(&mut self, has_mail: Arc<Notify>) -> SessionId {
        let id = SessionId(self.draw_id());
        let (mail, consumers) = (VecDeque::new(), BTreeMap::new());
        self.sessions.insert(id, Session { mail, has_mail, consumers, prefetch_count: None });
        id
    }

    /// What a session is to hear next.
    pub(super) fn fetch(&mut self, session: SessionId) -> Option<Mail> {
        self.sessions.get_mut(&session)?.mail.pop_front()
    }

    /// Ends a session: its consumers and exclusive queues go, and what it left open goes back.
    pub(super) fn close(&mut self, id: SessionId, open: &[Token]) {
        let tags = self.sessions.get(&id).map(|session| session.consumers.keys().cloned());
        for tag in tags.map(Vec::from_iter).unwrap_or_default() {
            self.cancel(id, &tag);
        }
        self.settle(Outcome::GivenBack, open);
        let owned = self.queues.iter().filter(|(_, queue)| queue.owner == Some(id));
        for queue in owned.map(|(queue, _)| *queue).collect::<Vec<_>>() {
            self.delete(queue);
        }
        self.sessions.remove(&id);
    }

    // ---- steps

    /// Carries out steps, all or none.
    pub(super) fn perform(&mut self, session: SessionId, steps: Vec<Step>) -> Performed {
        if let Err(failure) = self.check(session, &steps) {
            self.abandon(steps);
            return Performed::Failed(failure);
        }
        if self.has_to_wait(&steps) {
            return Performed::Full(steps);
        }
        let mut steps = steps.into_iter();
        while let Some(step) = steps.next() {
            if let Err(failure) = self.carry(session, step) {
                self.abandon(steps);
                return Performed::Failed(failure);
            }
        }
        Performed::Done
    }

    /// Gives back what steps would have settled that are not carried out.
    pub(super) fn abandon(&mut self, steps: impl IntoIterator<Item = Step>) {
        for step in steps {
            if let Step::Settle { deliveries, .. } = step {
                self.settle(Outcome::GivenBack, &deliveries);
            }
        }
    }

    /// What would fail of a transaction, before any of it is done.
    fn check(&self, session: SessionId, steps: &[Step]) -> Result<(), Failure> {
        for step in steps {
            match step {
                Step::Publish { exchange, .. } | Step::Bind { exchange, .. } => {
                    self.check_exchange(exchange)?;
                }
                Step::Declare { queue, flags } => self.check_declare(session, queue, *flags)?,
                Step::Qos { .. }
                | Step::Consume { .. }
                | Step::Cancel { .. }
                | Step::Delete { .. }
                | Step::Settle { .. } => {}
            }
        }
        Ok(())
    }

    /// Whether a message would come to a full queue. One that is of a single session drops its oldest
    /// instead: a slow subscriber to a topic is nobody else's trouble.
    fn has_to_wait(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| {
            let Step::Publish { exchange, key, .. } = step else { return false };
            self.route(exchange, key).iter().any(|queue| self.is_full(*queue))
        })
    }

    fn is_full(&self, queue: QueueId) -> bool {
        let queue = self.queues.get(&queue).filter(|queue| queue.owner.is_none());
        queue.is_some_and(|queue| queue.octets() >= self.limits.max_queue_len)
    }

    fn carry(&mut self, session: SessionId, step: Step) -> Result<(), Failure> {
        match step {
            Step::Declare { queue, flags } => self.declare(session, &queue, flags)?,
            Step::Bind { queue, exchange, key } => {
                self.bind(session, &queue, &exchange, &key)?;
            }
            Step::Qos { prefetch_count } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.prefetch_count = Some(prefetch_count);
                }
            }
            Step::Consume { queue, tag, mode } => self.consume(session, &queue, tag, mode)?,
            Step::Publish { exchange, key, message } => {
                for id in self.route(&exchange, &key) {
                    let Some(queue) = self.queues.get_mut(&id) else { continue };
                    queue.push(message.clone());
                    if queue.owner.is_some() && queue.shrink_to(self.limits.max_queue_len) {
                        warn!(queue = %queue.name, "slow consumer: its oldest messages are dropped");
                    }
                    self.dispatch(id);
                }
            }
            Step::Cancel { tag } => self.cancel(session, &tag),
            Step::Delete { queue } => {
                if let Ok(queue) = self.find(session, &queue) {
                    self.delete(queue);
                }
            }
            Step::Settle { outcome, deliveries } => self.settle(outcome, &deliveries),
        }
        Ok(())
    }

    fn route(&self, exchange: &str, key: &str) -> Vec<QueueId> {
        match exchange {
            "" => Vec::from_iter(self.names.get(key).copied()),
            exchange => self.exchanges.route(exchange, key),
        }
    }

    // ---- deliveries

    pub(super) fn settle(&mut self, outcome: Outcome, deliveries: &[Token]) {
        let mut touched = Vec::new();
        for Token { queue: id, position } in deliveries {
            let Some(queue) = self.queues.get_mut(id) else { continue };
            let was_full = queue.octets() >= self.limits.max_queue_len;
            queue.settle(*position, outcome);
            if was_full && queue.octets() < self.limits.max_queue_len {
                self.room.notify_waiters();
            }
            touched.push(*id);
        }
        // When all are back in their places.
        touched.sort_unstable();
        touched.dedup();
        for queue in touched {
            self.dispatch(queue);
        }
    }

    /// Gives messages to the consumers that may have one more, in turn.
    fn dispatch(&mut self, id: QueueId) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        while let Some(assignment) = queue.assign() {
            let Some(session) = self.sessions.get_mut(&assignment.consumer.session) else { return };
            session.mail.push_back(Mail::Message(id, assignment));
            session.has_mail.notify_one();
        }
    }

    fn draw_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
