//! Every error of the codec: what causes it, which octet it names, what it says, and that it stays.

#[path = "support/expect.rs"]
mod expect;
mod support;

use bytes::BytesMut;
use expect::{ANY, either, failed, frame, keep, reject, waiting, whole};
use stomp_proto::Version::{V1_1, V1_2};
use stomp_proto::codec::DecodeErrorKind::{
    self, BodyTooLong, EmptyName, HeadTooLong, InvalidContentLength, InvalidEscape, MissingColon,
    MissingNul, NotUtf8, NulInHead, StrayCarriageReturn, TooManyEols, TooManyHeaders, Truncated,
    UnexpectedBody, UnknownCommand,
};
use stomp_proto::codec::{ContentLength, DecodeError, EncodeError, encode};
use stomp_proto::{Command, Frame, Version};
use support::{Item, Outcome, Setup};

/// What is delivered before each error.
const BEFORE: &[u8] = b"RECEIPT\n\n\0\r\n";

#[test]
fn unknown_command() {
    for version in ANY {
        for (octets, at) in [("HELO\n\n\0", 0), ("SENT\n\n\0", 3), ("\rSEND\n\n\0", 1)] {
            let outcome = either(version, &behind(octets));
            assert_failed(&outcome, UnknownCommand, at, "unknown command");
        }
    }
    assert_failed(&either(None, &behind("\0")), UnknownCommand, 0, "unknown command");
}

#[test]
fn nothing_is_kept_or_read_behind_an_error() {
    let mut decoder = Setup::default().decoder();
    decoder.push(b"HELO\n");
    let error = decoder.next_item().unwrap_err();
    let held = decoder.buffered();
    decoder.push(b"SEND\n\n\0");
    assert_eq!(decoder.buffered(), held);
    decoder.set_version(V1_2);
    assert_eq!(decoder.next_item().unwrap_err(), error);
}

#[test]
fn missing_colon() {
    for version in ANY {
        for octets in ["SEND\nbroken!\n\n\0", "SEND\nbroken!\r\n\n\0"] {
            assert_malformed(version, octets, MissingColon, 12, "header line without a colon");
        }
    }
}

#[test]
fn empty_name() {
    for version in ANY {
        assert_malformed(version, "SEND\n:v\n\n\0", EmptyName, 5, "header line without a name");
    }
}

#[test]
fn invalid_escape() {
    let says = "undefined escape in a header";
    for version in [V1_1, V1_2] {
        assert_malformed(version, "SEND\nk:\\n\\t\n\n\0", InvalidEscape, 9, says);
        assert_malformed(version, "SEND\nkey\\:v\n\n\0", InvalidEscape, 8, says);
        // Neither what stands before it nor an escape before it makes one of it.
        assert_malformed(version, "SEND\nk:n\\t\n\n\0", InvalidEscape, 8, says);
        assert_malformed(version, "SEND\nk:\\\\\\t\n\n\0", InvalidEscape, 9, says);
    }
    assert_malformed(V1_1, "SEND\nk:\\r\n\n\0", InvalidEscape, 7, says);
}

#[test]
fn not_utf8() {
    for version in ANY {
        let octets = b"SEND\nk:\xc3\xa9\xff\n\n\0";
        assert_malformed(version, octets, NotUtf8, 9, "header line is not UTF-8");
    }
}

#[test]
fn stray_carriage_return() {
    for octets in ["SEND\nk:a\rb\n\n\0", "SEND\nk:a\r\r\n\n\0"] {
        assert_malformed(V1_2, octets, StrayCarriageReturn, 8, "carriage return inside a line");
    }
}

#[test]
fn nul_in_head() {
    for version in ANY {
        for (octets, at) in [("SEND\nk:v\0", 8), ("BEGIN\na:\0b\n\n\0", 8), ("ABORT\r\n\0", 7)] {
            let outcome = either(version, &behind(octets));
            assert_failed(&outcome, NulInHead, at, "NUL before the end of the head");
        }
    }
}

