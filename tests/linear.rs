//! Work is linear however the octets drip in: what was looked at is not looked at again.
//!
//! Shown without a clock. Between two calls the octets that the first has seen are overwritten with
//! NULs. Whoever looks at one of them again finds a NUL inside a head, or a body that ends early.

use core::ops::Range;

use stomp_proto::Version;
use stomp_proto::codec::{
    DecodeError, DecodeErrorKind, Decoder, DecoderConfig, Item, Scanner, Step,
};

const READS: Range<usize> = 1..70;

#[test]
fn a_head_of_plain_lines_is_looked_at_once() {
    let line = format!("name:{}\n", "value".repeat(40));
    let stream = format!("MESSAGE\n{}\n\0", line.repeat(20));
    for read in READS {
        let seen = |buffer: &[u8]| "MESSAGE\n".len()..buffer.len();
        assert_eq!(drip(&stream, read, seen), Ok(Some(20)), "reads of {read}");
    }
}

/// A line with an escape, a CR or octets beyond ASCII is looked at once more when its end is there.
#[test]
fn a_line_that_has_ended_is_not_looked_at_again() {
    let odd = "caf\u{e9}\\c:\\\\\u{20ac}\\n\r\ncontent-length:4\r\nkey:value\r\n";
    let stream = format!("MESSAGE\r\n{}\r\nbody\0", odd.repeat(10));
    for read in READS {
        let mut ended = 0;
        let seen = |buffer: &[u8]| {
            let line = buffer.iter().rposition(|octet| *octet == b'\n').map_or(0, |end| end + 1);
            ended = ended.max(line);
            "MESSAGE\r\n".len()..ended
        };
        assert_eq!(drip(&stream, read, seen), Ok(Some(30)), "reads of {read}");
    }
}

#[test]
fn a_body_without_a_length_is_looked_at_once() {
    let head = "MESSAGE\nkey:value\n\n";
    let stream = format!("{head}{}\0", "body".repeat(1000));
    for read in READS {
        let seen = |buffer: &[u8]| head.len()..buffer.len();
        assert_eq!(drip(&stream, read, seen), Ok(Some(1)), "reads of {read}");
    }
}

/// Otherwise the tests above would show nothing.
#[test]
fn whoever_looks_again_is_found_out() {
    let mut buffer = *b"MESSAGE\nname:value\n";
    assert!(matches!(scanner().advance(&buffer), Ok(Step::NeedMore)));
    buffer[8..].fill(0);
    let error = DecodeError { kind: DecodeErrorKind::NulInHead, offset: 8 };
    assert_eq!(scanner().advance(&buffer).map(|_| ()), Err(error));
}

/// Feeds one frame in reads of a size; `seen` says what to overwrite when it waits for more.
///
/// The number of headers that a scanner and a decoder find, if both find the end of the frame where
/// it is.
fn drip(
    stream: &str,
    read: usize,
    mut seen: impl FnMut(&[u8]) -> Range<usize>,
) -> Result<Option<usize>, DecodeError> {
    let (mut scanner, mut decoder) = (scanner(), Decoder::new(DecoderConfig::default()));
    decoder.set_version(Version::V1_2);
    let mut buffer = Vec::new();
    for octets in stream.as_bytes().chunks(read) {
        buffer.extend_from_slice(octets);
        decoder.push(octets);
        let item = decoder.next_item()?;
        match (scanner.advance(&buffer)?, item) {
            (Step::Frame { consumed, frame }, Some(Item::Frame(owned))) => {
                let headers = frame.headers().len();
                let whole = consumed == stream.len() && decoder.buffered() == 0;
                return Ok((whole && headers == owned.headers().len()).then_some(headers));
            }
            (Step::NeedMore, None) => {}
            _ => return Ok(None),
        }
        let seen = seen(&buffer);
        if let Some(octets) = buffer.get_mut(seen.clone()) {
            octets.fill(0);
        }
        if let Some(octets) = decoder.buffer().get_mut(seen) {
            octets.fill(0);
        }
        let waits = matches!(scanner.advance(&buffer)?, Step::NeedMore);
        if !waits || decoder.next_item()?.is_some() {
            return Ok(None);
        }
    }
    Ok(None)
}

fn scanner() -> Scanner {
    let mut scanner = Scanner::new(DecoderConfig::default());
    scanner.set_version(Version::V1_2);
    scanner
}
