//! How a session ends: DISCONNECT, ERROR, and what is left to do for the driver.

use bytes::Buf;
use stomp_proto::client::SendRequest;
use stomp_proto::{CloseReason, ProtocolError, Session, UsageError};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, limited, message, ms, receipt};

/// requirements D-002, D-011, field case B126
#[test]
fn disconnect_asks_for_a_receipt_and_is_the_last_thing_written() {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        for body in ["1", "2"] {
            app.client.send(&SendRequest::new("/q").body(body)).unwrap();
        }
        app.client.disconnect(app.now).unwrap();
        assert_eq!(
            app.written(),
            [
                "SEND\ndestination:/q\ncontent-length:1\n\n1\0",
                "SEND\ndestination:/q\ncontent-length:1\n\n2\0",
                "DISCONNECT\nreceipt:1\n\n\0",
            ]
        );
        assert_eq!(app.hears(receipt("1")), ["CLOSED disconnected"]);
        assert!(app.client.wants_shutdown());
    }
}

/// requirement D-007
#[test]
fn an_error_ends_the_wait_for_the_last_receipt() {
    let mut app = App::connected(V1_2);
    let last = app.disconnect();
    let reason = app.ends(format!("ERROR\nreceipt-id:{last}\nmessage:no\n\n\0"));
    assert!(matches!(reason, CloseReason::Error { receipt: None, .. }), "no receipt of theirs");
}

#[test]
fn the_wait_for_the_last_receipt_has_an_end() {
    let mut app = App::connected_with(limited(|it| it.disconnect_timeout = ms(700)), V1_2);
    app.at(1000);
    app.disconnect();
    assert_eq!(app.deadline(), Some(1700));
    app.feed(message("0", "1"));
    app.at(1700);
    assert_eq!(app.told(), ["MESSAGE 1", "CLOSED peer did not answer in time"]);
}

#[test]
fn a_last_receipt_that_came_in_time_counts_however_late_it_is_looked_at() {
    let mut app = App::connected(V1_2);
    let last = app.disconnect();
    app.feed([message("0", "1"), receipt(&last)].concat());
    app.at(60_000);
    assert_eq!(app.told(), ["MESSAGE 1", "CLOSED disconnected"]);
}

#[test]
fn an_octet_that_came_after_the_time_for_the_last_answer_is_none() {
    let mut app = App::connected(V1_2);
    app.disconnect();
    app.at(5000);
    assert_eq!(app.hears("\n"), ["CLOSED peer did not answer in time"]);
}

#[test]
fn what_comes_after_the_end_is_not_kept() {
    let mut app = App::connected_with(limited(|limits| limits.max_inbox_len = 10), V1_2);
    app.ends("ERROR\n\n\0");
    app.feed(message("0", "m"));
    let (inbox, _) = app.client.buffers();
    assert!(inbox.is_empty());
    assert!(app.client.wants_read(), "until the broker ends its stream");
}

/// A stream that has ended asks for nothing while there is nothing to write: what came with it is
/// there whenever the application looks.
#[test]
fn an_end_behind_what_was_not_looked_at_yet_sets_no_deadline() {
    let mut app = App::connected(V1_2);
    app.feed(message("0", "m"));
    app.client.handle_eof();
    app.at(1000);
    assert_eq!(app.deadline(), None);
    app.at(1_000_000);
    assert_eq!(app.told(), ["MESSAGE m", "CLOSED peer closed the connection"]);
}

/// requirements ER-002, ER-008, field case B124
#[test]
fn an_error_is_the_last_event_whatever_follows_it() {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        let octets = ["ERROR\nmessage:x\n\n\0", &message("0", "1"), &receipt("1")].concat();
        assert_eq!(app.hears(octets), ["CLOSED by an ERROR"]);
        assert_eq!(app.hears(message("0", "2")), NOTHING);
        assert_eq!(app.hears("no STOMP at all"), NOTHING);
        app.client.handle_eof();
        assert_eq!(app.told(), NOTHING);
        assert_eq!(app.client.send(&SendRequest::new("/q")), Err(UsageError::Closed));
    }
}

/// field case B128
#[test]
fn an_error_needs_no_message_header() {
    let reason = App::connected(V1_2).ends("ERROR\n\nboom\0");
    assert_eq!(reason.to_string(), "broker reported an error");
    let CloseReason::Error { frame, .. } = reason else { panic!("{reason:?}") };
    assert_eq!(frame.body(), "boom");
    let reason = App::connected(V1_2).ends("ERROR\nmessage:a\\nb\n\n\0");
    assert_eq!(reason.to_string(), "broker reported \"a\\nb\"");
}

/// field case B57
#[test]
fn the_version_header_of_an_error_is_not_taken_for_an_agreement() {
    let mut app = App::connected(V1_1);
    assert_eq!(app.hears("ERROR\nversion:1.0,1.1,1.2\nmessage:x\n\n\0"), ["CLOSED by an ERROR"]);
    assert_eq!(app.client.version(), Some(V1_1));
}

