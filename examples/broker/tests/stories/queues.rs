//! Queues: one message, one receiver.

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::client::{AckMode, SendRequest, SubscribeRequest, UnsubscribeRequest};
use stomp_proto::destination::Scheme;

use crate::support::{body, start, start_with};

#[tokio::test]
async fn what_is_sent_waits_for_a_subscriber_and_comes_as_it_was_sent() {
    let broker = start_with(Config::default(), MemoryLimits::default()).await;
    let mut peer = broker.client().await;
    let request = SendRequest::new("/queue/a").header("b", "1").header("a", "x:y").header("b", "2");
    peer.request(request.body("hi\0")).await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let message = peer.message().await;
    assert_eq!((message.destination(), &*body(&message)), ("/queue/a".into(), "hi\0"));
    let own: Vec<_> = message.headers().iter().map(|it| (it.name(), it.value())).collect();
    let start = own.iter().position(|(name, _)| name == "destination").unwrap();
    let sent =
        [("redelivered", "false"), ("b", "1"), ("a", "x:y"), ("b", "2"), ("content-length", "3")];
    assert_eq!(own[start + 1..], sent.map(|(name, value)| (name.into(), value.into())));
    peer.ack(&message);
    peer.disconnect().await;
}

#[tokio::test]
async fn consumers_take_turns() {
    let broker = start().await;
    let (mut one, mut two) = (broker.client().await, broker.client().await);
    one.subscribe(SubscribeRequest::new("/queue/a")).await;
    two.subscribe(SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual)).await;
    let mut sender = broker.client().await;
    for number in 0..6 {
        sender.send("/queue/a", &number.to_string()).await;
    }
    assert_eq!(one.bodies(3).await, ["0", "2", "4"]);
    assert_eq!(two.bodies(3).await, ["1", "3", "5"]);
}

#[tokio::test]
async fn a_consumer_has_no_more_unsettled_than_its_prefetch_count() {
    let broker = start().await;
    let mut peer = broker.client().await;
    for number in 0..5 {
        peer.send("/queue/a", &number.to_string()).await;
    }
    let request = SubscribeRequest::new("/queue/a").ack(AckMode::Client);
    peer.subscribe(request.header("prefetch-count", "2")).await;
    let (_, second) = (peer.message().await, peer.message().await);
    peer.quiet().await;
    peer.ack(&second);
    assert_eq!(peer.bodies(2).await, ["2", "3"]);
    peer.quiet().await;
}

#[tokio::test]
async fn an_auto_delete_queue_goes_with_its_last_consumer() {
    let broker = start().await;
    let mut peer = broker.client().await;
    let request = || SubscribeRequest::new("/queue/a").header("auto-delete", "true");
    let subscription = peer.subscribe(request().ack(AckMode::Client)).await;
    peer.client.send(&SendRequest::new("/queue/a").body("gone with it")).unwrap();
    peer.message().await;
    peer.unsubscribe(UnsubscribeRequest::new(subscription)).await;
    let mut other = broker.client().await;
    other.subscribe(request()).await;
    other.client.send(&SendRequest::new("/queue/a").body("new")).unwrap();
    assert_eq!(other.bodies(1).await, ["new"]);
    peer.quiet().await;
    peer.disconnect().await;
    other.disconnect().await;
}

#[tokio::test]
async fn an_exclusive_queue_is_of_one_session() {
    let broker = start().await;
    let (mut owner, mut other) = (broker.client().await, broker.client().await);
    let request = || SubscribeRequest::new("/queue/a").header("durable", "false");
    owner.subscribe(request()).await;
    other.client.subscribe(&request()).unwrap();
    assert_eq!(other.error().await.0, "resource_locked");
    owner.disconnect().await;
    let mut third = broker.client().await;
    third.subscribe(SubscribeRequest::new("/queue/a")).await;
}

#[tokio::test]
async fn what_the_queues_refuse_is_told_in_their_words() {
    let broker = start().await;
    for (destination, header, message, explanation) in [
        (
            "/exchange/none/k",
            ("durable", "true"),
            "not_found",
            "NOT_FOUND - no exchange 'none' in vhost '/'",
        ),
        (
            "/amq/queue/none",
            ("durable", "true"),
            "not_found",
            "NOT_FOUND - no queue 'none' in vhost '/'",
        ),
        (
            "/queue/a/b",
            ("durable", "true"),
            "Invalid destination",
            "'/a/b' is not a valid queue destination\n",
        ),
        (
            "/queue/there",
            ("durable", "false"),
            "resource_locked",
            "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'there' in vhost '/'. \
             It could be originally declared on another connection or the exclusive property value \
             does not match that of the original declaration.",
        ),
        (
            "/queue/there",
            ("auto-delete", "true"),
            "precondition_failed",
            "PRECONDITION_FAILED - inequivalent arg 'auto_delete' for queue 'there' in vhost '/': \
             received 'true' but current is 'false'",
        ),
    ] {
        let mut peer = broker.client().await;
        peer.send("/queue/there", "").await;
        let mut other = broker.client().await;
        let receipt = other.client.next_receipt();
        let request = SubscribeRequest::new(destination).header(header.0, header.1);
        other.client.subscribe(&request.receipt(receipt)).unwrap();
        assert_eq!(other.error().await, (message.into(), explanation.into(), true));
    }
}

#[tokio::test]
async fn the_original_scheme_goes_through_the_direct_exchange() {
    let config = Config { scheme: Scheme::Original, ..Config::default() };
    let broker = start_with(config, MemoryLimits::default()).await;
    let mut peer = broker.client().await;
    peer.send("/queue/a", "1").await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    peer.client.send(&SendRequest::new("/exchange/amq.direct/a").body("2")).unwrap();
    assert_eq!(peer.bodies(2).await, ["1", "2"]);
}

/// Those that last are not to keep out those that go with their sessions.
#[tokio::test]
async fn when_there_are_as_many_queues_as_there_may_be_topics_go_on() {
    let limits = MemoryLimits { max_queues: 2, ..MemoryLimits::default() };
    let broker = start_with(Config::default(), limits).await;
    let mut peer = broker.client().await;
    peer.send("/queue/a", "kept").await;
    peer.send("/queue/b", "kept").await;
    let mut other = broker.client().await;
    other.client.send(&SendRequest::new("/queue/c").body("lost")).unwrap();
    assert_eq!(other.error().await.0, "resource_error");
    for topic in ["/topic/a", "/topic/b"] {
        peer.subscribe(SubscribeRequest::new(topic)).await;
    }
    let mut other = broker.client().await;
    other.client.subscribe(&SubscribeRequest::new("/topic/c")).unwrap();
    assert_eq!(other.error().await.0, "resource_error");
    // Theirs went with it, and may be made again.
    peer.disconnect().await;
    let mut other = broker.client().await;
    other.subscribe(SubscribeRequest::new("/topic/c")).await;
}
