//! Where the next frame lies in a slice that the caller owns; resumable and linear.

mod body;

use alloc::vec::Vec;

use super::error::DecodeErrorKind::{TooManyEols, Truncated, UnknownCommand};
use super::head::{Fault, Head, Rules};
use super::layout::{Body, Found, Layout};
use super::{DecodeError, DecoderConfig, Limits};
use crate::frame::{FrameRef, Headers, Span};
use crate::{Command, Version};

/// Finds frames in a buffer of yours, without copying or allocating.
///
/// Each call looks at the octets that were not consumed yet, from the first one on. When it asks
/// for more, call again with the same octets and more behind them: what was looked at is not looked
/// at again.
///
/// ```
/// use stomp_proto::Version;
/// use stomp_proto::codec::{DecoderConfig, Scanner, Step};
/// # fn main() -> Result<(), stomp_proto::codec::DecodeError> {
/// let mut scanner = Scanner::new(DecoderConfig::default());
/// scanner.set_version(Version::V1_2);
/// let mut buffer = &b"\nSEND\ndestination:/queue/a\n\nhi\0BEG"[..];
/// loop {
///     let consumed = match scanner.advance(buffer)? {
///         Step::NeedMore => break,
///         Step::Eol { consumed } | Step::Nul { consumed } => consumed,
///         Step::Frame { consumed, frame } => {
///             assert_eq!(frame.header("destination").as_deref(), Some("/queue/a"));
///             assert_eq!(frame.body(), b"hi");
///             consumed
///         }
///     };
///     buffer = &buffer[consumed..];
/// }
/// assert_eq!(buffer, b"BEG");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scanner {
    rules: Rules,
    /// Octets of the stream before the buffer.
    offset: u64,
    eols: usize,
    phase: Phase,
    head: Head,
}

/// What stands at the start of the buffer.
#[derive(Debug)]
pub enum Step<'a> {
    /// Nothing whole: call again when there is more.
    NeedMore,
    /// A line end between frames, which is also the form of a heart-beat.
    Eol {
        /// Octets to drop from the front of the buffer.
        consumed: usize,
    },
    /// NULs between frames, to be ignored.
    Nul {
        /// Octets to drop from the front of the buffer.
        consumed: usize,
    },
    /// A frame.
    Frame {
        /// Octets to drop from the front of the buffer.
        consumed: usize,
        /// The frame.
        frame: FrameRef<'a>,
    },
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Between,
    Head,
    /// Behind a head with a length.
    Counted {
        command: Command,
        head_len: usize,
        len: usize,
    },
    /// Behind a head without; everything before `searched` holds no NUL, and at `excess` there has to
    /// be one.
    ToNul {
        command: Command,
        head_len: usize,
        searched: usize,
        excess: usize,
    },
    Failed(DecodeError),
}

impl Scanner {
    /// A scanner at the start of a stream, before a version is agreed.
    #[must_use]
    pub fn new(config: DecoderConfig) -> Self {
        let DecoderConfig { limits, malformed_header: malformed } = config;
        Self {
            rules: Rules::new(malformed, limits),
            offset: 0,
            eols: 0,
            phase: Phase::Between,
            head: Head::new(),
        }
    }

    /// Sets the version whose rules the frames from here on follow, that which is being received
    /// included.
    ///
    /// Before it is set nothing is unescaped or trimmed, and the smaller limits hold, but not for the
    /// body of an ERROR: a server that decodes without a session asks for the
    /// [command](Self::command).
    pub fn set_version(&mut self, version: Version) {
        self.rules.version = Some(version);
        if !self.has_failed() {
            // What was seen of a frame was seen under other rules.
            self.phase = Phase::Between;
        }
    }

    /// Looks at the start of `buffer`.
    ///
    /// # Errors
    ///
    /// What the peer did wrong. Every later call returns the same error.
    #[inline]
    pub fn advance<'a>(&'a mut self, buffer: &'a [u8]) -> Result<Step<'a>, DecodeError> {
        Ok(match self.scan(buffer)? {
            Found::NeedMore => Step::NeedMore,
            Found::Eol { consumed } => Step::Eol { consumed },
            Found::Nul { consumed } => Step::Nul { consumed },
            Found::Frame(layout) => {
                Step::Frame { consumed: layout.consumed(), frame: self.frame(layout, buffer) }
            }
        })
    }

    /// Says that the stream has ended, with `rest` not consumed.
    ///
    /// # Errors
    ///
    /// [`Truncated`] inside a frame, or the error that ended decoding before.
    pub fn finish(&self, rest: &[u8]) -> Result<(), DecodeError> {
        match self.phase {
            Phase::Failed(error) => Err(error),
            Phase::Between if matches!(rest, [] | [b'\r']) => Ok(()),
            _ => Err(DecodeError { kind: Truncated, offset: self.at(rest.len()) }),
        }
    }

