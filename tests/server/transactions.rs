//! BEGIN, COMMIT, ABORT: what is held, handed over as one, or given back.

use stomp_proto::Session;
use stomp_proto::server::{Event, Failure, Work};

use crate::harness::{Broker, NOTHING, V1_0, V1_1, V1_2, error, error_for, receipt};

const BEGIN: &str = "BEGIN\ntransaction:t\n\n\0";
const COMMIT: &str = "COMMIT\ntransaction:t\nreceipt:c\n\n\0";
const ABORT: &str = "ABORT\ntransaction:t\nreceipt:a\n\n\0";
const IN_T: &str = "transaction:t\n";

/// requirements T-002, T-003, T-009, S-004
#[test]
fn commit_hands_the_frames_over_as_one_in_their_order() {
    for version in [V1_0, V1_1, V1_2] {
        let (mut broker, messages) = Broker::with_open(version, "client", 3);
        broker.feed("BEGIN\ntransaction:t\nreceipt:b\n\n\0");
        broker.feed("SEND\ndestination:/a\ntransaction:t\nreceipt:s1\n\none\0");
        broker.settle("ACK", &messages[1], "transaction:t\nreceipt:s2\n");
        broker.settle("NACK", &messages[2], "transaction:t\nreceipt:s3\n");
        broker.feed("SEND\ndestination:/b\ntransaction:t\nreceipt:s4\n\ntwo\0");
        assert_eq!(broker.told(), NOTHING, "{version}");
        let receipts = ["b", "s1", "s2", "s3", "s4"].map(receipt);
        assert_eq!(broker.written(), receipts, "each when it was accepted");
        assert_eq!(broker.server.unacknowledged(), 3, "still open");
        broker.feed(COMMIT);
        let commit = r#"COMMIT t: SEND /a "one", ACK #0 [1, 2], NACK #0 [3], SEND /b "two""#;
        assert_eq!(broker.told(), [commit]);
        assert_eq!(broker.server.unacknowledged(), 0);
        assert_eq!(broker.written(), NOTHING, "its receipt waits for its effect");
        broker.confirm();
        assert_eq!(broker.written(), [receipt("c")]);
    }
}

#[test]
fn the_frames_of_a_transaction_keep_their_headers() {
    let mut broker = Broker::connected(V1_2);
    broker.feed(BEGIN);
    broker.feed("SEND\ndestination:/a\ntransaction:t\nk\\c1:v\\n\nk\\c1:w\n\n\0");
    broker.feed(COMMIT);
    let Some(Event::Commit { transaction, work, .. }) = broker.event() else { panic!("no COMMIT") };
    assert_eq!(transaction, "t");
    let [Work::Send(frame)] = &work[..] else { panic!("{work:?}") };
    assert_eq!(frame.headers().get_all("k:1").collect::<Vec<_>>(), ["v\n", "w"]);
    assert_eq!(frame.headers().get("transaction").as_deref(), Some("t"));
}

/// requirement T-011, TR-10
#[test]
fn abort_drops_the_sends_and_gives_the_deliveries_back() {
    for version in [V1_0, V1_1, V1_2] {
        let (mut broker, messages) = Broker::with_open(version, "client", 2);
        broker.feed(BEGIN);
        broker.feed("SEND\ndestination:/a\ntransaction:t\n\none\0");
        broker.settle("ACK", &messages[0], IN_T);
        broker.feed(ABORT);
        assert_eq!(broker.told(), NOTHING, "the application never sees it");
        assert_eq!(broker.written(), [receipt("a")]);
        broker.ack(&messages[1]);
        assert_eq!(broker.told(), ["ACK #0 [1, 2]"], "{version}: both are open again");
    }
}

/// requirement T-011, field case B102
#[test]
fn what_a_transaction_settles_is_settled_by_nothing_else() {
    for version in [V1_0, V1_1, V1_2] {
        for command in ["ACK", "NACK"] {
            for lines in ["", IN_T, "transaction:u\n"] {
                let mut broker = Broker::connected(version);
                broker.subscribe("0", "client-individual");
                let message = broker.deliver(0, 1);
                broker.feed("BEGIN\ntransaction:t\n\n\0BEGIN\ntransaction:u\n\n\0");
                broker.settle("ACK", &message, IN_T);
                assert_eq!(broker.told(), NOTHING);
                broker.settle(command, &message, &format!("{lines}receipt:r\n"));
                assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"]);
                assert_eq!(broker.written(), [error_for("r", "unknown ack id")]);
            }
        }
    }
}

