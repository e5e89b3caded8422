//! The same over WebSocket.

use stomp_proto::client::SubscribeRequest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::socket::Socket;
use crate::support::start;

#[tokio::test]
async fn the_highest_offered_subprotocol_is_chosen_and_binds() {
    let broker = start().await;
    for (offered, chosen) in [
        (&["v10.stomp, v11.stomp"][..], Some("v11.stomp")),
        (&["mqtt, v12.stomp"], Some("v12.stomp")),
        (&["v10.stomp"], Some("v10.stomp")),
        (&[], None),
    ] {
        let mut socket = Socket::open(broker.ws, offered).await;
        assert_eq!(socket.chosen.as_deref(), chosen);
        socket.send("CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\n\n\0").await;
        let connected = socket.text().await;
        let version = match chosen {
            Some("v10.stomp") => "1.0",
            Some("v11.stomp") => "1.1",
            _ => "1.2",
        };
        assert!(connected.contains(&format!("\nversion:{version}\n")), "{connected}");
    }
}

#[tokio::test]
async fn an_offer_may_be_of_several_lines() {
    let broker = start().await;
    let mut stream = TcpStream::connect(broker.ws).await.unwrap();
    let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: v10.stomp\r\nSec-WebSocket-Protocol: v12.stomp\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
    }
    let answer = String::from_utf8(answer).unwrap().to_lowercase();
    assert!(answer.contains("\r\nsec-websocket-protocol: v12.stomp\r\n"), "{answer}");
}

#[tokio::test]
async fn a_frame_is_a_message_and_text_when_it_is_utf_8() {
    let broker = start().await;
    let mut socket = Socket::open(broker.ws, &["v12.stomp"]).await;
    // Bounds of messages mean nothing on the way in.
    socket.send("CONNECT\naccept-ver").await;
    socket.send("sion:1.2\nhost:h\n\n\0SUBSCRIBE\nid:0\ndestination:/queue/a\n\n\0").await;
    assert!(socket.text().await.starts_with("CONNECTED\n"));
    socket.send("SEND\ndestination:/queue/a\n\nhi\0").await;
    assert!(socket.text().await.ends_with("\n\nhi\0"));
    let binary = Bytes::from_static(b"SEND\ndestination:/queue/a\n\n\xff\xfe\0");
    socket.send(Message::Binary(binary)).await;
    let Some(Message::Binary(message)) = socket.next().await else { panic!() };
    assert!(message.starts_with(b"MESSAGE\n") && message.ends_with(b"\n\n\xff\xfe\0"));
    socket.send(Message::Ping(Bytes::from_static(b"there?"))).await;
    assert_eq!(socket.next().await, Some(Message::Pong(Bytes::from_static(b"there?"))));
}

#[tokio::test]
async fn either_transport_reaches_the_other() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/topic/a")).await;
    let mut socket = Socket::open(broker.ws, &["v12.stomp"]).await;
    socket.send("CONNECT\naccept-version:1.2\nhost:h\n\n\0").await;
    socket.text().await;
    socket.send("SEND\ndestination:/topic/a\n\nover\0DISCONNECT\nreceipt:bye\n\n\0").await;
    assert_eq!(peer.bodies(1).await, ["over"]);
    assert!(socket.text().await.starts_with("RECEIPT\nreceipt-id:bye\n"));
    assert!(matches!(socket.next().await, Some(Message::Close(_))));
    assert_eq!(socket.next().await, None);
}

#[tokio::test]
async fn a_close_is_answered_and_gives_back_what_is_open() {
    let broker = start().await;
    let mut socket = Socket::open(broker.ws, &[]).await;
    socket.send("CONNECT\naccept-version:1.2\nhost:h\n\n\0").await;
    socket.text().await;
    socket.send("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client\n\n\0").await;
    socket.send("SEND\ndestination:/queue/a\n\nopen\0").await;
    socket.text().await;
    socket.send(Message::Close(None)).await;
    assert!(matches!(socket.next().await, Some(Message::Close(_))));
    assert_eq!(socket.next().await, None);
    let mut peer = broker.client().await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a")).unwrap();
    assert_eq!(peer.bodies(1).await, ["open"]);
}
