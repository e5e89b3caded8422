//! Properties of the codec, on generated frames and octets.

#[path = "support/naive.rs"]
mod naive;
#[path = "support/streams.rs"]
mod streams;
mod support;

use core::iter::once;

use bytes::{Buf, BytesMut};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use stomp_proto::codec::{self, ContentLength, DecodeError, Decoder, EncodeError, Step, encode};
use stomp_proto::frame::name;
use stomp_proto::{Frame, Version};
use streams::{
    any_frames, built, can_carry, carried_frames, in_reads, mutated_streams, nasty_octets,
    read_sizes, setups, tight_limits, versions,
};
use support::{Item, Outcome, Plain, Setup, take_items};

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(cases(600))]

    /// requirements H-011, B-001, F-018
    #[test]
    fn what_is_encoded_decodes_to_itself(
        (version, frame) in versions().prop_flat_map(|v| (Just(v), carried_frames(v))),
    ) {
        let mut out = BytesMut::new();
        encode(built(&frame).as_frame_ref(), version, ContentLength::Automatic, &mut out).unwrap();
        let mut expected = frame;
        let announced = expected.headers.iter().any(|(name, _)| name == name::CONTENT_LENGTH);
        if !announced && !expected.body.is_empty() {
            let len = expected.body.len().to_string();
            expected.headers.push((name::CONTENT_LENGTH.into(), len));
        }
        let escapes = can_carry(version, expected.command, ':');
        if escapes {
            let head = out[..].split(|octet| *octet == b'\n').skip(1);
            for line in head.take_while(|line| !line.is_empty()) {
                let parts = line.split(|octet| *octet == b':').count();
                prop_assert_eq!(parts, 2, "{}", line.escape_ascii());
                prop_assert!(!line.contains(&b'\r'), "{}", line.escape_ascii());
            }
        }
        let setup = Setup { version: Some(version), ..Setup::default() };
        prop_assert_eq!(setup.outcome(&out), only(expected.clone()));
        let mut decoder = setup.decoder();
        decoder.push(&out);
        let Ok(Some(codec::Item::Frame(decoded))) = decoder.next_item() else { panic!("no frame") };
        for (name, _) in &expected.headers {
            let all = expected.headers.iter().filter(|header| header.0 == *name);
            let all: Vec<_> = all.map(|(_, value)| value.as_str()).collect();
            let first = decoded.header(name);
            prop_assert_eq!(first.as_deref(), all.first().copied());
            prop_assert_eq!(decoded.headers().get_all(name).collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn what_is_encoded_without_a_length_decodes_to_itself(
        (version, mut frame) in versions().prop_flat_map(|v| (Just(v), carried_frames(v))),
    ) {
        frame.body.retain(|octet| *octet != 0);
        frame.headers.retain(|(name, _)| name != name::CONTENT_LENGTH);
        let mut out = BytesMut::new();
        encode(built(&frame).as_frame_ref(), version, ContentLength::Omit, &mut out).unwrap();
        let setup = Setup { version: Some(version), ..Setup::default() };
        prop_assert_eq!(setup.outcome(&out), only(frame));
    }

    /// requirements H-013, H-014, H-016, B-004, B-012
    #[test]
    fn exactly_what_cannot_be_carried_is_refused_and_then_nothing_is_written(
        version in versions(),
        mut frame in any_frames(),
        announced in select(&[None, None, Some(0), Some(1)]),
        content_length in select(&[ContentLength::Automatic, ContentLength::Omit]),
    ) {
        if let Some(excess) = announced {
            let len = frame.body.len() + excess;
            frame.headers.push((name::CONTENT_LENGTH.into(), len.to_string()));
        }
        let mut out = BytesMut::from("before");
        let result = encode(built(&frame).as_frame_ref(), version, content_length, &mut out);
        let refusal = refusal(&frame, version, content_length);
        prop_assert_eq!(&out[..] == b"before", refusal.is_some());
        prop_assert_eq!(result.err(), refusal);
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    /// requirement F-019
    #[test]
    fn reads_of_any_size_give_the_same_items_and_the_same_error_at_the_same_offset(
        (setup, stream) in setups().prop_flat_map(with_mutated_stream),
        sizes in read_sizes(),
    ) {
        let whole = setup.decode(once(stream.as_slice()));
        prop_assert_eq!(&setup.decode(in_reads(&stream, &sizes)), &whole);
        prop_assert_eq!(&setup.scan(in_reads(&stream, &sizes)), &whole);
    }

    #[test]
    fn sound_streams_with_some_octets_changed_decode_as_the_naive_twin_says(
        (setup, stream) in setups().prop_flat_map(with_mutated_stream),
    ) {
        prop_assert_eq!(setup.outcome(&stream), naive::decode(&stream, &setup));
    }
}

proptest! {
    #![proptest_config(cases(6000))]

    /// A relay writes what it has read, line ends apart.
    #[test]
    fn what_was_received_is_encoded_to_octets_that_decode_to_it(
        (version, stream) in versions().prop_flat_map(|v| (Just(v), mutated_streams(v))),
    ) {
        let setup = Setup { version: Some(version), ..Setup::default() };
        let mut decoder = setup.decoder();
        decoder.push(&stream);
        while let Ok(Some(item)) = decoder.next_item() {
            let codec::Item::Frame(frame) = item else { continue };
            let mut out = BytesMut::new();
            if encode(frame.as_frame_ref(), version, ContentLength::Automatic, &mut out).is_err() {
                continue;
            }
            let Item::Frame(mut expected) = frame.as_frame_ref().into() else { continue };
            let announced = expected.headers.iter().any(|(name, _)| name == name::CONTENT_LENGTH);
            if !announced && !expected.body.is_empty() {
                let len = expected.body.len().to_string();
                expected.headers.push((name::CONTENT_LENGTH.into(), len));
            }
            prop_assert_eq!(setup.decode(once(&out[..])), only(expected));
        }
    }

    #[test]
    fn nasty_octets_decode_as_the_naive_twin_says(setup in setups(), octets in nasty_octets()) {
        prop_assert_eq!(setup.outcome(&octets), naive::decode(&octets, &setup));
    }

    #[test]
    fn any_octets_decode_as_the_naive_twin_says(
        setup in setups(),
        octets in vec(any::<u8>(), 0..200),
    ) {
        prop_assert_eq!(setup.outcome(&octets), naive::decode(&octets, &setup));
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_version_holds_for_all_of_the_frame_that_is_being_received(
        setup in setups(),
        version in versions(),
        octets in nasty_octets(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (start, rest) = octets.split_at(cut.index(octets.len() + 1));
        let mut decoder = Setup { version: None, ..setup.clone() }.decoder();
        decoder.push(start);
        prop_assume!(decoder.next_item() == Ok(None));
        decoder.set_version(version);
        decoder.push(rest);
        let mut items = Vec::new();
        let error = take_items(&mut decoder, &mut items).err();
        let expected = Setup { version: Some(version), ..setup }.outcome(&octets);
        prop_assert_eq!(items, expected.items);
        prop_assert_eq!(error, expected.rest.err());
    }

    /// requirement H-022
    #[test]
    fn a_version_holds_from_the_frame_behind_on_though_both_came_in_one_read(
        mut setup in setups(),
        version in versions(),
        octets in nasty_octets(),
    ) {
        const CONNECT: &[u8] = b"CONNECT\n\n\0";
        setup.config.limits.max_connect_head_len += CONNECT.len();
        let mut decoder = Setup { version: None, ..setup.clone() }.decoder();
        decoder.push(&[CONNECT, &octets].concat());
        prop_assert!(matches!(decoder.next_item(), Ok(Some(codec::Item::Frame(_)))));
        decoder.set_version(version);
        let mut items = Vec::new();
        let error = take_items(&mut decoder, &mut items).err();
        setup.version = Some(version);
        let expected = setup.outcome(&octets);
        prop_assert_eq!(items, expected.items);
        let moved = |error: DecodeError| DecodeError {
            offset: error.offset + CONNECT.len() as u64,
            ..error
        };
        prop_assert_eq!(error, expected.rest.err().map(moved));
    }

    /// requirement L-005
    #[test]
    fn what_a_decoder_holds_stays_within_its_limits(
        version in option::of(versions()),
        limits in tight_limits(),
        start in nasty_octets(),
        flood in select(FLOODS),
        sizes in read_sizes(),
    ) {
        let most = limits.max_head_len.max(limits.max_connect_head_len)
            + limits.max_body_len.max(limits.max_connect_head_len);
        let longest_read = sizes.iter().copied().max().unwrap_or_default();
        let mut setup = Setup { version, ..Setup::default() };
        setup.config.limits = limits;
        let mut decoder = setup.decoder();
        let stream = [start, flood.repeat(40)].concat();
        for read in in_reads(&stream, &sizes) {
            decoder.push(read);
            while let Ok(Some(_)) = decoder.next_item() {}
            if decoder.next_item().is_err() {
                break;
            }
            prop_assert!(decoder.buffered() <= most);
            // `BytesMut` doubles, and may do so before it moves what is left to the front.
            prop_assert!(decoder.buffer().capacity() <= 4 * most + 2 * longest_read.max(32));
        }
    }

    #[test]
    fn a_caller_who_misuses_the_inbox_gets_no_panic(
        setup in setups(),
        calls in vec(calls(), 1..24),
    ) {
        let mut decoder = setup.decoder();
        for call in calls {
            call.make(&mut decoder);
            match decoder.next_item() {
                Ok(Some(codec::Item::Frame(frame))) => read_all_of(&frame),
                Ok(_) => {}
                Err(error) => {
                    prop_assert_eq!(decoder.next_item(), Err(error));
                    prop_assert_eq!(decoder.finish(), Err(error));
                }
            }
            let _ = (decoder.finish(), decoder.command());
        }
    }

    #[test]
    fn a_caller_who_shows_another_buffer_each_time_gets_no_panic(
        setup in setups(),
        buffers in vec((nasty_octets(), option::weighted(0.1, versions())), 1..8),
    ) {
        let mut scanner = setup.scanner();
        for (buffer, version) in buffers {
            if let Some(version) = version {
                scanner.set_version(version);
            }
            match scanner.advance(&buffer) {
                Ok(Step::Frame { consumed, frame }) => {
                    prop_assert!(consumed <= buffer.len());
                    read_all_of(&frame.to_frame());
                }
                Ok(Step::Eol { consumed } | Step::Nul { consumed }) => {
                    prop_assert!(consumed <= buffer.len());
                }
                Ok(Step::NeedMore) => {}
                Err(error) => prop_assert_eq!(scanner.finish(&buffer), Err(error)),
            }
            let _ = (scanner.finish(&buffer), scanner.command());
        }
    }
}

/// What a peer can send without an end.
const FLOODS: &[&[u8]] = &[
    b"x",
    b"\n",
    b"\0",
    b"SEND\n",
    b"key:value\n",
    b"SEND\n\nabc\0",
    b"CONNECT\nhost:h\n\n\0",
    b"MESSAGE\ncontent-length:9\n\n",
];

fn with_mutated_stream(setup: Setup) -> impl Strategy<Value = (Setup, Vec<u8>)> {
    let version = setup.version.unwrap_or(Version::V1_0);
    (Just(setup), mutated_streams(version))
}

fn only(frame: Plain) -> Outcome {
    Outcome { items: vec![Item::Frame(frame)], rest: Ok(Vec::new()), finish: Ok(()) }
}

/// Why a frame without a body where none may be cannot be written.
fn refusal(frame: &Plain, version: Version, content_length: ContentLength) -> Option<EncodeError> {
    let Plain { command, ref headers, ref body, .. } = *frame;
    for (name, value) in headers {
        if name.is_empty() {
            return Some(EncodeError::EmptyName);
        }
        if name == name::CONTENT_LENGTH && *value != body.len().to_string() {
            return Some(EncodeError::ContentLengthMismatch { body_len: body.len() });
        }
        let carried = name.chars().all(|octet| can_carry(version, command, octet))
            && value.chars().all(|octet| octet == ':' || can_carry(version, command, octet))
            && !(version == Version::V1_0 && value.starts_with([' ', '\t']));
        if !carried {
            let name = name.as_str().into();
            return Some(EncodeError::Unrepresentable { name, command, version });
        }
    }
    let announced = headers.iter().any(|(name, _)| name == name::CONTENT_LENGTH);
    let omitted = !announced && content_length == ContentLength::Omit;
    (omitted && body.contains(&0)).then_some(EncodeError::NulWithoutContentLength)
}

/// What a caller may do to a decoder, whether it should or not.
#[derive(Clone, Debug)]
enum Call {
    Push(Vec<u8>),
    Clear,
    Truncate(usize),
    Advance(usize),
    Overwrite(u8),
    Replace(Vec<u8>),
    SetVersion(Version),
}

fn calls() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => nasty_octets().prop_map(Call::Push),
        1 => Just(Call::Clear),
        1 => (0..40usize).prop_map(Call::Truncate),
        1 => (0..9usize).prop_map(Call::Advance),
        1 => select(&b"\0\n\\:x\xff"[..]).prop_map(Call::Overwrite),
        1 => nasty_octets().prop_map(Call::Replace),
        1 => versions().prop_map(Call::SetVersion),
    ]
}

impl Call {
    fn make(self, decoder: &mut Decoder) {
        let inbox = decoder.buffer();
        match self {
            Self::Push(octets) => decoder.push(&octets),
            Self::Clear => inbox.clear(),
            Self::Truncate(len) => inbox.truncate(len),
            Self::Advance(len) => inbox.advance(len.min(inbox.len())),
            Self::Overwrite(octet) => inbox.fill(octet),
            Self::Replace(octets) => *inbox = BytesMut::from(&octets[..]),
            Self::SetVersion(version) => decoder.set_version(version),
        }
    }
}

/// Reads a frame in every way there is.
fn read_all_of(frame: &Frame) {
    let compact = frame.to_compact();
    assert_eq!(&compact, frame);
    assert_eq!(Item::from(compact.as_frame_ref()), Item::from(frame.as_frame_ref()));
    let headers = frame.headers();
    for header in headers.iter() {
        assert!(header.value().len() <= header.raw_value().len());
        assert!(headers.get_all(&header.name()).count() <= headers.len());
    }
    assert!(format!("{frame:?}").starts_with(frame.command().as_str()));
}

/// Wherever the CRs stand, a frame leaves without them.
#[test]
fn line_ends_of_a_relayed_frame_are_lf() {
    let lines = ["SEND", "a:b", "content-length:2", "c:d", ""];
    for with_cr in 0..1 << lines.len() {
        let end = |line| if with_cr >> line & 1 == 1 { "\r\n" } else { "\n" };
        let lines = lines.iter().enumerate().map(|(at, line)| [line, end(at)].concat());
        let head: String = lines.collect();
        for version in Version::ALL {
            let mut decoder = Setup { version: Some(version), ..Setup::default() }.decoder();
            decoder.push(format!("{head}hi\0").as_bytes());
            let Ok(Some(codec::Item::Frame(frame))) = decoder.next_item() else {
                panic!("no frame")
            };
            let mut out = BytesMut::new();
            encode(frame.as_frame_ref(), version, ContentLength::Automatic, &mut out).unwrap();
            assert_eq!(out, "SEND\na:b\ncontent-length:2\nc:d\n\nhi\0");
        }
    }
}
