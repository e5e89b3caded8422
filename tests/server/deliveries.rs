//! MESSAGE: its octets in each version and mode, what is relayed, dropped, shared or refused.

use bytes::{Buf, Bytes};
use stomp_proto::codec::{ContentLength, EncodeError};
use stomp_proto::server::{Accept, Delivery, Dialect, Event, FrameEnd, SendFrame};
use stomp_proto::{Command, ServerConfig, Session, UsageError, Version};

use crate::harness::{Broker, NOTHING, V1_0, V1_1, V1_2, refused, speaking};

/// A SEND as the application gets it.
fn send(version: Version, head: &str, body: &str) -> SendFrame {
    let mut broker = Broker::connected(version);
    broker.feed(format!("SEND\n{head}\n{body}\0"));
    match broker.event() {
        Some(Event::Send { frame, .. }) => frame,
        other => panic!("{other:?}"),
    }
}

/// requirements M-001 to M-007, SU-010, SU-016, chapter 0.5
#[test]
fn a_message_is_written_octet_by_octet() {
    let delivery = Delivery::builder("/q:1").header("foo", "a:b").body("hi").build();
    let chosen = Delivery::builder("/q").message_id("m:1").ack_id("t:1").body("hi").build();
    let tail = "destination:/q\\c1\nfoo:a\\cb\ncontent-length:2\n\nhi\0";
    let plain = "destination:/q\ncontent-length:2\n\nhi\0";
    for (version, mode, ours, theirs) in [
        (V1_0, "auto", "message-id:1\n", "message-id:m:1\n"),
        (V1_0, "client", "message-id:1-0\n", "message-id:m:1\n"),
        (V1_1, "auto", "message-id:1\n", "message-id:m\\c1\n"),
        (V1_1, "client", "message-id:1-0\n", "message-id:m\\c1\n"),
        (V1_1, "client-individual", "message-id:1-0\n", "message-id:m\\c1\n"),
        (V1_2, "auto", "message-id:1\n", "message-id:m\\c1\n"),
        (V1_2, "client", "message-id:1-0\nack:a1-0\n", "message-id:m\\c1\nack:t\\c1\n"),
        (V1_2, "client-individual", "message-id:1-0\nack:a1-0\n", "message-id:m\\c1\nack:t\\c1\n"),
    ] {
        let mut broker = Broker::connected(version);
        broker.subscribe("s:0", mode);
        let tail = if version == V1_0 { tail.replace("\\c", ":") } else { tail.to_owned() };
        let message = broker.send(0, &delivery, 1);
        assert_eq!(message.0, format!("MESSAGE\nsubscription:s:0\n{ours}{tail}"));
        let message = broker.send(0, &chosen, 2);
        assert_eq!(message.0, format!("MESSAGE\nsubscription:s:0\n{theirs}{plain}"));
        let open = if mode == "auto" { 0 } else { 2 };
        assert_eq!(broker.server.unacknowledged(), open, "{version} {mode}");
    }
}

/// requirement SU-010
#[test]
fn in_auto_mode_the_value_comes_back_at_once() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("a", "auto");
    broker.subscribe("c", "client");
    let delivery = Delivery::builder("/q").build();
    let auto = broker.try_deliver(0, &delivery, 7).unwrap();
    assert_eq!((auto.settled, auto.dropped_headers), (Some(7), 0));
    let client = broker.try_deliver(1, &delivery, 8).unwrap();
    assert_eq!(client.settled, None);
    assert!(auto.tag < client.tag, "numbered in one row");
    assert_eq!((auto.tag.to_string(), client.tag.to_string()), ("1".into(), "2".into()));
    broker.server.handle_eof();
    let Some(Event::Closed { open, .. }) = broker.event() else { panic!("not closed") };
    assert_eq!(
        open.iter().map(|entry| (entry.tag, entry.value)).collect::<Vec<_>>(),
        [(client.tag, 8)]
    );
}

