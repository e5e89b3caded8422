//! Subscriptions as they begin and end: SUBSCRIBE, UNSUBSCRIBE, and those that the application opens.

use bytes::BytesMut;

use super::frames::{destination, invalid, missing, raw_text, reply, required};
use super::reply::Answers;
use super::subscriptions::WireId;
use super::{Event, Server, SubscribeFrame, SubscriptionId, UnsubscribeFrame};
use crate::codec::HeadWriter;
use crate::frame::{AckMode, Text, name};
use crate::{Bound, Command, Frame, Instant, Limit, ProtocolError, UsageError, Version};

impl<I: Instant, T> Server<I, T> {
    pub(super) fn subscribe(
        &mut self,
        version: Version,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Event<T>, ProtocolError> {
        let dialect = self.dialect;
        let destination = Text::new(&destination(&frame)?);
        let id = frame.headers().find(name::ID);
        let is_empty = id.is_some_and(|id| id.raw_value().is_empty());
        let is_missing = id.is_none() || (is_empty && !dialect.empty_subscription_id.accepts());
        if is_missing && version != Version::V1_0 {
            return Err(missing(&frame, name::ID));
        }
        let mode = match frame.header(name::ACK) {
            Some(mode) => AckMode::parse(&mode),
            None => Some(AckMode::Auto),
        };
        let mode = mode.filter(|mode| {
            let is_later = *mode == AckMode::ClientIndividual && version == Version::V1_0;
            !is_later || dialect.client_individual_on_1_0.accepts()
        });
        let mode = mode.ok_or_else(|| invalid(&frame, name::ACK))?;
        self.check_subscriptions().map_err(ProtocolError::LimitExceeded)?;
        let id =
            id.map(|id| WireId { text: Text::new(&id.value()), raw: raw_text(id.raw_value()) });
        let subscription = self.subscriptions.insert(id, destination, mode);
        let subscription = subscription.ok_or(ProtocolError::DuplicateSubscription)?;
        let reply = reply(receipt, Answers::Subscribe(subscription));
        Ok(Event::Subscribe { frame: SubscribeFrame { frame, subscription, mode }, reply })
    }

    pub(super) fn unsubscribe(
        &mut self,
        version: Version,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Event<T>, ProtocolError> {
        let subscription = match (frame.header(name::ID), version) {
            (Some(id), _) => self.subscriptions.by_id(&id),
            (None, Version::V1_0) => {
                self.subscriptions.by_destination(&required(&frame, name::DESTINATION)?)
            }
            (None, _) => return Err(missing(&frame, name::ID)),
        };
        let subscription = subscription.ok_or(ProtocolError::UnknownSubscription)?;
        self.subscriptions.end(subscription);
        let frame = UnsubscribeFrame { frame, subscription };
        Ok(Event::Unsubscribe { frame, reply: reply(receipt, Answers::Other) })
    }

    /// Whether one more subscription finds room.
    fn check_subscriptions(&self) -> Result<(), Limit> {
        let most = self.link.limits().max_subscriptions;
        if self.subscriptions.len() >= most {
            return Err(Limit { what: Bound::Subscriptions, most });
        }
        Ok(())
    }

    /// Opens a subscription that the client did not ask for, in the mode `auto`: replies to a
    /// temporary queue come by one, with that queue as their `subscription` (RabbitMQ, "Temp Queue
    /// Destinations"). The client may end it like any other.
    ///
    /// # Errors
    ///
    /// [`UsageError::NotConnected`] and [`UsageError::Closed`];
    /// [`UsageError::DuplicateSubscription`] if the client uses the id;
    /// [`UsageError::LimitExceeded`]; [`UsageError::Encode`] for an id that MESSAGE cannot carry.
    pub fn open_subscription(&mut self, id: &str) -> Result<SubscriptionId, UsageError> {
        let version = self.deliverable()?;
        self.check_subscriptions().map_err(UsageError::LimitExceeded)?;
        let mut raw = BytesMut::new();
        let mut head = HeadWriter::resume(&mut raw, Command::Message, version);
        head.value(name::SUBSCRIPTION.as_bytes(), id.as_bytes())?;
        let id = WireId { text: Text::new(id), raw: raw_text(&raw) };
        let subscription = self.subscriptions.insert(Some(id), Text::new(""), AckMode::Auto);
        let subscription = subscription.ok_or(UsageError::DuplicateSubscription)?;
        self.subscriptions.confirm(subscription);
        Ok(subscription)
    }
}
