//! One header block: command and header spans, with every check that can be fatal.
//!
//! Resumable: it remembers how far it looked, so that dripped input costs no more than whole.

mod line;

use alloc::vec::Vec;

use line::{Line, NO_COLON, is_plain};

use super::command_line::{Recognised, recognise};
use super::error::DecodeErrorKind::{
    self, EmptyName, HeadTooLong, InvalidContentLength, InvalidEscape, MissingColon, NotUtf8,
    NulInHead, StrayCarriageReturn, TooManyHeaders, UnknownCommand,
};
use super::lines::{BLOCK, Marks};
use super::{Limits, MalformedHeader};
use crate::frame::escape::{Codes, Escapes};
use crate::frame::{Form, MAX_HEAD_LEN, Span, name, value};
use crate::{Command, Version};

/// What is wrong, and at which octet of the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) kind: DecodeErrorKind,
    pub(super) at: usize,
}

impl Fault {
    pub(super) fn new(kind: DecodeErrorKind, at: usize) -> Self {
        Self { kind, at }
    }
}

/// Under which rules a head is read.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) version: Option<Version>,
    pub(super) malformed: MalformedHeader,
    pub(super) limits: Limits,
}

impl Rules {
    /// Those before a version is agreed.
    pub(super) fn new(malformed: MalformedHeader, mut limits: Limits) -> Self {
        for limit in [&mut limits.max_head_len, &mut limits.max_connect_head_len] {
            *limit = (*limit).min(MAX_HEAD_LEN);
        }
        Self { version: None, malformed, limits }
    }

    /// The most octets that a head may have.
    fn max_head_len(&self) -> usize {
        match self.version {
            Some(_) => self.limits.max_head_len,
            None => self.limits.max_connect_head_len,
        }
    }
}

/// A head as far as it was read. All positions count from the first octet of the frame.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) command: Option<Command>,
    pub(super) spans: Vec<Span>,
    /// Of the first `content-length`.
    pub(super) content_length: Option<Announced>,
    escapes: Escapes,
    /// Of those.
    codes: Codes,
    /// The end of the last escape that was seen; 0: none was.
    unescaped: usize,
    /// Whether a backslash was seen that is no escape, or was none yet.
    has_odd_backslash: bool,
    /// Everything before it was looked at.
    scanned: usize,
    line: Line,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    pub(super) octets: u64,
    /// Where the value stands.
    pub(super) at: usize,
}

impl Head {
    pub(super) fn new() -> Self {
        Self {
            command: None,
            spans: Vec::new(),
            content_length: None,
            escapes: Escapes::None,
            codes: Escapes::None.codes(),
            unescaped: 0,
            has_odd_backslash: false,
            scanned: 0,
            line: Line::starting_at(0),
        }
    }

    /// Whether `buffer` is too short to be the one that was read before.
    pub(super) fn is_ahead_of(&self, buffer: &[u8]) -> bool {
        self.command.is_some() && self.scanned > buffer.len()
    }

    /// How the names and values of the finished head are written.
    pub(super) fn form(&self, rules: &Rules) -> Form {
        match rules.version {
            Some(Version::V1_0) => Form::Padded,
            _ if self.unescaped > 0 || self.has_odd_backslash => Form::Escaped(self.escapes),
            _ => Form::Literal,
        }
    }

    /// Reads on. `Some` is the command and the length of the head, blank line included; `None`: more
    /// is needed.
    pub(super) fn advance(
        &mut self,
        buffer: &[u8],
        rules: &Rules,
    ) -> Result<Option<(Command, usize)>, Fault> {
        let limit = rules.max_head_len();
        // Nothing behind the limit is looked at, so what it hides cannot come before its error.
        let window = buffer.get(..limit).unwrap_or(buffer);
        let command = match self.command {
            None => self.read_command(window, rules)?,
            known => known,
        };
        if let Some(command) = command {
            if let Some(head_len) = self.read_headers(window, rules)? {
                return Ok(Some((command, head_len)));
            }
        }
        if buffer.len() > limit {
            return Err(Fault::new(HeadTooLong { limit }, limit));
        }
        Ok(None)
    }

