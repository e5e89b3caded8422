//! The one read view of a head, for owned and borrowed frames.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use super::escape::Escapes;
use super::{name, value};

/// The headers of a frame, in the order in which they stood on the wire.
///
/// Of repeated entries the first counts (STOMP 1.2, "Repeated Header Entries"); the later ones are
/// kept for relays. Names compare unescaped. Values are borrowed unless they hold an escape.
///
/// ```
/// use stomp_proto::{Command, Frame};
/// let frame = Frame::builder(Command::Send)
///     .header("destination", "/queue/a")
///     .header("foo", "World")
///     .header("foo", "Hello")
///     .build();
/// assert_eq!(frame.headers().get("foo").as_deref(), Some("World"));
/// assert_eq!(frame.headers().get_all("foo").collect::<Vec<_>>(), ["World", "Hello"]);
/// ```
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    head: &'a [u8],
    spans: &'a [Span],
    form: Form,
}

impl<'a> Headers<'a> {
    pub(crate) fn new(head: &'a [u8], spans: &'a [Span], form: Form) -> Self {
        Self { head, spans, form }
    }

    /// Octets of the head.
    pub(crate) fn octets(self) -> usize {
        self.head.len()
    }

    /// Whether there is such an octet in the head.
    pub(crate) fn holds(self, octet: u8) -> bool {
        memchr::memchr(octet, self.head).is_some()
    }

    pub(crate) fn into_parts(self) -> (&'a [u8], &'a [Span], Form) {
        (self.head, self.spans, self.form)
    }

    /// The value of the first header of that name.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.find(name).map(Header::value)
    }

    /// The first header of that name.
    pub(crate) fn find(self, name: &str) -> Option<Header<'a>> {
        self.iter().find(|header| header.is(name))
    }

    /// The values of all headers of that name.
    pub fn get_all(self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.iter().filter(move |header| header.is(name)).map(Header::value)
    }

    /// The headers, repeated ones included.
    pub fn iter(self) -> impl Iterator<Item = Header<'a>> {
        self.spans.iter().filter_map(move |span| span.header_in(self.head, self.form))
    }

    /// The names as the peer wrote them, each with its position among the header lines.
    ///
    /// No name that the protocol texts define has an escaped spelling: escapes stand for octets
    /// that none of them holds.
    #[inline]
    pub(crate) fn raw_names(self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let names = self.spans.iter().enumerate();
        names.filter_map(move |(position, span)| Some((position, span.name(self.head)?)))
    }

    /// Where the first header of each of those names stands among the header lines; behind the last
    /// one if there is none. The names are some that have no escaped spelling.
    #[inline]
    pub(crate) fn positions<const N: usize>(self, names: [&str; N]) -> [u32; N] {
        let mut found = [Self::NOWHERE; N];
        let mut position = u32::try_from(self.spans.len()).unwrap_or(Self::NOWHERE);
        // STOMP 1.2, "Repeated Header Entries": the first counts, so that it is looked at last.
        for span in self.spans.iter().rev() {
            position -= 1;
            for (entry, name) in found.iter_mut().zip(names) {
                if span.is_named(name, self.head) {
                    *entry = position;
                }
            }
        }
        found
    }

    /// Behind the last header line of any frame.
    pub(crate) const NOWHERE: u32 = u32::MAX;

    /// The header at a position among the header lines.
    #[inline]
    pub(crate) fn at(self, position: usize) -> Option<Header<'a>> {
        self.spans.get(position)?.header_in(self.head, self.form)
    }

    /// The header lines with their ends, and how many they are, if names and values are in them as
    /// they are and no line among them was kept out of the headers.
    #[inline]
    pub(crate) fn literal_lines(self) -> Option<(&'a [u8], usize)> {
        let (first, last) = (self.spans.first()?, self.spans.last()?);
        if self.form != Form::Literal || self.spans.iter().any(|span| span.is_malformed()) {
            return None;
        }
        let lines = self.head.get(first.start as usize..(last.end as usize).checked_add(1)?)?;
        // A CR of the line end is behind the header, as LF is.
        lines.ends_with(b"\n").then_some((lines, self.spans.len()))
    }

    /// The number of headers, repeated ones included.
    #[must_use]
    pub fn len(self) -> usize {
        self.spans.iter().filter(|span| !span.is_malformed()).count()
    }

    /// Whether there is no header.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The malformed header lines that the decoder kept out of the headers, raw, without line end.
    pub(crate) fn malformed(self) -> impl Iterator<Item = &'a [u8]> {
        self.spans.iter().filter(|span| span.is_malformed()).map(move |span| span.line(self.head))
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.iter().map(|header| {
            let secret = name::is_secret(&header.name());
            (header.name(), if secret { Cow::Borrowed("…") } else { header.value() })
        });
        f.debug_map().entries(shown).finish()
    }
}

/// One header of a frame.
#[derive(Clone, Copy)]
pub struct Header<'a> {
    line: &'a [u8],
    name: &'a [u8],
    value: &'a [u8],
    form: Form,
}

