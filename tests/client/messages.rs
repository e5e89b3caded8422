//! MESSAGE: what it must have, and whose it is.

use stomp_proto::client::{AckMode, SubscribeRequest};
use stomp_proto::codec::DecodeErrorKind;
use stomp_proto::{CloseReason, Command, MalformedHeader, ProtocolError, Session};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, limited, message};

fn missing(command: Command, name: &'static str) -> CloseReason {
    CloseReason::Protocol(ProtocolError::MissingHeader { command, name })
}

#[test]
fn a_message_reads_out_what_it_carries() {
    let mut app = App::connected(V1_2);
    let subscription = app.subscribe("a:b", AckMode::Auto);
    let message = app.message(
        "MESSAGE\nmessage-id:m\\c1\nsubscription:a\\cb\nredelivered:false\nfoo:1\nfoo:2\n\
         destination:/queue/a\\cb\ndestination:/later\ncontent-length:3\n\na\0b\0",
    );
    assert_eq!(message.subscription(), Some(subscription));
    assert_eq!(message.message_id(), "m:1");
    assert_eq!(message.destination(), "/queue/a:b", "the first entry counts");
    assert_eq!(message.headers().get("redelivered").as_deref(), Some("false"), "M-013");
    assert_eq!(message.headers().get_all("foo").collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(message.body(), &b"a\0b"[..]);
    assert_eq!(message.token(), None);
    assert_eq!(message.as_frame().command(), Command::Message);
    assert_eq!(message.into_frame().header("message-id").as_deref(), Some("m:1"));
}

/// requirement M-008
#[test]
fn a_message_without_a_header_that_it_must_have_ends_the_session() {
    let lines = ["destination:/q\n", "message-id:1\n", "subscription:0\n"];
    for version in [V1_0, V1_1, V1_2] {
        for (index, name) in ["destination", "message-id", "subscription"].into_iter().enumerate() {
            let mut lines = lines.to_vec();
            lines.remove(index);
            let octets = format!("MESSAGE\n{}\nx\0", lines.concat());
            let mut app = App::connected(version);
            if version == V1_0 && name == "subscription" {
                assert_eq!(app.hears(octets), ["MESSAGE 1"]);
            } else {
                assert_eq!(app.ends(octets), missing(Command::Message, name));
            }
        }
    }
}

/// requirement M-011, field case B83
#[test]
fn a_message_to_be_acknowledged_on_1_2_must_say_how() {
    let octets = "MESSAGE\nsubscription:0\nmessage-id:42\ndestination:/q\n\nx\0";
    for mode in [AckMode::Client, AckMode::ClientIndividual] {
        let mut app = App::connected(V1_2);
        app.subscribe("0", mode);
        assert_eq!(app.ends(octets), missing(Command::Message, "ack"));
        for version in [V1_0, V1_1] {
            let mut app = App::connected(version);
            app.subscribe("0", mode);
            assert!(app.message(octets).token().is_some());
        }
    }
    let mut app = App::connected(V1_2);
    app.subscribe("0", AckMode::Auto);
    assert_eq!(app.message(octets).token(), None, "mandatory in a client mode alone");
}

#[test]
fn a_message_without_ack_that_was_under_way_for_an_earlier_subscription_is_excused() {
    let mut app = App::connected(V1_2);
    let earlier = app.subscribe("0", AckMode::Auto);
    app.client.unsubscribe(earlier).unwrap();
    app.written();
    app.subscribe("0", AckMode::Client);
    let octets = "MESSAGE\nsubscription:0\nmessage-id:42\ndestination:/q\n\nx\0";
    assert_eq!(app.message(octets).token(), None);
    assert!(app.message(message("0", "43")).token().is_some());
}

#[test]
fn a_message_without_ack_of_a_subscription_that_has_ended_cannot_be_acknowledged() {
    let mut app = App::connected(V1_2);
    let ended = app.subscribe("0", AckMode::Client);
    app.client.unsubscribe(ended).unwrap();
    let octets = "MESSAGE\nsubscription:0\nmessage-id:42\ndestination:/q\n\nx\0";
    assert_eq!(app.message(octets).token(), None);
}

/// requirements U-005, M-010
#[test]
fn a_message_of_an_unknown_or_ended_subscription_is_a_message_all_the_same() {
    let mut app = App::connected(V1_2);
    let ended = app.subscribe("0", AckMode::Auto);
    app.client.unsubscribe(ended).unwrap();
    for subscription in ["0", "/temp-queue/foo", ""] {
        let message = app.message(message(subscription, "m"));
        assert_eq!((message.subscription(), message.token()), (None, None));
        assert_eq!(message.body(), "x");
    }
}

/// requirement M-012
#[test]
fn on_1_0_a_message_that_names_no_subscription_belongs_to_the_only_one_of_its_destination() {
    let octets = "MESSAGE\nmessage-id: 7\ndestination: /q\n\nx\0";
    let mut app = App::connected(V1_0);
    assert_eq!(app.message(octets).subscription(), None);
    let first = app.subscribe("a", AckMode::Client);
    app.subscribe_to("/other", AckMode::Auto);
    let message = app.message(octets);
    assert_eq!(message.subscription(), Some(first));
    assert_eq!((&*message.message_id(), &*message.destination()), ("7", "/q"));
    let token = message.token().unwrap();
    let second = app.subscribe_to("/q", AckMode::Client);
    let message = app.message(octets);
    assert_eq!(message.subscription(), None, "one of two");
    assert_eq!(message.token(), Some(token), "to be acknowledged whichever it is");
    app.client.unsubscribe(second).unwrap();
    assert_eq!(app.message(octets).subscription(), Some(first));
    let named = app.message("MESSAGE\nsubscription:a\nmessage-id:7\ndestination:/x\n\nx\0");
    assert_eq!(named.subscription(), Some(first), "the name comes first where there is one");
}

/// requirement H-001, field case B45
#[test]
fn on_1_0_a_backslash_is_data() {
    let mut app = App::connected(V1_0);
    let message = app.message("MESSAGE\nmessage-id:1\ndestination:/q\npath:a\\nb\n\nx\0");
    assert_eq!(message.headers().get("path").as_deref(), Some("a\\nb"));
}

/// requirement D-12
#[test]
fn a_malformed_header_line_is_kept_apart_or_ends_the_session_as_configured() {
    let octets = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\npoison\n\nx\0";
    let mut app = App::connected(V1_2);
    let message = app.message(octets);
    assert_eq!(message.as_frame().malformed_headers().collect::<Vec<_>>(), [b"poison"]);
    let config = config().malformed_header(MalformedHeader::Reject);
    let reason = App::connected_with(config, V1_2).ends(octets);
    let CloseReason::Protocol(ProtocolError::Decode(error)) = reason else { panic!("{reason:?}") };
    assert_eq!(error.kind, DecodeErrorKind::MissingColon);
}

/// field case B96
#[test]
fn the_first_message_may_come_before_the_receipt_of_its_subscribe() {
    let mut app = App::connected(V1_2);
    let receipt = app.client.next_receipt();
    let request = SubscribeRequest::new("/q").id("0").receipt(receipt);
    let subscription = app.client.subscribe(&request).unwrap();
    assert_eq!(app.message(message("0", "1")).subscription(), Some(subscription));
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["RECEIPT 1"]);
}

