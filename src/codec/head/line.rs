//! The header line that is being read: where it starts, and what was seen of it.

use crate::frame::MAX_HEAD_LEN;

/// The line that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    /// The first colon; `NO_COLON` before it was seen, `ODD` in a line that needs a closer look.
    pub(super) colon: usize,
}

pub(super) const NO_COLON: usize = usize::MAX;
/// Before every line, so that no colon is seen any more.
const ODD: usize = 0;

impl Line {
    #[inline]
    pub(super) fn starting_at(start: usize) -> Self {
        Self { start, colon: NO_COLON }
    }

    #[inline]
    pub(super) fn see_colon(&mut self, position: usize) {
        self.colon = self.colon.min(position);
    }

    /// It holds a CR, an octet that is not ASCII, or a backslash that may be no escape.
    #[inline]
    pub(super) fn be_odd(&mut self) {
        self.colon = ODD;
    }

    /// The length of the name; without a colon, and in an odd line, more than a head can hold.
    #[inline]
    pub(super) fn name_len(self) -> usize {
        const { assert!(MAX_HEAD_LEN < NO_COLON / 2) };
        self.colon.wrapping_sub(self.start)
    }
}

/// Whether a line with a name of that length has nothing in it that needs a closer look.
#[inline]
pub(super) fn is_plain(name_len: usize) -> bool {
    name_len.wrapping_sub(1) < MAX_HEAD_LEN
}
