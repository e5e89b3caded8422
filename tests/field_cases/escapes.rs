//! Field cases about escapes: which there are, where they hold, how they are undone.

use bytes::BytesMut;
use stomp_proto::Version::{V1_0, V1_1, V1_2};
use stomp_proto::codec::DecodeErrorKind::InvalidEscape;
use stomp_proto::codec::{ContentLength, EncodeError, encode};
use stomp_proto::{Command, Frame, Version};

use crate::expect::{ANY, either, failed, frame, frame_with_malformed, keep, reject, whole};

const EXEMPT: [Command; 3] = [Command::Connect, Command::Stomp, Command::Connected];

/// field case B35
#[test]
fn backslash_r_is_an_escape_on_1_2_only() {
    for command in Command::ALL.into_iter().filter(|command| !EXEMPT.contains(command)) {
        let octets = format!("{command}\nid:1\nk:a\\rb\n\n\0");
        let with = |value| whole([frame(command, &[("id", "1"), ("k", value)], b"")]);
        assert_eq!(either(V1_2, octets.as_bytes()), with("a\rb"));
        let at = octets.find('\\').unwrap() as u64;
        assert_eq!(reject(V1_1, octets.as_bytes()), failed([], InvalidEscape, at));
        let kept = frame_with_malformed(command, &[("id", "1")], &[b"k:a\\rb"], b"");
        assert_eq!(keep(V1_1, octets.as_bytes()), whole([kept]));
        assert_eq!(either(V1_0, octets.as_bytes()), with("a\\rb"));
        assert_eq!(either(None, octets.as_bytes()), with("a\\rb"));
        let carriage_return = Frame::builder(command).header("k", "a\rb").build();
        assert_eq!(written(&carriage_return, V1_2), Ok(format!("{command}\nk:a\\rb\n\n\0")));
        for version in [V1_0, V1_1] {
            let refusal = EncodeError::Unrepresentable { name: "k".into(), command, version };
            assert_eq!(written(&carriage_return, version), Err(refusal));
        }
    }
}

/// field case B37
#[test]
fn a_peer_that_never_escapes_is_understood_until_it_writes_an_undefined_escape() {
    let octets = b"SEND\ndestination:/topic/a:b\nk:C:\\temp\n\nx\0";
    let destination = ("destination", "/topic/a:b");
    for version in [V1_1, V1_2] {
        assert_eq!(reject(version, octets), failed([], InvalidEscape, 32));
        let kept = frame_with_malformed(Command::Send, &[destination], &[b"k:C:\\temp"], b"x");
        assert_eq!(keep(version, octets), whole([kept]));
        let escaped = b"MESSAGE\ndestination:/topic/a\\cb\n\nx\0";
        let message = frame(Command::Message, &[destination], b"x");
        assert_eq!(either(version, escaped), whole([message]));
        for line in ["k:\\", "k:a\\", "k\\:v", "k:\\N", "k:\\\\\\", "k:\\ n", "k:\\:", "k:\\\u{e9}"]
        {
            let octets = format!("SEND\n{line}\n\n\0");
            let at = 5 + line.rfind('\\').unwrap() as u64;
            let outcome = reject(version, octets.as_bytes());
            assert_eq!(outcome, failed([], InvalidEscape, at), "{line}");
            let kept = frame_with_malformed(Command::Send, &[], &[line.as_bytes()], b"");
            assert_eq!(keep(version, octets.as_bytes()), whole([kept]));
        }
    }
    for version in [None, Some(V1_0)] {
        let send = frame(Command::Send, &[destination, ("k", "C:\\temp")], b"x");
        assert_eq!(either(version, octets), whole([send]));
    }
}

/// field case B39
#[test]
fn escapes_are_undone_in_one_pass_in_names_and_values() {
    for version in [V1_1, V1_2] {
        for (escaped, plain) in [
            ("a\\\\cb", "a\\cb"),
            ("a\\\\nb", "a\\nb"),
            ("a\\\\rb", "a\\rb"),
            ("\\\\\\\\n", "\\\\n"),
            ("\\\\\\n", "\\\n"),
            ("\\\\\\c\\\\c", "\\:\\c"),
            ("\\n\\c\\\\", "\n:\\"),
        ] {
            let octets = format!("SEND\n{escaped}:{escaped}\n\nx\0");
            let send = frame(Command::Send, &[(plain, plain)], b"x");
            assert_eq!(either(version, octets.as_bytes()), whole([send]));
            let send = Frame::builder(Command::Send).header(plain, plain).build();
            assert_eq!(written(&send, version), Ok(format!("SEND\n{escaped}:{escaped}\n\n\0")));
        }
    }
}

/// field case B40
#[test]
fn frames_that_open_a_session_know_no_escapes_in_any_version() {
    for command in EXEMPT {
        for passcode in ["p\"w\\9x:y\\c", "a\\tb", "\\", "\\n\\r\\\\", "C:\\temp\\"] {
            let octets = format!("{command}\nhost:/\npasscode:{passcode}\n\n\0");
            for version in ANY {
                let opened = frame(command, &[("host", "/"), ("passcode", passcode)], b"");
                assert_eq!(either(version, octets.as_bytes()), whole([opened]));
            }
            let opened = Frame::builder(command).header("host", "/").header("passcode", passcode);
            let opened = opened.build();
            for version in Version::ALL {
                assert_eq!(written(&opened, version), Ok(octets.clone()));
            }
        }
    }
}

/// field case B43
#[test]
fn an_error_before_login_is_read_literally_and_never_becomes_a_second_error() {
    for message in ["bad CONNECT\\c no such host", "bad \\x", "no\\", "a\\nb"] {
        let octets = format!("ERROR\nversion:1.0,1.1,1.2\nmessage:{message}\n\nwhy\\q\0");
        let headers = [("version", "1.0,1.1,1.2"), ("message", message)];
        let error = frame(Command::Error, &headers, b"why\\q");
        assert_eq!(either(None, octets.as_bytes()), whole([error]));
    }
}

fn written(frame: &Frame, version: Version) -> Result<String, EncodeError> {
    let mut out = BytesMut::new();
    encode(frame.as_frame_ref(), version, ContentLength::Automatic, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
