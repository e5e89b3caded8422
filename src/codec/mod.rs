//! Octets to frames and back, under the rules of each version.
//!
//! Decoding promises: any chunking gives the same items and the same error at the same offset; cost
//! is linear however the octets drip; memory grows only as octets arrive, and what is held stays below
//! [`Limits`] and one read (the buffer that holds it may have up to four times that room); no input
//! panics; after an error every call returns that error, and the items before it have been handed
//! out.
//!
//! Encoding promises: what cannot be carried is an error that names the header, and then nothing is
//! written; `content-length` is always right.

mod command_line;
mod decoder;
mod encoder;
mod error;
mod head;
mod layout;
mod limits;
mod lines;
mod scanner;

pub use decoder::{Decoder, Item};
pub use encoder::{ContentLength, encode};
pub(crate) use encoder::{HeadWriter, put_decimal, write_head};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub(crate) use layout::Layout;
pub use limits::Limits;
pub use scanner::{Scanner, Step};

/// How a [`Decoder`] or [`Scanner`] is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecoderConfig {
    /// Bounds on what the peer can make it hold.
    pub limits: Limits,
    /// What becomes of malformed header lines.
    pub malformed_header: MalformedHeader,
}

/// What becomes of a header line without a colon, with an empty name, an undefined escape, invalid
/// UTF-8, or on 1.2 a stray CR.
///
/// NUL in a head and an unsound `content-length` are fatal either way: framing stays strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MalformedHeader {
    /// It is fatal. For servers.
    #[default]
    Reject,
    /// The frame comes without the line, which stays readable through
    /// [`Frame::malformed_headers`](crate::Frame::malformed_headers). Of conflicting
    /// `content-length` entries the first counts.
    ///
    /// For clients: brokers relay such lines, and one bad producer must not cut off every consumer
    /// for good.
    Keep,
}
