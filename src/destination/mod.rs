//! Destinations as RabbitMQ reads and writes them, and what it does for a frame that names one.
//!
//! To STOMP, and to the sessions of this crate, a destination is an opaque string. This module is for
//! brokers and gateways that want it to mean what it means to the STOMP plugin of RabbitMQ:
//!
//! * [`Destination`] is the grammar of the `destination` header.
//! * [`Planner`] makes of a SUBSCRIBE, SEND or UNSUBSCRIBE the ordered [`Action`]s that a broker in the
//!   manner of AMQP 0-9-1 carries out. No exchange is ever declared.
//! * [`PlanError`] knows what RabbitMQ would say in its ERROR.
//!
//! Nothing here knows of a session or does anything; the reference is RabbitMQ 4.3.5.
//!
//! ```
//! use stomp_proto::destination::{Action, Planner, PlannerConfig, Unnamed};
//! use stomp_proto::{Command, Frame};
//! # fn main() -> Result<(), stomp_proto::destination::PlanError> {
//! let mut planner = Planner::new(PlannerConfig::default());
//! let subscribe = Frame::builder(Command::Subscribe)
//!     .header("id", "0")
//!     .header("destination", "/topic/news.#")
//!     .build();
//! let plan = planner.subscribe(subscribe.headers(), |_: Unnamed<'_>| "generated-1".into())?;
//! assert!(matches!(&plan[..], [
//!     Action::CheckTopicRead { .. },
//!     Action::Declare { queue: declared, .. },
//!     Action::Consume { tag, .. },
//!     Action::Bind { exchange, key, .. },
//! ] if *declared == "generated-1"
//!     && tag.as_str() == "T_0"
//!     && *exchange == "amq.topic"
//!     && *key == "news.#"));
//! # Ok(())
//! # }
//! ```

mod action;
mod current;
mod error;
mod escape;
pub mod name;
mod original;
mod plan;
mod properties;
mod queue;
mod value;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::fmt;

pub use action::{Action, Argument, Arguments, ConsumerTag};
pub use error::{DestinationError, PlanError, Remembered};
pub use plan::{Planner, PlannerConfig, Scheme, Subscription, Unnamed};
pub use properties::{DeliveryMode, Properties};
pub use queue::{Exclusivity, QueueDefaults, QueueFlags, QueueType};

use escape::{Escapes, OctetsEscaped, SlashEscaped};

