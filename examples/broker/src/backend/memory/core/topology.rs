//! Which queues there are, what they are bound to, and who consumes from them.

use stomp_proto::Text;
use stomp_proto::destination::{ConsumerTag, QueueFlags};
use stomp_proto::frame::AckMode;

use super::{Core, Mail};
use crate::backend::Outcome;
use crate::backend::memory::queue::{Consumer, Queue, QueueId, SessionId};

impl Core {
    pub(super) fn queue_of_name(&self, name: &str) -> Option<&Queue> {
        self.names.get(name).and_then(|id| self.queues.get(id))
    }

    /// How many queues there are that are not of a single session.
    pub(super) fn shared(&self) -> usize {
        self.queues.len() - self.owned
    }

    /// Makes a queue, if it is not there.
    pub(super) fn declare(&mut self, session: SessionId, name: Text, flags: QueueFlags) {
        if self.names.contains_key(&name) {
            return;
        }
        let id = QueueId(self.draw_id());
        let owner = flags.exclusive.unwrap_or(false).then_some(session);
        self.owned += usize::from(owner.is_some());
        self.queues.insert(id, Queue::new(name.clone(), flags, owner));
        self.names.insert(name, id);
    }

    pub(super) fn consume(&mut self, id: SessionId, queue: &Text, tag: ConsumerTag, mode: AckMode) {
        let Some(&queue_id) = self.names.get(queue) else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let credit = match (mode, session.prefetch_count) {
            // Settled as soon as it is in the outbox.
            (AckMode::Auto, _) => AUTO_CREDIT,
            (_, None) => self.limits.prefetch_count.into(),
            (_, Some(0)) => u16::MAX.into(),
            (_, Some(prefetch_count)) => prefetch_count.into(),
        };
        session.consumers.insert(tag.clone(), queue_id);
        if let Some(queue) = self.queues.get_mut(&queue_id) {
            queue.consume(Consumer { session: id, tag }, credit);
        }
        self.dispatch(queue_id);
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

    /// Deletes a queue, if the session may.
    pub(super) fn delete_of(&mut self, session: SessionId, name: &str) {
        let Some(&id) = self.names.get(name) else { return };
        let queue = self.queues.get(&id);
        if queue.is_some_and(|queue| queue.owner.is_none_or(|owner| owner == session)) {
            self.delete(id);
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
    }
}

/// Messages that a consumer in the mode auto is given ahead.
const AUTO_CREDIT: usize = 16;
