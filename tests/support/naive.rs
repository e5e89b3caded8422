//! A decoder that is obvious rather than fast: the twin that the real one is held against.
//!
//! It has all octets at once and reads them one by one, from left to right. An error is the one
//! that the earliest octet shows. What is wrong with a header line shows when its LF is there.

use stomp_proto::codec::{DecodeError, DecodeErrorKind, MalformedHeader};
use stomp_proto::{Command, Version};

use crate::support::{Item, Outcome, Plain, Setup};

/// What becomes of `octets`.
pub(crate) fn decode(octets: &[u8], setup: &Setup) -> Outcome {
    let mut reader = Reader { octets, setup, at: 0, eols: 0 };
    let mut items = Vec::new();
    loop {
        let start = reader.at;
        match reader.item() {
            Ok(Some(item)) => items.push(item),
            Ok(None) => {}
            Err(Stop::NeedMore) => {
                let rest = octets.get(start..).unwrap_or_default();
                let between = matches!(rest, [] | [b'\r']);
                let offset = octets.len() as u64;
                let truncated = DecodeError { kind: DecodeErrorKind::Truncated, offset };
                let finish = if between { Ok(()) } else { Err(truncated) };
                return Outcome { items, rest: Ok(rest.to_vec()), finish };
            }
            Err(Stop::Failed(error)) => {
                return Outcome { items, rest: Err(error), finish: Err(error) };
            }
        }
    }
}

/// Why nothing more is read.
enum Stop {
    NeedMore,
    Failed(DecodeError),
}

fn fail<T>(kind: DecodeErrorKind, at: usize) -> Result<T, Stop> {
    Err(Stop::Failed(DecodeError { kind, offset: at as u64 }))
}

struct Reader<'a> {
    octets: &'a [u8],
    setup: &'a Setup,
    /// The octet that is read next.
    at: usize,
    /// Line ends in a row before a version is set.
    eols: usize,
}

