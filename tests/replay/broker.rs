//! The scripted application around a `Server`: it plays the broker that was recorded.

use core::time::Duration;

use stomp_proto::frame::{Role, name};
use stomp_proto::server::{
    Accept, ConnectFrame, ConnectReply, Delivery, Event, Failure, LedgerEntry, SubscribeFrame,
    SubscriptionId, Work,
};
use stomp_proto::{
    Agreement, CloseReason, Command, Frame, HeartBeat, Server, ServerConfig, UsageError,
};

use crate::drive::{Application, Record, drive};
use crate::recording::{Recording, header};

type Session = Server<Duration, u64>;

/// What came of a replay.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) record: Record,
    /// The frames that the events were made of, those of a transaction behind its COMMIT.
    pub(crate) frames: Vec<Frame>,
    /// Every ACK and NACK with the deliveries that it settles.
    pub(crate) settled: Vec<(Frame, Vec<u64>)>,
    /// Recorded messages that the session would not take, before it ended.
    pub(crate) undelivered: Vec<(u64, UsageError)>,
    pub(crate) agreement: Agreement,
    pub(crate) closed: Option<CloseReason>,
}

/// Replays what the recorded client sent.
///
/// The dialect is the default, `LENIENT`. The application accepts, confirms and delivers. Deliveries
/// are the recorded broker's, at the time when it made them and under its ids; the ledger has their
/// numbers, counted from 1.
pub(crate) fn replay(recording: &Recording) -> Outcome {
    replay_in(recording, usize::MAX)
}

/// The same in reads of so many octets at the most.
pub(crate) fn replay_in(recording: &Recording, most: usize) -> Outcome {
    let server = Session::new(ServerConfig::default(), Duration::ZERO);
    let mut broker = Broker {
        answer: recording.answer(),
        subscriptions: Vec::new(),
        delivered: 0,
        outcome: Outcome::default(),
    };
    let record = drive(recording, Role::Client, most, server, &mut broker);
    Outcome { record, ..broker.outcome }
}

struct Broker<'a> {
    /// What the recorded broker answered CONNECT with.
    answer: &'a Frame,
    /// In the order in which they came.
    subscriptions: Vec<Subscription>,
    delivered: u64,
    outcome: Outcome,
}

struct Subscription {
    handle: SubscriptionId,
    /// The id that the client gave.
    id: Option<String>,
    destination: String,
}

impl Application<Session> for Broker<'_> {
    fn handle(&mut self, server: &mut Session, event: Event<u64>, _: Duration) -> String {
        assert_eq!(self.outcome.closed, None, "nothing comes after the end");
        let (line, reply) = match event {
            Event::Connect { frame, reply } => return self.connect(server, &frame, reply),
            Event::Closed { reason, open } => return self.close(reason, &open),
            Event::Send { frame, reply } => (self.note(frame.as_frame()), reply),
            Event::Subscribe { frame, reply } => (self.subscribe(&frame), reply),
            Event::Unsubscribe { frame, reply } => {
                self.note(frame.as_frame());
                (format!("UNSUBSCRIBE {}", self.called(frame.subscription())), reply)
            }
            Event::Ack { frame, deliveries, reply } | Event::Nack { frame, deliveries, reply } => {
                (self.settle(frame.as_frame(), frame.subscription(), &deliveries), reply)
            }
            Event::Commit { transaction, work, reply } => (self.commit(&transaction, work), reply),
            Event::Disconnect { frame, reply } => (self.note(&frame), reply),
        };
        server.confirm(reply).expect("confirmed");
        line
    }

    /// Delivers the MESSAGEs among what the recorded broker wrote.
    fn act(&mut self, server: &mut Session, frames: &[Frame], _: Duration) {
        for message in frames.iter().filter(|frame| frame.command() == Command::Message) {
            self.delivered += 1;
            if self.outcome.closed.is_none() {
                if let Err(error) = self.deliver(server, message) {
                    self.outcome.undelivered.push((self.delivered, error));
                }
            }
        }
    }
}

