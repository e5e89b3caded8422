//! Transcripts: text files that hold recorded connections, both directions, without loss.

use core::error::Error;
use core::fmt;

use stomp_proto::frame::Role;

/// A recorded connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) name: String,
    /// `tcp` or `ws`.
    pub(crate) transport: String,
    /// In time order.
    pub(crate) reads: Vec<Read>,
}

/// What arrived from one end at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) at_ms: u64,
    pub(crate) from: Role,
    /// Empty: the end of that direction.
    pub(crate) octets: Vec<u8>,
}

/// A line of a transcript that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedLine {
    /// Counted from 1.
    pub(crate) number: usize,
}

/// Whether a file is a transcript. Raw STOMP never is: no command starts with `#`.
pub(crate) fn is_transcript(file: &[u8]) -> bool {
    file.starts_with(b"# STOMP transcript")
}

/// Reads the connections of a transcript.
pub(crate) fn parse(file: &[u8]) -> Result<Vec<Connection>, MalformedLine> {
    let mut connections = Vec::new();
    for (number, line) in (1..).zip(file.split(|octet| *octet == b'\n')) {
        parse_line(line, &mut connections).ok_or(MalformedLine { number })?;
    }
    Ok(connections)
}

fn parse_line(line: &[u8], connections: &mut Vec<Connection>) -> Option<()> {
    let line = core::str::from_utf8(line).ok()?.trim_end_matches('\r');
    if line.is_empty() || line.starts_with('#') {
        return Some(());
    }
    if let Some(title) = line.strip_prefix("connection ") {
        let (name, transport) = title.split_once(' ')?;
        let (name, transport) = (name.to_owned(), transport.to_owned());
        connections.push(Connection { name, transport, reads: Vec::new() });
    } else {
        connections.last_mut()?.reads.push(parse_read(line)?);
    }
    Some(())
}

fn parse_read(line: &str) -> Option<Read> {
    let (at_ms, rest) = line.split_once(' ')?;
    let (direction, octets) = rest.split_once(' ').unwrap_or((rest, ""));
    let from = match direction {
        "c2s" => Role::Client,
        "s2c" => Role::Server,
        _ => return None,
    };
    Some(Read { at_ms: at_ms.parse().ok()?, from, octets: unescape(octets)? })
}

/// Undoes `escape_ascii`.
fn unescape(escaped: &str) -> Option<Vec<u8>> {
    let mut octets = Vec::with_capacity(escaped.len());
    let mut rest = escaped.bytes();
    while let Some(octet) = rest.next() {
        octets.push(if octet == b'\\' { unescape_one(&mut rest)? } else { octet });
    }
    Some(octets)
}

/// The octet that a backslash with what follows it stands for.
fn unescape_one(rest: &mut impl Iterator<Item = u8>) -> Option<u8> {
    match rest.next()? {
        b't' => Some(b'\t'),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b'x' => Some((hex_digit(rest.next()?)? << 4) | hex_digit(rest.next()?)?),
        octet @ (b'\\' | b'\'' | b'"') => Some(octet),
        _ => None,
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16)?.try_into().ok()
}

impl fmt::Display for MalformedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the transcript is malformed", self.number)
    }
}

impl Error for MalformedLine {}
