//! All queues, exchanges and consumers, under one lock: sessions, and what they ask for.

mod topology;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use stomp_proto::Text;
use stomp_proto::destination::ConsumerTag;
use stomp_proto::server::Failure;
use tokio::sync::Notify;
use tracing::warn;

use super::exchange::Exchanges;
use super::message::Held;
use super::queue::{Assignment, Queue, QueueId, SessionId};
use super::refusal;
use super::step::Step;
use super::{MemoryLimits, Token};
use crate::backend::Outcome;

/// Octets of a name or key, as in AMQP.
const MAX_NAME_LEN: usize = 255;
/// Messages that are the turn of a session, and not fetched.
const MAX_MAIL: usize = 256;

#[derive(Debug)]
pub(super) struct Core {
    limits: MemoryLimits,
    exchanges: Exchanges,
    queues: BTreeMap<QueueId, Queue>,
    names: BTreeMap<Text, QueueId>,
    sessions: BTreeMap<SessionId, Session>,
    next_id: u64,
    /// Of them those that are of a single session.
    owned: usize,
    /// Told when a full queue is so no longer.
    room: Arc<Notify>,
    held: Held,
    /// Whether the messages took up all that they may when it was last looked at.
    was_crowded: bool,
}

#[derive(Debug)]
struct Session {
    /// What is its turn and was not fetched: not much, as all of it may have to go back at once.
    mail: VecDeque<Mail>,
    /// Whether a message was not its turn for want of room there.
    is_behind: bool,
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
    pub(super) fn new(limits: MemoryLimits, room: Arc<Notify>, held: Held) -> Self {
        Self {
            limits,
            exchanges: Exchanges::new(),
            queues: BTreeMap::new(),
            names: BTreeMap::new(),
            sessions: BTreeMap::new(),
            next_id: 0,
            owned: 0,
            room,
            held,
            was_crowded: false,
        }
    }

    // ---- sessions

    pub(super) fn open(&mut self, has_mail: Arc<Notify>) -> SessionId {
        let id = SessionId(self.draw_id());
        let session = Session {
            mail: VecDeque::new(),
            is_behind: false,
            has_mail,
            consumers: BTreeMap::new(),
            prefetch_count: None,
        };
        self.sessions.insert(id, session);
        id
    }

    /// What a session is to hear next.
    pub(super) fn fetch(&mut self, id: SessionId) -> Option<Mail> {
        let session = self.sessions.get_mut(&id)?;
        if session.is_behind && session.mail.len() <= MAX_MAIL / 2 {
            session.is_behind = false;
            let queues: BTreeSet<_> = session.consumers.values().copied().collect();
            for queue in queues {
                self.dispatch(queue);
            }
        }
        self.sessions.get_mut(&id)?.mail.pop_front()
    }

    /// Ends a session: its consumers and exclusive queues go, and what it left open goes back.
    pub(super) fn close(&mut self, id: SessionId, open: &[Token]) {
        let Some(session) = self.sessions.remove(&id) else { return };
        // All at once: what one of its consumers gives back must not go to the next one.
        let mut queues: Vec<_> = session.consumers.into_values().collect();
        queues.sort_unstable();
        queues.dedup();
        for queue in &queues {
            if let Some(queue) = self.queues.get_mut(queue) {
                queue.cancel_all(id);
            }
        }
        for mail in session.mail {
            self.give_back(&mail);
        }
        self.settle(Outcome::GivenBack, open);
        for queue in queues {
            self.leave(queue);
        }
        let owned = self.queues.iter().filter(|(_, queue)| queue.owner == Some(id));
        for queue in owned.map(|(queue, _)| *queue).collect::<Vec<_>>() {
            self.delete(queue);
        }
        self.look_for_room();
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
        self.look_for_room();
        Performed::Done
    }

    /// Gives back what steps would have settled that are not carried out.
    pub(super) fn abandon(&mut self, steps: impl IntoIterator<Item = Step>) {
        for step in steps {
            if let Step::Settle { deliveries, .. } = step {
                self.settle(Outcome::GivenBack, &deliveries);
            }
        }
        self.look_for_room();
    }

    /// What would fail of a transaction, before any of it is done.
    fn check(&self, session: SessionId, steps: &[Step]) -> Result<(), Failure> {
        for step in steps {
            // They are kept, and patterns are matched with them: by what they are short.
            if step.names().any(|name| name.len() > MAX_NAME_LEN) {
                return Err(refusal::too_long());
            }
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
            let Step::Publish { exchange, key, message } = step else { return false };
            let queues = self.route(exchange, key);
            if queues.is_empty() && exchange.is_empty() {
                // Perhaps one of the steps makes it.
                return self.is_crowded() && message.octets() > self.share();
            }
            queues.iter().any(|queue| self.is_full(*queue, message.octets()))
        })
    }

    /// Whether a queue has no room for a message of so many octets.
    fn is_full(&self, queue: QueueId, octets: usize) -> bool {
        let queue = self.queues.get(&queue).filter(|queue| queue.owner.is_none());
        queue.is_some_and(|queue| {
            let is_crowding = self.is_crowded() && queue.octets() + octets > self.share();
            queue.octets() >= self.limits.max_queue_len || is_crowding
        })
    }

    /// Whether messages take up all that they may.
    fn is_crowded(&self) -> bool {
        self.held.octets() >= self.limits.max_len
    }

    /// What each queue may have then.
    fn share(&self) -> usize {
        self.limits.max_len / self.limits.max_queues.max(1)
    }

    /// Tells those who wait when it is crowded no longer.
    fn look_for_room(&mut self) {
        let is_crowded = self.is_crowded();
        if self.was_crowded && !is_crowded {
            self.room.notify_waiters();
        }
        self.was_crowded = is_crowded;
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
                let most = self.limits.max_queue_len;
                let most = if self.is_crowded() { most.min(self.share()) } else { most };
                for id in self.route(&exchange, &key) {
                    let Some(queue) = self.queues.get_mut(&id) else { continue };
                    queue.push(message.clone());
                    if queue.owner.is_some() && queue.shrink_to(most) {
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
        self.look_for_room();
        // When all are back in their places.
        touched.sort_unstable();
        touched.dedup();
        for queue in touched {
            self.dispatch(queue);
        }
    }

    /// Gives messages to the consumers that may have one more, in turn.
    fn dispatch(&mut self, id: QueueId) {
        let Self { queues, sessions, .. } = self;
        let Some(queue) = queues.get_mut(&id) else { return };
        while let Some(assignment) = queue.assign(|session| may_have_mail(sessions, session)) {
            let Some(session) = sessions.get_mut(&assignment.consumer.session) else { return };
            session.mail.push_back(Mail::Message(id, assignment));
            session.has_mail.notify_one();
        }
    }

    /// Gives back unseen what was not fetched.
    fn give_back(&mut self, mail: &Mail) {
        if let Mail::Message(queue, it) = mail
            && let Some(queue) = self.queues.get_mut(queue)
        {
            queue.settle(it.position, Outcome::Unsent);
        }
    }

    fn draw_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

/// Whether a session has room for a message that is its turn. If not, it will ask.
fn may_have_mail(sessions: &mut BTreeMap<SessionId, Session>, id: SessionId) -> bool {
    let Some(session) = sessions.get_mut(&id) else { return false };
    let has_room = session.mail.len() < MAX_MAIL;
    session.is_behind |= !has_room;
    has_room
}
