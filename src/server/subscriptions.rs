//! The subscriptions of a session: live ones by id, ended ones while they have open deliveries.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::ledger::List;
use crate::frame::{AckMode, Text};

/// Names a subscription of one session, live or ended, and nothing in another session. An id that the client uses again names
/// another subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(pub(super) u64);

#[derive(Debug)]
pub(super) struct Subscriptions {
    /// In the order in which they were made, which is that of their handles. Not a map: the nodes
    /// of one have room for eleven, and most sessions have one.
    all: Vec<(SubscriptionId, Subscription)>,
    /// Live ones by the id that the client gave.
    by_id: BTreeMap<Text, SubscriptionId>,
    next: u64,
}

#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: Option<WireId>,
    pub(super) destination: Text,
    pub(super) mode: AckMode,
    pub(super) stage: Stage,
    pub(super) deliveries: List,
}

/// The id that the client gave.
#[derive(Clone, Debug)]
pub(super) struct WireId {
    pub(super) text: Text,
    /// As the client wrote it, to be echoed so.
    pub(super) raw: Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The application has not confirmed it yet.
    Requested,
    Live,
    Ended,
}

impl Subscriptions {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), by_id: BTreeMap::new(), next: 1 }
    }

    /// Live ones, and ended ones with open deliveries.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Enters a subscription; `None`: its id is in use.
    pub(super) fn insert(
        &mut self,
        id: Option<WireId>,
        destination: Text,
        mode: AckMode,
    ) -> Option<SubscriptionId> {
        let handle = SubscriptionId(self.next);
        if let Some(id) = &id {
            if self.by_id.contains_key(&*id.text) {
                return None;
            }
            self.by_id.insert(id.text.clone(), handle);
        }
        self.next += 1;
        let (stage, deliveries) = (Stage::Requested, List::default());
        self.all.push((handle, Subscription { id, destination, mode, stage, deliveries }));
        Some(handle)
    }

    pub(super) fn get(&self, handle: SubscriptionId) -> Option<&Subscription> {
        let index = self.index(handle)?;
        self.all.get(index).map(|(_, subscription)| subscription)
    }

    pub(super) fn get_mut(&mut self, handle: SubscriptionId) -> Option<&mut Subscription> {
        let index = self.index(handle)?;
        self.all.get_mut(index).map(|(_, subscription)| subscription)
    }

    /// The live subscription of that id.
    pub(super) fn by_id(&self, id: &str) -> Option<SubscriptionId> {
        self.by_id.get(id).copied()
    }

    /// The oldest live subscription to that destination.
    pub(super) fn by_destination(&self, destination: &str) -> Option<SubscriptionId> {
        let is_meant = |subscription: &Subscription| {
            subscription.stage != Stage::Ended && *subscription.destination == *destination
        };
        self.all.iter().find(|(_, subscription)| is_meant(subscription)).map(|(handle, _)| *handle)
    }

    pub(super) fn confirm(&mut self, handle: SubscriptionId) {
        if let Some(subscription) = self.get_mut(handle) {
            if subscription.stage == Stage::Requested {
                subscription.stage = Stage::Live;
            }
        }
    }

    /// Ends a subscription; its id is free again.
    pub(super) fn end(&mut self, handle: SubscriptionId) {
        let Some(index) = self.index(handle) else { return };
        let Some((_, subscription)) = self.all.get_mut(index) else { return };
        subscription.stage = Stage::Ended;
        if let Some(id) = &subscription.id {
            self.by_id.remove(&*id.text);
        }
        self.forget_if_settled(handle);
    }

    /// Drops an ended subscription that has nothing open any more.
    pub(super) fn forget_if_settled(&mut self, handle: SubscriptionId) {
        let settled = self.get(handle).is_some_and(|subscription| {
            subscription.stage == Stage::Ended && subscription.deliveries.len == 0
        });
        if let Some(index) = self.index(handle).filter(|_| settled) {
            self.all.remove(index);
        }
    }

    /// Gives back the room of those that are gone.
    pub(super) fn shrink(&mut self) {
        self.all.shrink_to_fit();
        if self.by_id.is_empty() {
            self.by_id = BTreeMap::new();
        }
    }

    fn index(&self, handle: SubscriptionId) -> Option<usize> {
        self.all.binary_search_by_key(&handle, |(handle, _)| *handle).ok()
    }

    /// Whether a subscription has, or had, that id, and how far it is to be preferred: live before
    /// ended, then the newest.
    pub(super) fn rank(&self, handle: SubscriptionId, id: &str) -> Option<(bool, SubscriptionId)> {
        let subscription = self.get(handle)?;
        let is_meant = subscription.id.as_ref().is_some_and(|its| *its.text == *id);
        is_meant.then_some((subscription.stage != Stage::Ended, handle))
    }

    /// What a broker may call it: the client's id, or `auto-N`, which never is on the wire.
    pub(super) fn name(&self, handle: SubscriptionId) -> Option<Text> {
        match &self.get(handle)?.id {
            Some(id) => Some(id.text.clone()),
            None => Some(Text::new(&format!("auto-{}", handle.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn subscribe(to: &mut Subscriptions, id: Option<&str>, destination: &str) -> SubscriptionId {
        let id = id.map(|id| WireId { text: id.into(), raw: id.into() });
        to.insert(id, destination.into(), AckMode::Client).unwrap()
    }

    #[test]
    fn an_id_leads_to_the_live_one_and_is_free_when_that_ends() {
        let mut all = Subscriptions::new();
        let one = subscribe(&mut all, Some("a"), "/q");
        assert_eq!(all.by_id("a"), Some(one));
        let id = || Some(WireId { text: "a".into(), raw: "a".into() });
        assert_eq!(all.insert(id(), "/other".into(), AckMode::Auto), None, "in use");
        assert_eq!(all.len(), 1);
        all.end(one);
        assert_eq!((all.by_id("a"), all.len()), (None, 0), "nothing of it is open");
        let two = subscribe(&mut all, Some("a"), "/q");
        assert!(one < two, "a name is never given again");
        assert_eq!(all.by_id("a"), Some(two));
    }

    #[test]
    fn a_destination_leads_to_the_oldest_live_one() {
        let mut all = Subscriptions::new();
        let handles: Vec<_> = [("/q", None), ("/r", None), ("/q", Some("a")), ("/q", None)]
            .map(|(destination, id)| subscribe(&mut all, id, destination))
            .into();
        for (found, destination) in [(0, "/q"), (2, "/q"), (3, "/q"), (1, "/r")] {
            // One that has something open stays, but is not found any more.
            all.get_mut(handles[found]).unwrap().deliveries.len = 1;
            assert_eq!(all.by_destination(destination), Some(handles[found]));
            all.end(handles[found]);
        }
        assert_eq!((all.by_destination("/q"), all.len()), (None, 4));
    }

    #[test]
    fn an_ended_one_stays_while_something_of_it_is_open() {
        let mut all = Subscriptions::new();
        let handle = subscribe(&mut all, None, "/q");
        all.get_mut(handle).unwrap().deliveries.len = 1;
        all.forget_if_settled(handle);
        all.end(handle);
        assert_eq!(all.name(handle).unwrap(), "auto-1");
        all.get_mut(handle).unwrap().deliveries.len = 0;
        all.forget_if_settled(handle);
        assert_eq!(all.name(handle), None);
        all.end(handle);
    }

    #[test]
    fn confirming_makes_a_requested_one_live_and_revives_none() {
        let mut all = Subscriptions::new();
        let handle = subscribe(&mut all, Some("a"), "/q");
        assert_eq!(all.get(handle).unwrap().stage, Stage::Requested);
        all.confirm(handle);
        assert_eq!(all.get(handle).unwrap().stage, Stage::Live);
        all.get_mut(handle).unwrap().deliveries.len = 1;
        all.end(handle);
        all.confirm(handle);
        assert_eq!(all.get(handle).unwrap().stage, Stage::Ended);
    }

    #[test]
    fn live_ranks_before_ended_and_then_the_newest() {
        let mut all = Subscriptions::new();
        let mut handles = Vec::new();
        for _ in 0..3 {
            let handle = subscribe(&mut all, Some("a"), "/q");
            all.get_mut(handle).unwrap().deliveries.len = 1;
            all.end(handle);
            handles.push(handle);
        }
        let other = subscribe(&mut all, Some("b"), "/q");
        let nameless = subscribe(&mut all, None, "/q");
        let rank = |handle: &SubscriptionId| all.rank(*handle, "a");
        assert_eq!(handles.iter().max_by_key(|handle| rank(handle)), handles.last());
        assert_eq!((rank(&other), rank(&nameless)), (None, None));
        let live = subscribe(&mut all, Some("a"), "/q");
        assert!(all.rank(live, "a") > all.rank(handles[2], "a"));
    }
}
