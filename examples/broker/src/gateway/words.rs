//! What the session refuses before anybody is asked, in the words of RabbitMQ.

use stomp_proto::codec::{DecodeError, DecodeErrorKind};
use stomp_proto::destination::{ConsumerTag, PlanError, Planner, PlannerConfig};
use stomp_proto::frame::name;
use stomp_proto::server::{Complaint, Failure, Wording};
use stomp_proto::{Bound, Command, Frame, Limit, ProtocolError, Version, VersionSet};

use super::failure;

/// For clients that look at what an ERROR says.
pub(crate) const WORDING: Wording = Wording::new(|complaint| words(complaint).map(signed));

/// Every ERROR says which versions there are.
pub(super) fn signed(failure: Failure) -> Failure {
    failure.header(name::VERSION, VersionSet::ALL.to_string())
}

fn words(complaint: Complaint<'_>) -> Option<Failure> {
    let unknown = DecodeErrorKind::UnknownCommand;
    match complaint.error {
        ProtocolError::NoCommonVersion(_) => {
            let explanation = format!("Supported versions are {}\n", VersionSet::ALL);
            Some(Failure::new("Version mismatch").explanation(explanation))
        }
        ProtocolError::NotConnected(_) => Some(not_connected()),
        ProtocolError::Decode(DecodeError { kind, .. }) if *kind == unknown => {
            Some(match complaint.version {
                Some(_) => bad_command(&first_word(complaint.unread)),
                None => not_connected(),
            })
        }
        // A second CONNECT is what RabbitMQ has no words for.
        ProtocolError::UnexpectedFrame(Command::Connect | Command::Stomp) => None,
        ProtocolError::UnexpectedFrame(command) => Some(bad_command(command.as_str())),
        ProtocolError::InvalidHeader { command: Command::Connect | Command::Stomp, .. } => {
            Some(Failure::new("Processing error").explanation("Processing error"))
        }
        error => about(error, complaint.frame?, complaint.version),
    }
}

/// What is wrong with a frame.
fn about(error: &ProtocolError, frame: &Frame, version: Option<Version>) -> Option<Failure> {
    let command = frame.command();
    match (error, command) {
        (ProtocolError::UnknownTransaction, _) => {
            let transaction = frame.header(name::TRANSACTION).unwrap_or_default();
            let explanation = format!("Invalid transaction identifier: \"{transaction}\"\n");
            Some(Failure::new("Bad transaction").explanation(explanation))
        }
        (ProtocolError::LimitExceeded(Limit { what: Bound::Transactions, .. }), _) => {
            Some(Failure::new("Transaction limit exceeded").explanation(error.to_string()))
        }
        (
            ProtocolError::MissingHeader { name, .. },
            Command::Begin | Command::Commit | Command::Abort,
        ) => {
            let explanation = format!("\"{command}\" must include a '{name}' header\n");
            Some(Failure::new(format!("Missing {name}")).explanation(explanation))
        }
        (ProtocolError::MissingHeader { name, .. }, Command::Ack | Command::Nack) => {
            let explanation = format!("\"{command}\" must include the \"{name}\" header\n");
            Some(Failure::new("Missing header").explanation(explanation))
        }
        (ProtocolError::UnknownDelivery, _) => {
            let name = if version == Some(Version::V1_2) { name::ID } else { name::MESSAGE_ID };
            let explanation = format!("\"{command}\" must include a valid \"{name}\" header\n");
            Some(Failure::new("Invalid header").explanation(explanation))
        }
        (ProtocolError::DuplicateSubscription, _) => {
            let destination = frame.header(name::DESTINATION).unwrap_or_default();
            let tag = match frame.header(name::ID) {
                Some(id) => ConsumerTag::of_id(&id),
                None => ConsumerTag::of_destination(&destination),
            };
            Some(failure(&PlanError::Duplicate(tag)))
        }
        (
            ProtocolError::MissingHeader { .. }
            | ProtocolError::InvalidHeader { .. }
            | ProtocolError::UnknownSubscription,
            _,
        ) => planned(frame),
        _ => None,
    }
}

/// What a planner that knows of nothing has against a frame that names a destination.
fn planned(frame: &Frame) -> Option<Failure> {
    let mut planner = Planner::new(PlannerConfig::default());
    let headers = frame.headers();
    let refused = match frame.command() {
        Command::Send => planner.send(headers, |_| String::new()).err(),
        Command::Subscribe => planner.subscribe(headers, |_| String::new()).err(),
        Command::Unsubscribe => planner.unsubscribe(headers).err(),
        _ => None,
    };
    refused.as_ref().map(failure)
}

fn not_connected() -> Failure {
    Failure::new("Illegal command").explanation("You must log in using CONNECT first")
}

fn bad_command(command: &str) -> Failure {
    let explanation = format!("Could not interpret command \"{command}\"\n");
    Failure::new("Bad command").explanation(explanation)
}

/// What stands where a command is to be, if it looks like one; empty if it does not. It may be
/// anything that a client has lost its way in, a passcode as well, and is then nobody's to repeat.
fn first_word(octets: &[u8]) -> String {
    const LONGEST: usize = 16;
    let end = octets.iter().position(|octet| !octet.is_ascii_alphanumeric());
    let word = octets.get(..end.unwrap_or(octets.len())).unwrap_or_default();
    let is_known = || {
        let mut commands = Command::ALL.iter().map(|command| command.as_str().as_bytes());
        commands.any(|command| command.eq_ignore_ascii_case(word))
    };
    let is_like_one = word.len() <= LONGEST && word.iter().all(u8::is_ascii_uppercase);
    let shown = if is_like_one || is_known() { word } else { &[] };
    shown.iter().copied().map(char::from).collect()
}
