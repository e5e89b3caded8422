//! Field cases about ACK and NACK.

use stomp_proto::server::{Delivery, Dialect, Event};
use stomp_proto::{Session, UsageError};

use crate::harness::{
    Broker, NOTHING, V1_0, V1_1, V1_2, error, error_for, receipt, refused, speaking,
};

fn named(message_id: &str, ack_id: &str) -> Delivery {
    Delivery::builder("/q").message_id(message_id).ack_id(ack_id).body("x").build()
}

/// B80: the 1.2 ACK id comes from MESSAGE.ack, not message-id
#[test]
fn b80_on_1_2_the_ack_header_is_what_counts() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("s", "client");
    let message = broker.send(0, &named("ID:A", "ID:B"), 1);
    assert_eq!(
        message.0,
        "MESSAGE\nsubscription:s\nmessage-id:ID\\cA\nack:ID\\cB\ndestination:/q\n\
         content-length:1\n\nx\0"
    );
    broker.feed("ACK\nid:ID\\cB\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    for wrong in ["ID\\cA", "s"] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("s", "client");
        broker.send(0, &named("ID:A", "ID:B"), 1);
        broker.feed(format!("ACK\nid:{wrong}\n\n\0"));
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [1]"], "{wrong}");
        assert_eq!(broker.written(), [error("unknown ack id")]);
    }
}

/// B81: server reads or writes the wrong header
#[test]
fn b81_message_carries_ack_and_ack_carries_id() {
    for command in ["ACK", "NACK"] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("s", "client-individual");
        let message = broker.send(0, &named("m", "T_1"), 1);
        assert_eq!((message.header("ack"), message.header("id")), (Some("T_1"), None));
        broker.feed(format!("{command}\nid:T_1\nreceipt:r1\n\n\0"));
        assert_eq!(broker.told(), [format!("{command} #0 [1]")]);
        broker.confirm();
        assert_eq!(broker.written(), [receipt("r1")]);
        for wrong in ["message-id:T_1", "ack:T_1"] {
            let mut broker = Broker::connected(V1_2);
            broker.subscribe("s", "client-individual");
            broker.send(0, &named("m", "T_1"), 1);
            broker.feed(format!("{command}\n{wrong}\n\n\0"));
            assert!(broker.told()[0].starts_with("CLOSED Protocol(MissingHeader { "));
            assert_eq!(broker.written(), [error("missing id")]);
        }
    }
}

/// B82: 1.1 needs subscription too; `Net::Stomp` leaves it out, see the dialects
#[test]
fn b82_on_1_1_the_pair_is_needed() {
    for (version, lines, told) in [
        (V1_1, "subscription:0\nmessage-id:7\n", "ACK #0 [1]"),
        (V1_1, "subscription:1\nmessage-id:7\n", "CLOSED Protocol(UnknownDelivery) [1]"),
        (
            V1_1,
            "message-id:7\n",
            r#"CLOSED Protocol(MissingHeader { command: Ack, name: "subscription" }) [1]"#,
        ),
        (V1_0, "message-id:7\n", "ACK #0 [1]"),
    ] {
        let mut broker = Broker::connected_with(speaking(Dialect::SPEC), version);
        broker.subscribe("0", "client");
        broker.send(0, &named("7", ""), 1);
        broker.feed(format!("ACK\n{lines}\n\0"));
        assert_eq!(broker.told(), [told]);
    }
}

/// B84: SUBSCRIBE without ack, or with an unknown mode
#[test]
fn b84_no_mode_is_auto_and_an_unknown_one_an_error() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.feed("SUBSCRIBE\nid:0\ndestination:/q\n\n\0");
        assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
        broker.feed("SUBSCRIBE\nid:1\ndestination:/q\nack:foo\n\n\0");
        let closed = r#"CLOSED Protocol(InvalidHeader { command: Subscribe, name: "ack" }) []"#;
        assert_eq!(broker.told(), [closed]);
        assert_eq!(broker.written(), [error("invalid ack")]);
    }
    let individual = "SUBSCRIBE\ndestination:/q\nack:client-individual\n\n\0";
    let mut strict = Broker::connected_with(speaking(Dialect::SPEC), V1_0);
    strict.feed(individual);
    assert_eq!(strict.told().len(), 1);
    assert_eq!(strict.written(), [error("invalid ack")]);
    let mut lenient = Broker::connected(V1_0);
    lenient.feed(individual);
    assert_eq!(lenient.told(), ["SUBSCRIBE #0 /q client-individual"]);
}

/// B86: ACK after UNSUBSCRIBE; id reused with another mode
#[test]
fn b86_a_late_ack_settles_what_was_delivered_then() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client");
    broker.send(0, &named("m1", "older-delivery"), 1);
    broker.send(0, &named("m2", "old-delivery"), 2);
    broker.feed(
        "UNSUBSCRIBE\nid:0\n\n\0SUBSCRIBE\nid:0\ndestination:/q\nack:client-individual\n\n\0",
    );
    assert_eq!(broker.told(), ["UNSUBSCRIBE #0", "SUBSCRIBE #1 /q client-individual"]);
    broker.confirm();
    broker.confirm();
    broker.send(1, &named("m3", "new-delivery"), 3);
    broker.feed("ACK\nid:old-delivery\n\n\0");
    assert_eq!(broker.told(), ["ACK #0 [1, 2]"], "cumulative, as it was, and not beyond");
    assert_eq!(broker.server.unacknowledged(), 1);
}

/// B88: auto mode loses messages on a dead connection
#[test]
fn b88_nothing_is_consumed_on_a_transport_that_is_dead() {
    for mode in ["auto", "client"] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", mode);
        broker.server.handle_lost();
        let result = broker.try_deliver(0, &named("m", "t"), 7);
        assert_eq!(refused(result, 7), UsageError::Closed, "before the end was polled");
        assert_eq!((broker.written(), broker.server.unacknowledged()), (vec![], 0));
        assert_eq!(broker.told(), ["CLOSED Lost []"]);
        let result = broker.try_deliver(0, &named("m", "t"), 8);
        assert_eq!(refused(result, 8), UsageError::Closed, "and after");
    }
}

/// B90: NACK on 1.0 and meaning of NACK
#[test]
fn b90_nack_is_unknown_on_1_0_and_its_consequence_the_applications() {
    let mut strict = Broker::connected_with(speaking(Dialect::SPEC), V1_0);
    strict.feed("NACK\nmessage-id:1\nreceipt:n\n\n\0");
    assert_eq!(strict.told(), ["CLOSED Protocol(UnexpectedFrame(Nack)) []"]);
    assert_eq!(strict.written(), [error_for("n", "unexpected NACK")]);
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client-individual");
    broker.send(0, &named("m", "1"), 1);
    broker.feed("NACK\nid:1\nrequeue:false\n\n\0");
    let Some(Event::Nack { frame, deliveries, .. }) = broker.event() else { panic!("no NACK") };
    assert_eq!(frame.headers().get("requeue").as_deref(), Some("false"));
    assert_eq!(deliveries[0].value, 1);
    assert_eq!(broker.told(), NOTHING);
}
