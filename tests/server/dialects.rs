//! The table of dialects: each leniency by itself, on each of the three presets.

use stomp_proto::server::{
    Accept, AckScope, Delivery, Dialect, HeartBeatOn1_0, SubscriptionOn1_0, Tolerance,
};
use stomp_proto::{EmptyAcceptVersion, HeartBeat, Session, UsageError};

use crate::harness::{
    Broker, NOTHING, PRESETS, V1_0, V1_1, V1_2, error, receipt, refused, speaking,
};

/// Runs a row of the table: what the presets say there, and that nothing but its own field says it.
///
/// `expected` is in the order of [`PRESETS`], `outcome` whether it passes under a dialect.
fn row<V: Copy>(
    expected: [bool; 3],
    values: [(V, bool); 2],
    set: impl Fn(&mut Dialect, V),
    outcome: impl Fn(Dialect) -> bool,
) {
    for (mut dialect, expected) in PRESETS.into_iter().zip(expected) {
        assert_eq!(outcome(dialect), expected, "{dialect:?}");
        for (value, expected) in values {
            set(&mut dialect, value);
            assert_eq!(outcome(dialect), expected, "{dialect:?}");
        }
    }
}

const TOLERANCES: [(Tolerance, bool); 2] = [(Tolerance::Accept, true), (Tolerance::Refuse, false)];

#[test]
fn the_default_is_lenient() {
    assert_eq!(Dialect::default(), Dialect::LENIENT);
    assert_eq!(stomp_proto::ServerConfig::default().dialect, Dialect::LENIENT);
}

/// requirement C-023
#[test]
fn an_empty_accept_version_means_1_0_or_nothing() {
    let values = [(EmptyAcceptVersion::Means1_0, true), (EmptyAcceptVersion::NoVersion, false)];
    row(
        [false, true, true],
        values,
        |it, value| it.empty_accept_version = value,
        |dialect| {
            let told = |value| {
                let mut broker = Broker::new(speaking(dialect));
                broker.feed(format!("CONNECT\naccept-version:{value}\nhost:h\n\n\0"));
                broker.told()
            };
            let first = told("");
            assert_eq!(told(" \t"), first, "blanks list nothing either");
            match &*first[0] {
                "CONNECT 1.0" => true,
                "CLOSED Protocol(NoCommonVersion({})) []" => false,
                other => panic!("{other}"),
            }
        },
    );
}

/// requirement C-007
#[test]
fn host_is_required_or_not() {
    row(
        [false, true, true],
        TOLERANCES,
        |it, value| it.missing_host = value,
        |dialect| {
            let mut old = Broker::new(speaking(dialect));
            old.feed("CONNECT\naccept-version:1.0\n\n\0");
            assert_eq!(old.told(), ["CONNECT 1.0"], "1.0 does not know it");
            let outcomes = [V1_1, V1_2].map(|version| {
                let mut broker = Broker::new(speaking(dialect));
                broker.feed(format!("CONNECT\naccept-version:{version}\n\n\0"));
                let (told, written) = (broker.told(), broker.written());
                if written.is_empty() {
                    assert_eq!(told, [format!("CONNECT {version}")]);
                    return true;
                }
                let closed =
                    r#"CLOSED Protocol(MissingHeader { command: Connect, name: "host" }) []"#;
                assert_eq!((told, written), (vec![closed.to_owned()], vec![error("missing host")]));
                false
            });
            assert_eq!(outcomes[0], outcomes[1]);
            outcomes[0]
        },
    );
}

/// requirement KQ-20
#[test]
fn an_empty_subscription_id_is_an_id_or_not() {
    let set = |it: &mut Dialect, value| it.empty_subscription_id = value;
    row([true, true, false], TOLERANCES, set, |dialect| {
        let outcomes = [V1_0, V1_1, V1_2].map(|version| {
            let mut broker = Broker::connected_with(speaking(dialect), version);
            broker.feed("SUBSCRIBE\nid:\ndestination:/q\nack:client\n\n\0");
            let told = broker.told();
            if let [subscribed] = &told[..] {
                if subscribed == "SUBSCRIBE #0 /q client" {
                    broker.unsubscribe("");
                    return true;
                }
            }
            let closed = r#"CLOSED Protocol(MissingHeader { command: Subscribe, name: "id" }) []"#;
            assert_eq!(told, [closed]);
            assert_eq!(
                broker.written(),
                ["ERROR\nmessage:invalid subscription\ncontent-type:text/plain\n\
                  content-length:18\n\nid header required\0"]
            );
            false
        });
        assert!(outcomes[0], "on 1.0 it need not have one at all");
        assert_eq!(outcomes[1], outcomes[2]);
        outcomes[1]
    });
}

