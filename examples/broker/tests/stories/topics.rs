//! Topics and exchanges: one message, any number of receivers.

use stomp_proto::client::{SendRequest, SubscribeRequest, UnsubscribeRequest};

use crate::support::start;

#[tokio::test]
async fn wildcards_choose_what_a_subscriber_gets() {
    let broker = start().await;
    let mut sender = broker.client().await;
    let mut peers = Vec::new();
    for pattern in ["/topic/eu.*", "/topic/#", "/topic/*.fr.#", "/exchange/amq.topic/eu.de"] {
        let mut peer = broker.client().await;
        peer.subscribe(SubscribeRequest::new(pattern)).await;
        peers.push(peer);
    }
    for key in ["eu.de", "eu.fr", "us", "us.fr.x"] {
        sender.send(&format!("/topic/{key}"), key).await;
    }
    let expected = [
        &["eu.de", "eu.fr"][..],
        &["eu.de", "eu.fr", "us", "us.fr.x"],
        &["eu.fr", "us.fr.x"],
        &["eu.de"],
    ];
    for (peer, expected) in peers.iter_mut().zip(expected) {
        assert_eq!(peer.bodies(expected.len()).await, expected);
        peer.quiet().await;
    }
}

#[tokio::test]
async fn a_queue_with_two_bindings_that_fit_gets_a_message_once() {
    let broker = start().await;
    let mut peer = broker.client().await;
    for (id, topic) in [("1", "/topic/a.*"), ("2", "/topic/#")] {
        let shared = SubscribeRequest::new(topic).id(id).header("x-queue-name", "shared");
        peer.subscribe(shared.header("auto-delete", "false").header("exclusive", "false")).await;
    }
    peer.client.send(&SendRequest::new("/topic/a.b").body("once")).unwrap();
    assert_eq!(peer.bodies(1).await, ["once"]);
    peer.quiet().await;
}

#[tokio::test]
async fn a_direct_exchange_wants_the_very_key() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/exchange/amq.direct/k")).await;
    for key in ["k", "k.k", "*", "k"] {
        let destination = format!("/exchange/amq.direct/{key}");
        peer.client.send(&SendRequest::new(&destination).body(key.to_owned())).unwrap();
    }
    assert_eq!(peer.bodies(2).await, ["k", "k"]);
    peer.quiet().await;
}

#[tokio::test]
async fn a_durable_subscription_gathers_while_its_client_is_away() {
    let broker = start().await;
    let durable = || {
        let request = SubscribeRequest::new("/topic/news").id("mine").header("durable", "true");
        request.header("auto-delete", "false")
    };
    let mut peer = broker.client().await;
    peer.subscribe(durable()).await;
    peer.disconnect().await;
    let mut sender = broker.client().await;
    sender.send("/topic/news", "while away").await;

    let mut peer = broker.client().await;
    let subscription = peer.client.subscribe(&durable()).unwrap();
    assert_eq!(peer.bodies(1).await, ["while away"]);
    peer.unsubscribe(UnsubscribeRequest::new(subscription).header("durable", "true")).await;
    sender.send("/topic/news", "to nobody").await;
    peer.subscribe(durable()).await;
    peer.quiet().await;
}
