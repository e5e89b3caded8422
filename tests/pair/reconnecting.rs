//! Sessions in a row: what a successor carries on, what it leaves behind, what is sent or delivered
//! again.

use stomp_proto::client::{
    AckMode, AckRequest, ReceiptId, SendRequest, SubscribeRequest, Unconfirmed,
};
use stomp_proto::codec::Limits;
use stomp_proto::{Bound, ClientConfig, Limit, Session, UsageError, Version};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_2};

/// The connection is lost and made anew.
fn lose_and_reconnect(pair: &mut Pair) {
    pair.lose();
    pair.turn();
    pair.forget();
    pair.reconnect(pair.setup.client.clone());
}

#[test]
fn subscriptions_are_made_again_before_anything_else_is_asked_for() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.connected();
        pair.subscribe("/a", AckMode::Auto);
        let durable = SubscribeRequest::new("/b").id("durable").ack(AckMode::ClientIndividual);
        let receipt = pair.client.next_receipt();
        pair.subscribe_with(&durable.header("selector", "a > 1").receipt(receipt));
        let ended = pair.subscribe("/c", AckMode::Client);
        pair.drive();
        pair.client.unsubscribe(ended).unwrap();
        pair.drive();
        let host = if version == V1_0 { "" } else { "host:h\n" };
        let connect = format!("CONNECT\naccept-version:{version}\n{host}\n\0");
        let subscribe = "SUBSCRIBE\nid:1\ndestination:/a\n\n\0SUBSCRIBE\nid:durable\n\
             destination:/b\nack:client-individual\nselector:a > 1\n\n\0";
        for _ in 0..3 {
            lose_and_reconnect(&mut pair);
            assert_eq!(pair.client.send(&SendRequest::new("/a")), Err(UsageError::NotConnected));
            pair.drive();
            assert_eq!(pair.up.written(), format!("{connect}{subscribe}"), "without the receipt");
            let told = ["SUBSCRIBE #0 /a auto", "SUBSCRIBE #1 /b client-individual"];
            assert_eq!(pair.broker.told()[1..], told);
            assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);
            pair.broker.publish_all("/b", ["to b"]);
            pair.broker.publish_all("/a", ["to a"]);
            pair.drive();
            let told = ["MESSAGE #0 \"to a\"", "MESSAGE #1 \"to b\""];
            assert_eq!(pair.listener.told(), told, "by the old handles");
            pair.ack("to b");
            pair.drive();
        }
        assert_eq!(pair.broker.consumed, [2, 1, 4, 3, 6, 5]);
    }
}

#[test]
fn what_was_open_is_delivered_again_and_settled_once() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Client);
        pair.broker.publish_all("/q", ["1", "2", "3", "4"]);
        pair.drive();
        pair.ack("2");
        pair.drive();
        let stale = pair.listener.token("3");
        pair.ack("3");
        pair.turn();
        lose_and_reconnect(&mut pair);
        pair.broker.publish_all("/q", ["5"]);
        pair.drive();
        let told = ["MESSAGE #0 \"3\"", "MESSAGE #0 \"4\"", "MESSAGE #0 \"5\""];
        assert_eq!(pair.listener.told()[1..], told, "the ACK of 3 was lost on the way");
        assert_eq!(pair.client.ack(&stale), Err(UsageError::Stale));
        pair.ack("5");
        pair.drive();
        assert_eq!(pair.broker.told().last().unwrap(), "ACK #0 [3, 4, 5]");
        assert_eq!(pair.broker.consumed, [1, 2, 3, 4, 5]);
        assert_eq!(pair.broker.given_back, [3, 4]);
    }
}

#[test]
fn what_was_not_confirmed_is_sent_again_and_nothing_is_lost() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let send = |pair: &mut Pair, receipt: ReceiptId| {
            let body = receipt.to_string();
            pair.client.send(&SendRequest::new("/q").body(body).receipt(receipt)).unwrap();
        };
        let ask = |pair: &mut Pair| {
            let receipt = pair.client.next_receipt();
            send(pair, receipt);
        };
        ask(&mut pair);
        pair.drive();
        pair.broker.answers = Answers::Later;
        ask(&mut pair);
        pair.drive();
        ask(&mut pair);
        pair.turn();
        ask(&mut pair);
        pair.lose();
        pair.drive();
        let told = ["SEND /q \"1\"", "SEND /q \"2\"", "CLOSED Lost []"];
        assert_eq!(pair.broker.told(), told, "3 was on its way, 4 had not left");
        let owed: Vec<_> = pair.client.unconfirmed().collect();
        let left: Vec<_> = owed.iter().map(|it| it.left).collect();
        assert_eq!(left, [true, true, false]);
        pair.broker.answers = Answers::AtOnce;
        pair.reconnect(pair.setup.client.clone());
        pair.drive();
        assert_eq!(pair.client.unconfirmed().count(), 0);
        for Unconfirmed { receipt, .. } in owed {
            send(&mut pair, receipt);
        }
        pair.drive();
        let told = ["SEND /q \"2\"", "SEND /q \"3\"", "SEND /q \"4\""];
        assert_eq!(pair.broker.told()[1..], told, "2 comes twice, as it may");
        assert_eq!(pair.listener.told()[3..], ["RECEIPT 2", "RECEIPT 3", "RECEIPT 4"]);
        assert_eq!(pair.client.next_receipt().to_string(), "5", "none is drawn twice");
    }
}

