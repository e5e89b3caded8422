//! How a queue is declared and consumed from: flags, arguments, and what they are by default.

use alloc::vec::Vec;

use super::name::{
    AUTO_DELETE, DURABLE, EXCLUSIVE, PERSISTENT, X_PRIORITY, X_QUEUE_TYPE, X_STREAM_FILTER,
    X_STREAM_MATCH_UNFILTERED, X_STREAM_OFFSET,
};
use super::value::{boolean, number, parse_boolean, parse_number};
use super::{Action, Argument, Arguments, PlanError};
use crate::frame::value::BLANKS;
use crate::frame::{Headers, Text};

/// How long a queue lives, and for whom. `None`: the scheme does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFlags {
    /// Whether it outlives the broker.
    pub durable: Option<bool>,
    /// Whether it goes with its last consumer.
    pub auto_delete: Option<bool>,
    /// Whether it is of one connection and goes with it.
    pub exclusive: Option<bool>,
}

/// Whether the queues of subscriptions that are not durable are exclusive, unless their headers say.
/// That changed between releases of RabbitMQ.
///
/// ```
/// use stomp_proto::destination::{PlannerConfig, QueueDefaults};
/// let mut config = PlannerConfig::default();
/// config.queue_defaults = QueueDefaults::RABBITMQ_3_11;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDefaults {
    /// Subscriptions to `/exchange`; durable ones as well.
    pub exchange: Exclusivity,
    /// Subscriptions to `/topic`.
    pub topic: Exclusivity,
}

/// Whether a queue is of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusivity {
    /// It is, and goes with it.
    Exclusive,
    /// Any connection may use it.
    Shared,
}

/// The type of a queue, as far as its flags depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueType {
    /// `classic`.
    #[default]
    Classic,
    /// `quorum`, which is always durable and never exclusive.
    Quorum,
    /// `stream`, likewise.
    Stream,
}

impl QueueDefaults {
    /// RabbitMQ 2.2 to 3.5.
    pub const RABBITMQ_2_2: Self =
        Self { exchange: Exclusivity::Exclusive, topic: Exclusivity::Exclusive };
    /// RabbitMQ 3.6 to early 3.11.
    pub const RABBITMQ_3_6: Self =
        Self { exchange: Exclusivity::Shared, topic: Exclusivity::Shared };
    /// RabbitMQ 3.11 (about 3.11.9) to 4.2.
    pub const RABBITMQ_3_11: Self =
        Self { exchange: Exclusivity::Exclusive, topic: Exclusivity::Shared };
    /// RabbitMQ 4.3. The default.
    pub const RABBITMQ_4_3: Self = Self::RABBITMQ_2_2;
}

impl Default for QueueDefaults {
    fn default() -> Self {
        Self::RABBITMQ_4_3
    }
}

/// What a queue is declared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A destination names it.
    Named,
    /// A subscription to an exchange or topic, exclusive by default or not.
    Exchange(Exclusivity),
    Topic(Exclusivity),
}

/// The flags and arguments that the headers of a SUBSCRIBE or SEND give a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) flags: QueueFlags,
    pub(super) arguments: Arguments,
}

impl Declaration {
    pub(super) fn read(
        headers: Headers<'_>,
        purpose: Purpose,
        default_type: QueueType,
    ) -> Result<Self, PlanError> {
        let durable = durable(headers)?.unwrap_or(purpose == Purpose::Named);
        let by_default = |exclusivity| exclusivity == Exclusivity::Exclusive;
        // RabbitMQ 4.3.5: what is not durable is both; exchanges bring both with them, topics only
        // that they are deleted.
        let (auto_delete, exclusive) = match purpose {
            Purpose::Named => (!durable, !durable),
            Purpose::Exchange(exclusivity) => (true, by_default(exclusivity)),
            Purpose::Topic(exclusivity) => (true, !durable && by_default(exclusivity)),
        };
        let flags = QueueFlags {
            durable: Some(durable),
            auto_delete: Some(boolean(headers, AUTO_DELETE)?.unwrap_or(auto_delete)),
            exclusive: Some(boolean(headers, EXCLUSIVE)?.unwrap_or(exclusive)),
        };
        let arguments = arguments(headers)?;
        let flags = match queue_type(&arguments).unwrap_or(default_type) {
            QueueType::Classic => flags,
            QueueType::Quorum | QueueType::Stream => {
                QueueFlags { durable: Some(true), exclusive: Some(false), ..flags }
            }
        };
        Ok(Self { flags, arguments })
    }

