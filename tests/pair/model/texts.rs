//! Any text in any header: what an end takes, the other end reads as it was meant.

use bytes::Bytes;
use proptest::prelude::*;
use stomp_proto::client::{AckMode, ConnectCommand, SendRequest};
use stomp_proto::server::{Accept, Delivery, Failure, Reply};
use stomp_proto::{
    Client, ClientConfig, CloseReason, Command, Frame, Session, Version, VersionSet,
};

use super::cases;
use crate::broker::Answers;
use crate::harness::{Setup, V1_0, ms};
use crate::listener;
use crate::network::{CHUNKINGS, Chunking};

/// Text with all that some version or other cannot carry.
const TEXT: &str = "[a :\\\\\n\r\t\0é€]{0,6}";

/// The headers of a MESSAGE or SEND that are not copied from one to the other.
const OWNED: [&str; 7] = [
    "destination",
    "subscription",
    "message-id",
    "ack",
    "receipt",
    "transaction",
    "content-length",
];

fn chunkings() -> impl Strategy<Value = Chunking> {
    prop::sample::select(CHUNKINGS.to_vec())
}

fn versions() -> impl Strategy<Value = Version> {
    prop::sample::select(Version::ALL.to_vec())
}

fn sets() -> impl Strategy<Value = VersionSet> {
    let versions = prop::sample::subsequence(Version::ALL.to_vec(), 1..=3);
    versions.prop_map(|versions| versions.into_iter().collect())
}

type Headers = Vec<(String, String)>;

