//! The scripted application: a `Broker` around a server session, with a clock that stands still.

use core::time::Duration;

use bytes::Buf;
use stomp_proto::codec::Limits;
use stomp_proto::server::{
    Accept, ConnectReply, Delivered, Delivery, Dialect, Event, Failure, LedgerEntry, Reply,
    SubscriptionId, Work,
};
use stomp_proto::{Refused, Server, ServerConfig, Session, UsageError, Version};

/// What is written when nothing is, and what is told.
pub(crate) const NOTHING: [&str; 0] = [];

pub(crate) const V1_0: Version = Version::V1_0;
pub(crate) const V1_1: Version = Version::V1_1;
pub(crate) const V1_2: Version = Version::V1_2;

pub(crate) const PRESETS: [Dialect; 3] = [Dialect::SPEC, Dialect::LENIENT, Dialect::KUBEMQ];

/// The ERROR of a server that speaks all versions, none of them the client's.
pub(crate) const UNSUPPORTED_VERSION: &str = "ERROR\nversion:1.0,1.1,1.2\nmessage:unsupported version\ncontent-type:text/plain\n\
     content-length:37\n\nSupported versions are 1.0, 1.1, 1.2\n\0";

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn speaking(dialect: Dialect) -> ServerConfig {
    let mut config = ServerConfig::default();
    config.dialect = dialect;
    config
}

pub(crate) fn limited(set: impl FnOnce(&mut Limits)) -> ServerConfig {
    let mut config = ServerConfig::default();
    set(&mut config.limits);
    config
}

/// A message under that `message-id`.
pub(crate) fn named(message_id: &str) -> Delivery {
    Delivery::builder("/q").message_id(message_id).body("x").build()
}

/// An ERROR that is not about a frame with a receipt.
pub(crate) fn error(message: &str) -> String {
    format!("ERROR\nmessage:{message}\n\n\0")
}

pub(crate) fn error_for(receipt: &str, message: &str) -> String {
    format!("ERROR\nreceipt-id:{receipt}\nmessage:{message}\n\n\0")
}

pub(crate) fn receipt(id: &str) -> String {
    format!("RECEIPT\nreceipt-id:{id}\n\n\0")
}

/// An application that keeps the replies it owes until the script says what becomes of them.
pub(crate) struct Broker {
    pub(crate) server: Server<Duration, u64>,
    pub(crate) now: Duration,
    /// In the order in which they came; `#0` is the first.
    pub(crate) subscriptions: Vec<SubscriptionId>,
    pub(crate) connect: Option<ConnectReply>,
    pub(crate) replies: Vec<Reply>,
}

/// A MESSAGE as it was written.
#[derive(Debug)]
pub(crate) struct Message(pub(crate) String);

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let (head, _) = self.0.split_once("\n\n")?;
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        headers.find(|header| header.0 == name).map(|header| header.1)
    }

    /// The header lines that acknowledge it on that version.
    fn acknowledged_on(&self, version: Version) -> String {
        let header = |name| self.header(name).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        match version {
            V1_0 => format!("message-id:{}\n", header("message-id")),
            V1_1 => {
                let (of, id) = (header("subscription"), header("message-id"));
                format!("subscription:{of}\nmessage-id:{id}\n")
            }
            V1_2 => format!("id:{}\n", header("ack")),
        }
    }
}

impl Broker {
    pub(crate) fn new(config: ServerConfig) -> Self {
        Self {
            server: Server::new(config, Duration::ZERO),
            now: Duration::ZERO,
            subscriptions: Vec::new(),
            connect: None,
            replies: Vec::new(),
        }
    }

    /// A session of that version, with nothing to write.
    pub(crate) fn connected(version: Version) -> Self {
        Self::connected_with(ServerConfig::default(), version)
    }

