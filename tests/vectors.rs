//! Runs the codec vectors: octets to frames and frames to octets, in every version.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a vector that cannot be read is a failure")]

mod support;

use core::fmt::Debug;

use bytes::BytesMut;
use serde_json::Value;
use stomp_proto::codec::{ContentLength, MalformedHeader, encode};
use stomp_proto::{Command, Frame, Version};
use support::{Item, Plain, Setup};

const VECTORS: &str = include_str!("data/codec-vectors.jsonl");

#[test]
fn decode_vectors_hold_however_the_octets_are_cut() {
    let vectors = vectors("decode");
    assert!(!vectors.is_empty());
    for vector in vectors {
        let id = &vector["id"];
        let outcome = setup(&vector).outcome(&octets(&vector["in"]));
        let found: Vec<_> = outcome.items.iter().filter_map(as_frame).collect();
        let headers = |frame: &Value| read_headers(&frame[1]);
        let frames: Vec<_> = list(&vector["frames"])
            .iter()
            .map(|frame| (command(&frame[0]), headers(frame), octets(&frame[2])))
            .collect();
        let plain = |frame: &&Plain| (frame.command, frame.headers.clone(), frame.body.clone());
        assert_eq!(found.iter().map(plain).collect::<Vec<_>>(), frames, "{id}");
        let kept: Vec<_> = list(&vector["kept"]).iter().map(octets).collect();
        assert_eq!(
            found.iter().flat_map(|f| f.malformed.clone()).collect::<Vec<_>>(),
            kept,
            "{id}"
        );
        let ended = vector["eof"] == true;
        match (vector["err"].as_str(), outcome.rest) {
            (None, Ok(rest)) => assert_eq!(rest, octets(&vector["rest"]), "{id}"),
            (Some(kind), Ok(_)) if ended => {
                assert_eq!(variant(outcome.finish.unwrap_err().kind), kind, "{id}");
            }
            (Some(kind), Err(error)) => assert_eq!(variant(error.kind), kind, "{id}"),
            (expected, rest) => panic!("{id}: {rest:?} is not {expected:?}"),
        }
    }
}

#[test]
fn encode_vectors_hold() {
    let vectors = vectors("encode");
    assert!(!vectors.is_empty());
    for vector in vectors {
        let id = &vector["id"];
        let mut frame = Frame::builder(command(&vector["frame"][0]));
        for (name, value) in read_headers(&vector["frame"][1]) {
            frame = frame.header(&name, &value);
        }
        let frame = frame.body(octets(&vector["frame"][2])).build();
        let version = version(&vector["ver"]).unwrap();
        let content_length = match vector["opts"]["content_length"].as_str() {
            None => ContentLength::Automatic,
            Some("omit") => ContentLength::Omit,
            Some(other) => panic!("{id}: {other}"),
        };
        let mut out = BytesMut::from("before");
        let result = encode(frame.as_frame_ref(), version, content_length, &mut out);
        let written = out.strip_prefix(b"before").unwrap();
        assert_eq!(written, octets(&vector["out"]), "{id}");
        assert_eq!(result.err().map(variant).as_deref(), vector["err"].as_str(), "{id}");
    }
}

fn vectors(op: &str) -> Vec<Value> {
    let vectors = VECTORS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    vectors.filter(|vector| vector["op"] == op).collect()
}

fn setup(vector: &Value) -> Setup {
    let mut setup = Setup { version: version(&vector["ver"]), ..Setup::default() };
    setup.config.malformed_header = match vector["malformed"].as_str() {
        Some("reject") => MalformedHeader::Reject,
        Some("keep") => MalformedHeader::Keep,
        other => panic!("malformed: {other:?}"),
    };
    for (option, bound) in vector["opts"].as_object().into_iter().flatten() {
        let bound = bound.as_u64().unwrap().try_into().unwrap();
        let limits = &mut setup.config.limits;
        match option.as_str() {
            "max_body" => limits.max_body_len = bound,
            "max_headers" => limits.max_headers = bound,
            "max_head_len" => limits.max_head_len = bound,
            other => panic!("option {other}"),
        }
    }
    setup
}

fn version(ver: &Value) -> Option<Version> {
    match ver.as_str().unwrap() {
        "pre" => None,
        ver => Some(Version::parse(ver).unwrap()),
    }
}

fn command(word: &Value) -> Command {
    Command::ALL.into_iter().find(|command| *word == command.as_str()).unwrap()
}

fn read_headers(headers: &Value) -> Vec<(String, String)> {
    let text = |field: &Value| String::from_utf8(octets(field)).unwrap();
    list(headers).iter().map(|header| (text(&header[0]), text(&header[1]))).collect()
}

/// The octets that a string stands for as Latin-1; none if there is no string.
fn octets(latin_1: &Value) -> Vec<u8> {
    let text = latin_1.as_str().unwrap_or_default();
    text.chars().map(|octet| u8::try_from(octet).unwrap()).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn as_frame(item: &Item) -> Option<&Plain> {
    match item {
        Item::Eol => None,
        Item::Frame(frame) => Some(frame),
    }
}

/// The name of a variant, without its fields.
fn variant(error: impl Debug) -> String {
    format!("{error:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}
