//! The scripted application: an `App` around a client session, with a clock that stands still.

use core::time::Duration;

use stomp_proto::client::{
    AckMode, AckToken, Connected, Event, Message, SubscribeRequest, SubscriptionId,
};
use stomp_proto::codec::Limits;
use stomp_proto::{Client, ClientConfig, CloseReason, Session, Version, VersionSet};

/// What is written when nothing is, and what is told.
pub(crate) const NOTHING: [&str; 0] = [];

pub(crate) const V1_0: Version = Version::V1_0;
pub(crate) const V1_1: Version = Version::V1_1;
pub(crate) const V1_2: Version = Version::V1_2;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Every test is about the host `h`.
pub(crate) fn config() -> ClientConfig {
    ClientConfig::new("h")
}

pub(crate) fn offering(versions: &[Version]) -> ClientConfig {
    config().versions(VersionSet::of(versions))
}

pub(crate) fn limited(set: impl FnOnce(&mut Limits)) -> ClientConfig {
    let mut limits = Limits::default();
    set(&mut limits);
    config().limits(limits)
}

pub(crate) fn receipt(id: &str) -> String {
    format!("RECEIPT\nreceipt-id:{id}\n\n\0")
}

/// A MESSAGE with all that any version asks for: subscription, message-id, ack.
pub(crate) fn message(subscription: &str, id: &str) -> String {
    format!(
        "MESSAGE\nsubscription:{subscription}\nmessage-id:{id}\nack:ack-{id}\ndestination:/q\n\nx\0"
    )
}

pub(crate) struct App {
    pub(crate) client: Client<Duration>,
    pub(crate) now: Duration,
}

impl App {
    /// A session whose CONNECT has been taken from the outbox.
    pub(crate) fn new(config: ClientConfig) -> Self {
        let mut app = Self::unwritten(config);
        assert_eq!(app.written().len(), 1, "CONNECT");
        app
    }

    /// A session with CONNECT still to be written.
    pub(crate) fn unwritten(config: ClientConfig) -> Self {
        Self::of(Client::new(config, Duration::ZERO).unwrap())
    }

    pub(crate) fn of(client: Client<Duration>) -> Self {
        Self { client, now: Duration::ZERO }
    }

    /// A session of that version, with nothing to write.
    pub(crate) fn connected(version: Version) -> Self {
        Self::connected_with(config(), version)
    }

    pub(crate) fn connected_with(config: ClientConfig, version: Version) -> Self {
        let mut app = Self::new(config);
        app.feed(format!("CONNECTED\nversion:{version}\n\n\0"));
        assert_eq!(app.told(), [format!("CONNECTED {version}")]);
        app
    }

    /// Octets from the broker.
    pub(crate) fn feed(&mut self, octets: impl AsRef<[u8]>) {
        self.client.receive(octets.as_ref());
    }

    /// The clock moves, and the deadlines that have passed are acted on.
    pub(crate) fn at(&mut self, milliseconds: u64) {
        self.now = ms(milliseconds);
        self.client.handle_timeout(self.now);
    }

    /// The next deadline in milliseconds.
    pub(crate) fn deadline(&self) -> Option<u128> {
        self.client.poll_timeout().map(|deadline| deadline.as_millis())
    }

    pub(crate) fn event(&mut self) -> Option<Event> {
        self.client.poll_event(self.now)
    }

    /// All events that there are, in words.
    pub(crate) fn told(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.event()).map(|event| in_words(&event)).collect()
    }

    /// What comes of these octets, in words.
    pub(crate) fn hears(&mut self, octets: impl AsRef<[u8]>) -> Vec<String> {
        self.feed(octets);
        self.told()
    }

    /// The end that comes of these octets.
    pub(crate) fn ends(&mut self, octets: impl AsRef<[u8]>) -> CloseReason {
        self.feed(octets);
        let Some(Event::Closed(reason)) = self.event() else { panic!("does not end") };
        assert_eq!(self.told(), NOTHING, "the end is the last event");
        reason
    }

    /// The answer to CONNECT, with whatever follows it left to be told.
    pub(crate) fn connects(&mut self, octets: impl AsRef<[u8]>) -> Connected {
        self.feed(octets);
        let Some(Event::Connected(connected)) = self.event() else { panic!("not connected") };
        connected
    }

    /// The only message that there is.
    pub(crate) fn message(&mut self, octets: impl AsRef<[u8]>) -> Message {
        self.feed(octets);
        let Some(Event::Message(message)) = self.event() else { panic!("no message") };
        assert_eq!(self.told(), NOTHING);
        message
    }

    /// What acknowledges the only message that there is.
    pub(crate) fn token(&mut self, octets: impl AsRef<[u8]>) -> AckToken {
        self.message(octets).token().expect("acknowledged by the client")
    }

    /// All that is to be written, frame by frame.
    pub(crate) fn written(&mut self) -> Vec<String> {
        let frames = core::iter::from_fn(|| self.client.outbox().next_frame());
        frames.map(|frame| String::from_utf8(frame.bytes.to_vec()).expect("text")).collect()
    }

    /// Subscribes to `/q`; the SUBSCRIBE has been taken from the outbox.
    pub(crate) fn subscribe(&mut self, id: &str, ack: AckMode) -> SubscriptionId {
        let request = SubscribeRequest::new("/q").id(id).ack(ack);
        let subscription = self.client.subscribe(&request).unwrap();
        assert_eq!(self.written().len(), 1, "SUBSCRIBE");
        subscription
    }

    /// Subscribes under a number; the SUBSCRIBE is still to be written.
    pub(crate) fn subscribe_to(&mut self, destination: &str, ack: AckMode) -> SubscriptionId {
        self.client.subscribe(&SubscribeRequest::new(destination).ack(ack)).unwrap()
    }

    /// DISCONNECT has been taken from the outbox; the receipt that it asks for.
    pub(crate) fn disconnect(&mut self) -> String {
        self.client.disconnect(self.now).unwrap();
        let written = self.written().concat();
        let receipt = written.strip_prefix("DISCONNECT\nreceipt:").unwrap();
        receipt.strip_suffix("\n\n\0").unwrap().to_owned()
    }
}

fn in_words(event: &Event) -> String {
    match event {
        Event::Connected(connected) => format!("CONNECTED {}", connected.version()),
        Event::Message(message) => format!("MESSAGE {}", message.message_id()),
        Event::Receipt(receipt) => format!("RECEIPT {receipt}"),
        Event::UnknownReceipt(receipt) => format!("RECEIPT {receipt}, unknown"),
        Event::Closed(CloseReason::Error { receipt: Some(receipt), .. }) => {
            format!("CLOSED by an ERROR about {receipt}")
        }
        Event::Closed(CloseReason::Error { .. }) => "CLOSED by an ERROR".to_owned(),
        Event::Closed(reason) => format!("CLOSED {reason}"),
    }
}