#[test]
fn tokens_and_transactions_are_of_their_session() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Client);
        pair.broker.publish_all("/q", ["1"]);
        pair.drive();
        let token = pair.listener.token("1");
        let transaction = pair.client.begin().unwrap();
        lose_and_reconnect(&mut pair);
        pair.drive();
        pair.up.written();
        assert_eq!(pair.client.ack(&token), Err(UsageError::Stale));
        assert_eq!(pair.client.nack(&token), Err(UsageError::Stale));
        let fresh = pair.listener.token("1");
        let request = AckRequest::new(&fresh).transaction(&transaction);
        assert_eq!(pair.client.ack(request), Err(UsageError::Stale));
        let request = SendRequest::new("/q").transaction(&transaction);
        assert_eq!(pair.client.send(&request), Err(UsageError::Stale));
        drop(request);
        assert_eq!(pair.client.commit(transaction).unwrap_err().error, UsageError::Stale);
        let transaction = pair.client.begin().unwrap();
        pair.client.ack(AckRequest::new(&fresh).transaction(&transaction)).unwrap();
        pair.client.commit(transaction).unwrap();
        pair.drive();
        assert!(pair.up.written().starts_with("BEGIN\ntransaction:2\n\n\0"), "they count on");
        assert_eq!(pair.broker.told().last().unwrap(), "COMMIT 2: ACK #0 [1]");
    }
}

#[test]
fn a_subscription_that_an_older_version_cannot_carry_ends() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        pair.subscribe("/a", AckMode::Auto);
        let odd = pair.subscribe_with(&SubscribeRequest::new("/b").header("selector", "a\nb"));
        pair.subscribe("/c", AckMode::Auto);
        pair.drive();
        pair.setup.client = ClientConfig::without_host().versions(V1_0);
        lose_and_reconnect(&mut pair);
        pair.drive();
        assert_eq!(pair.listener.told(), ["CONNECTED 1.0"]);
        assert_eq!(pair.listener.connected.as_ref().unwrap().not_renewed(), [odd]);
        let told = ["SUBSCRIBE #0 /a auto", "SUBSCRIBE #1 /c auto"];
        assert_eq!(pair.broker.told()[1..], told);
        assert_eq!(pair.client.unsubscribe(odd), Err(UsageError::UnknownSubscription));
        pair.broker.publish_all("/c", ["to c"]);
        pair.drive();
        assert_eq!(pair.listener.told(), ["MESSAGE #2 \"to c\""]);
    }
}

#[test]
fn a_subscription_is_carried_over_sessions_that_never_came_up() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.connected();
        let subscription = pair.subscribe("/q", AckMode::Auto);
        pair.client.disconnect(pair.now).unwrap();
        pair.drive();
        let config = pair.setup.client.clone();
        pair.broker.answers = Answers::Later;
        pair.reconnect(config.clone());
        pair.reconnect(config.clone());
        pair.drive();
        assert_eq!(pair.client.unsubscribe(subscription), Err(UsageError::NotConnected));
        lose_and_reconnect(&mut pair);
        pair.broker.answers = Answers::Failing("not now");
        pair.drive();
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: not now"]);
        pair.broker.answers = Answers::AtOnce;
        pair.reconnect(config);
        pair.broker.publish_all("/q", ["at last"]);
        pair.broker.told();
        pair.drive();
        let told = [format!("CONNECTED {version}"), "MESSAGE #0 \"at last\"".to_owned()];
        assert_eq!(pair.listener.told(), told);
        let another = pair.subscribe("/r", AckMode::Auto);
        assert!(another > subscription);
        pair.client.unsubscribe(subscription).unwrap();
        pair.drive();
        let told = ["SUBSCRIBE #0 /q auto", "SUBSCRIBE #1 /r auto", "UNSUBSCRIBE #0"];
        assert_eq!(pair.broker.told()[1..], told);
    }
}

#[test]
fn a_successor_is_not_given_more_than_it_may_hold() {
    for version in Version::ALL {
        for setup in Setup::of(version) {
            let mut limits = Limits::default();
            limits.max_subscriptions = 1;
            let narrow = setup.client.clone().limits(limits);
            let mut pair = setup.connected();
            let first = pair.subscribe("/a", AckMode::Auto);
            pair.subscribe("/b", AckMode::Auto);
            let limit = Limit { what: Bound::Subscriptions, most: 1 };
            let refused = pair.client.successor(narrow.clone(), pair.now).unwrap_err();
            assert_eq!(refused, UsageError::LimitExceeded(limit));
            pair.client.unsubscribe(first).unwrap();
            assert!(pair.client.successor(narrow, pair.now).is_ok());
            pair.drive();
            assert!(!pair.client.is_finished(), "this one goes on as if nothing had been");
            assert_eq!(pair.listener.told(), NOTHING);
        }
    }
}
