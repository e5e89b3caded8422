//! The ends of a session: agreed, cut off or in anger, and who waits for whom.

use stomp_proto::client::{AckMode, SendRequest};
use stomp_proto::server::{Failure, Reply};
use stomp_proto::{Session, UsageError};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, ms};

/// requirements D-002, D-004, D-008
#[test]
fn a_client_that_leaves_is_heard_out_and_both_are_done_at_once() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.send("/q", "last words");
        pair.client.disconnect(pair.now).unwrap();
        assert_eq!(pair.client.send(&SendRequest::new("/q")), Err(UsageError::NotConnected));
        pair.drive();
        let told = ["SEND /q \"last words\"", "DISCONNECT", "CLOSED Disconnected []"];
        assert_eq!(pair.broker.told(), told);
        assert_eq!(pair.listener.told(), ["CLOSED Disconnected"]);
        assert!(pair.client.is_finished() && pair.server.is_finished());
        assert_eq!((pair.client.poll_timeout(), pair.server.poll_timeout()), (None, None));
        assert_eq!(pair.client.send(&SendRequest::new("/q")), Err(UsageError::Closed));
        assert_eq!(pair.client.disconnect(pair.now), Err(UsageError::Closed));
        let failed = pair.server.fail(None::<Reply>, &Failure::new("too late"));
        assert_eq!(failed, Err(UsageError::Closed));
    }
}

/// requirement D-007
#[test]
fn what_is_on_its_way_comes_before_the_last_receipt() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Client);
        pair.drive();
        pair.broker.publish_all("/q", ["1", "2"]);
        pair.turn();
        pair.client.disconnect(pair.now).unwrap();
        pair.drive();
        let told = ["MESSAGE #0 \"1\"", "MESSAGE #0 \"2\"", "CLOSED Disconnected"];
        assert_eq!(pair.listener.told(), told);
        let told = ["SUBSCRIBE #0 /q client", "DISCONNECT", "CLOSED Disconnected [1, 2]"];
        assert_eq!(pair.broker.told(), told, "and nobody has acknowledged it");
    }
}

#[test]
fn a_broker_that_does_not_let_go_is_left_after_five_seconds() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.broker.answers = Answers::Later;
        pair.client.disconnect(pair.now).unwrap();
        pair.run_for(ms(4999));
        assert_eq!(pair.listener.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.listener.told(), ["CLOSED TimedOut"]);
        pair.drive();
        assert_eq!(pair.broker.told(), ["DISCONNECT", "CLOSED Disconnected []"]);
        assert!(pair.client.is_finished() && pair.server.is_finished());
    }
}

/// How far a session has come when its stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    Connected,
    Disconnecting,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Connecting, Self::Connected, Self::Disconnecting];

    /// A pair that has come so far, and where the broker owes the next answer.
    fn pair(self, setup: Setup) -> Pair {
        let mut pair = if self == Self::Connecting { setup.start() } else { setup.connected() };
        pair.broker.answers = Answers::Later;
        if self == Self::Disconnecting {
            pair.client.disconnect(pair.now).unwrap();
        }
        pair.drive();
        pair.broker.told();
        pair
    }
}

/// requirements C-017, D-001, D-009, ER-009
#[test]
fn the_end_of_a_stream_means_what_the_stage_says() {
    for setup in Setup::all() {
        for stage in Stage::ALL {
            let mut pair = stage.pair(setup.clone());
            pair.down.shut_down(pair.now);
            pair.drive();
            let reason = if stage == Stage::Disconnecting { "Disconnected" } else { "Eof" };
            assert_eq!(pair.listener.told(), [format!("CLOSED {reason}")], "{stage:?}");
            assert!(pair.client.is_finished(), "there is nothing to wait for");

            let mut pair = stage.pair(setup.clone());
            pair.up.shut_down(pair.now);
            pair.drive();
            if stage == Stage::Connecting {
                assert_eq!(pair.broker.told(), NOTHING, "it is not read before the answer");
                continue;
            }
            assert_eq!(pair.broker.told(), [format!("CLOSED {reason} []")], "{stage:?}");
            assert!(pair.server.is_finished());
        }
    }
}