#[test]
fn frames_are_read_one_at_a_time_and_octet_by_octet() {
    let octets = [message("0", "1"), "\n".into(), message("0", "2"), "\n\r\n".into()].concat();
    let mut app = App::connected(V1_2);
    app.feed(&octets);
    let first = app.event();
    assert!(first.is_some() && app.told() == ["MESSAGE 2"]);
    let mut told = Vec::new();
    for octet in octets.bytes() {
        told.extend(app.hears([octet]));
    }
    assert_eq!(told, ["MESSAGE 1", "MESSAGE 2"]);
}

#[test]
fn an_idle_session_gives_its_memory_back_but_not_between_two_reads_of_one_turn() {
    let mut app = App::connected(V1_2);
    app.at(1);
    app.client.buffers().0.reserve(4096);
    assert_eq!(app.hears(message("0", "1")), ["MESSAGE 1"]);
    assert_eq!(app.told(), NOTHING);
    assert!(app.client.buffers().0.capacity() > 0);
    app.at(2);
    assert_eq!(app.told(), NOTHING);
    assert_eq!(app.client.buffers().0.capacity(), 0);
}

#[test]
fn not_polling_is_back_pressure() {
    let mut app = App::connected_with(limited(|limits| limits.max_inbox_len = 100), V1_2);
    assert!(app.client.wants_read());
    for id in ["1", "2", "3"] {
        app.feed(message("0", id));
    }
    assert!(!app.client.wants_read());
    assert_eq!(app.told(), ["MESSAGE 1", "MESSAGE 2", "MESSAGE 3"]);
    assert!(app.client.wants_read());
    assert_eq!(app.told(), NOTHING);
}
