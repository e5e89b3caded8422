//! Field cases about limits: floods end early, honest peers fit in.

use core::iter::once;

use stomp_proto::codec::DecodeErrorKind::{
    BodyTooLong, HeadTooLong, TooManyHeaders, UnknownCommand,
};
use stomp_proto::codec::{DecodeError, DecoderConfig, Item, MalformedHeader};
use stomp_proto::{Command, Frame, Version};

use crate::expect::{ANY, either, failed, frame, waiting, whole};
use crate::support::{Outcome, Setup};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// field case B120
#[test]
fn a_flood_of_headers_ends_at_the_limit_whatever_they_are() {
    for version in ANY {
        for line in ["h1:v\n", "k:\n", "key:value\r\n", "content-length:5\n"] {
            let flood = format!("CONNECT\n{}", line.repeat(129));
            let last = flood.len() - line.len();
            let outcome = outcome(version, flood.as_bytes());
            assert_eq!(outcome, failed([], TooManyHeaders { limit: 128 }, last as u64));
            let end_of_last = &flood.as_bytes()[..flood.len() - 1];
            let waits = Setup { version, ..Setup::default() }.decode(once(end_of_last));
            assert_eq!(waits, waiting([], end_of_last, end_of_last.len() as u64));
        }
        let mut setup = Setup { version, ..Setup::default() };
        setup.config.malformed_header = MalformedHeader::Keep;
        setup.config.limits.max_headers = 3;
        let outcome = setup.outcome(b"SEND\na:1\nnocolon\n:v\nb:2\n\n\0");
        assert_eq!(outcome, failed([], TooManyHeaders { limit: 3 }, 20), "malformed ones count");
    }
}

/// field case B120, without line ends
#[test]
fn a_head_without_an_end_ends_at_the_limit() {
    for version in ANY {
        let outcome = either(version, b"SENDSENDSENDSENDSENDSENDSENDSENDSENDSENDSEND");
        assert_eq!(outcome, failed([], UnknownCommand, 4));
        let mut setup = Setup { version, ..Setup::default() };
        setup.config.limits.max_head_len = 24;
        setup.config.limits.max_connect_head_len = 24;
        for flood in [
            "SEND\nxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "SEND\nk:vvvvvvvvvvvvvvvvvvvvvvvvvv",
            "SEND\na:1\nb:2\nc:3\nd:4\ne:5\nf:6\n",
            "SEND\nkkkkkkkkkk:vvvvvvvv\nxxxxx\0",
        ] {
            let flood = flood.as_bytes();
            let too_long = failed([], HeadTooLong { limit: 24 }, 24);
            assert_eq!(setup.outcome(flood), too_long);
            assert_eq!(setup.outcome(&flood[..25]), too_long, "no octet later");
            assert_eq!(setup.outcome(&flood[..24]), waiting([], &flood[..24], 24));
        }
        let fits = setup.outcome(b"SEND\nkey:0123456789abc\n\nbody\0");
        let send = frame(Command::Send, &[("key", "0123456789abc")], b"body");
        assert_eq!(fits, whole([send]), "24 octets, the blank line among them");
    }
}

/// field case B122
#[test]
fn before_login_the_budget_is_smaller_however_it_is_spent() {
    let too_long = HeadTooLong { limit: 16 * KIB };
    let one_line = format!("CONNECT\nx-pad:{}", "a".repeat(70_000));
    assert_eq!(outcome(None, one_line.as_bytes()), failed([], too_long, 16 << 10));
    let long_lines = format!("CONNECT\n{}", format!("x-pad:{}\n", "a".repeat(699)).repeat(100));
    assert_eq!(outcome(None, long_lines.as_bytes()), failed([], too_long, 16 << 10));
    let body = format!("CONNECT\n\n{}", "a".repeat(70_000));
    let too_long = BodyTooLong { limit: 16 * KIB };
    assert_eq!(outcome(None, body.as_bytes()), failed([], too_long, 9 + (16 << 10)));
    let reason = "a".repeat(70_000);
    let error = frame(Command::Error, &[], reason.as_bytes());
    let octets = format!("ERROR\n\n{reason}\0");
    assert_eq!(outcome(None, octets.as_bytes()), whole([error]), "says why there is no login");
}

/// field case B122, after login
#[test]
fn once_a_version_is_set_the_budget_is_the_full_one() {
    for version in Version::ALL {
        let mut decoder = Setup::default().decoder();
        decoder.push(b"CONNECT\n\n\0");
        let connect = Frame::builder(Command::Connect).build();
        assert_eq!(decoder.next_item(), Ok(Some(Item::Frame(connect))));
        decoder.set_version(version);
        let value = "a".repeat(64 * KIB - "SEND\nk:\n\n".len());
        let send = format!("SEND\nk:{value}\n\n\0");
        for octets in send.as_bytes().chunks(1448) {
            assert_eq!(decoder.next_item(), Ok(None));
            decoder.push(octets);
        }
        let send = Frame::builder(Command::Send).header("k", &value).build();
        assert_eq!(decoder.next_item(), Ok(Some(Item::Frame(send))), "64 KiB");
        decoder.push(format!("SEND\nk:{value}a\n\n\0").as_bytes());
        let kind = HeadTooLong { limit: 64 * KIB };
        let offset = (10 + 64 * KIB + 1 + 64 * KIB) as u64;
        assert_eq!(decoder.next_item(), Err(DecodeError { kind, offset }));
    }
}

/// field case B123
#[test]
fn the_defaults_hold_what_honest_peers_send_and_can_be_changed() {
    for len in [4096, 15 * KIB] {
        let token = "a".repeat(len);
        let connect = format!("CONNECT\naccept-version:1.2\nhost:/\npasscode:{token}\n\n\0");
        let headers = [("accept-version", "1.2"), ("host", "/"), ("passcode", &token)];
        let expected = whole([frame(Command::Connect, &headers, b"")]);
        assert_eq!(outcome(None, connect.as_bytes()), expected);
    }
    let body = vec![b'x'; 4 * MIB];
    for version in Version::ALL {
        let setup = Setup { version: Some(version), ..Setup::default() };
        for (line, headers) in
            [("", &[][..]), ("content-length:4194304\n", &[("content-length", "4194304")][..])]
        {
            let octets = [format!("SEND\n{line}\n").as_bytes(), &body, b"\0"].concat();
            let sent = whole([frame(Command::Send, headers, &body)]);
            assert_eq!(setup.decode(octets.chunks(64 * KIB)), sent);
        }
    }
    let mut config = DecoderConfig::default();
    config.limits.max_connect_head_len = MIB;
    config.limits.max_headers = 20_000;
    let setup = Setup { version: None, config };
    let octets = format!("CONNECT\n{}\n\0", "header:of twenty-five octets\n".repeat(20_000));
    let headers = [("header", "of twenty-five octets")].repeat(20_000);
    let expected = whole([frame(Command::Connect, &headers, b"")]);
    assert_eq!(setup.decode(once(octets.as_bytes())), expected);
}

/// What becomes of a long stream, whole and in reads of several sizes.
fn outcome(version: impl Into<Option<Version>>, octets: &[u8]) -> Outcome {
    let setup = Setup { version: version.into(), ..Setup::default() };
    let whole = setup.decode(once(octets));
    assert_eq!(setup.scan(once(octets)), whole);
    for size in [1, 7, 1448] {
        assert_eq!(setup.decode(octets.chunks(size)), whole, "reads of {size}");
        assert_eq!(setup.scan(octets.chunks(size)), whole, "reads of {size}");
    }
    whole
}
