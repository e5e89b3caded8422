//! Deliveries as they leave the ledger: what ACK and NACK name and cover, and what goes back to the
//! application.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::event::Settlement;
use super::frames::{missing, reply, required};
use super::ledger::{Found, Index};
use super::reply::Answers;
use super::transactions::Held;
use super::{AckFrame, AckScope, Event, LedgerEntry, Server, SubscriptionId};
use crate::frame::{AckMode, Text, name};
use crate::{Command, Frame, Instant, ProtocolError, Version};

impl<I: Instant, T> Server<I, T> {
    /// ACK or NACK.
    pub(super) fn settle(
        &mut self,
        version: Version,
        settlement: Settlement,
        frame: Frame,
        receipt: Option<&Text>,
    ) -> Result<Option<Event<T>>, ProtocolError> {
        let dialect = self.dialect;
        let is_later = settlement == Settlement::Nack && version == Version::V1_0;
        if is_later && !dialect.nack_on_1_0.accepts() {
            return Err(ProtocolError::UnexpectedFrame(Command::Nack));
        }
        let found = self.acknowledged(version, &frame)?;
        let transaction = self.transaction(&frame)?;
        let index = match found {
            Found::Open(index) => index,
            Found::Settled if dialect.ack_of_settled.accepts() => {
                self.receipt(receipt);
                return Ok(None);
            }
            Found::Settled | Found::Never => return Err(ProtocolError::UnknownDelivery),
        };
        let subscription = self.ledger.subscription(index);
        let subscription = subscription.ok_or(ProtocolError::UnknownDelivery)?;
        let entry = self.subscriptions.get(subscription).ok_or(ProtocolError::UnknownDelivery)?;
        let deliveries = match self.scope(version, entry.mode) {
            AckScope::Cumulative => self.ledger.up_to(&entry.deliveries, Some(index)),
            AckScope::Individual => [index].into(),
        };
        let Some(transaction) = transaction else {
            let deliveries = self.take(&deliveries);
            let frame = AckFrame { frame, subscription };
            let reply = reply(receipt, Answers::Other);
            return Ok(Some(settlement.event(frame, deliveries, reply)));
        };
        self.transactions.check_room(&transaction, frame.octets(), self.link.limits())?;
        if let Some(entry) = self.subscriptions.get_mut(subscription) {
            self.ledger.hold(&deliveries, &mut entry.deliveries);
        }
        let frame = AckFrame { frame: frame.to_compact(), subscription };
        self.transactions.hold(&transaction, Held::Settle { settlement, frame, deliveries });
        self.receipt(receipt);
        Ok(None)
    }

    /// The delivery that an ACK or NACK names, in the form of its version.
    fn acknowledged(&self, version: Version, frame: &Frame) -> Result<Found, ProtocolError> {
        if version == Version::V1_2 {
            return Ok(self.ledger.find_by_ack_id(&required(frame, name::ID)?));
        }
        let message_id = required(frame, name::MESSAGE_ID)?;
        let subscription = match (version, frame.header(name::SUBSCRIPTION)) {
            (Version::V1_0, _) => None,
            (_, None) if !self.dialect.ack_without_subscription.accepts() => {
                return Err(missing(frame, name::SUBSCRIPTION));
            }
            (_, subscription) => subscription,
        };
        Ok(match subscription {
            // The subscription that has that id comes before those that had it.
            Some(id) => self
                .ledger
                .find_by_message_id(&message_id, |of, _| self.subscriptions.rank(of, &id)),
            // The oldest.
            None => self.ledger.find_by_message_id(&message_id, |_, tag| Some(Reverse(tag))),
        })
    }

    /// What an ACK or NACK of a delivery settles, in a subscription of that mode.
    fn scope(&self, version: Version, mode: AckMode) -> AckScope {
        match (mode, version) {
            (AckMode::Client, Version::V1_0) => self.dialect.ack_on_1_0,
            (AckMode::Client, _) => AckScope::Cumulative,
            _ => AckScope::Individual,
        }
    }

    /// Takes the open deliveries of a subscription back from the client, oldest first; those that an
    /// open transaction settles stay.
    ///
    /// A later ACK of one counts as that of a settled delivery.
    pub fn release(&mut self, subscription: SubscriptionId) -> Vec<LedgerEntry<T>> {
        let Some(entry) = self.subscriptions.get(subscription) else { return Vec::new() };
        let indices = self.ledger.up_to(&entry.deliveries, None);
        let mut released = self.take(&indices);
        released.sort_unstable_by_key(|delivery| delivery.tag);
        released
    }

    /// Makes the deliveries open again that aborted transactions settled.
    pub(super) fn give_back(&mut self, version: Version, held: Vec<Held>) {
        let mut by_subscription = BTreeMap::<_, Vec<_>>::new();
        for held in held {
            if let Held::Settle { frame, deliveries, .. } = held {
                by_subscription.entry(frame.subscription).or_default().extend(deliveries);
            }
        }
        for (subscription, deliveries) in by_subscription {
            let Some(mode) = self.subscriptions.get(subscription).map(|entry| entry.mode) else {
                continue;
            };
            let scope = self.scope(version, mode);
            if let Some(entry) = self.subscriptions.get_mut(subscription) {
                self.ledger.let_go(deliveries, &mut entry.deliveries, scope);
            }
        }
    }

    /// Takes deliveries out of the ledger.
    pub(super) fn take(&mut self, indices: &[Index]) -> Vec<LedgerEntry<T>> {
        let mut taken = Vec::with_capacity(indices.len());
        for &index in indices {
            let Some(subscription) = self.ledger.subscription(index) else { continue };
            let Some(entry) = self.subscriptions.get_mut(subscription) else { continue };
            taken.extend(self.ledger.settle(index, &mut entry.deliveries));
            self.subscriptions.forget_if_settled(subscription);
        }
        taken
    }
}
