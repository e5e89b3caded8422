//! The client's side of the transcripts of requirements chapter 10, octet for octet.
//!
//! Where a transcript names a receipt or a transaction, the session's own numbers stand. TR-03, TR-05,
//! TR-16 to TR-18, TR-21 and TR-22 are about what a server answers to frames that this client does not
//! write; the client's part of TR-12 and TR-13 is in `heart_beats.rs`.

use stomp_proto::client::{AckMode, AckRequest, EndTransaction, SendRequest, UnsubscribeRequest};
use stomp_proto::{CloseReason, Session, UsageError, Version, websocket};

use crate::harness::{App, V1_0, V1_1, V1_2, config, offering};

fn connected(version: Version) -> App {
    let mut app = App::unwritten(offering(&[version]));
    let host = if version == V1_0 { "" } else { "host:h\n" };
    let connect = format!("CONNECT\naccept-version:{version}\n{host}\n\0");
    assert_eq!(app.written(), [connect]);
    let answer = format!("CONNECTED\nversion:{version}\nsession:s1\nheart-beat:0,0\n\n\0");
    assert_eq!(app.hears(answer), [format!("CONNECTED {version}")]);
    app
}

#[test]
fn tr_01_connect_send_with_receipt_leave() {
    let mut app = App::unwritten(config().login("u").passcode("p"));
    assert_eq!(
        app.written(),
        ["CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\nlogin:u\npasscode:p\n\n\0"]
    );
    let answer = "CONNECTED\nversion:1.2\nsession:s1\nheart-beat:0,0\n\n\0";
    assert_eq!(app.hears(answer), ["CONNECTED 1.2"]);
    let receipt = app.client.next_receipt();
    app.client.send(&SendRequest::new("/queue/a").body("hi").receipt(receipt)).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/queue/a\nreceipt:1\ncontent-length:2\n\nhi\0"]);
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["RECEIPT 1"]);
    app.client.disconnect(app.now).unwrap();
    assert_eq!(app.written(), ["DISCONNECT\nreceipt:2\n\n\0"]);
    assert_eq!(app.hears("RECEIPT\nreceipt-id:2\n\n\0"), ["CLOSED disconnected"]);
}

#[test]
fn tr_02_client_ack_on_1_1() {
    let mut app = connected(V1_1);
    app.subscribe("0", AckMode::Client);
    let first = "MESSAGE\nsubscription:0\nmessage-id:m1\ndestination:/q\ncontent-length:1\n\na\0";
    let second = "MESSAGE\nsubscription:0\nmessage-id:m2\ndestination:/q\ncontent-length:1\n\nb\0";
    assert_eq!(app.message(first).body(), "a");
    let token = app.token(second);
    app.client.ack(&token).unwrap();
    assert_eq!(app.written(), ["ACK\nsubscription:0\nmessage-id:m2\n\n\0"]);
}

#[test]
fn tr_03_1_0_keeps_backslashes() {
    let mut app = connected(V1_0);
    let message =
        app.message("MESSAGE\nmessage-id:1\ndestination:/q\npath:a\\nb\ncontent-length:1\n\nx\0");
    assert_eq!(message.headers().get("path").as_deref(), Some("a\\nb"));
}

#[test]
fn tr_04_no_common_version() {
    let reason = App::new(offering(&[V1_2])).ends(
        "ERROR\nversion:1.0,1.1,1.2\nmessage:unsupported version\ncontent-type:text/plain\n\
         content-length:37\n\nSupported versions are 1.0, 1.1, 1.2\n\0",
    );
    let CloseReason::Error { frame, .. } = reason else { panic!("{reason:?}") };
    assert_eq!(frame.header("version").as_deref(), Some("1.0,1.1,1.2"));
    assert_eq!(frame.body(), "Supported versions are 1.0, 1.1, 1.2\n");
}

#[test]
fn tr_06_refused_login() {
    let mut app = App::new(offering(&[V1_2]));
    let reason = app.ends("ERROR\nmessage:access refused\n\n\0");
    assert_eq!(reason.to_string(), "broker reported \"access refused\"");
    assert!(app.client.wants_shutdown());
}

#[test]
fn tr_07_tr_08_acks_and_nacks_on_1_2() {
    let mut app = connected(V1_2);
    app.subscribe("A", AckMode::ClientIndividual);
    let message = |id: &str, ack: &str| {
        format!("MESSAGE\nsubscription:A\nmessage-id:{id}\nack:{ack}\ndestination:/q\n\n\0")
    };
    let _first = app.token(message("m1", "t1"));
    let (second, third) = (app.token(message("m2", "t2")), app.token(message("m3", "t3")));
    app.client.ack(&second).unwrap();
    app.client.nack(&third).unwrap();
    app.client.ack(&second).unwrap();
    assert_eq!(app.written(), ["ACK\nid:t2\n\n\0", "NACK\nid:t3\n\n\0", "ACK\nid:t2\n\n\0"]);
    assert_eq!(app.hears("ERROR\nmessage:unknown ack id\n\n\0"), ["CLOSED by an ERROR"]);
}

