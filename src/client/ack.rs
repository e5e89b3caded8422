//! Acknowledging messages, in the form of each version.

use bytes::Bytes;

use super::Epoch;
use super::receipts::ReceiptId;
use super::request::{ExtraHeaders, write_tail};
use super::transaction::Transaction;
use crate::codec::{EncodeError, HeadWriter};
use crate::frame::name;

/// Acknowledges one message; see [`Message::token`](super::Message::token).
///
/// It holds what the broker wants back, octet for octet as the broker wrote it, and shares it with
/// the read buffer: call [`AckToken::to_compact`] to keep one for long. Good for the session that the
/// message came in and for no other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AckToken {
    pub(super) epoch: Epoch,
    form: Form,
}

/// What ACK and NACK say, as the peer wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// STOMP 1.0, "ACK".
    V1_0 { message_id: Bytes },
    /// STOMP 1.1, "ACK".
    V1_1 { subscription: Bytes, message_id: Bytes },
    /// STOMP 1.2, "ACK".
    V1_2 { ack: Bytes },
}

impl AckToken {
    pub(super) fn new(epoch: Epoch, form: Form) -> Self {
        Self { epoch, form }
    }

    /// The same token in octets of its own, out of the shared read buffer.
    #[must_use]
    pub fn to_compact(&self) -> Self {
        let own = |octets: &Bytes| Bytes::copy_from_slice(octets);
        let form = match &self.form {
            Form::V1_0 { message_id } => Form::V1_0 { message_id: own(message_id) },
            Form::V1_1 { subscription, message_id } => {
                Form::V1_1 { subscription: own(subscription), message_id: own(message_id) }
            }
            Form::V1_2 { ack } => Form::V1_2 { ack: own(ack) },
        };
        Self { epoch: self.epoch, form }
    }

    fn write(&self, head: &mut HeadWriter<'_>) {
        match &self.form {
            Form::V1_0 { message_id } => head.raw_header(name::MESSAGE_ID, message_id),
            Form::V1_1 { subscription, message_id } => {
                head.raw_header(name::SUBSCRIPTION, subscription);
                head.raw_header(name::MESSAGE_ID, message_id);
            }
            Form::V1_2 { ack } => head.raw_header(name::ID, ack),
        }
    }
}

/// An ACK or NACK; see [`Client::ack`](super::Client::ack) and [`Client::nack`](super::Client::nack).
#[derive(Clone, Debug)]
#[must_use]
pub struct AckRequest<'a> {
    pub(super) token: &'a AckToken,
    pub(super) transaction: Option<&'a Transaction>,
    pub(super) headers: ExtraHeaders<'a>,
    pub(super) receipt: Option<ReceiptId>,
}

impl<'a> AckRequest<'a> {
    /// The headers that the session writes, in one version or another.
    pub(super) const OWNED: &'static [&'static str] = &[
        name::ID,
        name::SUBSCRIPTION,
        name::MESSAGE_ID,
        name::TRANSACTION,
        name::RECEIPT,
        name::CONTENT_LENGTH,
    ];

    /// The acknowledgement of a message.
    pub fn new(token: &'a AckToken) -> Self {
        Self { token, transaction: None, headers: ExtraHeaders::default(), receipt: None }
    }

    /// Makes it part of a transaction.
    ///
    /// Not every broker heeds it: Artemis acknowledges at once, whatever becomes of the transaction.
    pub fn transaction(mut self, transaction: &'a Transaction) -> Self {
        self.transaction = Some(transaction);
        self
    }

    /// Adds a header behind those there are: `requeue` of a NACK to `RabbitMQ`, say.
    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Asks for a receipt.
    pub fn receipt(mut self, receipt: ReceiptId) -> Self {
        self.receipt = Some(receipt);
        self
    }

    pub(super) fn write(&self, head: &mut HeadWriter<'_>) -> Result<(), EncodeError> {
        self.token.write(head);
        if let Some(transaction) = self.transaction {
            transaction.write(head);
        }
        write_tail(head, &self.headers, self.receipt)
    }
}

impl<'a> From<&'a AckToken> for AckRequest<'a> {
    fn from(token: &'a AckToken) -> Self {
        Self::new(token)
    }
}
