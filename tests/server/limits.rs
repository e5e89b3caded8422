//! The bounds: at each of them fine, one beyond and it is over, or refused; and back-pressure.

use stomp_proto::codec::Limits;
use stomp_proto::server::{Accept, Delivery};
use stomp_proto::{Bound, Limit, ServerConfig, Session, UsageError};

use crate::harness::{Broker, NOTHING, V1_0, V1_2, error, error_for, limited, receipt, refused};

/// A session under limits, that has been told `fits` without harm and then ends with `beyond`.
fn ends(set: impl FnOnce(&mut Limits), fits: &[String], beyond: &str, kind: &str, message: &str) {
    let mut broker = Broker::connected_with(limited(set), V1_2);
    for frame in fits {
        broker.feed(frame);
        broker.told();
        assert!(!broker.server.wants_shutdown(), "{frame:?}");
    }
    broker.feed(beyond);
    let told = broker.told();
    assert!(told.len() == 1 && told[0].contains(kind), "{told:?}");
    assert_eq!(broker.written().last(), Some(&error(message)));
    assert!(broker.server.wants_shutdown());
}

/// requirements L-001 to L-004
#[test]
fn a_frame_is_bounded_after_login() {
    let head = |len: usize| {
        let start = "SEND\ndestination:/q\nk:";
        format!("{start}{}\n\n", "v".repeat(len - start.len() - 2))
    };
    ends(
        |limits| limits.max_head_len = 500,
        &[head(500) + "x\0"],
        &head(501),
        "HeadTooLong { limit: 500 }",
        "head too large",
    );
    let lines = |count: usize| format!("SEND\ndestination:/q\n{}", "a:1\n".repeat(count - 1));
    ends(
        |limits| limits.max_headers = 7,
        &[lines(7) + "\n\0"],
        &lines(8),
        "TooManyHeaders { limit: 7 }",
        "head too large",
    );
    let body = |len: usize| format!("SEND\ndestination:/q\n\n{}", "x".repeat(len));
    let counted = |len: usize| format!("SEND\ndestination:/q\ncontent-length:{len}\n\n");
    let fits = [body(9) + "\0", counted(9) + "xxxxxxxxx\0"];
    for beyond in [body(10), counted(10), counted(usize::MAX)] {
        let set = |limits: &mut Limits| limits.max_body_len = 9;
        ends(set, &fits, &beyond, "BodyTooLong { limit: 9 }", "body too large");
    }
}

/// field case B122
#[test]
fn before_login_the_budget_is_smaller() {
    let connect = |len: usize| {
        let start = "CONNECT\naccept-version:1.2\nhost:h\nx-pad:";
        format!("{start}{}\n\n\0", "p".repeat(len - start.len() - 2))
    };
    for chunk in [1, 7, 1000] {
        let config = limited(|limits| limits.max_connect_head_len = 200);
        let mut broker = Broker::new(config.clone());
        for octets in connect(200).as_bytes().chunks(chunk) {
            broker.feed(octets);
        }
        assert_eq!(broker.told(), ["CONNECT 1.2"]);
        broker.accept(&Accept::new("s"));
        broker.written();
        broker.feed(format!("SEND\ndestination:/q\nk:{}\n\n\0", "v".repeat(1000)));
        assert_eq!(broker.told(), ["SEND /q \"\""], "from there on there is room");

        let mut broker = Broker::new(config);
        for octets in connect(201).as_bytes().chunks(chunk) {
            broker.feed(octets);
            broker.told();
        }
        assert_eq!(broker.written(), [error("head too large")], "over all chunks together");
    }
    let mut broker = Broker::new(limited(|limits| limits.max_connect_head_len = 40));
    broker.feed(format!("CONNECT\nlogin:u\n\n{}", "x".repeat(41)));
    let told = broker.told();
    assert!(told[0].contains("BodyTooLong { limit: 40 }"), "what 1.0 ignores: {told:?}");
}

