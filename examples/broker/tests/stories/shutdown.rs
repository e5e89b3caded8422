//! The end of a broker, and sockets that are not to be had.

use stomp_broker::backend::{Memory, MemoryLimits};
use stomp_broker::{Address, Broker, Config, Protocol};
use stomp_proto::CloseReason;
use stomp_proto::client::{Event, SendRequest, SubscribeRequest};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use crate::socket::Socket;
use crate::support::start;

#[tokio::test]
async fn a_broker_that_ends_says_goodbye_on_every_connection() {
    let mut broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    let mut socket = Socket::open(broker.ws, &["v12.stomp"]).await;
    socket.send("CONNECT\naccept-version:1.2\nhost:h\n\n\0").await;
    socket.text().await;
    // One that has not even said CONNECT.
    let mute = TcpStream::connect(broker.tcp).await.unwrap();
    broker.client().await.send("/queue/a", "before").await;
    broker.end();
    let text = socket.text().await;
    assert!(text.starts_with("ERROR\nmessage:broker is shutting down\n"), "{text}");
    assert!(matches!(socket.next().await, Some(Message::Close(_))));
    assert_eq!(socket.next().await, None);
    assert_eq!(peer.error().await.0, "broker is shutting down");
    assert!(peer.next().await.is_none());
    drop(mute);
    let address = broker.tcp;
    broker.ended().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_plainly() {
    let broker = start().await;
    let taken = [Address { protocol: Protocol::Tcp, address: broker.tcp.to_string() }];
    let memory = Memory::new(MemoryLimits::default());
    let error = Broker::bind(Config::default(), memory, &taken).await.unwrap_err();
    let expected =
        format!("cannot listen on {}: the port is taken; is another broker running?", broker.tcp);
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_client_that_leaves_hears_of_all_that_it_sent_though_messages_come() {
    let broker = start().await;
    let mut sender = broker.client().await;
    for number in 0..2000 {
        let body = number.to_string();
        sender.client.send(&SendRequest::new("/queue/a").body(body)).unwrap();
    }
    sender.disconnect().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    let receipt = peer.client.next_receipt();
    peer.client.send(&SendRequest::new("/queue/there").receipt(receipt)).unwrap();
    peer.client.disconnect(Instant::now()).unwrap();
    let mut confirmed = None;
    loop {
        match peer.event().await {
            Event::Message(_) => {}
            Event::Receipt(receipt) => confirmed = Some(receipt),
            Event::Closed(reason) => break assert_eq!(reason, CloseReason::Disconnected),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(confirmed, Some(receipt));
}