#[test]
fn a_cumulative_ack_passes_over_what_a_transaction_holds() {
    let (mut broker, messages) = Broker::with_open(V1_2, "client", 5);
    broker.feed("BEGIN\ntransaction:t\n\n\0BEGIN\ntransaction:u\n\n\0");
    broker.settle("ACK", &messages[1], IN_T);
    broker.settle("NACK", &messages[2], "transaction:u\n");
    broker.ack(&messages[3]);
    assert_eq!(broker.told(), ["ACK #0 [4]"]);
    broker.feed("ABORT\ntransaction:u\n\n\0");
    broker.ack(&messages[4]);
    assert_eq!(broker.told(), ["ACK #0 [3, 5]"], "not 1 and 2");
    broker.feed(COMMIT);
    assert_eq!(broker.told(), ["COMMIT t: ACK #0 [1, 2]"]);
}

#[test]
fn what_is_given_back_is_in_the_order_of_delivery_again() {
    for version in [V1_0, V1_1, V1_2] {
        let (mut broker, messages) = Broker::with_open(version, "client", 6);
        broker.feed("BEGIN\ntransaction:t\n\n\0BEGIN\ntransaction:u\n\n\0");
        broker.settle("ACK", &messages[0], IN_T);
        broker.settle("ACK", &messages[1], "transaction:u\n");
        broker.settle("ACK", &messages[3], IN_T);
        broker.settle("ACK", &messages[4], "transaction:u\n");
        broker.feed("ABORT\ntransaction:u\n\n\0ABORT\ntransaction:t\n\n\0");
        assert_eq!(broker.told(), NOTHING);
        broker.ack(&messages[2]);
        broker.ack(&messages[5]);
        assert_eq!(broker.told(), ["ACK #0 [1, 2, 3]", "ACK #0 [4, 5, 6]"], "{version}");
    }
}

#[test]
fn the_application_is_given_back_what_was_delivered_in_order() {
    let (mut broker, messages) = Broker::with_open(V1_2, "client-individual", 3);
    broker.feed(BEGIN);
    broker.settle("ACK", &messages[0], IN_T);
    broker.feed("ABORT\ntransaction:t\n\n\0");
    assert_eq!(broker.release(0), [1, 2, 3]);
}

/// chapter 0: requirement U-008 does not apply
#[test]
fn a_transaction_settles_deliveries_of_a_subscription_that_has_ended() {
    let (mut broker, messages) = Broker::with_open(V1_2, "client-individual", 3);
    broker.feed(BEGIN);
    broker.settle("ACK", &messages[1], IN_T);
    broker.unsubscribe("0");
    assert_eq!(broker.release(0), [1, 3], "all but that which the transaction settles");
    broker.feed(COMMIT);
    assert_eq!(broker.told(), ["COMMIT t: ACK #0 [2]"]);
    assert_eq!(broker.server.subscription_name(broker.subscriptions[0]), None);
}

#[test]
fn an_aborted_settlement_of_an_ended_subscription_is_open_again() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client-individual");
    let message = broker.deliver(0, 1);
    broker.feed(BEGIN);
    broker.settle("ACK", &message, IN_T);
    broker.unsubscribe("0");
    broker.feed(ABORT);
    broker.ack(&message);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
}

