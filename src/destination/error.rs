//! Why a destination or a frame is refused, in the words of RabbitMQ.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::{ConsumerTag, Kind};
use crate::Command;
use crate::frame::Text;

/// A text is no destination.
///
/// ```
/// use stomp_proto::destination::Destination;
/// let error = Destination::parse("/queue/a/b").unwrap_err();
/// assert_eq!(error.message(), "Invalid destination");
/// assert_eq!(error.body(), "'/a/b' is not a valid queue destination\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestinationError {
    /// It is empty.
    Blank,
    /// Too few or too many parts behind the prefix, or an empty one.
    Invalid {
        /// What the prefix stands for.
        kind: Kind,
        /// What stands behind the prefix, with its slash.
        rest: Text,
    },
    /// It has no prefix of the grammar.
    Unknown(Text),
}

/// A frame is refused: there is nothing to do, and nothing of it is remembered.
///
/// What RabbitMQ 4.3.5 puts into its ERROR is [`PlanError::message`] and [`PlanError::body`]. It keeps
/// the connection after most of these; a session of this crate ends with every ERROR.
///
/// ```
/// use stomp_proto::destination::{Planner, PlannerConfig};
/// use stomp_proto::{Command, Frame};
/// let mut planner = Planner::new(PlannerConfig::default());
/// let send = Frame::builder(Command::Send).build();
/// let error = planner.send(send.headers(), |_| String::new()).unwrap_err();
/// assert_eq!(error.message(), "Missing destination");
/// assert_eq!(error.body(), "\"SEND\" must include a 'destination' header\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The destination is none.
    Destination(DestinationError),
    /// No destination.
    MissingDestination(Command),
    /// A temporary queue, which is only good in `reply-to`.
    TempQueue {
        /// The command of the frame.
        command: Command,
        /// The destination.
        destination: Text,
    },
    /// [`Scheme::Original`](super::Scheme::Original) does not know such a destination.
    OutsideOriginal(Text),
    /// SEND with a `message-id`.
    MessageIdOnSend,
    /// A durable subscription without an `id` to find it by.
    MissingId,
    /// A header with a value that means nothing.
    InvalidValue {
        /// The name of the header.
        name: &'static str,
    },
    /// A second subscription of the same id or, without ids, to the same destination.
    Duplicate(ConsumerTag),
    /// UNSUBSCRIBE of a subscription that is not there.
    UnknownSubscription(ConsumerTag),
    /// UNSUBSCRIBE with neither `id` nor `destination`.
    MissingIdAndDestination,
    /// UNSUBSCRIBE of a temporary queue.
    UnsubscribeTempQueue,
    /// No refusal, but told like one: the broker ended a consumer by itself. RabbitMQ's ERROR has
    /// `subscription` besides.
    Cancelled(ConsumerTag),
    /// More than a planner remembers.
    LimitExceeded {
        /// What there would be too much of.
        what: Remembered,
        /// The most that is allowed.
        most: usize,
    },
}

/// What a [`Planner`](super::Planner) remembers of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// Queues that were declared because a destination named them.
    Queues,
    /// Live subscriptions.
    Subscriptions,
    /// Temporary queues.
    TempQueues,
}

impl DestinationError {
    /// The `message` header of RabbitMQ's ERROR.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self {
            Self::Blank | Self::Invalid { .. } => INVALID_DESTINATION,
            Self::Unknown(_) => UNKNOWN_DESTINATION,
        }
    }

    /// The body of RabbitMQ's ERROR.
    #[must_use]
    pub fn body(&self) -> String {
        match self {
            Self::Blank => "Destination cannot be blank".into(),
            Self::Invalid { kind, rest } => {
                format!("'{rest}' is not a valid {kind} destination\n")
            }
            Self::Unknown(destination) => format!(
                "'{destination}' is not a valid destination.\n\
                 Valid destination types are: \
                 /temp-queue, /exchange, /topic, /queue, /amq/queue, /reply-queue/.\n"
            ),
        }
    }
}

