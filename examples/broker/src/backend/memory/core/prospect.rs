//! What steps would come to, all of them together: whether one fails, and what they need room for.

use alloc::collections::{BTreeMap, BTreeSet};

use stomp_proto::Text;
use stomp_proto::destination::QueueFlags;
use stomp_proto::server::Failure;

use super::Core;
use super::room::{Need, Room};
use crate::backend::memory::message::Message;
use crate::backend::memory::queue::SessionId;
use crate::backend::memory::refusal;
use crate::backend::memory::step::Step;

/// Octets of a name or key, as in AMQP.
const MAX_NAME_LEN: usize = 255;

/// What there would be behind the steps that were looked at. Nothing of it is done.
struct Prospect<'a> {
    core: &'a Core,
    session: SessionId,
    /// The queues that are not there yet.
    made: BTreeMap<&'a str, Made>,
    /// Of them those that are of a single session.
    owned: usize,
    /// The bindings that are not there yet, each with its queue.
    bound: BTreeSet<(Binding<'a>, &'a str)>,
    need: Need<'a>,
}

/// An exchange and a key.
type Binding<'a> = (&'a str, &'a str);

#[derive(Clone, Copy)]
struct Made {
    flags: QueueFlags,
    owner: Option<SessionId>,
}

impl Core {
    /// Whether steps can all be carried out, and whether there is room for what they send.
    ///
    /// What is found out here is what makes them one: each alone might be within the limits, and those
    /// behind it not.
    pub(super) fn look_at(&self, session: SessionId, steps: &[Step]) -> Result<Room, Failure> {
        let (made, bound) = (BTreeMap::new(), BTreeSet::new());
        let need = Need::default();
        let mut prospect = Prospect { core: self, session, made, owned: 0, bound, need };
        for step in steps {
            prospect.look_at(step)?;
        }
        self.room_for(&prospect.need)
    }
}

impl<'a> Prospect<'a> {
    fn look_at(&mut self, step: &'a Step) -> Result<(), Failure> {
        // They are kept, and patterns are matched with them: by what they are short.
        if step.names().any(|name| name.len() > MAX_NAME_LEN) {
            return Err(refusal::too_long());
        }
        match step {
            Step::Declare { queue, flags } => self.declare(queue, *flags),
            Step::Bind { queue, exchange, key } => self.bind(queue, (exchange, key)),
            Step::Consume { queue, .. } => self.find(queue),
            Step::Publish { exchange, key, message } => self.publish((exchange, key), message),
            // What is not there any more need not be settled, ended or deleted.
            Step::Qos { .. } | Step::Cancel { .. } | Step::Delete { .. } | Step::Settle { .. } => {
                Ok(())
            }
        }
    }

    /// A queue that is there or would be.
    fn known(&self, name: &str) -> Option<Made> {
        let made = self.made.get(name).copied();
        made.or_else(|| {
            let queue = self.core.queue_of_name(name)?;
            Some(Made { flags: queue.flags, owner: queue.owner })
        })
    }

    fn declare(&mut self, name: &'a Text, flags: QueueFlags) -> Result<(), Failure> {
        let owner = flags.exclusive.unwrap_or(false).then_some(self.session);
        if let Some(known) = self.known(name) {
            return check_same(name, known, Made { flags, owner });
        }
        // Those that last do not keep out those that go with their sessions.
        let count = match owner {
            Some(_) => self.core.owned + self.owned,
            None => self.core.shared() + self.made.len() - self.owned,
        };
        if count >= self.core.limits.max_queues {
            return Err(refusal::too_many("queues"));
        }
        self.owned += usize::from(owner.is_some());
        self.made.insert(name, Made { flags, owner });
        Ok(())
    }

    fn bind(&mut self, queue: &'a Text, binding: Binding<'a>) -> Result<(), Failure> {
        self.find(queue)?;
        let (exchange, key) = binding;
        self.check_exchange(exchange)?;
        let id = self.core.names.get(queue);
        if id.is_some_and(|id| self.core.exchanges.is_bound(exchange, key, *id)) {
            return Ok(());
        }
        self.bound.insert((binding, queue));
        if self.core.exchanges.bindings() + self.bound.len() > self.core.limits.max_bindings {
            return Err(refusal::too_many("bindings"));
        }
        Ok(())
    }

    /// Whether there is a queue that the session may use for itself.
    fn find(&self, name: &str) -> Result<(), Failure> {
        let known = self.known(name).ok_or_else(|| refusal::not_found("queue", name))?;
        if known.owner.is_some_and(|owner| owner != self.session) {
            return Err(refusal::locked(name));
        }
        Ok(())
    }

    fn check_exchange(&self, exchange: &str) -> Result<(), Failure> {
        // Empty: the default exchange.
        if exchange.is_empty() || self.core.exchanges.exists(exchange) {
            return Ok(());
        }
        Err(refusal::not_found("exchange", exchange))
    }

    fn publish(&mut self, binding: Binding<'a>, message: &Message) -> Result<(), Failure> {
        let (exchange, key) = binding;
        self.check_exchange(exchange)?;
        let there = self.core.route(exchange, key);
        let mut count = there.len();
        for queue in there.iter().filter_map(|id| self.core.queues.get(id)) {
            // One of a single session makes room by itself.
            if queue.owner.is_none() {
                self.need.of_queue(&queue.name, message);
            }
        }
        // No plan that publishes binds with a pattern.
        let bound = self.bound.range((binding, "")..).take_while(|(bound, _)| *bound == binding);
        let by_name = exchange.is_empty().then_some(key).into_iter();
        for name in bound.map(|(_, queue)| *queue).chain(by_name) {
            if self.core.names.get(name).is_some_and(|id| there.contains(id)) {
                continue;
            }
            let Some(queue) = self.known(name) else { continue };
            count += 1;
            if queue.owner.is_none() {
                self.need.of_queue(name, message);
            }
        }
        self.need.message(message, count);
        Ok(())
    }
}

/// Whether a queue may be declared once more.
fn check_same(name: &str, current: Made, wanted: Made) -> Result<(), Failure> {
    if current.owner != wanted.owner {
        return Err(refusal::locked(name));
    }
    let same = |property, of: fn(QueueFlags) -> Option<bool>| {
        let [wanted, current] = [wanted, current].map(|it| of(it.flags).unwrap_or(false));
        if wanted == current {
            return Ok(());
        }
        Err(refusal::Inequivalent { property, wanted, current }.of(name))
    };
    same("durable", |flags| flags.durable)?;
    same("auto_delete", |flags| flags.auto_delete)
}
