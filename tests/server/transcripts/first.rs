//! Transcripts TR-01 to TR-11: connecting, acknowledging, transactions.

use super::{CONNECT_1_1, CONNECTED_1_1, CONNECTED_1_2, named, strict};
use crate::harness::{Broker, NOTHING, UNSUPPORTED_VERSION, V1_1, V1_2, error};
use stomp_proto::Session;
use stomp_proto::server::{Accept, Delivery, Failure};

/// A session that was opened with CONNECT as the transcript has it.
fn open(connect: &str, told: &str, connected: &str) -> Broker {
    let mut broker = Broker::new(strict());
    broker.feed(connect);
    assert_eq!(broker.told(), [told]);
    broker.accept(&Accept::new("s1"));
    assert_eq!(broker.written(), [connected]);
    broker
}

#[test]
fn tr_01_connect_send_with_receipt_leave() {
    let connect = "CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\nlogin:u\npasscode:p\n\n\0";
    let mut broker = open(connect, "CONNECT 1.2", CONNECTED_1_2);
    broker.feed("SEND\ndestination:/queue/a\nreceipt:r1\ncontent-length:2\n\nhi\0");
    assert_eq!(broker.told(), ["SEND /queue/a \"hi\""]);
    assert_eq!(broker.written(), NOTHING);
    broker.confirm();
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:r1\n\n\0"]);
    broker.feed("DISCONNECT\nreceipt:d1\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    broker.confirm();
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    assert!(!broker.server.wants_shutdown());
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:d1\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

#[test]
fn tr_02_client_ack() {
    let mut broker = open(CONNECT_1_1, "CONNECT 1.1", CONNECTED_1_1);
    broker.subscribe("0", "client");
    let m1 = broker.send(0, &named("m1", "t1", "a"), 1);
    let expected =
        "MESSAGE\nsubscription:0\nmessage-id:m1\ndestination:/q\ncontent-length:1\n\na\0";
    assert_eq!(m1.0, expected);
    let m2 = broker.send(0, &named("m2", "t2", "b"), 2);
    assert_eq!(m2.0, expected.replace("m1", "m2").replace("\n\na", "\n\nb"));
    broker.feed("ACK\nsubscription:0\nmessage-id:m2\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1, 2]"]);
}

#[test]
fn tr_03_without_negotiation() {
    let connect = "CONNECT\nlogin:u\npasscode:p\n\n\0";
    let connected = "CONNECTED\nversion:1.0\nsession:s1\n\n\0";
    let mut broker = open(connect, "CONNECT 1.0", connected);
    broker.feed("SUBSCRIBE\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
    broker.confirm();
    let delivery = Delivery::builder("/q").header("path", "a\\nb").body("x").build();
    let message = broker.send(0, &delivery, 1);
    assert_eq!(
        message.0,
        "MESSAGE\nmessage-id:1\ndestination:/q\npath:a\\nb\ncontent-length:1\n\nx\0"
    );
    broker.feed("UNSUBSCRIBE\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["UNSUBSCRIBE #0"]);
}

#[test]
fn tr_04_no_common_version() {
    let mut broker = Broker::new(strict());
    broker.feed("CONNECT\naccept-version:2.1\nhost:h\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(NoCommonVersion({})) []"]);
    assert_eq!(broker.written(), [UNSUPPORTED_VERSION]);
    assert!(broker.server.wants_shutdown());
}

#[test]
fn tr_05_connect_and_send_in_one_read() {
    for (version, is_defined) in [(V1_1, false), (V1_2, true)] {
        let mut broker = Broker::new(strict());
        broker.feed(format!(
            "CONNECT\naccept-version:{version}\nhost:h\n\n\0SEND\ndestination:/q\nk:a\\rb\n\nx\0"
        ));
        assert_eq!(broker.told(), [format!("CONNECT {version}")]);
        broker.accept(&Accept::new("s1"));
        let connected = CONNECTED_1_1.replace("1.1", version.as_str());
        if is_defined {
            assert_eq!(broker.told(), ["SEND /q \"x\""]);
            assert_eq!(broker.written(), [connected]);
        } else {
            assert!(broker.told()[0].contains("kind: InvalidEscape"));
            assert_eq!(broker.written(), [connected, error("malformed frame")]);
            assert!(broker.server.wants_shutdown());
        }
    }
}

#[test]
fn tr_06_refused_login() {
    let mut broker = Broker::new(strict());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\nlogin:u\npasscode:bad\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    let reply = broker.connect.take().unwrap();
    broker.server.fail(reply, &Failure::new("access refused")).unwrap();
    assert_eq!(broker.written(), ["ERROR\nmessage:access refused\n\n\0"]);
    assert!(broker.server.wants_shutdown());
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
}

#[test]
fn tr_07_a_cumulative_ack_stays_in_its_subscription() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("A", "client");
    broker.subscribe("B", "client");
    for (subscription, value) in [(0, 1), (1, 2), (0, 3)] {
        let (message_id, ack_id) = (format!("m{value}"), format!("t{value}"));
        broker.send(subscription, &named(&message_id, &ack_id, "x"), value);
    }
    broker.feed("ACK\nid:t3\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1, 3]"]);
    assert_eq!(broker.release(1), [2], "m2 stays open");
}

