//! Frames made by hand rather than received.

use bytes::{BufMut, Bytes, BytesMut};
use smallvec::SmallVec;

use super::{Command, Form, Frame, Span};

/// Puts a frame together; see [`Frame::builder`].
///
/// Nothing is refused here: what a frame of some version cannot carry,
/// [`encode`](crate::codec::encode) refuses for that version.
#[derive(Clone, Debug)]
#[must_use]
pub struct FrameBuilder {
    command: Command,
    spans: SmallVec<[Span; super::INLINE_SPANS]>,
    head: BytesMut,
    body: Bytes,
}

impl FrameBuilder {
    pub(super) fn new(command: Command) -> Self {
        Self { command, spans: SmallVec::new(), head: BytesMut::new(), body: Bytes::new() }
    }

    /// Adds a header behind those there are. The first of repeated entries is the one that counts.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let start = self.head.len();
        self.head.put_slice(name.as_bytes());
        let colon = self.head.len();
        self.head.put_u8(b':');
        self.head.put_slice(value.as_bytes());
        self.spans.push(Span::header(clamp(start), clamp(colon), clamp(self.head.len())));
        self
    }

    /// Sets the body. `content-length` is added when the frame is encoded.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The frame.
    #[must_use]
    pub fn build(self) -> Frame {
        Frame::new(self.command, Form::Literal, &self.spans, self.head.freeze(), self.body)
    }
}

/// A head of 4 GiB reads as malformed from there on.
fn clamp(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
