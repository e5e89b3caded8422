//! What a server does with each frame of the client.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::event::Settlement;
use super::ledger::{Found, Index};
use super::reply::Answers;
use super::state::{Handshake, State};
use super::subscriptions::WireId;
use super::transactions::Held;
use super::{
    AckFrame, AckScope, ConnectFrame, ConnectReply, Event, HeartBeatOn1_0, Reply, SendFrame,
    Server, SubscribeFrame, UnsubscribeFrame, Work,
};
use crate::codec::{DecodeError, DecodeErrorKind};
use crate::frame::{AckMode, Form, Text, name};
use crate::session::Timer;
use crate::{
    Bound, Command, Foreign, Frame, HeartBeat, Instant, Limit, ProtocolError, Version, VersionSet,
};

/// What the client did wrong, and the receipt that its frame asked for.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: ProtocolError,
    pub(super) receipt: Option<Text>,
}

impl From<ProtocolError> for Fault {
    fn from(error: ProtocolError) -> Self {
        Self { error, receipt: None }
    }
}

impl<I: Instant, T> Server<I, T> {
    /// Does what a frame asks for. `None`: nothing that the application needs to know of.
    pub(super) fn handle(&mut self, frame: Frame) -> Result<Option<Event<T>>, Fault> {
        match (self.state, frame.command()) {
            (State::AwaitConnect, Command::Connect | Command::Stomp) => {
                Ok(Some(self.connect(frame)?))
            }
            (State::Connected(version), _) => {
                let receipt = frame.headers().find(name::RECEIPT).map(raw_text);
                self.request(version, frame, receipt.as_ref())
                    .map_err(|error| Fault { error, receipt })
            }
            (State::AwaitConnect, command) => Err(ProtocolError::NotConnected(command).into()),
            (_, command) => Err(ProtocolError::UnexpectedFrame(command).into()),
        }
    }

    /// What can be held against a frame that is not whole yet: before login nothing but CONNECT is
    /// worth waiting for.
    pub(super) fn early_fault(&self) -> Option<Fault> {
        if self.state != State::AwaitConnect {
            return None;
        }
        match self.link.incoming_command()? {
            Command::Connect | Command::Stomp => None,
            command => Some(ProtocolError::NotConnected(command).into()),
        }
    }

    /// The other protocol that the octets are of which start no command.
    pub(super) fn foreign(&mut self, error: &ProtocolError) -> Option<ProtocolError> {
        const HTTP: [&[u8]; 8] =
            [b"GET ", b"POST ", b"PUT ", b"HEAD ", b"OPTIONS ", b"PATCH ", b"DELETE ", b"TRACE "];
        let is_unknown = matches!(
            error,
            ProtocolError::Decode(DecodeError { kind: DecodeErrorKind::UnknownCommand, .. })
        );
        if self.state != State::AwaitConnect || !is_unknown {
            return None;
        }
        let start = self.link.unread();
        // A method that is cut off counts as well.
        let is = |method: &&[u8]| start.starts_with(method) || method.starts_with(start);
        match start.first()? {
            // The record type of a TLS handshake.
            0x16 => Some(ProtocolError::Foreign(Foreign::Tls)),
            _ if HTTP.iter().any(is) => Some(ProtocolError::Foreign(Foreign::Http)),
            _ => None,
        }
    }

