//! What the octets cost to touch: copied, searched for NUL, scanned without a check, or read as HTTP.

use core::hint::black_box;

use wide::u8x16;

use super::{Decode, Read};
use crate::corpora::Corpus;
use crate::tally::Tally;

const WHOLE_ONLY: &str = "it keeps nothing between reads: measured on whole frames only";

/// Octets that lie in blocks of 64.
const BLOCK: usize = 64;

struct Memcpy {
    unit_len: usize,
    body_len: usize,
    out: Vec<u8>,
}

pub(super) fn memcpy(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    let (unit_len, body_len) = (corpus.unit.len(), corpus.body_len);
    Ok(Box::new(Memcpy { unit_len, body_len, out: Vec::with_capacity(2 << 20) }))
}

impl Decode for Memcpy {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.out.extend_from_slice(black_box(octets));
        if self.out.len().is_multiple_of(self.unit_len) {
            (0..self.out.len() / self.unit_len).for_each(|_| tally.skip(self.body_len));
            black_box(&self.out);
            self.out.clear();
        }
        Ok(())
    }
}

struct Memchr {
    head_len: usize,
}

pub(super) fn memchr(corpus: &Corpus, read: Read) -> Result<Box<dyn Decode>, &'static str> {
    whole(read)?;
    Ok(Box::new(Memchr { head_len: corpus.head_len }))
}

impl Decode for Memchr {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        let mut rest = black_box(octets);
        while let Some(len) = memchr::memchr(0, rest) {
            tally.skip(len - eols(rest) - self.head_len);
            rest = &rest[len + 1..];
        }
        Ok(())
    }
}

struct LowerBound;

/// Finds line ends, colons, `content-length` and the end of the body. It checks nothing, keeps
/// nothing and cannot stop within a frame: no decoder does with less.
pub(super) fn lower_bound(_: &Corpus, read: Read) -> Result<Box<dyn Decode>, &'static str> {
    whole(read)?;
    Ok(Box::new(LowerBound))
}

impl Decode for LowerBound {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        let mut at = 0;
        loop {
            at += eols(&octets[at..]);
            if at == octets.len() {
                return Ok(());
            }
            let (body, len) = head(octets, at);
            let len = match len {
                Some(len) => len,
                None => memchr::memchr(0, &octets[body..]).ok_or("no NUL")?,
            };
            tally.skip(len);
            at = body + len + 1;
        }
    }
}

/// Where the body of the frame at `start` begins, and its announced length.
#[inline]
fn head(octets: &[u8], start: usize) -> (usize, Option<usize>) {
    let (mut line, mut colon) = (start, usize::MAX);
    let mut announced = None;
    let mut headers = 0_usize;
    let mut at = start;
    loop {
        let mut found = match octets.get(at..).and_then(<[u8]>::first_chunk) {
            Some(block) => marks(block),
            None => {
                let mut block = [b' '; BLOCK];
                let rest = &octets[at..];
                block[..rest.len()].copy_from_slice(rest);
                marks(&block)
            }
        };
        while found != 0 {
            let mark = at + found.trailing_zeros() as usize;
            found &= found - 1;
            if octets[mark] == b':' {
                colon = colon.min(mark);
                continue;
            }
            if mark == line {
                black_box(headers);
                return (mark + 1, announced);
            }
            if colon.wrapping_sub(line) == 14 && octets[line..].starts_with(b"content-length") {
                announced = Some(decimal(&octets[colon + 1..mark]));
            }
            headers += 1;
            (line, colon) = (mark + 1, usize::MAX);
        }
        at += BLOCK;
    }
}

/// A bit for each line end and colon.
#[inline]
fn marks(block: &[u8; BLOCK]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().rev().fold(0, |bits, quarter| {
        let octets = u8x16::new(*quarter);
        let marks = octets.simd_eq(u8x16::splat(b'\n')) | octets.simd_eq(u8x16::splat(b':'));
        bits << 16 | u64::from(marks.to_bitmask())
    })
}

fn decimal(digits: &[u8]) -> usize {
    digits.iter().fold(0, |value, digit| value * 10 + usize::from(digit & 0xf))
}

fn eols(octets: &[u8]) -> usize {
    octets.iter().take_while(|&&octet| octet == b'\n').count()
}

struct Httparse {
    /// As many heads as there are frames in a read, as HTTP has them, with the same header lines.
    heads: Vec<u8>,
    head_len: usize,
    body_len: usize,
}

pub(super) fn httparse(corpus: &Corpus, read: Read) -> Result<Box<dyn Decode>, &'static str> {
    whole(read)?;
    let head = corpus.unit[..corpus.head_len].to_vec();
    let head = String::from_utf8(head).map_err(|_| "no text")?;
    let (_, lines) = head.split_once('\n').ok_or("no head")?;
    let head = format!("HTTP/1.1 200 OK\n{lines}").replace('\n', "\r\n");
    let (head_len, body_len) = (head.len(), corpus.body_len);
    let heads = head.repeat(read.len(corpus) / corpus.unit.len()).into_bytes();
    Ok(Box::new(Httparse { heads, head_len, body_len }))
}

impl Decode for Httparse {
    fn read(&mut self, _: &[u8], tally: &mut Tally) -> Result<(), String> {
        let mut rest = black_box(&self.heads[..]);
        while !rest.is_empty() {
            let mut headers = [httparse::EMPTY_HEADER; 16];
            let mut response = httparse::Response::new(&mut headers);
            match response.parse(rest) {
                Ok(httparse::Status::Complete(len)) if len == self.head_len => {
                    black_box(&response);
                    tally.skip(self.body_len);
                    rest = &rest[len..];
                }
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(())
    }
}

fn whole(read: Read) -> Result<(), &'static str> {
    if read == Read::Whole { Ok(()) } else { Err(WHOLE_ONLY) }
}
