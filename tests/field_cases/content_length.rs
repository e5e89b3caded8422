//! Field cases about `content-length`: how many octets a body has.

use stomp_proto::Version::{V1_0, V1_1, V1_2};
use stomp_proto::codec::DecodeErrorKind::{
    BodyTooLong, InvalidContentLength, MissingNul, UnexpectedBody,
};
use stomp_proto::{Command, Version};

use crate::expect::{ANY, either, failed, frame, keep, reject, waiting, whole};
use crate::support::Item::Eol;
use crate::support::Setup;

/// The commands whose bodies `content-length` frames.
const FRAMED: [Command; 3] = [Command::Send, Command::Message, Command::Error];

/// field case B01
#[test]
fn a_nul_inside_a_counted_body_does_not_end_it() {
    for version in ANY {
        for command in FRAMED {
            for body in [&b"a\0b\0c"[..], b"\0\0\0\0\0", b"abcd\0", b"\n\n\0\n\n"] {
                let head = format!("{command}\nid:1\ncontent-length:5\n\n");
                let octets = [head.as_bytes(), body, b"\0"].concat();
                let expected = frame(command, &[("id", "1"), ("content-length", "5")], body);
                assert_eq!(either(version, &octets), whole([expected]));
            }
        }
    }
}

/// field case B02
#[test]
fn the_nul_behind_a_counted_body_does_not_leak_into_the_next_command() {
    let message = |id, len, body: &[u8]| {
        frame(Command::Message, &[("message-id", id), ("content-length", len)], body)
    };
    let octets = b"MESSAGE\nmessage-id:1\ncontent-length:1\n\nA\0\
        MESSAGE\nmessage-id:2\ncontent-length:0\n\n\0\
        MESSAGE\nmessage-id:3\ncontent-length:1\n\nB\0";
    for version in ANY {
        let expected = [message("1", "1", b"A"), message("2", "0", b""), message("3", "1", b"B")];
        assert_eq!(either(version, octets), whole(expected));
    }
}

/// field case B04
#[test]
fn no_nul_where_the_length_says_is_fatal_and_nothing_behind_is_delivered() {
    for version in ANY {
        for command in FRAMED {
            let head = format!("RECEIPT\n\n\0{command}\ncontent-length:3\n\n");
            let nul = head.len() as u64 + 3;
            let before = [frame(Command::Receipt, &[], b"")];
            for behind in 1..=u8::MAX {
                let octets = [head.as_bytes(), b"hel", &[behind]].concat();
                assert_eq!(either(version, &octets), failed(before.clone(), MissingNul, nul));
            }
            let octets = [head.as_bytes(), b"hello\0RECEIPT\n\n\0"].concat();
            assert_eq!(either(version, &octets), failed(before, MissingNul, nul));
        }
    }
}

/// field case B05
#[test]
fn a_length_beyond_what_was_sent_waits_and_the_end_of_the_stream_is_a_truncated_frame() {
    for version in ANY {
        let octets = b"SEND\ndestination:/queue/a\ncontent-length:10\n\nabc\0";
        assert_eq!(either(version, octets), waiting([], octets, octets.len() as u64));
        let headers = [("destination", "/queue/a"), ("content-length", "10")];
        let eaten = [octets, &b"SEND\n\n\0"[..]].concat();
        let expected = frame(Command::Send, &headers, b"abc\0SEND\n\n");
        assert_eq!(either(version, &eaten), whole([expected]), "a legal body");
    }
    for version in Version::ALL {
        let mut setup = Setup { version: Some(version), ..Setup::default() };
        setup.config.limits.max_body_len = 9;
        let outcome = setup.outcome(b"SEND\ndestination:/queue/a\ncontent-length:10\n\n");
        assert_eq!(outcome, failed([], BodyTooLong { limit: 9 }, 41), "does not even wait");
    }
}

/// field case B06
#[test]
fn a_negative_length_is_malformed_on_every_command() {
    for version in ANY {
        for command in Command::ALL {
            for value in ["-1", "-0", "-99999999999999999999"] {
                let line = format!("{command}\ncontent-length:");
                let octets = format!("{line}{value}\n\nhello\0");
                let expected = failed([], InvalidContentLength, line.len() as u64);
                assert_eq!(either(version, octets.as_bytes()), expected);
            }
        }
    }
}

