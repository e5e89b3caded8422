//! ACK and NACK: their forms, what they settle, and what crosses them on the way.

use stomp_proto::client::{AckMode, AckRequest, SubscribeRequest};
use stomp_proto::server::{Delivery, Dialect};
use stomp_proto::{Session, Version};

use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_1, V1_2};

/// What the broker is told next, and at the end of the stream.
fn told_until_eof(mut pair: Pair) -> Vec<String> {
    pair.drive();
    pair.server.handle_eof();
    pair.drive();
    pair.broker.told()
}

/// requirements, NK-001
#[test]
fn each_version_has_its_own_form() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.delivered(AckMode::ClientIndividual, ["ours", "too"]);
        let chosen = Delivery::builder("/q").message_id("m:1\\").ack_id("t:1\\").body("chosen");
        pair.broker.publish("/q", chosen.build());
        pair.drive();
        pair.ack("ours");
        pair.nack("too");
        pair.ack("chosen");
        pair.drive();
        let written = match version {
            V1_0 => {
                "ACK\nmessage-id:1-0\n\n\0NACK\nmessage-id:2-1\n\n\0ACK\nmessage-id:m:1\\\n\n\0"
            }
            V1_1 => {
                "ACK\nsubscription:1\nmessage-id:1-0\n\n\0\
                 NACK\nsubscription:1\nmessage-id:2-1\n\n\0\
                 ACK\nsubscription:1\nmessage-id:m\\c1\\\\\n\n\0"
            }
            V1_2 => "ACK\nid:a1-0\n\n\0NACK\nid:a2-1\n\n\0ACK\nid:t\\c1\\\\\n\n\0",
        };
        assert_eq!(pair.up.written(), written);
        assert_eq!(pair.broker.told(), ["ACK #0 [1]", "NACK #0 [2]", "ACK #0 [3]"]);
        assert_eq!((pair.server.unacknowledged(), pair.listener.told().len()), (0, 1));
    }
}

#[test]
fn an_id_goes_back_as_the_broker_wrote_it_right_or_wrong() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.delivered(AckMode::Client, []);
        // The colons should have been escaped.
        let message = b"MESSAGE\nack:a:b\\c\ndestination:/q\nmessage-id:1\nsubscription:1\n\nx\0";
        pair.down.inject(message, pair.now);
        pair.drive();
        pair.ack("x");
        pair.drive();
        assert_eq!(pair.up.written(), "ACK\nid:a:b\\c\n\n\0");
    }
}

/// requirements SU-012, NK-003
#[test]
fn client_mode_covers_what_came_before_in_its_subscription() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/a", AckMode::Client);
        pair.subscribe("/b", AckMode::Client);
        pair.drive();
        for (destination, body) in [("/a", "1"), ("/b", "2"), ("/a", "3"), ("/b", "4"), ("/a", "5")]
        {
            pair.broker.publish_all(destination, [body]);
            pair.drive();
        }
        pair.broker.told();
        pair.ack("3");
        pair.nack("4");
        let told = ["ACK #0 [1, 3]", "NACK #1 [2, 4]", "CLOSED Eof [5]"];
        assert_eq!(told_until_eof(pair), told);
    }
}

/// requirement A-008
#[test]
fn client_mode_on_1_0_may_mean_the_one_message() {
    for dialect in [Dialect::SPEC, Dialect::KUBEMQ] {
        for setup in Setup::of(V1_0) {
            let mut pair = setup.dialect(dialect).delivered(AckMode::Client, ["1", "2", "3"]);
            pair.ack("2");
            assert_eq!(told_until_eof(pair), ["ACK #0 [2]", "CLOSED Eof [1, 3]"]);
        }
    }
}

/// requirement SU-013
#[test]
fn individual_mode_settles_one_by_one_in_any_order() {
    for setup in Setup::all() {
        let mut pair = setup.delivered(AckMode::ClientIndividual, ["1", "2", "3", "4"]);
        pair.ack("3");
        pair.nack("1");
        pair.ack("4");
        let told = ["ACK #0 [3]", "NACK #0 [1]", "ACK #0 [4]", "CLOSED Eof [2]"];
        assert_eq!(told_until_eof(pair), told);
    }
}

/// requirements SU-010, A-015
#[test]
fn nothing_is_acknowledged_in_auto_mode() {
    for setup in Setup::all() {
        let pair = setup.delivered(AckMode::Auto, ["1", "2"]);
        assert_eq!(pair.listener.message("1").token(), None);
        assert_eq!(pair.broker.consumed, [1, 2]);
        assert_eq!(told_until_eof(pair), ["CLOSED Eof []"]);
    }
}

/// requirement U-006 as decided
#[test]
fn a_late_acknowledgement_still_settles_by_the_rules_of_the_old_subscription() {
    for (mode, settled) in [(AckMode::Client, "[1, 2]"), (AckMode::ClientIndividual, "[2]")] {
        for setup in Setup::all() {
            let mut pair = setup.delivered(mode, ["1", "2", "3"]);
            let subscription = pair.listener.subscriptions[0];
            pair.client.unsubscribe(subscription).unwrap();
            pair.drive();
            assert_eq!(pair.broker.told(), ["UNSUBSCRIBE #0"]);
            pair.ack("2");
            pair.drive();
            assert_eq!(pair.broker.told(), [format!("ACK #0 {settled}")]);
        }
    }
}

