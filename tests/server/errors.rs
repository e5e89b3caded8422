//! Every error that a server can produce: the event, and the octets that the client gets.

use stomp_proto::codec::EncodeError;
use stomp_proto::server::{Accept, Delivery, Dialect, Failure, Reply};
use stomp_proto::{Bound, Command, Limit, ServerConfig, UsageError, VersionSet};

use crate::harness::{
    Broker, NOTHING, V1_0, V1_1, V1_2, error, error_for, limited, refused, speaking,
};

/// How the session ends, and the ERROR that says so.
fn outcome(broker: &mut Broker, octets: impl AsRef<[u8]>) -> (String, Vec<String>) {
    broker.feed(octets);
    let mut told = broker.told();
    assert_eq!(told.len(), 1, "{told:?}");
    (told.remove(0), broker.written())
}

/// requirements F-009 to F-016, F-027, B-002, B-007, B-009, B-011, ER-011
#[test]
fn decode() {
    let connected = "CONNECT\naccept-version:1.2\nhost:h\n\n\0".len();
    for (octets, kind, at, message) in [
        (&b"SENDX\n"[..], "UnknownCommand", 4, "unknown command"),
        (b"send\n", "UnknownCommand", 0, "unknown command"),
        (b"SEND\nfoo\n", "MissingColon", 8, "malformed frame"),
        (b"SEND\n:x\n", "EmptyName", 5, "malformed frame"),
        (b"SEND\na:\\t\n", "InvalidEscape", 7, "malformed frame"),
        (b"SEND\na:\\\n", "InvalidEscape", 7, "malformed frame"),
        (b"SEND\na:\xff\n", "NotUtf8", 7, "malformed frame"),
        (b"SEND\na:b\rc\n", "StrayCarriageReturn", 8, "malformed frame"),
        (b"SEND\na:b\0", "NulInHead", 8, "malformed frame"),
        (b"DISCONNECT\nreceipt:77\n\0", "NulInHead", 22, "malformed frame"),
        (b"SEND\ncontent-length:+3\n", "InvalidContentLength", 20, "malformed frame"),
        (
            b"SEND\ncontent-length:3\ncontent-length:1\n",
            "InvalidContentLength",
            37,
            "malformed frame",
        ),
        (b"SEND\ncontent-length:1\n\nxy\0", "MissingNul", 24, "malformed frame"),
        (b"BEGIN\ntransaction:t\n\nx\0", "UnexpectedBody", 21, "malformed frame"),
    ] {
        let mut broker = Broker::connected(V1_2);
        let outcome = outcome(&mut broker, octets);
        let offset = connected + at;
        let decode = format!("DecodeError {{ kind: {kind}, offset: {offset} }}");
        let closed = format!("CLOSED Protocol(Decode({decode})) []");
        assert_eq!(outcome, (closed, vec![error(message)]), "{}", octets.escape_ascii());
    }
    let mut broker = Broker::connected_with(limited(|limits| limits.max_headers = 2), V1_2);
    let (told, written) = outcome(&mut broker, "SEND\na:1\na:2\na:3\n");
    assert!(told.contains("TooManyHeaders { limit: 2 }"), "{told}");
    assert_eq!(written, [error("head too large")]);
}

#[test]
fn foreign() {
    for (octets, kind) in [("GET / HTTP/1.1\r\n", "Http"), ("\u{16}\u{3}", "Tls")] {
        let outcome = outcome(&mut Broker::new(ServerConfig::default()), octets);
        assert_eq!(outcome, (format!("CLOSED Protocol(Foreign({kind})) []"), vec![]));
    }
    let (told, written) = outcome(&mut Broker::connected(V1_2), "GET / HTTP/1.1\r\n");
    assert!(told.contains("UnknownCommand"), "whoever has said CONNECT speaks STOMP: {told}");
    assert_eq!(written, [error("unknown command")]);
}

/// requirements C-028, C-029, C-038, F-020
#[test]
fn unexpected_frame_and_not_connected() {
    let mut broker = Broker::connected_with(speaking(Dialect::SPEC), V1_0);
    let nack = outcome(&mut broker, "NACK\nmessage-id:1\nreceipt:r\n\n\0");
    let unexpected = |command: &str| format!("CLOSED Protocol(UnexpectedFrame({command})) []");
    assert_eq!(nack, (unexpected("Nack"), vec![error_for("r", "unexpected NACK")]));
    let mut broker = Broker::connected(V1_1);
    let message = outcome(&mut broker, "MESSAGE\ndestination:/q\nmessage-id:1\n\nx\0");
    assert_eq!(message, (unexpected("Message"), vec![error("unexpected MESSAGE")]));
    let mut broker = Broker::connected(V1_2);
    let connect = outcome(&mut broker, "CONNECT\naccept-version:1.2\nhost:h\n\n\0");
    assert_eq!(connect, (unexpected("Connect"), vec![error("already connected")]));
    let mut broker = Broker::new(ServerConfig::default());
    let send = outcome(&mut broker, "SEND\ndestination:/q\n\nx\0");
    let closed = "CLOSED Protocol(NotConnected(Send)) []".to_owned();
    assert_eq!(send, (closed, vec![error("not connected")]));
}