/// requirements T-001, T-006, T-007, S-007, field case B100
#[test]
fn a_frame_names_a_transaction_that_is_open() {
    for version in [V1_0, V1_1, V1_2] {
        for (frame, command) in [
            ("BEGIN\nreceipt:r\n\n\0", "Begin"),
            ("COMMIT\nreceipt:r\n\n\0", "Commit"),
            ("ABORT\nreceipt:r\n\n\0", "Abort"),
        ] {
            let mut broker = Broker::connected(version);
            broker.feed(frame);
            let missing = format!("MissingHeader {{ command: {command}, name: \"transaction\" }}");
            assert_eq!(broker.told(), [format!("CLOSED Protocol({missing}) []")]);
            assert_eq!(broker.written(), [error_for("r", "missing transaction")]);
        }
        for frame in [
            "COMMIT\ntransaction:u\n\n\0",
            "ABORT\ntransaction:u\n\n\0",
            "SEND\ndestination:/q\ntransaction:u\n\nx\0",
            "SEND\ndestination:/q\ntransaction:\n\nx\0",
        ] {
            let mut broker = Broker::connected(version);
            broker.feed(BEGIN);
            broker.feed(frame);
            assert_eq!(broker.told(), ["CLOSED Protocol(UnknownTransaction) []"], "{frame}");
            assert_eq!(broker.written(), [error("no such transaction")]);
        }
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "client");
        let message = broker.deliver(0, 1);
        broker.settle("ACK", &message, "transaction:u\nreceipt:r\n");
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownTransaction) [1]"]);
        assert_eq!(broker.written(), [error_for("r", "no such transaction")]);
        // Also what would settle nothing.
        let (mut broker, messages) = Broker::with_open(version, "client", 1);
        broker.ack(&messages[0]);
        assert_eq!(broker.told(), ["ACK #0 [1]"]);
        broker.settle("ACK", &messages[0], "transaction:u\n");
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownTransaction) []"]);
    }
}

/// requirements T-004, T-005
#[test]
fn a_name_is_taken_while_the_transaction_is_open_and_free_afterwards() {
    for (end, told) in [(COMMIT, vec!["COMMIT t: "]), (ABORT, vec![])] {
        let mut broker = Broker::connected(V1_2);
        broker.feed(BEGIN);
        broker.feed(end);
        broker.feed(BEGIN);
        assert_eq!(broker.told(), told);
        broker.written();
        broker.feed("BEGIN\ntransaction:t\nreceipt:r\n\n\0");
        assert_eq!(broker.told(), ["CLOSED Protocol(DuplicateTransaction) []"]);
        assert_eq!(broker.written(), [error_for("r", "transaction was begun already")]);
    }
}

/// requirement T-010
#[test]
fn a_frame_inside_is_checked_at_once() {
    let mut broker = Broker::connected(V1_2);
    broker.feed(BEGIN);
    broker.feed("SEND\ntransaction:t\nreceipt:r\n\nx\0");
    let closed = r#"CLOSED Protocol(MissingHeader { command: Send, name: "destination" }) []"#;
    assert_eq!(broker.told(), [closed]);
    assert_eq!(broker.written(), [error_for("r", "missing destination")]);
    let mut broker = Broker::connected(V1_2);
    broker.feed(BEGIN);
    broker.feed("ACK\nid:nope\ntransaction:t\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
}

#[test]
fn transactions_side_by_side_hold_their_own() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("BEGIN\ntransaction:t\n\n\0BEGIN\ntransaction:u\n\n\0");
    for (name, body) in [("t", "1"), ("u", "2"), ("t", "3")] {
        broker.feed(format!("SEND\ndestination:/q\ntransaction:{name}\n\n{body}\0"));
    }
    broker.feed("SEND\ndestination:/q\n\noutside\0COMMIT\ntransaction:u\n\n\0");
    broker.feed(COMMIT);
    let told = [
        r#"SEND /q "outside""#,
        r#"COMMIT u: SEND /q "2""#,
        r#"COMMIT t: SEND /q "1", SEND /q "3""#,
    ];
    assert_eq!(broker.told(), told);
}

/// requirements T-008, T-013
#[test]
fn every_end_of_the_session_gives_back_what_was_tentative() {
    let begun = || {
        let (mut broker, messages) = Broker::with_open(V1_2, "client", 2);
        broker.feed(BEGIN);
        broker.feed("SEND\ndestination:/a\ntransaction:t\n\none\0");
        broker.settle("ACK", &messages[0], IN_T);
        assert_eq!(broker.told(), NOTHING);
        broker
    };
    let mut broker = begun();
    broker.feed("DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    assert_eq!(broker.release(0), [1, 2], "aborted, and open again");
    broker.confirm();
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    assert_eq!(broker.written(), [receipt("d")]);

    let mut broker = begun();
    broker.server.handle_eof();
    assert_eq!(broker.told(), ["CLOSED Eof [1, 2]"]);

    let mut broker = begun();
    broker.feed(COMMIT);
    assert_eq!(broker.told(), [r#"COMMIT t: SEND /a "one", ACK #0 [1]"#]);
    broker.fail(&Failure::new("disk full"));
    assert_eq!(broker.told(), ["CLOSED Failed [2]"], "the work is the application's by then");
    assert_eq!(broker.written(), [error_for("c", "disk full")]);
}
