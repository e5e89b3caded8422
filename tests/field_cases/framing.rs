//! Field cases about framing: where a frame starts, what stands between frames, what has a body.

use bytes::BytesMut;
use stomp_proto::Version::{V1_0, V1_1, V1_2};
use stomp_proto::codec::DecodeErrorKind::{
    StrayCarriageReturn, TooManyEols, UnexpectedBody, UnknownCommand,
};
use stomp_proto::codec::{self, ContentLength, DecodeError, DecoderConfig, Scanner, Step, encode};
use stomp_proto::{Command, Frame, Version};

use crate::expect::{
    ANY, either, failed, frame, frame_with_malformed, keep, reject, waiting, whole,
};
use crate::support::Item::Eol;
use crate::support::Setup;

/// Whoever took octets away that were looked at gets no frame made of what is gone.
#[test]
fn a_buffer_that_has_become_shorter_is_read_from_its_start() {
    for before in ["SEND\ndestination:/q", "SEND\ncontent-length:9\n\nab", "SEND\n\nabcdef"] {
        let mut scanner = Scanner::new(DecoderConfig::default());
        assert!(matches!(scanner.advance(before.as_bytes()), Ok(Step::NeedMore)));
        assert_eq!(scanner.command(), Some(Command::Send));
        assert!(matches!(scanner.advance(b"ABORT\n"), Ok(Step::NeedMore)));
        assert_eq!(scanner.command(), Some(Command::Abort), "after {before:?}");
        let Ok(Step::Frame { frame, consumed }) = scanner.advance(b"ABORT\na:b\n\n\0") else {
            panic!("no frame after {before:?}")
        };
        assert_eq!((frame.header("a").as_deref(), consumed), (Some("b"), 12));
    }
}

/// field case B12
#[test]
fn eols_behind_a_frame_are_taken_at_once_and_never_written() {
    for version in ANY {
        let counted = [("content-length", "4")];
        for (head, headers) in [("\n\n", &[][..]), ("\ncontent-length:4\n\n", &counted[..])] {
            let octets = format!("MESSAGE{head}body\0\n\n\r\n");
            let message = frame(Command::Message, headers, b"body");
            assert_eq!(either(version, octets.as_bytes()), whole([message, Eol, Eol, Eol]));
        }
    }
    for version in Version::ALL {
        let send = Frame::builder(Command::Send).body("body").build();
        let mut out = BytesMut::new();
        encode(send.as_frame_ref(), version, ContentLength::Omit, &mut out).unwrap();
        assert_eq!(out, "SEND\n\nbody\0");
    }
}

/// field case B14
#[test]
fn stray_nuls_between_frames_are_skipped_but_not_before_a_version_is_agreed() {
    let octets = b"\0\0CONNECT\nhost:/\n\n\0";
    assert_eq!(either(None, octets), failed([], UnknownCommand, 0));
    let connect = || frame(Command::Connect, &[("host", "/")], b"");
    let between = b"CONNECT\nhost:/\n\n\0\n\0";
    assert_eq!(either(None, between), failed([connect(), Eol], UnknownCommand, 18));
    for version in Version::ALL {
        assert_eq!(either(version, octets), whole([connect()]));
        let behind = [octets, &b"\0\0\0\n\0\r\n\0"[..], octets].concat();
        assert_eq!(either(version, &behind), whole([connect(), Eol, Eol, connect()]));
        assert_eq!(either(version, &[0; 40]), whole([]));
    }
}

/// field case B15
#[test]
fn a_line_end_alone_in_a_read_is_part_of_the_frame_it_is_in() {
    let reads = ["MESSAGE", "\n", "a:1", "\n", "\n", "body", "\n", "\0", "\n"];
    for version in ANY {
        let setup = Setup { version, ..Setup::default() };
        let mut decoder = setup.decoder();
        for read in &reads[..7] {
            decoder.push(read.as_bytes());
            assert_eq!(decoder.next_item(), Ok(None), "{read:?}");
        }
        decoder.push(b"\0\n");
        let message = Frame::builder(Command::Message).header("a", "1").body("body\n").build();
        assert_eq!(decoder.next_item(), Ok(Some(codec::Item::Frame(message))));
        assert_eq!(decoder.next_item(), Ok(Some(codec::Item::Eol)));
        assert_eq!(decoder.next_item(), Ok(None));
        let outcome = setup.scan(reads.map(str::as_bytes));
        assert_eq!(outcome, either(version, reads.concat().as_bytes()));
    }
}

