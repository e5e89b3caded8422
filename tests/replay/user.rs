//! The scripted application around a `Client`: it asks for what the recorded client asked for.

use core::time::Duration;

use stomp_proto::client::{
    AckMode, AckRequest, AckToken, ConnectCommand, Event, Message, SubscribeRequest,
    SubscriptionId, VersionMismatch,
};
use stomp_proto::frame::{Role, name};
use stomp_proto::{
    Agreement, Client, ClientConfig, CloseReason, Command, EmptyAcceptVersion, Frame, HeartBeat,
    UsageError, Version, VersionSet,
};

use crate::drive::{Application, Record, drive};
use crate::recording::{Recording, header};

type Session = Client<Duration>;

/// What came of a replay.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) record: Record,
    /// The frames that the events were made of; of a RECEIPT its id alone.
    pub(crate) frames: Vec<Frame>,
    pub(crate) received: Vec<Received>,
    /// What the recorded client sent and this one would not.
    pub(crate) refused: Vec<(Command, UsageError)>,
    pub(crate) agreement: Agreement,
    pub(crate) closed: Option<CloseReason>,
}

/// A MESSAGE.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) message: Message,
    /// What it came for.
    pub(crate) subscription: Option<Subscription>,
}

#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    handle: SubscriptionId,
    /// The id that the recorded client gave.
    pub(crate) id: Option<String>,
    pub(crate) destination: String,
    pub(crate) mode: AckMode,
}

/// A client that is set up as the recorded one was.
pub(crate) fn config_of(recording: &Recording) -> ClientConfig {
    let connect = recording.connect();
    let offer = connect.header(name::ACCEPT_VERSION);
    // `aiostomp` names no host, not even on 1.1. This client has to.
    let host = header(connect, name::HOST).unwrap_or_else(|| "no-host".to_owned());
    let mut config = ClientConfig::new(host)
        .versions(VersionSet::accepted(offer.as_deref(), EmptyAcceptVersion::Means1_0))
        .connect_command(match connect.command() {
            Command::Stomp => ConnectCommand::Stomp,
            _ => ConnectCommand::Connect,
        });
    if let Some(login) = connect.header(name::LOGIN) {
        config = config.login(login);
    }
    if let Some(passcode) = connect.header(name::PASSCODE) {
        config = config.passcode(passcode);
    }
    if let Some(heart_beat) = connect.header(name::HEART_BEAT) {
        config = config.heart_beat(HeartBeat::parse(&heart_beat).expect("two numbers"));
    }
    if recording.capture.ends_with("stompbrokerjs") {
        // It answers 1.1 to everybody (requirement C-025).
        config = config.version_mismatch(VersionMismatch::Allowed);
    }
    config
}

/// Replays what the recorded broker sent.
///
/// The application subscribes, acknowledges and leaves through the API; what it cannot say there in
/// the recorded words, transactions and receipts above all, it sends as frames of its own.
pub(crate) fn replay(recording: &Recording) -> Outcome {
    replay_with(recording, config_of(recording), usize::MAX)
}

/// The same to a client that is set up like that, in reads of so many octets at the most.
pub(crate) fn replay_with(recording: &Recording, config: ClientConfig, most: usize) -> Outcome {
    let client = Client::new(config, Duration::ZERO).expect("a client");
    let mut user =
        User { waiting: Vec::new(), subscriptions: Vec::new(), outcome: Outcome::default() };
    let record = drive(recording, Role::Server, most, client, &mut user);
    Outcome { record, ..user.outcome }
}

struct User {
    /// What the recorded client sent before it saw CONNECTED. This one has to wait for it.
    waiting: Vec<Frame>,
    /// In the order in which they came.
    subscriptions: Vec<Subscription>,
    outcome: Outcome,
}

impl Application<Session> for User {
    fn handle(&mut self, client: &mut Session, event: Event, now: Duration) -> String {
        assert_eq!(self.outcome.closed, None, "nothing comes after the end");
        match event {
            Event::Connected(connected) => {
                self.outcome.agreement = connected.heart_beat();
                self.outcome.frames.push(connected.as_frame().clone());
                let waiting = core::mem::take(&mut self.waiting);
                self.act(client, &waiting, now);
                let server = connected.server().map(|server| format!(" server={server}"));
                format!("CONNECTED {}{}", connected.version(), server.unwrap_or_default())
            }
            Event::Message(message) => self.receive(message),
            Event::Receipt(receipt) => self.receipt(&receipt.to_string()),
            Event::UnknownReceipt(receipt_id) => self.receipt(&receipt_id),
            Event::Closed(reason) => self.close(reason),
        }
    }

