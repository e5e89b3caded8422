//! What recorded brokers sent, read by a `Client`.

use stomp_proto::client::{AckMode, VersionMismatch};
use stomp_proto::frame::{Role, name};
use stomp_proto::{CloseReason, Command, Frame, ProtocolError, UsageError};

use crate::drive::ended_well;
use crate::recording::{self, Recording};
use crate::user::{self, Outcome, Received};

#[test]
fn the_only_brokers_to_break_the_protocol_relay_a_probe() {
    let mut broken = Vec::new();
    for_all(|recording, outcome| match &outcome.closed {
        Some(CloseReason::Protocol(error)) => {
            broken.push(format!("{}: {error}", recording.name()));
        }
        Some(CloseReason::Error { .. }) => {}
        closed => assert!(ended_well(closed.as_ref()), "{}: {closed:?}", recording.name()),
    });
    assert_eq!(
        broken,
        [
            // The NUL in `x:a\0b`, which `NUL_in_header` sent.
            "raw-error-activemq body_on_SUBSCRIBE/10: \
             NUL before the end of the head at octet 3475",
            "raw-error-rabbitmq body_on_SUBSCRIBE/10: \
             NUL before the end of the head at octet 2484",
        ]
    );
}

/// requirement C-025
#[test]
fn stomp_broker_js_chooses_a_version_that_was_not_offered() {
    let mut unoffered = Vec::new();
    for recording in recording::all() {
        let config = user::config_of(&recording).version_mismatch(VersionMismatch::Fatal);
        let outcome = user::replay_with(&recording, config, usize::MAX);
        let Some(CloseReason::Protocol(error)) = outcome.closed else { continue };
        if let ProtocolError::VersionNotOffered(version) = error {
            assert_eq!((&*version, outcome.frames.len()), ("1.1", 0));
            unoffered.push(recording.name());
        }
    }
    assert_eq!(
        unoffered,
        [
            "raw-ws-heartbeat-1.2-stompbrokerjs 1",
            "raw-ws-session-1.2-stompbrokerjs 1",
            "raw-ws-stompbrokerjs 1",
            "raw-ws-stompbrokerjs 2",
            "raw-ws-stompbrokerjs 3",
            "raw-ws-stompbrokerjs 5",
            "raw-ws-stompbrokerjs 6",
        ]
    );
}

/// requirement ER-008
#[test]
fn the_first_error_is_the_end_whether_the_broker_closes_or_not() {
    let mut count = 0;
    for_all(|recording, outcome| {
        let error = recording.frames(Role::Server).find(|it| it.command() == Command::Error);
        let reported = match &outcome.closed {
            Some(CloseReason::Error { frame, .. }) => Some(&**frame),
            _ => None,
        };
        assert_eq!(reported, error, "{}", recording.name());
        count += usize::from(error.is_some());
    });
    assert_eq!(count, 102);
}

#[test]
fn what_a_broker_sends_shows_up_in_events() {
    for_all(|recording, outcome| {
        assert_eq!(outcome.frames, events_of(recording, outcome), "{}", recording.name());
    });
}

#[test]
fn a_message_comes_for_the_subscription_that_it_names() {
    let mut count = 0;
    for_all(|recording, outcome| {
        for Received { message, subscription } in &outcome.received {
            let subscription = subscription.as_ref().expect("a subscription");
            match message.headers().get(name::SUBSCRIPTION) {
                Some(id) => assert_eq!(subscription.id.as_deref(), Some(&*id)),
                None => assert_eq!(subscription.destination, message.destination()),
            }
            let by_client = subscription.mode != AckMode::Auto;
            assert_eq!(message.token().is_some(), by_client, "{}", recording.name());
            count += 1;
        }
    });
    assert_eq!(count, 394, "all but one, which comes behind an ERROR");
}

