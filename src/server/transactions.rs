//! The open transactions of a session: held, bounded, handed over as one on COMMIT.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::AckFrame;
use super::event::Settlement;
use super::ledger::Index;
use crate::codec::Limits;
use crate::frame::Text;
use crate::{Bound, Frame, Limit, ProtocolError};

#[derive(Debug)]
pub(super) struct Transactions {
    open: BTreeMap<Text, Vec<Held>>,
    /// Octets of the frames in all of them.
    octets: usize,
}

/// A frame that waits for COMMIT.
#[derive(Debug)]
pub(super) enum Held {
    Send(Frame),
    /// An ACK or NACK with the deliveries that it settles; the ledger holds those.
    Settle {
        settlement: Settlement,
        frame: AckFrame,
        deliveries: Vec<Index>,
    },
}

impl Held {
    fn octets(&self) -> usize {
        match self {
            Self::Send(frame) => frame.octets(),
            Self::Settle { frame, .. } => frame.as_frame().octets(),
        }
    }
}

impl Transactions {
    pub(super) fn new() -> Self {
        Self { open: BTreeMap::new(), octets: 0 }
    }

    pub(super) fn begin(&mut self, name: Text, limits: &Limits) -> Result<(), ProtocolError> {
        if self.is_open(&name) {
            return Err(ProtocolError::DuplicateTransaction);
        }
        check(Bound::Transactions, self.open.len() + 1, limits.max_transactions)?;
        self.open.insert(name, Vec::new());
        Ok(())
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        self.open.contains_key(name)
    }

    /// Whether a frame that long finds room.
    pub(super) fn check_room(
        &self,
        name: &str,
        octets: usize,
        limits: &Limits,
    ) -> Result<(), ProtocolError> {
        let held = self.open.get(name).ok_or(ProtocolError::UnknownTransaction)?;
        check(Bound::TransactionFrames, held.len() + 1, limits.max_transaction_frames)?;
        let octets = self.octets.saturating_add(octets);
        check(Bound::TransactionOctets, octets, limits.max_transaction_len)
    }

    /// Holds a frame that [`Transactions::check_room`] found room for.
    pub(super) fn hold(&mut self, name: &str, held: Held) {
        if let Some(transaction) = self.open.get_mut(name) {
            self.octets += held.octets();
            transaction.push(held);
        }
    }

    /// Ends a transaction and hands over what it held.
    pub(super) fn end(&mut self, name: &str) -> Result<Vec<Held>, ProtocolError> {
        let held = self.open.remove(name).ok_or(ProtocolError::UnknownTransaction)?;
        let octets: usize = held.iter().map(Held::octets).sum();
        self.octets = self.octets.saturating_sub(octets);
        Ok(held)
    }

    /// Ends all transactions and hands over what they held.
    pub(super) fn end_all(&mut self) -> impl Iterator<Item = Held> {
        self.octets = 0;
        core::mem::take(&mut self.open).into_values().flatten()
    }
}

fn check(what: Bound, wanted: usize, most: usize) -> Result<(), ProtocolError> {
    if wanted > most {
        return Err(ProtocolError::LimitExceeded(Limit { what, most }));
    }
    Ok(())
}
