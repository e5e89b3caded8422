//! A scanner with an inbox: owned frames out.

use core::fmt;

use bytes::{Buf, Bytes, BytesMut};

use super::layout::{Body, Found, Layout};
use super::{DecodeError, DecoderConfig, Limits, Scanner};
use crate::frame::Headers;
use crate::{Command, Frame, Version};

/// Decodes a stream of octets, which it keeps, into frames that own theirs.
///
/// The octets of a frame stay where they were read to: a frame is a view that shares the inbox.
///
/// ```
/// use stomp_proto::codec::{Decoder, DecoderConfig, Item};
/// # fn main() -> Result<(), stomp_proto::codec::DecodeError> {
/// let mut decoder = Decoder::new(DecoderConfig::default());
/// decoder.push(b"CONNECT\naccept-version:1.2\nho");
/// assert_eq!(decoder.next_item()?, None);
/// decoder.push(b"st:broker\n\n\0\n");
/// let Some(Item::Frame(frame)) = decoder.next_item()? else { unreachable!() };
/// assert_eq!(frame.header("host").as_deref(), Some("broker"));
/// assert_eq!(decoder.next_item()?, Some(Item::Eol));
/// decoder.finish()
/// # }
/// ```
pub struct Decoder {
    scanner: Scanner,
    inbox: BytesMut,
}

/// What a stream of octets is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for every frame")]
pub enum Item {
    /// A line end between frames, which is also the form of a heart-beat.
    Eol,
    /// A frame.
    Frame(Frame),
}

impl Decoder {
    /// A decoder at the start of a stream, before a version is agreed.
    #[must_use]
    pub fn new(config: DecoderConfig) -> Self {
        Self { scanner: Scanner::new(config), inbox: BytesMut::new() }
    }

    /// Sets the version whose rules the frames from here on follow.
    ///
    /// Before it is set nothing is unescaped or trimmed, and the smaller limits hold, but not for the
    /// body of an ERROR: a server that decodes without a session asks for the
    /// [command](Self::command). Octets that were pushed already but not taken as items follow the
    /// new rules: set it between CONNECTED and the frame behind it.
    pub fn set_version(&mut self, version: Version) {
        self.scanner.set_version(version);
    }

    /// Copies octets in. After an error they are dropped: nothing will be made of them.
    #[inline]
    pub fn push(&mut self, octets: &[u8]) {
        if !self.scanner.has_failed() {
            self.inbox.extend_from_slice(octets);
        }
    }

    /// Takes a heart-beat that came alone, without a way through the inbox. `false`: it did not.
    #[inline]
    pub(crate) fn take_beat(&mut self, octets: &[u8]) -> bool {
        octets == b"\n" && self.is_at_rest() && self.scanner.skip_beat()
    }

    /// Whether nothing is held, not even the start of an item.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.inbox.is_empty() && self.scanner.is_between()
    }

    /// The inbox, to read into without a copy: append to it, and leave what it holds. After an error
    /// nothing is taken from it any more.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.inbox
    }

    /// The number of octets that are held and not yet taken as an item.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.inbox.len()
    }

    /// Octets that came in since the stream began.
    pub(crate) fn received(&self) -> u64 {
        self.scanner.offset().saturating_add(self.inbox.len() as u64)
    }

    /// Gives memory back that is not needed between two frames.
    pub(crate) fn shrink(&mut self) {
        if self.is_at_rest() {
            self.inbox = BytesMut::new();
            self.scanner.shrink();
        }
    }

    /// The bounds on what the peer can make it hold.
    pub(crate) fn limits(&self) -> &Limits {
        self.scanner.limits()
    }

    /// The command of the frame that is being received, once its line is whole.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        self.scanner.command()
    }

    /// Takes the next item; `None`: feed more.
    ///
    /// # Errors
    ///
    /// What the peer did wrong; the items before it have been handed out. Every later call returns
    /// the same error.
    #[inline]
    pub fn next_item(&mut self) -> Result<Option<Item>, DecodeError> {
        loop {
            match self.scanner.scan(&self.inbox)? {
                Found::NeedMore => return Ok(None),
                Found::Nul { consumed } => self.inbox.advance(consumed),
                Found::Eol { consumed } => {
                    self.inbox.advance(consumed);
                    return Ok(Some(Item::Eol));
                }
                Found::Frame(layout) => return Ok(Some(Item::Frame(self.take_frame(layout)))),
            }
        }
    }

    /// Finds the next frame, over line ends. It is to be [taken](Self::take_frame) next.
    #[inline]
    pub(crate) fn find_frame(&mut self) -> Result<Option<Layout>, DecodeError> {
        loop {
            match self.scanner.scan(&self.inbox)? {
                Found::NeedMore => return Ok(None),
                Found::Nul { consumed } | Found::Eol { consumed } => self.inbox.advance(consumed),
                Found::Frame(layout) => return Ok(Some(layout)),
            }
        }
    }

    /// The headers of the frame that was found.
    #[inline]
    pub(crate) fn found_headers(&self, layout: Layout) -> Headers<'_> {
        self.scanner.headers(layout, &self.inbox)
    }

    /// Says that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`Truncated`](super::DecodeErrorKind::Truncated) if there are octets that were not taken as
    /// items: inside a frame, once [`Decoder::next_item`] had no more. Or the error that ended decoding
    /// before.
    pub fn finish(&self) -> Result<(), DecodeError> {
        self.scanner.finish(&self.inbox)
    }

    /// Takes the frame that was found, before anything else is done with the inbox.
    #[inline]
    pub(crate) fn take_frame(&mut self, layout: Layout) -> Frame {
        let Layout { command, form, head_len, len, body } = layout;
        let mut head = self.inbox.split_to(layout.consumed()).freeze();
        let body = match body {
            Body::Deliver if len > 0 => head.slice(head_len..head_len + len),
            Body::Deliver | Body::Drop => Bytes::new(),
        };
        head.truncate(head_len);
        Frame::new(command, form, self.scanner.spans(), head, body)
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets: half a CONNECT among them holds a passcode.
        f.debug_struct("Decoder")
            .field("scanner", &self.scanner)
            .field("buffered", &self.inbox.len())
            .finish()
    }
}
