//! ACK and NACK that come late: of what is settled, released, or of a subscription that has ended.

use stomp_proto::server::{Delivery, Dialect};

use crate::harness::{Broker, NOTHING, V1_0, V1_1, V1_2, error_for, named, receipt, speaking};

/// chapter 0: ACK of a delivery made here but no longer open, by dialect
#[test]
fn a_second_ack_is_ignored_or_an_error_but_nothing_is_settled_twice() {
    for version in [V1_0, V1_1, V1_2] {
        for chosen in [false, true] {
            for (dialect, passes) in
                [(Dialect::SPEC, false), (Dialect::LENIENT, true), (Dialect::KUBEMQ, false)]
            {
                let mut broker = Broker::connected_with(speaking(dialect), version);
                broker.subscribe("0", "client");
                let delivery = Delivery::builder("/q").message_id("m").ack_id("t").build();
                let message =
                    if chosen { broker.send(0, &delivery, 1) } else { broker.deliver(0, 1) };
                broker.ack(&message);
                assert_eq!(broker.told(), ["ACK #0 [1]"]);
                broker.settle("ACK", &message, "receipt:r\n");
                if passes {
                    assert_eq!(broker.told(), NOTHING);
                    assert_eq!(broker.written(), [receipt("r")], "{version}");
                } else {
                    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
                    assert_eq!(broker.written(), [error_for("r", "unknown ack id")]);
                }
            }
        }
    }
}

/// requirement A-013: it names nothing on 1.2, and never did
#[test]
fn the_message_id_of_what_is_settled_is_no_late_ack() {
    let chosen = Delivery::builder("/q").message_id("m").ack_id("t").build();
    for delivery in [named("m"), chosen] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", "client");
        let message = broker.send(0, &delivery, 1);
        broker.ack(&message);
        assert_eq!(broker.told(), ["ACK #0 [1]"]);
        broker.feed("ACK\nid:m\nreceipt:r\n\n\0");
        assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
        assert_eq!(broker.written(), [error_for("r", "unknown ack id")]);
    }
}

/// chapter 0: ACK after UNSUBSCRIBE; field case B86
#[test]
fn a_late_ack_settles_in_the_mode_of_its_delivery() {
    for version in [V1_0, V1_1, V1_2] {
        let (mut broker, old) = Broker::with_open(version, "client", 3);
        broker.unsubscribe("0");
        broker.subscribe("0", "client-individual");
        let new: Vec<_> = (4..=5).map(|value| broker.deliver(1, value)).collect();
        broker.ack(&new[1]);
        assert_eq!(broker.told(), ["ACK #1 [5]"], "{version}: one");
        broker.ack(&old[1]);
        assert_eq!(broker.told(), ["ACK #0 [1, 2]"], "{version}: cumulative, and not across");
        broker.ack(&new[0]);
        broker.ack(&old[2]);
        assert_eq!(broker.told(), ["ACK #1 [4]", "ACK #0 [3]"]);
        assert_eq!(broker.server.unacknowledged(), 0);
    }
}

/// chapter 0: on 1.1 the live subscription of that id first, then ended ones, newest first
#[test]
fn on_1_1_the_live_subscription_comes_first_and_then_the_newest() {
    let mut broker = Broker::connected(V1_1);
    for value in 1..=3 {
        broker.subscribe("0", "client");
        broker.send(usize::try_from(value).unwrap() - 1, &named("m"), value);
        if value < 3 {
            broker.unsubscribe("0");
        }
    }
    for told in ["ACK #2 [3]", "ACK #1 [2]", "ACK #0 [1]"] {
        broker.feed("ACK\nsubscription:0\nmessage-id:m\n\n\0");
        assert_eq!(broker.told(), [told]);
    }
}

/// requirement U-006 does not apply: the application decides
#[test]
fn release_takes_back_what_is_open_and_a_later_ack_finds_it_settled() {
    for (dialect, passes) in [(Dialect::SPEC, false), (Dialect::LENIENT, true)] {
        let mut broker = Broker::connected_with(speaking(dialect), V1_2);
        broker.subscribe("0", "client");
        broker.subscribe("1", "client");
        let messages: Vec<_> =
            [(0, 1), (1, 2), (0, 3)].map(|(of, value)| broker.deliver(of, value)).into();
        broker.unsubscribe("0");
        assert_eq!(broker.release(0), [1, 3]);
        assert_eq!(broker.release(0), [0; 0]);
        assert_eq!(broker.server.unacknowledged(), 1);
        broker.ack(&messages[2]);
        let told = if passes { vec![] } else { vec!["CLOSED Protocol(UnknownDelivery) [2]"] };
        assert_eq!(broker.told(), told);
    }
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client");
    broker.deliver(0, 1);
    assert_eq!(broker.release(0), [1], "of a live one as well");
    assert_eq!(broker.deliver(0, 2).header("subscription"), Some("0"), "which goes on");
}
