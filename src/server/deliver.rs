//! Deliveries as they are made: a MESSAGE into the outbox, an entry into the ledger.

use bytes::BytesMut;

use super::ids;
use super::ledger::Ids;
use super::state::State;
use super::subscriptions::Stage;
use super::{Delivery, DeliveryTag, Server, SubscriptionId, SubscriptionOn1_0};
use crate::codec::{EncodeError, HeadWriter, put_decimal};
use crate::frame::{AckMode, Text, name};
use crate::{Bound, Command, Instant, Limit, Refused, UsageError, Version};

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered<T> {
    /// Its number.
    pub tag: DeliveryTag,
    /// Headers that the version of the session cannot carry and that were left out.
    pub dropped_headers: usize,
    /// In the mode `auto` the value comes back at once: the message counts as consumed (STOMP 1.2,
    /// "SUBSCRIBE ack Header"). `None`: the ledger keeps it.
    pub settled: Option<T>,
}

impl<I: Instant, T> Server<I, T> {
    /// Queues a MESSAGE for a confirmed subscription.
    ///
    /// In a client mode the ledger keeps `value` until the client settles the delivery.
    ///
    /// # Errors
    ///
    /// With `value` back: [`UsageError::Closed`] also when the transport is dead, and then it is no
    /// use to try this session again; [`UsageError::UnknownSubscription`] also before it is confirmed;
    /// [`UsageError::LimitExceeded`] when the client does not read or does not settle;
    /// [`UsageError::DuplicateMessageId`] and [`UsageError::DuplicateAckId`] for chosen ids that are
    /// open; [`UsageError::HeadersNotCarried`] if the dialect does not drop them.
    pub fn deliver(
        &mut self,
        subscription: SubscriptionId,
        delivery: &Delivery,
        value: T,
    ) -> Result<Delivered<T>, Refused<T>> {
        match self.try_deliver(subscription, delivery) {
            Ok(Made { dropped_headers, in_ledger: Some(ids) }) => {
                let Some(entry) = self.subscriptions.get_mut(subscription) else {
                    return Err(Refused::new(UsageError::UnknownSubscription, value));
                };
                let tag = self.ledger.open(subscription, &mut entry.deliveries, ids, value);
                Ok(Delivered { tag, dropped_headers, settled: None })
            }
            Ok(Made { dropped_headers, in_ledger: None }) => {
                let tag = self.ledger.draw_tag();
                Ok(Delivered { tag, dropped_headers, settled: Some(value) })
            }
            Err(error) => Err(Refused::new(error, value)),
        }
    }

    fn try_deliver(
        &mut self,
        subscription: SubscriptionId,
        delivery: &Delivery,
    ) -> Result<Made, UsageError> {
        let version = self.deliverable()?;
        self.link.check_room()?;
        let receiver = self.subscriptions.get(subscription);
        let receiver = receiver
            .filter(|receiver| receiver.stage == Stage::Live)
            .ok_or(UsageError::UnknownSubscription)?;
        let tail = delivery.tail(version)?;
        if tail.dropped > 0 && !self.dialect.unrepresentable_header.accepts() {
            return Err(UsageError::HeadersNotCarried(tail.dropped));
        }
        let is_auto = receiver.mode == AckMode::Auto;
        let ack_id = delivery.ack_id.as_ref().filter(|_| version == Version::V1_2 && !is_auto);
        let ids = Ids { message_id: delivery.message_id.clone(), ack_id: ack_id.cloned() };
        if !is_auto {
            self.check_ledger(subscription, &ids)?;
        }
        let are_chosen =
            ids.message_id.is_some() && (ids.ack_id.is_some() || version != Version::V1_2);
        if !is_auto && !are_chosen {
            self.ledger.pass_over_chosen_ids();
        }
        let id = receiver.id.as_ref().filter(|_| self.writes_subscription(version));
        let (tag, index) = self.ledger.upcoming();
        let head = |out: &mut BytesMut| -> Result<(), EncodeError> {
            let mut head = HeadWriter::new(out, Command::Message, version);
            if let Some(id) = id {
                head.raw_header(name::SUBSCRIPTION, id.raw.as_bytes());
            }
            match &ids.message_id {
                Some(id) => head.header(name::MESSAGE_ID.as_bytes(), id.as_bytes())?,
                // Not of the form that the ledger looks for.
                None if is_auto => head.line(name::MESSAGE_ID, |out| put_decimal(tag.0, out)),
                None => head.line(name::MESSAGE_ID, |out| ids::put_id(tag, index, out)),
            }
            if version == Version::V1_2 && !is_auto {
                match &ids.ack_id {
                    Some(id) => head.header(name::ACK.as_bytes(), id.as_bytes())?,
                    None => head.line(name::ACK, |out| {
                        out.extend_from_slice(ids::ACK_PREFIX.as_bytes());
                        ids::put_id(tag, index, out);
                    }),
                }
            }
            Ok(())
        };
        self.link.queue(head, &[&tail.octets, &delivery.body])?;
        let dropped_headers = tail.dropped;
        Ok(Made { dropped_headers, in_ledger: (!is_auto).then_some(ids) })
    }

    /// The version in which a MESSAGE is written, if one can be.
    pub(super) fn deliverable(&self) -> Result<Version, UsageError> {
        match self.state {
            // On a dead transport even `auto` must not count it as consumed.
            _ if self.link.is_closed() || self.link.is_lost() => Err(UsageError::Closed),
            State::Connected(version) => Ok(version),
            State::Closing(_) => Err(UsageError::Closed),
            State::AwaitConnect | State::Answering(_) => Err(UsageError::NotConnected),
        }
    }

    fn check_ledger(&self, subscription: SubscriptionId, ids: &Ids) -> Result<(), UsageError> {
        let most = self.link.limits().max_unacknowledged;
        if self.ledger.len() >= most {
            return Err(UsageError::LimitExceeded(Limit { what: Bound::Unacknowledged, most }));
        }
        let is_open = |id: &Text| self.ledger.has_message_id(subscription, id);
        if ids.message_id.as_ref().is_some_and(is_open) {
            return Err(UsageError::DuplicateMessageId);
        }
        if ids.ack_id.as_ref().is_some_and(|id| self.ledger.has_ack_id(id)) {
            return Err(UsageError::DuplicateAckId);
        }
        Ok(())
    }

    fn writes_subscription(&self, version: Version) -> bool {
        version != Version::V1_0 || self.dialect.subscription_on_1_0 == SubscriptionOn1_0::IfNamed
    }
}

/// A MESSAGE that was queued.
struct Made {
    dropped_headers: usize,
    /// In a client mode, the ids that the application chose.
    in_ledger: Option<Ids>,
}
