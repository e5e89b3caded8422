//! Which queues there are, what they are bound to, and who consumes from them.

use stomp_proto::Text;
use stomp_proto::destination::{ConsumerTag, QueueFlags};
use stomp_proto::frame::AckMode;
use stomp_proto::server::Failure;

use super::{Core, Mail};
use crate::backend::Outcome;
use crate::backend::memory::queue::{Consumer, Queue, QueueId, SessionId};
use crate::backend::memory::refusal;

impl Core {
    pub(super) fn check_exchange(&self, exchange: &str) -> Result<(), Failure> {
        // Empty: the default exchange.
        if exchange.is_empty() || self.exchanges.exists(exchange) {
            return Ok(());
        }
        Err(refusal::not_found("exchange", exchange))
    }

    pub(super) fn bind(
        &mut self,
        session: SessionId,
        queue: &Text,
        exchange: &str,
        key: &Text,
    ) -> Result<(), Failure> {
        let queue = self.find(session, queue)?;
        self.check_exchange(exchange)?;
        if self.exchanges.bindings() >= self.limits.max_bindings {
            return Err(Failure::new("resource_error").explanation("too many bindings\n"));
        }
        self.exchanges.bind(exchange, key, queue);
        Ok(())
    }

    pub(super) fn check_declare(
        &self,
        session: SessionId,
        name: &Text,
        flags: QueueFlags,
    ) -> Result<(), Failure> {
        let wants_it_alone = flags.exclusive.unwrap_or(false);
        let Some(queue) = self.names.get(name).and_then(|id| self.queues.get(id)) else {
            // Those that last do not keep out those that go with their sessions.
            let count = if wants_it_alone { self.owned } else { self.queues.len() - self.owned };
            if count < self.limits.max_queues {
                return Ok(());
            }
            return Err(Failure::new("resource_error").explanation("too many queues\n"));
        };
        if queue.owner != wants_it_alone.then_some(session) {
            return Err(refusal::locked(name));
        }
        let same = |name, wanted: Option<bool>, current: Option<bool>| {
            let (wanted, current) = (wanted.unwrap_or(false), current.unwrap_or(false));
            if wanted == current {
                return Ok(());
            }
            Err(refusal::inequivalent(name, &queue.name, wanted, current))
        };
        same("durable", flags.durable, queue.flags.durable)?;
        same("auto_delete", flags.auto_delete, queue.flags.auto_delete)
    }

    pub(super) fn declare(
        &mut self,
        session: SessionId,
        name: &Text,
        flags: QueueFlags,
    ) -> Result<(), Failure> {
        self.check_declare(session, name, flags)?;
        if !self.names.contains_key(name) {
            let id = QueueId(self.draw_id());
            let owner = flags.exclusive.unwrap_or(false).then_some(session);
            self.owned += usize::from(owner.is_some());
            self.queues.insert(id, Queue::new(name.clone(), flags, owner));
            self.names.insert(name.clone(), id);
        }
        Ok(())
    }

    /// A queue that the session may use for itself.
    pub(super) fn find(&self, session: SessionId, name: &Text) -> Result<QueueId, Failure> {
        let found = self.names.get(name).and_then(|id| Some((id, self.queues.get(id)?)));
        let Some((id, queue)) = found else {
            return Err(refusal::not_found("queue", name));
        };
        check_owner(queue, session)?;
        Ok(*id)
    }

    pub(super) fn consume(
        &mut self,
        id: SessionId,
        queue: &Text,
        tag: ConsumerTag,
        mode: AckMode,
    ) -> Result<(), Failure> {
        let queue = self.find(id, queue)?;
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let credit = match (mode, session.prefetch_count) {
            // Settled as soon as it is in the outbox.
            (AckMode::Auto, _) => AUTO_CREDIT,
            (_, None) => self.limits.prefetch_count.into(),
            (_, Some(0)) => u16::MAX.into(),
            (_, Some(prefetch_count)) => prefetch_count.into(),
        };
        session.consumers.insert(tag.clone(), queue);
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.consume(Consumer { session: id, tag }, credit);
        }
        self.dispatch(queue);
        Ok(())
    }

    /// Ends a consumer. What it was to have and did not fetch goes back unseen.
    pub(super) fn cancel(&mut self, id: SessionId, tag: &ConsumerTag) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(queue_id) = session.consumers.remove(tag) else { return };
        let Some(queue) = self.queues.get_mut(&queue_id) else { return };
        queue.cancel(&Consumer { session: id, tag: tag.clone() });
        session.mail.retain(|mail| match mail {
            Mail::Message(_, it) if it.consumer.tag == *tag => {
                queue.settle(it.position, Outcome::Unsent);
                false
            }
            _ => true,
        });
        self.leave(queue_id);
    }

    /// Sees to a queue that has lost a consumer.
    pub(super) fn leave(&mut self, id: QueueId) {
        let Some(queue) = self.queues.get(&id) else { return };
        if queue.flags.auto_delete == Some(true) && queue.consumers().next().is_none() {
            self.delete(id);
        } else {
            self.dispatch(id);
        }
    }

    pub(super) fn delete(&mut self, id: QueueId) {
        let Some(queue) = self.queues.remove(&id) else { return };
        self.owned -= usize::from(queue.owner.is_some());
        self.names.remove(&queue.name);
        self.exchanges.unbind(id);
        for consumer in queue.consumers() {
            let Some(session) = self.sessions.get_mut(&consumer.session) else { continue };
            session.consumers.remove(&consumer.tag);
            session.mail.retain(|mail| !matches!(mail, Mail::Message(of, _) if *of == id));
            session.mail.push_back(Mail::Cancelled(consumer.tag.clone()));
            session.has_mail.notify_one();
        }
        // Whoever waits for room in it need not wait any more.
        self.room.notify_waiters();
    }
}

/// Messages that a consumer in the mode auto is given ahead.
const AUTO_CREDIT: usize = 16;

fn check_owner(queue: &Queue, session: SessionId) -> Result<(), Failure> {
    if queue.owner.is_none_or(|owner| owner == session) {
        return Ok(());
    }
    Err(refusal::locked(&queue.name))
}
