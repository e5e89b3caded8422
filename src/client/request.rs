//! What the application sends: borrowed, so that a refusal loses nothing.

use core::fmt;

use bytes::Bytes;
use smallvec::SmallVec;

use super::receipts::ReceiptId;
use super::subscriptions::SubscriptionId;
use super::transaction::Transaction;
use crate::codec::{ContentLength, EncodeError, HeadWriter};
use crate::frame::{AckMode, Text, name};
use crate::session::UsageError;

/// A SEND; see [`Client::send`](super::Client::send).
///
/// ```
/// use stomp_proto::client::SendRequest;
/// let request = SendRequest::new("/queue/a").header("content-type", "text/plain").body("hi");
/// ```
#[derive(Clone)]
#[must_use]
pub struct SendRequest<'a> {
    pub(super) destination: &'a str,
    pub(super) transaction: Option<&'a Transaction>,
    pub(super) headers: ExtraHeaders<'a>,
    pub(super) receipt: Option<ReceiptId>,
    pub(super) body: Bytes,
    content_length: ContentLength,
}

impl<'a> SendRequest<'a> {
    /// The headers that the session writes.
    pub(super) const OWNED: &'static [&'static str] =
        &[name::DESTINATION, name::TRANSACTION, name::RECEIPT, name::CONTENT_LENGTH];

    /// A message without headers and body.
    pub fn new(destination: &'a str) -> Self {
        Self {
            destination,
            transaction: None,
            headers: ExtraHeaders::default(),
            receipt: None,
            body: Bytes::new(),
            content_length: ContentLength::default(),
        }
    }

    /// Adds a header behind those there are.
    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Sets the body. A large one is shared, not copied.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Makes it part of a transaction.
    pub fn transaction(mut self, transaction: &'a Transaction) -> Self {
        self.transaction = Some(transaction);
        self
    }

    /// Asks for a receipt.
    pub fn receipt(mut self, receipt: ReceiptId) -> Self {
        self.receipt = Some(receipt);
        self
    }

    /// Whether `content-length` is written. `ActiveMQ` takes a message with it for binary.
    pub fn content_length(mut self, content_length: ContentLength) -> Self {
        self.content_length = content_length;
        self
    }

    pub(super) fn write(&self, head: &mut HeadWriter<'_>) -> Result<(), EncodeError> {
        head.header(name::DESTINATION.as_bytes(), self.destination.as_bytes())?;
        if let Some(transaction) = self.transaction {
            transaction.write(head);
        }
        write_tail(head, &self.headers, self.receipt)?;
        head.announce(&self.body, self.content_length)
    }
}

impl fmt::Debug for SendRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendRequest")
            .field("destination", &self.destination)
            .field("transaction", &self.transaction)
            .field("headers", &self.headers)
            .field("receipt", &self.receipt)
            .field("body_len", &self.body.len())
            .field("content_length", &self.content_length)
            .finish()
    }
}

/// A SUBSCRIBE; see [`Client::subscribe`](super::Client::subscribe).
///
/// ```
/// use stomp_proto::client::{AckMode, SubscribeRequest};
/// let request = SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SubscribeRequest<'a> {
    pub(super) destination: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) ack: AckMode,
    pub(super) headers: ExtraHeaders<'a>,
    pub(super) receipt: Option<ReceiptId>,
}

impl<'a> SubscribeRequest<'a> {
    /// The headers that the session writes.
    pub(super) const OWNED: &'static [&'static str] =
        &[name::ID, name::DESTINATION, name::ACK, name::RECEIPT, name::CONTENT_LENGTH];

    /// A subscription in mode [`AckMode::Auto`].
    pub fn new(destination: &'a str) -> Self {
        let headers = ExtraHeaders::default();
        Self { destination, id: None, ack: AckMode::default(), headers, receipt: None }
    }

    /// The `id` on the wire, which a durable subscription has to keep. Default: a number.
    ///
    /// On 1.0 and 1.1 a message says no more than this of where it belongs: if the id is that of a
    /// subscription that was ended, and the mode is another, one that was under way is taken for a
    /// message of the new one, and a broker may refuse its ACK.
    pub fn id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// How its messages are acknowledged. Default: not at all.
    pub fn ack(mut self, ack: AckMode) -> Self {
        self.ack = ack;
        self
    }

    /// Adds a header behind those there are: `selector`, say.
    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Asks for a receipt.
    pub fn receipt(mut self, receipt: ReceiptId) -> Self {
        self.receipt = Some(receipt);
        self
    }
}

