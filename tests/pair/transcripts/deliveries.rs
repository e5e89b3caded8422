//! TR-02, TR-07 to TR-11, TR-21: what is delivered, acknowledged and carried out as one.

use stomp_proto::client::{AckMode, AckRequest, EndTransaction, SendRequest, SubscribeRequest};
use stomp_proto::server::Dialect;

use super::{assert_wires, delivery};
use crate::harness::{NOTHING, Pair, Setup, V1_1, V1_2};

/// A pair with a subscription and messages `m1`, `m2` … of it, which are acknowledged by `t1`, `t2` …
fn delivered(setup: Setup, mode: AckMode, count: usize) -> Pair {
    let mut pair = setup.connected();
    pair.subscribe_with(&SubscribeRequest::new("/q").id("0").ack(mode));
    pair.drive();
    let down: Vec<_> = (1..=count)
        .map(|number| {
            let (message_id, ack_id) = (format!("m{number}"), format!("t{number}"));
            pair.broker.publish("/q", delivery(&message_id, &ack_id, &message_id));
            let is_1_2 = pair.setup.version == V1_2;
            let ack = if is_1_2 { format!("ack:{ack_id}\n") } else { String::new() };
            format!(
                "MESSAGE\nsubscription:0\nmessage-id:{message_id}\n{ack}destination:/q\n\
                 content-length:2\n\n{message_id}\0"
            )
        })
        .collect();
    pair.drive();
    let up = format!("SUBSCRIBE\nid:0\ndestination:/q\nack:{mode}\n\n\0");
    assert_wires(&mut pair, &up, &down.concat());
    pair.broker.told();
    pair.listener.told();
    pair
}

#[test]
fn tr_02_1_1_client_ack() {
    for setup in Setup::of(V1_1) {
        let mut pair = delivered(setup, AckMode::Client, 2);
        pair.ack("m2");
        pair.drive();
        assert_wires(&mut pair, "ACK\nsubscription:0\nmessage-id:m2\n\n\0", "");
        assert_eq!(pair.broker.told(), ["ACK #0 [1, 2]"]);
    }
}

#[test]
fn tr_07_1_2_cumulative_ack_stays_in_its_subscription() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        for (id, destination) in [("A", "/a"), ("B", "/b")] {
            let request = SubscribeRequest::new(destination).id(id);
            pair.subscribe_with(&request.ack(AckMode::Client));
        }
        pair.drive();
        for (destination, id) in [("/a", "1"), ("/b", "2"), ("/a", "3")] {
            let message = delivery(&format!("m{id}"), &format!("t{id}"), id);
            pair.broker.publish(destination, message);
            pair.drive();
        }
        pair.up.written();
        pair.broker.told();
        pair.ack("3");
        pair.drive();
        assert_eq!(pair.up.written(), "ACK\nid:t3\n\n\0");
        assert_eq!(pair.broker.told(), ["ACK #0 [1, 3]"]);
        pair.lose();
        pair.drive();
        assert_eq!(pair.broker.told(), ["CLOSED Lost [2]"]);
    }
}

#[test]
fn tr_08_1_2_individual_ack_and_nack() {
    for setup in Setup::of(V1_2) {
        let mut pair = delivered(setup.dialect(Dialect::SPEC), AckMode::ClientIndividual, 3);
        pair.ack("m2");
        pair.drive();
        assert_wires(&mut pair, "ACK\nid:t2\n\n\0", "");
        pair.nack("m3");
        pair.drive();
        assert_wires(&mut pair, "NACK\nid:t3\n\n\0", "");
        pair.ack("m2");
        pair.drive();
        assert_wires(&mut pair, "ACK\nid:t2\n\n\0", "ERROR\nmessage:unknown ack id\n\n\0");
        let told = ["ACK #0 [2]", "NACK #0 [3]", "CLOSED Protocol(UnknownDelivery) [1]"];
        assert_eq!(pair.broker.told(), told);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unknown ack id"]);
    }
}