impl<'a> Header<'a> {
    /// The name, unescaped.
    #[must_use]
    pub fn name(self) -> Cow<'a, str> {
        text(self.name_octets())
    }

    /// The value, unescaped; on 1.0 without the blanks before it.
    #[must_use]
    pub fn value(self) -> Cow<'a, str> {
        text(self.value_octets())
    }

    /// The whole line without its end, if its name and value are in it as they are.
    #[inline]
    pub(crate) fn literal_line(self) -> Option<&'a [u8]> {
        matches!(self.form, Form::Literal).then_some(self.line)
    }

    /// The whole line without its end, if it is escaped by those rules.
    #[inline]
    pub(crate) fn escaped_line(self, escapes: Escapes) -> Option<&'a [u8]> {
        (self.form == Form::Escaped(escapes)).then_some(self.line)
    }

    /// The octets of [`Header::name`].
    #[inline]
    pub(crate) fn name_octets(self) -> Cow<'a, [u8]> {
        self.form.escapes().unescape(self.name)
    }

    /// The octets of [`Header::value`].
    #[inline]
    pub(crate) fn value_octets(self) -> Cow<'a, [u8]> {
        self.form.escapes().unescape(self.raw_value())
    }

    /// The value as the peer wrote it, still escaped; on 1.0 without the blanks before it.
    ///
    /// What is echoed (a receipt id, say) is echoed in this form: not every peer that leaves a
    /// colon unescaped understands an escaped one.
    #[inline]
    #[must_use]
    pub fn raw_value(self) -> &'a [u8] {
        match self.form {
            Form::Padded => value::trim_leading_blanks(self.value),
            Form::Literal | Form::Escaped(_) => self.value,
        }
    }

    /// The name as the peer wrote it, still escaped.
    #[inline]
    pub(crate) fn raw_name(self) -> &'a [u8] {
        self.name
    }

    #[inline]
    fn is(self, name: &str) -> bool {
        match self.form {
            Form::Escaped(escapes) if self.name.contains(&b'\\') => {
                *escapes.unescape(self.name) == *name.as_bytes()
            }
            _ => self.name == name.as_bytes(),
        }
    }
}

/// Two headers are equal if name and value are, however they are written.
impl PartialEq for Header<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.value() == other.value()
    }
}

impl Eq for Header<'_> {}

impl fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = name::is_secret(&self.name());
        let value = if secret { Cow::Borrowed("…") } else { self.value() };
        write!(f, "{:?}: {value:?}", self.name())
    }
}

/// How the names and values of one head are written in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are.
    Literal,
    /// Blanks before a value are not part of it: 1.0 pads its examples so.
    Padded,
    /// With escapes.
    Escaped(Escapes),
}

impl Form {
    fn escapes(self) -> Escapes {
        match self {
            Self::Literal | Self::Padded => Escapes::None,
            Self::Escaped(escapes) => escapes,
        }
    }
}

/// No head is longer: it leaves room in the spans of its lines, and none was ever meant to be.
pub(crate) const MAX_HEAD_LEN: usize = 16 << 20;

/// Where one header line lies in its head: `start..colon` is the name, `colon + 1..end` the value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: u32,
    /// [`Span::MALFORMED`] in a line that was kept although it is no header.
    colon: u32,
    end: u32,
}

impl Span {
    const MALFORMED: u32 = u32::MAX;

    #[inline]
    pub(crate) fn header(start: u32, colon: u32, end: u32) -> Self {
        Self { start, colon, end }
    }

    pub(crate) fn malformed(start: u32, end: u32) -> Self {
        Self { start, colon: Self::MALFORMED, end }
    }

    fn is_malformed(self) -> bool {
        self.colon == Self::MALFORMED
    }

    #[inline]
    fn is_named(self, name: &str, head: &[u8]) -> bool {
        let (start, colon) = (self.start as usize, self.colon as usize);
        // Most names differ in length already. The colon of a malformed line is behind every head.
        colon.wrapping_sub(start) == name.len()
            && head.get(start..start.wrapping_add(name.len())) == Some(name.as_bytes())
    }

    #[inline]
    fn name(self, head: &[u8]) -> Option<&[u8]> {
        // Of a malformed line the colon lies behind every head.
        head.get(self.start as usize..self.colon as usize)
    }

    #[inline]
    fn header_in(self, head: &[u8], form: Form) -> Option<Header<'_>> {
        if self.is_malformed() {
            return None;
        }
        let line = head.get(self.start as usize..self.end as usize)?;
        let (name, value) = line.split_at_checked(self.colon.checked_sub(self.start)? as usize)?;
        let (_, value) = value.split_first()?;
        Some(Header { line, name, value, form })
    }

    fn line(self, head: &[u8]) -> &[u8] {
        head.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Text that the decoder, or the type it came from, has checked to be UTF-8.
fn text(octets: Cow<'_, [u8]>) -> Cow<'_, str> {
    match octets {
        Cow::Borrowed(octets) => Cow::Borrowed(core::str::from_utf8(octets).unwrap_or_default()),
        Cow::Owned(octets) => Cow::Owned(String::from_utf8(octets).unwrap_or_default()),
    }
}
