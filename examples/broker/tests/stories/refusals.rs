//! What is refused before anybody is asked, and in which words.

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::CloseReason;
use stomp_proto::client::{Event, SubscribeRequest, UnsubscribeRequest};
use stomp_proto::destination::Scheme;

use crate::support::{start, start_with, talk};

/// The ERROR to that frame: message, and body.
async fn refusal(version: &str, frame: &str) -> (String, String) {
    let broker = start().await;
    let connect = format!("CONNECT\naccept-version:{version}\nhost:h\n\n\0");
    let subscribe = "SUBSCRIBE\nid:0\ndestination:/queue/a\nreceipt:s\n\n\0";
    let steps = [(&*format!("{connect}{subscribe}"), 2), (frame, 3)];
    parts(talk(&broker, &steps).await.last().unwrap())
}

fn parts(error: &str) -> (String, String) {
    let (head, body) = error.split_once("\n\n").unwrap();
    assert!(head.starts_with("ERROR\n"), "{error}");
    let message = head.lines().find_map(|line| line.strip_prefix("message:"));
    (message.unwrap().into(), body.into())
}

#[tokio::test]
async fn a_frame_without_what_it_needs() {
    for (version, frame, message, body) in [
        ("1.2", "SEND", "Missing destination", "\"SEND\" must include a 'destination' header\n"),
        (
            "1.0",
            "SUBSCRIBE",
            "Missing destination",
            "\"SUBSCRIBE\" must include a 'destination' header\n",
        ),
        ("1.2", "SEND\ndestination:", "Invalid destination", "Destination cannot be blank"),
        (
            "1.2",
            "SUBSCRIBE\nid:1\ndestination:/queue/a\nack:no",
            "Processing error",
            "Processing error",
        ),
        (
            "1.1",
            "UNSUBSCRIBE",
            "Missing destination or id",
            "UNSUBSCRIBE must include a 'destination' or 'id' header",
        ),
        ("1.0", "ACK", "Missing header", "\"ACK\" must include the \"message-id\" header\n"),
        ("1.1", "NACK", "Missing header", "\"NACK\" must include the \"message-id\" header\n"),
        ("1.2", "ACK", "Missing header", "\"ACK\" must include the \"id\" header\n"),
        ("1.2", "BEGIN", "Missing transaction", "\"BEGIN\" must include a 'transaction' header\n"),
        ("1.2", "ABORT", "Missing transaction", "\"ABORT\" must include a 'transaction' header\n"),
        // This crate wants an id on 1.1 and later.
        ("1.1", "SUBSCRIBE\ndestination:/queue/a", "invalid subscription", "id header required"),
    ] {
        let refusal = refusal(version, &format!("{frame}\n\n\0")).await;
        assert_eq!(refusal, (message.into(), body.into()), "{version} {frame}");
    }
}

#[tokio::test]
async fn a_frame_about_what_is_not_there_or_is_there_already() {
    for (version, frame, message, body) in [
        (
            "1.2",
            "SUBSCRIBE\nid:0\ndestination:/queue/b",
            "Duplicated subscription identifier",
            "A subscription identified by 'T_0' already exists.",
        ),
        (
            "1.2",
            "UNSUBSCRIBE\nid:9",
            "No subscription found",
            "UNSUBSCRIBE must refer to an existing subscription.\n\
             Subscription to \"id='9'\" not found.\n",
        ),
        (
            "1.0",
            "UNSUBSCRIBE\ndestination:/queue/b",
            "No subscription found",
            "UNSUBSCRIBE must refer to an existing subscription.\n\
             Subscription to \"destination='/queue/b'\" not found.\n",
        ),
        (
            "1.2",
            "UNSUBSCRIBE\nid:/temp-queue/a",
            "Invalid id",
            "UNSUBSCRIBE 'id' may not start with /temp-queue/\n",
        ),
        ("1.2", "ACK\nid:9", "Invalid header", "\"ACK\" must include a valid \"id\" header\n"),
        (
            "1.1",
            "NACK\nmessage-id:9\nsubscription:0",
            "Invalid header",
            "\"NACK\" must include a valid \"message-id\" header\n",
        ),
        (
            "1.2",
            "COMMIT\ntransaction:t",
            "Bad transaction",
            "Invalid transaction identifier: \"t\"\n",
        ),
        (
            "1.2",
            "SEND\ndestination:/queue/a\ntransaction:t",
            "Bad transaction",
            "Invalid transaction identifier: \"t\"\n",
        ),
        ("1.2", "WRONG\nid:0", "Bad command", "Could not interpret command \"WRONG\"\n"),
        ("1.0", "MESSAGE", "Bad command", "Could not interpret command \"MESSAGE\"\n"),
        ("1.2", "send\nid:0", "Bad command", "Could not interpret command \"send\"\n"),
        // No command looks like that, and it may be a secret.
        ("1.2", "hush\nid:0", "Bad command", "Could not interpret command \"\"\n"),
        ("1.2", "SENDhush\nid:0", "Bad command", "Could not interpret command \"\"\n"),
        ("1.2", "HUSH5HUSH\nid:0", "Bad command", "Could not interpret command \"\"\n"),
        // The broker that has these words has none for what follows.
        ("1.2", "CONNECT", "already connected", ""),
    ] {
        let refusal = refusal(version, &format!("{frame}\n\n\0")).await;
        assert_eq!(refusal, (message.into(), body.into()), "{version} {frame}");
    }
}

