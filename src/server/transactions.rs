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

    /// Gives back what an empty map keeps: room for eleven.
    pub(super) fn shrink(&mut self) {
        if self.open.is_empty() {
            self.open = BTreeMap::new();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use crate::server::SubscriptionId;

    fn limits() -> Limits {
        Limits {
            max_transactions: 2,
            max_transaction_frames: 2,
            max_transaction_len: 20,
            ..Limits::default()
        }
    }

    fn body(len: usize) -> Frame {
        Frame::builder(Command::Send).body(alloc::vec![b'x'; len]).build()
    }

    fn exceeded(what: Bound, most: usize) -> Result<(), ProtocolError> {
        Err(ProtocolError::LimitExceeded(Limit { what, most }))
    }

    #[test]
    fn a_name_is_open_once() {
        let (mut all, limits) = (Transactions::new(), limits());
        assert_eq!(all.begin("t".into(), &limits), Ok(()));
        assert_eq!(all.begin("t".into(), &limits), Err(ProtocolError::DuplicateTransaction));
        assert!(all.is_open("t") && !all.is_open("u"));
        assert_eq!(all.begin("u".into(), &limits), Ok(()));
        assert_eq!(all.begin("v".into(), &limits), exceeded(Bound::Transactions, 2));
        assert_eq!(all.end("t").unwrap().len(), 0);
        assert_eq!(all.begin("v".into(), &limits), Ok(()));
        assert_eq!(all.end("t").unwrap_err(), ProtocolError::UnknownTransaction);
    }

    #[test]
    fn frames_are_counted_by_transaction_and_octets_over_all() {
        let (mut all, limits) = (Transactions::new(), limits());
        let check = |all: &Transactions, name, octets| all.check_room(name, octets, &limits);
        assert_eq!(check(&all, "t", 0), Err(ProtocolError::UnknownTransaction));
        all.begin("t".into(), &limits).unwrap();
        all.begin("u".into(), &limits).unwrap();
        assert_eq!(check(&all, "t", 20), Ok(()));
        assert_eq!(check(&all, "t", 21), exceeded(Bound::TransactionOctets, 20));
        assert_eq!(check(&all, "t", usize::MAX), exceeded(Bound::TransactionOctets, 20));
        all.hold("t", Held::Send(body(7)));
        all.hold("t", Held::Send(body(6)));
        assert_eq!(check(&all, "t", 0), exceeded(Bound::TransactionFrames, 2));
        assert_eq!(check(&all, "u", 7), Ok(()));
        assert_eq!(check(&all, "u", 8), exceeded(Bound::TransactionOctets, 20));
        all.end("t").unwrap();
        assert_eq!(check(&all, "u", 20), Ok(()), "their octets are free again");
        all.hold("u", Held::Send(body(20)));
        assert_eq!(all.end_all().count(), 1);
        all.begin("t".into(), &limits).unwrap();
        assert_eq!(check(&all, "t", 20), Ok(()));
    }

    #[test]
    fn what_was_held_comes_back_in_order() {
        let (mut all, limits) = (Transactions::new(), limits());
        all.begin("t".into(), &limits).unwrap();
        let frame = AckFrame { frame: body(0), subscription: SubscriptionId(1) };
        let settle =
            Held::Settle { settlement: Settlement::Nack, frame, deliveries: [3, 1].into() };
        all.hold("t", settle);
        all.hold("t", Held::Send(body(1)));
        all.hold("gone", Held::Send(body(1)));
        let held = all.end("t").unwrap();
        let [Held::Settle { settlement, deliveries, .. }, Held::Send(frame)] = &held[..] else {
            panic!("{held:?}")
        };
        assert_eq!((*settlement, &deliveries[..]), (Settlement::Nack, &[3, 1][..]));
        assert_eq!(frame.body().len(), 1);
        assert_eq!(all.octets, 0);
    }
}
