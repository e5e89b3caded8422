//! Field cases about receipts, transactions, subscription ids and destinations.

use stomp_proto::Session;
use stomp_proto::server::Delivery;

use crate::harness::{
    Broker, NOTHING, V1_0, V1_1, V1_2, error, error_for, limited, receipt, refused,
};

/// B92: receipt-id emitted twice
#[test]
fn b92_one_receipt_with_one_header() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SUBSCRIBE\nid:0\ndestination:/q\nreceipt:r1\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
    broker.confirm();
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:r1\n\n\0"]);
}

/// B93: RECEIPT and ERROR for the same frame
#[test]
fn b93_one_or_the_other() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SEND\nreceipt:m-1\n\nno destination\0");
    let closed = r#"CLOSED Protocol(MissingHeader { command: Send, name: "destination" }) []"#;
    assert_eq!(broker.told(), [closed]);
    let written = broker.written();
    assert_eq!(written, ["ERROR\nreceipt-id:m-1\nmessage:missing destination\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

/// B96: first MESSAGE versus the SUBSCRIBE receipt
#[test]
fn b96_the_receipt_comes_first() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("SUBSCRIBE\nid:0\ndestination:/q\nreceipt:sub-r\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
    let delivery = Delivery::builder("/q").body("x").build();
    let early = broker.try_deliver(0, &delivery, 1);
    assert_eq!(refused(early, 1), stomp_proto::UsageError::UnknownSubscription);
    broker.confirm();
    broker.try_deliver(0, &delivery, 1).unwrap();
    let message = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\ncontent-length:1\n\nx\0";
    assert_eq!(broker.written(), ["RECEIPT\nreceipt-id:sub-r\n\n\0", message]);
}

/// B98: client call order under pipelining
#[test]
fn b98_frames_of_one_read_are_worked_on_in_their_order() {
    let mut broker = Broker::connected(V1_2);
    broker.feed(
        "BEGIN\ntransaction:t\n\n\0SEND\ndestination:/q\ntransaction:t\n\nx\0\
         COMMIT\ntransaction:t\nreceipt:c\n\n\0",
    );
    assert_eq!(broker.told(), ["COMMIT t: SEND /q \"x\""]);
    assert_eq!(broker.written(), NOTHING, "before it took effect");
    broker.confirm();
    assert_eq!(broker.written(), [receipt("c")]);
}

/// B100: unknown transaction
#[test]
fn b100_a_frame_of_an_unknown_transaction_is_never_run_outside_it() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.feed("SEND\ndestination:/q\ntransaction:nope\n\nx\0");
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownTransaction) []"]);
        assert_eq!(broker.written(), [error("no such transaction")]);
        let mut broker = Broker::connected(version);
        broker.feed("COMMIT\n\n\0");
        let missing = r#"MissingHeader { command: Commit, name: "transaction" }"#;
        assert_eq!(broker.told(), [format!("CLOSED Protocol({missing}) []")]);
        assert_eq!(broker.written(), [error("missing transaction")]);
    }
}

/// B102: double settlement on COMMIT; here the second one is refused at once
#[test]
fn b102_a_delivery_is_settled_once_and_others_are_left_alone() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client-individual");
    let named = |ack: &str| Delivery::builder("/q").ack_id(ack).body("x").build();
    broker.send(0, &named("1"), 1);
    broker.send(0, &named("2"), 2);
    broker.feed("BEGIN\ntransaction:t\n\n\0ACK\nid:1\ntransaction:t\n\n\0");
    broker.feed("ACK\nid:2\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [2]"], "outside of the transaction");
    broker.feed("NACK\nid:1\ntransaction:t\n\n\0COMMIT\ntransaction:t\nreceipt:c\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"], "settled by neither");
    assert_eq!(broker.written(), [error("unknown ack id")]);
}