    pub(crate) fn connected_with(config: ServerConfig, version: Version) -> Self {
        let mut broker = Self::new(config);
        broker.feed(format!("CONNECT\naccept-version:{version}\nhost:h\n\n\0"));
        assert_eq!(broker.told(), [format!("CONNECT {version}")]);
        broker.accept(&Accept::new("s1"));
        let beats = if version == V1_0 { "" } else { "heart-beat:0,0\n" };
        let connected = format!("CONNECTED\nversion:{version}\nsession:s1\n{beats}\n\0");
        assert_eq!(broker.written(), [connected]);
        broker
    }

    /// A session with the subscription `#0` in that mode, and its deliveries 1 to `count` open.
    pub(crate) fn with_open(version: Version, mode: &str, count: u64) -> (Self, Vec<Message>) {
        let mut broker = Self::connected(version);
        broker.subscribe("0", mode);
        let messages = (1..=count).map(|value| broker.deliver(0, value)).collect();
        (broker, messages)
    }

    /// Octets from the client.
    pub(crate) fn feed(&mut self, octets: impl AsRef<[u8]>) {
        self.server.receive(octets.as_ref());
    }

    /// The clock moves, and the deadlines that have passed are acted on.
    pub(crate) fn at(&mut self, milliseconds: u64) {
        self.now = ms(milliseconds);
        self.server.handle_timeout(self.now);
    }

    /// The next deadline in milliseconds.
    pub(crate) fn deadline(&self) -> Option<u128> {
        self.server.poll_timeout().map(|deadline| deadline.as_millis())
    }

    pub(crate) fn event(&mut self) -> Option<Event<u64>> {
        self.server.poll_event(self.now)
    }

    /// The next event in words.
    pub(crate) fn next(&mut self) -> Option<String> {
        let event = self.event()?;
        Some(self.note(event))
    }

