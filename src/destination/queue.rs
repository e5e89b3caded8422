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

impl Exclusivity {
    fn is_exclusive(self) -> bool {
        self == Self::Exclusive
    }
}

/// What a queue is declared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A destination names it.
    Named,
    /// A subscription to an exchange.
    Exchange(Exclusivity),
    /// A subscription to a topic.
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
        // RabbitMQ 4.3.5: what is not durable is both, unless the release table says otherwise. That
        // of an exchange is both, and that of a topic goes with its consumer, even if it is durable.
        let (auto_delete, exclusive) = match purpose {
            Purpose::Named => (!durable, !durable),
            Purpose::Exchange(exclusivity) => (true, exclusivity.is_exclusive()),
            Purpose::Topic(exclusivity) => (true, !durable && exclusivity.is_exclusive()),
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

    /// The step that declares `queue` so.
    pub(super) fn of(self, queue: Text) -> Action<'static> {
        let Self { flags, arguments } = self;
        Action::Declare { queue, flags, arguments }
    }
}

/// Whether a SUBSCRIBE or UNSUBSCRIBE is about a durable subscription: either header will do.
pub(super) fn is_durable(headers: Headers<'_>) -> bool {
    [DURABLE, PERSISTENT].into_iter().any(|name| boolean(headers, name) == Ok(Some(true)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Frame};

    const EXCHANGE: Purpose = Purpose::Exchange(QueueDefaults::RABBITMQ_4_3.exchange);
    const TOPIC: Purpose = Purpose::Topic(QueueDefaults::RABBITMQ_4_3.topic);

    /// A frame with headers as they are on the wire.
    fn frame(lines: &str) -> Frame {
        let headers = lines.lines().filter_map(|line| line.split_once(':'));
        headers
            .fold(Frame::builder(Command::Subscribe), |frame, (name, value)| {
                frame.header(name, value)
            })
            .build()
    }

    /// Durable, auto-delete, exclusive.
    fn flags(purpose: Purpose, lines: &str) -> [bool; 3] {
        let declaration =
            Declaration::read(frame(lines).headers(), purpose, QueueType::Classic).unwrap();
        let QueueFlags { durable, auto_delete, exclusive } = declaration.flags;
        [durable, auto_delete, exclusive].map(Option::unwrap)
    }

    /// destinations.md, chapter 3.1
    #[test]
    fn flags_follow_from_purpose_and_headers() {
        const N: bool = false;
        const Y: bool = true;
        for (purpose, lines, expected) in [
            (Purpose::Named, "", [Y, N, N]),
            (Purpose::Named, "durable:false", [N, Y, Y]),
            (Purpose::Named, "persistent:False", [N, Y, Y]),
            (Purpose::Named, "durable:false\nexclusive:false", [N, Y, N]),
            (Purpose::Named, "durable:false\nauto-delete:false", [N, N, Y]),
            (Purpose::Named, "auto-delete:True", [Y, Y, N]),
            (Purpose::Named, "exclusive:true", [Y, N, Y]),
            (Purpose::Named, "persistent:true\ndurable:false", [Y, N, N]),
            (Purpose::Named, "durable:false\npersistent:true", [N, Y, Y]),
            (Purpose::Named, "durable:false\ndurable:true", [N, Y, Y]),
            (TOPIC, "", [N, Y, Y]),
            (TOPIC, "auto-delete:false\nexclusive:false", [N, N, N]),
            (TOPIC, "durable:true", [Y, Y, N]),
            (TOPIC, "durable:true\nauto-delete:false", [Y, N, N]),
            (EXCHANGE, "", [N, Y, Y]),
            (EXCHANGE, "durable:true", [Y, Y, Y]),
            (EXCHANGE, "durable:true\nauto-delete:false\nexclusive:false", [Y, N, N]),
            (Purpose::Named, "x-queue-type:quorum\ndurable:false", [Y, Y, N]),
            (Purpose::Named, "x-queue-type: stream \nexclusive:true", [Y, N, N]),
            (TOPIC, "x-queue-type:quorum", [Y, Y, N]),
            (TOPIC, "x-queue-type:stream\nauto-delete:false", [Y, N, N]),
            (EXCHANGE, "x-queue-type:quorum", [Y, Y, N]),
            (EXCHANGE, "x-queue-type:classic", [N, Y, Y]),
            (EXCHANGE, "x-queue-type:Quorum", [N, Y, Y]),
        ] {
            assert_eq!(flags(purpose, lines), expected, "{purpose:?} {lines:?}");
        }
    }

    #[test]
    fn the_type_of_the_virtual_host_counts_where_the_frame_names_none() {
        for default in [QueueType::Quorum, QueueType::Stream] {
            let read = |lines: &str| Declaration::read(frame(lines).headers(), TOPIC, default);
            let flags = read("").unwrap().flags;
            assert_eq!((flags.durable, flags.exclusive), (Some(true), Some(false)));
            let declaration = read("x-queue-type:classic").unwrap();
            assert_eq!(declaration.flags.durable, Some(false));
        }
    }

    /// destinations.md, chapter 3.1, the release table
    #[test]
    fn defaults_changed_through_the_releases() {
        for (defaults, exchange, topic) in [
            (QueueDefaults::RABBITMQ_2_2, true, true),
            (QueueDefaults::RABBITMQ_3_6, false, false),
            (QueueDefaults::RABBITMQ_3_11, true, false),
            (QueueDefaults::RABBITMQ_4_3, true, true),
            (QueueDefaults::default(), true, true),
        ] {
            let of_exchange = Purpose::Exchange(defaults.exchange);
            let of_topic = Purpose::Topic(defaults.topic);
            assert_eq!(flags(of_exchange, ""), [false, true, exchange]);
            assert_eq!(flags(of_topic, ""), [false, true, topic]);
            assert_eq!(
                flags(of_topic, "exclusive:true"),
                [false, true, true],
                "headers have a say"
            );
            assert_eq!(flags(of_exchange, "exclusive:false"), [false, true, false]);
        }
    }

    /// destinations.md, chapter 5.1
    #[test]
    fn arguments_are_text_or_integers_without_blanks() {
        let lines = "x-queue-type:quorum\nx-dead-letter-exchange: dead \n\
            x-dead-letter-routing-key:\tk\nx-max-age:1D\nx-expires:1\nx-message-ttl: 2\n\
            x-max-length:3 \nx-max-length-bytes:9223372036854775807\nx-max-priority:+5\n\
            x-stream-max-segment-size-bytes:-6\nx-stream-filter-size-bytes:7\n\
            x-overflow:drop-head\nx-max-length:8\nX-Expires:9";
        let arguments = arguments(frame(lines).headers()).unwrap();
        let text = |name, text: &str| (name, Argument::Text(text.into()));
        let integer = |name, integer| (name, Argument::Integer(integer));
        let expected = [
            text("x-queue-type", "quorum"),
            text("x-dead-letter-exchange", "dead"),
            text("x-dead-letter-routing-key", "k"),
            text("x-max-age", "1D"),
            integer("x-expires", 1),
            integer("x-message-ttl", 2),
            integer("x-max-length", 3),
            integer("x-max-length-bytes", i64::MAX),
            integer("x-max-priority", 5),
            integer("x-stream-max-segment-size-bytes", -6),
            integer("x-stream-filter-size-bytes", 7),
        ];
        assert_eq!(arguments, expected);
    }

    #[test]
    fn consumers_have_arguments_of_their_own() {
        let arguments = |lines: &str| consumer_arguments(frame(lines).headers()).unwrap();
        for (value, expected) in [
            ("first", Argument::Text("first".into())),
            ("last", Argument::Text("last".into())),
            ("next", Argument::Text("next".into())),
            ("offset=42", Argument::Integer(42)),
            ("timestamp=1700000000", Argument::Timestamp(1_700_000_000)),
        ] {
            let lines = alloc::format!("x-stream-offset:{value}");
            assert_eq!(arguments(&lines), [(X_STREAM_OFFSET, expected)]);
        }
        assert_eq!(arguments("x-stream-offset:1h"), [], "RabbitMQ passes over it");
        let rest = "x-priority:-1\nx-stream-match-unfiltered:true\nx-stream-filter:a,b ,";
        let filter = ["a", "b ", ""].map(Text::new).to_vec();
        let expected = [
            (X_STREAM_FILTER, Argument::Texts(filter)),
            (X_STREAM_MATCH_UNFILTERED, Argument::Boolean(true)),
            (X_PRIORITY, Argument::Integer(-1)),
        ];
        assert_eq!(arguments(rest), expected);
    }

    #[test]
    fn values_that_mean_nothing_are_refused_by_the_name_of_their_header() {
        let declaration = |lines: &str| {
            let frame = frame(lines);
            Declaration::read(frame.headers(), Purpose::Named, QueueType::Classic).map(|_| ())
        };
        let consumer = |lines: &str| consumer_arguments(frame(lines).headers()).map(|_| ());
        for name in [DURABLE, PERSISTENT, AUTO_DELETE, EXCLUSIVE] {
            for value in ["", "yes", "TRUE", " true", "1"] {
                let refused = declaration(&alloc::format!("{name}:{value}"));
                assert_eq!(refused, Err(PlanError::InvalidValue { name }), "{value:?}");
            }
        }
        for name in INTEGER_ARGUMENTS {
            for value in ["", "ten", "1.0", "1 0", "0x1", "9223372036854775808", "--1"] {
                let refused = declaration(&alloc::format!("{name}:{value}"));
                assert_eq!(refused, Err(PlanError::InvalidValue { name }), "{value:?}");
            }
        }
        for (name, value) in [
            (X_STREAM_OFFSET, "offset="),
            (X_STREAM_OFFSET, "offset=first"),
            (X_STREAM_OFFSET, "timestamp=-1"),
            (X_STREAM_MATCH_UNFILTERED, "maybe"),
            (X_PRIORITY, "high"),
        ] {
            let refused = consumer(&alloc::format!("{name}:{value}"));
            assert_eq!(refused, Err(PlanError::InvalidValue { name }), "{value:?}");
        }
    }
}
