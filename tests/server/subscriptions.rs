//! SUBSCRIBE and UNSUBSCRIBE: ids, destinations, modes, and from when to when messages flow.

use stomp_proto::Session;
use stomp_proto::server::{Delivery, Dialect, Event, Failure};

use crate::harness::{
    Broker, NOTHING, PRESETS, V1_0, V1_1, V1_2, error, error_for, receipt, refused, speaking,
};
use stomp_proto::UsageError;

fn x() -> Delivery {
    Delivery::builder("/q").body("x").build()
}

/// requirements SU-018, U-004
#[test]
fn messages_flow_from_the_confirmation_to_the_end_of_a_subscription() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.feed("SUBSCRIBE\nid:0\ndestination:/q\nreceipt:r\n\n\0");
        assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
        assert_eq!(refused(broker.try_deliver(0, &x(), 1), 1), UsageError::UnknownSubscription);
        broker.confirm();
        assert_eq!(broker.written(), [receipt("r")]);
        let message = broker.deliver(0, 1);
        let expected =
            "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\ncontent-length:1\n\nx\0";
        assert_eq!(message.0, expected);
        broker.feed("UNSUBSCRIBE\nid:0\nreceipt:u\n\n\0");
        assert_eq!(broker.told(), ["UNSUBSCRIBE #0"]);
        let late = broker.try_deliver(0, &x(), 2);
        assert_eq!(refused(late, 2), UsageError::UnknownSubscription, "though not confirmed yet");
        broker.confirm();
        assert_eq!(broker.written(), [receipt("u")]);
    }
}

/// requirements SU-003, KQ-20
#[test]
fn from_1_1_on_a_subscription_has_an_id() {
    for version in [V1_1, V1_2] {
        for dialect in PRESETS {
            let mut broker = Broker::connected_with(speaking(dialect), version);
            broker.feed("SUBSCRIBE\ndestination:/q\n\n\0");
            let closed = r#"CLOSED Protocol(MissingHeader { command: Subscribe, name: "id" }) []"#;
            assert_eq!(broker.told(), [closed]);
            assert_eq!(
                broker.written(),
                ["ERROR\nmessage:invalid subscription\ncontent-type:text/plain\n\
                  content-length:18\n\nid header required\0"]
            );
        }
    }
}

/// requirements SU-002, SU-016, U-001, U-007, KQ-19, KQ-27
#[test]
fn on_1_0_subscriptions_without_an_id_end_by_destination_oldest_first() {
    for dialect in PRESETS {
        let mut broker = Broker::connected_with(speaking(dialect), V1_0);
        for _ in 0..2 {
            broker.feed("SUBSCRIBE\ndestination:/q\n\n\0");
        }
        assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto", "SUBSCRIBE #1 /q auto"]);
        broker.confirm();
        broker.confirm();
        let message = broker.deliver(1, 1);
        assert_eq!(
            message.0, "MESSAGE\nmessage-id:1\ndestination:/q\ncontent-length:1\n\nx\0",
            "no name of ours on the wire"
        );
        for number in 0..2 {
            broker.feed("UNSUBSCRIBE\ndestination: /q\n\n\0");
            assert_eq!(broker.told(), [format!("UNSUBSCRIBE #{number}")]);
        }
        broker.feed("UNSUBSCRIBE\ndestination:/q\nreceipt:u\n\n\0");
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownSubscription) []"]);
        assert_eq!(broker.written(), [error_for("u", "no such subscription")]);
    }
}

/// requirement U-001
#[test]
fn on_1_0_the_id_decides_over_the_destination() {
    let mut broker = Broker::connected(V1_0);
    broker.feed("SUBSCRIBE\nid:a\ndestination:/q\n\n\0SUBSCRIBE\nid:b\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto", "SUBSCRIBE #1 /q auto"]);
    broker.feed("UNSUBSCRIBE\nid:b\ndestination:/q\n\n\0UNSUBSCRIBE\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["UNSUBSCRIBE #1", "UNSUBSCRIBE #0"]);
    broker.feed("UNSUBSCRIBE\n\n\0");
    let closed =
        r#"CLOSED Protocol(MissingHeader { command: Unsubscribe, name: "destination" }) []"#;
    assert_eq!(broker.told(), [closed]);
    assert_eq!(broker.written(), [error("missing destination")]);
}

/// requirements U-002, KQ-28
#[test]
fn from_1_1_on_unsubscribe_needs_the_id() {
    for version in [V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.subscribe("0", "auto");
        broker.feed("UNSUBSCRIBE\ndestination:/q\n\n\0");
        let closed = r#"CLOSED Protocol(MissingHeader { command: Unsubscribe, name: "id" }) []"#;
        assert_eq!(broker.told(), [closed]);
        assert_eq!(broker.written(), [error("missing id")]);
    }
}

/// requirement U-003
#[test]
fn an_id_that_names_no_live_subscription_ends_nothing() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    broker.unsubscribe("0");
    broker.feed("UNSUBSCRIBE\nid:0\nreceipt:u\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownSubscription) []"]);
    assert_eq!(broker.written(), [error_for("u", "no such subscription")]);
}

