//! Writing frames under the rules of one version.

use bytes::{BufMut, BytesMut};

use super::EncodeError;
use super::lines::{count_odd, is_plain};
use crate::frame::escape::Escapes;
use crate::frame::{FrameRef, Header, Headers, MAX_HEAD_LEN, Text, name, value};
use crate::{Command, Version};

/// Whether `content-length` is written when the caller did not set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentLength {
    /// Whenever there is a body.
    #[default]
    Automatic,
    /// Not at all, because some brokers (ActiveMQ) take a message with it for binary. Refused if
    /// the body holds a NUL.
    Omit,
}

/// Octets that a frame may need beyond those of its head and body, unless much of it is escaped.
const ROOM: usize = 64;

/// Appends a frame to `out`, in the form that `version` prescribes.
///
/// Lines end with LF, nothing follows the NUL. `content-length` is added behind the other headers.
/// Malformed header lines that the decoder kept apart are not written.
///
/// # Errors
///
/// What the version cannot carry; then `out` is as it was. NUL and an empty name on every version;
/// CR on 1.0 and 1.1; on 1.0 LF, a colon in a name, a blank before a value; in CONNECT, STOMP and
/// CONNECTED LF, CR, a colon in a name (STOMP 1.2, "Value Encoding"). A body where there must be none;
/// a `content-length` that is not that of the body, which a received frame may have: one with blanks,
/// or copied to a command without a body; a NUL in a body without it; a head of more than 16 MiB.
///
/// ```
/// use bytes::BytesMut;
/// use stomp_proto::codec::{ContentLength, encode};
/// use stomp_proto::{Command, Frame, Version};
/// # fn main() -> Result<(), stomp_proto::codec::EncodeError> {
/// let frame = Frame::builder(Command::Send).header("key", "a:b").body("hi").build();
/// let mut out = BytesMut::new();
/// encode(frame.as_frame_ref(), Version::V1_2, ContentLength::Automatic, &mut out)?;
/// assert_eq!(out, "SEND\nkey:a\\cb\ncontent-length:2\n\nhi\0");
/// # Ok(())
/// # }
/// ```
pub fn encode(
    frame: FrameRef<'_>,
    version: Version,
    content_length: ContentLength,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    let start = out.len();
    let result = write(frame, version, content_length, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

fn write(
    frame: FrameRef<'_>,
    version: Version,
    content_length: ContentLength,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    out.reserve(frame.octets() + ROOM);
    write_head(frame, version, content_length, out)?;
    out.put_slice(frame.body());
    out.put_u8(0);
    Ok(())
}

/// Appends everything that comes before the body. If it fails, the start of it.
pub(crate) fn write_head(
    frame: FrameRef<'_>,
    version: Version,
    content_length: ContentLength,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    let (command, body) = (frame.command(), frame.body());
    if !body.is_empty() && !command.may_have_body() {
        return Err(EncodeError::UnexpectedBody { command });
    }
    if frame.headers().octets() > MAX_HEAD_LEN {
        return Err(EncodeError::HeadTooLong { limit: MAX_HEAD_LEN });
    }
    let mut head = HeadWriter::new(out, command, version);
    let headers = frame.headers();
    let mut announced = false;
    if head.lines(headers) {
        // To look at names alone costs less than to look at headers.
        for (position, _) in headers.raw_names().filter(|(_, name)| is_content_length(name)) {
            announced |= headers.at(position).map_or(Ok(false), |it| announces(it, body))?;
        }
    } else {
        announced = head.entries(headers, body)?;
    }
    if !announced {
        head.announce(body, content_length)?;
    }
    head.finish();
    Ok(())
}

#[inline]
fn is_content_length(raw_name: &[u8]) -> bool {
    // No escape stands for an octet of that name.
    *raw_name == *name::CONTENT_LENGTH.as_bytes()
}

/// Whether a header is the `content-length`, which has to be that of the body.
#[inline]
fn announces(header: Header<'_>, body: &[u8]) -> Result<bool, EncodeError> {
    // On a command without a body, too, a length that was copied there would mislead peers that
    // honour it.
    if !is_content_length(header.raw_name()) {
        return Ok(false);
    }
    match value::decimal(&header.value_octets()) {
        Some(len) if len == body.len() as u64 => Ok(true),
        _ => Err(EncodeError::ContentLengthMismatch { body_len: body.len() }),
    }
}

/// Writes one head: command line, header lines, blank line.
pub(crate) struct HeadWriter<'a> {
    out: &'a mut BytesMut,
    command: Command,
    version: Version,
    escapes: Escapes,
}

impl<'a> HeadWriter<'a> {
    pub(crate) fn new(out: &'a mut BytesMut, command: Command, version: Version) -> Self {
        out.put_slice(command.as_str().as_bytes());
        out.put_u8(b'\n');
        Self::resume(out, command, version)
    }

    /// Goes on with a head whose first lines somebody else writes.
    pub(crate) fn resume(out: &'a mut BytesMut, command: Command, version: Version) -> Self {
        let escapes = Escapes::of(Some(version), command);
        Self { out, command, version, escapes }
    }

    /// Writes all headers at once, if they stand in their head as this version writes them: each line
    /// has its colon and its end, and nothing else in it is odd. `false`: nothing is written.
    #[inline]
    fn lines(&mut self, headers: Headers<'_>) -> bool {
        let Some((lines, count)) = headers.literal_lines() else { return false };
        // The version may be older than the frame.
        let may_pad = self.version == Version::V1_0;
        let are_plain = count_odd(lines) == 2 * count
            && headers.raw_names().all(|(_, name)| !name.is_empty())
            && !(may_pad && headers.iter().any(|header| starts_blank(header.raw_value())));
        if are_plain {
            self.out.put_slice(lines);
        }
        are_plain
    }

    /// Writes the headers one by one. Whether a `content-length` was among them.
    #[inline(never)]
    fn entries(&mut self, headers: Headers<'_>, body: &[u8]) -> Result<bool, EncodeError> {
        let mut announced = false;
        for header in headers.iter() {
            announced |= announces(header, body)?;
            self.entry(header)?;
        }
        Ok(announced)
    }

    /// Writes a header line, or nothing if it cannot be written.
    #[inline]
    pub(crate) fn entry(&mut self, header: Header<'_>) -> Result<(), EncodeError> {
        let line = match (header.literal_line(), header.escaped_line(self.escapes)) {
            (Some(line), _) if is_plain_header(header) && !self.is_padded(header.raw_value()) => {
                line
            }
            // As it came, but for what only a reader lets pass.
            (None, Some(line)) if is_sound_line(header) => line,
            _ => return self.header(&header.name_octets(), &header.value_octets()),
        };
        self.out.put_slice(line);
        self.out.put_u8(b'\n');
        Ok(())
    }

    /// Whether a header may stand as it is in every version.
    #[inline]
    pub(crate) fn is_plain_everywhere(header: Header<'_>) -> bool {
        is_plain_header(header) && !starts_blank(header.raw_value())
    }

    /// Whether a value starts with what is taken for padding.
    #[inline]
    fn is_padded(&self, value: &[u8]) -> bool {
        self.version == Version::V1_0 && starts_blank(value)
    }

    /// Writes a header line, or nothing if it cannot be written.
    #[inline]
    pub(crate) fn header(&mut self, name: &[u8], value: &[u8]) -> Result<(), EncodeError> {
        let start = self.out.len();
        if name.is_empty() {
            return Err(EncodeError::EmptyName);
        }
        if self.put(name, Part::Name).is_err() {
            self.out.truncate(start);
            return Err(self.unrepresentable(name));
        }
        self.out.put_u8(b':');
        if let Err(error) = self.value(name, value) {
            self.out.truncate(start);
            return Err(error);
        }
        self.out.put_u8(b'\n');
        Ok(())
    }

    /// Writes the value of a header without its line.
    #[inline]
    pub(crate) fn value(&mut self, name: &[u8], value: &[u8]) -> Result<(), EncodeError> {
        if self.is_padded(value) || self.put(value, Part::Value).is_err() {
            return Err(self.unrepresentable(name));
        }
        Ok(())
    }

    /// Writes a header line with a value that is written already, as the peer did.
    pub(crate) fn raw_header(&mut self, name: &str, raw: &[u8]) {
        self.line(name, |out| out.put_slice(raw));
    }

    /// Writes a header line with a value that `put` writes and that needs no escape.
    pub(crate) fn line(&mut self, name: &str, put: impl FnOnce(&mut BytesMut)) {
        self.out.put_slice(name.as_bytes());
        self.out.put_u8(b':');
        put(self.out);
        self.out.put_u8(b'\n');
    }

    /// Writes a header line with a number as its value.
    pub(crate) fn decimal(&mut self, name: &str, number: u64) {
        self.line(name, |out| put_decimal(number, out));
    }

    /// Writes the `content-length` of a body, if it has one and is to have one.
    pub(crate) fn announce(
        &mut self,
        body: &[u8],
        content_length: ContentLength,
    ) -> Result<(), EncodeError> {
        match content_length {
            _ if body.is_empty() => {}
            ContentLength::Automatic => self.decimal(name::CONTENT_LENGTH, body.len() as u64),
            ContentLength::Omit if memchr::memchr(0, body).is_some() => {
                return Err(EncodeError::NulWithoutContentLength);
            }
            ContentLength::Omit => {}
        }
        Ok(())
    }

    /// Ends the head.
    pub(crate) fn finish(self) {
        self.out.put_u8(b'\n');
    }

    #[inline]
    fn put(&mut self, text: &[u8], part: Part) -> Result<(), Refused> {
        if is_plain(text) {
            self.out.put_slice(text);
            return Ok(());
        }
        self.put_odd(text, part)
    }

    /// Writes text that has something to escape or to refuse.
    #[cold]
    fn put_odd(&mut self, text: &[u8], part: Part) -> Result<(), Refused> {
        for &octet in text {
            match (self.escapes.encode(octet), octet) {
                (Some(code), _) => self.out.put_slice(&[b'\\', code]),
                (None, 0 | b'\n' | b'\r') => return Err(Refused),
                (None, b':') if part == Part::Name => return Err(Refused),
                (None, _) => self.out.put_u8(octet),
            }
        }
        Ok(())
    }

    #[cold]
    fn unrepresentable(&self, name: &[u8]) -> EncodeError {
        let name = Text::new(core::str::from_utf8(name).unwrap_or_default());
        let (command, version) = (self.command, self.version);
        EncodeError::Unrepresentable { name, command, version }
    }
}

#[inline]
fn is_plain_header(header: Header<'_>) -> bool {
    let name = header.raw_name();
    !name.is_empty() && is_plain(name) && is_plain(header.raw_value())
}

/// Whether a line that was read has nothing in it that should be escaped, or cannot be.
#[inline]
fn is_sound_line(header: Header<'_>) -> bool {
    let is_sound = |text| memchr::memchr2(b':', b'\r', text).is_none();
    is_sound(header.raw_name()) && is_sound(header.raw_value())
}

#[inline]
fn starts_blank(value: &[u8]) -> bool {
    value.first().is_some_and(|octet| value::is_blank(*octet))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Name,
    Value,
}

/// An octet that there is no way to write.
struct Refused;

/// Writes a number in decimal.
pub(crate) fn put_decimal(number: u64, out: &mut BytesMut) {
    let mut digits = [0; 20];
    let mut rest = number;
    let mut unused = digits.len();
    for digit in digits.iter_mut().rev() {
        let [units, ..] = (rest % 10).to_le_bytes();
        *digit = b'0' + units;
        unused -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.put_slice(digits.get(unused..).unwrap_or_default());
}
