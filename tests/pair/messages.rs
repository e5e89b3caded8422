//! Messages: from SEND to MESSAGE, with all that they carry, to whom they belong.

use bytes::Bytes;
use stomp_proto::client::{AckMode, SendRequest, SubscribeRequest, UnsubscribeRequest};
use stomp_proto::codec::ContentLength;
use stomp_proto::server::{Delivery, Dialect};
use stomp_proto::{Command, Frame, UsageError, Version};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_1, V1_2};
use crate::listener::headers;
use crate::network::CHUNKINGS;

/// Headers that every version carries, down to the last octet.
const CARRIED: [(&str, &str); 9] = [
    ("plain", "x"),
    ("Plain", "y"),
    ("plain", "the second of its name"),
    ("colons", "::a:b:"),
    ("backslash", "a\\nb\\\\c\\"),
    ("empty", ""),
    ("trailing", "blank \t"),
    ("caf\u{e9}", "\u{20ac} \u{1f980}"),
    ("content-type", "text/plain;charset=utf-8"),
];

/// Headers that only some versions carry.
const ODD: [(&str, &str, &[Version]); 5] = [
    ("leading", " blank", &[V1_1, V1_2]),
    ("lines", "a\nb\n", &[V1_1, V1_2]),
    ("name:with\ncolon", "v", &[V1_1, V1_2]),
    ("returns", "a\rb\r\n", &[V1_2]),
    ("name\r", "v", &[V1_2]),
];

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// requirements S-005, M-006, R-001 to R-006, H-001 to H-012
#[test]
fn headers_arrive_as_they_were_sent() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.connected();
        pair.subscribe("/q:\\", AckMode::Auto);
        let odd = ODD.iter().filter(|it| it.2.contains(&version)).map(|it| (it.0, it.1));
        let sent: Vec<_> = CARRIED.into_iter().chain(odd).collect();
        let request = SendRequest::new("/q:\\").body("x");
        let add = |request: SendRequest<'static>, it: &(&'static str, &'static str)| {
            request.header(it.0, it.1)
        };
        pair.client.send(&sent.iter().fold(request, add)).unwrap();
        pair.drive();
        let message = pair.listener.message("x");
        assert_eq!(message.destination(), "/q:\\");
        let mut expected = owned(&[("subscription", "1"), ("message-id", "1")]);
        expected.extend(owned(&[("destination", "/q:\\")]));
        expected.extend(owned(&sent));
        expected.extend(owned(&[("content-length", "1")]));
        assert_eq!(headers(message.headers()), expected);
        assert_eq!(message.headers().get("plain").as_deref(), Some("x"), "the first counts");
    }
}

/// requirements S-003, M-002
#[test]
fn a_destination_is_whatever_the_broker_makes_of_it() {
    let destinations =
        ["a", "/", "queue://a?b=c#d", "/queue/a/../%zz", "*.>#", "wholly otherwise \u{20ac}", "\\"];
    for setup in Setup::all() {
        let mut pair = setup.connected();
        for destination in destinations {
            let subscription = pair.subscribe(destination, AckMode::Auto);
            pair.send(destination, "x");
            pair.drive();
            let message = pair.listener.message("x");
            assert_eq!(message.destination(), destination);
            assert_eq!(message.subscription(), Some(subscription), "and that of no other");
            pair.listener.told();
        }
    }
}

/// requirements H-013, H-014
#[test]
fn what_a_version_cannot_carry_is_refused_to_the_client_and_dropped_by_the_broker() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Auto);
        pair.drive();
        pair.up.written();
        let mut delivery = Delivery::builder("/q").body("x");
        let mut carried = 0;
        for (name, value, versions) in ODD {
            delivery = delivery.header(name, value);
            let sent = pair.client.send(&SendRequest::new("/nowhere").header(name, value));
            if versions.contains(&version) {
                assert_eq!(sent, Ok(()));
                carried += 1;
            } else {
                assert!(matches!(sent, Err(UsageError::Encode(_))), "{name:?}: {sent:?}");
            }
        }
        pair.broker.publish("/q", delivery.build());
        pair.drive();
        assert_eq!(pair.up.written().matches("SEND\n").count(), carried, "the rest left nothing");
        assert_eq!(pair.broker.dropped_headers, ODD.len() - carried, "{version}");
        assert_eq!(pair.listener.message("x").headers().len(), 4 + carried);
    }
}