#[test]
fn tr_09_commit_with_sends_and_an_ack() {
    for setup in Setup::of(V1_2) {
        let mut pair = delivered(setup, AckMode::ClientIndividual, 1);
        let [first, second] = [pair.client.next_receipt(), pair.client.next_receipt()];
        let transaction = pair.client.begin().unwrap();
        let request = SendRequest::new("/out").body("a").transaction(&transaction);
        pair.client.send(&request.receipt(first)).unwrap();
        pair.drive();
        let begin = "BEGIN\ntransaction:1\n\n\0";
        let send = "SEND\ndestination:/out\ntransaction:1\nreceipt:1\ncontent-length:1\n\na\0";
        assert_wires(&mut pair, &format!("{begin}{send}"), "RECEIPT\nreceipt-id:1\n\n\0");
        let token = pair.listener.token("m1");
        pair.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
        pair.drive();
        assert_wires(&mut pair, "ACK\nid:t1\ntransaction:1\n\n\0", "");
        assert_eq!(pair.broker.told(), NOTHING);
        pair.client.commit(EndTransaction::new(transaction).receipt(second)).unwrap();
        pair.drive();
        let commit = "COMMIT\ntransaction:1\nreceipt:2\n\n\0";
        assert_wires(&mut pair, commit, "RECEIPT\nreceipt-id:2\n\n\0");
        assert_eq!(pair.broker.told(), ["COMMIT 1: SEND /out \"a\", ACK #0 [1]"]);
        assert_eq!(pair.listener.told(), ["RECEIPT 1", "RECEIPT 2"]);
    }
}

/// ABORT is no event of the server's: the application never saw the transaction.
#[test]
fn tr_10_abort_gives_the_delivery_back() {
    for setup in Setup::of(V1_2) {
        let mut pair = delivered(setup, AckMode::ClientIndividual, 1);
        let transaction = pair.client.begin().unwrap();
        let token = pair.listener.token("m1");
        pair.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
        pair.client.abort(transaction).unwrap();
        pair.drive();
        let up = "BEGIN\ntransaction:1\n\n\0ACK\nid:t1\ntransaction:1\n\n\0\
             ABORT\ntransaction:1\n\n\0";
        assert_wires(&mut pair, up, "");
        assert_eq!(pair.broker.told(), NOTHING);
        pair.ack("m1");
        pair.drive();
        assert_wires(&mut pair, "ACK\nid:t1\n\n\0", "");
        assert_eq!(pair.broker.told(), ["ACK #0 [1]"]);
    }
}

#[test]
fn tr_11_implicit_abort() {
    for setup in Setup::of(V1_2) {
        let mut pair = delivered(setup, AckMode::Client, 1);
        let transaction = pair.client.begin().unwrap();
        let request = SendRequest::new("/out").body("a").transaction(&transaction);
        pair.client.send(&request).unwrap();
        pair.client.disconnect(pair.now).unwrap();
        pair.drive();
        let up = "BEGIN\ntransaction:1\n\n\0\
             SEND\ndestination:/out\ntransaction:1\ncontent-length:1\n\na\0\
             DISCONNECT\nreceipt:1\n\n\0";
        assert_wires(&mut pair, up, "RECEIPT\nreceipt-id:1\n\n\0");
        assert_eq!(pair.broker.told(), ["DISCONNECT", "CLOSED Disconnected [1]"]);
        assert_eq!(pair.broker.waiting("/out"), []);
        assert_eq!(pair.listener.told(), ["CLOSED Disconnected"]);
    }
}

/// A `receipt` of the sender's is the request's, so it is one of the client's numbers.
#[test]
fn tr_21_reserved_names_on_send() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        pair.subscribe_with(&SubscribeRequest::new("/q").id("0"));
        pair.drive();
        pair.up.written();
        let receipt = pair.client.next_receipt();
        let request = SendRequest::new("/q").header("subscription", "9").header("message-id", "9");
        pair.client.send(&request.header("foo", "1").receipt(receipt).body("x")).unwrap();
        pair.drive();
        let send = "SEND\ndestination:/q\nsubscription:9\nmessage-id:9\nfoo:1\nreceipt:1\n\
             content-length:1\n\nx\0";
        let message = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\nfoo:1\n\
             content-length:1\n\nx\0";
        assert_wires(&mut pair, send, &format!("RECEIPT\nreceipt-id:1\n\n\0{message}"));
        assert_eq!(pair.listener.told(), ["RECEIPT 1", "MESSAGE #0 \"x\""]);
    }
}
