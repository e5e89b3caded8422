//! The receipts that the broker owes.

use alloc::collections::BTreeMap;
use core::fmt;

use crate::codec::HeadWriter;
use crate::frame::{name, value};
use crate::session::{Bound, Limit, UsageError};

/// Names a receipt: draw it with [`Client::next_receipt`](super::Client::next_receipt), put it in
/// any request.
///
/// `Display` writes it as the `receipt` header does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiptId(u64);

/// A request whose receipt has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The receipt that is owed.
    pub receipt: ReceiptId,
    /// Whether any octet of the request was taken from the outbox. If none was, the broker does not
    /// know of it; if one was, it may or may not have acted on it.
    pub left: bool,
}

/// The receipts of a session.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// The last that was drawn; counts on from session to session.
    drawn: u64,
    /// With the octets that went out before the frame.
    owed: BTreeMap<ReceiptId, u64>,
}

impl ReceiptId {
    /// Reads a `receipt-id`. What is not written as we write it was not drawn here.
    fn parse(receipt_id: &[u8]) -> Option<Self> {
        match receipt_id {
            [b'0', ..] => None,
            digits => value::decimal(digits).map(Self),
        }
    }

    pub(super) fn write(self, head: &mut HeadWriter<'_>) {
        head.decimal(name::RECEIPT, self.0);
    }
}

impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Receipts {
    /// None owed, and none that was drawn here will be drawn again.
    pub(super) fn successor(&self) -> Self {
        Self { drawn: self.drawn, owed: BTreeMap::new() }
    }

    pub(super) fn draw(&mut self) -> ReceiptId {
        self.drawn = self.drawn.saturating_add(1);
        ReceiptId(self.drawn)
    }

    /// Whether a receipt may be asked for.
    pub(super) fn check(&self, receipt: ReceiptId, most: usize) -> Result<(), UsageError> {
        if receipt.0 > self.drawn {
            return Err(UsageError::Stale);
        }
        if self.owed.contains_key(&receipt) {
            return Err(UsageError::DuplicateReceipt);
        }
        if self.owed.len() >= most {
            return Err(UsageError::LimitExceeded(Limit { what: Bound::PendingReceipts, most }));
        }
        Ok(())
    }

    /// Notes a receipt that was asked for, by a frame before which `start` octets go out.
    pub(super) fn owe(&mut self, receipt: ReceiptId, start: u64) {
        self.owed.insert(receipt, start);
    }

    /// The receipt that was drawn here for a frame of the application's own, by its `receipt`.
    pub(super) fn drawn(&self, receipt: &[u8]) -> Option<ReceiptId> {
        ReceiptId::parse(receipt).filter(|receipt| receipt.0 <= self.drawn)
    }

    /// Strikes out the receipt that a `receipt-id` names, if it is owed.
    pub(super) fn settle(&mut self, receipt_id: &[u8]) -> Option<ReceiptId> {
        let receipt = ReceiptId::parse(receipt_id)?;
        self.owed.remove(&receipt).map(|_| receipt)
    }

    pub(super) fn len(&self) -> usize {
        self.owed.len()
    }

    /// Gives back what an empty map keeps: room for eleven.
    pub(super) fn shrink(&mut self) {
        if self.owed.is_empty() {
            self.owed = BTreeMap::new();
        }
    }

    /// What is owed, when `left` octets have gone out.
    pub(super) fn unconfirmed(&self, left: u64) -> impl Iterator<Item = Unconfirmed> {
        let owed = self.owed.iter();
        owed.map(move |(receipt, start)| Unconfirmed { receipt: *receipt, left: left > *start })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_receipt_is_settled_once_and_only_as_it_was_written() {
        let mut receipts = Receipts::default();
        let receipt = receipts.draw();
        receipts.owe(receipt, 0);
        for wrong in ["", "01", "+1", "1 ", "2", "x", "18446744073709551617"] {
            assert_eq!(receipts.settle(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(receipts.settle(b"1"), Some(receipt));
        assert_eq!(receipts.settle(b"1"), None);
    }

    #[test]
    fn a_receipt_may_be_asked_for_once_at_a_time_and_within_the_limit() {
        let mut receipts = Receipts::default();
        let (first, second) = (receipts.draw(), receipts.draw());
        assert_eq!(receipts.check(first, 1), Ok(()));
        receipts.owe(first, 0);
        assert_eq!(receipts.check(first, 2), Err(UsageError::DuplicateReceipt));
        let limit = Limit { what: Bound::PendingReceipts, most: 1 };
        assert_eq!(receipts.check(second, 1), Err(UsageError::LimitExceeded(limit)));
        receipts.settle(b"1");
        assert_eq!(receipts.check(first, 1), Ok(()), "free again");
        assert_eq!(Receipts::default().check(first, 1), Err(UsageError::Stale));
    }

    #[test]
    fn what_is_unconfirmed_left_or_did_not() {
        let mut receipts = Receipts::default();
        for start in [0, 10, 20] {
            let receipt = receipts.draw();
            receipts.owe(receipt, start);
        }
        let left = |count| receipts.unconfirmed(count).map(|it| it.left).collect::<Vec<_>>();
        assert_eq!(left(0), [false, false, false]);
        assert_eq!(left(1), [true, false, false]);
        assert_eq!(left(10), [true, false, false], "up to the frame is not into it");
        assert_eq!(left(21), [true, true, true]);
        assert_eq!(receipts.successor().unconfirmed(99).count(), 0);
    }
}
