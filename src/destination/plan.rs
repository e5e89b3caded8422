//! The planner: what a frame that names a destination asks of a broker, and what it remembers of that.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    Action, ConsumerTag, Kind, PlanError, QueueDefaults, QueueType, Remembered, TOPIC_EXCHANGE,
    original, queue,
};
use crate::Command;
use crate::frame::name::{DESTINATION, ID};
use crate::frame::{AckMode, Headers, Text};

/// Makes plans for the frames of one session, and remembers what it takes to make the next.
///
/// A plan counts as carried out. Where a broker refuses a step of one, RabbitMQ ends the connection,
/// and so should you: the planner goes with its session. [`Planner::forget`] is for a subscription
/// that is dropped while the session stays.
///
/// A frame that is refused leaves no trace. RabbitMQ 4.3.5 notices a second subscription of the same
/// id when it has declared the queue and set the prefetch count; here neither is done, so that a
/// mistake makes no queue that gathers messages for nobody.
///
/// ```
/// use stomp_proto::destination::{Action, Planner, PlannerConfig};
/// use stomp_proto::{Command, Frame};
/// # fn main() -> Result<(), stomp_proto::destination::PlanError> {
/// let mut planner = Planner::new(PlannerConfig::default());
/// let send = Frame::builder(Command::Send).header("destination", "/queue/jobs").build();
/// let plan = planner.send(send.headers(), |_| "generated-1".into())?;
/// assert!(matches!(plan[..], [Action::Declare { .. }, Action::Publish { .. }]));
/// let plan = planner.send(send.headers(), |_| "generated-2".into())?;
/// assert!(matches!(plan[..], [Action::Publish { .. }]), "the queue is known");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Planner {
    pub(super) config: PlannerConfig,
    /// The queues that were declared because a destination named them.
    pub(super) declared: BTreeSet<Text>,
    pub(super) subscriptions: BTreeMap<ConsumerTag, Subscription>,
    /// Which queue is behind each temporary name.
    pub(super) temp_queues: BTreeMap<Text, Text>,
}

/// How a [`Planner`] plans.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannerConfig {
    /// Whose plans to make. Default: [`Scheme::Current`].
    pub scheme: Scheme,
    /// [`Scheme::Current`]: the exchange that `/topic` stands for. Default: `amq.topic`.
    pub topic_exchange: String,
    /// [`Scheme::Current`]: what the queues of subscriptions are by default.
    pub queue_defaults: QueueDefaults,
    /// [`Scheme::Current`]: the type that the virtual host gives a queue without `x-queue-type`.
    /// Default: classic.
    pub queue_type: QueueType,
    /// [`Scheme::Current`]: queues that a session may declare by naming them as its destinations.
    /// Each stays with the broker when the session is gone. Default: 1,024.
    pub max_queues: usize,
    /// Live subscriptions of a session. Default: 1,024.
    pub max_subscriptions: usize,
    /// [`Scheme::Current`]: temporary queues of a session. Default: 64.
    pub max_temp_queues: usize,
}

/// Whose plans a [`Planner`] makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Those of the design document of 2010: `/queue` is bound to `amq.direct`, a subscription to
    /// `/exchange` is bound only by a pattern, before its consumer starts, and `destination` is all
    /// that is read, besides the `id` and `ack` of the protocol. Nothing is remembered but
    /// subscriptions, so that every frame declares its queue.
    Original,
    /// Those of RabbitMQ 4.3.5: queues are reached through the default exchange, a subscription to
    /// `/exchange` or `/topic` is bound after its consumer started, and many headers have a say.
    #[default]
    Current,
}

/// What a queue that has no name yet is for. The name comes from the embedder, as this crate knows no
/// randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed<'a> {
    /// A subscription. The name must be one that no other queue of the broker has.
    Subscription,
    /// A durable subscription. The name must follow from these three and nothing that changes from
    /// session to session, so that the next session finds the queue.
    ///
    /// A hash will do: RabbitMQ 4.3.5 takes `stomp-subscription-` and an MD5 over key and id. Two users
    /// with the same three share the queue, unless the user goes into the name as well.
    Durable {
        /// The exchange that it will be bound to.
        exchange: &'a str,
        /// The routing key that it will be bound with.
        key: &'a str,
        /// The `id` of the SUBSCRIBE.
        id: &'a str,
    },
    /// Replies, by the temporary name that the client gave it. The name must be one that no other
    /// queue of the broker has, and one that cannot be guessed: whoever knows it can send to it.
    TempQueue(&'a str),
}

/// What a SUBSCRIBE asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subscription {
    /// Its `destination`.
    pub destination: Text,
    /// The kind of its destination.
    pub kind: Kind,
    /// Its `ack`.
    pub mode: AckMode,
    /// The queue that it consumes from.
    pub queue: Text,
}

impl Planner {
    /// A planner for a session that starts.
    #[must_use]
    pub fn new(config: PlannerConfig) -> Self {
        Self {
            config,
            declared: BTreeSet::new(),
            subscriptions: BTreeMap::new(),
            temp_queues: BTreeMap::new(),
        }
    }

