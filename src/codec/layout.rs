//! What was found at the start of a buffer, and how a frame lies in it.

use crate::Command;
use crate::frame::Form;

/// A [`Step`](super::Step) without the frame itself, for whoever owns the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    NeedMore,
    Eol { consumed: usize },
    Nul { consumed: usize },
    Frame(Layout),
}

/// How a frame lies in the buffer: head, body, NUL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) command: Command,
    pub(super) form: Form,
    pub(super) head_len: usize,
    /// Octets between head and NUL.
    pub(super) len: usize,
    /// Whether those octets are a body, rather than what 1.0 ignores.
    pub(super) body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Deliver,
    Drop,
}

impl Layout {
    #[inline]
    pub(super) fn consumed(self) -> usize {
        self.head_len + self.len + 1
    }
}
