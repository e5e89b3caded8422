//! Field cases about writing frames: what is escaped, what is refused, what length is announced.

use bytes::BytesMut;
use stomp_proto::Version::{V1_0, V1_1, V1_2};
use stomp_proto::codec::{ContentLength, EncodeError, Item, encode};
use stomp_proto::{Command, Frame, MalformedHeader, Version};

use crate::expect::{either, frame, whole};
use crate::support::Setup;

/// field case B45
#[test]
fn on_1_0_nothing_is_escaped_and_what_would_need_it_is_refused() {
    let ack = Frame::builder(Command::Ack).header("message-id", "ID:host-1:2:1\\c").build();
    assert_eq!(written(&ack, V1_0), Ok("ACK\nmessage-id:ID:host-1:2:1\\c\n\n\0".into()));
    for command in Command::ALL {
        for (name, value) in [
            ("k", "a\nb"),
            ("k", "a\rb"),
            ("k", "a\0b"),
            ("k", " a"),
            ("k", "\ta"),
            ("a\nb", ""),
            ("a\rb", ""),
            ("a\0b", ""),
            ("a:b", ""),
        ] {
            assert_refused(command, (name, value), V1_0);
        }
    }
}

/// field case B46
#[test]
fn one_encoder_serves_every_transport_by_the_version_alone() {
    let message = Frame::builder(Command::Message).header("k", "a:b\\c\nd").build();
    for version in [V1_1, V1_2] {
        assert_eq!(written(&message, version), Ok("MESSAGE\nk:a\\cb\\\\c\\nd\n\n\0".into()));
    }
    let message = Frame::builder(Command::Message).header("k", "a:b\\c").build();
    assert_eq!(written(&message, V1_0), Ok("MESSAGE\nk:a:b\\c\n\n\0".into()));
}

/// field case B47
#[test]
fn header_names_are_escaped_too_and_never_empty() {
    let octets = "MESSAGE\na\\cb\\n\\\\:v\n\n\0";
    let message = Frame::builder(Command::Message).header("a:b\n\\", "v").build();
    for version in [V1_1, V1_2] {
        assert_eq!(written(&message, version), Ok(octets.into()));
        let decoded = frame(Command::Message, &[("a:b\n\\", "v")], b"");
        assert_eq!(either(version, octets.as_bytes()), whole([decoded]));
    }
    for version in Version::ALL {
        let nameless = Frame::builder(Command::Send).header("a", "1").header("", "v").build();
        assert_eq!(written(&nameless, version), Err(EncodeError::EmptyName));
    }
}

/// field case B48
#[test]
fn a_body_is_never_escaped() {
    let body = "foo\\cbar:\r\n\\";
    for version in Version::ALL {
        for command in [Command::Send, Command::Message, Command::Error] {
            let built = Frame::builder(command).body(body).build();
            let octets = format!("{command}\ncontent-length:12\n\n{body}\0");
            assert_eq!(written(&built, version).as_ref(), Ok(&octets));
            let decoded = frame(command, &[("content-length", "12")], body.as_bytes());
            assert_eq!(either(version, octets.as_bytes()), whole([decoded]));
        }
    }
}

/// field case B49
#[test]
fn no_header_can_smuggle_in_another_line_or_frame() {
    for version in Version::ALL {
        for command in [Command::Connect, Command::Stomp, Command::Connected] {
            for (name, value) in [
                ("passcode", "x\nclient-id:evil"),
                ("passcode", "x\r"),
                ("passcode", "x\0"),
                ("pass\ncode", "x"),
                ("pass\rcode", "x"),
                ("pass\0code", "x"),
                ("pass:code", "x"),
                ("a value behind a long name", "0123456789abcdef\n"),
            ] {
                assert_refused(command, (name, value), version);
            }
        }
        for command in Command::ALL {
            assert_refused(command, ("k", "a\0SEND\n\n\0"), version);
            assert_refused(command, ("k\0", ""), version);
        }
    }
}

/// field case B51
#[test]
fn the_length_is_announced_unless_it_is_to_be_left_out() {
    let send = |body| Frame::builder(Command::Send).header("destination", "/q").body(body).build();
    for version in Version::ALL {
        let octets = "SEND\ndestination:/q\ncontent-length:5\n\nhello\0";
        assert_eq!(written(&send("hello"), version), Ok(octets.into()));
        let text = written_as(&send("hello"), version, ContentLength::Omit);
        assert_eq!(text, Ok("SEND\ndestination:/q\n\nhello\0".into()));
        let binary = written_as(&send("hel\0"), version, ContentLength::Omit);
        assert_eq!(binary, Err(EncodeError::NulWithoutContentLength));
        assert_eq!(
            written(&send("hel\0"), version),
            Ok("SEND\ndestination:/q\ncontent-length:4\n\nhel\0\0".into())
        );
        for content_length in [ContentLength::Automatic, ContentLength::Omit] {
            let empty = written_as(&send(""), version, content_length);
            assert_eq!(empty, Ok("SEND\ndestination:/q\n\n\0".into()));
        }
    }
}

