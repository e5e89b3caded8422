//! A WebSocket with nothing behind it: frames as text.

use core::net::SocketAddr;
use core::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

pub(crate) struct Socket {
    socket: WebSocketStream<TcpStream>,
    /// The subprotocol that the broker chose.
    pub(crate) chosen: Option<String>,
}

impl Socket {
    pub(crate) async fn open(address: SocketAddr, offered: &[&str]) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut request = format!("ws://{address}/stomp").into_client_request().unwrap();
        for line in offered {
            request.headers_mut().append("Sec-WebSocket-Protocol", line.parse().unwrap());
        }
        let (socket, response) = client_async(request, stream).await.unwrap();
        let chosen = response.headers().get("Sec-WebSocket-Protocol");
        let chosen = chosen.map(|name| name.to_str().unwrap().to_owned());
        Self { socket, chosen }
    }

    pub(crate) async fn send(&mut self, message: impl Into<Message>) {
        self.socket.send(message.into()).await.unwrap();
    }

    /// The next message; `None`: the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        let next = timeout(Duration::from_secs(20), self.socket.next());
        next.await.expect("nothing came").map(Result::unwrap)
    }

    pub(crate) async fn text(&mut self) -> String {
        match self.next().await {
            Some(Message::Text(text)) => text.as_str().to_owned(),
            other => panic!("no text but {other:?}"),
        }
    }
}