#[test]
fn head_too_long() {
    for version in ANY {
        let mut setup = Setup { version, ..Setup::default() };
        let (limits, limit) = (&mut setup.config.limits, 11);
        (limits.max_head_len, limits.max_connect_head_len) = match version {
            Some(_) => (limit, usize::MAX),
            None => (usize::MAX, limit),
        };
        for octets in ["SEND\nk:vvvvvvvvv", "SEND\nk:vvv\n\n\0", "SEND\nk:vvvv\0"] {
            let outcome = setup.outcome(&behind(octets));
            assert_failed(&outcome, HeadTooLong { limit }, 11, "head exceeds 11 octets");
        }
        let fits = setup.outcome(b"SEND\nk:vv\n\n\0");
        assert_eq!(fits, whole([frame(Command::Send, &[("k", "vv")], b"")]));
        // The octet that is one too many is seen when it comes.
        assert_eq!(setup.outcome(b"SEND\nk:vvvv"), waiting([], b"SEND\nk:vvvv", 11));
    }
}

#[test]
fn too_many_headers() {
    for version in ANY {
        let mut setup = Setup { version, ..Setup::default() };
        setup.config.limits.max_headers = 2;
        let outcome = setup.outcome(&behind("SEND\na:1\na:1\na:1\n\n\0"));
        assert_failed(&outcome, TooManyHeaders { limit: 2 }, 13, "more than 2 header lines");
        let fits = setup.outcome(b"SEND\na:1\na:1\n\n\0");
        assert_eq!(fits, whole([frame(Command::Send, &[("a", "1"), ("a", "1")], b"")]));
    }
}

#[test]
fn invalid_content_length() {
    for version in ANY {
        for command in Command::ALL {
            let line = format!("{command}\ncontent-length:");
            let at = line.len() as u64;
            let outcome = either(version, &behind(line + "+1\n\nx\0"));
            assert_failed(&outcome, InvalidContentLength, at, "invalid content-length");
        }
        let outcome = reject(version, &behind("ERROR\ncontent-length:1\ncontent-length:2\n"));
        assert_failed(&outcome, InvalidContentLength, 38, "invalid content-length");
    }
}

#[test]
fn body_too_long() {
    for version in ANY {
        for command in [Command::Send, Command::Message, Command::Error] {
            let mut setup = Setup { version, ..Setup::default() };
            let (limits, limit) = (&mut setup.config.limits, 40);
            (limits.max_body_len, limits.max_connect_head_len) = match (version, command) {
                (None, Command::Send | Command::Message) => (usize::MAX, limit),
                _ => (limit, 64),
            };
            let too_long = BodyTooLong { limit };
            let line = format!("{command}\ncontent-length:");
            let at = line.len() as u64;
            let announced = setup.outcome(&behind(line + "41\n\n"));
            assert_failed(&announced, too_long, at, "body exceeds 40 octets");
            let head = format!("{command}\n\n");
            let at = head.len() as u64 + 40;
            let outcome = setup.outcome(&behind(head.clone() + &"x".repeat(41)));
            assert_failed(&outcome, too_long, at, "body exceeds 40 octets");
            let fits = setup.outcome((head + &"x".repeat(40) + "\0").as_bytes());
            assert_eq!(fits, whole([frame(command, &[], &[b'x'; 40])]));
        }
    }
}

#[test]
fn missing_nul() {
    for version in ANY {
        let octets = behind("SEND\ncontent-length:1\n\nxy\0");
        assert_failed(&either(version, &octets), MissingNul, 24, "no NUL behind the body");
    }
}

#[test]
fn unexpected_body() {
    for version in [V1_1, V1_2] {
        let outcome = either(version, &behind("BEGIN\n\nx\0"));
        assert_failed(&outcome, UnexpectedBody, 7, "body on a frame that must not have one");
    }
}

#[test]
fn too_many_eols() {
    let mut setup = Setup::default();
    setup.config.limits.max_idle_eols = 3;
    for (octets, at) in [("\n\n\n", 2), ("\r\n\n\r\n", 3)] {
        let outcome = setup.outcome(&behind(octets));
        let says = "more than 3 line ends before the handshake";
        let expected =
            failed([before(), vec![Item::Eol; 2]].concat(), TooManyEols { limit: 3 }, 12 + at);
        assert_eq!(outcome, expected);
        assert_says(&outcome, &format!("{says} at octet {}", 12 + at));
    }
    for version in Version::ALL {
        setup.version = Some(version);
        assert_eq!(setup.outcome(b"\n\n\n\n\n"), whole(vec![Item::Eol; 5]));
    }
}