#[test]
fn tr_09_commit_with_a_send_and_an_ack() {
    let mut app = connected(V1_2);
    app.subscribe("0", AckMode::Client);
    let token = app.token("MESSAGE\nsubscription:0\nmessage-id:m\nack:t1\ndestination:/q\n\n\0");
    let transaction = app.client.begin().unwrap();
    let receipt = app.client.next_receipt();
    let request = SendRequest::new("/q").transaction(&transaction).receipt(receipt);
    app.client.send(&request.body("a")).unwrap();
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["RECEIPT 1"]);
    app.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
    let receipt = app.client.next_receipt();
    app.client.commit(EndTransaction::new(transaction).receipt(receipt)).unwrap();
    assert_eq!(
        app.written(),
        [
            "BEGIN\ntransaction:1\n\n\0",
            "SEND\ndestination:/q\ntransaction:1\nreceipt:1\ncontent-length:1\n\na\0",
            "ACK\nid:t1\ntransaction:1\n\n\0",
            "COMMIT\ntransaction:1\nreceipt:2\n\n\0",
        ]
    );
    assert_eq!(app.hears("RECEIPT\nreceipt-id:2\n\n\0"), ["RECEIPT 2"]);
}

#[test]
fn tr_10_abort_and_the_ack_once_more() {
    let mut app = connected(V1_2);
    app.subscribe("0", AckMode::Client);
    let token = app.token("MESSAGE\nsubscription:0\nmessage-id:m\nack:t1\ndestination:/q\n\n\0");
    let transaction = app.client.begin().unwrap();
    app.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
    app.client.abort(transaction).unwrap();
    app.client.ack(&token).unwrap();
    assert_eq!(
        app.written(),
        [
            "BEGIN\ntransaction:1\n\n\0",
            "ACK\nid:t1\ntransaction:1\n\n\0",
            "ABORT\ntransaction:1\n\n\0",
            "ACK\nid:t1\n\n\0",
        ]
    );
}

#[test]
fn tr_11_disconnect_with_a_transaction_open() {
    let mut app = connected(V1_2);
    let transaction = app.client.begin().unwrap();
    app.client.send(&SendRequest::new("/q").transaction(&transaction).body("a")).unwrap();
    app.client.disconnect(app.now).unwrap();
    assert_eq!(
        app.written(),
        [
            "BEGIN\ntransaction:1\n\n\0",
            "SEND\ndestination:/q\ntransaction:1\ncontent-length:1\n\na\0",
            "DISCONNECT\nreceipt:1\n\n\0",
        ]
    );
    let refused = app.client.commit(transaction).unwrap_err();
    assert_eq!(refused.error, UsageError::NotConnected);
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["CLOSED disconnected"]);
}

#[test]
fn tr_14_a_message_while_waiting_for_the_last_receipt() {
    let mut app = connected(V1_1);
    let subscription = app.subscribe("0", AckMode::Client);
    app.client.disconnect(app.now).unwrap();
    assert_eq!(app.written(), ["DISCONNECT\nreceipt:1\n\n\0"]);
    let message = app
        .message("MESSAGE\nsubscription:0\nmessage-id:9\ndestination:/q\ncontent-length:1\n\nx\0");
    assert_eq!(message.subscription(), Some(subscription));
    assert_eq!(app.client.ack(&message.token().unwrap()), Err(UsageError::NotConnected));
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["CLOSED disconnected"]);
}

#[test]
fn tr_15_a_message_after_unsubscribe() {
    let mut app = connected(V1_2);
    let subscription = app.subscribe("0", AckMode::Auto);
    let receipt = app.client.next_receipt();
    app.client.unsubscribe(UnsubscribeRequest::new(subscription).receipt(receipt)).unwrap();
    assert_eq!(app.written(), ["UNSUBSCRIBE\nid:0\nreceipt:1\n\n\0"]);
    let message = app
        .message("MESSAGE\nsubscription:0\nmessage-id:9\ndestination:/q\ncontent-length:1\n\nx\0");
    assert_eq!(message.subscription(), None);
    assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["RECEIPT 1"]);
}

#[test]
fn tr_17_an_error_names_the_receipt() {
    let mut app = connected(V1_2);
    let receipt = app.client.next_receipt();
    app.client.send(&SendRequest::new("/q").receipt(receipt)).unwrap();
    let reason = app.ends("ERROR\nreceipt-id:1\nmessage:missing destination\n\n\0");
    assert!(
        matches!(reason, CloseReason::Error { receipt: Some(failed), .. } if failed == receipt)
    );
}

#[test]
fn tr_19_websocket() {
    assert_eq!(websocket::offer(stomp_proto::VersionSet::ALL), "v12.stomp, v11.stomp, v10.stomp");
    let mut app = App::unwritten(config().subprotocol(V1_1));
    let connect = app.client.outbox().next_frame().unwrap();
    assert_eq!(connect.bytes, "CONNECT\naccept-version:1.1\nhost:h\n\n\0");
    assert!(connect.is_text);
    let answer = "CONNECTED\nversion:1.1\nsession:s1\nheart-beat:0,0\n\n\0";
    assert_eq!(app.hears(answer), ["CONNECTED 1.1"]);
}

#[test]
fn tr_20_a_soft_error_of_rabbitmq_ends_the_session() {
    let mut app = connected(V1_2);
    let error =
        "ERROR\nmessage:Invalid header\ncontent-type:text/plain\nversion:1.0,1.1,1.2\n\n\0\n";
    assert_eq!(app.hears(error), ["CLOSED by an ERROR"]);
    assert_eq!(app.client.send(&SendRequest::new("/q")), Err(UsageError::Closed));
}