/// field case B16
#[test]
fn a_heart_beat_alone_is_an_item_and_no_frame() {
    for version in ANY {
        for octets in ["\n", "\r\n"] {
            assert_eq!(either(version, octets.as_bytes()), whole([Eol]));
            assert_eq!(either(version, octets.repeat(64).as_bytes()), whole(vec![Eol; 64]));
        }
        let many = either(version, &[b'\n'; 65]);
        match version {
            Some(_) => assert_eq!(many, whole(vec![Eol; 65])),
            None => {
                assert_eq!(many, failed(vec![Eol; 64], TooManyEols { limit: 64 }, 64));
            }
        }
    }
}

/// field case B18
#[test]
fn crlf_is_taken_from_the_first_octet_on() {
    for command in [Command::Connect, Command::Stomp, Command::Connected] {
        for eols in
            [["\r\n"; 4], ["\n"; 4], ["\r\n", "\n", "\r\n", "\n"], ["\n", "\r\n", "\n", "\r\n"]]
        {
            let [a, b, c, d] = eols;
            let octets = format!("{command}{a}accept-version:1.2{b}host:/{c}{d}\0{a}");
            let opened = frame(command, &[("accept-version", "1.2"), ("host", "/")], b"");
            for version in ANY {
                assert_eq!(either(version, octets.as_bytes()), whole([opened.clone(), Eol]));
            }
        }
    }
}

/// field case B20, in a command
#[test]
fn a_carriage_return_inside_a_command_line_is_never_dropped() {
    for version in ANY {
        for (octets, at) in
            [("SE\rND\n\n\0", 2), ("CONNECT\r\r\n\n\0", 8), ("\rSEND\n\n\0", 1), ("\r\r\n", 1)]
        {
            assert_eq!(either(version, octets.as_bytes()), failed([], UnknownCommand, at));
        }
        assert_eq!(either(version, b"SEND\r"), waiting([], b"SEND\r", 5), "LF may follow");
        let alone = either(version, b"\n\r");
        assert_eq!((alone.items, alone.rest), (vec![Eol], Ok(b"\r".to_vec())), "LF may follow");
    }
}

/// field case B20, in a header
#[test]
fn a_carriage_return_inside_a_header_is_data_until_1_1_and_malformed_on_1_2() {
    for (line, value) in [("k:a\rb", "a\rb"), ("k:\ra", "\ra"), ("k:a\r\r", "a\r")] {
        let octets = format!("SEND\ndestination:/q\n{line}\n\nx\0");
        for version in [None, Some(V1_0), Some(V1_1)] {
            let send = frame(Command::Send, &[("destination", "/q"), ("k", value)], b"x");
            assert_eq!(either(version, octets.as_bytes()), whole([send]));
        }
        let at = octets.find('\r').unwrap() as u64;
        assert_eq!(reject(V1_2, octets.as_bytes()), failed([], StrayCarriageReturn, at));
        let raw = line.strip_suffix("\r").unwrap_or(line);
        let send =
            frame_with_malformed(Command::Send, &[("destination", "/q")], &[raw.as_bytes()], b"x");
        assert_eq!(keep(V1_2, octets.as_bytes()), whole([send]));
    }
}

/// field case B28
#[test]
fn a_body_where_none_may_be_is_fatal_dropped_on_1_0_and_before_login_for_the_session_to_judge() {
    for command in Command::ALL.into_iter().filter(|command| !command.may_have_body()) {
        let head = format!("{command}\nid:0\ndestination:/q\n\n");
        let octets = format!("{head}junk\0RECEIPT\n\n\0");
        let parsed = |body| frame(command, &[("id", "0"), ("destination", "/q")], body);
        let receipt = || frame(Command::Receipt, &[], b"");
        for version in [V1_1, V1_2] {
            let expected = failed([], UnexpectedBody, head.len() as u64);
            assert_eq!(either(version, octets.as_bytes()), expected);
        }
        assert_eq!(either(V1_0, octets.as_bytes()), whole([parsed(b""), receipt()]));
        assert_eq!(either(None, octets.as_bytes()), whole([parsed(b"junk"), receipt()]));
    }
}