/// requirement SU-004
#[test]
fn an_id_is_taken_while_it_lives_and_free_afterwards() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        broker.subscribe("a:b", "auto");
        broker.unsubscribe("a:b");
        broker.subscribe("a:b", "client");
        let again = "SUBSCRIBE\nid:a:b\ndestination:/other\nreceipt:r\n\n\0";
        broker.feed(again);
        assert_eq!(broker.told(), ["CLOSED Protocol(DuplicateSubscription) []"]);
        assert_eq!(broker.written(), [error_for("r", "subscription id is in use")]);
    }
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("a:b", "auto");
    broker.feed("SUBSCRIBE\nid:a\\cb\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(DuplicateSubscription) []"], "however written");
}

#[test]
fn a_name_of_ours_is_not_an_id() {
    let mut broker = Broker::connected(V1_0);
    broker.feed("SUBSCRIBE\ndestination:/q\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
    let name = broker.server.subscription_name(broker.subscriptions[0]).unwrap();
    assert_eq!(name, "auto-1");
    // The same word, from the client, names another one.
    broker.feed("SUBSCRIBE\nid:auto-1\ndestination:/other\n\n\0UNSUBSCRIBE\nid:auto-1\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #1 /other auto", "UNSUBSCRIBE #1"]);
    broker.feed("UNSUBSCRIBE\nid:auto-1\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownSubscription) []"]);
}

#[test]
fn a_broker_can_name_a_subscription_while_it_matters() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("a\\cb", "client-individual");
    let handle = broker.subscriptions[0];
    assert_eq!(broker.server.subscription_name(handle).unwrap(), "a:b");
    let message = broker.deliver(0, 1);
    broker.unsubscribe("a\\cb");
    assert_eq!(broker.server.subscription_name(handle).unwrap(), "a:b", "something is open");
    broker.ack(&message);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    assert_eq!(broker.server.subscription_name(handle), None);
}

/// requirements SU-001, field case B108
#[test]
fn a_subscription_has_a_destination() {
    for (line, name, why) in
        [("", "MissingHeader", "missing"), ("destination:\n", "InvalidHeader", "invalid")]
    {
        let mut broker = Broker::connected(V1_2);
        broker.feed(format!("SUBSCRIBE\nid:0\n{line}receipt:r\n\n\0"));
        let closed =
            format!("CLOSED Protocol({name} {{ command: Subscribe, name: \"destination\" }}) []");
        assert_eq!(broker.told(), [closed]);
        assert_eq!(broker.written(), [error_for("r", &format!("{why} destination"))]);
    }
}

/// requirements SU-005 to SU-007
#[test]
fn there_are_three_modes_and_auto_is_the_default() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::connected(version);
        for (number, mode) in ["auto", "client", "client-individual"].into_iter().enumerate() {
            broker.feed(format!("SUBSCRIBE\nid:{mode}\ndestination:/q\nack:{mode}\n\n\0"));
            assert_eq!(broker.told(), [format!("SUBSCRIBE #{number} /q {mode}")]);
        }
        for mode in ["", "foo", "Client", "client ", "auto,client"] {
            let mut broker = Broker::connected(version);
            broker.feed(format!("SUBSCRIBE\nid:0\ndestination:/q\nack:{mode}\n\n\0"));
            let closed = r#"CLOSED Protocol(InvalidHeader { command: Subscribe, name: "ack" }) []"#;
            assert_eq!(broker.told(), [closed], "{mode}");
            assert_eq!(broker.written(), [error("invalid ack")]);
        }
    }
}

/// requirements SU-008, SU-009, SU-017, T-002, T-012
#[test]
fn headers_of_a_subscription_are_the_applications() {
    let mut broker = Broker::connected_with(speaking(Dialect::SPEC), V1_2);
    broker.feed("SUBSCRIBE\nid:0\ndestination:/q\nselector:a > 1\ntransaction:zz\n\n\0");
    let Some(Event::Subscribe { frame, reply }) = broker.event() else { panic!("no SUBSCRIBE") };
    assert_eq!(frame.headers().get("selector").as_deref(), Some("a > 1"));
    assert_eq!(frame.headers().get("transaction").as_deref(), Some("zz"), "not looked at");
    broker.server.confirm(reply).unwrap();
    broker.feed("SUBSCRIBE\nid:1\ndestination:/q\nreceipt:r1\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"], "a second one to the same destination");
    broker.fail(&Failure::new("no such topic"));
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.written(), [error_for("r1", "no such topic")]);
}

#[test]
fn a_subscription_may_end_before_it_was_confirmed() {
    let mut broker = Broker::connected(V1_2);
    broker
        .feed("SUBSCRIBE\nid:0\ndestination:/q\nreceipt:s\n\n\0UNSUBSCRIBE\nid:0\nreceipt:u\n\n\0");
    assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto", "UNSUBSCRIBE #0"]);
    broker.confirm();
    broker.confirm();
    assert_eq!(broker.written(), [receipt("s"), receipt("u")]);
    assert_eq!(refused(broker.try_deliver(0, &x(), 1), 1), UsageError::UnknownSubscription);
    assert_eq!(broker.told(), NOTHING);
    assert!(broker.server.wants_read());
}