#[test]
fn messages_are_acknowledged_in_the_words_of_the_recorded_client() {
    let (mut count, mut added) = (0, Vec::new());
    let acknowledges = |frame: &&Frame| matches!(frame.command(), Command::Ack | Command::Nack);
    for_all(|recording, outcome| {
        let octets: Vec<u8> = outcome.record.written.iter().flat_map(|it| it.1.to_vec()).collect();
        let written = recording::decode(Role::Client, recording.version, &octets);
        let recorded = recording.frames(Role::Client).filter(acknowledges);
        for (written, recorded) in written.iter().filter(acknowledges).zip(recorded) {
            assert_eq!(written.command(), recorded.command(), "{}", recording.name());
            for header in written.headers().iter() {
                match recorded.header(&header.name()) {
                    Some(value) => assert_eq!(header.value(), value, "{}", recording.name()),
                    None => added.push(format!("{}: {}", recording.name(), header.name())),
                }
            }
            count += 1;
        }
    });
    assert_eq!(count, 272, "all but two, which come behind an ERROR");
    // Net::Stomp leaves it out (`Dialect::ack_without_subscription`).
    let left_out = ["perl-net-stomp-1.1-activemq 1", "perl-net-stomp-1.1-rabbitmq 1"];
    assert_eq!(added, left_out.map(|name| format!("{name}: subscription")));
}

#[test]
fn a_client_refuses_only_what_comes_after_the_end() {
    use Command::{Abort, Ack, Begin, Commit, Disconnect, Send, Unsubscribe};
    let mut refused = Vec::new();
    for_all(|recording, outcome| {
        if !outcome.refused.is_empty() && !recording.capture.starts_with("raw-error-") {
            refused.push((recording.name(), outcome.refused.clone()));
        }
    });
    let each = |name: &str, error: UsageError, commands: &[Command]| {
        let refused = commands.iter().map(|command| (*command, error.clone()));
        (name.to_owned(), refused.collect::<Vec<_>>())
    };
    assert_eq!(
        refused,
        [
            each(
                "perl-net-stomp-1.1-activemq 1",
                UsageError::Closed,
                &[Begin, Send, Abort, Ack, Unsubscribe]
            ),
            each("raw-disconnect-no-wait-1.2-activemq 1", UsageError::NotConnected, &[Send]),
            each("raw-disconnect-no-wait-1.2-rabbitmq 1", UsageError::NotConnected, &[Send]),
            each("raw-ws-session-1.2-activemq 1", UsageError::Closed, &[Send; 4]),
            each(
                "stomp.py-1.1-coilmq 1",
                UsageError::Closed,
                &[Begin, Send, Commit, Ack, Unsubscribe, Disconnect]
            ),
            each(
                "stompest-1.1-coilmq 1",
                UsageError::Closed,
                &[Begin, Commit, Unsubscribe, Disconnect]
            ),
        ]
    );
}

#[test]
fn events_do_not_depend_on_how_octets_arrive() {
    for_all(|recording, whole| {
        let split = user::replay_with(recording, user::config_of(recording), 1);
        assert_eq!(split.record.told, whole.record.told, "{}", recording.name());
        assert_eq!(split.record.written, whole.record.written, "{}", recording.name());
    });
}

fn for_all(mut check: impl FnMut(&Recording, &Outcome)) {
    for recording in recording::all() {
        check(&recording, &user::replay(&recording));
    }
}

/// The frames that events are made of: all up to an ERROR.
fn events_of(recording: &Recording, outcome: &Outcome) -> Vec<Frame> {
    let mut has_failed = false;
    let frames = recording.frames(Role::Server).take_while(|frame| {
        let is_behind = has_failed;
        has_failed |= frame.command() == Command::Error;
        !is_behind
    });
    // A DISCONNECT asks for a receipt of the session's own naming, which is one of the recorded ones
    // by chance alone. Then it is the end.
    let frames = frames.filter(|frame| {
        outcome.closed != Some(CloseReason::Disconnected)
            || frame.header(name::RECEIPT_ID).as_deref() != Some("1")
    });
    frames.map(receipt_alone).collect()
}

/// A RECEIPT without what some brokers add to it.
fn receipt_alone(frame: &Frame) -> Frame {
    match frame.header(name::RECEIPT_ID) {
        Some(receipt_id) if frame.command() == Command::Receipt => {
            Frame::builder(Command::Receipt).header(name::RECEIPT_ID, &receipt_id).build()
        }
        _ => frame.clone(),
    }
}
