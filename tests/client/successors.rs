//! Reconnecting: the session after a session.

use stomp_proto::client::{AckMode, SendRequest, SubscribeRequest};
use stomp_proto::{Bound, Limit, Session, UsageError, Version};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, limited, message, offering};

fn successor(app: &App) -> App {
    App::of(app.client.successor(config(), app.now).unwrap())
}

fn connect(app: &mut App, version: Version) {
    assert_eq!(app.written(), ["CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\n\n\0"]);
    app.feed(format!("CONNECTED\nversion:{version}\n\n\0"));
}

#[test]
fn live_subscriptions_are_carried_on_before_the_application_hears_of_the_session() {
    let mut app = App::connected(V1_2);
    let receipt = app.client.next_receipt();
    let first = app.client.subscribe(&SubscribeRequest::new("/a").receipt(receipt)).unwrap();
    let ended = app.subscribe_to("/gone", AckMode::Client);
    let request =
        SubscribeRequest::new("/b").id("du:rable").ack(AckMode::Client).header("selector", "a:b");
    let named = app.client.subscribe(&request).unwrap();
    app.client.unsubscribe(ended).unwrap();
    app.written();
    app.client.handle_lost();
    assert_eq!(app.told(), ["CLOSED connection was lost"]);

    let mut next = successor(&app);
    connect(&mut next, V1_1);
    assert_eq!(next.written(), NOTHING);
    let connected = next.connects("");
    assert_eq!(connected.not_renewed(), []);
    assert_eq!(
        next.written(),
        [
            "SUBSCRIBE\nid:1\ndestination:/a\n\n\0",
            "SUBSCRIBE\nid:du\\crable\ndestination:/b\nack:client\nselector:a\\cb\n\n\0",
        ]
    );
    assert_eq!(next.client.unconfirmed().count(), 0, "receipts are not asked for again");
    assert_eq!(next.message(message("1", "m")).subscription(), Some(first));
    let message_of_named = next.message(message("du\\crable", "m"));
    assert_eq!(message_of_named.subscription(), Some(named));
    next.client.ack(&message_of_named.token().unwrap()).unwrap();
    assert_eq!(next.message(message("2", "m")).token(), None, "what had ended is forgotten");
    next.written();
    next.client.unsubscribe(first).unwrap();
    assert_eq!(next.written(), ["UNSUBSCRIBE\nid:1\n\n\0"]);
    assert_eq!(next.client.unsubscribe(ended), Err(UsageError::UnknownSubscription));
}

#[test]
fn counters_go_on() {
    let mut app = App::connected(V1_2);
    app.client.next_receipt();
    let drawn = app.client.next_receipt();
    app.subscribe_to("/a", AckMode::Auto);
    let _transaction = app.client.begin().unwrap();
    let mut next = successor(&app);
    assert_eq!(next.client.next_receipt().to_string(), "3");
    connect(&mut next, V1_2);
    next.told();
    next.written();
    next.subscribe_to("/b", AckMode::Auto);
    let _transaction = next.client.begin().unwrap();
    next.client.send(&SendRequest::new("/q").receipt(drawn)).unwrap();
    assert_eq!(
        next.written(),
        [
            "SUBSCRIBE\nid:2\ndestination:/b\n\n\0",
            "BEGIN\ntransaction:2\n\n\0",
            "SEND\ndestination:/q\nreceipt:2\n\n\0",
        ]
    );
    let third = successor(&next);
    assert_eq!(format!("{:?}", third.client), format!("{:?}", successor(&next).client));
}

#[test]
fn what_was_unconfirmed_can_be_sent_again() {
    let mut app = App::connected(V1_2);
    for _ in 0..2 {
        let receipt = app.client.next_receipt();
        app.client.send(&SendRequest::new("/q").receipt(receipt)).unwrap();
    }
    app.client.outbox().next_frame();
    app.client.handle_lost();
    app.told();
    let mut next = successor(&app);
    connect(&mut next, V1_2);
    next.told();
    for unconfirmed in app.client.unconfirmed() {
        next.client.send(&SendRequest::new("/q").receipt(unconfirmed.receipt)).unwrap();
    }
    assert_eq!(next.hears("RECEIPT\nreceipt-id:2\n\n\0"), ["RECEIPT 2"]);
    let left: Vec<_> = app.client.unconfirmed().map(|it| it.left).collect();
    assert_eq!(left, [true, false]);
}

#[test]
fn a_subscription_that_the_new_version_cannot_carry_ends_and_is_named() {
    let mut app = App::connected(V1_2);
    let odd = app.client.subscribe(&SubscribeRequest::new("/q").header("k", "a\nb")).unwrap();
    let plain = app.subscribe_to("/q", AckMode::Auto);
    let mut next = successor(&app);
    connect(&mut next, V1_0);
    let connected = next.connects("");
    assert_eq!(connected.not_renewed(), [odd]);
    assert_eq!(next.written(), ["SUBSCRIBE\nid:2\ndestination:/q\n\n\0"]);
    assert_eq!(next.client.unsubscribe(odd), Err(UsageError::UnknownSubscription));
    assert_eq!(next.client.unsubscribe(plain), Ok(()));
}

#[test]
fn a_successor_can_follow_in_any_state_also_one_that_never_connected() {
    let mut app = App::connected(V1_2);
    app.subscribe_to("/a", AckMode::Auto);
    let refused = successor(&app);
    let mut third = App::of(refused.client.successor(config(), app.now).unwrap());
    app.written();
    app.disconnect();
    app.client.handle_eof();
    assert_eq!(app.told(), ["CLOSED disconnected"]);
    connect(&mut third, V1_2);
    assert_eq!(third.told(), ["CONNECTED 1.2"]);
    assert_eq!(third.written(), ["SUBSCRIBE\nid:1\ndestination:/a\n\n\0"]);
    let mut last = successor(&app);
    connect(&mut last, V1_2);
    last.told();
    assert_eq!(last.written(), ["SUBSCRIBE\nid:1\ndestination:/a\n\n\0"]);
}

#[test]
fn a_successor_is_refused_like_a_first_session_and_for_too_many_subscriptions() {
    let mut app = App::connected(V1_2);
    app.subscribe_to("/a", AckMode::Auto);
    app.subscribe_to("/b", AckMode::Auto);
    let refused = |config| app.client.successor(config, app.now).err();
    assert_eq!(refused(offering(&[])), Some(UsageError::NoVersion));
    let limit = Limit { what: Bound::Subscriptions, most: 1 };
    let limited_to = |most| limited(|limits| limits.max_subscriptions = most);
    assert_eq!(refused(limited_to(1)), Some(UsageError::LimitExceeded(limit)));
    assert_eq!(refused(limited_to(2)), None, "as many as there are");
}

#[test]
fn a_successor_has_a_clock_and_deadlines_of_its_own() {
    let mut app = App::connected(V1_2);
    app.at(50_000);
    let next = successor(&app);
    assert_eq!(next.deadline(), Some(60_000));
}