impl Reader<'_> {
    fn octet(&self) -> Result<u8, Stop> {
        self.octets.get(self.at).copied().ok_or(Stop::NeedMore)
    }

    fn version(&self) -> Option<Version> {
        self.setup.version
    }

    /// What comes next; `None`: a NUL between frames.
    fn item(&mut self) -> Result<Option<Item>, Stop> {
        let start = self.at;
        match self.octet()? {
            0 if self.version().is_some() => {
                self.at += 1;
                Ok(None)
            }
            b'\n' | b'\r' => {
                if self.octet()? == b'\r' {
                    self.at += 1;
                }
                if self.octet()? != b'\n' {
                    return fail(DecodeErrorKind::UnknownCommand, self.at);
                }
                self.at += 1;
                self.eols += 1;
                let limit = self.setup.config.limits.max_idle_eols;
                if self.version().is_none() && self.eols > limit {
                    return fail(DecodeErrorKind::TooManyEols { limit }, start);
                }
                Ok(Some(Item::Eol))
            }
            _ => {
                let frame = self.frame()?;
                self.eols = 0;
                Ok(Some(Item::Frame(frame)))
            }
        }
    }

    fn frame(&mut self) -> Result<Plain, Stop> {
        let start = self.at;
        let command = self.command(start)?;
        let mut head = Head { command, headers: Vec::new(), malformed: Vec::new(), length: None };
        loop {
            let line_start = self.at;
            let line = self.line(start)?;
            if line.is_empty() {
                break;
            }
            self.header(&mut head, &line, line_start)?;
        }
        let body = self.body(command, head.length)?;
        Ok(Plain { command, headers: head.headers, malformed: head.malformed, body })
    }

    /// Takes an octet of the head that starts at `start`.
    fn head_octet(&mut self, start: usize) -> Result<u8, Stop> {
        let limits = &self.setup.config.limits;
        let limit = match self.version() {
            Some(_) => limits.max_head_len,
            None => limits.max_connect_head_len,
        };
        let octet = self.octet()?;
        if self.at - start == limit {
            return fail(DecodeErrorKind::HeadTooLong { limit }, self.at);
        }
        self.at += 1;
        Ok(octet)
    }

    fn command(&mut self, start: usize) -> Result<Command, Stop> {
        let mut line = Vec::new();
        loop {
            line.push(self.head_octet(start)?);
            let mut possible = false;
            for command in Command::ALL {
                for eol in ["\n", "\r\n"] {
                    let wanted = format!("{command}{eol}");
                    if wanted.as_bytes() == line {
                        return Ok(command);
                    }
                    possible |= wanted.as_bytes().starts_with(&line);
                }
            }
            if !possible {
                return fail(DecodeErrorKind::UnknownCommand, self.at - 1);
            }
        }
    }

    /// Takes a line of the head, without its LF and one CR before that.
    fn line(&mut self, start: usize) -> Result<Vec<u8>, Stop> {
        let mut line = Vec::new();
        loop {
            match self.head_octet(start)? {
                0 => return fail(DecodeErrorKind::NulInHead, self.at - 1),
                b'\n' => break,
                octet => line.push(octet),
            }
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(line)
    }

    /// Judges a header line: its form, then the number of lines, then `content-length`.
    fn header(&self, head: &mut Head, line: &[u8], start: usize) -> Result<(), Stop> {
        let sound = self.split(head.command, line);
        let keeps = self.setup.config.malformed_header == MalformedHeader::Keep;
        if let (Err((kind, at)), false) = (&sound, keeps) {
            return fail(*kind, start + at);
        }
        let limit = self.setup.config.limits.max_headers;
        if head.headers.len() + head.malformed.len() == limit {
            return fail(DecodeErrorKind::TooManyHeaders { limit }, start);
        }
        if let Some(value) = line.strip_prefix(b"content-length:") {
            self.content_length(head, value, start + b"content-length:".len())?;
        }
        match sound {
            Ok(header) => head.headers.push(header),
            Err(_) => head.malformed.push(line.to_vec()),
        }
        Ok(())
    }

    /// The name and value of a header line, or what is wrong with it and where.
    fn split(
        &self,
        command: Command,
        line: &[u8],
    ) -> Result<(String, String), (DecodeErrorKind, usize)> {
        let Some(colon) = line.iter().position(|octet| *octet == b':') else {
            return Err((DecodeErrorKind::MissingColon, line.len()));
        };
        if colon == 0 {
            return Err((DecodeErrorKind::EmptyName, 0));
        }
        if self.version() == Some(Version::V1_2) {
            if let Some(at) = line.iter().position(|octet| *octet == b'\r') {
                return Err((DecodeErrorKind::StrayCarriageReturn, at));
            }
        }
        let text = core::str::from_utf8(line);
        let text = text.map_err(|error| (DecodeErrorKind::NotUtf8, error.valid_up_to()))?;
        let (name, value) = text.split_once(':').unwrap_or_default();
        let unescape = |text, start| {
            let plain = self.unescape(command, text);
            plain.map_err(|at| (DecodeErrorKind::InvalidEscape, start + at))
        };
        let (name, value) = (unescape(name, 0)?, unescape(value, colon + 1)?);
        if self.version() == Some(Version::V1_0) {
            return Ok((name, value.trim_start_matches([' ', '\t']).to_owned()));
        }
        Ok((name, value))
    }

    /// `text` without its escapes, or where one is that means nothing.
    fn unescape(&self, command: Command, text: &str) -> Result<String, usize> {
        let exempt = matches!(command, Command::Connect | Command::Stomp | Command::Connected);
        let version = self.version().filter(|version| *version != Version::V1_0 && !exempt);
        let Some(version) = version else {
            return Ok(text.to_owned());
        };
        let mut plain = String::new();
        let mut rest = text.char_indices();
        while let Some((at, character)) = rest.next() {
            if character != '\\' {
                plain.push(character);
                continue;
            }
            match rest.next() {
                Some((_, 'n')) => plain.push('\n'),
                Some((_, 'c')) => plain.push(':'),
                Some((_, '\\')) => plain.push('\\'),
                Some((_, 'r')) if version == Version::V1_2 => plain.push('\r'),
                _ => return Err(at),
            }
        }
        Ok(plain)
    }

    /// Takes a `content-length` into account, the value of which stands at `at`.
    fn content_length(&self, head: &mut Head, value: &[u8], at: usize) -> Result<(), Stop> {
        let keeps = self.setup.config.malformed_header == MalformedHeader::Keep;
        if keeps && head.length.is_some() {
            return Ok(());
        }
        let pads = matches!(self.version(), None | Some(Version::V1_0));
        let digits = match core::str::from_utf8(value) {
            Ok(value) if pads => value.trim_matches([' ', '\t']),
            Ok(value) => value,
            Err(_) => return fail(DecodeErrorKind::InvalidContentLength, at),
        };
        if digits.is_empty() || !digits.bytes().all(|octet| octet.is_ascii_digit()) {
            return fail(DecodeErrorKind::InvalidContentLength, at);
        }
        // Digits that are no number are too many of them.
        let octets = digits.parse().unwrap_or(u64::MAX);
        match head.length {
            Some((first, _)) if first != octets => fail(DecodeErrorKind::InvalidContentLength, at),
            Some(_) => Ok(()),
            None => {
                head.length = Some((octets, at));
                Ok(())
            }
        }
    }

    /// Takes the body and the NUL behind it.
    fn body(&mut self, command: Command, length: Option<(u64, usize)>) -> Result<Vec<u8>, Stop> {
        let may_have_body = matches!(command, Command::Send | Command::Message | Command::Error);
        let limits = &self.setup.config.limits;
        let limit = match self.version() {
            None if command != Command::Error => limits.max_connect_head_len,
            _ => limits.max_body_len,
        };
        let counted = length.filter(|_| may_have_body);
        if let Some((octets, at)) = counted {
            if octets > limit as u64 {
                return fail(DecodeErrorKind::BodyTooLong { limit }, at);
            }
        }
        let mut body = Vec::new();
        loop {
            let octet = self.octet()?;
            match counted {
                Some((octets, _)) if (body.len() as u64) < octets => {}
                _ if octet == 0 => break,
                Some(_) => return fail(DecodeErrorKind::MissingNul, self.at),
                None if !may_have_body && self.version() > Some(Version::V1_0) => {
                    return fail(DecodeErrorKind::UnexpectedBody, self.at);
                }
                None if body.len() == limit => {
                    return fail(DecodeErrorKind::BodyTooLong { limit }, self.at);
                }
                None => {}
            }
            body.push(octet);
            self.at += 1;
        }
        self.at += 1;
        // On 1.0 such a body is ignored; before a version is set the session decides.
        if !may_have_body && self.version() == Some(Version::V1_0) {
            body.clear();
        }
        Ok(body)
    }
}

/// A head as far as it was read.
struct Head {
    command: Command,
    headers: Vec<(String, String)>,
    malformed: Vec<Vec<u8>>,
    /// The first `content-length`, and where its value stands.
    length: Option<(u64, usize)>,
}
