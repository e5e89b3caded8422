//! Finding the octets that matter in a head fast, in safe Rust.
//!
//! One pass marks line ends, colons and everything unusual at once, which is the whole of the checks
//! for an ordinary head; `memchr` per token loses on lines of thirty octets. Eight octets are looked
//! at in one register, or sixteen with the feature `simd`, and a block of marks is gathered before any
//! of them is acted on, so that the loop that looks stays small.

/// The octets of one look.
pub(super) const BLOCK: usize = 64;
const WORD: usize = 8;

/// The positions in a block of the octets that need a look, lowest first.
///
/// Marked are control characters below 14 (NUL, LF and CR among them), `:`, `\` and everything that
/// is not ASCII. Without `simd` an octet right above a marked one may be marked without need: telling
/// them apart would cost every block, and looking at one too many costs little.
pub(super) struct Marks(u64);

impl Marks {
    /// The marks of a block, or of less than one.
    #[inline]
    pub(super) fn of<const LEN: usize>(block: &[u8; LEN]) -> Self {
        const { assert!(LEN <= BLOCK && LEN % LOOK == 0, "whole looks, a bit for each octet") };
        let looks = block.chunks_exact(LOOK).map(look);
        Self(looks.rev().fold(0, |bits, marks| bits << LOOK | marks))
    }

    /// The marks of the last octets of a window, `unread` of them and fewer than a block, and the
    /// position from which they count.
    #[inline]
    pub(super) fn of_last(window: &[u8], unread: usize) -> (Self, usize) {
        Self::of_tail::<16>(window, unread)
            .or_else(|| Self::of_tail::<32>(window, unread))
            .or_else(|| Self::of_tail::<BLOCK>(window, unread))
            .unwrap_or_else(|| (Self::of(&padded(window)).starting_at(window.len() - unread), 0))
    }

    /// Octets that were read before fill up the tail.
    #[inline]
    fn of_tail<const LEN: usize>(window: &[u8], unread: usize) -> Option<(Self, usize)> {
        if unread > LEN {
            return None;
        }
        let tail = window.last_chunk::<LEN>()?;
        Some((Self::of(tail).starting_at(LEN - unread), window.len() - LEN))
    }

    /// Without the marks below a position.
    #[inline]
    fn starting_at(self, position: usize) -> Self {
        let below = u32::try_from(position).unwrap_or(u32::MAX);
        Self(self.0 & u64::MAX.checked_shl(below).unwrap_or(0))
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

/// Whether there is a NUL in a text that is too short for a better search to pay.
#[inline]
pub(super) fn has_nul(text: &[u8]) -> bool {
    const ONE: u64 = splat(1);
    const TOP: u64 = splat(0x80);
    // The top bit of a lane is set if it was 0, or if it was 1 and a lane below was 0.
    let has_nul = |word: u64| word.wrapping_sub(ONE) & !word & TOP != 0;
    let Some(last) = text.last_chunk() else { return has_nul(short_word(text)) };
    let mut words = text.chunks_exact(WORD);
    words.any(|word| has_nul(word_of(word))) || has_nul(u64::from_le_bytes(*last))
}

/// So many words that a lane can count them.
const AT_ONCE: usize = 255 * WORD;

/// The number of octets that may need an escape or a refusal under some version. Now and then it is
/// too large, never too small.
#[inline]
pub(super) fn count_odd(text: &[u8]) -> usize {
    text.chunks(AT_ONCE).map(count_odd_of_few).sum()
}

#[inline]
fn count_odd_of_few(text: &[u8]) -> usize {
    const EVERY_OTHER: u64 = 0x00ff_00ff_00ff_00ff;
    const SUM: u64 = 0x0001_0001_0001_0001;
    let odd = |word: u64| (marks(word) & !word) >> 7;
    let words = text.chunks_exact(WORD);
    let last = match text.last_chunk() {
        Some(last) => {
            // What is counted as a word is shifted out.
            let counted = u32::try_from(8 * (WORD - words.remainder().len()));
            odd(u64::from_le_bytes(*last)).checked_shr(counted.unwrap_or(u32::MAX)).unwrap_or(0)
        }
        None => odd(short_word(text)),
    };
    let lanes = words.map(|word| odd(word_of(word))).sum::<u64>() + last;
    let pairs = (lanes & EVERY_OTHER) + (lanes >> 8 & EVERY_OTHER);
    (pairs.wrapping_mul(SUM) >> 48) as usize
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
    // What is not ASCII keeps its top bit: `colon` and `backslash` cannot both lose it.
    (control | colon | backslash) & TOP
}

/// The octets that are looked at together.
#[cfg(not(feature = "simd"))]
const LOOK: usize = WORD;
#[cfg(feature = "simd")]
const LOOK: usize = 16;

/// A bit for each octet that is marked.
#[cfg(not(feature = "simd"))]
#[inline]
fn look(octets: &[u8]) -> u64 {
    u64::from(gather(marks(word_of(octets))))
}

#[cfg(feature = "simd")]
#[inline]
fn look(octets: &[u8]) -> u64 {
    use wide::{CmpEq, CmpLt, i8x16};

    let signed = |octet| i8::from_le_bytes([octet]);
    let all = |octet| i8x16::splat(signed(octet));
    let octets: [u8; LOOK] = octets.try_into().unwrap_or_default();
    let octets = i8x16::new(octets.map(signed));
    // What is not ASCII is negative.
    let odd = octets.cmp_lt(all(14));
    let marked = odd | octets.cmp_eq(all(b':')) | octets.cmp_eq(all(b'\\'));
    u64::from(u32::from_le_bytes(marked.move_mask().to_le_bytes()))
}

/// The top bits of the lanes, side by side.
#[cfg(not(feature = "simd"))]
#[inline]
fn gather(marks: u64) -> u8 {
    // A bit for each multiple of 7. Lane n holds its bit at 8n + 7; multiplied it lands at 56 + n, and
    // no two bits land at the same place, so that none carries.
    const SPREAD: u64 = 0x0002_0408_1020_4081;
    let [.., gathered] = marks.wrapping_mul(SPREAD).to_le_bytes();
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

    #[test]
    fn a_nul_is_found_wherever_it_is() {
        for len in 0..40 {
            for neighbour in [1, b'a', 0x7f, 0x80, 0xff] {
                let mut text = [neighbour; 40];
                assert!(!has_nul(&text[..len]), "{len}");
                for at in 0..len {
                    text[at] = 0;
                    assert!(has_nul(&text[..len]), "{at} of {len}");
                    text[at] = neighbour;
                }
            }
        }
    }

    #[test]
    fn what_is_odd_is_counted_however_long_the_text_is() {
        let text = "caf\u{e9}: a\\b\ncontent-length:17\n".as_bytes().repeat(100);
        for len in (0..80).chain(2030..2050).chain([text.len()]) {
            let text = &text[..len];
            let odd = text.iter().filter(|octet| is_marked(**octet) && octet.is_ascii()).count();
            // Of a rest of less than a word some octets are counted twice.
            let most = if len % AT_ONCE < WORD { odd + WORD } else { odd };
            assert!((odd..=most).contains(&count_odd(text)), "{len}");
        }
        for neighbour in [14, b';', b']'] {
            let text = [[b'\n', neighbour]; 400].concat();
            assert!((400..=800).contains(&count_odd(&text)));
        }
    }
}
