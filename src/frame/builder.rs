//! Frames made by hand rather than received.

use core::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use smallvec::SmallVec;

use super::{Command, Form, Frame, FrameRef, Headers, Span};

/// Puts a frame together; see [`Frame::builder`].
///
/// Nothing is refused here: what a frame of some version cannot carry,
/// [`encode`](crate::codec::encode) refuses for that version.
#[derive(Clone)]
#[must_use]
pub struct FrameBuilder {
    command: Command,
    spans: SmallVec<[Span; super::INLINE_SPANS]>,
    head: BytesMut,
    body: Bytes,
}

impl FrameBuilder {
    pub(super) fn new(command: Command) -> Self {
        Self::with_room(command, 0)
    }

    /// With room for so many octets of headers.
    pub(crate) fn with_room(command: Command, octets: usize) -> Self {
        let head = BytesMut::with_capacity(octets);
        Self { command, spans: SmallVec::new(), head, body: Bytes::new() }
    }

    /// Adds a header behind those there are. The first of repeated entries is the one that counts.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.push(name.as_bytes(), value.as_bytes());
        self
    }

    /// Adds a header of octets that are known to be UTF-8.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8]) {
        let start = self.head.len();
        self.head.put_slice(name);
        let colon = self.head.len();
        self.head.put_u8(b':');
        self.head.put_slice(value);
        let end = self.head.len();
        // For those who want the lines as they are.
        self.head.put_u8(b'\n');
        self.spans.push(Span::header(clamp(start), clamp(colon), clamp(end)));
    }

    /// Sets the body. `content-length` is added when the frame is encoded.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The headers so far.
    pub(crate) fn headers(&self) -> Headers<'_> {
        Headers::new(&self.head, &self.spans, Form::Literal)
    }

    /// The header lines with their ends, as they were put together.
    pub(crate) fn into_lines(self) -> BytesMut {
        self.head
    }

    /// The frame.
    #[must_use]
    pub fn build(self) -> Frame {
        Frame::new(self.command, Form::Literal, &self.spans, self.head.freeze(), self.body)
    }
}

impl fmt::Debug for FrameBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FrameRef::new(self.command, self.headers(), &self.body).fmt(f)
    }
}

/// Beyond [`MAX_HEAD_LEN`](super::MAX_HEAD_LEN) a frame is not written anyway.
fn clamp(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