/// What a `destination` header names.
///
/// `Display` writes it as a `destination` header for SEND or SUBSCRIBE, which [`Destination::parse`]
/// undoes. One name cannot be written so: one that holds `%2F` itself, which is read as a slash.
///
/// ```
/// use stomp_proto::destination::Destination;
/// # fn main() -> Result<(), stomp_proto::destination::DestinationError> {
/// let destination = Destination::parse("/exchange/logs/eu.%2F")?;
/// let expected = Destination::Exchange { name: "logs".into(), key: Some("eu./".into()) };
/// assert_eq!(destination, expected);
/// assert_eq!(destination.to_string(), "/exchange/logs/eu.%2F");
/// assert_eq!(Destination::parse("jobs")?, Destination::Queue("jobs".into()));
/// assert!(Destination::parse("/queue/a/b").is_err(), "a slash in a name is %2F");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination<'a> {
    /// `/exchange/<name>[/<key>]`: an exchange that is there.
    Exchange {
        /// The name of the exchange, not empty.
        name: Cow<'a, str>,
        /// What SEND publishes with and SUBSCRIBE binds with.
        key: Option<Cow<'a, str>>,
    },
    /// `/queue/<name>`, or a name without any slash: a queue that is made if it is not there.
    Queue(Cow<'a, str>),
    /// `/topic/<name>`: a key of the topic exchange, wildcards and all.
    Topic(Cow<'a, str>),
    /// `/amq/queue/<name>`: a queue that is there.
    AmqQueue(Cow<'a, str>),
    /// `/reply-queue/<name>`: the queue that waits for a reply. Its name may hold slashes.
    ReplyQueue(Cow<'a, str>),
    /// `/temp-queue/<name>`: in `reply-to`, a queue of the session. Nothing can be sent or subscribed
    /// to it by that name.
    TempQueue(Cow<'a, str>),
}

/// What kind of thing a [`Destination`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`Destination::Exchange`].
    Exchange,
    /// [`Destination::Queue`].
    Queue,
    /// [`Destination::Topic`].
    Topic,
    /// [`Destination::AmqQueue`].
    AmqQueue,
    /// [`Destination::ReplyQueue`].
    ReplyQueue,
    /// [`Destination::TempQueue`].
    TempQueue,
}

impl<'a> Destination<'a> {
    /// Reads the `destination` of a SEND or SUBSCRIBE, or a `reply-to`.
    ///
    /// The text is split at its slashes first; then `%2F` in a part, and nothing else, stands for a
    /// slash. Letter case matters.
    ///
    /// # Errors
    ///
    /// [`DestinationError`]: it is blank, starts with no prefix of the grammar, or has too few or too
    /// many parts behind the prefix.
    pub fn parse(text: &'a str) -> Result<Self, DestinationError> {
        Self::read(text, Escapes::Slash)
    }

    /// Reads the `destination` of a MESSAGE, as [`message_destination`] writes it: every `%XX` stands
    /// for an octet.
    ///
    /// It need not be the destination that was subscribed to, nor that of the SEND: tell messages
    /// apart by their `subscription`.
    ///
    /// # Errors
    ///
    /// As [`Destination::parse`]; also a `%` without two hexadecimal digits behind it, and octets that
    /// are not UTF-8.
    pub fn from_message(text: &'a str) -> Result<Self, DestinationError> {
        Self::read(text, Escapes::Octets)
    }

    /// What kind of thing it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Exchange { .. } => Kind::Exchange,
            Self::Queue(_) => Kind::Queue,
            Self::Topic(_) => Kind::Topic,
            Self::AmqQueue(_) => Kind::AmqQueue,
            Self::ReplyQueue(_) => Kind::ReplyQueue,
            Self::TempQueue(_) => Kind::TempQueue,
        }
    }

    /// The exchange and the routing key that lead there. Queues are reached through the default
    /// exchange, by their names.
    fn route<'r>(&'r self, topic_exchange: &'r str) -> (&'r str, &'r str) {
        match self {
            Self::Exchange { name, key } => (name, key.as_deref().unwrap_or_default()),
            Self::Topic(key) => (topic_exchange, key),
            Self::Queue(name)
            | Self::AmqQueue(name)
            | Self::ReplyQueue(name)
            | Self::TempQueue(name) => (DEFAULT_EXCHANGE, name),
        }
    }

    fn read(text: &'a str, escapes: Escapes) -> Result<Self, DestinationError> {
        if text.is_empty() {
            return Err(DestinationError::Blank);
        }
        let (kind, rest) = match split_prefix(text) {
            Some(split) => split,
            None if text.contains('/') => return Err(DestinationError::Unknown(text.into())),
            None => (Kind::Queue, text),
        };
        let path = rest.strip_prefix('/').unwrap_or(rest);
        let name = |part: &'a str| if part.is_empty() { None } else { escapes.undo(part) };
        let only_name = || if path.contains('/') { None } else { name(path) };
        let destination = match kind {
            Kind::Exchange => match path.split_once('/') {
                None => name(path).map(|name| Self::Exchange { name, key: None }),
                Some((_, key)) if key.contains('/') => None,
                Some((exchange, key)) => name(exchange)
                    .zip(escapes.undo(key))
                    .map(|(name, key)| Self::Exchange { name, key: Some(key) }),
            },
            Kind::Queue => only_name().map(Self::Queue),
            Kind::Topic => only_name().map(Self::Topic),
            Kind::AmqQueue => only_name().map(Self::AmqQueue),
            Kind::ReplyQueue => name(path).map(Self::ReplyQueue),
            Kind::TempQueue => only_name().map(Self::TempQueue),
        };
        destination.ok_or_else(|| DestinationError::Invalid { kind, rest: rest.into() })
    }
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.kind().prefix();
        match self {
            Self::Exchange { name, key: Some(key) } => {
                write!(f, "{prefix}/{}/{}", SlashEscaped(name), SlashEscaped(key))
            }
            Self::Exchange { name, key: None }
            | Self::Queue(name)
            | Self::Topic(name)
            | Self::AmqQueue(name)
            | Self::ReplyQueue(name)
            | Self::TempQueue(name) => write!(f, "{prefix}/{}", SlashEscaped(name)),
        }
    }
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::TempQueue,
        Self::Exchange,
        Self::Topic,
        Self::Queue,
        Self::AmqQueue,
        Self::ReplyQueue,
    ];

    /// What stands before the slash before the name.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Exchange => "/exchange",
            Self::Queue => "/queue",
            Self::Topic => "/topic",
            Self::AmqQueue => "/amq/queue",
            Self::ReplyQueue => "/reply-queue",
            Self::TempQueue => "/temp-queue",
        }
    }

    /// The kind as RabbitMQ calls it in its errors.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Queue => "queue",
            Self::Topic => "topic",
            Self::AmqQueue => "amqqueue",
            Self::ReplyQueue => "reply_queue",
            Self::TempQueue => "temp_queue",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The `destination` of a MESSAGE that came through `exchange` with that routing key.
