//! What a server does with each frame of the client: on to the file of its kind.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::event::Settlement;
use super::reply::Answers;
use super::state::State;
use super::{Event, Reply, Server};
use crate::frame::{Text, name};
use crate::{Command, Frame, Instant, ProtocolError, Version};

/// What the client did wrong, and the receipt that its frame asked for.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: ProtocolError,
    pub(super) receipt: Option<Text>,
    /// The frame, if there are other words for what is wrong with it.
    pub(super) frame: Option<Box<Frame>>,
}

impl From<ProtocolError> for Fault {
    fn from(error: ProtocolError) -> Self {
        Self { error, receipt: None, frame: None }
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
                let receipt = frame
                    .headers()
                    .find(name::RECEIPT)
                    .map(|receipt| raw_text(receipt.raw_value()));
                let kept = self.wording.map(|_| frame.clone());
                self.request(version, frame, receipt.as_ref()).map_err(|error| Fault {
                    error,
                    receipt,
                    frame: kept.map(Box::new),
                })
            }
            (State::AwaitConnect, command) => Err(ProtocolError::NotConnected(command).into()),
            (_, command) => Err(ProtocolError::UnexpectedFrame(command).into()),
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
            Command::Begin => self.begin(&frame, receipt),
            Command::Abort => self.abort(version, &frame, receipt),
            Command::Commit => self.commit(&frame, receipt).map(Some),
            Command::Disconnect => {
                // STOMP 1.2, "BEGIN": open transactions are aborted.
                let held: Vec<_> = self.transactions.end_all().collect();
                self.give_back(version, held);
                self.state = State::Closing(version);
                self.link.stop_listening();
                Ok(Some(Event::Disconnect { frame, reply: reply(receipt, Answers::Disconnect) }))
            }
            command => Err(ProtocolError::UnexpectedFrame(command)),
        }
    }
}

pub(super) fn missing(frame: &Frame, name: &'static str) -> ProtocolError {
    ProtocolError::MissingHeader { command: frame.command(), name }
}

pub(super) fn invalid(frame: &Frame, name: &'static str) -> ProtocolError {
    ProtocolError::InvalidHeader { command: frame.command(), name }
}

pub(super) fn required<'a>(
    frame: &'a Frame,
    name: &'static str,
) -> Result<Cow<'a, str>, ProtocolError> {
    frame.header(name).ok_or_else(|| missing(frame, name))
}

/// The destination, which is there and not empty.
pub(super) fn destination(frame: &Frame) -> Result<Cow<'_, str>, ProtocolError> {
    let destination = required(frame, name::DESTINATION)?;
    if destination.is_empty() {
        return Err(invalid(frame, name::DESTINATION));
    }
    Ok(destination)
}

pub(super) fn reply(receipt: Option<&Text>, answers: Answers) -> Reply {
    Reply { receipt: receipt.cloned(), answers }
}

/// The value of a header as it is on the wire, for a frame that echoes it.
pub(super) fn raw_text(value: &[u8]) -> Text {
    // It is UTF-8: the decoder has seen to that, or the encoder.
    Text::new(core::str::from_utf8(value).unwrap_or_default())
}