impl Broker<'_> {
    /// Lets the client in, or not, as the recorded broker did.
    fn connect(
        &mut self,
        server: &mut Session,
        frame: &ConnectFrame,
        reply: ConnectReply,
    ) -> String {
        let answer = self.answer;
        if answer.command() == Command::Error {
            let failure = Failure::new(header(answer, name::MESSAGE).unwrap_or_default());
            server.fail(reply, &failure).expect("failed");
        } else {
            let mut accept = Accept::new(header(answer, name::SESSION).unwrap_or_default());
            if let Some(server) = answer.header(name::SERVER) {
                accept = accept.server(server);
            }
            if let Some(heart_beat) = answer.header(name::HEART_BEAT) {
                accept = accept.heart_beat(HeartBeat::parse(&heart_beat).expect("two numbers"));
            }
            server.accept(reply, &accept).expect("accepted");
            self.outcome.agreement = server.heart_beat();
        }
        self.note(frame.as_frame());
        let (command, version) = (frame.as_frame().command(), frame.version());
        let host = frame.host().map(|host| format!(" host={host}")).unwrap_or_default();
        format!("{command} {version}{host} heart-beat={}", frame.heart_beat())
    }

    fn close(&mut self, reason: CloseReason, open: &[LedgerEntry<u64>]) -> String {
        let line = format!("CLOSED {reason}, open {:?}", values(open));
        self.outcome.closed = Some(reason);
        line
    }

    fn subscribe(&mut self, frame: &SubscribeFrame) -> String {
        let id = header(frame.as_frame(), name::ID);
        let (handle, destination) = (frame.subscription(), frame.destination().into_owned());
        self.note(frame.as_frame());
        self.subscriptions.push(Subscription { handle, id, destination });
        format!("SUBSCRIBE {} {} {}", self.called(handle), frame.destination(), frame.mode())
    }

    fn commit(&mut self, transaction: &str, work: Vec<Work<u64>>) -> String {
        let frame = Frame::builder(Command::Commit).header(name::TRANSACTION, transaction);
        self.outcome.frames.push(frame.build());
        let mut parts = vec![format!("COMMIT {transaction}")];
        for work in work {
            parts.push(match work {
                Work::Send(frame) => self.note(frame.as_frame()),
                Work::Ack { frame, deliveries } | Work::Nack { frame, deliveries } => {
                    self.settle(frame.as_frame(), frame.subscription(), &deliveries)
                }
            });
        }
        parts.join("; ")
    }

    fn settle(
        &mut self,
        frame: &Frame,
        of: SubscriptionId,
        entries: &[LedgerEntry<u64>],
    ) -> String {
        assert!(entries.iter().all(|entry| entry.subscription == of), "{entries:?}");
        self.note(frame);
        self.outcome.settled.push((frame.clone(), values(entries)));
        format!("{} {} {:?}", frame.command(), self.called(of), values(entries))
    }

    /// Keeps the frame of an event; what there is to say of it alone.
    fn note(&mut self, frame: &Frame) -> String {
        self.outcome.frames.push(frame.clone());
        match frame.header(name::DESTINATION) {
            Some(destination) if frame.command() == Command::Send => {
                format!("SEND {destination} \"{}\"", frame.body().escape_ascii())
            }
            _ => frame.command().to_string(),
        }
    }

    /// What the client calls a subscription.
    fn called(&self, handle: SubscriptionId) -> &str {
        let mut known = self.subscriptions.iter();
        let subscription = known.find(|it| it.handle == handle).expect("one that was told of");
        subscription.id.as_deref().unwrap_or("without-id")
    }

    fn deliver(&self, server: &mut Session, message: &Frame) -> Result<(), UsageError> {
        let receiver = self.receiver(message).ok_or(UsageError::UnknownSubscription)?;
        let destination = header(message, name::DESTINATION).unwrap_or_default();
        let mut delivery = Delivery::builder(destination).body(message.body().clone());
        for header in message.headers().iter() {
            delivery = match &*header.name() {
                name::MESSAGE_ID => delivery.message_id(&header.value()),
                name::ACK => delivery.ack_id(&header.value()),
                name => delivery.header(name, header.value()),
            };
        }
        let delivered = server.deliver(receiver, &delivery.build(), self.delivered);
        delivered.map(|_| ()).map_err(|refused| refused.error)
    }

    /// The newest subscription of the id that a MESSAGE names or, on 1.0, of its destination.
    fn receiver(&self, message: &Frame) -> Option<SubscriptionId> {
        let id = message.header(name::SUBSCRIPTION);
        let destination = message.header(name::DESTINATION).unwrap_or_default();
        let mut subscriptions = self.subscriptions.iter().rev();
        let receiver = subscriptions.find(|it| match &id {
            Some(id) => it.id.as_deref() == Some(id),
            None => it.destination == destination,
        });
        receiver.map(|receiver| receiver.handle)
    }
}

fn values(entries: &[LedgerEntry<u64>]) -> Vec<u64> {
    entries.iter().map(|entry| entry.value).collect()
}
