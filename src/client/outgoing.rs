//! What the application asks of the broker: held against the rules, queued, and noted.

use bytes::{Bytes, BytesMut};

use super::Client;
use super::ack::AckRequest;
use super::receipts::ReceiptId;
use super::request::{SendRequest, SubscribeRequest, UnsubscribeRequest, write_tail};
use super::state::State;
use super::subscriptions::SubscriptionId;
use super::transaction::{EndTransaction, Transaction};
#[cfg(doc)]
use super::{AckMode, AckToken, Event};
#[cfg(doc)]
use crate::CloseReason;
use crate::codec::{ContentLength, EncodeError, HeadWriter, write_head};
use crate::frame::name;
use crate::session::{Instant, Refused, Timer, UsageError};
use crate::{Command, Frame, Version};

impl<I: Instant> Client<I> {
    /// Queues SEND.
    ///
    /// # Errors
    ///
    /// * [`UsageError::NotConnected`], [`UsageError::Closed`]: the session is not in between.
    /// * [`UsageError::MissingDestination`], [`UsageError::OwnedHeader`], [`UsageError::Encode`]: such
    ///   a frame cannot be written.
    /// * [`UsageError::Stale`]: the transaction or the receipt is of another session.
    /// * [`UsageError::DuplicateReceipt`]: the receipt was asked for and has not come.
    /// * [`UsageError::LimitExceeded`]: too many receipts are owed, or too much waits to be written.
    pub fn send(&mut self, request: &SendRequest<'_>) -> Result<(), UsageError> {
        let version = self.ready()?;
        check_destination(request.destination)?;
        request.headers.check(SendRequest::OWNED)?;
        self.check_transaction(request.transaction)?;
        self.link.check_room()?;
        let body = &request.body;
        self.queue(version, Command::Send, request.receipt, &[body], |head| request.write(head))
    }

    /// Queues SUBSCRIBE. Its messages are [`Event::Message`]; the first may come before the receipt.
    ///
    /// An `id` is sent on 1.0 too, where it is optional, for brokers to name it in their messages.
    ///
    /// # Errors
    ///
    /// * [`UsageError::DuplicateSubscription`]: a live subscription has that `id`.
    /// * [`UsageError::LimitExceeded`]: there are too many subscriptions, too many receipts are owed,
    ///   or too much waits to be written.
    /// * Otherwise those of [`Client::send`].
    pub fn subscribe(
        &mut self,
        request: &SubscribeRequest<'_>,
    ) -> Result<SubscriptionId, UsageError> {
        let version = self.ready()?;
        check_destination(request.destination)?;
        request.headers.check(SubscribeRequest::OWNED)?;
        self.link.check_room()?;
        let most = self.link.limits().max_subscriptions;
        let subscription = self.subscriptions.prepare(request, most)?;
        self.queue(version, Command::Subscribe, request.receipt, &[], |head| {
            subscription.write(head)?;
            if let Some(receipt) = request.receipt {
                receipt.write(head);
            }
            Ok(())
        })?;
        Ok(self.subscriptions.add(subscription))
    }