#[test]
fn truncated() {
    for version in ANY {
        for octets in ["S", "SEND", "SEND\r", "SEND\n", "SEND\nk:v\n\r", "SEND\n\n", "SEND\n\nbody"]
        {
            let end = 12 + octets.len() as u64;
            let outcome = either(version, &behind(octets));
            assert_eq!(outcome, waiting(before(), octets.as_bytes(), end));
            assert_says(&outcome, &format!("stream ended inside a frame at octet {end}"));
        }
        assert_eq!(either(version, BEFORE), whole(before()));
        let mut decoder = Setup { version, ..Setup::default() }.decoder();
        decoder.push(b"SEND\n");
        let truncated = DecodeError { kind: Truncated, offset: 5 };
        assert_eq!(decoder.finish(), Err(truncated), "though it was not looked at");
    }
}

#[test]
fn of_several_defects_of_a_line_the_gravest_is_named() {
    let mut setup = Setup { version: Some(V1_2), ..Setup::default() };
    setup.config.limits.max_headers = 0;
    for (line, kind, at) in [
        (&b"\xff\r\\x"[..], MissingColon, 9),
        (b":\r\xff\\x", EmptyName, 5),
        (b"k:\xff\r\\x", StrayCarriageReturn, 8),
        (b"k:\\x\xff", NotUtf8, 9),
        (b"k:\\x", InvalidEscape, 7),
        (b"content-length:x", TooManyHeaders { limit: 0 }, 5),
    ] {
        let octets = [b"SEND\n", line, b"\n"].concat();
        assert_eq!(setup.outcome(&octets), failed([], kind, at), "{}", line.escape_ascii());
        let unended = octets.strip_suffix(b"\n").unwrap_or_default();
        assert_eq!(setup.outcome(unended).rest, Ok(unended.to_vec()), "shown by the line end");
    }
}

#[test]
fn of_several_defects_of_a_stream_the_first_to_show_is_named() {
    let mut setup = Setup { version: Some(V1_2), ..Setup::default() };
    setup.config.limits.max_head_len = 30;
    setup.config.limits.max_body_len = 5;
    for (octets, kind, at) in [
        ("SEND\nk:\\x\0\n", NulInHead, 9),
        ("SEND\nbroken\n\0", MissingColon, 11),
        ("SEND\ncontent-length:6\nbroken\n", MissingColon, 28),
        ("SEND\ncontent-length:6\nk:v\n\n\0", BodyTooLong { limit: 5 }, 20),
        ("SEND\ncontent-length:66666666\0\n", NulInHead, 28),
        ("SEND\ncontent-length:666666666\n\n", HeadTooLong { limit: 30 }, 30),
        ("SEND\ncontent-length:66666666\n\n", BodyTooLong { limit: 5 }, 20),
        ("SEND\ncontent-length:6666666666\0", HeadTooLong { limit: 30 }, 30),
    ] {
        assert_eq!(setup.outcome(octets.as_bytes()), failed([], kind, at), "{octets:?}");
    }
}

#[test]
fn unrepresentable() {
    for version in Version::ALL {
        let refusal = encoded(Command::Connect, "pass\ncode", "", "", version);
        let name = "pass\ncode".into();
        let command = Command::Connect;
        assert_eq!(refusal, Err(EncodeError::Unrepresentable { name, command, version }));
        let says = refusal.map_err(|error| error.to_string());
        let expected =
            format!("header \"pass\\ncode\" of CONNECT cannot be written on STOMP {version}");
        assert_eq!(says, Err(expected));
    }
    let refusal = encoded(Command::Send, "k", "a\r", "", V1_1);
    let says = refusal.map_err(|error| error.to_string());
    assert_eq!(says, Err("header \"k\" of SEND cannot be written on STOMP 1.1".into()));
}

#[test]
fn header_without_a_name() {
    for version in Version::ALL {
        let refusal = encoded(Command::Send, "", "v", "", version);
        assert_eq!(refusal, Err(EncodeError::EmptyName));
        assert_eq!(EncodeError::EmptyName.to_string(), "header without a name");
    }
}

