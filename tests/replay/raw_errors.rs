//! The probes of `raw-error-*`, one bad frame at a time: what a server answers them with, and which
//! of them a client will not send.
//!
//! requirements, chapter 9.1, first column, under the decisions of chapter 0

use stomp_proto::frame::Role;
use stomp_proto::{CloseReason, Command, UsageError};

use crate::broker::{self, Outcome};
use crate::recording::{self, Recording};
use crate::user;

/// A probe, and what a server answers it with on 1.0, 1.1 and 1.2: command, receipt and message of
/// each frame, and its body if it has one.
///
/// An ERROR is the end. Without one the session goes on, and a SEND with the receipt `alive` that
/// some of the probes end with gets its RECEIPT.
type Probe = (&'static str, [&'static str; 3]);

const PASSES: &str = "RECEIPT e1";
const MALFORMED: &str = "ERROR: malformed frame";
const UNKNOWN_COMMAND: &str = "ERROR: unknown command";
const UNKNOWN_DELIVERY: &str = "ERROR e1: unknown ack id";
const NO_DESTINATION: &str = "ERROR e1: missing destination";
const NO_TRANSACTION: &str = "ERROR e1: no such transaction";
const NO_MESSAGE_ID: &str = "ERROR e1: missing message-id";
const NO_SUBSCRIPTION_ID: &str = "ERROR e1: invalid subscription [id header required]";

const PROBES: [Probe; 35] = [
    ("ACK_no_headers", [NO_MESSAGE_ID, NO_MESSAGE_ID, "ERROR e1: missing id"]),
    ("ACK_unknown", [UNKNOWN_DELIVERY; 3]),
    ("BEGIN_no_transaction", ["ERROR e1: missing transaction"; 3]),
    ("BEGIN_twice", ["RECEIPT e1, ERROR e2: transaction was begun already"; 3]),
    ("BOGUS_command", [UNKNOWN_COMMAND; 3]),
    ("COMMIT_unknown", [NO_TRANSACTION; 3]),
    ("CONNECT_again", ["ERROR: already connected"; 3]),
    ("CR_in_the_middle_of_a_header_value", [PASSES, PASSES, MALFORMED]),
    ("DISCONNECT_without_receipt", [""; 3]),
    // 1.0 does not know NACK, but the dialect lets it pass.
    ("NACK_unknown", [UNKNOWN_DELIVERY; 3]),
    ("NUL_in_header", [MALFORMED; 3]),
    ("SEND_bad_destination", [PASSES; 3]),
    ("SEND_no_destination", [NO_DESTINATION; 3]),
    ("SEND_unknown_transaction", [NO_TRANSACTION; 3]),
    ("SUBSCRIBE_bad_ack_mode", ["ERROR e1: invalid ack"; 3]),
    ("SUBSCRIBE_no_destination", [NO_DESTINATION; 3]),
    ("SUBSCRIBE_no_id", [PASSES, NO_SUBSCRIPTION_ID, NO_SUBSCRIPTION_ID]),
    ("SUBSCRIBE_same_id_twice", ["RECEIPT e1, ERROR e2: subscription id is in use"; 3]),
    ("UNSUBSCRIBE_unknown_id", ["ERROR e1: no such subscription"; 3]),
    ("body_on_SUBSCRIBE", [PASSES, MALFORMED, MALFORMED]),
    ("content-length__3", [MALFORMED; 3]),
    ("content-length_negative", [MALFORMED; 3]),
    ("content-length_not_a_number", [MALFORMED; 3]),
    ("content-length_too_short", [MALFORMED; 3]),
    // 1.0 pads its values.
    ("content-length_with_spaces", [PASSES, MALFORMED, MALFORMED]),
    // 1.1 does not know the escape.
    ("cr_escape", [PASSES, MALFORMED, PASSES]),
    ("empty_header_name", [MALFORMED; 3]),
    ("header_without_colon", [MALFORMED; 3]),
    ("invalid_UTF-8_header", [MALFORMED; 3]),
    ("lower_case_command", [UNKNOWN_COMMAND; 3]),
    ("receipt_with_escapes", [r"RECEIPT a\cb\nc\\d"; 3]),
    ("server_command_MESSAGE", ["ERROR e1: unexpected MESSAGE"; 3]),
    ("trailing_lone_backslash", [PASSES, MALFORMED, MALFORMED]),
    ("two_content-lengths", [MALFORMED; 3]),
    ("undefined_escape", [PASSES, MALFORMED, MALFORMED]),
];

