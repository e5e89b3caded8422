//! Finding the octets that matter in a head fast, in safe Rust.
//!
//! One pass marks line ends, colons and everything unusual at once, which is the whole of the checks
//! for an ordinary head; `memchr` per token loses on lines of thirty octets. Eight octets are looked
//! at in one register, and a block of marks is gathered before any of them is acted on, so that the
//! loop that looks stays small.

/// The octets of one look.
pub(super) const BLOCK: usize = 32;
const WORD: usize = 8;

/// The positions in a block of the octets that need a look, lowest first.
///
/// Marked are control characters below 14 (NUL, LF and CR among them), `:`, `\` and everything that
/// is not ASCII. An octet right above a marked one may be marked without need: telling them apart
/// would cost every block, and looking at one too many costs little.
pub(super) struct Marks(u32);

impl Marks {
    /// The marks of a block, or of less than one.
    #[inline]
    pub(super) fn of<const LEN: usize>(block: &[u8; LEN]) -> Self {
        const { assert!(LEN <= BLOCK && LEN % WORD == 0, "whole words, a bit for each octet") };
        let words = block.chunks_exact(WORD).map(|word| gather(marks(word_of(word))));
        Self(words.rev().fold(0, |bits, word| bits << WORD | u32::from(word)))
    }

    /// The marks of the last octets of a window, `unread` of them and fewer than a block, and the
    /// position from which they count.
    #[inline]
    pub(super) fn of_last(window: &[u8], unread: usize) -> (Self, usize) {
        // Octets that were read before fill up the block.
        const HALF: usize = BLOCK / 2;
        match (window.last_chunk::<HALF>(), window.last_chunk::<BLOCK>()) {
            (Some(half), _) if unread <= HALF => {
                (Self::of(half).starting_at(HALF - unread), window.len() - HALF)
            }
            (_, Some(block)) => (Self::of(block).starting_at(BLOCK - unread), window.len() - BLOCK),
            (_, None) => (Self::of(&padded(window)).starting_at(window.len() - unread), 0),
        }
    }

    /// Without the marks below a position.
    #[inline]
    fn starting_at(self, position: usize) -> Self {
        let below = u32::try_from(position).unwrap_or(u32::MAX);
        Self(self.0 & u32::MAX.checked_shl(below).unwrap_or(0))
    }
}

impl Iterator for Marks {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let position = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(position)
    }
}

/// Fewer octets than a block as a block, filled up with some that are not marked.
fn padded(octets: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    if let Some(start) = block.get_mut(..octets.len()) {
        start.copy_from_slice(octets);
    }
    block
}

/// Whether it is certain that no octet needs an escape or a refusal under any version.
///
/// Text with a tab or another harmless control character is not plain: the slower writer, which
/// looks at each octet, lets it stand.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    // Octets that are not ASCII are marked, but may stand as they are.
    let is_plain = |word: u64| marks(word) & !word == 0;
    let Some(last) = text.last_chunk() else { return is_plain(short_word(text)) };
    let mut words = text.chunks_exact(WORD);
    words.all(|word| is_plain(word_of(word))) && is_plain(u64::from_le_bytes(*last))
}

/// Fewer octets than a word as a word that has no others: some stand in it twice.
#[inline]
fn short_word(octets: &[u8]) -> u64 {
    const BLANKS: u64 = splat(b' ');
    if let (Some(first), Some(last)) = (octets.first_chunk(), octets.last_chunk()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
    }
    match *octets {
        [a, b, c, ..] => BLANKS << 24 | u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 0]),
        [a, b] => BLANKS << 16 | u64::from_le_bytes([a, b, 0, 0, 0, 0, 0, 0]),
        [a] => BLANKS << 8 | u64::from(a),
        [] => BLANKS,
    }
}

/// Sets the top bit of the lane of each marked octet.
#[inline]
fn marks(word: u64) -> u64 {
    const ONE: u64 = splat(1);
    const TOP: u64 = splat(0x80);
    // The top bit of a lane of a difference is set if the octet was smaller, if it was set before,
    // or if a lane below borrowed.
    let control = word.wrapping_sub(splat(14));
    let colon = (word ^ splat(b':')).wrapping_sub(ONE);
    let backslash = (word ^ splat(b'\\')).wrapping_sub(ONE);
    (control | colon | backslash | word) & TOP
}

/// The top bits of the lanes, side by side.
#[inline]
fn gather(marks: u64) -> u8 {
    // Lane n holds its bit at 8n; multiplied it lands at 56 + n, and no sum carries.
    const SPREAD: u64 = 0x0102_0408_1020_4080;
    let [.., gathered] = (marks >> 7).wrapping_mul(SPREAD).to_le_bytes();
    gathered
}

#[inline]
fn word_of(octets: &[u8]) -> u64 {
    u64::from_le_bytes(octets.try_into().unwrap_or_default())
}

const fn splat(octet: u8) -> u64 {
    u64::from_le_bytes([octet; WORD])
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn is_marked(octet: u8) -> bool {
        octet < 14 || octet == b':' || octet == b'\\' || octet >= 0x80
    }

    /// Those of the marks that have to be there; fails on one that has no reason.
    fn needed(block: [u8; BLOCK]) -> Vec<usize> {
        let mut before = None;
        let needed = |at: &usize| {
            assert!(is_marked(block[*at]) || before == at.checked_sub(1), "{block:?} at {at}");
            before = Some(*at);
            is_marked(block[*at])
        };
        Marks::of(&block).filter(needed).collect()
    }

    #[test]
    fn every_octet_is_marked_as_said_in_every_lane_whatever_its_neighbours() {
        for octet in 0..=255 {
            for neighbour in [0, 1, b':', b';', b'\\', b']', b'a', 0x7f, 0x80, 0xff] {
                for lane in 0..BLOCK {
                    let mut block = [neighbour; BLOCK];
                    block[lane] = octet;
                    let expected: Vec<_> = (0..BLOCK).filter(|at| is_marked(block[*at])).collect();
                    assert_eq!(needed(block), expected);
                }
            }
        }
    }

    #[test]
    fn the_last_block_marks_what_is_unread_and_nothing_else() {
        let octets = [b':'; 2 * BLOCK];
        for len in 1..octets.len() {
            let window = &octets[..len];
            for unread in 1..BLOCK.min(len + 1) {
                let (marks, from) = Marks::of_last(window, unread);
                let marks: Vec<_> = marks.map(|mark| from + mark).collect();
                assert_eq!(marks, (len - unread..len).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn plain_is_what_needs_no_escape() {
        let text = "caf\u{e9} is plain, \u{20ac} too".as_bytes();
        for len in 0..text.len() {
            let mut text = text[..len].to_vec();
            assert!(is_plain(&text));
            for at in 0..len {
                for odd in [0, b'\n', b'\r', b':', b'\\'] {
                    let octet = core::mem::replace(&mut text[at], odd);
                    assert!(!is_plain(&text), "{}", text.escape_ascii());
                    text[at] = octet;
                }
            }
        }
    }
}
