//! How much room there is for messages, who gets it, and who waits for it.
//!
//! All messages together have [`MemoryLimits::max_len`] at the most:
//!
//! ```text
//!   │◀──────── max_len / 2 ────────▶│◀────────── max_len / 2 ──────────▶│
//!   │   for whoever comes first     │ a share for each queue there may  │
//!   │                               │ be, and as many of single sessions│
//! ```
//!
//! What comes while there is room for it in the first half is let in. What comes later is let in where its
//! queue has no more than a share with it. So what a queue has beyond its share came in while all of it was
//! in the first half, and whoever fills that does not keep out those who send little.

use alloc::collections::BTreeMap;

use stomp_proto::server::Failure;

use super::Core;
use crate::backend::memory::message::{ENTRY, Message};
use crate::backend::memory::queue::{Queue, QueueId};
use crate::backend::memory::{MemoryLimits, refusal};

impl MemoryLimits {
    /// What is there for whoever comes first.
    fn free(&self) -> usize {
        self.max_len / 2
    }

    /// What each queue may have beyond that.
    fn share(&self) -> usize {
        // As many again are of a single session each.
        self.max_len / 2 / 2 / self.max_queues.max(1)
    }
}

/// What steps need room for.
#[derive(Default)]
pub(super) struct Need<'a> {
    octets: usize,
    /// In each queue that is not of a single session.
    queues: BTreeMap<&'a str, usize>,
}

impl<'a> Need<'a> {
    /// A message that comes to so many queues.
    pub(super) fn message(&mut self, message: &Message, queues: usize) {
        if queues > 0 {
            self.octets += message.octets() + (queues - 1) * ENTRY;
        }
    }

    /// A message that comes to that queue.
    pub(super) fn of_queue(&mut self, name: &'a str, message: &Message) {
        *self.queues.entry(name).or_default() += message.octets();
    }
}

/// Whether there is room.
#[derive(Debug)]
pub(super) enum Room {
    /// There is; a queue of a single session may have so much of it, and drops the oldest then.
    Enough { for_owned: usize },
    /// There is none now.
    Lacking(Lack),
}

/// What there has to be room for, before it is worth to look again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lack {
    /// The queue has all that it may.
    Queue(QueueId),
    /// So much in all, or so much in the share of a queue.
    Octets { all: usize, queue: Option<QueueId>, of_queue: usize },
}

impl Lack {
    fn has_gone(
        self,
        queues: &BTreeMap<QueueId, Queue>,
        limits: &MemoryLimits,
        held: usize,
    ) -> bool {
        // A queue that is gone may be made again.
        let has = |queue| queues.get(&queue).map_or(0, Queue::octets);
        match self {
            Self::Queue(queue) => has(queue) < limits.max_queue_len,
            Self::Octets { all, queue, of_queue } => {
                held + all <= limits.free() || queue.map_or(0, has) + of_queue <= limits.share()
            }
        }
    }
}

impl Core {
    /// Whether there is room for all that is needed. What there never can be room for is refused.
    pub(super) fn room_for(&self, need: &Need<'_>) -> Result<Room, Failure> {
        let Self { limits, held, .. } = self;
        for name in need.queues.keys() {
            if let Some(id) = self.names.get(*name)
                && self.queues.get(id).is_some_and(|it| it.octets() >= limits.max_queue_len)
            {
                return Ok(Room::Lacking(Lack::Queue(*id)));
            }
        }
        if held.octets() + need.octets <= limits.free() {
            return Ok(Room::Enough { for_owned: limits.max_queue_len });
        }
        let mut lack = None;
        for (name, of_queue) in &need.queues {
            if need.octets > limits.free() && *of_queue > limits.share() {
                return Err(refusal::too_much());
            }
            let has = self.queue_of_name(name).map_or(0, Queue::octets);
            if has + of_queue > limits.share() {
                let (all, queue) = (need.octets, self.names.get(*name).copied());
                lack.get_or_insert(Lack::Octets { all, queue, of_queue: *of_queue });
            }
        }
        let for_owned = limits.max_queue_len.min(limits.share());
        Ok(lack.map_or(Room::Enough { for_owned }, Room::Lacking))
    }