/// field case B30
#[test]
fn commands_are_matched_octet_for_octet() {
    for version in ANY {
        for (line, at) in [
            ("message", 0),
            ("mESSAGE", 0),
            ("Message", 1),
            ("MESSAGe", 6),
            ("SENDX", 4),
            ("SEND ", 4),
            (" SEND", 0),
            ("SEN", 3),
            ("SUB", 3),
            ("CONNECTEDX", 9),
            ("PING", 0),
            ("MESSAGES", 7),
            ("SEND\u{e9}", 4),
        ] {
            let octets = format!("RECEIPT\n\n\0{line}\nid:1\n\nx\0");
            let before = [frame(Command::Receipt, &[], b"")];
            let expected = failed(before, UnknownCommand, 10 + at);
            assert_eq!(either(version, octets.as_bytes()), expected, "{line}");
        }
        let shouted = frame(Command::Send, &[("Destination", "/q")], b"");
        let outcome = either(version, b"SEND\nDestination:/q\n\n\0");
        assert_eq!(outcome, whole([shouted]), "names are not folded either");
    }
}

/// field case B31
#[test]
fn another_protocol_is_told_by_its_first_impossible_octet() {
    let greetings: [(&[u8], u64); 14] = [
        (b"\0\0\x01\xf0\x01ActiveMQ\0\0", 0),
        (b"GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n", 0),
        (b"POST /login HTTP/1.1\r\n", 0),
        (b"DELETE / HTTP/1.1\r\n", 1),
        (b"CONNECT proxy:443 HTTP/1.1\r\n", 7),
        (b"PRI * HTTP/2.0\r\n", 0),
        (b"0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c\n4b5a", 0),
        (b"\x16\x03\x01\x02\0", 0),
        (b"\xef\xbb\xbfCONNECT\n\n\0", 0),
        (b"SSH-2.0-OpenSSH_9.6\r\n", 1),
        (b"AMQP\0\x01\0\0", 1),
        (b"\x10\x0e\0\x04MQTT", 0),
        (b"*1\r\n$4\r\nPING\r\n", 0),
        (b"<?xml version='1.0'?>", 0),
    ];
    for (greeting, at) in greetings {
        assert_eq!(either(None, greeting), failed([], UnknownCommand, at));
        let mut decoder = Setup::default().decoder();
        let (possible, rest) = greeting.split_at(at.try_into().unwrap());
        decoder.push(possible);
        assert_eq!(decoder.next_item(), Ok(None));
        decoder.push(&rest[..1]);
        let error = DecodeError { kind: UnknownCommand, offset: at };
        assert_eq!(decoder.next_item(), Err(error), "no octet later than it shows");
    }
    for version in Version::ALL {
        let openwire = either(version, b"\0\0\x01\xf0\x01ActiveMQ\0\0");
        assert_eq!(openwire, failed([], UnknownCommand, 2), "skipped NULs do not hide it");
    }
}

/// field case B32
#[test]
fn a_character_cut_by_a_read_stays_whole() {
    for version in ANY {
        let octets = "MESSAGE\nk\u{20ac}:\u{20ac}\u{1f600}\n\n\u{20ac}\0";
        let message =
            frame(Command::Message, &[("k\u{20ac}", "\u{20ac}\u{1f600}")], "\u{20ac}".as_bytes());
        assert_eq!(either(version, octets.as_bytes()), whole([message]), "cut anywhere");
    }
}

/// field case B34, the body
#[test]
fn a_body_is_octets_whatever_they_are() {
    for version in ANY {
        let gzip = b"\x1f\x8b\x08\0";
        let octets = [&b"MESSAGE\ncontent-length:4\n\n"[..], gzip, b"\0"].concat();
        let message = frame(Command::Message, &[("content-length", "4")], gzip);
        assert_eq!(either(version, &octets), whole([message]));
        let all: Vec<u8> = (1..=u8::MAX).collect();
        let octets = [b"ERROR\ncontent-type:text/plain\n\n", &all[..], b"\0"].concat();
        let error = frame(Command::Error, &[("content-type", "text/plain")], &all);
        assert_eq!(either(version, &octets), whole([error]));
    }
}
