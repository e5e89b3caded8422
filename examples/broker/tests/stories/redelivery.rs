//! What was not settled is delivered again.

use stomp_proto::client::{
    AckMode, AckRequest, Event, SendRequest, SubscribeRequest, UnsubscribeRequest,
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Peer, Running, body, is_redelivered, start};

const INDIVIDUAL: AckMode = AckMode::ClientIndividual;

/// A client that gets what there is in the queue.
async fn receiver(broker: &Running) -> Peer {
    let mut peer = broker.client().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(INDIVIDUAL)).unwrap();
    peer
}

async fn send(broker: &Running, bodies: &[&str]) {
    let mut peer = broker.client().await;
    for body in bodies {
        peer.send("/queue/a", body).await;
    }
    peer.disconnect().await;
}

async fn expect(peer: &mut Peer, expected: &[(&str, bool)]) {
    for (text, again) in expected {
        let message = peer.message().await;
        assert_eq!((&*body(&message), is_redelivered(&message)), (*text, *again));
        peer.ack(&message);
    }
    peer.quiet().await;
}

#[tokio::test]
async fn a_nack_brings_it_back_marked_and_at_its_place() {
    let broker = start().await;
    send(&broker, &["1", "2"]).await;
    let mut peer = broker.client().await;
    let one = SubscribeRequest::new("/queue/a").ack(INDIVIDUAL).header("prefetch-count", "1");
    peer.client.subscribe(&one).unwrap();
    let first = peer.message().await;
    assert!(!is_redelivered(&first));
    peer.nack(&first);
    expect(&mut peer, &[("1", true), ("2", false)]).await;
}

#[tokio::test]
async fn a_nack_without_requeue_drops_it() {
    let broker = start().await;
    send(&broker, &["1", "2", "3"]).await;
    let mut peer = receiver(&broker).await;
    let first = peer.message().await;
    let token = first.token().unwrap();
    peer.client.nack(AckRequest::new(&token).header("requeue", "false")).unwrap();
    expect(&mut peer, &[("2", false), ("3", false)]).await;
}

#[tokio::test]
async fn what_was_open_when_it_was_unsubscribed_can_still_be_settled() {
    let broker = start().await;
    send(&broker, &["1", "2", "3", "4"]).await;
    let mut peer = broker.client().await;
    let three = SubscribeRequest::new("/queue/a").ack(INDIVIDUAL).header("prefetch-count", "3");
    peer.client.subscribe(&three).unwrap();
    let (first, second, _) = (peer.message().await, peer.message().await, peer.message().await);
    peer.unsubscribe(UnsubscribeRequest::new(first.subscription().unwrap())).await;
    let mut other = receiver(&broker).await;
    expect(&mut other, &[("4", false)]).await;

    peer.ack(&first);
    peer.nack(&second);
    peer.quiet().await;
    expect(&mut other, &[("2", true)]).await;
    peer.disconnect().await;
    expect(&mut other, &[("3", true)]).await;
}

#[tokio::test]
async fn disconnecting_gives_back_what_is_open_and_so_does_a_lost_connection() {
    let broker = start().await;
    send(&broker, &["1", "2", "3"]).await;
    let mut peer = receiver(&broker).await;
    peer.message().await;
    peer.disconnect().await;

    let mut lost = receiver(&broker).await;
    let message = lost.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("1", true));
    lost.ack(&message);
    let _ = (lost.message().await, lost.message().await);
    lost.quiet().await;
    drop(lost);

    let mut other = receiver(&broker).await;
    expect(&mut other, &[("2", true), ("3", true)]).await;
}

#[tokio::test]
async fn what_is_open_comes_back_though_the_client_keeps_its_socket() {
    let broker = start().await;
    send(&broker, &["1", "2", "3"]).await;
    for (farewell, number) in [
        ("DISCONNECT\nreceipt:bye\n\n\0", "1"),
        ("SEND\ndestination:/nowhere/a\nreceipt:bye\n\n\0", "2"),
        ("nonsense\n\n\0", "3"),
    ] {
        let mut stays = TcpStream::connect(broker.tcp).await.unwrap();
        let frames = "CONNECT\naccept-version:1.2\nhost:h\n\n\0SUBSCRIBE\nid:0\n\
            destination:/queue/a\nack:client-individual\nprefetch-count:1\n\n\0";
        stays.write_all(frames.as_bytes()).await.unwrap();
        let mut answers = Vec::new();
        while answers.split(|octet| *octet == 0).count() <= 2 {
            assert_ne!(stays.read_buf(&mut answers).await.unwrap(), 0);
        }
        stays.write_all(farewell.as_bytes()).await.unwrap();
        // It is answered, and the broker's end of the stream is closed.
        stays.read_to_end(&mut answers).await.unwrap();

        let mut other = broker.client().await;
        let one = SubscribeRequest::new("/queue/a").ack(INDIVIDUAL).header("prefetch-count", "1");
        other.client.subscribe(&one).unwrap();
        let message = other.message().await;
        assert_eq!((&*body(&message), is_redelivered(&message)), (number, true));
        other.ack(&message);
        other.disconnect().await;
        drop(stays);
    }
}

#[tokio::test]
async fn a_cumulative_ack_settles_all_up_to_it() {
    let broker = start().await;
    send(&broker, &["1", "2", "3"]).await;
    let mut peer = broker.client().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let (_, second, _) = (peer.message().await, peer.message().await, peer.message().await);
    peer.ack(&second);
    peer.disconnect().await;
    let mut other = receiver(&broker).await;
    expect(&mut other, &[("3", true)]).await;
}

#[tokio::test]
async fn what_the_sender_says_of_redelivery_does_not_count() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.request(SendRequest::new("/queue/a").header("redelivered", "false")).await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(INDIVIDUAL)).unwrap();
    let message = peer.message().await;
    peer.nack(&message);
    let Event::Message(message) = peer.event().await else { panic!() };
    assert!(is_redelivered(&message));
}
