//! Transactions: what is sent in one takes effect on COMMIT or never.

use core::fmt;

use super::Epoch;
use super::receipts::ReceiptId;
use super::request::{ExtraHeaders, write_tail};
use crate::codec::{EncodeError, HeadWriter};
use crate::frame::name;

/// An open transaction; see [`Client::begin`](super::Client::begin).
///
/// There is one of it, and COMMIT or ABORT takes it. If it is dropped, the transaction stays open
/// until the session ends, and is then aborted by the broker (STOMP 1.2, "BEGIN").
#[derive(PartialEq, Eq, Hash)]
#[must_use = "a transaction that is never committed has no effect"]
pub struct Transaction {
    pub(super) epoch: Epoch,
    number: u64,
}

impl Transaction {
    pub(super) fn new(epoch: Epoch, number: u64) -> Self {
        Self { epoch, number }
    }

    /// Writes the `transaction` header.
    pub(super) fn write(&self, head: &mut HeadWriter<'_>) {
        head.decimal(name::TRANSACTION, self.number);
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transaction({})", self.number)
    }
}

/// A COMMIT or ABORT; see [`Client::commit`](super::Client::commit) and
/// [`Client::abort`](super::Client::abort).
#[derive(Debug)]
#[must_use]
pub struct EndTransaction<'a> {
    pub(super) transaction: Transaction,
    pub(super) headers: ExtraHeaders<'a>,
    pub(super) receipt: Option<ReceiptId>,
}

impl<'a> EndTransaction<'a> {
    /// The headers that the session writes.
    pub(super) const OWNED: &'static [&'static str] =
        &[name::TRANSACTION, name::RECEIPT, name::CONTENT_LENGTH];

    /// The end of a transaction.
    pub fn new(transaction: Transaction) -> Self {
        Self { transaction, headers: ExtraHeaders::default(), receipt: None }
    }

    /// Adds a header behind those there are.
    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Asks for a receipt: of COMMIT it says that the transaction took effect.
    pub fn receipt(mut self, receipt: ReceiptId) -> Self {
        self.receipt = Some(receipt);
        self
    }

    pub(super) fn write(&self, head: &mut HeadWriter<'_>) -> Result<(), EncodeError> {
        self.transaction.write(head);
        write_tail(head, &self.headers, self.receipt)
    }
}

impl From<Transaction> for EndTransaction<'_> {
    fn from(transaction: Transaction) -> Self {
        Self::new(transaction)
    }
}