#[test]
fn a_lost_connection_is_lost_at_every_stage() {
    for setup in Setup::all() {
        for stage in Stage::ALL {
            let mut pair = stage.pair(setup.clone());
            pair.lose();
            pair.turn();
            assert_eq!(pair.listener.told(), ["CLOSED Lost"], "{stage:?}");
            assert_eq!(pair.broker.told(), ["CLOSED Lost []"], "{stage:?}");
            assert!(pair.client.is_finished() && pair.server.is_finished());
            assert!(!pair.client.wants_shutdown() && !pair.server.wants_shutdown());
        }
    }
}

#[test]
fn what_was_read_before_the_loss_is_still_told() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Client);
        pair.drive();
        pair.broker.told();
        pair.listener.appetite = 0;
        pair.broker.publish_all("/q", ["1", "2"]);
        pair.drive();
        pair.lose();
        pair.listener.appetite = usize::MAX;
        pair.drive();
        assert_eq!(pair.listener.told(), ["MESSAGE #0 \"1\"", "MESSAGE #0 \"2\"", "CLOSED Lost"]);
        assert_eq!(pair.broker.told(), ["CLOSED Lost [1, 2]"]);
    }
}

/// requirements F-026, E-EOF
#[test]
fn a_stream_that_ends_inside_a_frame_was_cut_off() {
    for setup in Setup::all() {
        let truncated = |offset| {
            format!("CLOSED Protocol(Decode(DecodeError {{ kind: Truncated, offset: {offset} }}))")
        };
        let mut pair = setup.clone().connected();
        pair.down.inject(b"RECEIPT\nreceipt-id:1\n", pair.now);
        pair.down.shut_down(pair.now);
        pair.drive();
        assert_eq!(pair.listener.told(), [truncated(pair.down.read_count())]);
        assert_eq!(pair.up.written(), "", "a client has no ERROR to send");
        assert_eq!(pair.broker.told(), ["CLOSED Eof []"]);

        let mut pair = setup.connected();
        pair.up.inject(b"SEND\ndestination:/q\n\nx", pair.now);
        pair.up.shut_down(pair.now);
        pair.drive();
        assert_eq!(pair.broker.told(), [truncated(pair.up.read_count()) + " []"]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: malformed frame"]);
    }
}

/// requirements ER-002, ER-011, F-021
#[test]
fn nonsense_is_the_end_and_only_the_broker_says_so() {
    for setup in Setup::all() {
        let mut pair = setup.clone().connected();
        pair.up.inject(b"SEND\n\n\0SEND\ndestination:/q\n\nnever read\0", pair.now);
        pair.drive();
        let missing = "MissingHeader { command: Send, name: \"destination\" }";
        assert_eq!(pair.broker.told(), [format!("CLOSED Protocol({missing}) []")]);
        assert_eq!(pair.down.written(), "ERROR\nmessage:missing destination\n\n\0");
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: missing destination"]);

        let mut pair = setup.connected();
        pair.down.inject(b"SEND\ndestination:/q\n\n\0RECEIPT\nreceipt-id:1\n\n\0", pair.now);
        pair.drive();
        assert_eq!(pair.listener.told(), ["CLOSED Protocol(UnexpectedFrame(Send))"]);
        assert_eq!(pair.up.written(), "");
        assert_eq!(pair.broker.told(), ["CLOSED Eof []"]);
    }
}

#[test]
fn an_error_that_crosses_disconnect_is_the_reason() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.server.fail(None::<Reply>, &Failure::new("shutting down")).unwrap();
        pair.client.disconnect(pair.now).unwrap();
        pair.drive();
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: shutting down"]);
        assert_eq!(pair.broker.told(), ["CLOSED Failed []"]);
        assert_eq!(pair.down.written(), "ERROR\nmessage:shutting down\n\n\0");
    }
}

/// STOMP 1.2, "Connection Lingering"
#[test]
fn the_last_word_is_left_time_to_be_read() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.listener.appetite = 0;
        pair.server.fail(None::<Reply>, &Failure::new("enough")).unwrap();
        pair.run_for(ms(4999));
        assert_eq!(pair.broker.told(), ["CLOSED Failed []"]);
        assert!(pair.server.wants_shutdown() && !pair.server.is_finished());
        pair.run_for(ms(1));
        assert!(pair.server.is_finished(), "5 s");
        assert_eq!(pair.server.poll_timeout(), None);
        pair.listener.appetite = usize::MAX;
        pair.drive();
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: enough"], "it was there all the time");
    }
}
