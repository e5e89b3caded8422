//! Field cases about WebSocket: messages are no frames, subprotocols are chosen with care.

use stomp_proto::codec::DecodeErrorKind::UnknownCommand;
use stomp_proto::websocket::{Answer, offer, select, verify};
use stomp_proto::{Command, Version, VersionSet};

use crate::expect::{ANY, either, failed, frame, waiting, whole};
use crate::support::Item::Eol;
use crate::support::Setup;

/// field case B112
#[test]
fn one_message_can_hold_several_frames_and_one_frame_take_several_messages() {
    let octets = b"MESSAGE\nmessage-id:21\ncontent-length:1\n\n0\0\n\
        MESSAGE\nmessage-id:22\ncontent-length:1\n\n1\0";
    for version in ANY {
        let message = |id, body: &[u8]| {
            frame(Command::Message, &[("message-id", id), ("content-length", "1")], body)
        };
        let expected = whole([message("21", b"0"), Eol, message("22", b"1")]);
        assert_eq!(either(version, octets), expected, "messages cut anywhere");
    }
}

/// field case B114
#[test]
fn text_and_binary_messages_can_mix_inside_a_frame() {
    for version in ANY {
        let text = "SEND\ndestination:/q\ncontent-length:4\n\nh\u{e9}".as_bytes();
        let setup = Setup { version, ..Setup::default() };
        let outcome = setup.decode([text, &b"\xff"[..], b"\0", b"\n"]);
        let headers = [("destination", "/q"), ("content-length", "4")];
        let send = frame(Command::Send, &headers, b"h\xc3\xa9\xff");
        assert_eq!(outcome, whole([send, Eol]));
    }
}

/// field case B115
#[test]
fn a_message_that_lost_its_nul_is_incomplete_and_is_not_mended() {
    for version in ANY {
        let cut = b"CONNECTED\nversion:1.2\n\n";
        assert_eq!(either(version, cut), waiting([], cut, cut.len() as u64));
        let counted = b"MESSAGE\ncontent-length:2\n\nhi";
        assert_eq!(either(version, counted), waiting([], counted, counted.len() as u64));
    }
}

/// field case B116
#[test]
fn a_subprotocol_is_one_that_was_offered_the_best_both_speak_or_none() {
    let all = VersionSet::ALL;
    assert_eq!(offer(all), "v12.stomp, v11.stomp, v10.stomp");
    for (lines, chosen) in [
        (&["v10.stomp, v11.stomp, v12.stomp"][..], Some(Version::V1_2)),
        (&["v10.stomp", "v11.stomp"], Some(Version::V1_1)),
        (&["v11.stomp,v10.stomp"], Some(Version::V1_1)),
        (&["mqtt", " \tv10.stomp , soap"], Some(Version::V1_0)),
        (&["V12.STOMP, v12.stompx, v1.2.stomp, stomp"], None),
        (&["mqtt, amqp"], None),
        (&[""], None),
        (&[], None),
    ] {
        assert_eq!(select(lines.iter().copied(), all), chosen, "{lines:?}");
    }
    let old = VersionSet::of(&[Version::V1_0, Version::V1_1]);
    assert_eq!(select([offer(all).as_str()], old), Some(Version::V1_1));
    assert_eq!(select(["v12.stomp"], old), None, "never one that the server does not speak");
    for version in Version::ALL {
        let answer = Some(version.subprotocol());
        assert_eq!(verify(all, answer), Answer::Negotiated(version));
        let others: VersionSet = all.iter().filter(|other| *other != version).collect();
        assert_eq!(verify(others, answer), Answer::NotOffered(version));
        assert_eq!(verify(VersionSet::EMPTY, answer), Answer::Unsolicited(Some(version)));
    }
    assert_eq!(verify(all, None), Answer::None);
    assert_eq!(verify(all, Some("v12.stomp, v11.stomp")), Answer::Unknown, "one, not a list");
    assert_eq!(verify(all, Some("V12.STOMP")), Answer::Unknown);
    assert_eq!(verify(VersionSet::EMPTY, Some("mqtt")), Answer::Unsolicited(None));
}

/// field case B118
#[test]
fn the_wrappers_of_sockjs_are_no_stomp() {
    for version in ANY {
        for message in
            ["o", "h", "a[\"CONNECTED\\nversion:1.2\\n\\n\\u0000\"]", "c[3000,\"Go away!\"]"]
        {
            assert_eq!(either(version, message.as_bytes()), failed([], UnknownCommand, 0));
            let behind = [b"\n", message.as_bytes()].concat();
            assert_eq!(either(version, &behind), failed([Eol], UnknownCommand, 1));
        }
    }
}