#[test]
fn content_length_mismatch() {
    for version in Version::ALL {
        for value in ["3", "", "-2"] {
            let refusal = encoded(Command::Send, "content-length", value, "hi", version);
            assert_eq!(refusal, Err(EncodeError::ContentLengthMismatch { body_len: 2 }));
            let says = refusal.map_err(|error| error.to_string());
            assert_eq!(says, Err("content-length is not the 2 octets of the body".into()));
        }
        assert_eq!(encoded(Command::Send, "content-length", "02", "hi", version), Ok(()));
    }
}

#[test]
fn nul_without_content_length() {
    for version in Version::ALL {
        let refusal = encoded(Command::Send, "k", "v", "\0", version);
        assert_eq!(refusal, Err(EncodeError::NulWithoutContentLength));
        let says = refusal.map_err(|error| error.to_string());
        assert_eq!(says, Err("body holds a NUL and needs a content-length".into()));
        let announced = encoded(Command::Send, "content-length", "1", "\0", version);
        assert_eq!(announced, Ok(()), "the caller gave it");
    }
}

#[test]
fn body_on_a_command_without() {
    for version in Version::ALL {
        for command in Command::ALL.into_iter().filter(|command| !command.may_have_body()) {
            let refusal = encoded(command, "k", "v", "x", version);
            assert_eq!(refusal, Err(EncodeError::UnexpectedBody { command }));
            let says = refusal.map_err(|error| error.to_string());
            assert_eq!(says, Err(format!("body on {command}")));
        }
    }
}

#[test]
fn head_of_a_frame_that_is_too_long_to_describe() {
    let limit = 16 << 20;
    let value = "x".repeat(limit);
    let refusal = encoded(Command::Send, "k", &value, "", V1_2);
    assert_eq!(refusal, Err(EncodeError::HeadTooLong { limit }));
    let says = refusal.map_err(|error| error.to_string());
    assert_eq!(says, Err("head exceeds 16777216 octets".into()));
    let longest = "x".repeat(limit - "a:1\nk:\n".len());
    assert_eq!(encoded(Command::Send, "k", &longest, "", V1_2), Ok(()));
}

fn before() -> Vec<Item> {
    vec![frame(Command::Receipt, &[], b""), Item::Eol]
}

fn behind(octets: impl AsRef<[u8]>) -> Vec<u8> {
    [BEFORE, octets.as_ref()].concat()
}

/// That what is before the error was delivered, and that the error is this one, `at` octets behind.
fn assert_failed(outcome: &Outcome, kind: DecodeErrorKind, at: u64, says: &str) {
    let offset = BEFORE.len() as u64 + at;
    assert_eq!(*outcome, failed(before(), kind, offset));
    assert_says(outcome, &format!("{says} at octet {offset}"));
    assert_eq!(kind.to_string(), says);
}

fn assert_says(outcome: &Outcome, says: &str) {
    assert_eq!(outcome.finish.map_err(|error| error.to_string()), Err(says.to_owned()));
}

/// That a header line is malformed: fatal, or kept apart from the headers of its frame.
fn assert_malformed(
    version: impl Into<Option<Version>>,
    octets: impl AsRef<[u8]>,
    kind: DecodeErrorKind,
    at: u64,
    says: &str,
) {
    let (version, octets) = (version.into(), behind(octets));
    assert_failed(&reject(version, &octets), kind, at, says);
    let kept = keep(version, &octets);
    assert_eq!((kept.finish, kept.items.len()), (Ok(()), 3));
    let is_kept = matches!(
        kept.items.last(),
        Some(Item::Frame(frame)) if frame.headers.is_empty() && frame.malformed.len() == 1
    );
    assert!(is_kept, "{kept:?}");
}

/// Writes a frame without `content-length`. If it is refused, nothing is written, and the next
/// frame is written as if nothing had been.
fn encoded(
    command: Command,
    name: &str,
    value: &str,
    body: &'static str,
    version: Version,
) -> Result<(), EncodeError> {
    let frame = Frame::builder(command).header("a", "1").header(name, value).body(body).build();
    let mut out = BytesMut::from("before");
    let result = encode(frame.as_frame_ref(), version, ContentLength::Omit, &mut out);
    if result.is_err() {
        assert_eq!(out, "before");
        let next = Frame::builder(Command::Ack).build();
        let written = encode(next.as_frame_ref(), version, ContentLength::Omit, &mut out);
        assert_eq!((written, &out[..]), (Ok(()), &b"beforeACK\n\n\0"[..]));
    }
    result
}