/// What AMQP cannot carry, so that a broker on one answers the same.
#[tokio::test]
async fn a_name_that_is_too_long() {
    let expected = "a name or property is longer than the 255 octets of AMQP\n";
    let expected = ("Processing error".to_owned(), expected.to_owned());
    let long = "n".repeat(256);
    for frame in [
        format!("SEND\ndestination:/queue/{long}\n\n\0"),
        format!("SEND\ndestination:/topic/{long}\n\n\0"),
        format!("SUBSCRIBE\nid:1\ndestination:/queue/{long}\n\n\0"),
        format!("SUBSCRIBE\nid:1\ndestination:/topic/{long}\n\n\0"),
        format!("SUBSCRIBE\nid:{long}\ndestination:/topic/a\n\n\0"),
    ] {
        assert_eq!(refusal("1.2", &frame).await, expected, "{frame}");
    }
    let name = "n".repeat(255);
    let broker = start().await;
    let frames = format!(
        "CONNECT\naccept-version:1.2\nhost:h\n\n\0\
         SUBSCRIBE\nid:0\ndestination:/topic/{name}\nreceipt:s\n\n\0DISCONNECT\n\n\0"
    );
    assert!(talk(&broker, &[(&frames, 2)]).await[1].starts_with("RECEIPT\nreceipt-id:s\n"));
}

#[tokio::test]
async fn one_transaction_too_many() {
    let begin = |number| format!("BEGIN\ntransaction:{number}\n\n\0");
    let begins: String = (0..17).map(begin).collect();
    let expected = ("Transaction limit exceeded".into(), "more than 16 open transactions".into());
    assert_eq!(refusal("1.2", &begins).await, expected);
}

#[tokio::test]
async fn a_client_that_does_not_get_in() {
    for (frame, message, body) in [
        (
            "CONNECT\naccept-version:9.9\nhost:h",
            "Version mismatch",
            "Supported versions are 1.0,1.1,1.2\n",
        ),
        ("SEND\ndestination:/queue/a", "Illegal command", "You must log in using CONNECT first"),
        ("WRONG", "Illegal command", "You must log in using CONNECT first"),
        ("CONNECT\nheart-beat:a,b", "Processing error", "Processing error"),
    ] {
        let broker = start().await;
        let answers = talk(&broker, &[(&format!("{frame}\n\n\0"), 1)]).await;
        assert_eq!(parts(&answers[0]), (message.into(), body.into()), "{frame}");
    }
}

#[tokio::test]
async fn an_error_says_which_versions_there_are_and_which_subscription_it_is_about() {
    let broker = start().await;
    let durable = || {
        let request = SubscribeRequest::new("/topic/a").id("mine").header("durable", "true");
        request.header("auto-delete", "false")
    };
    let (mut one, mut other) = (broker.client().await, broker.client().await);
    one.subscribe(durable()).await;
    let subscription = other.subscribe(durable()).await;
    // The queue is deleted under the consumer of the other one.
    other.unsubscribe(UnsubscribeRequest::new(subscription).header("durable", "true")).await;
    let Event::Closed(CloseReason::Error { frame, .. }) = one.event().await else { panic!() };
    let header = |name| frame.header(name).unwrap_or_default().into_owned();
    assert_eq!(header("message"), "Server cancelled subscription");
    assert_eq!((header("subscription"), header("version")), ("mine".into(), "1.0,1.1,1.2".into()));

    let connect = "CONNECT\n\n\0";
    for frame in ["SEND\n\n\0", "WRONG\n\n\0", "SEND\ndestination:/nowhere/a\n\n\0"] {
        let answers = talk(&broker, &[(&format!("{connect}{frame}"), 2)]).await;
        assert_eq!(answers[1].matches("\nversion:1.0,1.1,1.2\n").count(), 1, "{answers:?}");
    }
}

#[tokio::test]
async fn under_the_original_scheme_the_session_has_its_own_words() {
    let config = Config { scheme: Scheme::Original, ..Config::default() };
    let broker = start_with(config, MemoryLimits::default()).await;
    let answers = talk(&broker, &[("CONNECT\n\n\0SEND\n\n\0", 2)]).await;
    assert_eq!(parts(&answers[1]), ("missing destination".into(), String::new()));
}
