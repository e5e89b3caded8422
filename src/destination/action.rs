//! What a broker is to do, one step at a time.

use alloc::format;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use super::{Properties, QueueFlags};
use crate::frame::{AckMode, Text};

/// One step of a plan. The steps are carried out in order; if one fails, the rest are not, and the
/// session ends (see [`Planner`](super::Planner)). There will be no steps that a `match` may pass over.
///
/// Names may be longer than the 255 octets that AMQP 0-9-1 can write.
#[derive(Clone, Debug)]
pub enum Action<'a> {
    /// See whether the user may read from a topic exchange with that key.
    CheckTopicRead {
        /// The exchange.
        exchange: Text,
        /// The routing key, perhaps with wildcards.
        key: Text,
    },
    /// Make a queue, unless it is there with the same flags and arguments.
    Declare {
        /// The queue.
        queue: Text,
        /// How long it lives, and for whom.
        flags: QueueFlags,
        /// Its arguments, `x-queue-type` among them.
        arguments: Arguments,
    },
    /// Bind a queue to an exchange that is there.
    Bind {
        /// The queue.
        queue: Text,
        /// The exchange.
        exchange: Text,
        /// The routing key, perhaps with wildcards.
        key: Text,
    },
    /// Bound the messages that are under way and unacknowledged.
    ///
    /// RabbitMQ 4.3.5 has one channel for a session, so this is about the consumers that start from
    /// now on.
    Qos {
        /// How many; 0 is any number.
        prefetch_count: u16,
    },
    /// Start a consumer.
    Consume {
        /// The queue.
        queue: Text,
        /// What names the consumer in the session.
        tag: ConsumerTag,
        /// How its messages are acknowledged: [`AckMode::Auto`] is `no_ack`, [`AckMode::Client`]
        /// acknowledges with `multiple`.
        mode: AckMode,
        /// Its arguments.
        arguments: Arguments,
    },
    /// Publish the body of the SEND. A message that no queue takes is dropped: `mandatory` is not
    /// set.
    Publish {
        /// The exchange, which may turn out not to be there. Empty: the default exchange.
        exchange: Text,
        /// The routing key.
        key: Text,
        /// The properties and headers of the message.
        properties: Properties<'a>,
    },
    /// End a consumer.
    Cancel {
        /// What names it.
        tag: ConsumerTag,
    },
    /// Delete a queue.
    Delete {
        /// The queue.
        queue: Text,
    },
}

/// The arguments of a queue or consumer, by name.
pub type Arguments = Vec<(&'static str, Argument)>;

/// The value of an argument, with the AMQP 0-9-1 type that RabbitMQ gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `longstr`.
    Text(Text),
    /// `long`.
    Integer(i64),
    /// `bool`.
    Boolean(bool),
    /// `timestamp`: seconds since 1970.
    Timestamp(u64),
    /// `array` of `longstr`.
    Texts(Vec<Text>),
}

/// What names a consumer in its session.
///
/// RabbitMQ writes it into its errors, so it has RabbitMQ's form: `T_` and the id of the
/// subscription, or `Q_` and the destination of one without an id.
///
/// ```
/// use stomp_proto::destination::ConsumerTag;
/// assert_eq!(ConsumerTag::of_id("0").as_str(), "T_0");
/// assert_eq!(ConsumerTag::of_id("0").subscription_id(), Some("0"));
/// assert_eq!(ConsumerTag::of_destination("/queue/a").subscription_id(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerTag(Text);

impl ConsumerTag {
    pub(super) const ID: &str = "T_";
    const DESTINATION: &str = "Q_";

    /// The tag of a subscription with an id. That of a temporary queue is `/temp-queue/` and its name.
    #[must_use]
    pub fn of_id(id: &str) -> Self {
        Self(Text::new(&format!("{}{id}", Self::ID)))
    }

    /// The tag of a subscription without an id, by the `destination` header.
    #[must_use]
    pub fn of_destination(destination: &str) -> Self {
        Self(Text::new(&format!("{}{destination}", Self::DESTINATION)))
    }

    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The `subscription` of its MESSAGEs; none if the SUBSCRIBE had no id.
    #[must_use]
    pub fn subscription_id(&self) -> Option<&str> {
        self.0.strip_prefix(Self::ID)
    }

    /// The header by which its SUBSCRIBE is known.
    pub(super) fn origin(&self) -> Origin<'_> {
        let text = self.as_str();
        match self.subscription_id() {
            Some(id) => Origin::Id(id),
            None => Origin::Destination(text.strip_prefix(Self::DESTINATION).unwrap_or(text)),
        }
    }
}

impl Borrow<str> for ConsumerTag {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for ConsumerTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The header by which a SUBSCRIBE is known.
pub(super) enum Origin<'a> {
    Id(&'a str),
    Destination(&'a str),
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "id='{id}'"),
            Self::Destination(destination) => write!(f, "destination='{destination}'"),
        }
    }
}
