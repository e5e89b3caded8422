//! The states of a session, and what each frame from the broker does in them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Client;
use super::event::{Connected, Event};
use super::message::Facts;
use super::receipts::ReceiptId;
use super::subscriptions::SubscriptionId;
use crate::codec::{EncodeError, HeadWriter};
use crate::frame::escape::Escapes;
use crate::frame::{Form, Text, name};
use crate::session::{CloseReason, HeartBeat, Instant, ProtocolError, UsageError};
use crate::{Command, Frame, Headers, Version};

/// How far a session has come, until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// CONNECT was queued.
    Connecting,
    /// CONNECTED has come.
    Connected(Version),
    /// DISCONNECT was queued. Its receipt ends the session.
    Disconnecting(Version, ReceiptId),
}

impl State {
    /// The version that was agreed.
    pub(super) fn version(self) -> Option<Version> {
        match self {
            Self::Connecting => None,
            Self::Connected(version) | Self::Disconnecting(version, _) => Some(version),
        }
    }

    /// The version under which a request may be written.
    pub(super) fn ready(self) -> Result<Version, UsageError> {
        match self {
            Self::Connected(version) => Ok(version),
            Self::Connecting | Self::Disconnecting(..) => Err(UsageError::NotConnected),
        }
    }
}

impl<I: Instant> Client<I> {
    /// What a MESSAGE is about, if it has a place in this state.
    #[inline]
    pub(super) fn examine(&self, message: Headers<'_>) -> Result<Facts, ProtocolError> {
        match self.state.version() {
            Some(version) => Facts::of(message, version, &self.subscriptions),
            None => Err(ProtocolError::UnexpectedFrame(Command::Message)),
        }
    }

    /// What a frame other than MESSAGE means.
    #[cold]
    pub(super) fn handle_frame(&mut self, frame: Frame) -> Event {
        let event = match (frame.command(), self.state.version()) {
            (Command::Receipt, Some(_)) => self.handle_receipt(&frame),
            (Command::Error, version) => Ok(self.handle_error(frame, version)),
            (Command::Connected, None) => self.handle_connected(frame),
            (command, _) => Err(ProtocolError::UnexpectedFrame(command)),
        };
        event.unwrap_or_else(|error| Event::Closed(CloseReason::Protocol(error)))
    }

    #[cold]
    fn handle_connected(&mut self, mut frame: Frame) -> Result<Event, ProtocolError> {
        let command = Command::Connected;
        let version = self.terms.version(&frame)?;
        if version == Version::V1_0 {
            // It was read before the version was known.
            frame.reread(Form::Padded);
            frame.drop_body();
        } else if !frame.body().is_empty() {
            return Err(ProtocolError::UnexpectedBody(command));
        }
        let theirs = match frame.header(name::HEART_BEAT) {
            None => HeartBeat::NONE,
            Some(value) => HeartBeat::parse(&value)
                .ok_or(ProtocolError::InvalidHeader { command, name: name::HEART_BEAT })?,
        };
        // What lies behind it in the inbox already follows the new rules.
        self.link.connected(version, self.terms.heart_beat, theirs);
        let heart_beat = self.link.agreement();
        self.state = State::Connected(version);
        let not_renewed = self.renew_subscriptions(version);
        Ok(Event::Connected(Connected::new(frame, version, heart_beat, not_renewed)))
    }

    /// Queues SUBSCRIBE for what lived in the session before; those that cannot be written end.
    fn renew_subscriptions(&mut self, version: Version) -> Vec<SubscriptionId> {
        let mut not_renewed = Vec::new();
        for subscription in self.subscriptions.live() {
            let write = |out: &mut _| -> Result<(), EncodeError> {
                let mut head = HeadWriter::new(out, Command::Subscribe, version);
                subscription.write(&mut head)?;
                head.finish();
                Ok(())
            };
            if self.link.queue(write, &[]).is_err() {
                not_renewed.push(subscription.id());
            }
        }
        for id in &not_renewed {
            self.subscriptions.end(*id, 0);
        }
        not_renewed
    }

    /// How the session ends when the broker's stream does.
    #[cold]
    pub(super) fn end_of_stream(&self, reason: CloseReason) -> CloseReason {
        match (reason, self.state) {
            // STOMP 1.2, "Connection Lingering": the broker may close so fast that its last RECEIPT
            // is lost.
            (CloseReason::Eof, State::Disconnecting(..)) => CloseReason::Disconnected,
            (reason, _) => reason,
        }
    }

    fn handle_receipt(&mut self, frame: &Frame) -> Result<Event, ProtocolError> {
        let missing =
            ProtocolError::MissingHeader { command: Command::Receipt, name: name::RECEIPT_ID };
        let receipt_id = frame.headers().find(name::RECEIPT_ID).ok_or(missing)?;
        let octets = receipt_id.value_octets();
        Ok(match (self.receipts.settle(&octets), self.state) {
            (Some(receipt), _) => Event::Receipt(receipt),
            (None, State::Disconnecting(_, last)) if self.receipts.drawn(&octets) == Some(last) => {
                Event::Closed(CloseReason::Disconnected)
            }
            (None, _) => Event::UnknownReceipt(Text::new(&receipt_id.value())),
        })
    }

    /// An ERROR ends the session in every version: not every broker closes, but none promises to go
    /// on (STOMP 1.2, "ERROR").
    #[cold]
    fn handle_error(&mut self, mut frame: Frame, version: Option<Version>) -> Event {
        if version.is_none() {
            // No text says which escapes hold. A second error about the first would help nobody, so
            // undefined ones stay as they are.
            let escapes = Escapes::of(Some(self.terms.highest()), Command::Error);
            frame.reread(match self.terms.highest() {
                Version::V1_0 => Form::Padded,
                Version::V1_1 | Version::V1_2 => Form::Escaped(escapes),
            });
        }
        let receipt_id = frame.headers().find(name::RECEIPT_ID);
        let receipt = receipt_id.and_then(|it| self.receipts.settle(&it.value_octets()));
        Event::Closed(CloseReason::Error { frame: Box::new(frame), receipt })
    }
}