/// requirements F-018, B-001 to B-005
#[test]
fn any_body_comes_through() {
    let bodies = [
        Bytes::new(),
        Bytes::from_static(b"\0"),
        Bytes::from_static(b"a\0b\0\n\0\0"),
        Bytes::from_static(b"\n\r\n"),
        Bytes::from_static(b"SEND\ndestination:/q\n\nx\0"),
        (0..=255).collect(),
        vec![b'x'; 10_000].into(),
    ];
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Auto);
        for body in &bodies {
            pair.client.send(&SendRequest::new("/q").body(body.clone())).unwrap();
        }
        pair.drive();
        assert_eq!(pair.listener.bodies(), bodies.iter().map(|it| &it[..]).collect::<Vec<_>>());
    }
}

/// requirement B-003
#[test]
fn a_text_may_go_without_its_length_and_ends_at_the_first_nul() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let request = SendRequest::new("/q").content_length(ContentLength::Omit);
        pair.client.send(&request.clone().body("\nline\n")).unwrap();
        let refused = pair.client.send(&request.body("nul\0"));
        assert!(matches!(refused, Err(UsageError::Encode(_))), "{refused:?}");
        pair.drive();
        assert_eq!(pair.up.written(), "SEND\ndestination:/q\n\n\nline\n\0");
        assert_eq!(pair.broker.told(), ["SEND /q \"\\nline\\n\""]);
    }
}

/// requirement SU-017
#[test]
fn each_subscription_gets_its_own_in_order() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        for destination in ["/a", "/b"] {
            pair.subscribe(destination, AckMode::Auto);
        }
        for (destination, body) in [("/b", "1"), ("/a", "2"), ("/nowhere", "3"), ("/b", "4")] {
            pair.send(destination, body);
        }
        pair.drive();
        let mut told = pair.listener.told();
        told.sort();
        assert_eq!(told, ["MESSAGE #0 \"2\"", "MESSAGE #1 \"1\"", "MESSAGE #1 \"4\""]);
        assert_eq!(pair.broker.waiting("/nowhere"), [3]);
    }
}

/// requirement SU-018
#[test]
fn a_subscription_gets_nothing_before_it_was_confirmed() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.broker.publish_all("/q", ["early"]);
        pair.broker.answers = Answers::Later;
        let receipt = pair.client.next_receipt();
        pair.subscribe_with(&SubscribeRequest::new("/q").receipt(receipt));
        pair.drive();
        assert_eq!(pair.broker.told(), ["SUBSCRIBE #0 /q auto"]);
        assert_eq!(pair.listener.told(), NOTHING);
        pair.broker.confirm(&mut pair.server);
        pair.drive();
        assert_eq!(pair.listener.told(), ["RECEIPT 1", "MESSAGE #0 \"early\""]);
    }
}

/// requirements U-004, U-005, M-010
#[test]
fn a_message_that_was_under_way_when_its_subscription_ended_is_nobodys() {
    for mode in [AckMode::Auto, AckMode::Client, AckMode::ClientIndividual] {
        for setup in Setup::all() {
            let mut pair = setup.connected();
            let subscription = pair.subscribe("/q", mode);
            pair.drive();
            pair.broker.publish_all("/q", ["under way"]);
            pair.turn();
            pair.client.unsubscribe(subscription).unwrap();
            pair.drive();
            pair.broker.publish_all("/q", ["too late"]);
            pair.drive();
            assert_eq!(pair.listener.told(), ["MESSAGE of nobody \"under way\""]);
            let told = [format!("SUBSCRIBE #0 /q {mode}"), "UNSUBSCRIBE #0".to_owned()];
            assert_eq!(pair.broker.told(), told);
            assert_eq!(pair.broker.waiting("/q"), [2]);
            let token = pair.listener.message("under way").token();
            assert_eq!(token.is_some(), mode != AckMode::Auto, "it is acknowledged all the same");
            assert_eq!(pair.client.unsubscribe(subscription), Err(UsageError::UnknownSubscription));
        }
    }
}

/// requirements SU-016, M-012
#[test]
fn a_broker_of_1_0_that_names_no_subscription_is_understood_by_the_destination() {
    for setup in Setup::of(V1_0) {
        let mut pair = setup.dialect(Dialect::KUBEMQ).connected();
        for destination in ["/a", "/b", "/twice", "/twice"] {
            pair.subscribe(destination, AckMode::Auto);
        }
        for destination in ["/b", "/twice", "/a"] {
            pair.send(destination, "x");
            pair.drive();
        }
        assert!(!pair.down.written().contains("subscription:"));
        let told = ["MESSAGE #1 \"x\"", "MESSAGE of nobody \"x\"", "MESSAGE #0 \"x\""];
        assert_eq!(pair.listener.told(), told);
    }
}

