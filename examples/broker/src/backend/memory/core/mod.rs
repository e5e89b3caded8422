//! All queues, exchanges and consumers, under one lock: sessions, and what they ask for.

mod prospect;
mod room;
mod topology;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use stomp_proto::Text;
use stomp_proto::destination::ConsumerTag;
use stomp_proto::server::Failure;
use tokio::sync::Notify;
use tracing::warn;

use self::room::{Lack, Room};
use super::exchange::Exchanges;
use super::message::Held;
use super::queue::{Assignment, Queue, QueueId, SessionId};
use super::step::Step;
use super::{MemoryLimits, Token};
use crate::backend::Outcome;

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
    held: Held,
    /// Those who wait for room.
    waiting: BTreeMap<SessionId, Lack>,
}

#[derive(Debug)]
struct Session {
    /// What is its turn and was not fetched: not much, as all of it may have to go back at once.
    mail: VecDeque<Mail>,
    /// Whether a message was not its turn for want of room there.
    is_behind: bool,
    /// Told when there is mail, or room for what it waits with.
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
    /// There is no room. Nothing was done, and the session is told when to try again.
    Full(Vec<Step>),
}

impl Core {
    pub(super) fn new(limits: MemoryLimits, held: Held) -> Self {
        Self {
            limits,
            exchanges: Exchanges::new(),
            queues: BTreeMap::new(),
            names: BTreeMap::new(),
            sessions: BTreeMap::new(),
            next_id: 0,
            owned: 0,
            held,
            waiting: BTreeMap::new(),
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
        self.waiting.remove(&id);
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
        self.mark(Outcome::GivenBack, open);
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
        let for_owned = match self.look_at(session, &steps) {
            Ok(Room::Enough { for_owned }) => for_owned,
            Ok(Room::Lacking(lack)) => {
                self.waiting.insert(session, lack);
                return Performed::Full(steps);
            }
            Err(failure) => {
                self.abandon(session, steps);
                return Performed::Failed(failure);
            }
        };
        self.waiting.remove(&session);
        for step in steps {
            self.carry(session, step, for_owned);
        }
        self.look_for_room();
        Performed::Done
    }

    /// Gives back what steps would have settled that are not carried out.
    pub(super) fn abandon(&mut self, session: SessionId, steps: Vec<Step>) {
        self.waiting.remove(&session);
        for step in steps {
            if let Step::Settle { deliveries, .. } = step {
                self.mark(Outcome::GivenBack, &deliveries);
            }
        }
        self.look_for_room();
    }

    /// Carries out a step, which cannot fail: it was looked at. A queue of a single session may have so
    /// much, and drops its oldest messages instead of being full: a slow subscriber to a topic is nobody
    /// else's trouble.
    fn carry(&mut self, session: SessionId, step: Step, for_owned: usize) {
        match step {
            Step::Declare { queue, flags } => self.declare(session, queue, flags),
            Step::Bind { queue, exchange, key } => {
                if let Some(queue) = self.names.get(&queue) {
                    self.exchanges.bind(&exchange, &key, *queue);
                }
            }
            Step::Qos { prefetch_count } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.prefetch_count = Some(prefetch_count);
                }
            }
            Step::Consume { queue, tag, mode } => self.consume(session, &queue, tag, mode),
            Step::Publish { exchange, key, message } => {
                for id in self.route(&exchange, &key) {
                    let Some(queue) = self.queues.get_mut(&id) else { continue };
                    queue.push(message.clone());
                    if queue.owner.is_some() && queue.shrink_to(for_owned) {
                        warn!(queue = %queue.name, "slow consumer: its oldest messages are dropped");
                    }
                    self.dispatch(id);
                }
            }
            Step::Cancel { tag } => self.cancel(session, &tag),
            Step::Delete { queue } => self.delete_of(session, &queue),
            Step::Settle { outcome, deliveries } => self.mark(outcome, &deliveries),
        }
    }

    fn route(&self, exchange: &str, key: &str) -> Vec<QueueId> {
        match exchange {
            "" => Vec::from_iter(self.names.get(key).copied()),
            exchange => self.exchanges.route(exchange, key),
        }
    }

    // ---- deliveries

    pub(super) fn settle(&mut self, outcome: Outcome, deliveries: &[Token]) {
        self.mark(outcome, deliveries);
        self.look_for_room();
    }

    /// Settles, and leaves it to others to look for those who wait for room.
    fn mark(&mut self, outcome: Outcome, deliveries: &[Token]) {
        let mut touched = Vec::new();
        for Token { queue: id, position } in deliveries {
            let Some(queue) = self.queues.get_mut(id) else { continue };
            queue.settle(*position, outcome);
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