/// requirement SU-005
#[test]
fn client_individual_on_1_0() {
    let set = |it: &mut Dialect, value| it.client_individual_on_1_0 = value;
    row([false, true, true], TOLERANCES, set, |dialect| {
        let mut broker = Broker::connected_with(speaking(dialect), V1_1);
        broker.subscribe("0", "client-individual");
        let mut broker = Broker::connected_with(speaking(dialect), V1_0);
        broker.feed("SUBSCRIBE\nid:0\ndestination:/q\nack:client-individual\n\n\0");
        let told = broker.told();
        if told == ["SUBSCRIBE #0 /q client-individual"] {
            broker.confirm();
            let messages: Vec<_> = (1..=2).map(|value| broker.deliver(0, value)).collect();
            broker.ack(&messages[1]);
            assert_eq!(broker.told(), ["ACK #0 [2]"], "and it is individual");
            return true;
        }
        let closed = r#"CLOSED Protocol(InvalidHeader { command: Subscribe, name: "ack" }) []"#;
        assert_eq!(told, [closed]);
        assert_eq!(broker.written(), [error("invalid ack")]);
        false
    });
}

/// requirement NK-004
#[test]
fn nack_on_1_0() {
    row(
        [false, true, true],
        TOLERANCES,
        |it, value| it.nack_on_1_0 = value,
        |dialect| {
            let mut broker = Broker::connected_with(speaking(dialect), V1_0);
            broker.subscribe("0", "client");
            let message = broker.deliver(0, 1);
            broker.settle("NACK", &message, "");
            let told = broker.told();
            if told == ["NACK #0 [1]"] {
                return true;
            }
            assert_eq!(told, ["CLOSED Protocol(UnexpectedFrame(Nack)) [1]"]);
            assert_eq!(broker.written(), [error("unexpected NACK")]);
            false
        },
    );
}

/// requirement HB-014
#[test]
fn heart_beats_on_1_0() {
    let values = [(HeartBeatOn1_0::Negotiate, true), (HeartBeatOn1_0::Ignore, false)];
    row(
        [false, true, false],
        values,
        |it, value| it.heart_beat_on_1_0 = value,
        |dialect| {
            let connected = |line: &str| {
                let mut broker = Broker::new(speaking(dialect));
                broker.feed(format!("CONNECT\n{line}\n\0"));
                assert_eq!(broker.told(), ["CONNECT 1.0"], "{line}");
                let ours = HeartBeat { can_send: 2000, wants: 500 };
                broker.accept(&Accept::new("s").heart_beat(ours));
                let agreement = broker.server.heart_beat();
                (broker.written().remove(0), agreement.outgoing, agreement.incoming)
            };
            let silent = ("CONNECTED\nversion:1.0\nsession:s\n\n\0".to_owned(), None, None);
            assert_eq!(connected(""), silent, "nobody speaks of them");
            let agreed = connected("heart-beat: 1000,3000\n");
            if agreed == silent {
                assert_eq!(connected("heart-beat:nonsense\n"), silent, "not even looked at");
                return false;
            }
            let line = "CONNECTED\nversion:1.0\nsession:s\nheart-beat:2000,500\n\n\0".to_owned();
            let [outgoing, incoming] = [3000, 1000].map(crate::harness::ms);
            assert_eq!(agreed, (line, Some(outgoing), Some(incoming)));
            true
        },
    );
}

/// requirements SU-016, KQ-21
#[test]
fn the_subscription_of_a_1_0_message() {
    let values = [(SubscriptionOn1_0::IfNamed, true), (SubscriptionOn1_0::Never, false)];
    row(
        [true, true, false],
        values,
        |it, value| it.subscription_on_1_0 = value,
        |dialect| {
            let header = |version, id: &str| {
                let mut broker = Broker::connected_with(speaking(dialect), version);
                broker.feed(format!("SUBSCRIBE\n{id}destination:/q\n\n\0"));
                assert_eq!(broker.told(), ["SUBSCRIBE #0 /q auto"]);
                broker.confirm();
                broker.deliver(0, 1).header("subscription").map(ToOwned::to_owned)
            };
            assert_eq!(header(V1_0, ""), None, "the client gave no id");
            assert_eq!(header(V1_1, "id:s\n").as_deref(), Some("s"));
            match header(V1_0, "id: s\n").as_deref() {
                Some("s") => true,
                None => false,
                other => panic!("{other:?}"),
            }
        },
    );
}

