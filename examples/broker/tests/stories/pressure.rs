//! Slow consumers and full queues: memory stays bounded, and nobody else suffers.

use core::ops::Range;
use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpStream;

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::client::{
    AckMode, EndTransaction, Event, ReceiptId, SendRequest, SubscribeRequest,
};
use stomp_proto::destination::Scheme;
use tokio::time::timeout;

use crate::support::{Peer, QUIET, Running, body, start_with};

/// With room for a few messages of `LARGE` octets.
fn limits() -> MemoryLimits {
    MemoryLimits { max_queue_len: 8 * LARGE, ..MemoryLimits::default() }
}

const LARGE: usize = 60_000;

fn large(number: usize) -> String {
    format!("{number:LARGE$}")
}

/// A client that has sent one message more than the queue has room for.
async fn sender(broker: &Running) -> Peer {
    let mut peer = broker.client().await;
    for number in 0..8 {
        peer.send("/queue/a", &large(number)).await;
    }
    let receipt = peer.client.next_receipt();
    let one_more = SendRequest::new("/queue/a").body(large(8)).receipt(receipt);
    peer.client.send(&one_more).unwrap();
    peer
}

#[tokio::test]
async fn who_sends_to_a_full_queue_waits_until_there_is_room() {
    let broker = start_with(Config::default(), limits()).await;
    let mut sender = sender(&broker).await;
    sender.quiet().await;

    let mut receiver = broker.client().await;
    receiver.subscribe(SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual)).await;
    let first = receiver.message().await;
    sender.quiet().await;
    receiver.ack(&first);
    receiver.go_on(QUIET).await;
    sender.receipt().await;
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let limits = MemoryLimits { max_wait: Duration::from_millis(200), ..limits() };
    let broker = start_with(Config::default(), limits).await;
    let mut sender = sender(&broker).await;
    let (message, _, named_receipt) = sender.error().await;
    assert_eq!((&*message, named_receipt), ("queue is full", true));
}

/// It is not known what would have become of its message: no receipt is named.
#[tokio::test]
async fn who_waits_is_told_in_the_end_that_the_broker_ends() {
    let mut broker = start_with(Config::default(), limits()).await;
    let mut sender = sender(&broker).await;
    sender.quiet().await;
    broker.end();
    let (message, _, named_receipt) = sender.error().await;
    assert_eq!((&*message, named_receipt), ("broker is shutting down", false));
    drop(sender);
    broker.ended().await;
}

#[tokio::test]
async fn a_subscriber_to_a_topic_that_does_not_read_holds_up_nobody() {
    let limits = MemoryLimits { max_queue_len: 40 * LARGE, ..limits() };
    let broker = start_with(Config::default(), limits).await;
    let (mut slow, mut quick) = (broker.client().await, broker.client().await);
    slow.subscribe(SubscribeRequest::new("/topic/a")).await;
    quick.subscribe(SubscribeRequest::new("/topic/a")).await;
    let mut sender = broker.client().await;
    // Much more than sockets, outbox and queue can hold.
    let count = 400;
    for number in 0..count {
        sender.send("/topic/a", &large(number)).await;
        assert_eq!(body(&quick.message().await).trim_start(), number.to_string());
    }
    let mut got = Vec::new();
    while let Ok(message) = timeout(Duration::from_millis(500), slow.message()).await {
        got.push(body(&message).trim_start().parse::<usize>().unwrap());
    }
    assert!(got.is_sorted() && got.len() < count, "{} of {count}", got.len());
    assert_eq!(got.last(), Some(&(count - 1)), "the newest are kept");
}

#[tokio::test]
async fn who_sends_itself_more_than_anything_holds_gets_it_all_in_order() {
    let broker = start_with(Config::default(), limits()).await;
    let mut peer = broker.client().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a")).unwrap();
    // As many as the outbox of the client takes.
    let send = |number| peer.client.send(&SendRequest::new("/queue/a").body(large(number)));
    let count = (0..400).map(send).take_while(Result::is_ok).count();
    assert!(count > 100, "{count}");
    for number in 0..count {
        assert_eq!(body(&peer.message().await).trim_start(), number.to_string());
    }
    peer.quiet().await;
}

/// However much it may have: what has not left for it is anybody's.
#[tokio::test]
async fn a_consumer_that_does_not_read_leaves_the_rest_to_others() {
    let limits = MemoryLimits { max_queue_len: 2000 * LARGE, ..limits() };
    let broker = start_with(Config::default(), limits).await;
    let mut slow = broker.client().await;
    let request = SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual);
    slow.subscribe(request.header("prefetch-count", "0")).await;
    let mut sender = broker.client().await;
    let count = 600;
    for number in 0..count {
        sender.send("/queue/a", &large(number)).await;
    }
    let mut quick = broker.client().await;
    quick.subscribe(SubscribeRequest::new("/queue/a")).await;
    let mut last = 0;
    // Sockets and outbox take a hundred or so.
    while last < count - 1 {
        let number = body(&quick.message().await).trim_start().parse().unwrap();
        assert!(number > last, "{number} after {last}");
        last = number;
    }
    // And those in their turn when it is gone.
    drop(slow);
    let first = body(&quick.message().await);
    assert_eq!(first.trim_start(), "0");
}

