//! What can be wrong with octets from a peer, and with a frame that is to be written.

use core::fmt;

use crate::frame::Text;
use crate::{Command, Version};

/// The peer broke the protocol. Framing is lost: every later call returns the same error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// Where: the number of octets of the stream before the one that is at fault, or before the
    /// header line or value that is.
    pub offset: u64,
}

/// What is wrong with octets from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// An octet that no command can start or go on with: another protocol, perhaps.
    UnknownCommand,
    /// A header line without a colon.
    MissingColon,
    /// A header line that starts with its colon.
    EmptyName,
    /// A backslash that starts no escape of the version.
    InvalidEscape,
    /// A header line that is not UTF-8.
    NotUtf8,
    /// On 1.2, a CR that is not followed by LF.
    StrayCarriageReturn,
    /// A NUL before the blank line that ends the head.
    NulInHead,
    /// A head longer than allowed.
    HeadTooLong {
        /// The most that is allowed, in octets.
        limit: usize,
    },
    /// More header lines than allowed.
    TooManyHeaders {
        /// The most that are allowed.
        limit: usize,
    },
    /// A `content-length` that is not a plain decimal number, or two that differ.
    InvalidContentLength,
    /// A body longer than allowed, by its `content-length` or in fact.
    BodyTooLong {
        /// The most that is allowed, in octets.
        limit: usize,
    },
    /// No NUL behind the octets that `content-length` counted.
    MissingNul,
    /// A body on a frame that must not have one.
    UnexpectedBody,
    /// More line ends than allowed before a version is agreed.
    TooManyEols {
        /// The most that are allowed.
        limit: usize,
    },
    /// The stream ended inside a frame.
    Truncated,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at octet {}", self.kind, self.offset)
    }
}

impl core::error::Error for DecodeError {}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCommand => f.write_str("unknown command"),
            Self::MissingColon => f.write_str("header line without a colon"),
            Self::EmptyName => f.write_str("header line without a name"),
            Self::InvalidEscape => f.write_str("undefined escape in a header"),
            Self::NotUtf8 => f.write_str("header line is not UTF-8"),
            Self::StrayCarriageReturn => f.write_str("carriage return inside a line"),
            Self::NulInHead => f.write_str("NUL before the end of the head"),
            Self::HeadTooLong { limit } => write!(f, "head exceeds {limit} octets"),
            Self::TooManyHeaders { limit } => write!(f, "more than {limit} header lines"),
            Self::InvalidContentLength => f.write_str("invalid content-length"),
            Self::BodyTooLong { limit } => write!(f, "body exceeds {limit} octets"),
            Self::MissingNul => f.write_str("no NUL behind the body"),
            Self::UnexpectedBody => f.write_str("body on a frame that must not have one"),
            Self::TooManyEols { limit } => {
                write!(f, "more than {limit} line ends before the handshake")
            }
            Self::Truncated => f.write_str("stream ended inside a frame"),
        }
    }
}

/// A frame cannot be written under the rules of a version. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A header holds an octet that this version has no way to write.
    Unrepresentable {
        /// The name of the header.
        name: Text,
        /// The command of the frame: CONNECT and its kin know no escapes.
        command: Command,
        /// The version.
        version: Version,
    },
    /// A header without a name.
    EmptyName,
    /// A `content-length` that is not the length of the body.
    ContentLengthMismatch {
        /// The length of the body in octets.
        body_len: usize,
    },
    /// The body holds a NUL, but `content-length` is to be left out.
    NulWithoutContentLength,
    /// A body on a frame that must not have one.
    UnexpectedBody {
        /// The command of the frame.
        command: Command,
    },
    /// A head longer than this crate describes.
    HeadTooLong {
        /// The most that it can be, in octets.
        limit: usize,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrepresentable { name, command, version } => {
                write!(f, "header {name:?} of {command} cannot be written on STOMP {version}")
            }
            Self::EmptyName => f.write_str("header without a name"),
            Self::ContentLengthMismatch { body_len } => {
                write!(f, "content-length is not the {body_len} octets of the body")
            }
            Self::NulWithoutContentLength => {
                f.write_str("body holds a NUL and needs a content-length")
            }
            Self::UnexpectedBody { command } => write!(f, "body on {command}"),
            Self::HeadTooLong { limit } => write!(f, "head exceeds {limit} octets"),
        }
    }
}

impl core::error::Error for EncodeError {}
