//! The sockets: they are bound, connections come, and in the end all of them are told.

use core::error::Error;
use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, ErrorKind};

use stomp_proto::HeartBeat;
use stomp_proto::codec::Limits;
use stomp_proto::destination::{PlannerConfig, Scheme};
use stomp_proto::server::{Dialect, FrameEnd, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use crate::backend::Backend;
use crate::connection::serve;
use crate::gateway::{Gateway, WORDING};
use crate::transport::{Tcp, accept};

/// Connections at a time and socket. Those that come when there are so many wait.
const MAX_CONNECTIONS: usize = 10_000;
/// How long a WebSocket handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long connections get to hear that the broker ends.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait when the system is out of sockets, say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How sessions are set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// What the sessions let pass.
    pub dialect: Dialect,
    /// What destinations mean.
    pub scheme: Scheme,
    /// The fastest heart-beats that a client gets and that are asked of it. Default: one a second.
    pub heart_beat: HeartBeat,
}

impl Default for Config {
    fn default() -> Self {
        let heart_beat = HeartBeat { can_send: 1000, wants: 1000 };
        Self { dialect: Dialect::default(), scheme: Scheme::default(), heart_beat }
    }
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What is spoken there.
    pub protocol: Protocol,
    /// `host:port`; port 0 is any that is free.
    pub address: String,
}

/// What is spoken on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// STOMP over TCP.
    Tcp,
    /// STOMP over WebSocket.
    WebSocket,
}

/// A broker with its sockets open.
#[derive(Debug)]
pub struct Broker<B> {
    config: Config,
    backend: B,
    listeners: Vec<Listener>,
}

#[derive(Debug)]
struct Listener {
    protocol: Protocol,
    socket: TcpListener,
    address: SocketAddr,
}

impl<B: Backend> Broker<B> {
    /// Opens the sockets.
    ///
    /// # Errors
    ///
    /// One of them cannot be opened.
    pub async fn bind(
        config: Config,
        backend: B,
        addresses: &[Address],
    ) -> Result<Self, BindError> {
        let mut listeners = Vec::new();
        for Address { protocol, address } in addresses {
            let bound = async {
                let socket = TcpListener::bind(address).await?;
                let address = socket.local_addr()?;
                Ok(Listener { protocol: *protocol, socket, address })
            };
            let bound = bound.await;
            listeners.push(bound.map_err(|error| BindError { address: address.clone(), error })?);
        }
        Ok(Self { config, backend, listeners })
    }

    /// The sockets that are open.
    pub fn addresses(&self) -> impl Iterator<Item = (Protocol, SocketAddr)> {
        self.listeners.iter().map(|listener| (listener.protocol, listener.address))
    }

    /// Serves connections until `shutdown`, and then until all of them have ended.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Self { config, backend, listeners } = self;
        let (end, down) = watch::channel(false);
        let service = Service { config, backend, down };
        let mut listening = JoinSet::new();
        for listener in listeners {
            listening.spawn(listener.serve(service.clone()));
        }
        shutdown.await;
        info!("shutting down");
        end.send_replace(true);
        let drained =
            timeout(DRAIN_TIMEOUT, async { while listening.join_next().await.is_some() {} });
        if drained.await.is_err() {
            warn!("connections did not end in time");
        }
    }
}

impl Listener {
    async fn serve<B: Backend>(self, service: Service<B>) {
        let mut connections = JoinSet::new();
        let shutdown = service.shutdown();
        tokio::pin!(shutdown);
        loop {
            select! {
                () = &mut shutdown => break,
                _ = connections.join_next(), if !connections.is_empty() => {}
                accepted = self.socket.accept(), if connections.len() < MAX_CONNECTIONS => {
                    match accepted {
                        Ok((stream, peer)) => {
                            let service = service.clone();
                            connections.spawn(service.take(self.protocol, stream, peer));
                        }
                        Err(error) => {
                            warn!(%error, "cannot accept");
                            sleep(ACCEPT_PAUSE).await;
                        }
                    }
                }
            }
        }
        drop(self.socket);
        while connections.join_next().await.is_some() {}
    }
}

/// What connections are served with.
#[derive(Clone)]
struct Service<B> {
    config: Config,
    backend: B,
    down: watch::Receiver<bool>,
}

impl<B: Backend> Service<B> {
    /// A connection, from its start to its end.
    async fn take(self, protocol: Protocol, stream: TcpStream, peer: SocketAddr) {
        debug!(%peer, "accepted");
        if let Err(error) = self.connect(protocol, stream).await {
            info!(%peer, %error, "no session");
        }
    }

    /// Sets up the session of a connection, and serves it.
    async fn connect(&self, protocol: Protocol, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut server = ServerConfig::default();
        server.dialect = self.config.dialect;
        server.wording = (self.config.scheme == Scheme::Current).then_some(WORDING);
        match protocol {
            Protocol::Tcp => {
                server.frame_end = FrameEnd::NulAndEol;
                let gateway = self.gateway(&server.limits).await?;
                serve(Tcp::new(stream), server, gateway, self.shutdown()).await;
            }
            Protocol::WebSocket => {
                let (transport, subprotocol) = select! {
                    accepted = accept(stream, &server.limits) => accepted?,
                    () = sleep(HANDSHAKE_TIMEOUT) => return Err(ErrorKind::TimedOut.into()),
                    () = self.shutdown() => return Ok(()),
                };
                server.subprotocol = subprotocol;
                let gateway = self.gateway(&server.limits).await?;
                serve(transport, server, gateway, self.shutdown()).await;
            }
        }
        Ok(())
    }

    /// What stands between a session and the backend.
    async fn gateway(&self, limits: &Limits) -> io::Result<Gateway<B::Channel>> {
        let mut planner = PlannerConfig::default();
        planner.scheme = self.config.scheme;
        let channel = self.backend.open().await?;
        Ok(Gateway::new(channel, planner, self.config.heart_beat, limits))
    }

    /// Until the broker is to end.
    fn shutdown(&self) -> impl Future<Output = ()> + use<B> {
        let mut down = self.down.clone();
        async move {
            // An error is a broker that is gone.
            let _ = down.wait_for(|is_down| *is_down).await;
        }
    }
}

/// A socket cannot be opened.
#[derive(Debug)]
pub struct BindError {
    address: String,
    error: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {}: ", self.address)?;
        match self.error.kind() {
            ErrorKind::AddrInUse => f.write_str("the port is taken; is another broker running?"),
            _ => self.error.fmt(f),
        }
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tcp => "tcp",
            Self::WebSocket => "ws",
        })
    }
}
