//! A server that tells what the client did wrong in other words.

use stomp_proto::server::{Complaint, Dialect, Failure, ServerConfig, Wording};
use stomp_proto::{Command, ProtocolError, Version};

use crate::harness::{Broker, NOTHING, V1_0, V1_2, error, error_for, speaking};

/// All that there is to tell, but for what only the server has words for.
fn words(complaint: Complaint<'_>) -> Option<Failure> {
    if matches!(complaint.error, ProtocolError::UnexpectedBody(_)) {
        return None;
    }
    let command = complaint.frame.map(|frame| frame.command().as_str());
    let id = complaint.frame.and_then(|frame| frame.header("id"));
    let version = complaint.version.map(Version::as_str);
    let message = format!("{} {} {}", version.unwrap_or("-"), command.unwrap_or("-"), {
        id.as_deref().unwrap_or("-")
    });
    let words = Failure::new(message).explanation(complaint.unread.escape_ascii().to_string());
    // About versions the server has something to say itself.
    let is_version = matches!(complaint.error, ProtocolError::NoCommonVersion(_));
    Some(if is_version { words.header("version", "none").header("more", "x") } else { words })
}

fn worded() -> ServerConfig {
    let mut config = speaking(Dialect::LENIENT);
    config.wording = Some(Wording::new(words));
    config
}

/// ERROR with a body.
fn explained(receipt: &str, message: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "ERROR\n{receipt}message:{message}\ncontent-type:text/plain\ncontent-length:{length}\n\n{body}\0"
    )
}

fn answers(mut broker: Broker, octets: &str) -> Vec<String> {
    broker.feed(octets);
    assert!(broker.told().pop().unwrap().starts_with("CLOSED"));
    broker.written()
}

#[test]
fn it_knows_the_error_the_frame_and_the_version() {
    let subscribe = "SUBSCRIBE\nid:a\ndestination:/q\n\n\0";
    let again = format!("{subscribe}SUBSCRIBE\nreceipt:r\nid:a\ndestination:/q\n\n\0");
    let receipt = "receipt-id:r\n";
    for (version, octets, expected) in [
        (V1_2, &*again, error_for("r", "1.2 SUBSCRIBE a")),
        (V1_2, "UNSUBSCRIBE\nid:b\n\n\0", error("1.2 UNSUBSCRIBE b")),
        (V1_0, "ACK\nreceipt:r\n\n\0", error_for("r", "1.0 ACK -")),
        // The frame behind has come as well.
        (
            V1_2,
            "COMMIT\nreceipt:r\ntransaction:t\n\n\0SEND\n",
            explained(receipt, "1.2 COMMIT -", "SEND\\n"),
        ),
        // What is no frame is there as it came.
        (V1_2, "WRONG\nid:x\n\n\0", explained("", "1.2 - -", "WRONG\\nid:x\\n\\n\\x00")),
    ] {
        let broker = Broker::connected_with(worded(), version);
        assert_eq!(answers(broker, octets), [expected], "{octets}");
    }
}

#[test]
fn before_connected_it_knows_no_frame_and_the_versions_are_named_all_the_same() {
    assert_eq!(answers(Broker::new(worded()), "SEND\ndestination:/q\n\nx\0"), [error("- - -")]);

    assert_eq!(
        answers(Broker::new(worded()), "CONNECT\naccept-version:3.0\nhost:h\n\n\0"),
        ["ERROR\nversion:1.0,1.1,1.2\nmessage:- - -\nmore:x\n\n\0"]
    );
}

/// So that two configurations can be compared, and shown.
#[test]
fn it_is_the_function_that_it_is_of() {
    let other: fn(Complaint<'_>) -> Option<Failure> =
        |complaint| complaint.frame.map(|frame| Failure::new(frame.command().as_str()));
    let wording = Wording::new(words);
    assert_eq!(wording, Wording::new(words));
    assert_ne!(wording, Wording::new(other));
    assert_eq!(format!("{wording:?}"), "Wording { .. }");
}

#[test]
fn where_it_has_none_the_server_has_its_own_and_to_another_protocol_nothing_is_said() {
    assert_eq!(
        answers(Broker::new(worded()), "CONNECT\naccept-version:1.2\nhost:h\n\nbody\0"),
        [error(&format!("body on {}", Command::Connect))]
    );

    assert_eq!(answers(Broker::new(worded()), "GET / HTTP/1.1\r\n"), NOTHING);
}

#[test]
fn a_complaint_shows_how_much_was_unread_and_not_what() {
    let mut config = worded();
    config.wording = Some(Wording::new(|complaint| Some(Failure::new(format!("{complaint:?}")))));
    let broker = Broker::connected_with(config, V1_2);
    let frame = r#"COMMIT { headers: {"transaction": "t"}, body: b"" }"#;
    let shown = format!(
        "Complaint {{ error: UnknownTransaction, frame: Some({frame}), unread: 5, \
         version: Some(V1_2) }}"
    );
    let written = answers(broker, "COMMIT\ntransaction:t\n\n\0SEND\n");
    assert_eq!(written, [error(&shown.replace(':', "\\c"))]);
}
