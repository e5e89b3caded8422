//! Who erred, and how a session ended.

use alloc::boxed::Box;
use core::fmt;

use crate::codec::{DecodeError, EncodeError};
use crate::frame::Text;
use crate::{Command, Frame, Version, VersionSet};

/// The peer broke the protocol. Fatal: the session ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// What it sent is no STOMP frame.
    Decode(DecodeError),
    /// It speaks another protocol.
    Foreign(Foreign),
    /// A frame that has no place there: in this state, from this end, or in this version.
    UnexpectedFrame(Command),
    /// A frame of a client that has not sent CONNECT.
    NotConnected(Command),
    /// A frame without a header that it must have.
    MissingHeader {
        /// The command of the frame.
        command: Command,
        /// The name of the header.
        name: &'static str,
    },
    /// A header with a value that means nothing.
    InvalidHeader {
        /// The command of the frame.
        command: Command,
        /// The name of the header.
        name: &'static str,
    },
    /// A CONNECT with a body, which only 1.0 tolerates.
    UnexpectedBody(Command),
    /// No version in common; those that the client listed and we know.
    NoCommonVersion(VersionSet),
    /// The broker chose a version that was not offered.
    VersionNotOffered(Text),
    /// The broker chose another version than the WebSocket handshake.
    SubprotocolMismatch {
        /// Of the WebSocket subprotocol.
        subprotocol: Version,
        /// In CONNECTED.
        version: Version,
    },
    /// A second subscription of the same id.
    DuplicateSubscription,
    /// UNSUBSCRIBE of a subscription that does not exist.
    UnknownSubscription,
    /// A second transaction of the same name.
    DuplicateTransaction,
    /// A frame for a transaction that was not begun.
    UnknownTransaction,
    /// ACK or NACK of a message that was never delivered for it, or is no longer open.
    UnknownDelivery,
    /// More than allowed.
    LimitExceeded(Limit),
}

/// A bound of [`Limits`](crate::codec::Limits) that a peer or a caller ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What there would be too much of.
    pub what: Bound,
    /// The most that is allowed.
    pub most: usize,
}

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// Subscriptions, live or ended with open deliveries.
    Subscriptions,
    /// Open deliveries.
    Unacknowledged,
    /// Open transactions.
    Transactions,
    /// Frames in a transaction.
    TransactionFrames,
    /// Octets in the transactions of a session.
    TransactionOctets,
    /// Receipts owed.
    PendingReceipts,
    /// Octets to be written.
    OutboxOctets,
}

/// Another protocol, told by the first octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// An HTTP request.
    Http,
    /// A TLS handshake.
    Tls,
}

/// The caller erred: nothing changed, nothing was queued.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageError {
    /// Before CONNECTED, or after DISCONNECT.
    NotConnected,
    /// After the session ended.
    Closed,
    /// The frame cannot be written under the version of the session.
    Encode(EncodeError),
    /// A header that the session writes itself.
    OwnedHeader(Text),
    /// A request without a destination.
    MissingDestination,
    /// A client configuration that offers 1.1 or later without a host.
    MissingHost,
    /// A client configuration that offers no version.
    NoVersion,
    /// A token or id of another session, or of one that ended.
    Stale,
    /// A subscription id that is in use.
    DuplicateSubscription,
    /// A receipt that is owed already.
    DuplicateReceipt,
    /// A message-id that is open in the same subscription.
    DuplicateMessageId,
    /// An acknowledgement id that is open.
    DuplicateAckId,
    /// There is no such subscription any more, or not yet.
    UnknownSubscription,
    /// Headers that the version cannot carry, and a dialect that refuses to drop them.
    HeadersNotCarried(usize),
    /// A frame of a command that this end does not send.
    WrongCommand(Command),
    /// More than allowed.
    LimitExceeded(Limit),
}

/// A request that was refused, with what was moved into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused<T> {
    /// Why.
    pub error: UsageError,
    /// What comes back.
    pub token: T,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// As agreed, by DISCONNECT.
    Disconnected,
    /// The peer ended its stream between two frames.
    Eof,
    /// The transport died.
    Lost,
    /// The peer did not answer in time.
    TimedOut,
    /// The peer let its heart-beats fail.
    PeerSilent,
    /// The peer broke the protocol.
    Protocol(ProtocolError),
    /// Client: the broker sent ERROR.
    Error {
        /// The ERROR.
        frame: Box<Frame>,
        /// The receipt that the broker says has failed with it.
        receipt: Option<crate::client::ReceiptId>,
    },
    /// Server: the application failed the session.
    Failed,
}

