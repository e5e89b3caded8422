//! BEGIN, COMMIT, ABORT: all of it or nothing, and what an end of the session makes of it.

use stomp_proto::client::{AckMode, AckRequest, EndTransaction, SendRequest, Transaction};
use stomp_proto::{Refused, Session, UsageError};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_1, V1_2};

/// A pair with subscription `#0` to `/q` in client mode, and messages `1`, `2` and `3` of it open.
fn delivered(setup: Setup) -> Pair {
    setup.delivered(AckMode::Client, ["1", "2", "3"])
}

fn send(pair: &mut Pair, transaction: &Transaction, body: &'static str) {
    let request = SendRequest::new("/out").body(body).transaction(transaction);
    pair.client.send(&request).unwrap();
}

fn ack(pair: &mut Pair, transaction: &Transaction, body: &str) {
    let token = pair.listener.token(body);
    pair.client.ack(AckRequest::new(&token).transaction(transaction)).unwrap();
}

fn nack(pair: &mut Pair, transaction: &Transaction, body: &str) {
    let token = pair.listener.token(body);
    pair.client.nack(AckRequest::new(&token).transaction(transaction)).unwrap();
}

/// requirements T-002, T-003, T-009
#[test]
fn nothing_happens_before_commit_and_then_everything_at_once() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = delivered(setup);
        let [first, last] = [pair.client.next_receipt(), pair.client.next_receipt()];
        let transaction = pair.client.begin().unwrap();
        let request = SendRequest::new("/out").body("a").transaction(&transaction);
        pair.client.send(&request.receipt(first)).unwrap();
        ack(&mut pair, &transaction, "2");
        nack(&mut pair, &transaction, "3");
        send(&mut pair, &transaction, "b");
        pair.drive();
        assert_eq!((pair.broker.told(), pair.server.unacknowledged()), (vec![], 3));
        assert_eq!(pair.listener.told(), ["RECEIPT 1"], "it was taken, not carried out");
        pair.client.commit(EndTransaction::new(transaction).receipt(last)).unwrap();
        pair.drive();
        let work = r#"SEND /out "a", ACK #0 [1, 2], NACK #0 [3], SEND /out "b""#;
        assert_eq!(pair.broker.told(), [format!("COMMIT 1: {work}")]);
        assert_eq!(pair.listener.told(), ["RECEIPT 2"]);
        let [second, third] = match version {
            V1_0 => ["message-id:2-1\n", "message-id:3-2\n"],
            V1_1 => ["subscription:1\nmessage-id:2-1\n", "subscription:1\nmessage-id:3-2\n"],
            V1_2 => ["id:a2-1\n", "id:a3-2\n"],
        };
        let written = [
            "BEGIN\ntransaction:1\n\n\0",
            "SEND\ndestination:/out\ntransaction:1\nreceipt:1\ncontent-length:1\n\na\0",
            &format!("ACK\n{second}transaction:1\n\n\0"),
            &format!("NACK\n{third}transaction:1\n\n\0"),
            "SEND\ndestination:/out\ntransaction:1\ncontent-length:1\n\nb\0",
            "COMMIT\ntransaction:1\nreceipt:2\n\n\0",
        ];
        assert_eq!(pair.up.written(), written.concat());
    }
}

/// requirement T-011
#[test]
fn abort_takes_the_sends_and_gives_the_messages_back() {
    for setup in Setup::all() {
        let mut pair = delivered(setup);
        let transaction = pair.client.begin().unwrap();
        send(&mut pair, &transaction, "a");
        ack(&mut pair, &transaction, "2");
        let receipt = pair.client.next_receipt();
        pair.client.abort(EndTransaction::new(transaction).receipt(receipt)).unwrap();
        pair.drive();
        assert_eq!((pair.broker.told(), pair.server.unacknowledged()), (vec![], 3));
        assert_eq!(pair.listener.told(), ["RECEIPT 1"]);
        pair.ack("3");
        pair.drive();
        assert_eq!(pair.broker.told(), ["ACK #0 [1, 2, 3]"]);
        assert_eq!(pair.broker.waiting("/out"), []);
    }
}

/// requirement T-008
#[test]
fn an_open_transaction_ends_with_the_session_and_without_effect() {
    type End = fn(&mut Pair);
    let ends: [(End, &[&str]); 4] = [
        (
            |pair| pair.client.disconnect(pair.now).unwrap(),
            &["DISCONNECT", "CLOSED Disconnected [1, 2, 3]"],
        ),
        (Pair::lose, &["CLOSED Lost [1, 2, 3]"]),
        (|pair| pair.server.handle_eof(), &["CLOSED Eof [1, 2, 3]"]),
        (
            |pair| pair.up.inject(b"nonsense\n", pair.now),
            &[
                "CLOSED Protocol(Decode(DecodeError { kind: UnknownCommand, offset: OFFSET })) [1, 2, 3]",
            ],
        ),
    ];
    for (end, told) in ends {
        for setup in Setup::all() {
            let mut pair = delivered(setup);
            let transaction = pair.client.begin().unwrap();
            send(&mut pair, &transaction, "a");
            ack(&mut pair, &transaction, "2");
            pair.drive();
            let offset = pair.up.read_count().to_string();
            end(&mut pair);
            pair.drive();
            let told: Vec<_> = told.iter().map(|it| it.replace("OFFSET", &offset)).collect();
            assert_eq!(pair.broker.told(), told);
            assert_eq!((pair.broker.waiting("/out"), &*pair.broker.consumed), (vec![], &[][..]));
        }
    }
}