/// field case B07
#[test]
fn a_length_is_digits_only_and_the_number_may_be_too_large() {
    const LINE: &str = "SEND\ndestination:/q\ncontent-length:";
    let at = LINE.len() as u64;
    for version in ANY {
        for value in
            ["", "abc", "+5", "5abc", "0x5", "5.0", "5,5", "1e3", "5 5", "\u{665}", "\x0b5"]
        {
            let octets = format!("{LINE}{value}\n\nhello\0");
            let outcome = either(version, octets.as_bytes());
            assert_eq!(outcome, failed([], InvalidContentLength, at), "{value:?}");
        }
        let limit = if version.is_some() { 16 << 20 } else { 16 << 10 };
        for value in ["18446744073709551615", "18446744073709551616", &"9".repeat(40), "16777217"] {
            let octets = format!("{LINE}{value}\n\n");
            let outcome = either(version, octets.as_bytes());
            assert_eq!(outcome, failed([], BodyTooLong { limit }, at), "at once: {value}");
        }
        let octets = format!("{LINE}005\n\nhello\0");
        let headers = [("destination", "/q"), ("content-length", "005")];
        let expected = whole([frame(Command::Send, &headers, b"hello")]);
        assert_eq!(either(version, octets.as_bytes()), expected, "zeros are digits");
    }
    for (version, value) in [(None, " 5 \t"), (Some(V1_0), "5 \t")] {
        let headers = [("destination", "/q"), ("content-length", value)];
        let expected = whole([frame(Command::Send, &headers, b"hello")]);
        assert_eq!(either(version, format!("{LINE} 5 \t\n\nhello\0").as_bytes()), expected);
    }
    for version in [V1_1, V1_2] {
        for value in [" 5", "5 ", " 5 ", "\t5"] {
            let octets = format!("{LINE}{value}\n\nhello\0");
            let expected = failed([], InvalidContentLength, at);
            assert_eq!(either(version, octets.as_bytes()), expected, "{value:?}");
        }
    }
}

/// field case B09
#[test]
fn a_length_copied_from_a_message_does_not_frame_a_command_without_body() {
    for version in ANY {
        for command in Command::ALL.into_iter().filter(|command| !command.may_have_body()) {
            for len in ["5", "0", "18446744073709551616"] {
                let head = format!("{command}\nmessage-id:7\ncontent-length:{len}\n\n");
                let octets = format!("{head}\0SEND\ndestination:/q\n\nx\0");
                let copied = frame(command, &[("message-id", "7"), ("content-length", len)], b"");
                let send = frame(Command::Send, &[("destination", "/q")], b"x");
                assert_eq!(either(version, octets.as_bytes()), whole([copied, send]));
            }
            if version >= Some(V1_1) {
                let head = format!("{command}\ncontent-length:1\n\n");
                let outcome = either(version, format!("{head}x\0").as_bytes());
                assert_eq!(outcome, failed([], UnexpectedBody, head.len() as u64));
            }
        }
    }
}

/// field case B10
#[test]
fn the_nul_is_not_counted_and_a_peer_that_counts_it_is_not_guessed_at() {
    let headers = |len| [("content-length", len), ("message", "m")];
    for version in ANY {
        let expected = whole([frame(Command::Error, &headers("4"), b"body")]);
        assert_eq!(either(version, b"ERROR\ncontent-length:4\nmessage:m\n\nbody\0"), expected);
        let counted = b"ERROR\ncontent-length:5\nmessage:m\n\nbody\0";
        assert_eq!(either(version, counted), waiting([], counted, counted.len() as u64));
        for behind in [&b"\n"[..], b"ERROR\n\n\0"] {
            let expected = failed([], MissingNul, counted.len() as u64);
            assert_eq!(either(version, &[counted, behind].concat()), expected);
        }
    }
}

/// field case B11
#[test]
fn limits_are_per_frame_and_not_per_connection() {
    let mut setup = Setup::default();
    let limits = &mut setup.config.limits;
    (limits.max_body_len, limits.max_headers, limits.max_head_len) = (8, 2, 40);
    (limits.max_connect_head_len, limits.max_idle_eols) = (40, 1);
    let frames = [
        (&b"SEND\na:1\nb:2\n\nabcdefgh\0\n"[..], [("a", "1"), ("b", "2")]),
        (b"SEND\na:1\ncontent-length:8\n\nabcdefgh\0\n", [("a", "1"), ("content-length", "8")]),
    ];
    for (octets, headers) in frames {
        for version in ANY {
            setup.version = version;
            let frame = frame(Command::Send, &headers, b"abcdefgh");
            let outcome = setup.outcome(&octets.repeat(10));
            assert_eq!(outcome, whole(vec![[frame, Eol]; 10].concat()));
        }
    }
}

/// field case B27, the length twice
#[test]
fn of_two_lengths_that_differ_the_first_counts_or_both_are_fatal() {
    let first = "SEND\ncontent-length:3\ncontent-length:";
    let octets = format!("{first}5\n\nabc\0");
    for version in ANY {
        let expected = failed([], InvalidContentLength, first.len() as u64);
        assert_eq!(reject(version, octets.as_bytes()), expected);
        let headers = [("content-length", "3"), ("content-length", "5")];
        let expected = whole([frame(Command::Send, &headers, b"abc")]);
        assert_eq!(keep(version, octets.as_bytes()), expected);
        let same = format!("{first}03\n\nabc\0");
        let headers = [("content-length", "3"), ("content-length", "03")];
        let expected = whole([frame(Command::Send, &headers, b"abc")]);
        assert_eq!(either(version, same.as_bytes()), expected, "the same number");
    }
}