const NOT_SO_WRITTEN: [&str; 2] = [
    "header \"x\" of SEND cannot be written on STOMP 1.0",
    "header \"x\" of SEND cannot be written on STOMP 1.1",
];

/// Probes that a client will not send, and why. What else is wrong is for the broker to judge.
const REFUSED: [Probe; 5] = [
    ("CR_in_the_middle_of_a_header_value", [NOT_SO_WRITTEN[0], NOT_SO_WRITTEN[1], ""]),
    ("SUBSCRIBE_no_destination", ["request without a destination"; 3]),
    ("SUBSCRIBE_same_id_twice", ["subscription id is in use"; 3]),
    // The blank behind the number is no padding.
    ("content-length_with_spaces", ["content-length is not the 3 octets of the body", "", ""]),
    ("server_command_MESSAGE", ["MESSAGE is not sent by this end"; 3]),
];

#[test]
fn every_probe_gets_its_answer_in_every_version() {
    let recordings = recording::starting_with("raw-error-");
    assert_eq!(recordings.len(), 2 * 3 * PROBES.len(), "both brokers, three versions");
    for recording in &recordings {
        let outcome = broker::replay(recording);
        let answers = answers_to(recording);
        assert_eq!(answered(&outcome), answers, "{}", recording.name());
        match outcome.closed.expect("an end") {
            CloseReason::Protocol(_) => assert!(answers.contains("ERROR"), "{}", recording.name()),
            CloseReason::Disconnected => assert_eq!(answers, "", "{}", recording.name()),
            CloseReason::Lost => assert!(answers.starts_with("RECEIPT"), "{}", recording.name()),
            reason => panic!("{reason}: {}", recording.name()),
        }
    }
}

#[test]
fn a_client_will_not_send_what_it_can_tell_is_wrong() {
    for recording in &recording::starting_with("raw-error-") {
        let errors = user::replay(recording).refused.into_iter().map(|(_, error)| error);
        // Behind an ERROR it refuses everything.
        let errors = errors.filter(|error| *error != UsageError::Closed);
        let errors: Vec<_> = errors.map(|error| error.to_string()).collect();
        assert_eq!(errors.join(", "), look_up(&REFUSED, recording), "{}", recording.name());
    }
}

/// What a table says of a recording.
fn look_up(table: &[Probe], recording: &Recording) -> &'static str {
    let (name, version) = recording.connection.split_once('/').expect("a probe and a version");
    let probe = table.iter().find(|probe| probe.0 == name);
    let [v1_0, v1_1, v1_2] = probe.map(|probe| probe.1).unwrap_or_default();
    match version {
        "10" => v1_0,
        "11" => v1_1,
        "12" => v1_2,
        version => panic!("version {version}"),
    }
}

/// All that a server answers a recording with.
fn answers_to(recording: &Recording) -> String {
    let answer = look_up(&PROBES, recording);
    let mut frames = recording.frames(Role::Client);
    let asks = frames.any(|frame| frame.header("receipt").as_deref() == Some("alive"));
    let goes_on = asks && !answer.contains("ERROR");
    format!("{answer}{}", if goes_on { ", RECEIPT alive" } else { "" })
}

/// What was written behind CONNECTED, the messages left out.
fn answered(outcome: &Outcome) -> String {
    let frames = outcome.record.written.iter().map(|(_, octets)| core::str::from_utf8(octets));
    let answers = frames.map(|frame| describe(frame.expect("text")));
    let own = [Command::Connected, Command::Message].map(Command::as_str);
    let answers = answers.filter(|answer| !own.iter().any(|own| answer.starts_with(own)));
    answers.collect::<Vec<_>>().join(", ")
}

/// A frame in the words of the table, its values as they are on the wire.
fn describe(frame: &str) -> String {
    let (head, body) = frame.split_once("\n\n").expect("a head");
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let command = head.lines().next().unwrap_or_default();
    let receipt = value("receipt-id:").map(|receipt| format!(" {receipt}")).unwrap_or_default();
    let message = value("message:").map(|message| format!(": {message}")).unwrap_or_default();
    let words = format!("{command}{receipt}{message}");
    match body.trim_end_matches('\0') {
        "" => words,
        body => format!("{words} [{body}]"),
    }
}
