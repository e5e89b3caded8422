//! What errors and ends of sessions are called, and which error lies behind which.

use core::error::Error;

use stomp_proto::codec::{DecodeError, DecodeErrorKind};
use stomp_proto::server::{Accept, Delivery};
use stomp_proto::{
    Bound, CloseReason, Command, Foreign, Limit, ProtocolError, Refused, UsageError, Version,
    VersionSet,
};

#[test]
fn what_a_peer_did_wrong_is_said_in_a_fragment() {
    for (error, words) in [
        (ProtocolError::Foreign(Foreign::Http), "peer speaks HTTP, not STOMP"),
        (ProtocolError::Foreign(Foreign::Tls), "peer speaks TLS, not STOMP in the clear"),
        (ProtocolError::UnexpectedFrame(Command::Nack), "unexpected NACK"),
        (ProtocolError::NotConnected(Command::Send), "SEND before CONNECT"),
        (ProtocolError::NoCommonVersion(VersionSet::EMPTY), "no STOMP version in common"),
        (
            ProtocolError::NoCommonVersion(Version::V1_0.into()),
            "no STOMP version in common with 1.0",
        ),
        (
            ProtocolError::SubprotocolMismatch {
                subprotocol: Version::V1_2,
                version: Version::V1_1,
            },
            "broker chose 1.1 after the subprotocol of 1.2",
        ),
    ] {
        assert_eq!(error.to_string(), words);
        assert!(error.source().is_none());
        let closed = CloseReason::Protocol(error.clone());
        assert_eq!(closed.to_string(), format!("protocol error: {words}"));
        assert_eq!(closed.source().map(ToString::to_string).as_deref(), Some(words));
    }
    assert!(CloseReason::Eof.source().is_none());
    let decode = DecodeError { kind: DecodeErrorKind::Truncated, offset: 3 };
    let source = ProtocolError::Decode(decode);
    assert_eq!(source.source().map(ToString::to_string), Some(decode.to_string()));
}

#[test]
fn what_a_caller_did_wrong_is_said_in_a_fragment() {
    for (error, words) in [
        (UsageError::NotConnected, "session is not connected"),
        (UsageError::Closed, "session has ended"),
        (UsageError::OwnedHeader("id".into()), "header \"id\" is written by the session"),
        (UsageError::MissingDestination, "request without a destination"),
        (UsageError::MissingHost, "STOMP 1.1 and later need a host"),
        (UsageError::NoVersion, "no version to offer"),
        (UsageError::Stale, "token of another session"),
        (UsageError::DuplicateSubscription, "subscription id is in use"),
        (UsageError::DuplicateReceipt, "receipt is owed already"),
        (UsageError::DuplicateMessageId, "message-id is open in this subscription"),
        (UsageError::DuplicateAckId, "acknowledgement id is open"),
        (UsageError::UnknownSubscription, "no such subscription"),
        (UsageError::HeadersNotCarried(2), "2 headers that this version cannot carry"),
        (UsageError::WrongCommand(Command::Message), "MESSAGE is not sent by this end"),
    ] {
        assert_eq!(error.to_string(), words);
        assert!(error.source().is_none());
        let refused = Refused { error: error.clone(), token: 7 };
        assert_eq!(refused.to_string(), words);
        assert_eq!(refused.source().map(ToString::to_string).as_deref(), Some(words));
    }
}

#[test]
fn a_bound_is_named_with_its_number() {
    for (what, words) in [
        (Bound::Subscriptions, "more than 9 subscriptions"),
        (Bound::Unacknowledged, "more than 9 open deliveries"),
        (Bound::Transactions, "more than 9 open transactions"),
        (Bound::TransactionFrames, "more than 9 frames in a transaction"),
        (Bound::TransactionOctets, "more than 9 octets in transactions"),
        (Bound::PendingReceipts, "more than 9 receipts owed"),
        (Bound::OutboxOctets, "more than 9 octets to be written"),
    ] {
        let limit = Limit { what, most: 9 };
        assert_eq!(limit.to_string(), words);
        assert_eq!(UsageError::LimitExceeded(limit).to_string(), words);
        assert_eq!(ProtocolError::LimitExceeded(limit).to_string(), words);
    }
}

#[test]
fn what_may_be_secret_is_not_shown() {
    let accept = Accept::new("s1").server("b/1").header("token", "hush");
    let shown = format!("{accept:?}");
    assert!(shown.contains("token") && shown.contains("s1") && !shown.contains("hush"), "{shown}");
    let delivery = Delivery::builder("/q").header("token", "hush").body("quiet").build();
    let shown = format!("{delivery:?}");
    assert!(shown.contains("body_len: 5"), "{shown}");
    assert!(!shown.contains("hush") && !shown.contains("quiet"), "{shown}");
}

#[test]
fn a_command_says_since_when_it_is_there() {
    for command in [Command::Stomp, Command::Nack] {
        assert_eq!(command.since(), Version::V1_1);
    }
    for command in [Command::Connect, Command::Send, Command::Ack, Command::Error] {
        assert_eq!(command.since(), Version::V1_0);
    }
}