    /// Reads the command line. `None`: more is needed.
    fn read_command(&mut self, window: &[u8], rules: &Rules) -> Result<Option<Command>, Fault> {
        let (command, line_len) = match recognise(window) {
            Recognised::Command { command, line_len } => (command, line_len),
            Recognised::Partial => return Ok(None),
            Recognised::Impossible { at } => return Err(Fault::new(UnknownCommand, at)),
        };
        self.command = Some(command);
        self.spans.clear();
        self.content_length = None;
        self.escapes = Escapes::of(rules.version, command);
        self.codes = self.escapes.codes();
        self.unescaped = 0;
        self.has_odd_backslash = false;
        self.scanned = line_len;
        self.line = Line::starting_at(line_len);
        Ok(self.command)
    }

    /// Reads header lines up to the blank one.
    #[inline(never)]
    fn read_headers(&mut self, window: &[u8], rules: &Rules) -> Result<Option<usize>, Fault> {
        // In registers: every octet of every head comes by here.
        let mut line = self.line;
        let mut at = self.scanned;
        let mut rest = window.get(at..).unwrap_or_default();
        loop {
            let marks = match rest.split_first_chunk::<BLOCK>() {
                Some((block, behind)) => {
                    rest = behind;
                    Marks::of(block)
                }
                None if rest.is_empty() => break,
                None => {
                    let (marks, from) = Marks::of_last(window, rest.len());
                    at = from;
                    rest = &[];
                    marks
                }
            };
            for mark in marks {
                let position = at + mark;
                let octet = window.get(position).copied().unwrap_or(b' ');
                match octet {
                    b':' => line.see_colon(position),
                    b'\n' if position == line.start => return Ok(Some(position + 1)),
                    b'\n' => {
                        let name_len = line.name_len();
                        if is_plain(name_len) {
                            self.end_line(line, name_len, position, window, rules)?;
                        } else if self.end_odd_line(line, position, window, rules)?.is_blank() {
                            return Ok(Some(position + 1));
                        }
                        line = Line::starting_at(position + 1);
                    }
                    // At once, also where the blank line is missing: peers that look for the next
                    // NUL would see other frames.
                    0 => return Err(Fault::new(NulInHead, position)),
                    b'\\' => self.see_backslash(&mut line, position, window),
                    b'\r' | 0x80.. => line.be_odd(),
                    _ => {}
                }
            }
            at += BLOCK;
        }
        self.line = line;
        self.scanned = window.len();
        Ok(None)
    }

    /// Checks an escape while it is at hand. One that is cut off or undefined makes the line odd,
    /// and is looked at again with the whole line.
    #[inline]
    fn see_backslash(&mut self, line: &mut Line, position: usize, window: &[u8]) {
        if position < self.unescaped {
            return;
        }
        match window.get(position + 1) {
            Some(code) if self.codes.contain(*code) => self.unescaped = position + 2,
            _ if self.escapes == Escapes::None => {}
            _ => {
                self.has_odd_backslash = true;
                line.be_odd();
            }
        }
    }

    /// Ends a sound header line that reaches to `end`.
    #[inline]
    fn end_line(
        &mut self,
        line: Line,
        name_len: usize,
        end: usize,
        window: &[u8],
        rules: &Rules,
    ) -> Result<(), Fault> {
        self.check_count(line, rules)?;
        if name_len == name::CONTENT_LENGTH.len() {
            self.check_content_length(line, end, window, rules)?;
        }
        self.spans.push(Span::header(narrow(line.start), narrow(line.colon), narrow(end)));
        Ok(())
    }