/// A share that becomes free is told to who waits for it, though all that is there for whoever comes
/// first is still taken.
#[tokio::test]
async fn who_waits_for_a_share_gets_it_as_soon_as_it_is_there() {
    let limits = MemoryLimits {
        max_len: 22 * LARGE,
        max_queues: 4,
        // Not what is waited for.
        max_queue_len: 100 * LARGE,
        max_wait: Duration::from_secs(300),
        ..limits()
    };
    let broker = start_with(Config::default(), limits).await;
    let mut sender = broker.client().await;
    for number in 0..10 {
        sender.send("/queue/greedy", &large(number)).await;
    }
    // There is room for one in its share.
    sender.send("/queue/a", &large(10)).await;
    let receipt = sender.client.next_receipt();
    sender.client.send(&SendRequest::new("/queue/a").body(large(11)).receipt(receipt)).unwrap();
    sender.quiet().await;
    let mut receiver = broker.client().await;
    receiver.subscribe(SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual)).await;
    let first = receiver.message().await;
    sender.quiet().await;
    receiver.ack(&first);
    assert_eq!(body(&receiver.message().await).trim_start(), "11");
    sender.receipt().await;
}

/// What each message of a COMMIT has room for, all of them together may not.
#[tokio::test]
async fn a_commit_waits_for_room_for_all_of_it() {
    // Under the original one a queue is sent to by way of a binding, which is as new.
    for scheme in [Scheme::Current, Scheme::Original] {
        check_commits(Config { scheme, ..Config::default() }).await;
    }
}

async fn check_commits(config: Config) {
    let limits = MemoryLimits {
        max_len: 22 * LARGE,
        max_queue_len: 100 * LARGE,
        max_wait: Duration::from_secs(300),
        ..limits()
    };
    let broker = start_with(config, limits).await;
    let mut peer = broker.client().await;
    let receipt = commit(&mut peer, 0..6);
    assert_eq!(peer.event().await, Event::Receipt(receipt));
    commit(&mut peer, 6..12);
    peer.quiet().await;
    let mut receiver = broker.client().await;
    for number in 0..2 {
        receiver.subscribe(SubscribeRequest::new(&format!("/queue/{number}"))).await;
        receiver.message().await;
    }
    peer.receipt().await;

    let (mut peer, mut other) = (broker.client().await, broker.client().await);
    commit(&mut peer, 12..24);
    let (message, explanation, named_receipt) = peer.error().await;
    assert_eq!((&*message, named_receipt), ("resource_error", true));
    assert_eq!(explanation, "more than there can ever be room for\n");
    other.subscribe(SubscribeRequest::new("/queue/12")).await;
    other.quiet().await;
}

/// Commits large messages, each to a queue of its own.
fn commit(peer: &mut Peer, numbers: Range<usize>) -> ReceiptId {
    let transaction = peer.client.begin().unwrap();
    for number in numbers {
        let destination = format!("/queue/{number}");
        let request = SendRequest::new(&destination).transaction(&transaction).body(large(number));
        peer.client.send(&request).unwrap();
    }
    let receipt = peer.client.next_receipt();
    peer.client.commit(EndTransaction::new(transaction).receipt(receipt)).unwrap();
    receipt
}

/// Messages that all take up what they may together: who has little still gets through.
#[tokio::test]
async fn whoever_fills_the_memory_waits_and_does_not_keep_out_the_others() {
    // A share is as much as two small messages are.
    let limits = MemoryLimits {
        max_len: 22 * LARGE,
        max_queues: 150,
        max_queue_len: 100 * LARGE,
        ..limits()
    };
    let broker = start_with(Config::default(), limits).await;
    let mut greedy = broker.client().await;
    for number in 0..10 {
        greedy.send(&format!("/queue/{number}"), &large(number)).await;
    }
    let receipt = greedy.client.next_receipt();
    let one_more = SendRequest::new("/queue/11").body(large(11)).receipt(receipt);
    greedy.client.send(&one_more).unwrap();
    greedy.quiet().await;

    let mut peer = broker.client().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/small")).unwrap();
    peer.client.subscribe(&SubscribeRequest::new("/topic/small")).unwrap();
    for destination in ["/queue/small", "/topic/small", "/queue/small"] {
        peer.client.send(&SendRequest::new(destination).body("hello")).unwrap();
        assert_eq!(peer.bodies(1).await, ["hello"]);
    }
    greedy.quiet().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/0")).unwrap();
    peer.client.subscribe(&SubscribeRequest::new("/queue/1")).unwrap();
    peer.bodies(2).await;
    greedy.receipt().await;
}

/// One thread has all connections, so that nobody else looks whether anything has come for the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_client_that_is_never_done_leaves_the_others_their_turn() {
    let broker = start_with(Config::default(), limits()).await;
    let mut peer = broker.client().await;
    let address = broker.tcp;
    let flood = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream.set_write_timeout(patience).unwrap();
        let requests = "BEGIN\ntransaction:t\n\n\0ABORT\ntransaction:t\n\n\0".repeat(100_000);
        write!(stream, "CONNECT\n\n\0{requests}DISCONNECT\n\n\0").unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let mut rounds = 0;
    while !flood.is_finished() {
        peer.send("/topic/nobody", "").await;
        rounds += 1;
    }
    flood.join().unwrap();
    // 4 MB are 64 times what may be looked at in a row. A request alone takes two such times or three.
    assert!(rounds >= 8, "{rounds}");
}