impl PlanError {
    /// The `message` header of RabbitMQ's ERROR.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self {
            Self::Destination(error) => error.message(),
            Self::MissingDestination(_) => "Missing destination",
            Self::TempQueue { .. } => INVALID_DESTINATION,
            Self::OutsideOriginal(_) => UNKNOWN_DESTINATION,
            Self::MessageIdOnSend => "Invalid header",
            Self::MissingId => "Missing Header",
            Self::InvalidValue { .. } => PROCESSING_ERROR,
            Self::Duplicate(_) => "Duplicated subscription identifier",
            Self::UnknownSubscription(_) => "No subscription found",
            Self::MissingIdAndDestination => "Missing destination or id",
            Self::UnsubscribeTempQueue => "Invalid id",
            Self::Cancelled(_) => "Server cancelled subscription",
            Self::LimitExceeded { .. } => "Limit exceeded",
        }
    }

    /// The body of RabbitMQ's ERROR.
    #[must_use]
    pub fn body(&self) -> String {
        match self {
            Self::Destination(error) => error.body(),
            Self::MissingDestination(command) => {
                format!("\"{command}\" must include a 'destination' header\n")
            }
            Self::TempQueue { command, destination } => {
                format!("'{destination}' is not a valid destination for '{command}'\n")
            }
            Self::OutsideOriginal(destination) => destination.as_str().into(),
            Self::MessageIdOnSend => "'message-id' is not allowed on 'SEND'.\n".into(),
            Self::MissingId => "Header 'id' is required for durable subscriptions".into(),
            Self::InvalidValue { .. } => PROCESSING_ERROR.into(),
            Self::Duplicate(tag) => {
                format!("A subscription identified by '{tag}' already exists.")
            }
            Self::UnknownSubscription(tag) => format!(
                "UNSUBSCRIBE must refer to an existing subscription.\n\
                 Subscription to \"{}\" not found.\n",
                tag.origin()
            ),
            Self::MissingIdAndDestination => {
                "UNSUBSCRIBE must include a 'destination' or 'id' header".into()
            }
            Self::UnsubscribeTempQueue => {
                "UNSUBSCRIBE 'id' may not start with /temp-queue/\n".into()
            }
            Self::Cancelled(tag) => format!(
                "The server has canceled a subscription.\n\
                 No more messages will be delivered for \"{}\".\n",
                tag.origin()
            ),
            // RabbitMQ 4.3.5 has no such bounds.
            Self::LimitExceeded { what, most } => format!("more than {most} {what}\n"),
        }
    }
}

impl From<DestinationError> for PlanError {
    fn from(error: DestinationError) -> Self {
        Self::Destination(error)
    }
}

impl fmt::Display for DestinationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("blank destination"),
            Self::Invalid { kind, rest } => write!(f, "{rest:?} is no {kind} destination"),
            Self::Unknown(destination) => write!(f, "{destination:?} is no destination"),
        }
    }
}

impl core::error::Error for DestinationError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Destination(error) => error.fmt(f),
            Self::MissingDestination(command) => write!(f, "{command} without destination"),
            Self::TempQueue { command, destination } => {
                write!(f, "{command} with the temporary queue {destination:?} for a destination")
            }
            Self::OutsideOriginal(destination) => {
                write!(f, "{destination:?} is no destination of the original scheme")
            }
            Self::MessageIdOnSend => f.write_str("SEND with a message-id"),
            Self::MissingId => f.write_str("durable subscription without id"),
            Self::InvalidValue { name } => write!(f, "invalid {name}"),
            Self::Duplicate(tag) => write!(f, "subscription with {} exists", tag.origin()),
            Self::UnknownSubscription(tag) => write!(f, "no subscription with {}", tag.origin()),
            Self::MissingIdAndDestination => f.write_str("UNSUBSCRIBE without id and destination"),
            Self::UnsubscribeTempQueue => f.write_str("UNSUBSCRIBE of a temporary queue"),
            Self::Cancelled(tag) => {
                write!(f, "subscription with {} was ended by the broker", tag.origin())
            }
            Self::LimitExceeded { what, most } => write!(f, "more than {most} {what}"),
        }
    }
}

impl core::error::Error for PlanError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Destination(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Queues => "queues of a session",
            Self::Subscriptions => "subscriptions",
            Self::TempQueues => "temporary queues",
        })
    }
}

