//! Two brokers on one RabbitMQ under load, one of which is killed: nothing that was confirmed is lost.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use core::time::Duration;

use stomp_proto::ClientConfig;
use stomp_proto::client::{AckMode, Event, ReceiptId, SendRequest, SubscribeRequest};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::program::Program;
use crate::support::{Peer, body, start};

const CONNECTIONS: usize = if cfg!(debug_assertions) { 40 } else { 200 };
const MESSAGES: usize = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
const QUEUES: usize = 10;
/// Messages that a sender has under way.
const WINDOW: usize = 50;
const PATIENCE: Duration = Duration::from_secs(300);

/// A broker on the RabbitMQ, and where it listens.
fn start_program() -> (Program, SocketAddr) {
    let uri = std::env::var("STOMP_BROKER_AMQP").unwrap();
    let program = Program::start(&["--tcp", "127.0.0.1:0", "--amqp", &uri]);
    let address = program.listens("tcp");
    (program, address)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a RabbitMQ"]
async fn no_confirmed_message_is_lost_with_a_broker_that_is_killed() {
    // It empties the queues.
    start().await;
    let (mut killed, first) = start_program();
    let (_survivor, second) = start_program();
    // Each has a broker, and another for when that is gone.
    let homes = |index| match index % 2 {
        0 => [first, second],
        _ => [second, first],
    };
    let (got, mut gets) = mpsc::channel(1024);
    let mut receivers = JoinSet::new();
    for index in 0..CONNECTIONS / 2 {
        receivers.spawn(receive(homes(index), index / 2 % QUEUES, got.clone()));
    }
    drop(got);
    let mut senders = JoinSet::new();
    for index in 0..CONNECTIONS / 2 {
        senders.spawn(send(homes(index), index, MESSAGES / (CONNECTIONS / 2)));
    }
    let mut seen = vec![0_usize; MESSAGES];
    let mut count = 0;
    let all = async {
        while count < MESSAGES {
            let number: usize = gets.recv().await.unwrap();
            seen[number] += 1;
            count += usize::from(seen[number] == 1);
            if count == MESSAGES / 2 {
                killed.kill();
            }
        }
    };
    timeout(PATIENCE, all).await.expect("not all of them came");
    // Every sender has had a RECEIPT for each of its messages.
    let confirmed = async {
        while let Some(sent) = senders.join_next().await {
            sent.unwrap();
        }
    };
    timeout(PATIENCE, confirmed).await.expect("not all of them were confirmed");
    assert!(!killed.ended().status.success(), "it was killed half way");
    // What was sent again, because its RECEIPT was lost, and what was delivered again, because its
    // ACK was: nothing else may come twice.
    let twice: usize = seen.iter().map(|times| times - 1).sum();
    println!("{MESSAGES} messages, {twice} came again");
    assert!(twice <= CONNECTIONS / 2 * (WINDOW + PREFETCH), "{twice}");
    receivers.shutdown().await;
}

/// What a receiver may have had without an ACK that arrived.
const PREFETCH: usize = 100;

/// Connects to the first of two brokers that is there.
async fn connect(homes: [SocketAddr; 2]) -> Peer {
    for home in homes.iter().cycle().take(50) {
        // One that was killed in the midst of a handshake is not there either.
        if let Some(peer) = Peer::try_connect(*home, ClientConfig::new("/")).await {
            return peer;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("no broker is there");
}

async fn receive(homes: [SocketAddr; 2], queue: usize, got: mpsc::Sender<usize>) {
    let destination = format!("/queue/load-{queue}");
    let prefetch = PREFETCH.to_string();
    loop {
        let mut peer = connect(homes).await;
        let request = SubscribeRequest::new(&destination).ack(AckMode::Client);
        peer.client.subscribe(&request.header("prefetch-count", &prefetch)).unwrap();
        while let Some(event) = peer.next().await {
            if let Event::Message(message) = event {
                got.send(body(&message).parse().unwrap()).await.unwrap();
                // It may be lost with the connection: then the message comes again.
                let _ = peer.client.ack(&message.token().unwrap());
            }
        }
    }
}

async fn send(homes: [SocketAddr; 2], sender: usize, count: usize) {
    let destination = format!("/queue/load-{}", sender % QUEUES);
    let numbers: Vec<_> = (sender * count..(sender + 1) * count).collect();
    let mut peer = connect(homes).await;
    for window in numbers.chunks(WINDOW) {
        let mut left = window.to_vec();
        while !left.is_empty() {
            left = send_window(&mut peer, &destination, &left).await;
            if !left.is_empty() {
                peer = connect(homes).await;
            }
        }
    }
    peer.disconnect().await;
}

/// Sends messages and waits for their receipts; those that were not confirmed.
async fn send_window(peer: &mut Peer, destination: &str, numbers: &[usize]) -> Vec<usize> {
    let mut open: BTreeMap<ReceiptId, usize> = BTreeMap::new();
    for number in numbers {
        let receipt = peer.client.next_receipt();
        let request = SendRequest::new(destination).header("persistent", "true");
        // On a session that is over it fails, and nothing is confirmed below.
        let _ = peer.client.send(&request.body(number.to_string()).receipt(receipt));
        open.insert(receipt, *number);
    }
    while !open.is_empty() {
        match peer.next().await {
            Some(Event::Receipt(receipt)) => drop(open.remove(&receipt)),
            Some(Event::Closed(_)) | None => break,
            Some(_) => {}
        }
    }
    open.into_values().collect()
}