    fn connect(&mut self, mut frame: Frame) -> Result<Event<T>, ProtocolError> {
        let (command, dialect) = (frame.command(), self.dialect);
        let theirs = VersionSet::accepted(
            frame.header(name::ACCEPT_VERSION).as_deref(),
            dialect.empty_accept_version,
        );
        let common = theirs.intersection(self.open_versions).highest();
        let version = common.ok_or(ProtocolError::NoCommonVersion(theirs))?;
        match version {
            // Only now can it be known to pad its values.
            Version::V1_0 => {
                frame.reread(Form::Padded);
                frame.drop_body();
            }
            _ if !frame.body().is_empty() => return Err(ProtocolError::UnexpectedBody(command)),
            _ if frame.header(name::HOST).is_none() && !dialect.missing_host.accepts() => {
                return Err(ProtocolError::MissingHeader { command, name: name::HOST });
            }
            _ => {}
        }
        let heart_beat = self.offered_heart_beat(version, &frame)?;
        self.link.answered(Timer::Connect);
        self.state = State::Answering(Handshake { version, heart_beat });
        let heart_beat = heart_beat.unwrap_or_default();
        let frame = ConnectFrame { frame, version, heart_beat };
        Ok(Event::Connect { frame, reply: ConnectReply(()) })
    }

    /// What the client says about heart-beats; `None`: they are not spoken of.
    fn offered_heart_beat(
        &self,
        version: Version,
        frame: &Frame,
    ) -> Result<Option<HeartBeat>, ProtocolError> {
        let value = match (version, self.dialect.heart_beat_on_1_0) {
            (Version::V1_0, HeartBeatOn1_0::Ignore) => return Ok(None),
            _ => frame.header(name::HEART_BEAT),
        };
        let (command, name) = (frame.command(), name::HEART_BEAT);
        match value {
            Some(value) => match HeartBeat::parse(&value) {
                Some(heart_beat) => Ok(Some(heart_beat)),
                None => Err(ProtocolError::InvalidHeader { command, name }),
            },
            None if version == Version::V1_0 => Ok(None),
            None => Ok(Some(HeartBeat::NONE)),
        }
    }

    fn request(
        &mut self,
        version: Version,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        match frame.command() {
            Command::Send => self.send(frame, receipt),
            Command::Subscribe => self.subscribe(version, frame, receipt).map(Some),
            Command::Unsubscribe => self.unsubscribe(version, frame, receipt).map(Some),
            Command::Ack => self.settle(version, Settlement::Ack, frame, receipt),
            Command::Nack => self.settle(version, Settlement::Nack, frame, receipt),
            Command::Begin => {
                let transaction = Text::new(&required(&frame, name::TRANSACTION)?);
                self.transactions.begin(transaction, self.link.limits())?;
                self.receipt(receipt);
                Ok(None)
            }
            Command::Abort => {
                let held = self.transactions.end(&required(&frame, name::TRANSACTION)?)?;
                self.give_back(&held);
                self.receipt(receipt);
                Ok(None)
            }
            Command::Commit => self.commit(&frame, receipt).map(Some),
            Command::Disconnect => {
                // STOMP 1.2, "BEGIN": open transactions are aborted.
                let held: Vec<_> = self.transactions.end_all().collect();
                self.give_back(&held);
                self.state = State::Closing(version);
                self.link.stop_listening();
                Ok(Some(Event::Disconnect { frame, reply: reply(receipt, Answers::Disconnect) }))
            }
            command => Err(ProtocolError::UnexpectedFrame(command)),
        }
    }

    fn send(
        &mut self,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        destination(&frame)?;
        let Some(transaction) = self.transaction(&frame)? else {
            let reply = reply(receipt, Answers::Other);
            return Ok(Some(Event::Send { frame: SendFrame { frame }, reply }));
        };
        self.transactions.check_room(&transaction, frame.octets(), self.link.limits())?;
        self.transactions.hold(&transaction, Held::Send(frame.to_compact()));
        self.receipt(receipt);
        Ok(None)
    }

