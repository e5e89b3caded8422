//! The open deliveries of a session: what was delivered in a client mode and is not settled.
//!
//! A slab, so that any delivery is found by its number at once, with a list through it for each
//! subscription, so that a cumulative ACK costs what it settles and no more.

mod list;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

pub(super) use self::list::List;
use super::SubscriptionId;
use super::ids::{ACK_PREFIX, parse_id};
use super::settled::{Settled, SettledId};
use crate::frame::Text;

/// The number of a delivery, in the order in which a session made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryTag(pub(super) u64);

impl fmt::Display for DeliveryTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A delivery in a client mode, as the ledger had it: open, or just settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry<T> {
    /// Its number.
    pub tag: DeliveryTag,
    /// The subscription that it was for.
    pub subscription: SubscriptionId,
    /// What the broker gave along.
    pub value: T,
}

#[derive(Debug)]
pub(super) struct Ledger<T> {
    slots: Vec<Slot<T>>,
    free: Option<Index>,
    open: usize,
    next_tag: u64,
    /// Ids that the application chose; those of ours name their slot.
    by_message_id: BTreeMap<(Text, u64), Index>,
    by_ack_id: BTreeMap<Text, Index>,
    settled: Settled,
}

/// A place in the slab.
pub(super) type Index = u32;

#[derive(Debug)]
enum Slot<T> {
    Free { next: Option<Index> },
    Open(Entry<T>),
}

#[derive(Debug)]
struct Entry<T> {
    tag: u64,
    subscription: SubscriptionId,
    ids: Ids,
    value: T,
    hold: Hold,
    /// Its neighbours in the list; stale while it is held.
    previous: Option<Index>,
    next: Option<Index>,
}

/// Whether a settlement waits for COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Open,
    Tentative,
}

/// The ids that the application chose for a delivery; `None`: one of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids {
    pub(super) message_id: Option<Text>,
    pub(super) ack_id: Option<Text>,
}

impl Ids {
    const OURS: Self = Self { message_id: None, ack_id: None };
}

/// What an id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An open delivery.
    Open(Index),
    /// One that was made, but is settled.
    Settled,
    /// None that was ever made, or one whose settlement waits for COMMIT.
    Never,
}

