//! Anything that a frame can be made of: it is refused, or encoded to octets that decode to it.

#![no_main]

#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/support/mod.rs"]
mod support;

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use stomp_proto::codec::{ContentLength, encode};
use stomp_proto::frame::name;
use stomp_proto::{Command, Frame, Version};
use support::{Item, Plain, Setup};

fuzz_target!(|input: &[u8]| {
    let Some((first, octets)) = input.split_first() else { return };
    let version = Version::ALL[usize::from(*first) % 3];
    let lengths = [ContentLength::Automatic, ContentLength::Omit];
    let content_length = lengths[usize::from(first / 3) % 2];
    let Some(frame) = plain(octets) else { return };
    // A decoder wants no more than 128.
    if frame.headers.len() > 100 {
        return;
    }
    let headers = frame.headers.iter();
    let start = Frame::builder(frame.command).body(frame.body.clone());
    let built = headers.fold(start, |built, (name, value)| built.header(name, value)).build();
    let mut out = BytesMut::from("before");
    let encoded = encode(built.as_frame_ref(), version, content_length, &mut out);
    if encoded.is_err() {
        return assert_eq!(out, "before");
    }
    let setup = Setup { version: Some(version), ..Setup::default() };
    let outcome = setup.decode([&out["before".len()..]]);
    assert_eq!((outcome.rest, outcome.finish), (Ok(Vec::new()), Ok(())));
    let [Item::Frame(mut decoded)] = <[_; 1]>::try_from(outcome.items).unwrap() else {
        panic!("no frame")
    };
    if decoded.headers.len() > frame.headers.len() {
        let (name, value) = decoded.headers.pop().unwrap();
        assert_eq!((&*name, value), (name::CONTENT_LENGTH, frame.body.len().to_string()));
    }
    assert_eq!(decoded, frame);
});

/// A command, then names and values by turns that FF ends, the last of which is the body.
fn plain(octets: &[u8]) -> Option<Plain> {
    let (command, rest) = octets.split_first()?;
    let command = Command::ALL[usize::from(*command) % Command::ALL.len()];
    let mut texts: Vec<_> = rest.split(|octet| *octet == 0xff).collect();
    let body = texts.pop()?.to_vec();
    let text = |octets: &&[u8]| String::from_utf8(octets.to_vec()).ok();
    let headers = texts.chunks_exact(2).map(|pair| Some((text(&pair[0])?, text(&pair[1])?)));
    Some(Plain { command, headers: headers.collect::<Option<_>>()?, malformed: vec![], body })
}