/// requirements B-004, B-005
#[test]
fn content_length_is_there_with_a_body_unless_left_out_on_request() {
    for (body, length, line) in [
        ("", ContentLength::Automatic, ""),
        ("é", ContentLength::Automatic, "content-length:2\n"),
        ("hi", ContentLength::Omit, ""),
        ("h\0i", ContentLength::Omit, "content-length:3\n"),
    ] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", "auto");
        let delivery = Delivery::builder("/q").body(body).content_length(length).build();
        let message = broker.send(0, &delivery, 1);
        let expected =
            format!("MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\n{line}\n{body}\0");
        assert_eq!(message.0, expected);
    }
}

/// requirements S-005, S-008, M-006, M-009, field case B27
#[test]
fn a_relayed_send_keeps_all_headers_but_those_of_the_server() {
    let owned = "subscription:9\nmessage-id:9\nack:9\nreceipt:9\n";
    let head = format!(
        "foo:World\ndestination:/a\n{owned}destination:/b\ncontent-type:text/plain\nFoo:1\n\
         k\\\\:\\n\\c\nfoo:Hello\nempty:\nredelivered:true\nmessage\\\\-id:1\ncontent-length:2\n"
    );
    let delivery = Delivery::relay(&send(V1_2, &head, "hi")).header("server", "s").build();
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    let message = broker.send(0, &delivery, 1);
    assert_eq!(
        message.0,
        "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/a\nfoo:World\n\
         content-type:text/plain\nFoo:1\nk\\\\:\\n\\c\nfoo:Hello\nempty:\nredelivered:true\n\
         message\\\\-id:1\nserver:s\ncontent-length:2\n\nhi\0"
    );
}

/// What waits in a queue must not keep the read buffer that it came in.
#[test]
fn a_relayed_body_is_copied_up_to_64_kib_and_shared_above() {
    for (len, is_shared) in [(64 * 1024, false), (64 * 1024 + 1, true)] {
        let frame = send(V1_2, "destination:/a\n", &"x".repeat(len));
        let delivery = Delivery::relay(&frame).build();
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", "auto");
        broker.try_deliver(0, &delivery, 1).unwrap();
        let outbox = broker.server.outbox();
        outbox.advance(outbox.chunk().len());
        assert_eq!(outbox.chunk().len(), len);
        assert_eq!(outbox.chunk().as_ptr() == frame.body().as_ptr(), is_shared, "{len} octets");
    }
}

#[test]
fn a_reserved_name_is_reserved_however_it_came_in() {
    let owned = ["subscription", "message-id", "ack", "destination", "content-length"];
    let mut builder = Delivery::builder("/q").body("x");
    for name in owned.into_iter().chain(["receipt", "transaction"]) {
        builder = builder.header(name, "9");
    }
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    let message = broker.send(0, &builder.build(), 1);
    assert_eq!(
        message.0,
        "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\ncontent-length:1\n\nx\0"
    );
}

/// requirements H-011, H-013, H-014, KQ-16 to KQ-18
#[test]
fn each_version_gets_what_it_can_carry() {
    let relayed =
        send(V1_2, "destination:/q\nlf:a\\nb\ncr:a\\rb\npad: x\na\\cb:v\nplain:p\\\\\n", "x");
    let delivery = Delivery::relay(&relayed).build();
    for (version, lines, dropped) in [
        (V1_0, "plain:p\\\n", 4),
        (V1_1, "lf:a\\nb\npad: x\na\\cb:v\nplain:p\\\\\n", 1),
        (V1_2, "lf:a\\nb\ncr:a\\rb\npad: x\na\\cb:v\nplain:p\\\\\n", 0),
    ] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "auto");
        let delivered = broker.try_deliver(0, &delivery, 1).unwrap();
        assert_eq!(delivered.dropped_headers, dropped, "{version}");
        let expected = format!(
            "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\n{lines}content-length:1\n\nx\0"
        );
        assert_eq!(broker.written(), [expected]);
        let mut strict = Broker::connected_with(speaking(Dialect::SPEC), version);
        strict.subscribe("0", "client");
        let delivered = strict.try_deliver(0, &delivery, 1);
        if dropped == 0 {
            assert_eq!(delivered.unwrap().dropped_headers, 0);
        } else {
            assert_eq!(refused(delivered, 1), UsageError::HeadersNotCarried(dropped));
            assert_eq!((strict.written(), strict.server.unacknowledged()), (vec![], 0));
        }
    }
}

