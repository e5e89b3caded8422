//! What recorded clients sent, read by a `Server`.

use std::collections::HashMap;

use stomp_proto::frame::{Role, name};
use stomp_proto::{Command, Frame, Version};

use crate::broker::{self, Outcome};
use crate::drive::ended_well;
use crate::recording::{self, Recording, header};

/// Recordings that a server ends before the client does, and how.
const ENDED_BY_THE_SERVER: [(&str, &str); 13] = [
    // It acknowledges what is no message: `ACK\nmessage-id:\n\n\0`. ActiveMQ answers ERROR, too.
    ("perl-net-stomp-1.1-activemq 1", "protocol error: acknowledges no open delivery"),
    // Requirement C-016: the recorded broker refused the login.
    ("raw-auth-bad-activemq_auth_42211 1", "failed by the application"),
    ("raw-auth-bad-activemq_auth_42212 1", "failed by the application"),
    ("raw-auth-none-activemq_auth_42211 1", "failed by the application"),
    ("raw-auth-none-activemq_auth_42212 1", "failed by the application"),
    // They promise heart-beats and send none. So did the recorded brokers end it.
    ("raw-heartbeat-silent-client-1.2-activemq 1", "peer fell silent"),
    ("raw-heartbeat-silent-client-1.2-rabbitmq 1", "peer fell silent"),
    // `BOGUS\n\n\0`
    ("raw-ws-session-1.2-activemq 1", "protocol error: unknown command at octet 520"),
    ("raw-ws-session-1.2-rabbitmq 1", "protocol error: unknown command at octet 509"),
    ("raw-ws-session-1.2-rabbitmq_binframe 1", "protocol error: unknown command at octet 581"),
    ("raw-ws-session-1.2-stompbrokerjs 1", "protocol error: unknown command at octet 549"),
    // Requirement F-033: its DISCONNECT has no blank line.
    ("stomper-1.1-activemq 1", "protocol error: NUL before the end of the head at octet 345"),
    ("stomper-1.1-rabbitmq 1", "protocol error: NUL before the end of the head at octet 333"),
];

#[test]
fn a_server_ends_nearly_no_session_of_a_recorded_client() {
    let mut ended = Vec::new();
    for_all(|recording, outcome| {
        let reason = outcome.closed.as_ref();
        if !ended_well(reason) {
            ended.push((recording.name(), reason.expect("an end").to_string()));
        }
    });
    assert_eq!(ended, ENDED_BY_THE_SERVER.map(|(name, how)| (name.to_owned(), how.to_owned())));
}

#[test]
fn what_a_client_asks_for_shows_up_in_events() {
    for_all(|recording, outcome| {
        assert_told(recording, &outcome.frames, &events_of(recording));
    });
}

#[test]
fn what_a_client_asks_a_receipt_for_gets_one() {
    for_all(|recording, outcome| {
        let frames = written(recording, outcome, Command::Receipt);
        let written = frames.iter().map(|frame| header(frame, name::RECEIPT_ID));
        let asked = requests(recording).into_iter().filter_map(|frame| frame.header(name::RECEIPT));
        let asked: Vec<_> = asked.map(|receipt| Some(receipt.into())).collect();
        assert_told(recording, &written.collect::<Vec<_>>(), &asked);
    });
}

#[test]
fn what_a_client_acknowledges_is_what_it_was_sent() {
    let (mut count, mut cumulative) = (0, Vec::new());
    for_all(|recording, outcome| {
        for (frame, deliveries) in &outcome.settled {
            let (ours, theirs) = match recording.version.expect("connected") {
                Version::V1_0 | Version::V1_1 => (name::MESSAGE_ID, name::MESSAGE_ID),
                Version::V1_2 => (name::ID, name::ACK),
            };
            let is_meant = |message: &&Frame| header(message, theirs) == header(frame, ours);
            let number = (1..).zip(messages(recording)).find(|(_, message)| is_meant(message));
            let number = number.map(|(number, _)| number);
            assert_eq!(deliveries.last().copied(), number, "{}: {frame:?}", recording.name());
            count += 1;
            if deliveries.len() > 1 {
                cumulative.push((recording.name(), deliveries.clone()));
            }
        }
    });
    assert_eq!(count, 255, "all but the one that nobody knows of");
    // Everybody else acknowledges each message as it comes.
    let probes = ["raw-ack-cumulative-1.2-activemq 1", "raw-ack-cumulative-1.2-rabbitmq 1"];
    assert_eq!(cumulative, probes.map(|probe| (probe.to_owned(), vec![1, 2, 3])));
}