/// field case B52
#[test]
fn a_length_that_does_not_match_never_reaches_the_wire() {
    for version in Version::ALL {
        for command in [Command::Send, Command::Message, Command::Error] {
            for value in ["5", "25", "abc", "", "+24", "0x18", "18446744073709551640"] {
                let body = "twenty-four octets, true";
                let wrong =
                    Frame::builder(command).header("content-length", value).body(body).build();
                let mismatch = EncodeError::ContentLengthMismatch { body_len: 24 };
                for content_length in [ContentLength::Automatic, ContentLength::Omit] {
                    let refusal = written_as(&wrong, version, content_length);
                    assert_eq!(refusal, Err(mismatch.clone()), "{value}");
                }
            }
        }
    }
}

/// field case B52, with field case B09: the headers of a MESSAGE copied into its ACK
#[test]
fn a_length_without_a_body_never_reaches_the_wire_either() {
    for version in Version::ALL {
        for command in Command::ALL {
            for value in ["5", "abc"] {
                let copied = Frame::builder(command).header("content-length", value).build();
                let mismatch = EncodeError::ContentLengthMismatch { body_len: 0 };
                assert_eq!(written(&copied, version), Err(mismatch), "{value}");
            }
        }
    }
}

/// What is passed on is written by the rules of the session that it goes to, whatever it was read by.
#[test]
fn a_frame_that_was_read_is_written_by_the_rules_of_its_new_version() {
    // Of a line of some length, octets that would have to change are counted exactly.
    let k = |line: &str| format!("MESSAGE\nlengthy-{line}\n\n\0");
    for (from, line, to, expected) in [
        (V1_0, "k: a", V1_0, Some("k:a")),
        (V1_0, "k: a", V1_2, Some("k:a")),
        (V1_0, r"k:a\n:b", V1_2, Some(r"k:a\\n\cb")),
        (V1_1, "k: a", V1_0, None),
        (V1_1, "k: a", V1_2, Some("k: a")),
        (V1_1, r"k:a\cb", V1_2, Some(r"k:a\cb")),
        (V1_2, r"k:a\cb", V1_0, Some("k:a:b")),
        (V1_2, "k:a:b", V1_2, Some(r"k:a\cb")),
        (V1_2, "k:a:b", V1_0, Some("k:a:b")),
        (V1_2, r"k:a\cb:c", V1_2, Some(r"k:a\cb\cc")),
        (V1_1, "k:a\rb", V1_1, None),
        (V1_1, "k:a\\\\\rb", V1_2, Some(r"k:a\\\rb")),
        (V1_2, r"k:a\nb", V1_0, None),
        (V1_2, r"k:a\rb", V1_1, None),
        (V1_2, r"k:a\rb", V1_2, Some(r"k:a\rb")),
    ] {
        let mut decoder = Setup { version: Some(from), ..Setup::default() }.decoder();
        decoder.push(k(line).as_bytes());
        let Ok(Some(Item::Frame(read))) = decoder.next_item() else { panic!("{line}") };
        assert_eq!(written(&read, to).ok(), expected.map(k), "{line} from {from} to {to}");
    }
}

/// What the decoder kept apart is no header, and is not passed on as one.
#[test]
fn a_malformed_line_is_not_written() {
    for line in [&b":v"[..], b"k:\xff", b"k", b"k:\\t", b"k:a\rb"] {
        let mut setup = Setup { version: Some(V1_2), ..Setup::default() };
        setup.config.malformed_header = MalformedHeader::Keep;
        let mut decoder = setup.decoder();
        decoder.push(&[b"MESSAGE\na:1\n", line, b"\nb:2\n\n\0"].concat());
        let Ok(Some(Item::Frame(read))) = decoder.next_item() else { panic!("{line:?}") };
        assert_eq!(read.malformed_headers().collect::<Vec<_>>(), [line]);
        for version in Version::ALL {
            assert_eq!(written(&read, version), Ok("MESSAGE\na:1\nb:2\n\n\0".into()));
        }
    }
}

fn assert_refused(command: Command, (name, value): (&str, &str), version: Version) {
    let frame = Frame::builder(command).header("a", "1").header(name, value).build();
    let refusal = EncodeError::Unrepresentable { name: name.into(), command, version };
    assert_eq!(written(&frame, version), Err(refusal));
}

fn written(frame: &Frame, version: Version) -> Result<String, EncodeError> {
    written_as(frame, version, ContentLength::Automatic)
}

/// What is written behind what was there before; if it is refused, that is all there is.
fn written_as(
    frame: &Frame,
    version: Version,
    content_length: ContentLength,
) -> Result<String, EncodeError> {
    let mut out = BytesMut::from("before");
    let result = encode(frame.as_frame_ref(), version, content_length, &mut out);
    let behind = out.strip_prefix(b"before");
    assert_eq!(behind.is_some_and(<[u8]>::is_empty), result.is_err(), "{out:?}");
    result.map(|()| String::from_utf8_lossy(behind.unwrap_or_default()).into_owned())
}