#[test]
fn transactions_side_by_side_do_not_mix() {
    for setup in Setup::all() {
        let mut pair = delivered(setup);
        let [one, two, three] = [(); 3].map(|()| pair.client.begin().unwrap());
        ack(&mut pair, &two, "1");
        for (transaction, body) in [(&one, "a"), (&two, "b"), (&three, "c"), (&one, "d")] {
            send(&mut pair, transaction, body);
        }
        ack(&mut pair, &three, "2");
        pair.ack("3");
        pair.client.commit(two).unwrap();
        pair.client.abort(three).unwrap();
        pair.client.commit(one).unwrap();
        pair.ack("2");
        pair.drive();
        let told = [
            "ACK #0 [3]",
            "COMMIT 2: ACK #0 [1], SEND /out \"b\"",
            "COMMIT 1: SEND /out \"a\", SEND /out \"d\"",
            "ACK #0 [2]",
        ];
        assert_eq!(pair.broker.told(), told);
    }
}

/// requirement T-011
#[test]
fn what_a_transaction_settles_cannot_be_settled_besides() {
    for setup in Setup::all() {
        let mut pair = delivered(setup);
        let transaction = pair.client.begin().unwrap();
        ack(&mut pair, &transaction, "2");
        pair.ack("1");
        pair.drive();
        assert_eq!(pair.broker.told(), ["CLOSED Protocol(UnknownDelivery) [1, 2, 3]"]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unknown ack id"]);
    }
}

/// A transaction has settled one of two messages of the same id: the other is meant.
#[test]
fn what_a_transaction_settles_does_not_stand_before_its_namesake() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.delivered_namesakes();
        let transaction = pair.client.begin().unwrap();
        ack(&mut pair, &transaction, "/a");
        pair.ack("/b");
        pair.drive();
        assert_eq!(pair.broker.told(), ["ACK #1 [2]"], "{version}");
        pair.client.commit(transaction).unwrap();
        pair.drive();
        assert_eq!(pair.broker.told(), ["COMMIT 1: ACK #0 [1]"]);
    }
}

/// requirement T-013
#[test]
fn a_commit_that_fails_is_an_error_about_its_receipt() {
    for setup in Setup::all() {
        let mut pair = delivered(setup);
        let transaction = pair.client.begin().unwrap();
        ack(&mut pair, &transaction, "1");
        pair.broker.answers = Answers::Failing("disk full");
        let receipt = pair.client.next_receipt();
        pair.client.commit(EndTransaction::new(transaction).receipt(receipt)).unwrap();
        pair.drive();
        assert_eq!(pair.broker.told(), ["COMMIT 1: ACK #0 [1]", "CLOSED Failed [2, 3]"]);
        assert_eq!(pair.down.written(), "ERROR\nreceipt-id:1\nmessage:disk full\n\n\0");
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR about 1: disk full"]);
    }
}

/// requirement T-014
#[test]
fn a_broker_bears_so_many_transactions_and_no_more() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let mut open: Vec<_> = (0..16).map(|_| pair.client.begin().unwrap()).collect();
        pair.client.commit(open.pop().unwrap()).unwrap();
        open.push(pair.client.begin().unwrap());
        pair.drive();
        assert_eq!(pair.broker.told(), ["COMMIT 16: "]);
        open.push(pair.client.begin().unwrap());
        pair.drive();
        let limit = "LimitExceeded(Limit { what: Transactions, most: 16 })";
        assert_eq!(pair.broker.told(), [format!("CLOSED Protocol({limit}) []")]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: more than 16 open transactions"]);
    }
}

#[test]
fn a_transaction_that_cannot_be_ended_comes_back() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let transaction = pair.client.begin().unwrap();
        let owned = EndTransaction::new(transaction).header("receipt", "9");
        let Err(Refused { error, token: transaction }) = pair.client.commit(owned) else {
            panic!("committed");
        };
        assert_eq!(error, UsageError::OwnedHeader("receipt".into()));
        pair.client.disconnect(pair.now).unwrap();
        let Err(Refused { error, token: transaction }) = pair.client.commit(transaction) else {
            panic!("committed");
        };
        assert_eq!(error, UsageError::NotConnected);
        pair.drive();
        let refused = pair.client.abort(transaction).unwrap_err();
        assert_eq!(refused.error, UsageError::Closed);
        assert_eq!(pair.broker.told(), ["DISCONNECT", "CLOSED Disconnected []"]);
        assert_eq!(pair.listener.told(), ["CLOSED Disconnected"]);
        assert_eq!(pair.listener.told(), NOTHING);
    }
}
