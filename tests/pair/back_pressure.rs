//! Back-pressure: large bodies, small sockets, and ends that read slowly or not at all.

use bytes::{Buf, Bytes};
use stomp_proto::client::{AckMode, SendRequest};
use stomp_proto::codec::Limits;
use stomp_proto::server::Delivery;
use stomp_proto::{Bound, Limit, Session, UsageError};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_2, ms};
use crate::network::{CHUNKINGS, Chunking};

/// Octets without a pattern that a lost or doubled one would not break.
fn noise(len: u32, seed: u32) -> Bytes {
    (0..len).map(|at| at.wrapping_mul(2_654_435_761).wrapping_add(seed).to_be_bytes()[1]).collect()
}

/// Octets that an end takes in without looking at them.
const INBOX: usize = 5000;

/// Both ends bear so many octets in their outboxes.
fn with_outboxes(mut setup: Setup, most: usize) -> Setup {
    let mut limits = Limits::default();
    (limits.max_outbox_len, limits.max_inbox_len) = (most, INBOX);
    setup.capacity = INBOX;
    setup.client = setup.client.limits(limits.clone());
    setup.server.limits = limits;
    setup
}

/// A pair with a subscription to `/down`, where all that the broker has is to go.
fn subscribed(setup: Setup) -> Pair {
    let mut pair = setup.connected();
    pair.subscribe("/down", AckMode::Auto);
    pair.drive();
    assert_eq!(pair.broker.told(), ["SUBSCRIBE #0 /down auto"]);
    pair
}

/// What came in and what is to go out is bounded at either end, by a read or a frame beyond the limit.
fn assert_bounded(pair: &mut Pair, outbox: usize) {
    let most = outbox + 2000;
    for (inbox, waiting) in [
        (pair.client.buffers().0.len(), pair.client.outbox().remaining()),
        (pair.server.buffers().0.len(), pair.server.outbox().remaining()),
    ] {
        assert!(inbox <= 2 * INBOX, "{inbox} octets came in");
        assert!(waiting <= most, "{waiting} octets are to go out");
    }
}

#[test]
fn a_mebibyte_goes_either_way_at_once_through_small_sockets() {
    let [up, down] = [noise(1 << 20, 1), noise(1 << 20, 2)];
    for mut setup in CHUNKINGS.map(|chunking| Setup::new(V1_2, chunking)) {
        setup.capacity = 5000;
        let mut pair = subscribed(setup);
        let delivery = Delivery::builder("/down").body(down.clone());
        pair.broker.publish("/down", delivery.build());
        pair.client.send(&SendRequest::new("/up").body(up.clone())).unwrap();
        pair.turn();
        assert!(pair.up.waiting() == 5000 && pair.down.waiting() == 5000, "both at once");
        pair.drive();
        assert_eq!(pair.broker.told(), ["SEND /up 1048576 octets"]);
        assert_eq!(pair.listener.told(), ["MESSAGE #0 1048576 octets"]);
        assert!(pair.listener.messages[0].body() == &down);
        assert!(pair.up.record().ends_with(&[&up[..], b"\0"].concat()));
    }
}

#[test]
fn two_ends_whose_outboxes_are_full_do_not_wait_for_each_other() {
    for setup in Setup::all() {
        let mut pair = subscribed(with_outboxes(setup, 1000));
        for number in 1..=3 {
            let delivery = Delivery::builder("/down").body(noise(50_000, number));
            pair.broker.publish("/down", delivery.build());
        }
        let request = SendRequest::new("/up").body(noise(50_000, 0));
        for _ in 0..3 {
            pair.client.send(&request).unwrap();
            pair.drive();
        }
        assert_eq!(pair.broker.told(), ["SEND /up 50000 octets"; 3]);
        assert_eq!(pair.listener.told(), ["MESSAGE #0 50000 octets"; 3]);
    }
}

#[test]
fn a_slow_consumer_gets_everything_in_order_and_fills_nobodys_memory() {
    for setup in Setup::all() {
        let mut pair = subscribed(with_outboxes(setup, 10_000));
        pair.listener.appetite = 1;
        let bodies: Vec<_> = (0..300).map(|number| noise(1000, number)).collect();
        for body in &bodies {
            let delivery = Delivery::builder("/down").body(body.clone());
            pair.broker.publish("/down", delivery.build());
        }
        while pair.listener.messages.len() < bodies.len() {
            assert_bounded(&mut pair, 10_000);
            if !pair.turn() {
                pair.run_for(ms(10));
            }
        }
        assert_eq!(pair.listener.bodies(), bodies.iter().map(|it| &it[..]).collect::<Vec<_>>());
    }
}