/// B104: unbounded transactions
#[test]
fn b104_a_transaction_does_not_grow_for_ever() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("BEGIN\ntransaction:t\n\n\0");
    let send = "SEND\ndestination:/q\ntransaction:t\n\nx\0";
    broker.feed(send.repeat(1024));
    assert_eq!((broker.told(), broker.written()), (vec![], vec![]));
    broker.feed(send);
    let limit = "LimitExceeded(Limit { what: TransactionFrames, most: 1024 })";
    assert_eq!(broker.told(), [format!("CLOSED Protocol({limit}) []")]);
    assert_eq!(broker.written(), [error("more than 1024 frames in a transaction")]);

    let mut broker = Broker::connected(V1_2);
    for number in 1..=17 {
        assert_eq!(broker.told(), NOTHING);
        broker.feed(format!("BEGIN\ntransaction:{number}\n\n\0"));
    }
    let limit = "LimitExceeded(Limit { what: Transactions, most: 16 })";
    assert_eq!(broker.told(), [format!("CLOSED Protocol({limit}) []")]);

    let mut broker = Broker::connected(V1_2);
    broker.feed("BEGIN\ntransaction:t\n\n\0");
    let body = "x".repeat(8 << 20);
    let send = format!("SEND\ndestination:/q\ntransaction:t\ncontent-length:8388608\n\n{body}\0");
    broker.feed(&send);
    assert_eq!(broker.told(), NOTHING);
    broker.feed(&send);
    let limit = "LimitExceeded(Limit { what: TransactionOctets, most: 16777216 })";
    assert_eq!(broker.told(), [format!("CLOSED Protocol({limit}) []")], "their heads count too");
}

/// B106: subscription ids: missing, empty, duplicate
#[test]
fn b106_ids_are_required_and_unique_from_1_1_on() {
    for version in [V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.feed("SUBSCRIBE\ndestination:/q\n\n\0");
        assert_eq!(broker.told().len(), 1);
        assert!(broker.written()[0].starts_with("ERROR\nmessage:invalid subscription\n"));
        let mut broker = Broker::connected(version);
        broker.feed("SUBSCRIBE\nid:1\ndestination:/a\n\n\0SUBSCRIBE\nid:1\ndestination:/b\n\n\0");
        let told = ["SUBSCRIBE #0 /a auto", "CLOSED Protocol(DuplicateSubscription) []"];
        assert_eq!(broker.told(), told);
        assert_eq!(broker.written(), [error("subscription id is in use")]);
        let mut broker = Broker::connected(version);
        broker.subscribe("1", "auto");
        broker.unsubscribe("1");
        assert_eq!(broker.subscribe("1", "auto"), 1, "free again");
    }
    let mut broker = Broker::connected(V1_0);
    broker.feed("SUBSCRIBE\ndestination:/a\n\n\0UNSUBSCRIBE\ndestination:/a\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /a auto", "UNSUBSCRIBE #0"]);
}

/// B108: empty destination; one that the broker does not like is the application's matter
#[test]
fn b108_a_destination_is_not_empty() {
    for (frame, message) in [
        ("SUBSCRIBE\nid:1\ndestination:\nreceipt:r\n\n\0", "invalid destination"),
        ("SEND\ndestination:\nreceipt:r\n\nx\0", "invalid destination"),
        ("SEND\nreceipt:r\n\nx\0", "missing destination"),
    ] {
        let mut broker = Broker::connected(V1_2);
        broker.feed(frame);
        assert!(broker.told()[0].starts_with("CLOSED Protocol("));
        assert_eq!(broker.written(), [error_for("r", message)]);
        assert!(broker.server.wants_shutdown());
    }
    let mut broker = Broker::connected(V1_0);
    broker.feed("SEND\ndestination:  \n\nx\0");
    assert!(broker.told()[0].contains("InvalidHeader"), "blanks of 1.0 are no destination");
    let mut broker = Broker::connected_with(limited(|_| {}), V1_2);
    broker.feed("SEND\ndestination:/queue/\n\nx\0");
    assert_eq!(broker.told(), ["SEND /queue/ \"x\""], "opaque to the session");
}