    /// Queues UNSUBSCRIBE: of a [`SubscriptionId`], or of an [`UnsubscribeRequest`] with more to say.
    ///
    /// Messages that are on their way still come, without a subscription, and may be acknowledged
    /// (STOMP 1.2, "UNSUBSCRIBE").
    ///
    /// # Errors
    ///
    /// [`UsageError::UnknownSubscription`] if it has ended; otherwise those of [`Client::send`].
    pub fn unsubscribe<'a>(
        &mut self,
        request: impl Into<UnsubscribeRequest<'a>>,
    ) -> Result<(), UsageError> {
        let request = request.into();
        let version = self.ready()?;
        request.headers.check(UnsubscribeRequest::OWNED)?;
        self.link.check_room()?;
        let subscription = self.subscriptions.get(request.subscription);
        let id: Bytes = match subscription {
            Some(subscription) => Bytes::copy_from_slice(subscription.name().as_bytes()),
            None => return Err(UsageError::UnknownSubscription),
        };
        self.queue(version, Command::Unsubscribe, request.receipt, &[], |head| {
            head.header(name::ID.as_bytes(), &id)?;
            write_tail(head, &request.headers, request.receipt)
        })?;
        let most = self.link.limits().max_subscriptions;
        self.subscriptions.end(request.subscription, most);
        Ok(())
    }

    /// Queues ACK: of the [`AckToken`] of a message, or of an [`AckRequest`] with more to say.
    ///
    /// In mode [`AckMode::Client`] it covers every earlier message of the subscription too. It is
    /// written in the form of the version, with what the broker wrote, octet for octet.
    ///
    /// # Errors
    ///
    /// [`UsageError::Stale`] if token, transaction or receipt is of another session; otherwise those
    /// of [`Client::send`].
    pub fn ack<'a>(&mut self, request: impl Into<AckRequest<'a>>) -> Result<(), UsageError> {
        self.acknowledge(Command::Ack, &request.into())
    }

    /// Queues NACK: the message was not consumed. What becomes of it is up to the broker.
    ///
    /// 1.0 does not know it; there it is sent in the form of ACK, which some brokers understand and
    /// others answer with ERROR.
    ///
    /// # Errors
    ///
    /// Those of [`Client::ack`].
    pub fn nack<'a>(&mut self, request: impl Into<AckRequest<'a>>) -> Result<(), UsageError> {
        self.acknowledge(Command::Nack, &request.into())
    }

    /// Queues BEGIN. Put the transaction in [`SendRequest`] and [`AckRequest`], then
    /// [commit](Client::commit) or [abort](Client::abort) it.
    ///
    /// # Errors
    ///
    /// [`UsageError::NotConnected`], [`UsageError::Closed`], and [`UsageError::LimitExceeded`] if too
    /// much waits to be written.
    pub fn begin(&mut self) -> Result<Transaction, UsageError> {
        let version = self.ready()?;
        self.link.check_room()?;
        let number = self.transactions.saturating_add(1);
        let transaction = Transaction::new(self.epoch, number);
        self.queue(version, Command::Begin, None, &[], |head| {
            transaction.write(head);
            Ok(())
        })?;
        self.transactions = number;
        Ok(transaction)
    }

    /// Queues COMMIT: of a [`Transaction`], or of an [`EndTransaction`] with more to say. That it took
    /// effect is said by its receipt alone.
    ///
    /// # Errors
    ///
    /// Those of [`Client::send`], with the transaction; but it is not refused for lack of room in the
    /// outbox.
    pub fn commit<'a>(
        &mut self,
        request: impl Into<EndTransaction<'a>>,
    ) -> Result<(), Refused<Transaction>> {
        self.end_transaction(Command::Commit, request.into())
    }

    /// Queues ABORT: of a [`Transaction`], or of an [`EndTransaction`] with more to say.
    ///
    /// # Errors
    ///
    /// Those of [`Client::commit`].
    pub fn abort<'a>(
        &mut self,
        request: impl Into<EndTransaction<'a>>,
    ) -> Result<(), Refused<Transaction>> {
        self.end_transaction(Command::Abort, request.into())
    }

    /// Queues DISCONNECT with a receipt of its own (STOMP 1.2, "DISCONNECT").
    ///
    /// Until that comes, messages and receipts still do, but no request is taken. It is answered by
    /// [`Event::Closed`]: [`CloseReason::Disconnected`] when the receipt has come or the broker ended
    /// its stream instead, [`CloseReason::TimedOut`] when
    /// [`disconnect_timeout`](crate::codec::Limits::disconnect_timeout) has passed. To leave without
    /// asking, drop the connection.
    ///
    /// # Errors
    ///
    /// [`UsageError::NotConnected`] and [`UsageError::Closed`].
    pub fn disconnect(&mut self, now: I) -> Result<(), UsageError> {
        let version = self.ready()?;
        let receipt = self.receipts.draw();
        self.link.queue::<EncodeError>(
            |out| {
                let mut head = HeadWriter::new(out, Command::Disconnect, version);
                receipt.write(&mut head);
                head.finish();
                Ok(())
            },
            &[],
        )?;
        self.state = State::Disconnecting(version, receipt);
        self.link.stop_beats();
        let deadline = now + self.link.limits().disconnect_timeout;
        self.link.set_timer(Timer::Disconnect, deadline);
        Ok(())
    }

    /// Queues a frame of the application's own making, under the version of the session: any client
    /// command but CONNECT, STOMP and DISCONNECT.
    ///
    /// The session does not follow what it does: no subscription or transaction comes of it. If its
    /// `receipt` is the text of a [`ReceiptId`] that was drawn, it is answered by [`Event::Receipt`],
    /// else by [`Event::UnknownReceipt`]. Choose other texts than numbers for those.
    ///
    /// # Errors
    ///
    /// [`UsageError::WrongCommand`]; otherwise those of [`Client::send`], but only COMMIT and ABORT
    /// are not refused for lack of room.
    pub fn send_frame(&mut self, frame: &Frame) -> Result<(), UsageError> {
        let version = self.ready()?;
        let command = frame.command();
        match command {
            Command::Send
            | Command::Subscribe
            | Command::Unsubscribe
            | Command::Ack
            | Command::Nack
            | Command::Begin => self.link.check_room()?,
            Command::Commit | Command::Abort => {}
            Command::Connect
            | Command::Stomp
            | Command::Disconnect
            | Command::Connected
            | Command::Message
            | Command::Receipt
            | Command::Error => return Err(UsageError::WrongCommand(command)),
        }
        let receipt = frame.headers().find(name::RECEIPT);
        let receipt = receipt.and_then(|receipt| self.receipts.drawn(&receipt.value_octets()));
        let write =
            |out: &mut _| write_head(frame.as_frame_ref(), version, ContentLength::Automatic, out);
        self.queue_with_receipt(receipt, &[frame.body()], write)
    }

    fn acknowledge(
        &mut self,
        command: Command,
        request: &AckRequest<'_>,
    ) -> Result<(), UsageError> {
        let version = self.ready()?;
        self.epoch.check(request.token.epoch)?;
        request.headers.check(AckRequest::OWNED)?;
        self.check_transaction(request.transaction)?;
        self.link.check_room()?;
        self.queue(version, command, request.receipt, &[], |head| request.write(head))
    }

    fn end_transaction(
        &mut self,
        command: Command,
        request: EndTransaction<'_>,
    ) -> Result<(), Refused<Transaction>> {
        self.try_end_transaction(command, &request)
            .map_err(|error| Refused::new(error, request.transaction))
    }

    fn try_end_transaction(
        &mut self,
        command: Command,
        request: &EndTransaction<'_>,
    ) -> Result<(), UsageError> {
        let version = self.ready()?;
        self.check_transaction(Some(&request.transaction))?;
        request.headers.check(EndTransaction::OWNED)?;
        self.queue(version, command, request.receipt, &[], |head| request.write(head))
    }

    /// The version under which a request is written, if one is taken.
    #[inline]
    fn ready(&self) -> Result<Version, UsageError> {
        if self.link.is_closed() || self.link.is_lost() {
            return Err(UsageError::Closed);
        }
        self.state.ready()
    }

    fn check_transaction(&self, transaction: Option<&Transaction>) -> Result<(), UsageError> {
        transaction.map_or(Ok(()), |transaction| self.epoch.check(transaction.epoch))
    }

    /// Queues a frame whose header lines `write` writes.
    #[inline]
    fn queue(
        &mut self,
        version: Version,
        command: Command,
        receipt: Option<ReceiptId>,
        body: &[&Bytes],
        write: impl FnOnce(&mut HeadWriter<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), UsageError> {
        let write = |out: &mut BytesMut| {
            let mut head = HeadWriter::new(out, command, version);
            write(&mut head)?;
            head.finish();
            Ok(())
        };
        self.queue_with_receipt(receipt, body, write)
    }

    #[inline]
    fn queue_with_receipt(
        &mut self,
        receipt: Option<ReceiptId>,
        body: &[&Bytes],
        write: impl FnOnce(&mut BytesMut) -> Result<(), EncodeError>,
    ) -> Result<(), UsageError> {
        let Some(receipt) = receipt else { return Ok(self.link.queue(write, body)?) };
        self.receipts.check(receipt, self.link.limits().max_pending_receipts)?;
        let start = self.link.sent().end();
        self.link.queue(write, body)?;
        self.receipts.owe(receipt, start);
        Ok(())
    }
}

fn check_destination(destination: &str) -> Result<(), UsageError> {
    if destination.is_empty() { Err(UsageError::MissingDestination) } else { Ok(()) }
}