    /// Asks for what the recorded client asked for.
    fn act(&mut self, client: &mut Session, frames: &[Frame], now: Duration) {
        // Of CONNECT the session takes care.
        let opens = |frame: &&Frame| matches!(frame.command(), Command::Connect | Command::Stomp);
        let frames = frames.iter().filter(|frame| !opens(frame));
        if client.version().is_none() {
            return self.waiting.extend(frames.cloned());
        }
        for frame in frames {
            let asked = match frame.command() {
                Command::Subscribe => self.subscribe(client, frame),
                Command::Unsubscribe => self.unsubscribe(client, frame),
                Command::Ack | Command::Nack => self.acknowledge(client, frame),
                Command::Disconnect => client.disconnect(now),
                _ => client.send_frame(frame),
            };
            if let Err(error) = asked {
                self.outcome.refused.push((frame.command(), error));
            }
        }
    }
}

impl User {
    fn receive(&mut self, message: Message) -> String {
        let mut subscriptions = self.subscriptions.iter();
        let subscription = subscriptions.find(|it| Some(it.handle) == message.subscription());
        let subscription = subscription.cloned();
        let of = match &subscription {
            Some(Subscription { id: Some(id), .. }) => id,
            Some(_) => "without-id",
            None => "of-none",
        };
        let by_client = if message.token().is_some() { " to-acknowledge" } else { "" };
        let line = format!("MESSAGE {of}{by_client} \"{}\"", message.body().escape_ascii());
        self.outcome.frames.push(message.as_frame().clone());
        self.outcome.received.push(Received { message, subscription });
        line
    }

    fn receipt(&mut self, receipt_id: &str) -> String {
        let frame = Frame::builder(Command::Receipt).header(name::RECEIPT_ID, receipt_id);
        self.outcome.frames.push(frame.build());
        format!("RECEIPT {receipt_id}")
    }

    fn close(&mut self, reason: CloseReason) -> String {
        let line = format!("CLOSED {reason}");
        if let CloseReason::Error { frame, .. } = &reason {
            self.outcome.frames.push((**frame).clone());
        }
        self.outcome.closed = Some(reason);
        line
    }

    fn subscribe(&mut self, client: &mut Session, frame: &Frame) -> Result<(), UsageError> {
        let (id, destination) = (header(frame, name::ID), header(frame, name::DESTINATION));
        let destination = destination.unwrap_or_default();
        let mode = match frame.header(name::ACK) {
            None => Some(AckMode::Auto),
            Some(mode) => AckMode::parse(&mode),
        };
        // A mode that there is not, no request can ask for.
        let Some(mode) = mode else { return client.send_frame(frame) };
        let headers = headers_but(frame, &[name::ID, name::DESTINATION, name::ACK]);
        let mut request = SubscribeRequest::new(&destination).ack(mode);
        if let Some(id) = &id {
            request = request.id(id);
        }
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        let handle = client.subscribe(&request)?;
        drop(request);
        self.subscriptions.push(Subscription { handle, id, destination, mode });
        Ok(())
    }

    fn unsubscribe(&self, client: &mut Session, frame: &Frame) -> Result<(), UsageError> {
        let (id, destination) = (header(frame, name::ID), header(frame, name::DESTINATION));
        let mut subscriptions = self.subscriptions.iter().rev();
        let subscription = subscriptions.find(|it| match &id {
            Some(_) => it.id == id,
            None => Some(&it.destination) == destination.as_ref(),
        });
        match subscription {
            Some(subscription) => client.unsubscribe(subscription.handle),
            None => client.send_frame(frame),
        }
    }

    fn acknowledge(&self, client: &mut Session, frame: &Frame) -> Result<(), UsageError> {
        let token = client.version().and_then(|version| self.token(version, frame));
        let Some(token) = token else { return client.send_frame(frame) };
        let headers = headers_but(frame, &[name::ID, name::SUBSCRIPTION, name::MESSAGE_ID]);
        let mut request = AckRequest::new(&token);
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        match frame.command() {
            Command::Nack => client.nack(request),
            _ => client.ack(request),
        }
    }

    /// The token of the message that a recorded ACK or NACK is about.
    fn token(&self, version: Version, frame: &Frame) -> Option<AckToken> {
        let (ours, theirs) = match version {
            Version::V1_0 | Version::V1_1 => (name::MESSAGE_ID, name::MESSAGE_ID),
            Version::V1_2 => (name::ID, name::ACK),
        };
        let id = frame.header(ours)?;
        let mut messages = self.outcome.received.iter().map(|received| &received.message);
        messages.find(|message| message.headers().get(theirs).as_ref() == Some(&id))?.token()
    }
}

/// The headers of a recorded frame that its client added to those that a request has anyway.
fn headers_but(frame: &Frame, own: &[&str]) -> Vec<(String, String)> {
    // A receipt is the session's to name, and Ruby's client counts the octets of no body.
    let never = [name::RECEIPT, name::CONTENT_LENGTH];
    let headers = frame.headers().iter();
    let headers = headers.map(|header| (header.name().into_owned(), header.value().into_owned()));
    headers.filter(|(name, _)| !own.contains(&&**name) && !never.contains(&&**name)).collect()
}