///
/// This is not [`Destination::parse`] the other way round: the slash, the percent sign and every octet
/// below 32 or above 127 become `%XX`, which only [`Destination::from_message`] undoes; only
/// `amq.topic` is a topic; and a queue is `/queue/<name>` however the SEND named it.
///
/// ```
/// use stomp_proto::destination::{Destination, message_destination};
/// assert_eq!(message_destination("", "100%"), "/queue/100%25");
/// assert_eq!(message_destination("amq.topic", "a.b"), "/topic/a.b");
/// assert_eq!(message_destination("logs", ""), "/exchange/logs");
/// let destination = Destination::from_message("/queue/100%25");
/// assert_eq!(destination, Ok(Destination::Queue("100%".into())));
/// ```
#[must_use]
pub fn message_destination(exchange: &str, key: &str) -> String {
    match (exchange, key) {
        (DEFAULT_EXCHANGE, key) => format!("{}/{}", Kind::Queue.prefix(), OctetsEscaped(key)),
        (TOPIC_EXCHANGE, key) => format!("{}/{}", Kind::Topic.prefix(), OctetsEscaped(key)),
        (exchange, "") => format!("{}/{}", Kind::Exchange.prefix(), OctetsEscaped(exchange)),
        (exchange, key) => {
            format!(
                "{}/{}/{}",
                Kind::Exchange.prefix(),
                OctetsEscaped(exchange),
                OctetsEscaped(key)
            )
        }
    }
}

/// The `reply-to` of a MESSAGE whose AMQP property of that name is `reply_to`: where an answer can be
/// sent. What does not look like a destination is the name of a reply queue.
///
/// ```
/// use stomp_proto::destination::message_reply_to;
/// assert_eq!(message_reply_to("stomp-gen-1"), "/reply-queue/stomp-gen-1");
/// assert_eq!(message_reply_to("/queue/answers"), "/queue/answers");
/// ```
#[must_use]
pub fn message_reply_to(reply_to: &str) -> Cow<'_, str> {
    // RabbitMQ 4.3.5 looks for a slash behind this prefix only.
    const REPLY_QUEUE: &str = "/reply-queue/";
    let prefixes = [Kind::Exchange, Kind::Topic, Kind::Queue, Kind::AmqQueue].map(Kind::prefix);
    if reply_to.starts_with(REPLY_QUEUE)
        || prefixes.iter().any(|prefix| reply_to.starts_with(prefix))
    {
        return Cow::Borrowed(reply_to);
    }
    Cow::Owned(format!("{REPLY_QUEUE}{reply_to}"))
}

/// The exchange that reaches every queue by its name.
const DEFAULT_EXCHANGE: &str = "";
/// The exchange that `/topic` stands for.
const TOPIC_EXCHANGE: &str = "amq.topic";

