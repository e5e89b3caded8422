//! The subscriptions of a session: those that live, and those that ended a while ago.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::request::SubscribeRequest;
use crate::codec::{EncodeError, HeadWriter};
use crate::frame::{AckMode, name};
use crate::session::{Bound, Limit, UsageError};

/// A subscription, as long as it lives: also in the sessions that
/// [succeed](super::Client::successor) the one it was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(NonZeroU64);

/// One subscription and what its SUBSCRIBE said.
#[derive(Clone, Debug)]
pub(super) struct Subscription {
    id: SubscriptionId,
    /// The `id` on the wire.
    name: Box<str>,
    destination: Box<str>,
    ack: AckMode,
    headers: Box<[(Box<str>, Box<str>)]>,
}

impl Subscription {
    pub(super) fn id(&self) -> SubscriptionId {
        self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes SUBSCRIBE, apart from `receipt`.
    pub(super) fn write(&self, head: &mut HeadWriter<'_>) -> Result<(), EncodeError> {
        head.header(name::ID.as_bytes(), self.name.as_bytes())?;
        head.header(name::DESTINATION.as_bytes(), self.destination.as_bytes())?;
        match self.ack {
            // The default, and in the texts of all versions.
            AckMode::Auto => {}
            AckMode::Client => head.header(name::ACK.as_bytes(), b"client")?,
            AckMode::ClientIndividual => head.header(name::ACK.as_bytes(), b"client-individual")?,
        }
        for (name, value) in &self.headers {
            head.header(name.as_bytes(), value.as_bytes())?;
        }
        Ok(())
    }
}

/// To whom a message belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Receiver {
    /// The live subscription.
    pub(super) subscription: Option<SubscriptionId>,
    /// Whether the message is acknowledged by the client.
    pub(super) is_by_client: bool,
}

#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// In the order of their ids.
    live: Vec<Subscription>,
    by_name: BTreeMap<Box<[u8]>, Receiver>,
    /// Oldest first. Messages that were on their way may still be acknowledged.
    ended: VecDeque<Subscription>,
    /// The last id that was given; counts on from session to session.
    given: u64,
}

impl Subscriptions {
    /// The live ones, for a session after this one.
    pub(super) fn successor(&self) -> Self {
        Self {
            live: self.live.clone(),
            by_name: self.by_name.clone(),
            ended: VecDeque::new(),
            given: self.given,
        }
    }

    /// What a request would make, if it may be made.
    pub(super) fn prepare(
        &self,
        request: &SubscribeRequest<'_>,
        most: usize,
    ) -> Result<Subscription, UsageError> {
        if self.live.len() >= most {
            return Err(UsageError::LimitExceeded(Limit { what: Bound::Subscriptions, most }));
        }
        let (number, name) = match request.id {
            Some(name) if self.by_name.contains_key(name.as_bytes()) => {
                return Err(UsageError::DuplicateSubscription);
            }
            Some(name) => (self.given.saturating_add(1), name.into()),
            None => self.next_name(),
        };
        let headers = request.headers.iter();
        Ok(Subscription {
            id: SubscriptionId(NonZeroU64::MIN.saturating_add(number.saturating_sub(1))),
            name,
            destination: request.destination.into(),
            ack: request.ack,
            headers: headers.map(|(name, value)| (name.into(), value.into())).collect(),
        })
    }

    /// A number whose decimal text is the name of no other subscription.
    fn next_name(&self) -> (u64, Box<str>) {
        let mut number = self.given;
        loop {
            number = number.saturating_add(1);
            let name: Box<str> = number.to_string().into();
            let has_ended = self.ended.iter().any(|ended| ended.name == name);
            if !has_ended && !self.by_name.contains_key(name.as_bytes()) {
                return (number, name);
            }
        }
    }

    /// Takes in a subscription whose SUBSCRIBE was queued.
    pub(super) fn add(&mut self, subscription: Subscription) -> SubscriptionId {
        let id = subscription.id;
        let receiver =
            Receiver { subscription: Some(id), is_by_client: subscription.ack.is_by_client() };
        self.by_name.insert(subscription.name.as_bytes().into(), receiver);
        self.given = id.0.get();
        self.live.push(subscription);
        id
    }

    pub(super) fn get(&self, id: SubscriptionId) -> Option<&Subscription> {
        let at = self.position(id)?;
        self.live.get(at)
    }

    /// The live ones, oldest first.
    pub(super) fn live(&self) -> &[Subscription] {
        &self.live
    }

    /// Ends a subscription; at most that many ended ones are remembered.
    pub(super) fn end(&mut self, id: SubscriptionId, most: usize) {
        let Some(at) = self.position(id) else { return };
        let mut subscription = self.live.remove(at);
        self.by_name.remove(subscription.name.as_bytes());
        subscription.headers = Box::default();
        self.ended.push_back(subscription);
        while self.ended.len() > most {
            self.ended.pop_front();
        }
    }

    /// To whom a message with that `subscription` header belongs.
    #[inline]
    pub(super) fn by_name(&self, name: &[u8]) -> Receiver {
        match self.by_name.get(name) {
            Some(receiver) => *receiver,
            None => self.ended_by_name(name),
        }
    }

    #[cold]
    fn ended_by_name(&self, name: &[u8]) -> Receiver {
        let ended = self.ended.iter().rfind(|ended| ended.name.as_bytes() == name);
        let is_by_client = ended.is_some_and(|ended| ended.ack.is_by_client());
        Receiver { subscription: None, is_by_client }
    }