#[test]
fn a_header_that_no_version_carries_is_dropped_in_all() {
    let delivery = Delivery::builder("/q").header("", "v").header("nul", "\0").header("n\0", "");
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "auto");
        let delivered = broker.try_deliver(0, &delivery.clone().build(), 1).unwrap();
        assert_eq!(delivered.dropped_headers, 3);
        let bare = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\n\n\0";
        assert_eq!(broker.written(), [bare]);
    }
}

#[test]
fn destination_and_message_id_are_never_dropped() {
    let unrepresentable = |name: &str, version| {
        let command = Command::Message;
        UsageError::Encode(EncodeError::Unrepresentable { name: name.into(), command, version })
    };
    let plain = Delivery::builder("/q");
    for (version, delivery, name) in [
        (V1_0, Delivery::builder("a\nb"), "destination"),
        (V1_0, Delivery::builder(" /q"), "destination"),
        (V1_1, Delivery::builder("a\rb"), "destination"),
        (V1_2, Delivery::builder("a\0b"), "destination"),
        (V1_0, plain.clone().message_id("a\nb"), "message-id"),
        (V1_1, plain.clone().message_id("a\r"), "message-id"),
        (V1_2, plain.clone().message_id("\0"), "message-id"),
        (V1_2, plain.ack_id("\0"), "ack"),
    ] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "client");
        let result = broker.try_deliver(0, &delivery.build(), 7);
        assert_eq!(refused(result, 7), unrepresentable(name, version), "{version} {name}");
        assert_eq!(broker.written(), NOTHING, "nothing is queued");
        assert_eq!(broker.server.unacknowledged(), 0);
        let next = broker.deliver(0, 8);
        assert_eq!(next.header("message-id"), Some("1-0"), "and no number is lost");
    }
}

#[test]
fn a_large_body_is_shared_by_all_that_it_is_delivered_to() {
    let body = Bytes::from(vec![b'x'; 100_000]);
    let delivery = Delivery::builder("/q").body(body.clone()).build();
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "auto");
        broker.try_deliver(0, &delivery.clone(), 1).unwrap();
        let outbox = broker.server.outbox();
        let head =
            b"MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\ncontent-length:100000\n\n";
        assert_eq!(outbox.chunk(), head);
        outbox.advance(head.len());
        assert_eq!(outbox.chunk().as_ptr(), body.as_ptr(), "not a copy");
        outbox.advance(body.len());
        assert_eq!(outbox.chunk(), b"\0");
    }
}

/// requirement W-007, W-008
#[test]
fn each_frame_is_one_message_text_or_binary() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    for body in [&b"hi"[..], b"\xff"] {
        broker.try_deliver(0, &Delivery::builder("/q").body(body).build(), 1).unwrap();
    }
    let outbox = broker.server.outbox();
    let kinds = core::iter::from_fn(|| outbox.next_frame()).map(|frame| frame.is_text);
    assert_eq!(kinds.collect::<Vec<_>>(), [true, false]);
}

/// requirement F-029
#[test]
fn frames_are_followed_by_a_line_end_if_the_config_says_so() {
    let mut config = ServerConfig::default();
    config.frame_end = FrameEnd::NulAndEol;
    let mut broker = Broker::new(config);
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\n\n\0");
    broker.told();
    broker.accept(&Accept::new("s1"));
    assert_eq!(broker.written(), ["CONNECTED\nversion:1.2\nsession:s1\nheart-beat:0,0\n\n\0\n"]);
    broker.subscribe("0", "auto");
    // Bodies that are copied and that are shared, of a session that gave its memory back before.
    for (minute, body) in [(1, "x"), (2, &"x".repeat(5000))] {
        broker.at(minute * 60_000);
        broker.at(minute * 60_000 + 1);
        assert_eq!(broker.told(), NOTHING);
        assert_eq!(broker.written(), NOTHING);
        broker.try_deliver(0, &Delivery::builder("/q").body(body.to_owned()).build(), 1).unwrap();
        assert!(broker.written().concat().ends_with(&format!("\n\n{body}\0\n")));
    }
}

#[test]
fn a_delivery_may_cross_threads() {
    fn crosses<T: Clone + Send + Sync + 'static>(_: &T) {}
    crosses(&Delivery::builder("/q").build());
}
