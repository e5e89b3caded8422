//! What carries a session's octets: the loop of a connection knows no more than this.

mod tcp;
mod websocket;

use std::io;

use stomp_proto::Session;

pub(crate) use tcp::Tcp;
pub(crate) use websocket::accept;

/// How much is read at a time.
const READ_LEN: usize = 16 << 10;

/// Our end of the stream.
#[derive(PartialEq, Eq)]
enum End {
    Open,
    Wanted,
    Done,
}

impl End {
    /// A session says so in every turn of the loop, and it is done once.
    fn want(&mut self) {
        if *self == Self::Open {
            *self = Self::Wanted;
        }
    }
}

pub(crate) trait Transport: Send {
    /// Reads into a session, if it wants that, and writes from it, if there is something, as soon as
    /// one or the other can be done. A call that is given up has done nothing.
    ///
    /// An error means that the connection is dead. That the peer has ended its stream is none: the
    /// session is told.
    fn progress<S>(&mut self, session: &mut S) -> impl Future<Output = io::Result<()>> + Send
    where
        S: Session + Send;

    /// Nothing more will be written: from now on `progress` ends our stream as well.
    fn shut_down(&mut self);
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use stomp_proto::codec::Limits;
    use stomp_proto::{Server, ServerConfig};
    use tokio::join;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::{Instant, timeout};
    use tokio_tungstenite::client_async;

    use super::*;

    /// Both ends of a connection.
    async fn sockets() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (near, far) = join!(TcpStream::connect(address), listener.accept());
        (near.unwrap(), far.unwrap().0)
    }

    /// The peer takes its time to end its own stream.
    async fn check_end(mut transport: impl Transport) {
        let mut session = Server::<_, ()>::new(ServerConfig::default(), Instant::now());
        let turns = async {
            // A few, because a socket may turn out not to be ready after all.
            for _ in 0..10 {
                transport.shut_down();
                transport.progress(&mut session).await.unwrap();
            }
        };
        assert!(timeout(Duration::from_millis(50), turns).await.is_err(), "it comes to rest");
    }

    #[tokio::test]
    async fn a_stream_is_ended_once_however_often_it_is_asked_for() {
        let (_near, far) = sockets().await;
        check_end(Tcp::new(far)).await;

        let (near, far) = sockets().await;
        let limits = Limits::default();
        let (near, far) = join!(client_async("ws://h/", near), accept(far, &limits));
        let (_near, (transport, _)) = (near.unwrap(), far.unwrap());
        check_end(transport).await;
    }
}
