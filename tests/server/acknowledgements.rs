//! ACK and NACK: what each names and settles, in every version, mode and after the end of a
//! subscription.

use stomp_proto::UsageError;
use stomp_proto::server::{Delivery, Dialect, Event};

use crate::harness::{
    Broker, NOTHING, V1_0, V1_1, V1_2, error, error_for, named, receipt, refused, speaking,
};

/// requirements A-001 to A-003, SU-011, SU-012, NK-003
#[test]
fn an_ack_in_client_mode_covers_what_was_delivered_before_in_its_subscription() {
    for command in ["ACK", "NACK"] {
        for version in [V1_0, V1_1, V1_2] {
            let mut broker = Broker::connected(version);
            broker.subscribe("a", "client");
            broker.subscribe("b", "client");
            let messages: Vec<_> = [(0, 1), (1, 2), (0, 3), (0, 4)]
                .map(|(of, value)| broker.deliver(of, value))
                .into();
            broker.settle(command, &messages[2], "receipt:r\n");
            assert_eq!(broker.told(), [format!("{command} #0 [1, 3]")]);
            assert_eq!(broker.server.unacknowledged(), 2);
            assert_eq!(broker.written(), NOTHING);
            broker.confirm();
            assert_eq!(broker.written(), [receipt("r")]);
            broker.settle(command, &messages[3], "");
            broker.settle(command, &messages[1], "");
            let rest = [format!("{command} #0 [4]"), format!("{command} #1 [2]")];
            assert_eq!(broker.told(), rest);
            assert_eq!(broker.server.unacknowledged(), 0);
        }
    }
}

/// requirement SU-013
#[test]
fn an_individual_ack_covers_one_message_in_any_order() {
    for command in ["ACK", "NACK"] {
        for version in [V1_0, V1_1, V1_2] {
            let (mut broker, messages) = Broker::with_open(version, "client-individual", 4);
            for number in [2, 0, 3, 1] {
                broker.settle(command, &messages[number], "");
                assert_eq!(broker.told(), [format!("{command} #0 [{}]", number + 1)]);
            }
            assert_eq!(broker.server.unacknowledged(), 0);
        }
    }
}

/// requirement NK-003
#[test]
fn nack_covers_the_earlier_ones_that_are_still_open() {
    let (mut broker, messages) = Broker::with_open(V1_1, "client", 3);
    broker.ack(&messages[0]);
    broker.settle("NACK", &messages[2], "requeue:false\n");
    assert_eq!(broker.next().as_deref(), Some("ACK #0 [1]"));
    let Some(Event::Nack { frame, .. }) = broker.event() else { panic!("no NACK") };
    assert_eq!(frame.headers().get("requeue").as_deref(), Some("false"), "requirement A-014");
}