    /// To whom a message of 1.0 that names no subscription belongs: the only one of its destination.
    pub(super) fn by_destination(&self, destination: &[u8]) -> Receiver {
        let has_it = |it: &&Subscription| it.destination.as_bytes() == destination;
        let mut live = self.live.iter().filter(has_it);
        match (live.next(), live.next()) {
            (Some(only), None) => {
                Receiver { subscription: Some(only.id), is_by_client: only.ack.is_by_client() }
            }
            (Some(_), Some(_)) => {
                // Whosever it is, it is to be acknowledged if all of them are.
                let mut live = self.live.iter().filter(has_it);
                let is_by_client = live.all(|it| it.ack.is_by_client());
                Receiver { subscription: None, is_by_client }
            }
            (None, _) => {
                let ended = self.ended.iter().rfind(has_it);
                let is_by_client = ended.is_some_and(|ended| ended.ack.is_by_client());
                Receiver { subscription: None, is_by_client }
            }
        }
    }

    /// Whether a message with that `subscription` may come from one that ended and was never
    /// acknowledged by the client.
    pub(super) fn has_ended_without_acks(&self, name: &[u8]) -> bool {
        let mut ended = self.ended.iter().filter(|ended| ended.name.as_bytes() == name);
        ended.any(|ended| !ended.ack.is_by_client())
    }

    /// Gives back the room of those that are gone.
    pub(super) fn shrink(&mut self) {
        self.live.shrink_to_fit();
        self.ended.shrink_to_fit();
        if self.by_name.is_empty() {
            self.by_name = BTreeMap::new();
        }
    }

    fn position(&self, id: SubscriptionId) -> Option<usize> {
        self.live.binary_search_by_key(&id, Subscription::id).ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn add(subscriptions: &mut Subscriptions, request: &SubscribeRequest<'_>) -> SubscriptionId {
        let subscription = subscriptions.prepare(request, 100).unwrap();
        subscriptions.add(subscription)
    }

    fn names(subscriptions: &Subscriptions) -> Vec<&str> {
        subscriptions.live().iter().map(Subscription::name).collect()
    }

    #[test]
    fn a_default_name_collides_with_no_explicit_one() {
        let mut subscriptions = Subscriptions::default();
        let plain = SubscribeRequest::new("/q");
        let gone = add(&mut subscriptions, &plain.clone().id("3"));
        subscriptions.end(gone, 10);
        add(&mut subscriptions, &plain.clone().id("2"));
        add(&mut subscriptions, &plain);
        add(&mut subscriptions, &plain);
        assert_eq!(names(&subscriptions), ["2", "4", "5"], "3 may still get messages");
        let taken = subscriptions.prepare(&plain.id("4"), 10);
        assert_eq!(taken.unwrap_err(), UsageError::DuplicateSubscription);
    }

    #[test]
    fn subscriptions_live_and_end_by_handle_and_are_found_by_name() {
        let mut subscriptions = Subscriptions::default();
        let request = SubscribeRequest::new("/q").ack(AckMode::Client);
        let ids: Vec<_> = (0..5).map(|_| add(&mut subscriptions, &request)).collect();
        subscriptions.end(ids[1], 10);
        subscriptions.end(ids[1], 10);
        assert_eq!(names(&subscriptions), ["1", "3", "4", "5"]);
        for (id, name) in ids.iter().zip(["1", "2", "3", "4", "5"]) {
            let live = Some(*id).filter(|id| *id != ids[1]);
            assert_eq!(subscriptions.get(*id).map(Subscription::id), live);
            let receiver = Receiver { subscription: live, is_by_client: true };
            assert_eq!(subscriptions.by_name(name.as_bytes()), receiver);
        }
        assert_eq!(subscriptions.by_name(b"6"), Receiver::default());
    }

    #[test]
    fn only_so_many_ended_ones_are_remembered_oldest_forgotten() {
        let mut subscriptions = Subscriptions::default();
        for number in 0..5 {
            let name = format!("s{number}");
            let request = SubscribeRequest::new("/q").id(&name).ack(AckMode::ClientIndividual);
            let id = add(&mut subscriptions, &request);
            subscriptions.end(id, 2);
        }
        let known = |name: &str| subscriptions.by_name(name.as_bytes()).is_by_client;
        assert_eq!(["s0", "s1", "s2", "s3", "s4"].map(known), [false, false, false, true, true]);
        assert!(subscriptions.successor().ended.is_empty());
    }

    /// requirement M-012
    #[test]
    fn a_destination_finds_its_only_subscription() {
        let mut subscriptions = Subscriptions::default();
        let by_client = SubscribeRequest::new("/q").ack(AckMode::Client);
        let first = add(&mut subscriptions, &by_client);
        let receiver = |subscription, is_by_client| Receiver { subscription, is_by_client };
        assert_eq!(subscriptions.by_destination(b"/q"), receiver(Some(first), true));
        assert_eq!(subscriptions.by_destination(b"/other"), Receiver::default());
        let second = add(&mut subscriptions, &by_client);
        assert_eq!(subscriptions.by_destination(b"/q"), receiver(None, true));
        let third = add(&mut subscriptions, &SubscribeRequest::new("/q"));
        assert_eq!(subscriptions.by_destination(b"/q"), receiver(None, false));
        for id in [second, third, first] {
            subscriptions.end(id, 10);
        }
        assert_eq!(subscriptions.by_destination(b"/q"), receiver(None, true), "the last to end");
    }
}