    /// All events that there are, in words.
    pub(crate) fn told(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.next()).collect()
    }

    /// All that is to be written, frame by frame.
    pub(crate) fn written(&mut self) -> Vec<String> {
        let frames = core::iter::from_fn(|| self.server.outbox().next_frame());
        frames.map(|frame| String::from_utf8(frame.bytes.to_vec()).expect("text")).collect()
    }

    /// That many octets of what is to be written.
    pub(crate) fn take(&mut self, count: usize) -> String {
        let octets = self.server.outbox().copy_to_bytes(count).to_vec();
        String::from_utf8(octets).expect("text")
    }

    pub(crate) fn accept(&mut self, accept: &Accept) {
        let reply = self.connect.take().expect("a CONNECT that waits");
        self.server.accept(reply, accept).expect("accepted");
    }

    /// Confirms the oldest request that is owed an answer.
    pub(crate) fn confirm(&mut self) {
        let reply = self.replies.remove(0);
        self.server.confirm(reply).expect("confirmed");
    }

    /// Fails the oldest request that is owed an answer.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        let reply = self.replies.remove(0);
        self.server.fail(reply, failure).expect("failed");
    }

    /// A confirmed subscription; its number.
    pub(crate) fn subscribe(&mut self, id: &str, mode: &str) -> usize {
        let number = self.subscriptions.len();
        self.feed(format!("SUBSCRIBE\nid:{id}\ndestination:/q\nack:{mode}\n\n\0"));
        assert_eq!(self.told(), [format!("SUBSCRIBE #{number} /q {mode}")]);
        self.confirm();
        assert_eq!(self.written(), NOTHING);
        number
    }

    pub(crate) fn unsubscribe(&mut self, id: &str) {
        self.feed(format!("UNSUBSCRIBE\nid:{id}\n\n\0"));
        let told = self.told();
        assert!(told.len() == 1 && told[0].starts_with("UNSUBSCRIBE #"), "{told:?}");
        self.confirm();
    }

    pub(crate) fn try_deliver(
        &mut self,
        subscription: usize,
        delivery: &Delivery,
        value: u64,
    ) -> Result<Delivered<u64>, Refused<u64>> {
        self.server.deliver(self.subscriptions[subscription], delivery, value)
    }

    /// A delivery that goes out; the MESSAGE.
    pub(crate) fn send(&mut self, subscription: usize, delivery: &Delivery, value: u64) -> Message {
        self.try_deliver(subscription, delivery, value).expect("delivered");
        let mut written = self.written();
        assert_eq!(written.len(), 1, "{written:?}");
        Message(written.remove(0))
    }

    /// A delivery of `x` under an id of the session's.
    pub(crate) fn deliver(&mut self, subscription: usize, value: u64) -> Message {
        self.send(subscription, &Delivery::builder("/q").body("x").build(), value)
    }

    /// The client acknowledges a MESSAGE, in the form of the version.
    pub(crate) fn ack(&mut self, message: &Message) {
        self.settle("ACK", message, "");
    }

    pub(crate) fn settle(&mut self, command: &str, message: &Message, more: &str) {
        let version = self.server.version().expect("connected");
        let lines = message.acknowledged_on(version);
        self.feed(format!("{command}\n{lines}{more}\n\0"));
    }

    /// The values of what `release` gives back.
    pub(crate) fn release(&mut self, subscription: usize) -> Vec<u64> {
        values(&self.server.release(self.subscriptions[subscription]))
    }

    /// Keeps what the application has to keep of an event, and puts the rest in words.
    pub(crate) fn note(&mut self, event: Event<u64>) -> String {
        let (text, reply) = match event {
            Event::Connect { frame, reply } => {
                self.connect = Some(reply);
                return format!("{} {}", frame.as_frame().command(), frame.version());
            }
            Event::Closed { reason, open } => {
                return format!("CLOSED {reason:?} {:?}", values(&open));
            }
            Event::Send { frame, reply } => {
                let body = String::from_utf8_lossy(frame.body());
                (format!("SEND {} {body:?}", frame.destination()), reply)
            }
            Event::Subscribe { frame, reply } => {
                let number = self.subscriptions.len();
                self.subscriptions.push(frame.subscription());
                (format!("SUBSCRIBE #{number} {} {}", frame.destination(), frame.mode()), reply)
            }
            Event::Unsubscribe { frame, reply } => {
                (format!("UNSUBSCRIBE {}", self.number(frame.subscription())), reply)
            }
            Event::Ack { frame, deliveries, reply } => {
                (self.settled("ACK", frame.subscription(), &deliveries), reply)
            }
            Event::Nack { frame, deliveries, reply } => {
                (self.settled("NACK", frame.subscription(), &deliveries), reply)
            }
            Event::Commit { transaction, work, reply } => {
                let work: Vec<_> = work.iter().map(|work| self.work(work)).collect();
                (format!("COMMIT {transaction}: {}", work.join(", ")), reply)
            }
            Event::Disconnect { reply, .. } => ("DISCONNECT".to_owned(), reply),
        };
        self.replies.push(reply);
        text
    }

    fn work(&self, work: &Work<u64>) -> String {
        match work {
            Work::Send(frame) => {
                let body = String::from_utf8_lossy(frame.body());
                format!("SEND {} {body:?}", frame.destination())
            }
            Work::Ack { frame, deliveries } => {
                self.settled("ACK", frame.subscription(), deliveries)
            }
            Work::Nack { frame, deliveries } => {
                self.settled("NACK", frame.subscription(), deliveries)
            }
        }
    }

    fn settled(&self, command: &str, of: SubscriptionId, entries: &[LedgerEntry<u64>]) -> String {
        assert!(entries.iter().all(|entry| entry.subscription == of), "{entries:?}");
        format!("{command} {} {:?}", self.number(of), values(entries))
    }

    fn number(&self, subscription: SubscriptionId) -> String {
        let number = self.subscriptions.iter().position(|known| *known == subscription);
        format!("#{}", number.expect("a subscription that was told of"))
    }
}

/// Why a delivery was refused, with its value back.
pub(crate) fn refused<T>(result: Result<T, Refused<u64>>, value: u64) -> UsageError {
    let refused = result.err().expect("refused");
    assert_eq!(refused.token, value);
    refused.error
}

fn values(entries: &[LedgerEntry<u64>]) -> Vec<u64> {
    entries.iter().map(|entry| entry.value).collect()
}
