//! A broker on loopback and clients for it.

use core::net::SocketAddr;
use core::time::Duration;

use bytes::Buf;
use lapin::options::QueueDeleteOptions;
use lapin::{Connection, ConnectionProperties};
use stomp_broker::backend::{Amqp, Backend, Memory, MemoryLimits};
use stomp_broker::{Address, Broker, Config, Protocol};
use stomp_proto::client::{
    Event, Message, SendRequest, SubscribeRequest, SubscriptionId, UnsubscribeRequest,
};
use stomp_proto::{Client, ClientConfig, CloseReason, Session, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// A broker that runs until it is told to end.
pub(crate) struct Running {
    pub(crate) tcp: SocketAddr,
    pub(crate) ws: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// Its queues are in memory, or in the RabbitMQ that `STOMP_BROKER_AMQP` names, which has to be one
/// for tests, and the tests have to run one by one (`--test-threads=1`).
pub(crate) async fn start() -> Running {
    match std::env::var("STOMP_BROKER_AMQP") {
        Ok(uri) => {
            within(delete_queues(&uri)).await;
            start_on(Config::default(), Amqp::new(&uri).unwrap()).await
        }
        Err(_) => start_with(Config::default(), MemoryLimits::default()).await,
    }
}

pub(crate) async fn start_with(config: Config, limits: MemoryLimits) -> Running {
    start_on(config, Memory::new(limits)).await
}

pub(crate) async fn start_on(config: Config, backend: impl Backend) -> Running {
    let any = |protocol| Address { protocol, address: "127.0.0.1:0".into() };
    let addresses = [any(Protocol::Tcp), any(Protocol::WebSocket)];
    let broker = Broker::bind(config, backend, &addresses).await.unwrap();
    let bound: Vec<_> = broker.addresses().map(|(_, address)| address).collect();
    let (end, ended) = oneshot::channel();
    let task = tokio::spawn(broker.run(async {
        let _ = ended.await;
    }));
    Running { tcp: bound[0], ws: bound[1], end: Some(end), task }
}

/// Deletes what another story may have left behind.
async fn delete_queues(uri: &str) {
    let connection = Connection::connect(uri, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let of_load = (0..10).map(|number| format!("load-{number}"));
    let durable = r#"stomp-durable-"amq.topic"-"news"-"mine""#;
    let named = ["a", "service", "there", "shared", durable].map(String::from);
    for queue in named.into_iter().chain(of_load) {
        channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
    }
    connection.close(200, "done".into()).await.unwrap();
}

impl Running {
    /// Asks it to end.
    pub(crate) fn end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn ended(self) {
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }

    pub(crate) async fn client(&self) -> Peer {
        self.client_of(Version::V1_2).await
    }

    pub(crate) async fn client_of(&self, version: Version) -> Peer {
        Peer::connect(self.tcp, ClientConfig::new("localhost").versions(version)).await
    }
}

/// How long anything may take that is to happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to come of it, if that does not take too long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

/// How long to wait for what must not happen.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// A client with its socket.
pub(crate) struct Peer {
    pub(crate) client: Client<Instant>,
    stream: TcpStream,
}

impl Peer {
    pub(crate) async fn connect(address: SocketAddr, config: ClientConfig) -> Self {
        Self::try_connect(address, config).await.expect("no session")
    }

    /// `None`: nobody is there, or nobody who answers with CONNECTED.
    pub(crate) async fn try_connect(address: SocketAddr, config: ClientConfig) -> Option<Self> {
        let client = Client::new(config, Instant::now()).unwrap();
        let mut peer = Self::new(address, client).await?;
        let event = timeout(PATIENCE, peer.next()).await.expect("no answer");
        matches!(event, Some(Event::Connected(_))).then_some(peer)
    }

    pub(crate) async fn new(address: SocketAddr, client: Client<Instant>) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self { client, stream })
    }

    /// The next event, which must come.
    pub(crate) async fn event(&mut self) -> Event {
        timeout(PATIENCE, self.next()).await.expect("nothing happened").expect("it is over")
    }

    /// The next event; `None`: the connection is over.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            self.client.handle_timeout(Instant::now());
            if let Some(event) = self.client.poll_event(Instant::now()) {
                return Some(event);
            }
            if self.client.is_finished() {
                return None;
            }
            if self.client.wants_shutdown() {
                self.stream.shutdown().await.unwrap();
            }
            let deadline = self.client.poll_timeout();
            let has_output = self.client.outbox().has_remaining();
            let wants_input = self.client.wants_read();
            let (mut reader, mut writer) = self.stream.split();
            let (inbox, outbox) = self.client.buffers();
            let far = Instant::now() + PATIENCE;
            tokio::select! {
                written = writer.write_buf(outbox), if has_output => {
                    if written.is_err() {
                        self.client.handle_lost();
                    }
                }
                read = reader.read_buf(inbox), if wants_input => match read {
                    Ok(0) => self.client.handle_eof(),
                    Ok(_) => {}
                    Err(_) => self.client.handle_lost(),
                },
                () = sleep_until(deadline.unwrap_or(far)) => {}
            }
        }
    }

    pub(crate) async fn message(&mut self) -> Message {
        match self.event().await {
            Event::Message(message) => message,
            other => panic!("no message but {other:?}"),
        }
    }

    /// The bodies of so many messages.
    pub(crate) async fn bodies(&mut self, count: usize) -> Vec<String> {
        let mut bodies = Vec::new();
        for _ in 0..count {
            bodies.push(body(&self.message().await));
        }
        bodies
    }

    /// Writes what is to be written, and checks that nothing comes.
    pub(crate) async fn quiet(&mut self) {
        if let Ok(event) = timeout(QUIET, self.next()).await {
            panic!("{event:?}");
        }
    }

    /// Writes what is to be written for a while, whatever comes.
    pub(crate) async fn go_on(&mut self, time: Duration) {
        let _ = timeout(time, async { while self.next().await.is_some() {} }).await;
    }

    /// Sends, and waits until it took effect.
    pub(crate) async fn send(&mut self, destination: &str, body: &str) {
        self.request(SendRequest::new(destination).body(body.to_owned())).await;
    }

    pub(crate) async fn request(&mut self, request: SendRequest<'_>) {
        let receipt = self.client.next_receipt();
        self.client.send(&request.receipt(receipt)).unwrap();
        self.receipt().await;
    }

    /// Subscribes, and waits until it took effect.
    pub(crate) async fn subscribe(&mut self, request: SubscribeRequest<'_>) -> SubscriptionId {
        let receipt = self.client.next_receipt();
        let subscription = self.client.subscribe(&request.receipt(receipt)).unwrap();
        self.receipt().await;
        subscription
    }

    /// Unsubscribes, and waits until it took effect.
    pub(crate) async fn unsubscribe(&mut self, request: UnsubscribeRequest<'_>) {
        let receipt = self.client.next_receipt();
        self.client.unsubscribe(request.receipt(receipt)).unwrap();
        self.receipt().await;
    }

    pub(crate) async fn receipt(&mut self) {
        let event = self.event().await;
        assert!(matches!(event, Event::Receipt(_)), "{event:?}");
    }

    pub(crate) fn ack(&mut self, message: &Message) {
        self.client.ack(&message.token().unwrap()).unwrap();
    }

    pub(crate) fn nack(&mut self, message: &Message) {
        self.client.nack(&message.token().unwrap()).unwrap();
    }

    /// The ERROR that ends it: message, body, and whether it named a receipt.
    pub(crate) async fn error(&mut self) -> (String, String, bool) {
        loop {
            if let Event::Closed(reason) = self.event().await {
                let CloseReason::Error { frame, receipt } = reason else { panic!("{reason:?}") };
                let message = frame.header("message").unwrap().into_owned();
                let body = String::from_utf8(frame.body().to_vec()).unwrap();
                return (message, body, receipt.is_some());
            }
        }
    }

    /// Leaves as agreed.
    pub(crate) async fn disconnect(mut self) {
        self.client.disconnect(Instant::now()).unwrap();
        loop {
            if let Event::Closed(reason) = self.event().await {
                assert_eq!(reason, CloseReason::Disconnected);
                return;
            }
        }
    }
}

pub(crate) fn body(message: &Message) -> String {
    String::from_utf8(message.body().to_vec()).unwrap()
}

pub(crate) fn is_redelivered(message: &Message) -> bool {
    message.headers().get("redelivered").as_deref() == Some("true")
}

/// All that is answered until the broker ends the stream, which it is to do behind the last step:
/// frames, and how many answers are there then.
pub(crate) async fn talk(broker: &Running, steps: &[(&str, usize)]) -> Vec<String> {
    timeout(PATIENCE, talk_to_the_end(broker, steps)).await.expect("too few answers, or no end")
}

async fn talk_to_the_end(broker: &Running, steps: &[(&str, usize)]) -> Vec<String> {
    let mut stream = TcpStream::connect(broker.tcp).await.unwrap();
    let mut answers = Vec::new();
    for (frames, count) in steps {
        stream.write_all(frames.as_bytes()).await.unwrap();
        while answers.split(|octet| *octet == 0).count() <= *count {
            assert_ne!(stream.read_buf(&mut answers).await.unwrap(), 0, "too few answers");
        }
    }
    stream.read_to_end(&mut answers).await.unwrap();
    let answers = String::from_utf8(answers).unwrap();
    answers.split_terminator("\0\n").map(str::to_owned).collect()
}