#[test]
fn a_client_that_stops_reading_is_waited_for() {
    for setup in Setup::all() {
        let mut pair = subscribed(with_outboxes(setup, 10_000));
        pair.listener.appetite = 0;
        let body = "x".repeat(1000);
        for _ in 0..200 {
            pair.broker.publish_all("/down", [&body]);
        }
        pair.run_for(ms(3_600_000));
        assert_bounded(&mut pair, 10_000);
        assert!(!pair.client.wants_read());
        let waiting = pair.broker.waiting("/down");
        assert!(!waiting.is_empty() && waiting.len() < 200, "{} wait", waiting.len());
        assert_eq!((pair.listener.told(), pair.broker.told()), (vec![], vec![]));
        pair.listener.appetite = usize::MAX;
        pair.drive();
        assert_eq!(pair.listener.told(), ["MESSAGE #0 1000 octets"; 200]);
        assert_eq!(pair.broker.consumed.len(), 200);
    }
}

#[test]
fn a_server_that_stops_reading_makes_the_client_say_so() {
    for setup in Setup::all() {
        let mut pair = with_outboxes(setup, 10_000).connected();
        pair.broker.is_asleep = true;
        let body = Bytes::from("x".repeat(1000));
        let mut sent = 0;
        let full = loop {
            match pair.client.send(&SendRequest::new("/up").body(body.clone())) {
                Ok(()) => sent += 1,
                Err(error) => break error,
            }
            pair.drive();
        };
        let limit = Limit { what: Bound::OutboxOctets, most: 10_000 };
        assert_eq!(full, UsageError::LimitExceeded(limit));
        assert!(!pair.server.wants_read());
        assert_bounded(&mut pair, 10_000);
        let transaction = pair.client.begin().unwrap_err();
        assert_eq!(transaction, UsageError::LimitExceeded(limit));
        pair.client.disconnect(pair.now).expect("that is always possible");
        pair.broker.is_asleep = false;
        pair.drive();
        let told = pair.broker.told();
        assert_eq!(told[..sent], vec!["SEND /up 1000 octets"; sent]);
        assert_eq!(told[sent..], ["DISCONNECT", "CLOSED Disconnected []"]);
        assert_eq!(pair.listener.told(), ["CLOSED Disconnected"]);
    }
}

#[test]
fn who_asks_for_receipts_and_reads_none_is_read_no_further() {
    for setup in Setup::all() {
        let mut pair = with_outboxes(setup, 1000).connected();
        pair.listener.appetite = 0;
        let mut asked = 0;
        for _ in 0..1000 {
            let receipt = pair.client.next_receipt();
            let sent = pair.client.send(&SendRequest::new("/up").receipt(receipt));
            if sent.is_err() {
                break;
            }
            asked += 1;
            if asked % 20 == 0 {
                pair.drive();
            }
        }
        assert!(asked < 1000 && !pair.server.wants_read());
        assert_bounded(&mut pair, 1000);
        pair.listener.appetite = usize::MAX;
        pair.drive();
        let told: Vec<_> = (1..=asked).map(|number| format!("RECEIPT {number}")).collect();
        assert_eq!(pair.listener.told(), told);
        assert_eq!(pair.client.unconfirmed().count(), 0);
    }
}

#[test]
fn an_answer_is_never_refused_for_lack_of_room() {
    for setup in Setup::all() {
        let mut pair = subscribed(with_outboxes(setup, 1000));
        pair.broker.answers = Answers::Later;
        let receipt = pair.client.next_receipt();
        pair.client.send(&SendRequest::new("/up").body("x").receipt(receipt)).unwrap();
        pair.drive();
        pair.down.capacity = 0;
        for number in 1..=3 {
            let delivery = Delivery::builder("/down").body(noise(800, number));
            pair.broker.publish("/down", delivery.build());
        }
        pair.drive();
        assert_eq!(pair.broker.waiting("/down"), [4], "two are over the limit");
        pair.broker.confirm(&mut pair.server);
        pair.down.capacity = 64 << 10;
        pair.drive();
        let message = "MESSAGE #0 800 octets";
        assert_eq!(pair.listener.told(), [message, message, "RECEIPT 1", message]);
    }
}

#[test]
fn a_full_outbox_takes_nothing_away_from_an_application_that_tries_again() {
    let setup = with_outboxes(Setup::new(V1_2, Chunking::Whole), 100);
    let mut pair = setup.connected();
    pair.subscribe("/q", AckMode::ClientIndividual);
    pair.broker.publish_all("/q", ["1"]);
    pair.drive();
    pair.up.capacity = 0;
    pair.client.send(&SendRequest::new("/up").body(noise(200, 1))).unwrap();
    let token = pair.listener.token("1");
    let limit = Limit { what: Bound::OutboxOctets, most: 100 };
    assert_eq!(pair.client.ack(&token), Err(UsageError::LimitExceeded(limit)));
    let refused = pair.client.subscribe(&stomp_proto::client::SubscribeRequest::new("/r"));
    assert_eq!(refused, Err(UsageError::LimitExceeded(limit)));
    pair.up.capacity = 1000;
    pair.drive();
    pair.client.ack(&token).unwrap();
    pair.subscribe("/r", AckMode::Auto);
    pair.drive();
    assert_eq!(pair.broker.told()[2..], ["ACK #0 [1]", "SUBSCRIBE #1 /r auto"]);
    assert!(pair.up.written().ends_with("SUBSCRIBE\nid:2\ndestination:/r\n\n\0"), "no number lost");
    assert_eq!(pair.listener.told()[1..], NOTHING);
}