/// requirements A-001 to A-003, field cases B81 and B82
#[test]
fn each_version_requires_its_own_headers() {
    let subscription = r#"name: "subscription""#;
    let message_id = r#"name: "message-id""#;
    for (version, lines, missing) in [
        (V1_0, "id:1\n", message_id),
        (V1_0, "subscription:0\n", message_id),
        (V1_1, "id:1\n", message_id),
        (V1_1, "subscription:0\n", message_id),
        (V1_1, "message-id:m\n", subscription),
        (V1_2, "message-id:m\nsubscription:0\n", r#"name: "id""#),
        (V1_2, "ack:t\n", r#"name: "id""#),
    ] {
        for (command, shown) in [("ACK", "Ack"), ("NACK", "Nack")] {
            // NACK on 1.0 is another matter.
            let strict = version != V1_0;
            let dialect = if strict { Dialect::SPEC } else { Dialect::LENIENT };
            let mut broker = Broker::connected_with(speaking(dialect), version);
            broker.subscribe("0", "client");
            broker.send(0, &named("m"), 1);
            broker.feed(format!("{command}\n{lines}receipt:r\n\n\0"));
            let closed =
                format!("CLOSED Protocol(MissingHeader {{ command: {shown}, {missing} }}) [1]");
            assert_eq!(broker.told(), [closed], "{version} {lines}");
            let name = missing.trim_start_matches("name: ").trim_matches('"');
            assert_eq!(broker.written(), [error_for("r", &format!("missing {name}"))]);
        }
    }
}

/// requirements A-009, A-013
#[test]
fn an_id_that_was_never_issued_is_an_error_in_every_dialect() {
    for dialect in [Dialect::SPEC, Dialect::LENIENT, Dialect::KUBEMQ] {
        for (version, lines) in [
            (V1_0, "message-id:nope\n"),
            (V1_1, "subscription:0\nmessage-id:nope\n"),
            (V1_2, "id:nope\n"),
            (V1_2, "id:m\n"),
            (V1_2, "id:\n"),
        ] {
            let mut broker = Broker::connected_with(speaking(dialect), version);
            broker.subscribe("0", "client");
            broker.send(0, &named("m"), 1);
            broker.feed(format!("ACK\n{lines}receipt:r\n\n\0"));
            assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"], "{lines}");
            assert_eq!(broker.written(), [error_for("r", "unknown ack id")]);
        }
    }
}

/// requirement A-010
#[test]
fn what_was_delivered_in_auto_mode_cannot_be_acknowledged() {
    for dialect in [Dialect::SPEC, Dialect::LENIENT, Dialect::KUBEMQ] {
        for (version, lines) in [
            (V1_0, "message-id:1\n"),
            (V1_1, "subscription:0\nmessage-id:1\n"),
            (V1_2, "id:1\n"),
            (V1_2, "id:a1\n"),
        ] {
            let mut broker = Broker::connected_with(speaking(dialect), version);
            broker.subscribe("0", "auto");
            let message = broker.deliver(0, 1);
            assert_eq!((message.header("message-id"), message.header("ack")), (Some("1"), None));
            broker.feed(format!("ACK\n{lines}\n\0"));
            assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
            assert_eq!(broker.written(), [error("unknown ack id")]);
        }
    }
}

/// requirement A-011, field case B82
#[test]
fn on_1_1_message_and_subscription_must_belong_together() {
    for dialect in [Dialect::SPEC, Dialect::LENIENT, Dialect::KUBEMQ] {
        for chosen in [false, true] {
            let mut broker = Broker::connected_with(speaking(dialect), V1_1);
            broker.subscribe("0", "client");
            broker.subscribe("1", "client");
            let message =
                if chosen { broker.send(0, &named("m"), 1) } else { broker.deliver(0, 1) };
            let id = message.header("message-id").unwrap();
            broker.feed(format!("ACK\nsubscription:1\nmessage-id:{id}\n\n\0"));
            assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"]);
            assert_eq!(broker.written(), [error("unknown ack id")]);
        }
    }
}

/// requirement M-003: unique within a subscription, not within the connection
#[test]
fn on_1_1_the_pair_tells_two_deliveries_of_one_id_apart() {
    let mut broker = Broker::connected(V1_1);
    broker.subscribe("0", "client");
    broker.subscribe("1", "client");
    broker.send(0, &named("m"), 1);
    let second = broker.send(1, &named("m"), 2);
    broker.ack(&second);
    assert_eq!(broker.told(), ["ACK #1 [2]"]);
    broker.feed("ACK\nsubscription:0\nmessage-id:m\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
}

/// requirement A-012
#[test]
fn on_1_0_the_oldest_delivery_of_that_id_is_meant() {
    let mut broker = Broker::connected_with(speaking(Dialect::SPEC), V1_0);
    broker.subscribe("a", "client");
    broker.subscribe("b", "client");
    broker.send(1, &named("7"), 1);
    broker.send(0, &named("7"), 2);
    let ack = "ACK\nmessage-id:7\nsubscription:a\n\n\0";
    broker.feed(ack);
    assert_eq!(broker.told(), ["ACK #1 [1]"], "whatever subscription is named");
    broker.feed(ack);
    assert_eq!(broker.told(), ["ACK #0 [2]"]);
    broker.feed(ack);
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
}

/// requirement A-013, field case B80
#[test]
fn on_1_2_the_ack_header_is_opaque_and_never_a_message_id() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client-individual");
    let ours = broker.deliver(0, 1);
    assert_ne!(ours.header("ack"), ours.header("message-id"));
    let uuid = "3f2c:8\\";
    let delivery = Delivery::builder("/q").message_id("ID:A").ack_id(uuid).body("x").build();
    let theirs = broker.send(0, &delivery, 2);
    assert_eq!(theirs.header("message-id"), Some("ID\\cA"));
    assert_eq!(theirs.header("ack"), Some("3f2c\\c8\\\\"));
    broker.ack(&theirs);
    broker.ack(&ours);
    assert_eq!(broker.told(), ["ACK #0 [2]", "ACK #0 [1]"]);
    let third = broker.deliver(0, 3);
    let message_id = third.header("message-id").unwrap();
    broker.feed(format!("ACK\nid:{message_id}\n\n\0"));
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [3]"]);
}

#[test]
fn a_peer_that_leaves_a_colon_unescaped_names_the_same_delivery() {
    let mut broker = Broker::connected(V1_1);
    broker.subscribe("a:b", "client-individual");
    broker.send(0, &named("ID:1"), 1);
    broker.send(0, &named("ID:2"), 2);
    broker.feed("ACK\nsubscription:a:b\nmessage-id:ID:1\n\n\0");
    broker.feed("ACK\nsubscription:a\\cb\nmessage-id:ID\\c2\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1]", "ACK #0 [2]"]);
}

#[test]
fn an_id_of_the_applications_is_open_once_in_a_subscription() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client");
    broker.subscribe("1", "client");
    let delivery = |message: &str, ack: &str| {
        Delivery::builder("/q").message_id(message).ack_id(ack).body("x").build()
    };
    let first = broker.send(0, &delivery("m", "t"), 1);
    let again = broker.try_deliver(0, &delivery("m", "u"), 2);
    assert_eq!(refused(again, 2), UsageError::DuplicateMessageId);
    let again = broker.try_deliver(1, &delivery("m", "t"), 3);
    assert_eq!(refused(again, 3), UsageError::DuplicateAckId);
    broker.send(1, &delivery("m", "u"), 4);
    assert_eq!(broker.server.unacknowledged(), 2);
    broker.ack(&first);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    broker.send(0, &delivery("m", "t"), 5);
    broker.feed("ACK\nid:t\n\n\0ACK\nid:u\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [5]", "ACK #1 [4]"]);
}