    /// Tells those who wait, if there may be room for them now.
    pub(super) fn look_for_room(&mut self) {
        let Self { waiting, sessions, queues, limits, held, .. } = self;
        waiting.retain(|session, lack| {
            if !lack.has_gone(queues, limits, held.octets()) {
                return true;
            }
            if let Some(session) = sessions.get(session) {
                session.has_mail.notify_one();
            }
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use bytes::Bytes;
    use stomp_proto::destination::{Planner, PlannerConfig};
    use stomp_proto::{Command, Frame};
    use tokio::sync::Notify;

    use super::*;
    use crate::backend::memory::Token;
    use crate::backend::memory::core::{Mail, Performed};
    use crate::backend::memory::message::Held;
    use crate::backend::memory::queue::SessionId;
    use crate::backend::memory::step::{Step, steps};
    use crate::backend::{Job, Outcome, Outgoing};
    use crate::names;

    const MAX_LEN: usize = 64_000;
    const QUEUES: usize = 4;

    fn core() -> (Core, Held) {
        let held = Held::default();
        let limits = MemoryLimits { max_len: MAX_LEN, max_queues: QUEUES, ..Default::default() };
        (Core::new(limits, held.clone()), held)
    }

    fn send(destination: &str, len: usize, held: &Held) -> Vec<Step> {
        let frame = Frame::builder(Command::Send).header("destination", destination).build();
        let plan = Planner::new(PlannerConfig::default()).send(frame.headers(), names::queue);
        let body = Bytes::from(vec![b'x'; len]);
        let message = Some(Outgoing { headers: frame.headers(), body: &body });
        steps(vec![Job::Carry { plan: plan.unwrap(), message }], held)
    }

    fn subscribe(core: &mut Core, destination: &str, held: &Held) -> SessionId {
        let session = core.open(Arc::new(Notify::new()));
        let frame = Frame::builder(Command::Subscribe).header("destination", destination);
        let frame = frame.header("id", "0").header("ack", "client").build();
        let plan = Planner::new(PlannerConfig::default()).subscribe(frame.headers(), names::queue);
        let steps = steps(vec![Job::Carry { plan: plan.unwrap(), message: None }], held);
        assert!(matches!(core.perform(session, steps), Performed::Done));
        session
    }

    fn fetch(core: &mut Core, session: SessionId) -> Option<Token> {
        match core.fetch(session)? {
            Mail::Message(queue, it) => Some(Token { queue, position: it.position }),
            Mail::Cancelled(_) => None,
        }
    }

    /// Commits to queues that nobody reads, and to topics whose subscribers settle now and then.
    #[test]
    fn no_more_is_ever_held_than_may_be() {
        let (mut core, held) = core();
        let sender = core.open(Arc::new(Notify::new()));
        let topics = ["/topic/a", "/topic/a", "/topic/b"];
        let subscribers = topics.map(|topic| subscribe(&mut core, topic, &held));
        // Of Knuth, the same in every run.
        let mut state: u64 = 1;
        let mut draw = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 40).unwrap() % most
        };
        let (mut done, mut waiting, mut most) = (0, 0, 0);
        let mut open = Vec::new();
        for _ in 0..20_000 {
            match draw(8) {
                0 => {
                    let session = subscribers[draw(3)];
                    open.extend(core::iter::from_fn(|| fetch(&mut core, session)));
                }
                1 if !open.is_empty() => {
                    let token = open.swap_remove(draw(open.len()));
                    core.settle(Outcome::Consumed, &[token]);
                }
                2 => {
                    let session = subscribe(&mut core, &format!("/queue/{}", draw(QUEUES)), &held);
                    let tokens = Vec::from_iter(fetch(&mut core, session));
                    core.settle(Outcome::Consumed, &tokens);
                    core.close(session, &[]);
                }
                _ => {
                    let largest = [100, 3000, 30_000][draw(3)];
                    let commit: Vec<_> = (0..=draw(4))
                        .flat_map(|_| {
                            let all = ["/queue/0", "/queue/1", "/queue/2", "/queue/3"];
                            let destination = [&all[..], &topics].concat()[draw(7)];
                            send(destination, draw(largest), &held)
                        })
                        .collect();
                    match core.perform(sender, commit) {
                        Performed::Done => done += 1,
                        Performed::Full(steps) => {
                            waiting += 1;
                            core.abandon(sender, steps);
                        }
                        Performed::Failed(_) => {}
                    }
                }
            }
            most = most.max(held.octets());
            assert!(held.octets() <= MAX_LEN, "{}", held.octets());
        }
        assert!(done > 1000 && waiting > 1000 && most > MAX_LEN / 2, "{done} {waiting} {most}");
        for session in subscribers {
            core.close(session, &[]);
        }
        for queue in 0..QUEUES {
            let session = subscribe(&mut core, &format!("/queue/{queue}"), &held);
            while let Some(token) = fetch(&mut core, session) {
                core.settle(Outcome::Consumed, &[token]);
            }
        }
        assert_eq!(held.octets(), 0);
    }

    #[test]
    fn a_message_counts_once_and_its_places_each() {
        let (mut core, held) = core();
        let sender = core.open(Arc::new(Notify::new()));
        let first = subscribe(&mut core, "/topic/a", &held);
        let send = || send("/topic/a", 1000, &held);
        core.perform(sender, send());
        let one = held.octets();
        let second = subscribe(&mut core, "/topic/a", &held);
        core.perform(sender, send());
        assert_eq!(held.octets(), 2 * one + ENTRY);
        core.close(first, &[]);
        assert_eq!(held.octets(), one);
        core.close(second, &[]);
        assert_eq!(held.octets(), 0);
    }
}