    /// Ends a line that needs a closer look.
    #[cold]
    fn end_odd_line(
        &mut self,
        line: Line,
        lf: usize,
        window: &[u8],
        rules: &Rules,
    ) -> Result<LineEnd, Fault> {
        // One CR before LF belongs to the line end, in every version.
        let end = match window.get(line.start..lf) {
            Some([.., b'\r']) => lf - 1,
            _ => lf,
        };
        if end == line.start {
            return Ok(LineEnd::Blank);
        }
        let octets = window.get(line.start..end).unwrap_or_default();
        let colon = memchr::memchr(b':', octets);
        let line = Line { colon: colon.map_or(NO_COLON, |at| line.start + at), ..line };
        let Some((kind, at)) = self.defect(octets, colon, rules) else {
            self.end_line(line, line.name_len(), end, window, rules)?;
            return Ok(LineEnd::Header);
        };
        if rules.malformed == MalformedHeader::Reject {
            return Err(Fault::new(kind, line.start + at));
        }
        self.check_count(line, rules)?;
        // A body length is never guessed: framing stays strict.
        self.check_content_length(line, end, window, rules)?;
        self.spans.push(Span::malformed(narrow(line.start), narrow(end)));
        Ok(LineEnd::Header)
    }

    /// What is wrong with a header line, and where in it.
    fn defect(
        &self,
        line: &[u8],
        colon: Option<usize>,
        rules: &Rules,
    ) -> Option<(DecodeErrorKind, usize)> {
        let Some(colon) = colon else { return Some((MissingColon, line.len())) };
        let (name, value) = line.split_at_checked(colon)?;
        if name.is_empty() {
            return Some((EmptyName, 0));
        }
        // STOMP 1.2, "Augmented BNF"; on 1.0 and 1.1 CR is data.
        if rules.version == Some(Version::V1_2) {
            if let Some(at) = memchr::memchr(b'\r', line) {
                return Some((StrayCarriageReturn, at));
            }
        }
        if let Err(error) = core::str::from_utf8(line) {
            return Some((NotUtf8, error.valid_up_to()));
        }
        // Name and value apart: a backslash that ends the name does not escape the colon.
        let in_value = || Some(colon + self.escapes.first_undefined(value)?);
        let at = self.escapes.first_undefined(name).or_else(in_value)?;
        Some((InvalidEscape, at))
    }

    #[inline]
    fn check_count(&self, line: Line, rules: &Rules) -> Result<(), Fault> {
        let limit = rules.limits.max_headers;
        if self.spans.len() >= limit {
            return Err(Fault::new(TooManyHeaders { limit }, line.start));
        }
        Ok(())
    }

    /// Takes a line into account that may be a `content-length`.
    #[inline(never)]
    fn check_content_length(
        &mut self,
        line: Line,
        end: usize,
        window: &[u8],
        rules: &Rules,
    ) -> Result<(), Fault> {
        if window.get(line.start..line.colon) != Some(name::CONTENT_LENGTH.as_bytes()) {
            return Ok(());
        }
        let at = line.colon + 1;
        let value = window.get(at..end).unwrap_or_default();
        match (self.content_length, value::decimal(value)) {
            (None, Some(octets)) => {
                self.content_length = Some(Announced { octets, at });
                Ok(())
            }
            _ => self.check_odd_length(value, at, rules),
        }
    }

    /// Checks a length that is padded or wrong, or not the first.
    #[cold]
    fn check_odd_length(&mut self, value: &[u8], at: usize, rules: &Rules) -> Result<(), Fault> {
        if self.content_length.is_some() && rules.malformed == MalformedHeader::Keep {
            return Ok(());
        }
        // 1.0 pads values; a frame before the version is known may turn out to be 1.0.
        let value = match rules.version {
            Some(Version::V1_0) | None => value::trim_blanks(value),
            Some(_) => value,
        };
        let invalid = Fault::new(InvalidContentLength, at);
        let octets = value::decimal(value).ok_or(invalid)?;
        let first = *self.content_length.get_or_insert(Announced { octets, at });
        // Two peers on the way could take different ones and see different frames.
        if first.octets == octets { Ok(()) } else { Err(invalid) }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "no position in a head is beyond MAX_HEAD_LEN")]
fn narrow(position: usize) -> u32 {
    position as u32
}

#[derive(PartialEq, Eq)]
enum LineEnd {
    Header,
    Blank,
}

impl LineEnd {
    fn is_blank(&self) -> bool {
        *self == Self::Blank
    }
}