/// The kind that a text starts with the prefix of, and what follows, with its slash.
fn split_prefix(text: &str) -> Option<(Kind, &str)> {
    Kind::ALL.into_iter().find_map(|kind| {
        let rest = text.strip_prefix(kind.prefix())?;
        let ends = rest.starts_with('/');
        // RabbitMQ 4.3.5 has the slash in the prefix of reply queues, so that alone it is unknown.
        let is_bare = rest.is_empty() && kind != Kind::ReplyQueue;
        (ends || is_bare).then_some((kind, rest))
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    /// Names without `%2F`, which no SEND or SUBSCRIBE can write.
    fn name() -> impl Strategy<Value = String> {
        "[a/%2F.#* \u{0}\u{7f}\u{e9}\u{20ac}]{1,8}"
            .prop_filter("holds %2F", |name| !name.contains(escape::SLASH))
    }

    fn destination() -> impl Strategy<Value = Destination<'static>> {
        let key = proptest::option::of(prop_oneof![Just(String::new()), name()]);
        prop_oneof![
            (name(), key).prop_map(|(name, key)| Destination::Exchange {
                name: name.into(),
                key: key.map(Cow::Owned),
            }),
            name().prop_map(|name| Destination::Queue(name.into())),
            name().prop_map(|name| Destination::Topic(name.into())),
            name().prop_map(|name| Destination::AmqQueue(name.into())),
            name().prop_map(|name| Destination::ReplyQueue(name.into())),
            name().prop_map(|name| Destination::TempQueue(name.into())),
        ]
    }

    proptest! {
        #[test]
        fn parse_undoes_display(destination in destination()) {
            let text = destination.to_string();
            prop_assert_eq!(Destination::parse(&text), Ok(destination));
        }

        #[test]
        fn from_message_undoes_message_destination(
            exchange in prop_oneof![Just(""), Just("amq.topic"), Just("a/%2F%"), Just("\u{e9}")],
            key in "[a/%2F.#* \u{0}\u{7f}\u{e9}\u{20ac}]{0,8}",
        ) {
            let text = message_destination(exchange, &key);
            prop_assert!(text.bytes().all(|octet| (32..=127).contains(&octet)));
            let expected = match (exchange, key.is_empty()) {
                ("" | "amq.topic", true) => None,
                ("", false) => Some(Destination::Queue(key.into())),
                ("amq.topic", false) => Some(Destination::Topic(key.into())),
                (name, is_empty) => Some(Destination::Exchange {
                    name: name.into(),
                    key: (!is_empty).then_some(key.into()),
                }),
            };
            prop_assert_eq!(Destination::from_message(&text).ok(), expected);
        }

        #[test]
        fn no_text_panics_and_no_name_is_empty(
            text in "(/|/exchange|/queue|/topic|/amq|/reply-queue|/temp-queue|%2F|%|[a-f0-9]|\u{e9}){0,6}",
        ) {
            for read in [Destination::parse(&text), Destination::from_message(&text)] {
                match read {
                    Ok(Destination::Exchange { name, .. }) => prop_assert!(!name.is_empty()),
                    Ok(destination) => prop_assert!(!destination.route("t").1.is_empty()),
                    Err(error) => prop_assert!(!error.body().is_empty()),
                }
            }
        }
    }

    #[test]
    fn a_percent_sign_in_a_message_needs_two_digits_of_some_text_behind_it() {
        for wrong in ["%", "%2", "%2G", "%+1", "a%", "%ff", "%C3", "%C3%", "%25%"] {
            let (text, rest) = (format!("/queue/{wrong}"), format!("/{wrong}"));
            let error = DestinationError::Invalid { kind: Kind::Queue, rest: (*rest).into() };
            assert_eq!(Destination::from_message(&text), Err(error));
            assert!(Destination::parse(&text).is_ok(), "on the way in it is itself");
        }
        for (escaped, plain) in [("%c3%A9", "\u{e9}"), ("%2f%2F", "//"), ("%2525", "%25")] {
            let text = format!("/queue/{escaped}");
            assert_eq!(Destination::from_message(&text), Ok(Destination::Queue(plain.into())));
        }
    }

    #[test]
    fn a_reply_to_that_is_no_destination_is_a_reply_queue() {
        for passes in ["/exchange/a", "/queue/a", "/topic/a", "/amq/queue/a", "/reply-queue/a"] {
            assert_eq!(message_reply_to(passes), passes);
        }
        for name in ["amq.gen-1", "/temp-queue/a", "/reply-queue", "queue/a", ""] {
            assert_eq!(message_reply_to(name), format!("/reply-queue/{name}"));
        }
    }
}
