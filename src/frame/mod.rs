//! Frames: owned over shared bytes, borrowed over a buffer of yours, or built by hand.
//!
//! Decoding has checked everything that can be fatal, so reading a frame cannot fail, and nothing is
//! copied or unescaped before it is asked for.

mod builder;
mod command;
pub(crate) mod escape;
mod headers;
pub mod name;
mod text;
pub(crate) mod value;

use alloc::borrow::Cow;
use core::fmt;

use bytes::Bytes;
use smallvec::SmallVec;

pub use builder::FrameBuilder;
pub use command::{Command, Role};
pub(crate) use headers::{Form, MAX_HEAD_LEN, Span};
pub use headers::{Header, Headers};
pub use text::Text;
pub use value::AckMode;

/// A frame that owns its octets.
///
/// A received one shares the read buffer with its neighbours: keeping it keeps that buffer. Call
/// [`Frame::to_compact`] to keep one for long.
#[derive(Clone)]
pub struct Frame {
    command: Command,
    form: Form,
    spans: SmallVec<[Span; INLINE_SPANS]>,
    head: Bytes,
    body: Bytes,
}

/// Header lines that a frame holds without an allocation of its own.
const INLINE_SPANS: usize = 12;

impl Frame {
    /// Starts a frame of your own.
    pub fn builder(command: Command) -> FrameBuilder {
        FrameBuilder::new(command)
    }

    #[inline]
    pub(crate) fn new(
        command: Command,
        form: Form,
        spans: &[Span],
        head: Bytes,
        body: Bytes,
    ) -> Self {
        // Filled where it stays: a full one would be moved there.
        let mut frame = Self { command, form, spans: SmallVec::new(), head, body };
        frame.spans.extend_from_slice(spans);
        frame
    }

    /// The command.
    #[must_use]
    pub fn command(&self) -> Command {
        self.command
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        Headers::new(&self.head, &self.spans, self.form)
    }

    /// The value of the first header of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers().get(name)
    }

    /// The body; empty if there is none.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The header lines that were malformed and kept apart, raw and without their line end.
    ///
    /// See [`MalformedHeader::Keep`](crate::codec::MalformedHeader::Keep).
    pub fn malformed_headers(&self) -> impl Iterator<Item = &[u8]> {
        self.headers().malformed()
    }

    /// The same frame in octets of its own, out of the shared read buffer.
    #[must_use]
    pub fn to_compact(&self) -> Self {
        self.as_frame_ref().to_frame()
    }

    /// The same octets under other rules, for a frame that came before a version was agreed.
    pub(crate) fn reread(&mut self, form: Form) {
        self.form = form;
    }

    /// Drops the body, which 1.0 ignores where there must be none.
    pub(crate) fn drop_body(&mut self) {
        self.body = Bytes::new();
    }

    /// The value of the header at a position among the header lines, as the peer wrote it and
    /// sharing the octets of the frame.
    pub(crate) fn shared_raw_value(&self, position: usize) -> Bytes {
        let value = self.headers().at(position).map(Header::raw_value);
        // It is a part of the head, so there is nothing to panic about.
        self.head.slice_ref(value.unwrap_or_default())
    }

    /// Octets of head and body.
    pub(crate) fn octets(&self) -> usize {
        self.as_frame_ref().octets()
    }

    /// The frame borrowed.
    #[must_use]
    pub fn as_frame_ref(&self) -> FrameRef<'_> {
        FrameRef { command: self.command, headers: self.headers(), body: &self.body }
    }
}

/// Two frames are equal if command, headers in order and body are, however they are written.
impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.as_frame_ref() == other.as_frame_ref()
    }
}

impl Eq for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_frame_ref().fmt(f)
    }
}

/// A frame over octets that somebody else owns.
#[derive(Clone, Copy)]
pub struct FrameRef<'a> {
    command: Command,
    headers: Headers<'a>,
    body: &'a [u8],
}

impl<'a> FrameRef<'a> {
    #[inline]
    pub(crate) fn new(command: Command, headers: Headers<'a>, body: &'a [u8]) -> Self {
        Self { command, headers, body }
    }

    /// The command.
    #[must_use]
    pub fn command(self) -> Command {
        self.command
    }

    /// The headers.
    #[must_use]
    pub fn headers(self) -> Headers<'a> {
        self.headers
    }

    /// The value of the first header of that name.
    #[must_use]
    pub fn header(self, name: &str) -> Option<Cow<'a, str>> {
        self.headers.get(name)
    }

    /// The body; empty if there is none.
    #[must_use]
    pub fn body(self) -> &'a [u8] {
        self.body
    }

    /// The header lines that were malformed and kept apart, raw and without their line end.
    pub fn malformed_headers(self) -> impl Iterator<Item = &'a [u8]> {
        self.headers.malformed()
    }

    /// Octets of head and body.
    pub(crate) fn octets(self) -> usize {
        self.headers.octets().saturating_add(self.body.len())
    }

    /// The same frame in octets of its own.
    #[must_use]
    pub fn to_frame(self) -> Frame {
        let (head, spans, form) = self.headers.into_parts();
        let mut octets = Bytes::from([head, self.body].concat());
        let head = octets.split_to(head.len());
        Frame::new(self.command, form, spans, head, octets)
    }
}