    /// The command of the frame that is being received, once its line is whole.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        match self.phase {
            Phase::Head => self.head.command,
            Phase::Counted { command, .. } | Phase::ToNul { command, .. } => Some(command),
            Phase::Between | Phase::Failed(_) => None,
        }
    }

    /// Whether the buffer starts between two frames.
    #[inline]
    pub(super) fn is_between(&self) -> bool {
        matches!(self.phase, Phase::Between)
    }

    /// Whether decoding has ended with an error.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Failed(_))
    }

    /// Counts an LF that is all there is. `false`: before login line ends are counted one by one.
    #[inline]
    pub(super) fn skip_beat(&mut self) -> bool {
        if self.rules.version.is_none() {
            return false;
        }
        self.offset = self.at(1);
        true
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.rules.limits
    }

    /// Octets of the stream before the buffer.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Forgets the headers of the last frame, and gives back what they took.
    pub(super) fn shrink(&mut self) {
        self.head.spans = Vec::new();
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.head.spans
    }

    /// The headers of the frame that was found.
    #[inline]
    pub(super) fn headers<'a>(&'a self, layout: Layout, buffer: &'a [u8]) -> Headers<'a> {
        let head = buffer.get(..layout.head_len).unwrap_or_default();
        Headers::new(head, self.spans(), layout.form)
    }

    #[inline]
    fn frame<'a>(&'a self, layout: Layout, buffer: &'a [u8]) -> FrameRef<'a> {
        let (head, rest) = buffer.split_at_checked(layout.head_len).unwrap_or_default();
        let body = match layout.body {
            Body::Deliver => rest.get(..layout.len).unwrap_or_default(),
            Body::Drop => &[],
        };
        FrameRef::new(layout.command, Headers::new(head, self.spans(), layout.form), body)
    }

    #[inline]
    pub(super) fn scan(&mut self, buffer: &[u8]) -> Result<Found, DecodeError> {
        let found = self.step(buffer).map_err(|fault| self.fail(fault))?;
        let consumed = match found {
            Found::NeedMore => return Ok(found),
            Found::Eol { consumed } | Found::Nul { consumed } => consumed,
            Found::Frame(layout) => layout.consumed(),
        };
        self.offset = self.at(consumed);
        Ok(found)
    }

    fn step(&mut self, buffer: &[u8]) -> Result<Found, Fault> {
        // The caller may have taken octets away that were looked at before: then from the start.
        match self.phase {
            Phase::Head if !self.head.is_ahead_of(buffer) => self.read_head(buffer),
            Phase::Counted { command, head_len, len } if head_len <= buffer.len() => {
                self.find_end(buffer, command, head_len, len)
            }
            Phase::ToNul { searched, .. } if searched <= buffer.len() => self.search_on(buffer),
            Phase::Failed(error) => Err(Fault::new(error.kind, 0)),
            _ => {
                if let Some(found) = self.between(buffer)? {
                    self.phase = Phase::Between;
                    return Ok(found);
                }
                self.head.command = None;
                self.read_head(buffer)
            }
        }
    }

    #[inline]
    fn read_head(&mut self, buffer: &[u8]) -> Result<Found, Fault> {
        let Some((command, head_len)) = self.head.advance(buffer, &self.rules)? else {
            self.phase = Phase::Head;
            return Ok(Found::NeedMore);
        };
        self.read_body(buffer, command, head_len)
    }

    /// Takes a line end or NULs; `None`: a frame starts here.
    #[inline]
    fn between(&mut self, buffer: &[u8]) -> Result<Option<Found>, Fault> {
        let consumed = match buffer {
            [] | [b'\r'] => return Ok(Some(Found::NeedMore)),
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            // Stray CR: said at the octet that shows it.
            [b'\r', ..] => return Err(Fault::new(UnknownCommand, 1)),
            // Big brokers skip NULs; before login they can be another protocol (OpenWire).
            [0, ..] if self.rules.version.is_some() => {
                let consumed = buffer.iter().take_while(|octet| **octet == 0).count();
                return Ok(Some(Found::Nul { consumed }));
            }
            _ => return Ok(None),
        };
        if self.rules.version.is_none() {
            let limit = self.rules.limits.max_idle_eols;
            if self.eols >= limit {
                return Err(Fault::new(TooManyEols { limit }, 0));
            }
            self.eols += 1;
        }
        Ok(Some(Found::Eol { consumed }))
    }

    #[cold]
    fn fail(&mut self, fault: Fault) -> DecodeError {
        if let Phase::Failed(error) = self.phase {
            return error;
        }
        let error = DecodeError { kind: fault.kind, offset: self.at(fault.at) };
        self.phase = Phase::Failed(error);
        error
    }

    fn at(&self, position: usize) -> u64 {
        self.offset.saturating_add(position as u64)
    }
}