impl From<DecodeError> for ProtocolError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<EncodeError> for UsageError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl<T> Refused<T> {
    pub(crate) fn new(error: UsageError, token: T) -> Self {
        Self { error, token }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(f),
            Self::Foreign(Foreign::Http) => f.write_str("peer speaks HTTP, not STOMP"),
            Self::Foreign(Foreign::Tls) => f.write_str("peer speaks TLS, not STOMP in the clear"),
            Self::UnexpectedFrame(command) => write!(f, "unexpected {command}"),
            Self::NotConnected(command) => write!(f, "{command} before CONNECT"),
            Self::MissingHeader { command, name } => write!(f, "{command} without {name}"),
            Self::InvalidHeader { command, name } => write!(f, "{command} with an invalid {name}"),
            Self::UnexpectedBody(command) => write!(f, "body on {command}"),
            Self::NoCommonVersion(theirs) if theirs.is_empty() => {
                f.write_str("no STOMP version in common")
            }
            Self::NoCommonVersion(theirs) => write!(f, "no STOMP version in common with {theirs}"),
            Self::VersionNotOffered(version) => {
                write!(f, "broker chose version {version:?}, which was not offered")
            }
            Self::SubprotocolMismatch { subprotocol, version } => {
                write!(f, "broker chose {version} after the subprotocol of {subprotocol}")
            }
            Self::DuplicateSubscription => f.write_str("subscription id is in use"),
            Self::UnknownSubscription => f.write_str("no such subscription"),
            Self::DuplicateTransaction => f.write_str("transaction was begun already"),
            Self::UnknownTransaction => f.write_str("no such transaction"),
            Self::UnknownDelivery => f.write_str("acknowledges no open delivery"),
            Self::LimitExceeded(limit) => limit.fmt(f),
        }
    }
}

impl core::error::Error for ProtocolError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Decode(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Bound::Subscriptions => "subscriptions",
            Bound::Unacknowledged => "open deliveries",
            Bound::Transactions => "open transactions",
            Bound::TransactionFrames => "frames in a transaction",
            Bound::TransactionOctets => "octets in transactions",
            Bound::PendingReceipts => "receipts owed",
            Bound::OutboxOctets => "octets to be written",
        };
        write!(f, "more than {} {what}", self.most)
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected => f.write_str("session is not connected"),
            Self::Closed => f.write_str("session has ended"),
            Self::Encode(error) => error.fmt(f),
            Self::OwnedHeader(name) => write!(f, "header {name:?} is written by the session"),
            Self::MissingDestination => f.write_str("request without a destination"),
            Self::MissingHost => f.write_str("STOMP 1.1 and later need a host"),
            Self::NoVersion => f.write_str("no version to offer"),
            Self::Stale => f.write_str("token of another session"),
            Self::DuplicateSubscription => f.write_str("subscription id is in use"),
            Self::DuplicateReceipt => f.write_str("receipt is owed already"),
            Self::DuplicateMessageId => f.write_str("message-id is open in this subscription"),
            Self::DuplicateAckId => f.write_str("acknowledgement id is open"),
            Self::UnknownSubscription => f.write_str("no such subscription"),
            Self::HeadersNotCarried(count) => {
                write!(f, "{count} headers that this version cannot carry")
            }
            Self::WrongCommand(command) => write!(f, "{command} is not sent by this end"),
            Self::LimitExceeded(limit) => limit.fmt(f),
        }
    }
}

impl core::error::Error for UsageError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Encode(error) => Some(error),
            _ => None,
        }
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: fmt::Debug> core::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl core::error::Error for CloseReason {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Protocol(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnected => f.write_str("disconnected"),
            Self::Eof => f.write_str("peer closed the connection"),
            Self::Lost => f.write_str("connection was lost"),
            Self::TimedOut => f.write_str("peer did not answer in time"),
            Self::PeerSilent => f.write_str("peer fell silent"),
            Self::Protocol(error) => write!(f, "protocol error: {error}"),
            Self::Error { frame, .. } => match frame.header(crate::frame::name::MESSAGE) {
                Some(message) => write!(f, "broker reported {message:?}"),
                None => f.write_str("broker reported an error"),
            },
            Self::Failed => f.write_str("failed by the application"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::error::Error;

    use super::*;
    use crate::codec::DecodeErrorKind;

    fn decode() -> DecodeError {
        DecodeError { kind: DecodeErrorKind::NotUtf8, offset: 7 }
    }

    #[test]
    fn says_what_the_peer_did() {
        for (error, says) in [
            (decode().into(), "header line is not UTF-8 at octet 7"),
            (ProtocolError::UnexpectedFrame(Command::Ack), "unexpected ACK"),
            (ProtocolError::NoCommonVersion(VersionSet::EMPTY), "no STOMP version in common"),
            (
                ProtocolError::NoCommonVersion(VersionSet::of(&[Version::V1_0, Version::V1_2])),
                "no STOMP version in common with 1.0,1.2",
            ),
        ] {
            assert_eq!(error.to_string(), says);
            let reason = CloseReason::Protocol(error);
            assert_eq!(reason.to_string(), alloc::format!("protocol error: {says}"));
        }
    }

    #[test]
    fn what_is_behind_an_error_is_its_source() {
        let behind = EncodeError::EmptyName;
        let error = UsageError::from(behind.clone());
        let encode = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(encode, Some(&behind));
        let refused = Refused::new(error.clone(), 'a');
        let usage = refused.source().and_then(|source| source.downcast_ref());
        assert_eq!(usage, Some(&error));

        let error = ProtocolError::from(decode());
        let octets = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(octets, Some(&decode()));
        let reason = CloseReason::Protocol(error.clone());
        let protocol = reason.source().and_then(|source| source.downcast_ref());
        assert_eq!(protocol, Some(&error));

        assert!(UsageError::Stale.source().is_none());
        assert!(ProtocolError::UnknownDelivery.source().is_none());
        assert!(CloseReason::Lost.source().is_none());
    }
}