    pub(super) fn of(self, queue: Text) -> Action<'static> {
        let Self { flags, arguments } = self;
        Action::Declare { queue, flags, arguments }
    }
}

/// Whether a SUBSCRIBE or UNSUBSCRIBE is about a durable subscription: either header will do.
pub(super) fn is_durable(headers: Headers<'_>) -> bool {
    [DURABLE, PERSISTENT].iter().any(|name| {
        let value = headers.get(name);
        value.is_some_and(|value| parse_boolean(&value, name) == Ok(true))
    })
}

/// The arguments of a consumer.
pub(super) fn consumer_arguments(headers: Headers<'_>) -> Result<Arguments, PlanError> {
    let mut arguments = Vec::new();
    if let Some(value) = headers.get(X_STREAM_OFFSET) {
        arguments.extend(stream_offset(&value)?.map(|offset| (X_STREAM_OFFSET, offset)));
    }
    if let Some(value) = headers.get(X_STREAM_FILTER) {
        let values = value.split(',').map(Text::new).collect();
        arguments.push((X_STREAM_FILTER, Argument::Texts(values)));
    }
    if let Some(value) = boolean(headers, X_STREAM_MATCH_UNFILTERED)? {
        arguments.push((X_STREAM_MATCH_UNFILTERED, Argument::Boolean(value)));
    }
    if let Some(value) = number(headers, X_PRIORITY)? {
        arguments.push((X_PRIORITY, Argument::Integer(value)));
    }
    Ok(arguments)
}

/// The headers that are arguments of a queue as text.
const TEXT_ARGUMENTS: [&str; 4] =
    [X_QUEUE_TYPE, "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-max-age"];

/// The headers that are arguments of a queue as integers. RabbitMQ 4.3.5 does not have `x-overflow`
/// here, though its manual does.
const INTEGER_ARGUMENTS: [&str; 7] = [
    "x-expires",
    "x-message-ttl",
    "x-max-length",
    "x-max-length-bytes",
    "x-max-priority",
    "x-stream-max-segment-size-bytes",
    "x-stream-filter-size-bytes",
];

fn arguments(headers: Headers<'_>) -> Result<Arguments, PlanError> {
    let mut arguments = Vec::new();
    for name in TEXT_ARGUMENTS {
        if let Some(value) = headers.get(name) {
            arguments.push((name, Argument::Text(Text::new(value.trim_matches(BLANKS)))));
        }
    }
    for name in INTEGER_ARGUMENTS {
        if let Some(value) = number(headers, name)? {
            arguments.push((name, Argument::Integer(value)));
        }
    }
    Ok(arguments)
}

/// The type that the arguments name. One that is not known is for the broker to refuse.
fn queue_type(arguments: &Arguments) -> Option<QueueType> {
    let (_, argument) = arguments.iter().find(|(name, _)| *name == X_QUEUE_TYPE)?;
    let Argument::Text(name) = argument else { return None };
    Some(match name.as_str() {
        "quorum" => QueueType::Quorum,
        "stream" => QueueType::Stream,
        _ => QueueType::Classic,
    })
}

/// `durable` and `persistent` are one switch; of the two the first in the frame counts.
fn durable(headers: Headers<'_>) -> Result<Option<bool>, PlanError> {
    let is_switch = |name: &str| [DURABLE, PERSISTENT].into_iter().find(|switch| *switch == name);
    headers
        .iter()
        .find_map(|header| Some((header, is_switch(&header.name())?)))
        .map(|(header, name)| parse_boolean(&header.value(), name))
        .transpose()
}

fn stream_offset(value: &str) -> Result<Option<Argument>, PlanError> {
    if matches!(value, "first" | "last" | "next") {
        return Ok(Some(Argument::Text(Text::new(value))));
    }
    if let Some(offset) = value.strip_prefix("offset=") {
        return parse_number(offset, X_STREAM_OFFSET).map(|offset| Some(Argument::Integer(offset)));
    }
    if let Some(time) = value.strip_prefix("timestamp=") {
        return parse_number(time, X_STREAM_OFFSET).map(|time| Some(Argument::Timestamp(time)));
    }
    // RabbitMQ 4.3.5 passes over any other form.
    Ok(None)
}