/// requirements S-001, SU-001, U-002, A-001, T-001, ER-005
#[test]
fn missing_and_invalid_header() {
    for (frame, defect, message) in [
        ("SEND\nreceipt:r\n\nx\0", r#"Send, name: "destination""#, "missing destination"),
        (
            "SUBSCRIBE\nid:0\nreceipt:r\n\n\0",
            r#"Subscribe, name: "destination""#,
            "missing destination",
        ),
        ("UNSUBSCRIBE\nreceipt:r\n\n\0", r#"Unsubscribe, name: "id""#, "missing id"),
        ("ACK\nreceipt:r\n\n\0", r#"Ack, name: "id""#, "missing id"),
        ("NACK\nreceipt:r\n\n\0", r#"Nack, name: "id""#, "missing id"),
        ("BEGIN\nreceipt:r\n\n\0", r#"Begin, name: "transaction""#, "missing transaction"),
    ] {
        let closed = format!("CLOSED Protocol(MissingHeader {{ command: {defect} }}) []");
        let outcome = outcome(&mut Broker::connected(V1_2), frame);
        assert_eq!(outcome, (closed, vec![error_for("r", message)]));
    }
    for (frame, defect, message) in [
        (
            "SEND\ndestination:\nreceipt:r\n\nx\0",
            r#"Send, name: "destination""#,
            "invalid destination",
        ),
        (
            "SUBSCRIBE\nid:0\ndestination:/q\nack:foo\nreceipt:r\n\n\0",
            r#"Subscribe, name: "ack""#,
            "invalid ack",
        ),
    ] {
        let closed = format!("CLOSED Protocol(InvalidHeader {{ command: {defect} }}) []");
        let outcome = outcome(&mut Broker::connected(V1_2), frame);
        assert_eq!(outcome, (closed, vec![error_for("r", message)]));
    }
    let mut broker = Broker::connected(V1_1);
    let (_, written) = outcome(&mut broker, "SUBSCRIBE\ndestination:/q\nreceipt:r\n\n\0");
    let expected = "ERROR\nreceipt-id:r\nmessage:invalid subscription\ncontent-type:text/plain\n\
                    content-length:18\n\nid header required\0";
    assert_eq!(written, [expected]);
}

#[test]
fn unexpected_body() {
    let mut broker = Broker::new(ServerConfig::default());
    let stomp = outcome(&mut broker, "STOMP\naccept-version:1.1\nhost:h\n\nx\0");
    let closed = "CLOSED Protocol(UnexpectedBody(Stomp)) []".to_owned();
    assert_eq!(stomp, (closed, vec![error("body on STOMP")]));
}

/// requirement C-021
#[test]
fn no_common_version() {
    let mut config = ServerConfig::default();
    config.versions = VersionSet::of(&[V1_2]);
    let mut broker = Broker::new(config);
    let (told, written) = outcome(&mut broker, "CONNECT\naccept-version:1.0,1.1,7\n\n\0");
    assert_eq!(told, "CLOSED Protocol(NoCommonVersion({V1_0, V1_1})) []");
    let expected = "ERROR\nversion:1.2\nmessage:unsupported version\ncontent-type:text/plain\n\
                    content-length:27\n\nSupported versions are 1.2\n\0";
    assert_eq!(written, [expected]);
}

/// requirements SU-004, U-003, T-004, T-006, A-009
#[test]
fn duplicate_and_unknown_names() {
    let subscribe = "SUBSCRIBE\nid:0\ndestination:/q\nreceipt:r\n\n\0";
    for (before, frame, name, message) in [
        (subscribe, subscribe, "DuplicateSubscription", "subscription id is in use"),
        ("", "UNSUBSCRIBE\nid:0\nreceipt:r\n\n\0", "UnknownSubscription", "no such subscription"),
        (
            "BEGIN\ntransaction:t\n\n\0",
            "BEGIN\ntransaction:t\nreceipt:r\n\n\0",
            "DuplicateTransaction",
            "transaction was begun already",
        ),
        ("", "COMMIT\ntransaction:t\nreceipt:r\n\n\0", "UnknownTransaction", "no such transaction"),
        ("", "ACK\nid:nope\nreceipt:r\n\n\0", "UnknownDelivery", "unknown ack id"),
    ] {
        let mut broker = Broker::connected(V1_2);
        broker.feed(before);
        broker.told();
        let outcome = outcome(&mut broker, frame);
        assert_eq!(outcome, (format!("CLOSED Protocol({name}) []"), vec![error_for("r", message)]));
    }
}

/// requirement T-014; the other limits are told of in `limits`
#[test]
fn limit_exceeded() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_transactions = 0), V1_2);
    let outcome = outcome(&mut broker, "BEGIN\ntransaction:t\nreceipt:r\n\n\0");
    let closed = "CLOSED Protocol(LimitExceeded(Limit { what: Transactions, most: 0 })) []";
    let written = vec![error_for("r", "more than 0 open transactions")];
    assert_eq!(outcome, (closed.to_owned(), written));
}

#[test]
fn usage_errors_leave_the_session_as_it_was() {
    let delivery = Delivery::builder("/q").message_id("m").ack_id("t").header("k", "\0").build();
    let plain = Delivery::builder("/q").build();
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    let reply = broker.connect.take().unwrap();
    let no = broker.server.accept(reply, &Accept::new("\0")).unwrap_err();
    let unrepresentable = EncodeError::Unrepresentable {
        name: "session".into(),
        command: Command::Connected,
        version: V1_2,
    };
    assert_eq!(no.error, UsageError::Encode(unrepresentable));
    let owned = Accept::new("s").header("server", "x");
    let no = broker.server.accept(no.token, &owned).unwrap_err();
    assert_eq!(no.error, UsageError::OwnedHeader("server".into()));
    broker.connect = Some(no.token);
    broker.accept(&Accept::new("s"));
    assert_eq!(broker.written().len(), 1);

    let mut config = limited(|limits| limits.max_unacknowledged = 2);
    config.dialect = Dialect::SPEC;
    let mut broker = Broker::connected_with(config, V1_2);
    broker.subscribe("0", "client");
    let no = refused(broker.try_deliver(0, &delivery, 1), 1);
    assert_eq!(no, UsageError::HeadersNotCarried(1));
    let named = Delivery::builder("/q").message_id("m").ack_id("t").build();
    broker.send(0, &named, 2);
    let no = refused(broker.try_deliver(0, &named, 3), 3);
    assert_eq!(no, UsageError::DuplicateMessageId);
    let other = Delivery::builder("/q").message_id("n").ack_id("t").build();
    assert_eq!(refused(broker.try_deliver(0, &other, 4), 4), UsageError::DuplicateAckId);
    broker.deliver(0, 5);
    let limit = Limit { what: Bound::Unacknowledged, most: 2 };
    let no = refused(broker.try_deliver(0, &plain, 6), 6);
    assert_eq!(no, UsageError::LimitExceeded(limit));
    assert_eq!(broker.release(0), [2, 5]);
    broker.unsubscribe("0");
    let no = refused(broker.try_deliver(0, &plain, 7), 7);
    assert_eq!(no, UsageError::UnknownSubscription);
    assert_eq!(broker.written(), NOTHING);
    broker.server.fail(None::<Reply>, &Failure::new("x")).unwrap();
    assert_eq!(refused(broker.try_deliver(0, &plain, 8), 8), UsageError::Closed);
}

/// requirements ER-003, H-014
#[test]
fn headers_of_the_application() {
    let failure = Failure::new("gone")
        .header("subscription", "a:b")
        .header("message", "no")
        .header("receipt-id", "no")
        .header("content-length", "7")
        .header("content-type", "no")
        .header("version", "1.2")
        .header("", "no name")
        .header("lines", "a\nb")
        .explanation("why");
    let text = "content-type:text/plain\ncontent-length:3\n\nwhy\0";
    for (version, headers) in [
        (V1_0, "subscription:a:b\nversion:1.2\n"),
        (V1_1, "subscription:a\\cb\nversion:1.2\nlines:a\\nb\n"),
        (V1_2, "subscription:a\\cb\nversion:1.2\nlines:a\\nb\n"),
    ] {
        let mut broker = Broker::connected(version);
        broker.server.fail(None::<Reply>, &failure).unwrap();
        assert_eq!(broker.written(), [format!("ERROR\nmessage:gone\n{headers}{text}")]);
    }
}