#[test]
fn an_id_that_is_used_again_names_another_subscription() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        for bodies in [["1", "2"], ["3", "4"]] {
            let request = SubscribeRequest::new("/q").id("same").ack(AckMode::Client);
            let subscription = pair.subscribe_with(&request);
            pair.broker.publish_all("/q", bodies);
            pair.drive();
            pair.client.unsubscribe(subscription).unwrap();
            pair.drive();
        }
        pair.broker.told();
        pair.ack("4");
        pair.ack("1");
        let told = ["ACK #1 [3, 4]", "ACK #0 [1]", "CLOSED Eof [2]"];
        assert_eq!(told_until_eof(pair), told, "neither covers the other's");
    }
}

/// requirements
#[test]
fn a_message_id_may_be_open_in_two_subscriptions() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.delivered_namesakes();
        pair.ack("/b");
        pair.drive();
        // 1.0 has nothing to tell them apart by: the oldest.
        let told = if version == V1_0 { "ACK #0 [1]" } else { "ACK #1 [2]" };
        assert_eq!(pair.broker.told(), [told], "{version}");
        pair.ack("/a");
        let told = if version == V1_0 { "ACK #1 [2]" } else { "ACK #0 [1]" };
        assert_eq!(told_until_eof(pair), [told, "CLOSED Eof []"]);
    }
}

/// requirement A-009
#[test]
fn a_second_acknowledgement_is_ignored_or_an_error_and_never_settles_twice() {
    for dialect in [Dialect::LENIENT, Dialect::SPEC, Dialect::KUBEMQ] {
        for setup in Setup::of(V1_1).chain(Setup::of(V1_2)) {
            let mut pair = setup.dialect(dialect).delivered(AckMode::Client, ["1", "2", "3"]);
            pair.ack("2");
            let receipt = pair.client.next_receipt();
            let token = pair.listener.token("1");
            pair.client.ack(AckRequest::new(&token).receipt(receipt)).unwrap();
            pair.drive();
            if dialect == Dialect::LENIENT {
                assert_eq!(pair.broker.told(), ["ACK #0 [1, 2]"]);
                assert_eq!(pair.listener.told(), ["RECEIPT 1"], "as if it had been needed");
            } else {
                let closed = "CLOSED Protocol(UnknownDelivery) [3]";
                assert_eq!(pair.broker.told(), ["ACK #0 [1, 2]", closed]);
                assert_eq!(pair.listener.told(), ["CLOSED by ERROR about 1: unknown ack id"]);
            }
            assert_eq!(pair.broker.consumed, [1, 2]);
        }
    }
}

#[test]
fn what_the_broker_takes_back_goes_to_another_subscriber_and_a_late_ack_is_void() {
    for setup in Setup::all() {
        let mut pair = setup.delivered(AckMode::Client, ["1", "2"]);
        pair.broker.takes_back = true;
        let subscription = pair.listener.subscriptions[0];
        pair.client.unsubscribe(subscription).unwrap();
        pair.ack("2");
        pair.subscribe("/q", AckMode::Client);
        pair.drive();
        let told = ["UNSUBSCRIBE #0", "SUBSCRIBE #1 /q client"];
        assert_eq!(pair.broker.told(), told, "the ACK settles nothing");
        assert_eq!(pair.listener.told(), ["MESSAGE #1 \"1\"", "MESSAGE #1 \"2\""]);
        pair.ack("2");
        assert_eq!(told_until_eof(pair), ["ACK #1 [1, 2]", "CLOSED Eof []"]);
    }
}

/// requirement A-014
#[test]
fn an_acknowledgement_carries_headers_and_asks_for_a_receipt() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.delivered(AckMode::Client, ["1"]);
        let (token, receipt) = (pair.listener.token("1"), pair.client.next_receipt());
        let request = AckRequest::new(&token).header("requeue", "no:w").receipt(receipt);
        pair.client.nack(request).unwrap();
        pair.drive();
        assert_eq!(pair.up.written(), "NACK\nid:a1-0\nrequeue:no\\cw\nreceipt:1\n\n\0");
        assert_eq!(pair.broker.refused, [1]);
        assert_eq!(pair.listener.told(), ["RECEIPT 1"]);
    }
}

#[test]
fn a_token_outlives_its_message_and_its_neighbours() {
    for setup in Setup::all() {
        let mut pair = setup.delivered(AckMode::ClientIndividual, ["1", "2"]);
        let token = pair.listener.token("1").to_compact();
        pair.listener.messages.clear();
        pair.broker.publish_all("/q", ["3"]);
        pair.drive();
        pair.client.ack(&token).unwrap();
        assert_eq!(told_until_eof(pair), ["ACK #0 [1]", "CLOSED Eof [2, 3]"]);
    }
}

/// requirement NK-004
#[test]
fn nack_on_1_0_is_tried_and_up_to_the_broker() {
    for setup in Setup::of(V1_0) {
        let mut pair = setup.dialect(Dialect::SPEC).delivered(AckMode::Client, ["1"]);
        pair.nack("1");
        pair.drive();
        assert_eq!(pair.broker.told(), ["CLOSED Protocol(UnexpectedFrame(Nack)) [1]"]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unexpected NACK"]);
    }
}

#[test]
fn an_ended_subscription_is_forgotten_when_all_of_it_is_settled() {
    for version in Version::ALL {
        for setup in Setup::of(version) {
            let mut pair = setup.delivered(AckMode::ClientIndividual, ["1", "2"]);
            let subscription = pair.broker.subscription(0);
            pair.client.unsubscribe(pair.listener.subscriptions[0]).unwrap();
            pair.ack("1");
            pair.drive();
            assert_eq!(pair.server.subscription_name(subscription).as_deref(), Some("1"));
            pair.ack("2");
            pair.drive();
            assert_eq!(pair.server.subscription_name(subscription), None);
            assert_eq!(pair.listener.told(), NOTHING);
        }
    }
}