/// requirement F-025
#[test]
fn line_ends_before_connect_are_counted() {
    let mut broker = Broker::new(limited(|limits| limits.max_idle_eols = 3));
    broker.feed("\n\r\n\nCONNECT\naccept-version:1.2\nhost:h\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    broker.accept(&Accept::new("s"));
    broker.written();
    broker.feed("\n".repeat(1000));
    assert_eq!(broker.told(), NOTHING, "afterwards they are heart-beats");
    let mut broker = Broker::new(limited(|limits| limits.max_idle_eols = 3));
    broker.feed("\n\n\n\n");
    let told = broker.told();
    assert!(told[0].contains("TooManyEols { limit: 3 }"), "{told:?}");
    assert_eq!(broker.written(), [error("malformed frame")]);
}

/// requirement L-005
#[test]
fn subscriptions_are_bounded_with_those_that_ended_and_have_something_open() {
    let subscribe = |id: u64| format!("SUBSCRIBE\nid:{id}\ndestination:/q\nack:client\n\n\0");
    let mut broker = Broker::connected_with(limited(|limits| limits.max_subscriptions = 2), V1_2);
    broker.subscribe("1", "client");
    broker.subscribe("2", "client");
    let message = broker.deliver(0, 1);
    broker.unsubscribe("2");
    broker.subscribe("3", "client");
    broker.unsubscribe("1");
    broker.ack(&message);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    broker.subscribe("4", "client");
    broker.deliver(2, 2);
    broker.unsubscribe("3");
    broker.feed(subscribe(5));
    let limit = "LimitExceeded(Limit { what: Subscriptions, most: 2 })";
    assert_eq!(broker.told(), [format!("CLOSED Protocol({limit}) [2]")]);
    assert_eq!(broker.written(), [error("more than 2 subscriptions")]);
}

#[test]
fn open_deliveries_are_bounded_and_auto_ones_are_not() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_unacknowledged = 2), V1_2);
    broker.subscribe("0", "client-individual");
    broker.subscribe("1", "auto");
    let first = broker.deliver(0, 1);
    broker.deliver(0, 2);
    let delivery = Delivery::builder("/q").build();
    let limit = Limit { what: Bound::Unacknowledged, most: 2 };
    let result = broker.try_deliver(0, &delivery, 3);
    assert_eq!(refused(result, 3), UsageError::LimitExceeded(limit));
    assert_eq!(broker.written(), NOTHING);
    broker.deliver(1, 4);
    broker.ack(&first);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    broker.deliver(0, 5);
    assert_eq!(broker.server.unacknowledged(), 2);
}

/// requirement T-014, field case B104
#[test]
fn transactions_are_bounded_in_number_frames_and_octets() {
    let begin = |name: usize| format!("BEGIN\ntransaction:t{name}\n\n\0");
    let send = |name: usize| format!("SEND\ndestination:/q\ntransaction:t{name}\n\nx\0");
    ends(
        |limits| limits.max_transactions = 2,
        &[begin(1), begin(2), "ABORT\ntransaction:t1\n\n\0".into(), begin(3)],
        &begin(4),
        "LimitExceeded(Limit { what: Transactions, most: 2 })",
        "more than 2 open transactions",
    );
    ends(
        |limits| limits.max_transaction_frames = 2,
        &[begin(1), begin(2), send(1), send(1), send(2), send(2)],
        &send(1),
        "LimitExceeded(Limit { what: TransactionFrames, most: 2 })",
        "more than 2 frames in a transaction",
    );
    let len = send(1).len() - 1;
    let most = 3 * len;
    let set = |limits: &mut Limits| limits.max_transaction_len = most;
    let fits = [
        vec![begin(1), begin(2), send(1), send(2)],
        vec!["ABORT\ntransaction:t2\n\n\0".into(), begin(2), send(2), send(2)],
    ]
    .concat();
    let kind = format!("LimitExceeded(Limit {{ what: TransactionOctets, most: {most} }})");
    let message = format!("more than {most} octets in transactions");
    ends(set, &fits, &send(1), &kind, &message);
}

#[test]
fn acks_in_a_transaction_count_as_its_frames() {
    let config = limited(|limits| limits.max_transaction_frames = 1);
    let mut broker = Broker::connected_with(config, V1_2);
    broker.subscribe("0", "client-individual");
    let messages: Vec<_> = (1..=2).map(|value| broker.deliver(0, value)).collect();
    broker.feed("BEGIN\ntransaction:t\n\n\0");
    broker.settle("ACK", &messages[0], "transaction:t\n");
    broker.settle("NACK", &messages[1], "transaction:t\nreceipt:r\n");
    let limit = "LimitExceeded(Limit { what: TransactionFrames, most: 1 })";
    assert_eq!(broker.told(), [format!("CLOSED Protocol({limit}) [1, 2]")]);
    assert_eq!(broker.written(), [error_for("r", "more than 1 frames in a transaction")]);
}

/// requirement F-030, field case B31
#[test]
fn another_protocol_is_told_at_its_first_octets_and_gets_no_answer() {
    for (octets, foreign) in [
        (&b"GET / HTTP/1.1\r\n"[..], "Http"),
        (b"G", "Http"),
        (b"POST /x", "Http"),
        (b"PUT ", "Http"),
        (b"HEAD ", "Http"),
        (b"OPTIONS * HTTP/1.1", "Http"),
        (b"PATCH ", "Http"),
        (b"DELETE ", "Http"),
        (b"TRACE ", "Http"),
        (b"\x16\x03\x01\x02\x00", "Tls"),
        (b"\x16", "Tls"),
    ] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(octets);
        assert_eq!(broker.told(), [format!("CLOSED Protocol(Foreign({foreign})) []")]);
        assert_eq!(broker.written(), NOTHING, "it would not understand it");
        assert!(broker.server.wants_shutdown());
    }
    for octets in
        [&b"\0\0\x01\xf0\x01ActiveMQ\0\0"[..], b"0f1e2d3c", b"\xef\xbb\xbfCONNECT\n", b"GETS"]
    {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(octets);
        let unknown = "UnknownCommand, offset: 0 }";
        let closed = format!("CLOSED Protocol(Decode(DecodeError {{ kind: {unknown})) []");
        assert_eq!(broker.told(), [closed]);
        assert_eq!(broker.written(), [error("unknown command")]);
    }
}