/// An UNSUBSCRIBE; see [`Client::unsubscribe`](super::Client::unsubscribe).
#[derive(Clone, Debug)]
#[must_use]
pub struct UnsubscribeRequest<'a> {
    pub(super) subscription: SubscriptionId,
    pub(super) headers: ExtraHeaders<'a>,
    pub(super) receipt: Option<ReceiptId>,
}

impl<'a> UnsubscribeRequest<'a> {
    /// The headers that the session writes.
    pub(super) const OWNED: &'static [&'static str] =
        &[name::ID, name::RECEIPT, name::CONTENT_LENGTH];

    /// The end of a subscription.
    pub fn new(subscription: SubscriptionId) -> Self {
        Self { subscription, headers: ExtraHeaders::default(), receipt: None }
    }

    /// Adds a header behind those there are: `durable`, say, to end one that would stay.
    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push(name, value);
        self
    }

    /// Asks for a receipt.
    pub fn receipt(mut self, receipt: ReceiptId) -> Self {
        self.receipt = Some(receipt);
        self
    }
}

impl From<SubscriptionId> for UnsubscribeRequest<'_> {
    fn from(subscription: SubscriptionId) -> Self {
        Self::new(subscription)
    }
}

/// Headers of the application's own, in its order.
#[derive(Clone, Default)]
pub(super) struct ExtraHeaders<'a>(SmallVec<[(&'a str, &'a str); 4]>);

impl<'a> ExtraHeaders<'a> {
    pub(super) fn push(&mut self, name: &'a str, value: &'a str) {
        self.0.push((name, value));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().copied()
    }

    /// Refuses headers that the session writes: which of the two should count?
    pub(super) fn check(&self, owned: &[&str]) -> Result<(), UsageError> {
        match self.iter().find(|(name, _)| owned.contains(name)) {
            Some((name, _)) => Err(UsageError::OwnedHeader(Text::new(name))),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ExtraHeaders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.iter().map(|(name, value)| {
            let secret = name::is_secret(name);
            (name, if secret { "…" } else { value })
        });
        f.debug_map().entries(shown).finish()
    }
}

/// What ends the head of every request, apart from `content-length`.
pub(super) fn write_tail(
    head: &mut HeadWriter<'_>,
    headers: &ExtraHeaders<'_>,
    receipt: Option<ReceiptId>,
) -> Result<(), EncodeError> {
    for (name, value) in headers.iter() {
        head.header(name.as_bytes(), value.as_bytes())?;
    }
    if let Some(receipt) = receipt {
        receipt.write(head);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    /// field case B128
    #[test]
    fn debug_shows_no_credential_and_no_body() {
        let request = SendRequest::new("/q")
            .header("authorization", "hush")
            .header("foo", "bar")
            .body("long text");
        let shown = format!("{request:?}");
        assert!(!shown.contains("hush") && !shown.contains("long text"), "{shown}");
        assert!(shown.contains("\"foo\": \"bar\"") && shown.contains("body_len: 9"), "{shown}");
    }

    #[test]
    fn an_owned_header_is_named() {
        let request = SubscribeRequest::new("/q").header("selector", "a > 1").header("ack", "auto");
        let owned = request.headers.check(SubscribeRequest::OWNED);
        assert_eq!(owned, Err(UsageError::OwnedHeader("ack".into())));
        let allowed = SendRequest::new("/q").header("ack", "x").header("id", "y");
        assert_eq!(allowed.headers.check(SendRequest::OWNED), Ok(()));
    }
}