/// requirement S-006, SU-008, ER-005
#[test]
fn a_request_that_is_refused_ends_the_session_and_names_its_receipt() {
    type Request = fn(&mut Pair);
    let requests: [(Request, &str); 3] = [
        (
            |pair| {
                let receipt = pair.client.next_receipt();
                pair.client.send(&SendRequest::new("/q").body("x").receipt(receipt)).unwrap();
            },
            "SEND /q \"x\"",
        ),
        (
            |pair| {
                let receipt = pair.client.next_receipt();
                pair.client.subscribe(&SubscribeRequest::new("/q").receipt(receipt)).unwrap();
            },
            "SUBSCRIBE #1 /q auto",
        ),
        (
            |pair| {
                let receipt = pair.client.next_receipt();
                let subscription = pair.listener.subscriptions[0];
                let request = UnsubscribeRequest::new(subscription).receipt(receipt);
                pair.client.unsubscribe(request).unwrap();
            },
            "UNSUBSCRIBE #0",
        ),
    ];
    for (request, told) in requests {
        for setup in Setup::all() {
            let mut pair = setup.connected();
            pair.subscribe("/other", AckMode::Auto);
            pair.drive();
            pair.broker.told();
            pair.broker.answers = Answers::Failing("no such queue");
            request(&mut pair);
            pair.drive();
            assert_eq!(pair.broker.told(), [told, "CLOSED Failed []"]);
            assert_eq!(pair.down.written(), "ERROR\nreceipt-id:1\nmessage:no such queue\n\n\0");
            assert_eq!(pair.listener.told(), ["CLOSED by ERROR about 1: no such queue"]);
            assert_eq!(pair.client.unconfirmed().count(), 0);
        }
    }
}

/// requirement X-07
#[test]
fn one_delivery_goes_to_sessions_of_every_version() {
    let builder = Delivery::builder("/q:1").header("a:b", "c\\").header("lines", "1\n2\r");
    let delivery = builder.body("x").build();
    for chunking in CHUNKINGS {
        let received = Version::ALL.map(|version| {
            let mut pair = Setup::new(version, chunking).connected();
            pair.subscribe("/q:1", AckMode::Auto);
            pair.broker.publish("/q:1", delivery.clone());
            pair.drive();
            headers(pair.listener.message("x").headers()).split_off(2)
        });
        let destination = ("destination", "/q:1");
        let length = ("content-length", "1");
        assert_eq!(received[0], owned(&[destination, length]));
        assert_eq!(received[1], owned(&[destination, ("a:b", "c\\"), length]));
        let all = [destination, ("a:b", "c\\"), ("lines", "1\n2\r"), length];
        assert_eq!(received[2], owned(&all));
    }
}

#[test]
fn a_frame_of_the_applications_own_goes_as_it_was_made() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let frame = Frame::builder(Command::Send)
            .header("receipt", "mine")
            .header("destination", "/q")
            .body("x")
            .build();
        pair.client.send_frame(&frame).unwrap();
        pair.drive();
        let written = "SEND\nreceipt:mine\ndestination:/q\ncontent-length:1\n\nx\0";
        assert_eq!(pair.up.written(), written);
        assert_eq!(pair.broker.told(), ["SEND /q \"x\""]);
        assert_eq!(pair.listener.told(), ["RECEIPT of nothing: mine"]);
        let disconnect = Frame::builder(Command::Disconnect).build();
        let wrong = Err(UsageError::WrongCommand(Command::Disconnect));
        assert_eq!(pair.client.send_frame(&disconnect), wrong);
    }
}

/// requirements S-008, M-009
#[test]
fn nobody_sends_in_the_name_of_the_broker() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Auto);
        let forged = ["subscription", "message-id", "ack", "redelivered"];
        let request = SendRequest::new("/q").body("x");
        let request = forged.into_iter().fold(request, |request, name| request.header(name, "9"));
        pair.client.send(&request).unwrap();
        pair.drive();
        let message = pair.listener.message("x");
        assert_eq!(message.subscription(), Some(pair.listener.subscriptions[0]));
        assert_eq!(message.message_id(), "1");
        assert_eq!(message.headers().get("ack"), None);
        assert_eq!(message.headers().get("redelivered").as_deref(), Some("9"), "an ordinary one");
        for name in ["destination", "transaction", "receipt", "content-length"] {
            let refused = pair.client.send(&SendRequest::new("/q").header(name, "9"));
            assert_eq!(refused, Err(UsageError::OwnedHeader(name.into())));
        }
    }
}