/// Two frames are equal if command, headers in order and body are, however they are written.
impl PartialEq for FrameRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.command == other.command
            && self.body == other.body
            && self.headers.iter().eq(other.headers.iter())
    }
}

impl Eq for FrameRef<'_> {}

impl fmt::Debug for FrameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.command.as_str())
            .field("headers", &self.headers)
            .field("body", &DebugBody(self.body))
            .finish()
    }
}

/// The first octets of a body and how many there are.
struct DebugBody<'a>(&'a [u8]);

impl fmt::Debug for DebugBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        match self.0.get(..SHOWN) {
            Some(start) if self.0.len() > SHOWN => {
                write!(f, "b\"{}\"… ({} octets)", start.escape_ascii(), self.0.len())
            }
            _ => write!(f, "b\"{}\"", self.0.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;

    fn send() -> Frame {
        Frame::builder(Command::Send)
            .header("destination", "/q")
            .header("a:b", "1\n2")
            .header("foo", "World")
            .header("foo", "Hello")
            .body(&b"hi\0"[..])
            .build()
    }

    #[test]
    fn a_frame_reads_back_as_it_was_built() {
        let frame = send();
        assert_eq!(frame.command(), Command::Send);
        assert_eq!(frame.header("destination").as_deref(), Some("/q"));
        assert_eq!(frame.header("a:b").as_deref(), Some("1\n2"));
        assert_eq!(frame.header("foo").as_deref(), Some("World"), "the first entry wins");
        assert_eq!(frame.headers().get_all("foo").collect::<Vec<_>>(), ["World", "Hello"]);
        assert_eq!(frame.header("nope"), None);
        assert_eq!(frame.headers().len(), 4);
        assert!(!frame.headers().is_empty());
        assert!(Frame::builder(Command::Send).build().headers().is_empty());
        assert_eq!(&frame.body()[..], b"hi\0");
        assert_eq!(frame.malformed_headers().count(), 0);
        let borrowed = frame.as_frame_ref();
        assert_eq!(borrowed.header("a:b").as_deref(), Some("1\n2"));
        assert_eq!(borrowed.header("nope"), None);
    }

    #[test]
    fn a_compact_copy_is_equal_and_shares_nothing() {
        let frame = send();
        let compact = frame.to_compact();
        assert_eq!(compact, frame);
        assert_ne!(compact.body().as_ptr(), frame.body().as_ptr());
        assert_ne!(compact.head.as_ptr(), frame.head.as_ptr());
    }

    #[test]
    fn frames_that_differ_in_anything_are_not_equal() {
        let base = || Frame::builder(Command::Send).header("a", "1").header("b", "2");
        assert_eq!(base().build(), base().build());
        assert_ne!(base().build(), base().body(&b"x"[..]).build());
        assert_ne!(base().build(), base().header("c", "").build());
        assert_ne!(base().build(), Frame::builder(Command::Message).header("a", "1").build());
        let swapped = Frame::builder(Command::Send).header("b", "2").header("a", "1").build();
        assert_ne!(base().build(), swapped, "order counts");
        for (name, value) in [("b", "3"), ("c", "2")] {
            let other = Frame::builder(Command::Send).header("a", "1").header(name, value).build();
            assert_ne!(base().build(), other);
        }
    }

    /// requirement C-009, field case B128
    #[test]
    fn debug_shows_no_credential() {
        let frame = Frame::builder(Command::Connect)
            .header("host", "h")
            .header("login", "hush0")
            .header("passcode", "hush1")
            .header("Authorization", "hush2")
            .build();
        let shown = format!("{frame:?} {:?}", frame.headers().iter().collect::<Vec<_>>());
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.contains("\"passcode\": \"…\""), "{shown}");
        assert!(shown.contains("\"login\": \"…\""), "{shown}");
        assert!(shown.contains("\"host\": \"h\""), "{shown}");
        let building = Frame::builder(Command::Connect).header("passcode", "hush3");
        assert!(!format!("{building:?}").contains("hush"), "{building:?}");
        let mut decoder = crate::codec::Decoder::new(crate::codec::DecoderConfig::default());
        decoder.push(b"CONNECT\npasscode:hush4");
        let shown = format!("{decoder:?}");
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.starts_with("Decoder {") && shown.ends_with("buffered: 22 }"), "{shown}");
    }

    #[test]
    fn debug_shows_headers_in_order_and_no_endless_body() {
        let builder = Frame::builder(Command::Send).header("b", "1").header("a\n", "2").body("x\0");
        let shown = r#"SEND { headers: {"b": "1", "a\n": "2"}, body: b"x\x00" }"#;
        assert_eq!(format!("{builder:?}"), shown);
        let frame = builder.build();
        assert_eq!(format!("{frame:?}"), shown);
        let headers: Vec<_> = frame.headers().iter().collect();
        assert_eq!(format!("{headers:?}"), r#"["b": "1", "a\n": "2"]"#);
        for (len, behind) in [(0, "\""), (63, "\""), (64, "\""), (65, "\"… (65 octets)")] {
            let frame = Frame::builder(Command::Send).body("x".repeat(len)).build();
            let start = "x".repeat(len.min(64));
            let shown = format!("SEND {{ headers: {{}}, body: b\"{start}{behind} }}");
            assert_eq!(format!("{frame:?}"), shown);
        }
    }
}
