//! Field cases about WebSocket: messages are no frames, subprotocols are chosen with care.

use core::time::Duration;

use stomp_proto::client::{Event, SendRequest};
use stomp_proto::codec::DecodeErrorKind::UnknownCommand;
use stomp_proto::websocket::{Answer, offer, select, verify};
use stomp_proto::{
    Client, ClientConfig, CloseReason, Command, HeartBeat, Session, Version, VersionSet,
};

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

/// field case B114, on the way out
#[test]
fn a_frame_goes_as_text_if_all_of_it_is_utf_8_and_as_binary_if_not() {
    let mut client = connected(HeartBeat::default());
    for (k, body, is_text) in [
        ("v", &b"hi"[..], true),
        ("\u{e9}", "\u{20ac}\0".as_bytes(), true),
        ("\u{e9}", b"caf\xe9", false),
        ("v", b"\xff\xfe", false),
        ("v", b"\xe2\x82", false),
    ] {
        client.send(&SendRequest::new("/q").header("k", k).body(body.to_vec())).unwrap();
        assert_eq!(client.outbox().next_frame().map(|frame| frame.is_text), Some(is_text));
        assert!(client.outbox().next_frame().is_none(), "one message");
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

/// field case B119
#[test]
fn a_beat_is_a_message_that_holds_a_line_end_and_messages_without_octets_are_none() {
    let second = Duration::from_secs(1);
    for beat in ["\n", "\r\n"] {
        let mut client = connected(HeartBeat { can_send: 0, wants: 1000 });
        for turn in 1..=20 {
            client.receive(beat.as_bytes());
            client.handle_timeout(turn * second);
            assert_eq!(client.poll_event(turn * second), None);
        }
    }
    let mut client = connected(HeartBeat { can_send: 0, wants: 1000 });
    let silence = client.poll_timeout();
    assert_eq!(silence, Some(Duration::from_millis(2500)));
    for turn in 1..=2 {
        client.receive(b"");
        client.handle_timeout(turn * second);
        assert_eq!(client.poll_event(turn * second), None);
        assert_eq!(client.poll_timeout(), silence, "not put off");
    }
    client.receive(b"");
    client.handle_timeout(3 * second);
    assert_eq!(client.poll_event(3 * second), Some(Event::Closed(CloseReason::PeerSilent)));

    let mut client = connected(HeartBeat { can_send: 1000, wants: 0 });
    for _ in 0..3 {
        let due = client.poll_timeout().unwrap();
        client.handle_timeout(due);
        let beat = client.outbox().next_frame().unwrap();
        assert_eq!((&beat.bytes[..], beat.is_text), (&b"\n"[..], true), "data, and no ping");
        assert!(client.outbox().next_frame().is_none());
    }
}

/// A client whose CONNECT was answered at 0, by a server that gives and wants a beat a second.
#[expect(clippy::unwrap_used, reason = "a test may panic where it sets things up")]
fn connected(heart_beat: HeartBeat) -> Client<Duration> {
    let config = ClientConfig::new("h").heart_beat(heart_beat);
    let mut client = Client::new(config, Duration::ZERO).unwrap();
    assert!(client.outbox().next_frame().is_some());
    client.receive(b"CONNECTED\nversion:1.2\nheart-beat:1000,1000\n\n\0");
    assert!(matches!(client.poll_event(Duration::ZERO), Some(Event::Connected(_))));
    client
}
