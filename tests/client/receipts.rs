//! Receipts: asked for, matched, owed.

use bytes::Buf;
use stomp_proto::client::{AckMode, AckRequest, Event, SendRequest, SubscribeRequest, Unconfirmed};
use stomp_proto::{Bound, CloseReason, Command, Frame, Limit, ProtocolError, Session, UsageError};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, limited, message, receipt};

/// Sends that many messages with a receipt each.
fn send(app: &mut App, count: usize) {
    for _ in 0..count {
        let receipt = app.client.next_receipt();
        app.client.send(&SendRequest::new("/q").receipt(receipt)).unwrap();
    }
}

fn owed(app: &App) -> Vec<String> {
    app.client.unconfirmed().map(|it| it.receipt.to_string()).collect()
}

/// requirement RC-006, field case B95
#[test]
fn receipts_are_matched_by_id_in_any_order() {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        send(&mut app, 3);
        assert_eq!(owed(&app), ["1", "2", "3"]);
        assert_eq!(app.hears([receipt("2"), receipt("1")].concat()), ["RECEIPT 2", "RECEIPT 1"]);
        assert_eq!(owed(&app), ["3"]);
        assert_eq!(app.hears(receipt("3")), ["RECEIPT 3"]);
        assert_eq!(owed(&app), NOTHING);
    }
}

#[test]
fn the_event_names_the_receipt_that_was_drawn() {
    let mut app = App::connected(V1_2);
    let drawn = app.client.next_receipt();
    let unused = app.client.next_receipt();
    app.client.send(&SendRequest::new("/q").receipt(drawn)).unwrap();
    app.feed(receipt("1"));
    assert_eq!(app.event(), Some(Event::Receipt(drawn)));
    assert_ne!(drawn, unused);
    assert_eq!(drawn.to_string(), "1");
}

/// requirement RC-007, field cases B92, B97
#[test]
fn a_receipt_that_nobody_asked_for_is_an_event_of_its_own() {
    let mut app = App::connected(V1_2);
    send(&mut app, 1);
    let drawn = app.client.next_receipt();
    for unknown in ["nobody", "", "01", "+1", " 1", &drawn.to_string(), "18446744073709551617"] {
        assert_eq!(app.hears(receipt(unknown)), [format!("RECEIPT {unknown}, unknown")]);
    }
    assert_eq!(app.hears(receipt("1").repeat(2)), ["RECEIPT 1", "RECEIPT 1, unknown"]);
    app.feed(receipt("a\\cb"));
    assert_eq!(app.event(), Some(Event::UnknownReceipt("a:b".into())), "unescaped");
}

/// requirement RC-009, field case B97
#[test]
fn a_receipt_without_an_id_ends_the_session() {
    let missing = ProtocolError::MissingHeader { command: Command::Receipt, name: "receipt-id" };
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        assert_eq!(app.ends("RECEIPT\n\n\0"), CloseReason::Protocol(missing.clone()));
    }
}

/// requirement RC-008
#[test]
fn a_receipt_may_be_asked_for_by_one_request_at_a_time() {
    let mut app = App::connected(V1_2);
    app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let drawn = app.client.next_receipt();
    let request = SendRequest::new("/q").receipt(drawn);
    app.client.send(&request).unwrap();
    app.written();
    let duplicate = Some(UsageError::DuplicateReceipt);
    assert_eq!(app.client.send(&request).err(), duplicate);
    let subscribe = SubscribeRequest::new("/q").receipt(drawn);
    assert_eq!(app.client.subscribe(&subscribe).err(), duplicate);
    assert_eq!(app.client.ack(AckRequest::new(&token).receipt(drawn)).err(), duplicate);
    let frame = Frame::builder(Command::Begin).header("receipt", "1").build();
    assert_eq!(app.client.send_frame(&frame).err(), duplicate);
    assert_eq!(app.written(), NOTHING);
    assert_eq!(app.hears(receipt("1")), ["RECEIPT 1"]);
    assert_eq!(app.client.send(&request), Ok(()), "free again");
}

#[test]
fn a_receipt_that_was_not_drawn_here_is_stale() {
    let mut other = App::connected(V1_2);
    other.client.next_receipt();
    let foreign = other.client.next_receipt();
    let mut app = App::connected(V1_2);
    app.client.next_receipt();
    let request = SendRequest::new("/q").receipt(foreign);
    assert_eq!(app.client.send(&request), Err(UsageError::Stale));
}