#[test]
fn messages_are_written_as_the_recorded_broker_wrote_them() {
    for_all(|recording, outcome| {
        assert_eq!(outcome.undelivered, [], "{}", recording.name());
        let written = written(recording, outcome, Command::Message);
        let written: Vec<_> = written.iter().map(without_extras).collect();
        let recorded: Vec<_> = messages(recording).map(without_extras).collect();
        assert_told(recording, &written, &recorded);
    });
}

#[test]
fn events_do_not_depend_on_how_octets_arrive() {
    for recording in recording::all() {
        let (whole, split) = (broker::replay(&recording), broker::replay_in(&recording, 1));
        assert_eq!(split.record.told, whole.record.told, "{}", recording.name());
        assert_eq!(split.record.written, whole.record.written, "{}", recording.name());
    }
}

/// All recordings but those of [`raw_errors`](super::raw_errors).
fn for_all(mut check: impl FnMut(&Recording, &Outcome)) {
    let recordings = recording::all().into_iter();
    for recording in recordings.filter(|it| !it.capture.starts_with("raw-error-")) {
        check(&recording, &broker::replay(&recording));
    }
}

/// Of a session that was ended early only the beginning is told.
fn assert_told<T: core::fmt::Debug + PartialEq>(recording: &Recording, told: &[T], all: &[T]) {
    if ENDED_BY_THE_SERVER.iter().any(|(name, _)| *name == recording.name()) {
        assert!(all.starts_with(told), "{}: {told:?}, not {all:?}", recording.name());
    } else {
        assert_eq!(told, all, "{}", recording.name());
    }
}

/// What the recorded client sent, up to the end of its session.
fn requests(recording: &Recording) -> Vec<&Frame> {
    let mut has_left = false;
    let frames = recording.frames(Role::Client).take_while(|frame| {
        let is_behind = has_left;
        has_left |= frame.command() == Command::Disconnect;
        !is_behind
    });
    frames.collect()
}

/// The frames that events are made of: those of a transaction when it is committed.
fn events_of(recording: &Recording) -> Vec<Frame> {
    let mut events = Vec::new();
    let mut transactions: HashMap<String, Vec<Frame>> = HashMap::new();
    for frame in requests(recording) {
        let Some(transaction) = header(frame, name::TRANSACTION) else {
            events.push(frame.clone());
            continue;
        };
        let held = transactions.entry(transaction.clone()).or_default();
        match frame.command() {
            Command::Begin | Command::Abort => held.clear(),
            Command::Commit => {
                let commit = Frame::builder(Command::Commit);
                events.push(commit.header(name::TRANSACTION, &transaction).build());
                events.append(held);
            }
            _ => held.push(frame.clone()),
        }
    }
    events
}

fn messages(recording: &Recording) -> impl Iterator<Item = &Frame> {
    recording.frames(Role::Server).filter(|frame| frame.command() == Command::Message)
}

/// The frames of that command that were written.
fn written(recording: &Recording, outcome: &Outcome, command: Command) -> Vec<Frame> {
    let octets: Vec<u8> =
        outcome.record.written.iter().flat_map(|(_, octets)| octets.to_vec()).collect();
    let frames = recording::decode(Role::Server, recording.version, &octets);
    frames.into_iter().filter(|frame| frame.command() == command).collect()
}

/// The headers of a MESSAGE in the order of their names, and its body. Without `content-length`,
/// which not every broker writes, and what `RabbitMQ` copies out of a SEND.
fn without_extras(message: &Frame) -> (Vec<(String, String)>, &[u8]) {
    let extras = [name::CONTENT_LENGTH, name::RECEIPT, name::TRANSACTION];
    let headers = message.headers().iter();
    let headers = headers.filter(|header| !extras.contains(&&*header.name()));
    let headers = headers.map(|header| (header.name().into_owned(), header.value().into_owned()));
    let mut headers: Vec<_> = headers.collect();
    headers.sort();
    (headers, message.body())
}
