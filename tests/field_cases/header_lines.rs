//! Field cases about header lines: how one splits, what is malformed, which of two counts.

use stomp_proto::Command;
use stomp_proto::Version::{V1_0, V1_1, V1_2};
use stomp_proto::codec::DecodeErrorKind::{EmptyName, MissingColon, NotUtf8};
use stomp_proto::codec::{Item, Step};

use crate::expect::{ANY, either, failed, frame, frame_with_malformed, keep, reject, whole};
use crate::support::Setup;

/// field case B19
#[test]
fn a_carriage_return_before_a_line_end_is_stripped_in_every_version() {
    for version in ANY {
        let send = frame(Command::Send, &[("destination", "/queue/a"), ("x", "y")], b"body");
        for octets in [
            "SEND\ndestination:/queue/a\r\nx:y\r\n\r\nbody\0",
            "SEND\r\ndestination:/queue/a\nx:y\r\n\nbody\0",
            "SEND\ndestination:/queue/a\nx:y\n\r\nbody\0",
        ] {
            assert_eq!(either(version, octets.as_bytes()), whole([send.clone()]));
        }
        let body = frame(Command::Send, &[], b"a\r\n");
        let outcome = either(version, b"SEND\n\na\r\n\0");
        assert_eq!(outcome, whole([body]), "in a body it is data");
    }
}

/// field case B22
#[test]
fn a_line_without_colon_is_never_skipped_or_glued_to_its_neighbour() {
    for version in ANY {
        for eol in ["\n", "\r\n"] {
            for command in Command::ALL {
                let before = format!("{command}{eol}a:1{eol}");
                let octets = format!("{before}broken{eol}b:2{eol}{eol}\0");
                let at = before.len() as u64 + 6;
                assert_eq!(reject(version, octets.as_bytes()), failed([], MissingColon, at));
                let headers = [("a", "1"), ("b", "2")];
                let kept = frame_with_malformed(command, &headers, &[b"broken"], b"");
                assert_eq!(keep(version, octets.as_bytes()), whole([kept]));
            }
        }
        for line in ["\r", " ", "content-length"] {
            let octets = format!("SEND\n{line}\r\n\n\0");
            let expected = failed([], MissingColon, 5 + line.len() as u64);
            assert_eq!(reject(version, octets.as_bytes()), expected);
            let kept = frame_with_malformed(Command::Send, &[], &[line.as_bytes()], b"");
            assert_eq!(keep(version, octets.as_bytes()), whole([kept]));
        }
    }
}

/// field case B23
#[test]
fn a_header_without_a_name_is_malformed() {
    for version in ANY {
        for line in [":header-value", ":", "::", ": ", ":content-length:5"] {
            let octets = format!("SEND\ndestination:/q\n{line}\n\nbody\0");
            assert_eq!(reject(version, octets.as_bytes()), failed([], EmptyName, 20));
            let headers = [("destination", "/q")];
            let kept = frame_with_malformed(Command::Send, &headers, &[line.as_bytes()], b"body");
            assert_eq!(keep(version, octets.as_bytes()), whole([kept]));
        }
    }
}

/// field case B24
#[test]
fn an_empty_value_is_a_value() {
    for version in ANY {
        for eol in ["\n", "\r\n"] {
            let octets = format!("MESSAGE{eol}type:{eol}correlation-id:{eol}{eol}x\0");
            let headers = [("type", ""), ("correlation-id", "")];
            let message = frame(Command::Message, &headers, b"x");
            assert_eq!(either(version, octets.as_bytes()), whole([message]));
        }
    }
}

/// field case B25
#[test]
fn blanks_belong_to_names_and_values_save_before_a_value_on_1_0() {
    let octets = b"ERROR\nmessage:malformed frame received\nmy key: \tpadded \t\n\n\0";
    let error = |padded| {
        let headers = [("message", "malformed frame received"), ("my key", padded)];
        whole([frame(Command::Error, &headers, b"")])
    };
    for version in [None, Some(V1_1), Some(V1_2)] {
        assert_eq!(either(version, octets), error(" \tpadded \t"));
    }
    assert_eq!(either(V1_0, octets), error("padded \t"));
}

/// field case B27
#[test]
fn of_repeated_headers_the_first_counts_and_all_are_kept_in_order() {
    let octets =
        b"MESSAGE\nreply-to:/queue/temp.x\nid:1\nreply-to:/temp-queue/local\nreply-to:\n\n\0";
    let all = ["/queue/temp.x", "/temp-queue/local", ""];
    for version in ANY {
        let setup = Setup { version, ..Setup::default() };
        let mut decoder = setup.decoder();
        decoder.push(octets);
        let Ok(Some(Item::Frame(message))) = decoder.next_item() else { panic!("no frame") };
        assert_eq!(message.header("reply-to").as_deref(), Some(all[0]));
        assert_eq!(message.headers().get_all("reply-to").collect::<Vec<_>>(), all);
        assert_eq!(message.headers().len(), 4);
        let mut scanner = setup.scanner();
        let Ok(Step::Frame { frame, .. }) = scanner.advance(octets) else { panic!("no frame") };
        assert_eq!(frame.header("reply-to").as_deref(), Some(all[0]));
        assert_eq!(frame.to_frame(), message);
    }
    for version in [V1_1, V1_2] {
        let setup = Setup { version: Some(version), ..Setup::default() };
        let mut decoder = setup.decoder();
        decoder.push(b"SEND\na\\cb:1\na\\cb:2\n\n\0");
        let Ok(Some(Item::Frame(send))) = decoder.next_item() else { panic!("no frame") };
        assert_eq!(send.header("a:b").as_deref(), Some("1"), "names compare unescaped");
        assert_eq!(send.headers().get_all("a:b").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(send.header("a\\cb"), None);
    }
}

/// field case B34, the headers
#[test]
fn a_header_that_is_not_utf_8_is_malformed_and_stays_readable_raw() {
    let wrong: [(&[u8], u64); 7] = [
        (b"k:\xff\xfe", 2),
        (b"k:ok\xe2\x82", 4),
        (b"k:\xc0\xaf", 2),
        (b"k:\xed\xa0\x80", 2),
        (b"k:caf\xe9", 5),
        (b"\x80:v", 0),
        (b"key\xe2\x82:\xac", 3),
    ];
    for (line, valid) in wrong {
        let octets = [b"MESSAGE\nmessage-id:1\n", line, b"\nack:2\n\nx\0"].concat();
        for version in ANY {
            assert_eq!(reject(version, &octets), failed([], NotUtf8, 21 + valid));
            let headers = [("message-id", "1"), ("ack", "2")];
            let kept = frame_with_malformed(Command::Message, &headers, &[line], b"x");
            assert_eq!(keep(version, &octets), whole([kept]));
        }
    }
}

/// field case B41
#[test]
fn a_line_splits_at_its_first_colon() {
    for version in ANY {
        for command in Command::ALL {
            let octets = format!("{command}\nsession:ID:host-1-2:3\nurl::\n\n\0");
            let expected = frame(command, &[("session", "ID:host-1-2:3"), ("url", ":")], b"");
            assert_eq!(either(version, octets.as_bytes()), whole([expected]));
        }
    }
}