#[test]
fn an_id_of_ours_stays_clear_of_those_that_were_chosen() {
    for version in [V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "client-individual");
        // What another session of ours would call its third delivery, passed on by a bridge.
        let chosen = Delivery::builder("/q").message_id("3-2").ack_id("a3-2").body("x").build();
        let chosen = broker.send(0, &chosen, 1);
        let ours: Vec<_> = (2..=4).map(|value| broker.deliver(0, value)).collect();
        for message in &ours {
            assert_ne!(message.header("message-id"), chosen.header("message-id"));
            assert!(
                message.header("ack").is_none() || message.header("ack") != chosen.header("ack")
            );
        }
        broker.ack(&chosen);
        assert_eq!(broker.told(), ["ACK #0 [1]"], "{version}");
        for (message, value) in ours.iter().zip(2..) {
            broker.ack(message);
            assert_eq!(broker.told(), [format!("ACK #0 [{value}]")], "{version}");
        }
    }
}

#[test]
fn a_number_is_passed_over_only_for_an_id_of_ours() {
    let both = |message_id: &str, ack_id: &str| {
        Delivery::builder("/q").message_id(message_id).ack_id(ack_id).body("x").build()
    };
    let ours = || Delivery::builder("/q").body("x").build();
    for (of, delivery, tag) in
        [(0, both("m", "t"), "2"), (0, named("m"), "3"), (0, ours(), "3"), (1, ours(), "2")]
    {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", "client-individual");
        broker.subscribe("1", "auto");
        broker.send(0, &both("2-1", "a2-1"), 1);
        let delivered = broker.try_deliver(of, &delivery, 2).unwrap();
        assert_eq!(delivered.tag.to_string(), tag, "{of} {delivery:?}");
    }
}

/// Of two deliveries of one name an ACK means the one that no transaction settles.
#[test]
fn an_ack_leaves_alone_what_a_transaction_holds() {
    for first in ["0", "1"] {
        let mut broker = Broker::connected(V1_1);
        for id in ["0", "1"] {
            broker.subscribe(id, "client-individual");
        }
        broker.send(0, &named("m"), 1);
        broker.send(1, &named("m"), 2);
        broker.feed("BEGIN\ntransaction:t\n\n\0");
        broker.feed(format!("ACK\nsubscription:{first}\nmessage-id:m\ntransaction:t\n\n\0"));
        broker.feed("ACK\nmessage-id:m\n\n\0");
        let other = if first == "0" { "ACK #1 [2]" } else { "ACK #0 [1]" };
        assert_eq!(broker.told(), [other]);
    }
}

#[test]
fn an_ack_id_of_ours_stays_clear_of_a_chosen_one_also_under_a_chosen_message_id() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client-individual");
    let chosen = Delivery::builder("/q").message_id("m1").ack_id("a2-1").body("x").build();
    broker.send(0, &chosen, 1);
    let second = broker.send(0, &named("m2"), 2);
    assert_ne!(second.header("ack"), Some("a2-1"));
    broker.ack(&second);
    broker.feed("ACK\nid:a2-1\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [2]", "ACK #0 [1]"]);
}

#[test]
fn an_id_that_only_looks_like_one_of_ours_is_another() {
    for id in ["a01-0", "a1-00", "a001-000"] {
        let (mut broker, _) = Broker::with_open(V1_2, "client", 1);
        broker.feed(format!("ACK\nid:{id}\n\n\0"));
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"], "{id}");
    }
    let (mut broker, _) = Broker::with_open(V1_0, "client", 1);
    broker.subscribe("1", "client");
    let chosen = broker.send(1, &named("01-0"), 2);
    broker.ack(&chosen);
    assert_eq!(broker.told(), ["ACK #1 [2]"], "not the older one, which is 1-0");
}

#[test]
fn an_ack_id_counts_only_where_it_is_written() {
    for (version, mode) in [(V1_0, "client"), (V1_1, "client"), (V1_2, "auto")] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", mode);
        let delivery = Delivery::builder("/q").ack_id("t").body("x").build();
        for value in 1..=2 {
            let message = broker.send(0, &delivery, value);
            assert_eq!(message.header("ack"), None, "{version}: nothing to be in use");
        }
    }
}
