//! RECEIPT: one for each request that asks, when it was carried out, with the client's own octets.

use stomp_proto::server::Failure;
use stomp_proto::{Session, UsageError};

use crate::harness::{Broker, NOTHING, V1_0, V1_1, V1_2, error_for, receipt};

/// requirements B-020, RC-001, RC-002, RC-004, field case B92
#[test]
fn every_request_gets_its_receipt_when_it_is_confirmed_and_not_before() {
    for version in [V1_0, V1_1, V1_2] {
        let (mut broker, messages) = Broker::with_open(version, "client", 2);
        let asks = "receipt:r\n";
        broker.feed(format!("SEND\ndestination:/q\n{asks}\nx\0"));
        broker.feed(format!("SUBSCRIBE\nid:1\ndestination:/q\n{asks}\n\0"));
        broker.feed(format!("UNSUBSCRIBE\nid:1\n{asks}\n\0"));
        broker.settle("ACK", &messages[0], asks);
        broker.settle("NACK", &messages[1], asks);
        broker.feed("BEGIN\ntransaction:t\n\n\0");
        broker.feed(format!("COMMIT\ntransaction:t\n{asks}\n\0"));
        broker.feed(format!("DISCONNECT\n{asks}\n\0"));
        assert_eq!(broker.told().len(), 7);
        for _ in 0..7 {
            assert_eq!(broker.written(), NOTHING);
            broker.confirm();
            assert_eq!(broker.written(), [receipt("r")]);
        }
    }
}

#[test]
fn a_request_that_asks_for_none_is_confirmed_in_silence() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SEND\ndestination:/q\n\nx\0BEGIN\ntransaction:t\n\n\0ABORT\ntransaction:t\n\n\0");
    assert_eq!(broker.told(), ["SEND /q \"x\""]);
    broker.confirm();
    assert_eq!(broker.written(), NOTHING);
}

/// requirement B-021, chapter 9.1: the same octets back
#[test]
fn the_value_comes_back_as_it_was_written() {
    let both = ["", "77", "a:b", " padded ", "ü", "with blanks"];
    let escaped = ["a\\cb\\nc\\\\d", "\\c"];
    for version in [V1_1, V1_2] {
        for value in both.iter().chain(&escaped) {
            let mut broker = Broker::connected(version);
            broker.feed(format!("BEGIN\ntransaction:t\nreceipt:{value}\n\n\0"));
            assert_eq!(broker.told(), NOTHING);
            assert_eq!(broker.written(), [receipt(value)], "{version}");
        }
    }
    for value in ["a\\cb\\nc\\\\d", "a\\rb", "C:\\temp\\", "a\rb"] {
        let mut broker = Broker::connected(V1_0);
        broker.feed(format!("BEGIN\ntransaction:t\nreceipt: {value}\n\n\0"));
        assert_eq!(broker.told(), NOTHING);
        assert_eq!(broker.written(), [receipt(value)], "literal, without the padding");
    }
    let mut broker = Broker::connected(V1_2);
    broker
        .feed("BEGIN\ntransaction:t\nreceipt:a\\rb\n\n\0BEGIN\ntransaction:u\nreceipt:c\r\n\r\n\0");
    assert_eq!(broker.told(), NOTHING);
    assert_eq!(broker.written(), [receipt("a\\rb"), receipt("c")]);
}

#[test]
fn of_repeated_receipt_headers_the_first_counts() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("BEGIN\ntransaction:t\nreceipt:1\nreceipt:2\n\n\0");
    assert_eq!(broker.told(), NOTHING);
    assert_eq!(broker.written(), [receipt("1")]);
}

/// requirement RC-011
#[test]
fn receipts_go_out_in_the_order_of_the_confirmations() {
    let mut broker = Broker::connected(V1_2);
    for id in ["a", "b", "c"] {
        broker.feed(format!("SEND\ndestination:/{id}\nreceipt:{id}\n\n\0"));
    }
    assert_eq!(broker.told(), ["SEND /a \"\"", "SEND /b \"\"", "SEND /c \"\""]);
    broker.replies.swap(0, 2);
    for _ in 0..3 {
        broker.confirm();
    }
    assert_eq!(broker.written(), [receipt("c"), receipt("b"), receipt("a")]);
}

/// requirements RC-005, ER-005, ER-007, field case B93
#[test]
fn a_request_gets_a_receipt_or_an_error_and_nothing_comes_after_the_error() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SEND\ndestination:/a\nreceipt:a\n\n\0SEND\ndestination:/b\nreceipt:b\\c\n\n\0");
    broker.feed("BEGIN\ntransaction:t\nreceipt:never\n\n\0");
    assert_eq!(broker.next().as_deref(), Some("SEND /a \"\""));
    assert_eq!(broker.next().as_deref(), Some("SEND /b \"\""));
    let first = broker.replies.remove(0);
    broker.fail(&Failure::new("no such queue: b"));
    let late = broker.server.confirm(first).unwrap_err();
    assert_eq!(late.error, UsageError::Closed);
    let error = broker.server.fail(late.token, &Failure::new("as well"));
    assert_eq!(error, Err(UsageError::Closed));
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.written(), [error_for("b\\c", "no such queue\\c b")]);
}

/// requirements ER-003, ER-004, ER-006
#[test]
fn an_error_has_one_line_and_may_explain_in_a_body() {
    for (version, line) in
        [(V1_0, "a:b\\c\u{e9}  d"), (V1_1, "a\\cb\\\\c\u{e9}  d"), (V1_2, "a\\cb\\\\c\u{e9}  d")]
    {
        let mut broker = Broker::connected(version);
        broker.feed("SEND\ndestination:/q\nreceipt:r\n\n\0");
        assert_eq!(broker.told(), ["SEND /q \"\""]);
        let failure = Failure::new(" \ta:b\\c\u{e9}\r\nd").explanation("more\nof: it\0");
        broker.fail(&failure);
        let expected = format!(
            "ERROR\nreceipt-id:r\nmessage:{line}\ncontent-type:text/plain\ncontent-length:12\n\n\
             more\nof: it\0\0"
        );
        assert_eq!(broker.written(), [expected]);
    }
}

/// requirement D-004: a receipt of an earlier request may still be confirmed
#[test]
fn requests_before_disconnect_are_confirmed_before_it() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SEND\ndestination:/q\nreceipt:s\n\n\0DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["SEND /q \"\"", "DISCONNECT"]);
    broker.confirm();
    assert!(!broker.server.wants_shutdown());
    broker.confirm();
    assert_eq!(broker.written(), [receipt("s"), receipt("d")]);
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    assert!(broker.server.wants_shutdown());
}