fn headers() -> impl Strategy<Value = Headers> {
    prop::collection::vec((TEXT, TEXT), 0..6)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_is_sent_is_delivered_to_the_letter(
        version in versions(),
        chunking in chunkings(),
        headers in headers(),
        body in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut pair = Setup::new(version, chunking).connected();
        pair.subscribe("/q", AckMode::Auto);
        let body = Bytes::from(body);
        // Those that are refused are left out: the others are taken.
        let mut request = SendRequest::new("/q").body(body.clone());
        let mut sent = Headers::new();
        for (name, value) in &headers {
            let more = request.clone().header(name, value);
            let mut trial = Setup::new(version, Chunking::Whole).connected();
            if trial.client.send(&more).is_ok() {
                request = more;
                sent.push((name.clone(), value.clone()));
            }
        }
        pair.client.send(&request).unwrap();
        pair.drive();
        let message = pair.listener.messages.first().expect("delivered");
        prop_assert_eq!(message.body(), &body);
        let mut received = listener::headers(message.headers());
        received.retain(|(name, _)| !OWNED.contains(&&**name));
        prop_assert_eq!(received, sent);
        prop_assert_eq!(pair.broker.dropped_headers, 0);
    }

    #[test]
    fn what_is_delivered_arrives_but_for_what_the_version_cannot_carry(
        version in versions(),
        chunking in chunkings(),
        destination in TEXT,
        id in TEXT,
        headers in headers(),
    ) {
        let mut pair = Setup::new(version, chunking).connected();
        pair.subscribe("/q", AckMode::ClientIndividual);
        pair.drive();
        let mut delivery =
            Delivery::builder(destination.clone()).message_id(&id).ack_id(&id).body("x");
        for (name, value) in &headers {
            delivery = delivery.header(name, value);
        }
        let subscription = pair.broker.subscription(0);
        let Ok(delivered) = pair.server.deliver(subscription, &delivery.build(), 1) else {
            return Ok(());
        };
        pair.drive();
        let message = pair.listener.messages.first().expect("delivered");
        prop_assert_eq!(message.destination(), destination);
        prop_assert_eq!(message.message_id(), &*id);
        let mut received = listener::headers(message.headers());
        received.retain(|(name, _)| !OWNED.contains(&&**name));
        prop_assert_eq!(received.len() + delivered.dropped_headers, headers.len());
        let mut left = headers.iter();
        prop_assert!(received.iter().all(|it| left.any(|given| given == it)), "in their order");
        // And its ids, whatever they are, come back.
        let token = message.token().expect("to be acknowledged");
        pair.client.ack(&token).unwrap();
        pair.drive();
        prop_assert_eq!(pair.broker.told().pop().unwrap(), "ACK #0 [1]");
    }

    #[test]
    fn a_receipt_and_an_error_say_what_they_have_to(
        version in versions(),
        chunking in chunkings(),
        receipt in TEXT,
        message in TEXT,
        explanation in TEXT,
        is_early in any::<bool>(),
    ) {
        let mut setup = Setup::new(version, chunking);
        if is_early {
            // It cannot tell yet which escapes hold.
            setup.client = ClientConfig::new("h");
            setup.server.versions = version.into();
        }
        let mut pair = setup.start();
        pair.broker.answers = if is_early { Answers::Later } else { Answers::AtOnce };
        pair.drive();
        let frame = Frame::builder(Command::Send).header("destination", "/q");
        if pair.client.send_frame(&frame.header("receipt", &receipt).build()).is_ok() {
            pair.drive();
            let told = pair.listener.told().pop().unwrap();
            prop_assert_eq!(told, format!("RECEIPT of nothing: {receipt}"));
        }
        let failure = Failure::new(&message).explanation(&explanation);
        pair.server.fail(None::<Reply>, &failure).unwrap();
        pair.drive();
        let Some(CloseReason::Error { frame, receipt: None }) = &pair.listener.closed else {
            return Err(TestCaseError::fail(format!("{:?}", pair.listener.closed)));
        };
        prop_assert_eq!(frame.body(), explanation.as_bytes());
        let is_odd = |it: char| it.is_control() || (is_early && matches!(it, ':' | '\\'));
        let line = message.replace(is_odd, " ");
        prop_assert_eq!(frame.header("message").unwrap(), line.trim_start_matches(' '));
    }

    #[test]
    fn two_ends_that_may_agree_do(
        ours in (sets(), prop::option::of(versions())),
        theirs in (sets(), prop::option::of(versions())),
        chunking in chunkings(),
        has_stomp in any::<bool>(),
        login in TEXT,
        session in TEXT,
        extra in (TEXT, TEXT),
    ) {
        let common = |version: &Version| {
            let offers = |(set, settled): (VersionSet, Option<Version>)| {
                set.contains(*version) && settled.is_none_or(|settled| settled == *version)
            };
            offers(ours) && offers(theirs)
        };
        let common = Version::ALL.into_iter().rfind(common);
        let mut setup = Setup::new(common.unwrap_or(V1_0), chunking);
        setup.client = ClientConfig::new("h").versions(ours.0).subprotocol(ours.1).login(&login);
        if has_stomp {
            setup.client = setup.client.connect_command(ConnectCommand::Stomp);
        }
        setup.server.versions = theirs.0;
        setup.server.subprotocol = theirs.1;
        setup.accept = Accept::new(&session).header(&extra.0, &extra.1);
        if Client::new(setup.client.clone(), ms(0)).is_err() {
            return Ok(());
        }
        let mut pair = setup.start();
        pair.broker.answers = Answers::Later;
        pair.drive();
        let Some(version) = common else {
            prop_assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unsupported version"]);
            return Ok(());
        };
        prop_assert_eq!(pair.broker.told(), [format!("{} {version}", "CONNECT")]);
        let client = pair.broker.client.take().unwrap();
        let is_1_0 = version == V1_0;
        let padded = login.trim_start_matches([' ', '\t']);
        prop_assert_eq!(client.login().unwrap(), if is_1_0 { padded } else { &login });
        let owed = pair.broker.owed.pop_front().unwrap();
        if pair.broker.try_confirm(&mut pair.server, owed) {
            pair.drive();
            prop_assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);
            let connected = pair.listener.connected.take().unwrap();
            prop_assert_eq!(connected.session().unwrap(), session);
            prop_assert_eq!(connected.headers().get(&extra.0).unwrap(), extra.1);
        }
        prop_assert!(!pair.client.is_finished() && !pair.server.is_finished());
    }
}