#[test]
fn what_was_queued_is_still_written_and_then_the_stream_is_ended() {
    let mut app = App::connected(V1_2);
    app.client.send(&SendRequest::new("/q")).unwrap();
    assert_eq!(app.hears("ERROR\n\n\0"), ["CLOSED by an ERROR"]);
    assert!(!app.client.wants_shutdown() && !app.client.is_finished());
    assert_eq!(app.written(), ["SEND\ndestination:/q\n\n\0"]);
    assert!(app.client.wants_shutdown() && !app.client.is_finished());
    assert!(app.client.wants_read(), "until the broker ends its stream");
    app.client.handle_eof();
    assert!(app.client.is_finished());
    assert_eq!(app.deadline(), None);
}

#[test]
fn a_broker_that_does_not_end_its_stream_is_left_after_a_while() {
    let mut app = App::connected_with(limited(|it| it.close_timeout = ms(300)), V1_2);
    app.at(1000);
    app.feed("ERROR\n\n\0");
    assert!(app.event().is_some());
    assert_eq!(app.deadline(), Some(1300), "known without another call");
    app.feed("still talking");
    app.at(1299);
    assert!(!app.client.is_finished());
    app.at(1300);
    assert!(app.client.is_finished());
    assert_eq!(app.told(), NOTHING);
}

#[test]
fn a_session_is_not_finished_before_its_end_was_told() {
    let mut app = App::connected(V1_2);
    app.client.handle_lost();
    assert!(!app.client.is_finished());
    assert_eq!(app.told(), ["CLOSED connection was lost"]);
    assert!(app.client.is_finished());
}

/// requirements C-017, ER-009, field case B125
#[test]
fn a_connection_that_goes_without_an_error_is_told_as_what_it_is() {
    let mut app = App::connected(V1_2);
    app.feed(message("0", "1"));
    app.client.handle_eof();
    assert_eq!(app.told(), ["MESSAGE 1", "CLOSED peer closed the connection"]);
    let mut app = App::connected(V1_2);
    app.client.send(&SendRequest::new("/q")).unwrap();
    app.feed(message("0", "1"));
    app.client.handle_lost();
    assert_eq!(app.told(), ["MESSAGE 1", "CLOSED connection was lost"], "what came is told");
    assert_eq!(app.written(), NOTHING, "and what was to go is discarded");
}

#[test]
fn the_calls_of_a_driver_that_come_too_often_or_too_late_do_no_harm() {
    let mut app = App::connected(V1_2);
    for _ in 0..2 {
        app.client.handle_eof();
        app.client.handle_lost();
        app.at(0);
        app.at(9_999_999);
    }
    assert_eq!(app.told(), ["CLOSED connection was lost"]);
    app.at(5);
    app.feed(message("0", "1"));
    app.client.buffers().0.extend_from_slice(b"MESSAGE\n");
    app.client.handle_eof();
    assert_eq!(app.told(), NOTHING);
    assert_eq!((app.deadline(), app.client.is_finished()), (None, true));
}

#[test]
fn a_clock_that_goes_backwards_does_no_harm() {
    let mut app = App::connected(V1_2);
    app.at(1000);
    app.disconnect();
    app.at(500);
    assert_eq!(app.told(), NOTHING);
    assert_eq!(app.deadline(), Some(6000));
}

/// What is written slowly is written; the broker cannot answer before it has read.
#[test]
fn the_time_for_the_last_answer_counts_from_the_last_octet_that_left() {
    let mut app = App::connected(V1_2);
    app.client.send(&SendRequest::new("/q").body(vec![b'x'; 10_000])).unwrap();
    app.client.disconnect(app.now).unwrap();
    for second in 1..=10 {
        app.at(4000 * second);
        let written = app.client.outbox().remaining().min(1100);
        app.client.outbox().advance(written);
        assert_eq!(app.told(), NOTHING);
    }
    assert_eq!(app.written(), NOTHING);
    assert_eq!(app.deadline(), Some(45_000));
    app.at(45_000);
    assert_eq!(app.told(), ["CLOSED peer did not answer in time"]);
}

#[test]
fn no_request_is_taken_when_there_is_nobody_to_write_it_to() {
    let mut app = App::connected(V1_2);
    app.client.handle_lost();
    assert_eq!(app.client.send(&SendRequest::new("/q")), Err(UsageError::Closed));
    assert_eq!(app.told(), ["CLOSED connection was lost"]);
}

#[test]
fn octets_can_be_read_straight_into_the_inbox() {
    let mut app = App::connected(V1_2);
    let (inbox, outbox) = app.client.buffers();
    inbox.extend_from_slice(message("0", "1").as_bytes());
    assert!(outbox.next_frame().is_none());
    assert_eq!(app.told(), ["MESSAGE 1"]);
    app.client.buffers().0.clear();
    assert_eq!(app.told(), NOTHING);
}

/// requirement C-027
#[test]
fn errors_say_what_was_wrong() {
    let reason = App::connected(V1_2).ends("CONNECTED\nversion:1.2\n\n\0");
    assert_eq!(reason.to_string(), "protocol error: unexpected CONNECTED");
    let CloseReason::Protocol(error) = reason else { panic!("{reason:?}") };
    assert_eq!(error, ProtocolError::UnexpectedFrame(stomp_proto::Command::Connected));
}
