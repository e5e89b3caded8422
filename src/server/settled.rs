//! Ids that the application chose and that were settled not long ago: who acknowledges one of them
//! again is late, not wrong.

use alloc::collections::{BTreeSet, VecDeque};

use crate::frame::Text;

/// How many are known.
pub(super) const REMEMBERED: usize = 4096;

/// An id by what it was for: a message-id that equals an acknowledgement id says nothing about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SettledId {
    Message(Text),
    Ack(Text),
}

#[derive(Debug)]
pub(super) struct Settled {
    ids: BTreeSet<SettledId>,
    /// The same, oldest first.
    by_age: VecDeque<SettledId>,
}

impl Settled {
    pub(super) fn new() -> Self {
        Self { ids: BTreeSet::new(), by_age: VecDeque::new() }
    }

    pub(super) fn contains(&self, id: &SettledId) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn remember(&mut self, id: SettledId) {
        if !self.ids.insert(id.clone()) {
            return;
        }
        // First out, then in: one more than that would take twice the room.
        if self.by_age.len() >= REMEMBERED {
            if let Some(oldest) = self.by_age.pop_front() {
                self.ids.remove(&oldest);
            }
        }
        self.by_age.push_back(id);
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn ack(id: &str) -> SettledId {
        SettledId::Ack(id.into())
    }

    #[test]
    fn an_id_is_known_for_what_it_was() {
        let mut settled = Settled::new();
        settled.remember(SettledId::Message("m".into()));
        assert!(settled.contains(&SettledId::Message("m".into())));
        assert!(!settled.contains(&ack("m")));
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut settled = Settled::new();
        for number in 0..REMEMBERED {
            settled.remember(ack(&format!("{number}")));
        }
        settled.remember(ack("0"));
        assert!(settled.contains(&ack("0")), "known already: none makes room");
        settled.remember(ack("one more"));
        assert!(!settled.contains(&ack("0")) && settled.contains(&ack("1")));
        assert_eq!((settled.ids.len(), settled.by_age.len()), (REMEMBERED, REMEMBERED));
    }
}