    /// The steps that a SUBSCRIBE asks for. A RECEIPT for it is due behind the last.
    ///
    /// `name` names the queue, if it needs a name.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is remembered.
    pub fn subscribe(
        &mut self,
        headers: Headers<'_>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'static>>, PlanError> {
        match self.config.scheme {
            Scheme::Original => self.subscribe_original(headers, name),
            Scheme::Current => self.subscribe_current(headers, name),
        }
    }

    /// The steps that a SEND asks for. [`Action::Publish`] is the last.
    ///
    /// `name` names the queue behind a temporary name in `reply-to`, if that is new.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is remembered.
    pub fn send<'a>(
        &mut self,
        headers: Headers<'a>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'a>>, PlanError> {
        match self.config.scheme {
            Scheme::Original => original::send(headers),
            Scheme::Current => self.send_current(headers, name),
        }
    }

    /// The steps that an UNSUBSCRIBE asks for.
    ///
    /// It acts only on what the SUBSCRIBE left behind: a queue that the UNSUBSCRIBE names may be
    /// somebody else's. The queue of a topic is deleted if UNSUBSCRIBE says `durable:true` or
    /// `persistent:true`.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is forgotten.
    pub fn unsubscribe(&mut self, headers: Headers<'_>) -> Result<Vec<Action<'static>>, PlanError> {
        let is_durable = match self.config.scheme {
            Scheme::Original => false,
            Scheme::Current => queue::is_durable(headers),
        };
        let tag = match (headers.get(ID), headers.get(DESTINATION)) {
            (None, _) if is_durable => return Err(PlanError::MissingId),
            (Some(id), _) if id.starts_with(TEMP_QUEUE_ID) => {
                return Err(PlanError::UnsubscribeTempQueue);
            }
            (Some(id), _) => ConsumerTag::of_id(&id),
            (None, Some(destination)) => ConsumerTag::of_destination(&destination),
            (None, None) => return Err(PlanError::MissingIdAndDestination),
        };
        let Some(subscription) = self.subscriptions.remove(&tag) else {
            return Err(PlanError::UnknownSubscription(tag));
        };
        let mut plan = vec![Action::Cancel { tag }];
        if is_durable && subscription.kind == Kind::Topic {
            // It may be known by its name, too: then the next SEND to it has to make it again.
            self.declared.remove(&subscription.queue);
            plan.push(Action::Delete { queue: subscription.queue });
        }
        Ok(plan)
    }

    /// The live subscription with that consumer tag. Temporary queues have none.
    #[must_use]
    pub fn subscription(&self, tag: &str) -> Option<&Subscription> {
        self.subscriptions.get(tag)
    }

    /// The broker ended a consumer because its queue was deleted, say. Forgets what it knew of both,
    /// and returns what RabbitMQ tells the client; `None`: there was no such consumer.
    pub fn cancelled(&mut self, tag: &str) -> Option<PlanError> {
        let entry = self.subscriptions.remove_entry(tag);
        let (tag, queue) = if let Some((tag, subscription)) = entry {
            (tag, subscription.queue)
        } else {
            let id = tag.strip_prefix(ConsumerTag::ID)?;
            let queue = self.temp_queues.remove(id.strip_prefix(TEMP_QUEUE_ID)?)?;
            (ConsumerTag::of_id(id), queue)
        };
        self.declared.remove(&queue);
        Some(PlanError::Cancelled(tag))
    }

    /// Drops a subscription that ended in any other way than by UNSUBSCRIBE: its plan failed, say,
    /// and the session goes on all the same.
    pub fn forget(&mut self, tag: &str) -> Option<Subscription> {
        self.subscriptions.remove(tag)
    }

    /// Whether a queue that a destination names has to be declared.
    pub(super) fn is_undeclared(&self, queue: &str) -> Result<bool, PlanError> {
        if self.declared.contains(queue) {
            return Ok(false);
        }
        check_room(self.declared.len(), self.config.max_queues, Remembered::Queues)?;
        Ok(true)
    }

    /// The tag for a SUBSCRIBE that can be entered.
    pub(super) fn free_tag(
        &self,
        headers: Headers<'_>,
        destination: &str,
    ) -> Result<ConsumerTag, PlanError> {
        let tag = match headers.get(ID) {
            // Tags of that form are those of temporary queues.
            Some(id) if id.starts_with(TEMP_QUEUE_ID) => {
                return Err(PlanError::InvalidValue { name: ID });
            }
            Some(id) => ConsumerTag::of_id(&id),
            None => ConsumerTag::of_destination(destination),
        };
        if self.subscriptions.contains_key(&tag) {
            return Err(PlanError::Duplicate(tag));
        }
        let most = self.config.max_subscriptions;
        check_room(self.subscriptions.len(), most, Remembered::Subscriptions)?;
        Ok(tag)
    }
}

impl Default for PlannerConfig {
    fn default() -> Self {
        Self {
            scheme: Scheme::default(),
            topic_exchange: TOPIC_EXCHANGE.into(),
            queue_defaults: QueueDefaults::default(),
            queue_type: QueueType::default(),
            max_queues: 1024,
            max_subscriptions: 1024,
            max_temp_queues: 64,
        }
    }
}

/// What the ids of subscriptions to temporary queues start with.
pub(super) const TEMP_QUEUE_ID: &str = "/temp-queue/";

pub(super) fn destination(
    headers: Headers<'_>,
    command: Command,
) -> Result<Cow<'_, str>, PlanError> {
    headers.get(DESTINATION).ok_or(PlanError::MissingDestination(command))
}

pub(super) fn check_room(len: usize, most: usize, what: Remembered) -> Result<(), PlanError> {
    if len < most { Ok(()) } else { Err(PlanError::LimitExceeded { what, most }) }
}
