//! The open deliveries of one subscription, as a list through the slab.
//!
//! One whose settlement waits for COMMIT is not in it: an ACK that covers all before it would walk
//! over them again and again.

use alloc::vec::Vec;

use super::{Hold, Index, Ledger};
use crate::server::AckScope;

/// The deliveries of one subscription: oldest first, where an ACK settles all before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) struct List {
    pub(super) first: Option<Index>,
    pub(super) last: Option<Index>,
    /// How many there are, those that a transaction holds included.
    pub(in crate::server) len: usize,
}

impl<T> Ledger<T> {
    /// Those that no transaction holds, up to and including `end`.
    pub(in crate::server) fn up_to(&self, list: &List, end: Option<Index>) -> Vec<Index> {
        let mut indices = Vec::new();
        let mut next = list.first;
        while let Some((index, entry)) = next.and_then(|at| Some((at, self.entry(at)?))) {
            indices.push(index);
            next = entry.next.filter(|_| Some(index) != end);
        }
        indices
    }

    /// Marks settlements as waiting for COMMIT.
    pub(in crate::server) fn hold(&mut self, indices: &[Index], list: &mut List) {
        for &index in indices {
            let Some(entry) = self.entry_mut(index) else { continue };
            if entry.hold == Hold::Tentative {
                continue;
            }
            entry.hold = Hold::Tentative;
            let (previous, next) = (entry.previous, entry.next);
            self.join(previous, next, list);
        }
    }

    /// Takes such marks back.
    ///
    /// Where an ACK settles all before it, each goes back to its place, which is near the front:
    /// before it are only others that were given back. Where each is settled alone the place could be
    /// anywhere, and nobody needs it: it goes to the end.
    pub(in crate::server) fn let_go(
        &mut self,
        mut indices: Vec<Index>,
        list: &mut List,
        scope: AckScope,
    ) {
        indices.sort_unstable_by_key(|index| self.tag(*index));
        let mut previous = None;
        for index in indices {
            previous = match scope {
                AckScope::Cumulative => self.last_before(index, previous, list),
                AckScope::Individual => list.last,
            };
            let next = match previous {
                Some(previous) => self.entry(previous).and_then(|entry| entry.next),
                None => list.first,
            };
            let Some(entry) = self.entry_mut(index) else { continue };
            entry.hold = Hold::Open;
            self.join(previous, Some(index), list);
            self.join(Some(index), next, list);
            previous = Some(index);
        }
    }

    /// The last of a list that is older than a delivery, from `start` on; `None`: all are younger.
    fn last_before(&self, index: Index, start: Option<Index>, list: &List) -> Option<Index> {
        let mut before = start;
        loop {
            let next = match before {
                Some(before) => self.entry(before)?.next,
                None => list.first,
            };
            match next {
                Some(next) if self.tag(next) < self.tag(index) => before = Some(next),
                _ => return before,
            }
        }
    }

    fn tag(&self, index: Index) -> Option<u64> {
        Some(self.entry(index)?.tag)
    }

    /// Makes two of a list neighbours; `None` is its end.
    pub(super) fn join(&mut self, previous: Option<Index>, next: Option<Index>, list: &mut List) {
        match previous.and_then(|previous| self.entry_mut(previous)) {
            Some(previous) => previous.next = next,
            None => list.first = next,
        }
        match next.and_then(|next| self.entry_mut(next)) {
            Some(next) => next.previous = previous,
            None => list.last = previous,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::server::ledger::tests::{SUBSCRIPTION, ledger, values};
    use crate::server::ledger::{Found, Ids};

    #[test]
    fn a_held_settlement_is_nobodys_until_it_is_let_go() {
        let (mut ledger, mut list) = ledger(3);
        ledger.hold(&[1], &mut list);
        assert_eq!(ledger.find_by_ack_id("a2-1"), Found::Never);
        assert_eq!(ledger.up_to(&list, Some(2)), [0, 2]);
        ledger.let_go([1].into(), &mut list, AckScope::Cumulative);
        assert_eq!(ledger.find_by_ack_id("a2-1"), Found::Open(1));
        assert_eq!(ledger.up_to(&list, Some(1)), [0, 1]);
    }

    #[test]
    fn a_held_settlement_is_settled_from_outside_the_list() {
        let (mut ledger, mut list) = ledger(3);
        ledger.hold(&[0, 1], &mut list);
        assert_eq!((values(&ledger, &list), list.len), ([2].into(), 3));
        for index in [1, 0] {
            assert_eq!(ledger.settle(index, &mut list).unwrap().value, u64::from(index));
        }
        assert_eq!((values(&ledger, &list), list.len), ([2].into(), 1));
        assert!(ledger.settle(2, &mut list).is_some());
        assert_eq!(list, List::default());
    }

    #[test]
    fn where_each_is_settled_alone_one_goes_back_to_the_end() {
        let (mut ledger, mut list) = ledger(4);
        ledger.hold(&[2, 0], &mut list);
        ledger.let_go([2, 0].into(), &mut list, AckScope::Individual);
        assert_eq!(values(&ledger, &list), [1, 3, 0, 2]);
    }

    #[test]
    fn what_is_held_twice_leaves_the_list_once() {
        let (mut ledger, mut list) = ledger(2);
        ledger.hold(&[0], &mut list);
        ledger.hold(&[0, 1], &mut list);
        assert_eq!((list.first, list.last, list.len), (None, None, 2));
    }

    /// Who has a delivery.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Of {
        Nobody,
        Transaction(usize),
    }

    proptest! {
        /// Whatever is delivered, acknowledged, held, given back or committed, in any order.
        #[test]
        fn the_list_is_what_nobody_holds_oldest_first(
            operations in prop::collection::vec((0..5u8, 0..3usize, 0..8usize), 0..60),
        ) {
            let (mut ledger, mut list) = ledger(0);
            let mut model = Vec::<(u64, Index, Of)>::new();
            for (next, (what, transaction, place)) in operations.into_iter().enumerate() {
                let of = Of::Transaction(transaction);
                let open = model.iter().filter(|open| open.2 == Of::Nobody).map(|open| open.1);
                let ack = open.clone().nth(place);
                let covered: Vec<_> = open.take(place + 1).collect();
                match what {
                    0 | 1 => {
                        let (_, index) = ledger.upcoming();
                        ledger.open(SUBSCRIPTION, &mut list, Ids::default(), next as u64);
                        model.push((next as u64, index, Of::Nobody));
                    }
                    2 if ack.is_some() => {
                        prop_assert_eq!(&ledger.up_to(&list, ack), &covered);
                        ledger.hold(&covered, &mut list);
                        for held in model.iter_mut().filter(|open| covered.contains(&open.1)) {
                            held.2 = of;
                        }
                    }
                    3 => {
                        let held = model.iter_mut().filter(|open| open.2 == of);
                        let held = held.map(|open| { open.2 = Of::Nobody; open.1 }).rev().collect();
                        ledger.let_go(held, &mut list, AckScope::Cumulative);
                    }
                    4 => {
                        for (value, index, _) in model.iter().filter(|open| open.2 == of) {
                            let settled = ledger.settle(*index, &mut list).unwrap();
                            prop_assert_eq!(settled.value, *value);
                        }
                        model.retain(|open| open.2 != of);
                    }
                    _ => {}
                }
                let open = model.iter().filter(|open| open.2 == Of::Nobody).map(|open| open.0);
                prop_assert_eq!(values(&ledger, &list), open.collect::<Vec<_>>());
                prop_assert_eq!((list.len, ledger.len()), (model.len(), model.len()));
            }
        }
    }
}
