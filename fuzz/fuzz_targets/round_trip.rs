//! What is decoded from any octets is encoded to octets that decode to the same, unless it is said why
//! not.

#![no_main]

#[expect(dead_code, reason = "the tests want more of it")]
#[path = "../../tests/support/mod.rs"]
mod support;

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use stomp_proto::Version;
use stomp_proto::codec::{ContentLength, Decoder, DecoderConfig, EncodeError, Item, encode};
use stomp_proto::frame::name;
use support::{Plain, Setup};

fuzz_target!(|input: &[u8]| {
    let Some((first, octets)) = input.split_first() else { return };
    let version = Version::ALL[usize::from(*first) % 3];
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(version);
    decoder.push(octets);
    while let Ok(Some(item)) = decoder.next_item() {
        let Item::Frame(frame) = item else { continue };
        let mut out = BytesMut::new();
        match encode(frame.as_frame_ref(), version, ContentLength::Automatic, &mut out) {
            Ok(()) => {
                let support::Item::Frame(mut plain) = frame.as_frame_ref().into() else { continue };
                // Those are not written.
                plain.malformed.clear();
                assert_eq!(decoded(version, &out), with_length(plain));
            }
            Err(EncodeError::ContentLengthMismatch { .. }) => assert!(out.is_empty()),
            Err(error) => {
                // On 1.0 an undefined escape is a backslash, and a CR is data on 1.0 and 1.1.
                assert!(version != Version::V1_2, "{error}: {frame:?}");
                assert!(out.is_empty());
            }
        }
    }
});

fn decoded(version: Version, octets: &[u8]) -> Plain {
    let mut setup = Setup { version: Some(version), ..Setup::default() };
    // With the `content-length` that was added there may be one more than before.
    setup.config.limits.max_headers += 1;
    setup.config.limits.max_head_len += 100;
    let outcome = setup.decode([octets]);
    assert_eq!(outcome.rest, Ok(Vec::new()));
    match <[_; 1]>::try_from(outcome.items) {
        Ok([support::Item::Frame(frame)]) => frame,
        other => panic!("{other:?}"),
    }
}

fn with_length(mut frame: Plain) -> Plain {
    let announced = frame.headers.iter().any(|(name, _)| name == name::CONTENT_LENGTH);
    if !announced && !frame.body.is_empty() {
        frame.headers.push((name::CONTENT_LENGTH.into(), frame.body.len().to_string()));
    }
    frame
}
