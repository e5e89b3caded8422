//! What a MESSAGE says besides what the sender said.

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::client::{SendRequest, SubscribeRequest};
use stomp_proto::destination::Scheme;

use crate::support::{start, start_with};

#[tokio::test]
async fn its_destination_tells_the_way_it_came() {
    let broker = start().await;
    for (subscribed, sent, came) in [
        ("/queue/a", "/amq/queue/a", "/queue/a"),
        ("/queue/b", "b", "/queue/b"),
        ("/queue/c", "/reply-queue/c", "/queue/c"),
        ("/queue/d%2Fe", "/queue/d%2Fe", "/queue/d%2Fe"),
        ("/queue/100%", "/queue/100%", "/queue/100%25"),
        ("/queue/\u{e9}", "/queue/\u{e9}", "/queue/%C3%A9"),
        ("/topic/*", "/exchange/amq.topic/t", "/topic/t"),
        ("/exchange/amq.fanout", "/exchange/amq.fanout/k", "/exchange/amq.fanout/k"),
        ("/exchange/amq.direct", "/exchange/amq.direct/", "/exchange/amq.direct"),
        ("/exchange/amq.headers/a", "/exchange/amq.headers/b", "/exchange/amq.headers/b"),
        ("/exchange/amq.match", "/exchange/amq.match/k", "/exchange/amq.match/k"),
    ] {
        let mut peer = broker.client().await;
        peer.subscribe(SubscribeRequest::new(subscribed)).await;
        peer.client.send(&SendRequest::new(sent)).unwrap();
        assert_eq!(peer.message().await.destination(), came);
    }
}

#[tokio::test]
async fn under_the_original_scheme_a_queue_keeps_its_name() {
    let config = Config { scheme: Scheme::Original, ..Config::default() };
    let broker = start_with(config, MemoryLimits::default()).await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    let plain = SendRequest::new("/queue/a").header("persistent", "no");
    peer.client.send(&plain).unwrap();
    peer.client.send(&SendRequest::new("/exchange/amq.direct/a")).unwrap();
    let message = peer.message().await;
    assert_eq!(message.destination(), "/queue/a");
    assert_eq!(message.headers().get("persistent").as_deref(), Some("no"));
    assert_eq!(peer.message().await.destination(), "/exchange/amq.direct/a");
}

#[tokio::test]
async fn it_says_that_it_is_persistent_and_not_that_it_is_not() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/topic/a")).await;
    for (sent, came) in
        [("true", Some("true")), ("True", Some("true")), ("false", None), ("False", None)]
    {
        peer.client.send(&SendRequest::new("/topic/a").header("persistent", sent)).unwrap();
        let message = peer.message().await;
        assert_eq!(message.headers().get("persistent").as_deref(), came);
    }
}

#[tokio::test]
async fn it_comes_the_first_time_whatever_the_sender_says() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    peer.client.send(&SendRequest::new("/queue/a").header("redelivered", "true")).unwrap();
    let message = peer.message().await;
    let all: Vec<_> = message.headers().iter().filter(|it| it.name() == "redelivered").collect();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].value(), "false");
}
