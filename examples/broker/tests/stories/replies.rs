//! Temporary queues: a request and its reply.

use stomp_proto::client::{SendRequest, SubscribeRequest};

use crate::support::{body, start};

#[tokio::test]
async fn a_reply_comes_to_the_temporary_queue_of_the_request() {
    let broker = start().await;
    let mut service = broker.client().await;
    service.subscribe(SubscribeRequest::new("/queue/service")).await;
    let mut peer = broker.client().await;
    for number in ["1", "2"] {
        let request = SendRequest::new("/queue/service").header("reply-to", "/temp-queue/answers");
        peer.request(request.body(number)).await;
        let question = service.message().await;
        let to = question.headers().get("reply-to").unwrap();
        assert!(to.starts_with("/reply-queue/"), "{to}");
        service.send(&to, &format!("answer to {}", body(&question))).await;
        let answer = peer.message().await;
        assert_eq!(body(&answer), format!("answer to {number}"));
        let subscription = answer.headers().get("subscription");
        assert_eq!(subscription.as_deref(), Some("/temp-queue/answers"));
        assert!(answer.token().is_none() && answer.subscription().is_none());
    }
}

#[tokio::test]
async fn nobody_else_may_read_replies_and_they_go_with_their_session() {
    let broker = start().await;
    let mut service = broker.client().await;
    service.subscribe(SubscribeRequest::new("/queue/service")).await;
    let mut peer = broker.client().await;
    peer.request(SendRequest::new("/queue/service").header("reply-to", "/temp-queue/a")).await;
    let to = service.message().await.headers().get("reply-to").unwrap().into_owned();
    let mut thief = broker.client().await;
    thief.client.subscribe(&SubscribeRequest::new(&to)).unwrap();
    assert_eq!(thief.error().await.0, "resource_locked");
    peer.disconnect().await;
    service.send(&to, "to nobody").await;
    service.client.subscribe(&SubscribeRequest::new(&to)).unwrap();
    assert_eq!(service.error().await.0, "not_found");
}