    fn subscribe(
        &mut self,
        version: Version,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Event<T>, ProtocolError> {
        let (command, dialect) = (Command::Subscribe, self.dialect);
        let destination = Text::new(&destination(&frame)?);
        let id = frame.headers().find(name::ID);
        let is_empty = id.is_some_and(|id| id.raw_value().is_empty());
        let is_missing = id.is_none() || (is_empty && !dialect.empty_subscription_id.accepts());
        if is_missing && version != Version::V1_0 {
            return Err(ProtocolError::MissingHeader { command, name: name::ID });
        }
        let mode = match frame.header(name::ACK) {
            Some(mode) => AckMode::parse(&mode),
            None => Some(AckMode::Auto),
        };
        let mode = mode.filter(|mode| {
            let is_later = *mode == AckMode::ClientIndividual && version == Version::V1_0;
            !is_later || dialect.client_individual_on_1_0.accepts()
        });
        let mode = mode.ok_or(ProtocolError::InvalidHeader { command, name: name::ACK })?;
        let most = self.link.limits().max_subscriptions;
        if self.subscriptions.len() >= most {
            return Err(ProtocolError::LimitExceeded(Limit { what: Bound::Subscriptions, most }));
        }
        let id = id.map(|id| WireId { text: Text::new(&id.value()), raw: raw_text(id) });
        let subscription = self.subscriptions.insert(id, destination, mode);
        let subscription = subscription.ok_or(ProtocolError::DuplicateSubscription)?;
        let reply = reply(receipt, Answers::Subscribe(subscription));
        Ok(Event::Subscribe { frame: SubscribeFrame { frame, subscription, mode }, reply })
    }

    fn unsubscribe(
        &mut self,
        version: Version,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Event<T>, ProtocolError> {
        let subscription = match (frame.header(name::ID), version) {
            (Some(id), _) => self.subscriptions.by_id(&id),
            (None, Version::V1_0) => {
                self.subscriptions.by_destination(&required(&frame, name::DESTINATION)?)
            }
            (None, _) => {
                let (command, name) = (Command::Unsubscribe, name::ID);
                return Err(ProtocolError::MissingHeader { command, name });
            }
        };
        let subscription = subscription.ok_or(ProtocolError::UnknownSubscription)?;
        self.subscriptions.end(subscription);
        let frame = UnsubscribeFrame { frame, subscription };
        Ok(Event::Unsubscribe { frame, reply: reply(receipt, Answers::Other) })
    }

    /// ACK or NACK.
    fn settle(
        &mut self,
        version: Version,
        settlement: Settlement,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        let dialect = self.dialect;
        let is_later = settlement == Settlement::Nack && version == Version::V1_0;
        if is_later && !dialect.nack_on_1_0.accepts() {
            return Err(ProtocolError::UnexpectedFrame(Command::Nack));
        }
        let found = self.acknowledged(version, &frame)?;
        let transaction = self.transaction(&frame)?;
        let index = match found {
            Found::Open(index) => index,
            Found::Settled if dialect.ack_of_settled.accepts() => {
                self.receipt(receipt);
                return Ok(None);
            }
            Found::Settled | Found::Never => return Err(ProtocolError::UnknownDelivery),
        };
        let subscription = self.ledger.subscription(index);
        let subscription = subscription.ok_or(ProtocolError::UnknownDelivery)?;
        let deliveries = self.covered(version, index);
        let Some(transaction) = transaction else {
            let deliveries = self.take(&deliveries);
            let frame = AckFrame { frame, subscription };
            let reply = reply(receipt, Answers::Other);
            return Ok(Some(settlement.event(frame, deliveries, reply)));
        };
        self.transactions.check_room(&transaction, frame.octets(), self.link.limits())?;
        for delivery in &deliveries {
            self.ledger.hold(*delivery);
        }
        let frame = AckFrame { frame: frame.to_compact(), subscription };
        self.transactions.hold(&transaction, Held::Settle { settlement, frame, deliveries });
        self.receipt(receipt);
        Ok(None)
    }

    /// The delivery that an ACK or NACK names, in the form of its version.
    fn acknowledged(&self, version: Version, frame: &Frame) -> Result<Found, ProtocolError> {
        if version == Version::V1_2 {
            return Ok(self.ledger.find_by_ack_id(&required(frame, name::ID)?));
        }
        let message_id = required(frame, name::MESSAGE_ID)?;
        let subscription = match (version, frame.header(name::SUBSCRIPTION)) {
            (Version::V1_0, _) => None,
            (_, Some(subscription)) => Some(subscription),
            (_, None) if self.dialect.ack_without_subscription.accepts() => None,
            (_, None) => {
                let (command, name) = (frame.command(), name::SUBSCRIPTION);
                return Err(ProtocolError::MissingHeader { command, name });
            }
        };
        Ok(match subscription {
            // The subscription that has that id comes before those that had it.
            Some(id) => self
                .ledger
                .find_by_message_id(&message_id, |of, _| self.subscriptions.rank(of, &id)),
            // The oldest.
            None => {
                self.ledger.find_by_message_id(&message_id, |_, tag| Some(core::cmp::Reverse(tag)))
            }
        })
    }

    /// All that an ACK or NACK of a delivery settles.
    fn covered(&self, version: Version, index: Index) -> Vec<Index> {
        let subscription = self.ledger.subscription(index);
        let subscription = subscription.and_then(|handle| self.subscriptions.get(handle));
        let is_cumulative = |mode: AckMode| {
            let scope = self.dialect.ack_on_1_0;
            mode == AckMode::Client && (version != Version::V1_0 || scope == AckScope::Cumulative)
        };
        match subscription {
            Some(subscription) if is_cumulative(subscription.mode) => {
                self.ledger.up_to(&subscription.deliveries, Some(index))
            }
            _ => [index].into(),
        }
    }

    fn commit(&mut self, frame: &Frame, receipt: Option<&Text>) -> Result<Event<T>, ProtocolError> {
        let transaction = Text::new(&required(frame, name::TRANSACTION)?);
        let held = self.transactions.end(&transaction)?;
        let mut work = Vec::with_capacity(held.len());
        for held in held {
            work.push(match held {
                Held::Send(frame) => Work::Send(SendFrame { frame }),
                Held::Settle { settlement, frame, deliveries } => {
                    settlement.work(frame, self.take(&deliveries))
                }
            });
        }
        Ok(Event::Commit { transaction, work, reply: reply(receipt, Answers::Other) })
    }

    /// Makes the deliveries open again that an aborted transaction settled.
    fn give_back(&mut self, held: &[Held]) {
        for held in held {
            if let Held::Settle { deliveries, .. } = held {
                for delivery in deliveries {
                    self.ledger.let_go(*delivery);
                }
            }
        }
    }

    /// The open transaction that a SEND, ACK or NACK belongs to.
    fn transaction(&self, frame: &Frame) -> Result<Option<Text>, ProtocolError> {
        match frame.header(name::TRANSACTION) {
            Some(transaction) if self.transactions.is_open(&transaction) => {
                Ok(Some(Text::new(&transaction)))
            }
            Some(_) => Err(ProtocolError::UnknownTransaction),
            None => Ok(None),
        }
    }
}

fn required<'a>(frame: &'a Frame, name: &'static str) -> Result<Cow<'a, str>, ProtocolError> {
    let missing = ProtocolError::MissingHeader { command: frame.command(), name };
    frame.header(name).ok_or(missing)
}

/// The destination, which is there and not empty.
fn destination(frame: &Frame) -> Result<Cow<'_, str>, ProtocolError> {
    let destination = required(frame, name::DESTINATION)?;
    if destination.is_empty() {
        let (command, name) = (frame.command(), name::DESTINATION);
        return Err(ProtocolError::InvalidHeader { command, name });
    }
    Ok(destination)
}

fn reply(receipt: Option<&Text>, answers: Answers) -> Reply {
    Reply { receipt: receipt.cloned(), answers }
}

/// The value of a header as the client wrote it.
fn raw_text(header: crate::frame::Header<'_>) -> Text {
    Text::new(core::str::from_utf8(header.raw_value()).unwrap_or_default())
}