/// `Dialect::LENIENT` would ignore the second ACK of t2: chapter 0, "Unknown or auto-mode ACK".
#[test]
fn tr_08_individual_ack_and_nack() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("A", "client-individual");
    for value in 1..=3 {
        broker.send(0, &named(&format!("m{value}"), &format!("t{value}"), "x"), value);
    }
    broker.feed("ACK\nid:t2\n\n\0NACK\nid:t3\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [2]", "NACK #0 [3]"]);
    broker.feed("ACK\nid:t2\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"]);
    assert_eq!(broker.written(), ["ERROR\nmessage:unknown ack id\n\n\0"]);
}

#[test]
fn tr_09_commit_with_sends_and_an_ack() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("0", "client");
    broker.send(0, &named("m1", "t1", "x"), 1);
    broker.feed("BEGIN\ntransaction:tx1\n\n\0");
    broker.feed("SEND\ndestination:/q\ntransaction:tx1\nreceipt:r1\ncontent-length:1\n\na\0");
    assert_eq!(broker.told(), NOTHING);
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:r1\n\n\0"]);
    broker.feed("ACK\nid:t1\ntransaction:tx1\n\n\0");
    broker.feed("COMMIT\ntransaction:tx1\nreceipt:r2\n\n\0");
    assert_eq!(broker.told(), ["COMMIT tx1: SEND /q \"a\", ACK #0 [1]"]);
    broker.confirm();
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:r2\n\n\0"]);
}

/// There is no event of an abort (design, chapter 8): the application never sees such work.
#[test]
fn tr_10_abort_gives_the_delivery_back() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("0", "client");
    broker.send(0, &named("m1", "t1", "x"), 1);
    broker.feed("BEGIN\ntransaction:tx1\n\n\0ACK\nid:t1\ntransaction:tx1\n\n\0");
    broker.feed("ABORT\ntransaction:tx1\n\n\0");
    assert_eq!(broker.told(), NOTHING);
    broker.feed("ACK\nid:t1\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
}

/// No event of the abort here either; open deliveries are listed by the last event.
#[test]
fn tr_11_implicit_abort() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("0", "client");
    broker.send(0, &named("m1", "t1", "x"), 1);
    broker.feed("BEGIN\ntransaction:tx1\n\n\0");
    broker.feed("SEND\ndestination:/q\ntransaction:tx1\ncontent-length:1\n\na\0");
    broker.feed("ACK\nid:t1\ntransaction:tx1\n\n\0");
    broker.feed("DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    broker.confirm();
    assert_eq!(broker.told(), ["CLOSED Disconnected [1]"]);
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:d\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}
