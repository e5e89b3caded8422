//! What a server does with SEND, and with the transactions that hold one or an acknowledgement back.

use alloc::vec::Vec;

use super::frames::{destination, reply, required};
use super::reply::Answers;
use super::transactions::Held;
use super::{Event, SendFrame, Server, Work};
use crate::frame::{Text, name};
use crate::{Frame, Instant, ProtocolError, Version};

impl<I: Instant, T> Server<I, T> {
    pub(super) fn send(
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

    pub(super) fn begin(
        &mut self,
        frame: &Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        let transaction = Text::new(&required(frame, name::TRANSACTION)?);
        self.transactions.begin(transaction, self.link.limits())?;
        self.receipt(receipt);
        Ok(None)
    }

    pub(super) fn abort(
        &mut self,
        version: Version,
        frame: &Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        let held = self.transactions.end(&required(frame, name::TRANSACTION)?)?;
        self.give_back(version, held);
        self.receipt(receipt);
        Ok(None)
    }

    pub(super) fn commit(
        &mut self,
        frame: &Frame,
        receipt: Option<&Text>,
    ) -> Result<Event<T>, ProtocolError> {
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

    /// The open transaction that a SEND, ACK or NACK belongs to.
    pub(super) fn transaction(&self, frame: &Frame) -> Result<Option<Text>, ProtocolError> {
        match frame.header(name::TRANSACTION) {
            Some(transaction) if self.transactions.is_open(&transaction) => {
                Ok(Some(Text::new(&transaction)))
            }
            Some(_) => Err(ProtocolError::UnknownTransaction),
            None => Ok(None),
        }
    }
}
