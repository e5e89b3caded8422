//! Many connections and many messages: each message is delivered once and acknowledged.

use core::time::Duration;

use stomp_proto::client::{AckMode, Event, SendRequest, SubscribeRequest};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{Peer, Running, body, start};

const CONNECTIONS: usize = if cfg!(debug_assertions) { 40 } else { 200 };
const MESSAGES: usize = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
const QUEUES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn every_message_is_delivered_once_and_acknowledged() {
    let broker = start().await;
    let (senders, receivers) = (CONNECTIONS / 2, CONNECTIONS / 2);
    let (got, mut gets) = mpsc::channel(1024);
    let mut tasks = JoinSet::new();
    for index in 0..receivers {
        tasks.spawn(receive(broker.client().await, index % QUEUES, got.clone()));
    }
    drop(got);
    for index in 0..senders {
        tasks.spawn(send(broker.client().await, index, MESSAGES / senders));
    }
    let mut seen = vec![false; MESSAGES];
    let all = async {
        for _ in 0..MESSAGES {
            let number: usize = gets.recv().await.unwrap();
            assert!(!core::mem::replace(&mut seen[number], true), "{number} came twice");
        }
    };
    timeout(PATIENCE, all).await.expect("not all of them came");
    tasks.shutdown().await;
    check_empty(&broker).await;
}

async fn receive(mut peer: Peer, queue: usize, got: mpsc::Sender<usize>) {
    let destination = format!("/queue/load-{queue}");
    peer.subscribe(SubscribeRequest::new(&destination).ack(AckMode::Client)).await;
    while let Some(event) = peer.next().await {
        if let Event::Message(message) = event {
            peer.ack(&message);
            got.send(body(&message).parse().unwrap()).await.unwrap();
        }
    }
}

async fn send(mut peer: Peer, sender: usize, count: usize) {
    let destination = format!("/queue/load-{}", sender % QUEUES);
    for number in sender * count..(sender + 1) * count {
        peer.client.send(&SendRequest::new(&destination).body(number.to_string())).unwrap();
        if number % 100 == 99 {
            // Not faster than the broker.
            peer.send("/topic/nobody", "").await;
        }
    }
    peer.disconnect().await;
}

/// What was acknowledged is gone.
async fn check_empty(broker: &Running) {
    let mut peer = broker.client().await;
    for queue in 0..QUEUES {
        peer.subscribe(SubscribeRequest::new(&format!("/queue/load-{queue}"))).await;
    }
    peer.quiet().await;
}