/// requirement A-008
#[test]
fn what_an_ack_covers_in_the_client_mode_of_1_0() {
    let values = [(AckScope::Cumulative, true), (AckScope::Individual, false)];
    row(
        [false, true, false],
        values,
        |it, value| it.ack_on_1_0 = value,
        |mut dialect| {
            dialect.nack_on_1_0 = Tolerance::Accept;
            let settled = |version, command: &str| {
                let mut broker = Broker::connected_with(speaking(dialect), version);
                broker.subscribe("0", "client");
                let messages: Vec<_> = (1..=3).map(|value| broker.deliver(0, value)).collect();
                broker.settle(command, &messages[1], "");
                broker.told().remove(0)
            };
            assert_eq!(settled(V1_1, "ACK"), "ACK #0 [1, 2]", "the later versions say it");
            let (ack, nack) = (settled(V1_0, "ACK"), settled(V1_0, "NACK"));
            match (&*ack, &*nack) {
                ("ACK #0 [1, 2]", "NACK #0 [1, 2]") => true,
                ("ACK #0 [2]", "NACK #0 [2]") => false,
                other => panic!("{other:?}"),
            }
        },
    );
}

/// requirement A-002, as `Net::Stomp` sends it
#[test]
fn an_ack_of_1_1_without_subscription() {
    let set = |it: &mut Dialect, value| it.ack_without_subscription = value;
    row([false, true, false], TOLERANCES, set, |dialect| {
        let outcomes = ["ACK", "NACK"].map(|command| {
            let mut broker = Broker::connected_with(speaking(dialect), V1_1);
            broker.subscribe("0", "client-individual");
            broker.subscribe("1", "client-individual");
            let delivery = Delivery::builder("/q").message_id("m").body("x").build();
            broker.send(1, &delivery, 1);
            broker.send(0, &delivery, 2);
            broker.feed(format!("{command}\nmessage-id:m\n\n\0"));
            let told = broker.told();
            if told == [format!("{command} #1 [1]")] {
                return true;
            }
            assert!(told[0].ends_with(r#"name: "subscription" }) [1, 2]"#), "{told:?}");
            assert_eq!(broker.written(), [error("missing subscription")]);
            false
        });
        assert_eq!(outcomes[0], outcomes[1]);
        outcomes[0]
    });
}

/// requirement A-009
#[test]
fn an_ack_of_what_is_settled() {
    row(
        [false, true, false],
        TOLERANCES,
        |it, value| it.ack_of_settled = value,
        |dialect| {
            let mut broker = Broker::connected_with(speaking(dialect), V1_2);
            broker.subscribe("0", "client");
            let message = broker.deliver(0, 1);
            broker.ack(&message);
            assert_eq!(broker.told(), ["ACK #0 [1]"]);
            broker.settle("NACK", &message, "receipt:r\n");
            let (told, written) = (broker.told(), broker.written());
            if told == NOTHING {
                assert_eq!(written, [receipt("r")]);
                broker.feed("ACK\nid:never\n\n\0");
                assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
                return true;
            }
            assert_eq!(told, ["CLOSED Protocol(UnknownDelivery) []"]);
            assert_eq!(written, [crate::harness::error_for("r", "unknown ack id")]);
            false
        },
    );
}

/// requirements H-013, KQ-17
#[test]
fn a_header_that_the_version_cannot_carry() {
    let set = |it: &mut Dialect, value| it.unrepresentable_header = value;
    row([false, true, true], TOLERANCES, set, |dialect| {
        let delivery = Delivery::builder("/q").header("k", "a\rb").header("l", "v").build();
        let mut broker = Broker::connected_with(speaking(dialect), V1_2);
        broker.subscribe("0", "auto");
        assert_eq!(broker.send(0, &delivery, 1).header("k"), Some("a\\rb"));
        let mut broker = Broker::connected_with(speaking(dialect), V1_1);
        broker.subscribe("0", "auto");
        match broker.try_deliver(0, &delivery, 1) {
            Ok(delivered) => {
                assert_eq!(delivered.dropped_headers, 1);
                let dropped = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\nl:v\n\n\0";
                assert_eq!(broker.written(), [dropped]);
                true
            }
            no => {
                assert_eq!(refused(no, 1), UsageError::HeadersNotCarried(1));
                assert_eq!(broker.written(), NOTHING);
                assert!(broker.server.wants_read(), "the session goes on");
                false
            }
        }
    });
}