#[test]
fn a_stream_that_ends_in_its_first_octet_is_cut_off_and_not_foreign() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("D");
    broker.server.handle_eof();
    let truncated = "DecodeError { kind: Truncated, offset: 1 }";
    assert_eq!(broker.told(), [format!("CLOSED Protocol(Decode({truncated})) []")]);
    assert_eq!(broker.written(), [error("malformed frame")]);
}

#[test]
fn before_login_no_frame_but_connect_is_waited_for() {
    for start in ["SEND\n", "SUBSCRIBE\r\nid:", "DISCONNECT\n", "MESSAGE\na:b\n\nbody"] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(start);
        let told = broker.told();
        assert!(told[0].starts_with("CLOSED Protocol(NotConnected("), "{told:?}");
    }
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("STOMP\naccept-version:1.2\n");
    assert_eq!(broker.told(), NOTHING);
}

#[test]
fn an_application_that_does_not_poll_stops_the_reading() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_inbox_len = 100), V1_2);
    let send = "SEND\ndestination:/q\n\nx\0";
    broker.feed(send.repeat(4));
    assert!(broker.server.wants_read());
    broker.feed("\n".repeat(100 - 4 * send.len()));
    assert!(broker.server.wants_read(), "100 octets");
    broker.feed("\n");
    assert!(!broker.server.wants_read(), "101 octets");
    assert_eq!(broker.next().as_deref(), Some("SEND /q \"x\""));
    assert!(broker.server.wants_read());
    assert_eq!(broker.told().len(), 3, "what was received is not lost");
    // One frame may be larger than that: what was looked at does not count.
    for _ in 0..20 {
        broker.feed(format!("SEND\ndestination:/q\nk:{}", "v".repeat(50)));
        assert_eq!(broker.told(), NOTHING);
        assert!(broker.server.wants_read());
        broker.feed("\n\nx\0");
        assert_eq!(broker.told().len(), 1);
    }
}

#[test]
fn a_client_that_does_not_read_gets_no_more_and_is_read_no_more() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_outbox_len = 100), V1_2);
    broker.subscribe("0", "auto");
    let delivery = Delivery::builder("/q").body("x".repeat(200)).build();
    assert!(broker.server.has_room());
    broker.try_deliver(0, &delivery, 1).unwrap();
    assert!(!broker.server.has_room());
    let limit = UsageError::LimitExceeded(Limit { what: Bound::OutboxOctets, most: 100 });
    assert_eq!(refused(broker.try_deliver(0, &delivery, 2), 2), limit);
    broker.feed("SEND\ndestination:/a\nreceipt:1\n\n\0SEND\ndestination:/b\nreceipt:2\n\n\0");
    assert_eq!(broker.told(), NOTHING, "it waits for room");
    let message = broker.written();
    assert_eq!(message.len(), 1);
    assert_eq!(broker.told(), ["SEND /a \"\"", "SEND /b \"\""], "and then nothing is lost");
    broker.try_deliver(0, &delivery, 3).unwrap();
    broker.confirm();
    broker.confirm();
    let written = broker.written();
    assert_eq!(written[1..], [receipt("1"), receipt("2")], "never refused for space");
}

#[test]
fn the_outbox_is_full_one_octet_above_its_bound() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_outbox_len = 58), V1_0);
    broker.subscribe("0", "auto");
    let delivery = Delivery::builder("/q").build();
    let frame = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\n\n\0";
    let mut fill = |extra: usize| {
        broker.written();
        let padded = Delivery::builder(format!("/q{}", "x".repeat(extra))).build();
        broker.try_deliver(0, &padded, 1).unwrap();
        broker.try_deliver(0, &delivery, 2).is_ok()
    };
    assert!(fill(58 - frame.len()), "58 octets");
    assert!(!fill(59 - frame.len()), "59 octets");
}

#[test]
fn receipts_that_nobody_reads_stop_the_reading_too() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_outbox_len = 100), V1_2);
    for number in 0..50 {
        broker.feed(format!("BEGIN\ntransaction:{number}\nreceipt:{number}\n\n\0"));
        broker.feed(format!("ABORT\ntransaction:{number}\n\n\0"));
    }
    let mut seen = Vec::new();
    while seen.len() < 50 {
        assert_eq!(broker.told(), NOTHING);
        let written = broker.written();
        let octets: usize = written.iter().map(String::len).sum();
        assert!((1..=100 + 30).contains(&octets), "{octets}: one frame above the bound at most");
        seen.extend(written);
    }
    let expected: Vec<_> = (0..50).map(|number| receipt(&number.to_string())).collect();
    assert_eq!(seen, expected);
}