#[test]
fn only_so_many_receipts_are_owed() {
    let mut app = App::connected_with(limited(|limits| limits.max_pending_receipts = 2), V1_2);
    send(&mut app, 2);
    let third = app.client.next_receipt();
    let request = SendRequest::new("/q").receipt(third);
    let limit = UsageError::LimitExceeded(Limit { what: Bound::PendingReceipts, most: 2 });
    assert_eq!(app.client.send(&request), Err(limit));
    app.client.send(&SendRequest::new("/q")).unwrap();
    assert_eq!(app.hears(receipt("2")), ["RECEIPT 2"]);
    assert_eq!(app.client.send(&request), Ok(()));
}

#[test]
fn a_frame_of_the_applications_own_may_ask_for_any_receipt() {
    let mut app = App::connected(V1_2);
    let drawn = app.client.next_receipt();
    let frame = |receipt: &str| Frame::builder(Command::Begin).header("receipt", receipt).build();
    app.client.send_frame(&frame(&drawn.to_string())).unwrap();
    app.client.send_frame(&frame("mine")).unwrap();
    assert_eq!(owed(&app), ["1"]);
    let receipts = [receipt("mine"), receipt("1")].concat();
    assert_eq!(app.hears(receipts), ["RECEIPT mine, unknown", "RECEIPT 1"]);
}

#[test]
fn what_is_unconfirmed_says_whether_anything_of_it_ever_left() {
    let mut app = App::connected(V1_2);
    send(&mut app, 3);
    let frame = "SEND\ndestination:/q\nreceipt:1\n\n\0".len();
    let left = |app: &App| app.client.unconfirmed().map(|it| it.left).collect::<Vec<_>>();
    assert_eq!(left(&app), [false, false, false]);
    app.client.outbox().advance(1);
    assert_eq!(left(&app), [true, false, false], "one octet is enough");
    app.client.outbox().advance(frame - 1);
    assert_eq!(left(&app), [true, false, false], "a whole frame and nothing of the next");
    app.client.outbox().advance(1);
    assert_eq!(left(&app), [true, true, false]);
    app.client.handle_lost();
    assert_eq!(left(&app), [true, true, false], "what was discarded has not left");
    assert_eq!(app.told(), ["CLOSED connection was lost"]);
    assert_eq!(left(&app), [true, true, false]);
    let ids: Vec<_> = app.client.unconfirmed().map(|Unconfirmed { receipt, .. }| receipt).collect();
    assert_eq!(ids.len(), 3);
}

/// requirements ER-005, ER-010, field case B93
#[test]
fn an_error_names_the_request_that_failed_and_the_others_stay_unconfirmed() {
    let mut app = App::connected(V1_2);
    send(&mut app, 3);
    let reason = app.ends("ERROR\nreceipt-id:2\nmessage:no such queue\n\n\0");
    let CloseReason::Error { frame, receipt: Some(failed) } = reason else { panic!("{reason:?}") };
    assert_eq!(failed.to_string(), "2");
    assert_eq!(frame.header("message").as_deref(), Some("no such queue"));
    assert_eq!(owed(&app), ["1", "3"], "the one that failed is not in doubt");
    for octets in ["ERROR\nreceipt-id:9\n\n\0", "ERROR\nreceipt-id:x\n\n\0", "ERROR\n\n\0"] {
        let mut app = App::connected(V1_2);
        send(&mut app, 1);
        assert!(matches!(app.ends(octets), CloseReason::Error { receipt: None, .. }));
        assert_eq!(owed(&app), ["1"]);
    }
}

#[test]
fn the_receipt_of_disconnect_is_not_among_those_owed() {
    let mut app = App::connected(V1_2);
    send(&mut app, 1);
    app.written();
    assert_eq!(app.disconnect(), "2");
    assert_eq!(owed(&app), ["1"]);
    let next = app.client.next_receipt();
    assert_eq!(next.to_string(), "3");
    assert_eq!(
        app.hears([receipt("1"), receipt("2")].concat()),
        ["RECEIPT 1", "CLOSED disconnected"]
    );
}

#[test]
fn receipts_can_be_drawn_in_any_state() {
    let mut app = App::unwritten(config());
    assert_eq!(app.client.next_receipt().to_string(), "1");
    app.client.handle_lost();
    app.told();
    assert_eq!(app.client.next_receipt().to_string(), "2");
}
