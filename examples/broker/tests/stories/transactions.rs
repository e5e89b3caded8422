//! Transactions: all of it or nothing.

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, SendRequest, SubscribeRequest, Transaction,
};
use stomp_proto::destination::Scheme;

use crate::support::{Peer, Running, body, is_redelivered, start, start_with};

async fn commit(peer: &mut Peer, transaction: Transaction) {
    let receipt = peer.client.next_receipt();
    peer.client.commit(EndTransaction::new(transaction).receipt(receipt)).unwrap();
    peer.receipt().await;
}

/// What was open goes to the next subscriber, and nothing else does.
async fn check_untouched(broker: &Running) {
    let mut other = broker.client().await;
    other.client.subscribe(&SubscribeRequest::new("/queue/a")).unwrap();
    let message = other.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("open", true));
    other.quiet().await;
}

#[tokio::test]
async fn what_is_sent_in_a_transaction_comes_with_its_commit() {
    let broker = start().await;
    let (mut peer, mut other) = (broker.client().await, broker.client().await);
    other.subscribe(SubscribeRequest::new("/queue/a")).await;
    let transaction = peer.client.begin().unwrap();
    for number in ["1", "2"] {
        peer.request(SendRequest::new("/queue/a").transaction(&transaction).body(number)).await;
    }
    other.quiet().await;
    commit(&mut peer, transaction).await;
    assert_eq!(other.bodies(2).await, ["1", "2"]);
}

#[tokio::test]
async fn an_aborted_transaction_has_never_been() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.send("/queue/a", "open").await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let message = peer.message().await;
    let transaction = peer.client.begin().unwrap();
    let token = message.token().unwrap();
    peer.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
    peer.request(SendRequest::new("/queue/a").transaction(&transaction).body("never")).await;
    peer.client.abort(transaction).unwrap();
    peer.quiet().await;
    peer.disconnect().await;
    check_untouched(&broker).await;
}

#[tokio::test]
async fn a_commit_settles_what_it_acknowledges() {
    let broker = start().await;
    let mut peer = broker.client().await;
    for number in ["1", "2"] {
        peer.send("/queue/a", number).await;
    }
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let (first, second) = (peer.message().await, peer.message().await);
    let transaction = peer.client.begin().unwrap();
    let (first, second) = (first.token().unwrap(), second.token().unwrap());
    peer.client.ack(AckRequest::new(&first).transaction(&transaction)).unwrap();
    peer.client.nack(AckRequest::new(&second).transaction(&transaction)).unwrap();
    commit(&mut peer, transaction).await;
    let message = peer.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("2", true));
}

#[tokio::test]
async fn a_commit_that_fails_does_nothing() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.send("/queue/a", "open").await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let token = peer.message().await.token().unwrap();
    let transaction = peer.client.begin().unwrap();
    peer.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
    for destination in ["/queue/a", "/exchange/none"] {
        let send = SendRequest::new(destination).transaction(&transaction).body("never");
        peer.client.send(&send).unwrap();
    }
    peer.client.commit(transaction).unwrap();
    assert_eq!(peer.error().await.0, "not_found");
    check_untouched(&broker).await;
}

/// Each of the messages alone would be within the limit.
#[tokio::test]
async fn a_commit_that_is_over_a_limit_does_nothing() {
    let queues = MemoryLimits { max_queues: 1, ..MemoryLimits::default() };
    let bindings = MemoryLimits { max_bindings: 1, ..MemoryLimits::default() };
    for (scheme, limits, expected) in [
        (Scheme::Current, queues.clone(), "too many queues\n"),
        (Scheme::Original, queues, "too many queues\n"),
        (Scheme::Original, bindings, "too many bindings\n"),
    ] {
        let broker = start_with(Config { scheme, ..Config::default() }, limits).await;
        let mut peer = broker.client().await;
        let transaction = peer.client.begin().unwrap();
        for destination in ["/queue/a", "/queue/a", "/queue/b"] {
            let send = SendRequest::new(destination).transaction(&transaction).body("never");
            peer.client.send(&send).unwrap();
        }
        peer.client.commit(transaction).unwrap();
        let (message, explanation, _) = peer.error().await;
        assert_eq!((&*message, &*explanation), ("resource_error", expected));

        let mut other = broker.client().await;
        other.subscribe(SubscribeRequest::new("/queue/a")).await;
        other.quiet().await;
        // And what there is may be named again.
        let transaction = other.client.begin().unwrap();
        for body in ["1", "2"] {
            let send = SendRequest::new("/queue/a").transaction(&transaction).body(body);
            other.client.send(&send).unwrap();
        }
        other.client.commit(transaction).unwrap();
        assert_eq!(other.bodies(2).await, ["1", "2"]);
    }
}