const INVALID_DESTINATION: &str = "Invalid destination";
const UNKNOWN_DESTINATION: &str = "Unknown destination";
const PROCESSING_ERROR: &str = "Processing error";

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::error::Error;

    use super::*;

    /// destinations.md, chapter 8
    #[test]
    fn every_error_is_told_in_the_words_of_rabbitmq() {
        let command = Command::Send;
        let (id, destination) = (ConsumerTag::of_id("9"), ConsumerTag::of_destination("/queue/a"));
        let (blank, unknown) = (DestinationError::Blank, DestinationError::Unknown("/x".into()));
        let invalid = DestinationError::Invalid { kind: Kind::ReplyQueue, rest: "/".into() };
        let temp_queue = PlanError::TempQueue { command, destination: "/temp-queue/X".into() };
        let types = "/temp-queue, /exchange, /topic, /queue, /amq/queue, /reply-queue/";
        for (error, message, body) in [
            (blank.into(), "Invalid destination", "Destination cannot be blank"),
            (invalid.into(), "Invalid destination", "'/' is not a valid reply_queue destination\n"),
            (
                unknown.into(),
                "Unknown destination",
                &format!(
                    "'/x' is not a valid destination.\nValid destination types are: {types}.\n"
                ),
            ),
            (
                PlanError::MissingDestination(command),
                "Missing destination",
                "\"SEND\" must include a 'destination' header\n",
            ),
            (
                temp_queue,
                "Invalid destination",
                "'/temp-queue/X' is not a valid destination for 'SEND'\n",
            ),
            (PlanError::OutsideOriginal("/x".into()), "Unknown destination", "/x"),
            (
                PlanError::MessageIdOnSend,
                "Invalid header",
                "'message-id' is not allowed on 'SEND'.\n",
            ),
            (
                PlanError::MissingId,
                "Missing Header",
                "Header 'id' is required for durable subscriptions",
            ),
            (PlanError::InvalidValue { name: "ack" }, "Processing error", "Processing error"),
            (
                PlanError::Duplicate(id.clone()),
                "Duplicated subscription identifier",
                "A subscription identified by 'T_9' already exists.",
            ),
            (
                PlanError::UnknownSubscription(id.clone()),
                "No subscription found",
                "UNSUBSCRIBE must refer to an existing subscription.\n\
                 Subscription to \"id='9'\" not found.\n",
            ),
            (
                PlanError::UnknownSubscription(destination),
                "No subscription found",
                "UNSUBSCRIBE must refer to an existing subscription.\n\
                 Subscription to \"destination='/queue/a'\" not found.\n",
            ),
            (
                PlanError::MissingIdAndDestination,
                "Missing destination or id",
                "UNSUBSCRIBE must include a 'destination' or 'id' header",
            ),
            (
                PlanError::UnsubscribeTempQueue,
                "Invalid id",
                "UNSUBSCRIBE 'id' may not start with /temp-queue/\n",
            ),
            (
                PlanError::Cancelled(id),
                "Server cancelled subscription",
                "The server has canceled a subscription.\n\
                 No more messages will be delivered for \"id='9'\".\n",
            ),
            (
                PlanError::LimitExceeded { what: Remembered::TempQueues, most: 64 },
                "Limit exceeded",
                "more than 64 temporary queues\n",
            ),
        ] {
            assert_eq!(error.message(), message, "{error:?}");
            assert_eq!(error.body(), body, "{error:?}");
            assert!(!error.to_string().ends_with(['.', '\n']), "a fragment: {error}");
        }
    }

    #[test]
    fn every_error_is_shown_in_words_of_ours() {
        let command = Command::Subscribe;
        let id = || ConsumerTag::of_id("9");
        let invalid = DestinationError::Invalid { kind: Kind::ReplyQueue, rest: "/".into() };
        let temp_queue = PlanError::TempQueue { command, destination: "/temp-queue/X".into() };
        let most = 2;
        for (error, says) in [
            (DestinationError::Blank.into(), "blank destination"),
            (invalid.into(), "\"/\" is no reply_queue destination"),
            (DestinationError::Unknown("/x".into()).into(), "\"/x\" is no destination"),
            (PlanError::MissingDestination(command), "SUBSCRIBE without destination"),
            (temp_queue, "SUBSCRIBE with the temporary queue \"/temp-queue/X\" for a destination"),
            (
                PlanError::OutsideOriginal("/x".into()),
                "\"/x\" is no destination of the original scheme",
            ),
            (PlanError::MessageIdOnSend, "SEND with a message-id"),
            (PlanError::MissingId, "durable subscription without id"),
            (PlanError::InvalidValue { name: "ack" }, "invalid ack"),
            (PlanError::Duplicate(id()), "subscription with id='9' exists"),
            (PlanError::UnknownSubscription(id()), "no subscription with id='9'"),
            (PlanError::MissingIdAndDestination, "UNSUBSCRIBE without id and destination"),
            (PlanError::UnsubscribeTempQueue, "UNSUBSCRIBE of a temporary queue"),
            (PlanError::Cancelled(id()), "subscription with id='9' was ended by the broker"),
            (
                PlanError::LimitExceeded { what: Remembered::Queues, most },
                "more than 2 queues of a session",
            ),
            (
                PlanError::LimitExceeded { what: Remembered::Subscriptions, most },
                "more than 2 subscriptions",
            ),
        ] {
            assert_eq!(error.to_string(), says);
        }
    }

    #[test]
    fn a_bad_destination_is_the_source_of_a_refused_plan() {
        let error = PlanError::from(DestinationError::Blank);
        let source = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&DestinationError::Blank));
        assert!(PlanError::MissingId.source().is_none());
    }
}