impl<T> Ledger<T> {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: None,
            open: 0,
            next_tag: 1,
            by_message_id: BTreeMap::new(),
            by_ack_id: BTreeMap::new(),
            settled: Settled::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open
    }

    /// Gives back what an empty slab and empty maps keep.
    pub(super) fn shrink(&mut self) {
        if self.open == 0 {
            (self.slots, self.free) = (Vec::new(), None);
            (self.by_message_id, self.by_ack_id) = (BTreeMap::new(), BTreeMap::new());
        }
    }

    /// Draws the number of a delivery that is settled at once.
    pub(super) fn draw_tag(&mut self) -> DeliveryTag {
        let tag = self.next_tag;
        self.next_tag += 1;
        DeliveryTag(tag)
    }

    /// The number and the place that the next [`Ledger::open`] will give.
    pub(super) fn upcoming(&self) -> (DeliveryTag, Index) {
        let end = Index::try_from(self.slots.len()).unwrap_or(Index::MAX);
        (DeliveryTag(self.next_tag), self.free.unwrap_or(end))
    }

    /// Draws numbers until the ids of the upcoming one are none that the application has chosen for
    /// an open delivery: they may come from another session of ours.
    pub(super) fn pass_over_chosen_ids(&mut self) {
        while !(self.by_message_id.is_empty() && self.by_ack_id.is_empty()) {
            let (DeliveryTag(tag), index) = self.upcoming();
            let (id, ack_id) = (format!("{tag}-{index}"), format!("{ACK_PREFIX}{tag}-{index}"));
            let key = Text::new(&id);
            let chosen = (key.clone(), 0)..=(key, u64::MAX);
            let is_chosen = self.by_message_id.range(chosen).next().is_some();
            if !is_chosen && !self.by_ack_id.contains_key(&*ack_id) {
                break;
            }
            self.next_tag += 1;
        }
    }

    /// Enters a delivery behind those of its list.
    pub(super) fn open(
        &mut self,
        subscription: SubscriptionId,
        list: &mut List,
        ids: Ids,
        value: T,
    ) -> DeliveryTag {
        let (DeliveryTag(tag), index) = self.upcoming();
        self.next_tag += 1;
        self.open += 1;
        if let Some(message_id) = &ids.message_id {
            self.by_message_id.insert((message_id.clone(), tag), index);
        }
        if let Some(ack_id) = &ids.ack_id {
            self.by_ack_id.insert(ack_id.clone(), index);
        }
        let previous = list.last;
        let entry = Entry { tag, subscription, ids, value, hold: Hold::Open, previous, next: None };
        match self.slots.get_mut(index as usize) {
            Some(slot) => {
                if let Slot::Free { next } = slot {
                    self.free = *next;
                }
                *slot = Slot::Open(entry);
            }
            None => self.slots.push(Slot::Open(entry)),
        }
        self.join(previous, Some(index), list);
        list.last = Some(index);
        list.len += 1;
        DeliveryTag(tag)
    }

    /// Takes a delivery out.
    pub(super) fn settle(&mut self, index: Index, list: &mut List) -> Option<LedgerEntry<T>> {
        let slot = self.slots.get_mut(index as usize)?;
        if matches!(slot, Slot::Free { .. }) {
            return None;
        }
        let Slot::Open(entry) = core::mem::replace(slot, Slot::Free { next: self.free }) else {
            return None;
        };
        self.free = Some(index);
        self.open -= 1;
        if entry.hold == Hold::Open {
            self.join(entry.previous, entry.next, list);
        }
        list.len -= 1;
        self.forget(entry.tag, entry.ids);
        let Entry { tag, subscription, value, .. } = entry;
        Some(LedgerEntry { tag: DeliveryTag(tag), subscription, value })
    }

    /// Everything that is left, in the order in which it was delivered.
    pub(super) fn drain(&mut self) -> Vec<LedgerEntry<T>> {
        let slots = core::mem::replace(self, Self::new()).slots;
        let mut open: Vec<_> = slots
            .into_iter()
            .filter_map(|slot| match slot {
                Slot::Open(Entry { tag, subscription, value, .. }) => {
                    Some(LedgerEntry { tag: DeliveryTag(tag), subscription, value })
                }
                Slot::Free { .. } => None,
            })
            .collect();
        open.sort_unstable_by_key(|delivery| delivery.tag);
        open
    }

    pub(super) fn subscription(&self, index: Index) -> Option<SubscriptionId> {
        Some(self.entry(index)?.subscription)
    }

    /// The delivery that `id` acknowledges on 1.2.
    pub(super) fn find_by_ack_id(&self, id: &str) -> Found {
        if let Some(index) = self.by_ack_id.get(id) {
            return self.if_free(*index);
        }
        match id.strip_prefix(ACK_PREFIX).and_then(|id| self.find_ours(id)) {
            Some(Found::Open(index)) if self.ids(index).ack_id.is_none() => self.if_free(index),
            Some(Found::Settled) => Found::Settled,
            _ => self.if_settled(&SettledId::Ack(Text::new(id))),
        }
    }

    /// Of the open deliveries with that message-id, the one that `rank` puts highest; `None` from it
    /// leaves one out.
    pub(super) fn find_by_message_id<R: Ord>(
        &self,
        message_id: &str,
        rank: impl Fn(SubscriptionId, DeliveryTag) -> Option<R>,
    ) -> Found {
        let ranked = self.with_message_id(message_id).filter_map(|index| {
            let entry = self.entry(index)?;
            let rank = rank(entry.subscription, DeliveryTag(entry.tag))?;
            // One that a transaction settles does not stand before its namesakes.
            Some(((entry.hold == Hold::Open, rank), index))
        });
        match ranked.max_by(|one, other| one.0.cmp(&other.0)) {
            Some((_, index)) => self.if_free(index),
            None if self.find_ours(message_id) == Some(Found::Settled) => Found::Settled,
            None => self.if_settled(&SettledId::Message(Text::new(message_id))),
        }
    }

    /// Whether a delivery with that message-id is open for the subscription.
    pub(super) fn has_message_id(&self, subscription: SubscriptionId, message_id: &str) -> bool {
        self.with_message_id(message_id).any(|at| self.subscription(at) == Some(subscription))
    }

    fn with_message_id(&self, message_id: &str) -> impl Iterator<Item = Index> {
        let key = Text::new(message_id);
        let chosen = self.by_message_id.range((key.clone(), 0)..=(key, u64::MAX));
        let ours = match self.find_ours(message_id) {
            Some(Found::Open(index)) if self.ids(index).message_id.is_none() => Some(index),
            _ => None,
        };
        chosen.map(|(_, index)| *index).chain(ours)
    }

    /// Whether a delivery with that acknowledgement id is open.
    pub(super) fn has_ack_id(&self, ack_id: &str) -> bool {
        self.by_ack_id.contains_key(ack_id)
            || ack_id.strip_prefix(ACK_PREFIX).is_some_and(|id| self.find_ours(id).is_some())
    }

    /// What an id of ours says: a number, and the place that it had.
    fn find_ours(&self, id: &str) -> Option<Found> {
        let (tag, index) = parse_id(id)?;
        match self.entry(index) {
            Some(entry) if entry.tag == tag => Some(Found::Open(index)),
            _ => (0 < tag && tag < self.next_tag).then_some(Found::Settled),
        }
    }

    fn if_free(&self, index: Index) -> Found {
        match self.entry(index) {
            Some(entry) if entry.hold == Hold::Open => Found::Open(index),
            _ => Found::Never,
        }
    }

    fn if_settled(&self, id: &SettledId) -> Found {
        if self.settled.contains(id) { Found::Settled } else { Found::Never }
    }

    fn ids(&self, index: Index) -> &Ids {
        self.entry(index).map_or(&Ids::OURS, |entry| &entry.ids)
    }

    fn forget(&mut self, tag: u64, ids: Ids) {
        if let Some(ack_id) = ids.ack_id {
            self.by_ack_id.remove(&*ack_id);
            self.settled.remember(SettledId::Ack(ack_id));
        }
        if let Some(message_id) = ids.message_id {
            self.by_message_id.remove(&(message_id.clone(), tag));
            self.settled.remember(SettledId::Message(message_id));
        }
    }

    fn entry(&self, index: Index) -> Option<&Entry<T>> {
        match self.slots.get(index as usize)? {
            Slot::Open(entry) => Some(entry),
            Slot::Free { .. } => None,
        }
    }

    fn entry_mut(&mut self, index: Index) -> Option<&mut Entry<T>> {
        match self.slots.get_mut(index as usize)? {
            Slot::Open(entry) => Some(entry),
            Slot::Free { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::server::settled::REMEMBERED;

    pub(super) const SUBSCRIPTION: SubscriptionId = SubscriptionId(1);

    pub(super) fn ledger(count: u64) -> (Ledger<u64>, List) {
        let (mut ledger, mut list) = (Ledger::new(), List::default());
        for value in 0..count {
            ledger.open(SUBSCRIPTION, &mut list, Ids::default(), value);
        }
        (ledger, list)
    }

    pub(super) fn values(ledger: &Ledger<u64>, list: &List) -> Vec<u64> {
        let entries = ledger.up_to(list, None).into_iter();
        entries.map(|index| ledger.entry(index).unwrap().value).collect()
    }

    #[test]
    fn deliveries_leave_from_anywhere_and_the_rest_stays_in_order() {
        let (mut ledger, mut list) = ledger(5);
        for (index, left) in [(2, &[0, 1, 3, 4][..]), (0, &[1, 3, 4]), (4, &[1, 3])] {
            assert_eq!(ledger.settle(index, &mut list).unwrap().value, u64::from(index));
            assert_eq!(values(&ledger, &list), left);
            assert_eq!(ledger.settle(index, &mut list), None, "once");
        }
        ledger.open(SUBSCRIPTION, &mut list, Ids::default(), 5);
        assert_eq!(values(&ledger, &list), [1, 3, 5], "a used slot, behind the others");
        assert_eq!((ledger.len(), list.len), (3, 3));
        let left: Vec<_> = ledger.drain().into_iter().map(|open| open.value).collect();
        assert_eq!(left, [1, 3, 5]);
    }

    #[test]
    fn an_empty_slab_gives_its_memory_back_and_counts_on() {
        let (mut ledger, mut list) = ledger(2);
        ledger.settle(0, &mut list);
        ledger.shrink();
        assert_eq!(values(&ledger, &list), [1], "nothing that is open is lost");
        ledger.settle(1, &mut list);
        ledger.shrink();
        assert_eq!((ledger.slots.capacity(), ledger.free), (0, None));
        let tag = ledger.open(SUBSCRIPTION, &mut list, Ids::default(), 2);
        assert_eq!((tag, values(&ledger, &list)), (DeliveryTag(3), [2].into()));
    }

    #[test]
    fn an_id_of_ours_tells_open_from_settled_from_never() {
        let (mut ledger, mut list) = ledger(2);
        ledger.settle(0, &mut list);
        ledger.open(SUBSCRIPTION, &mut list, Ids::default(), 2);
        for (id, found) in [
            ("a1-0", Found::Settled),
            ("a2-1", Found::Open(1)),
            ("a3-0", Found::Open(0)),
            ("a4-0", Found::Never),
            ("a0-0", Found::Never),
            ("2-1", Found::Never),
            ("a2", Found::Never),
            ("a+2-1", Found::Never),
            ("a02-1", Found::Never),
            ("a2-01", Found::Never),
            ("a3-00", Found::Never),
            ("a2-99999999999", Found::Never),
            ("", Found::Never),
        ] {
            assert_eq!(ledger.find_by_ack_id(id), found, "{id}");
        }
        let any = |_, _| Some(());
        assert_eq!(ledger.find_by_message_id("2-1", any), Found::Open(1));
        assert_eq!(ledger.find_by_message_id("1-0", any), Found::Settled);
        assert_eq!(ledger.find_by_message_id("a2-1", any), Found::Never);
    }

    #[test]
    fn a_chosen_id_is_found_by_rank_and_remembered_for_a_while() {
        let (mut ledger, mut one, mut two) = (Ledger::new(), List::default(), List::default());
        let ids = || Ids { message_id: Some("m".into()), ack_id: None };
        ledger.open(SubscriptionId(1), &mut one, ids(), 0);
        ledger.open(SubscriptionId(2), &mut two, ids(), 1);
        let oldest = |_, tag| Some(core::cmp::Reverse(tag));
        let of_two = |of, _| (of == SubscriptionId(2)).then_some(());
        assert_eq!(ledger.find_by_message_id("m", oldest), Found::Open(0));
        assert_eq!(ledger.find_by_message_id("m", of_two), Found::Open(1));
        assert!(ledger.has_message_id(SubscriptionId(2), "m"));
        assert!(!ledger.has_message_id(SubscriptionId(3), "m"));
        ledger.settle(1, &mut two);
        assert_eq!(ledger.find_by_message_id("m", of_two), Found::Settled);
        for number in 0..REMEMBERED as u64 {
            let ids = Ids { message_id: Some(format!("n{number}").as_str().into()), ack_id: None };
            ledger.open(SubscriptionId(2), &mut two, ids, number);
            ledger.settle(two.first.unwrap(), &mut two);
        }
        assert_eq!(ledger.find_by_message_id("m", of_two), Found::Never, "forgotten");
    }

    #[test]
    fn an_id_that_is_chosen_never_stands_for_a_delivery_that_has_another() {
        let (mut ledger, mut list) = (Ledger::new(), List::default());
        let ids = Ids { message_id: Some("9-9".into()), ack_id: Some("a9-9".into()) };
        ledger.open(SUBSCRIPTION, &mut list, ids, 0);
        let any = |_, _| Some(());
        assert_eq!(ledger.find_by_message_id("1-0", any), Found::Never);
        assert_eq!(ledger.find_by_ack_id("a1-0"), Found::Never);
        assert_eq!(ledger.find_by_message_id("9-9", any), Found::Open(0));
        assert_eq!(ledger.find_by_ack_id("a9-9"), Found::Open(0));
    }
}
