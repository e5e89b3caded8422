//! All pairs, and the one loop of timers that drives them.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use core::time::Duration;

use crate::counting::held;
use crate::pair::Pair;

/// When beats are watched from on.
const START: Duration = Duration::from_secs(3600);

/// What the ids may take that a server remembers, of deliveries that were settled: 4096.
const IDS: isize = 400 << 10;

/// What the subscriptions may take that a client remembers, of those that have ended: 8.
const SUBSCRIPTIONS: isize = 1 << 10;

#[derive(Debug)]
pub(crate) struct World {
    pairs: Vec<Pair>,
    /// When each pair has something to do next.
    timers: BinaryHeap<Reverse<(Duration, usize)>>,
}

impl World {
    pub(crate) fn new(pairs: u64) -> Self {
        let count = usize::try_from(pairs).expect("a number that a machine can hold");
        let mut world =
            Self { pairs: Vec::with_capacity(count), timers: BinaryHeap::with_capacity(count) };
        for number in 0..pairs {
            // They connect one after the other.
            let at = Duration::from_millis(number);
            world.pairs.push(Pair::new(number, at));
            world.timers.push(Reverse((at, world.timers.len())));
        }
        world
    }

    /// Lets all happen until that time, when all are at rest.
    pub(crate) fn run_until(&mut self, end: Duration) {
        while let Some(mut next) = self.timers.peek_mut() {
            let Reverse((now, at)) = *next;
            if now > end {
                break;
            }
            *next = Reverse((self.pairs[at].step(now), at));
            drop(next);
        }
        // A driver looks after sessions that have nothing to do, once in a while.
        for early in [Duration::from_micros(2), Duration::from_micros(1)] {
            for pair in &mut self.pairs {
                pair.rest(end + early);
            }
        }
    }

    /// Notes what has beaten so far where nothing but beats will be said.
    pub(crate) fn watch_beats(&mut self) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.plan.pace.is_none()) {
            pair.watched = [pair.up.pace, pair.down.pace];
        }
    }

    /// As many beats as the time has room for, and no other, since they were watched.
    pub(crate) fn check_beats(&self, time: Duration) {
        let mut checked = 0;
        for pair in self.pairs.iter().filter(|pair| pair.plan.pace.is_none()) {
            for (before, after) in pair.watched.into_iter().zip([pair.up.pace, pair.down.pace]) {
                let (Some(before), Some(after)) = (before, after) else { continue };
                let beats =
                    (START + time).saturating_sub(before.last).as_nanos() / before.after.as_nanos();
                assert_eq!(u128::from(after.beats - before.beats), beats, "{:?}", pair.plan);
                checked += beats;
            }
        }
        assert!(checked > 0, "nobody has beaten");
    }

    /// What can happen has happened.
    pub(crate) fn check_that_it_was_a_day(&self) {
        let sum = |count: fn(&Pair) -> u64| self.pairs.iter().map(count).sum::<u64>();
        let taken = sum(|pair| pair.broker.taken);
        assert!(taken > 10 * self.pairs.len() as u64, "{taken} messages");
        for (count, what) in [
            (sum(|pair| pair.ended), "sessions that ended"),
            (sum(|pair| pair.convicted), "ends that were convicted of silence"),
            (sum(|pair| pair.broker.settled_at_once), "messages of the mode auto"),
            (sum(|pair| pair.broker.consumed), "messages that were consumed"),
            (sum(|pair| pair.broker.refused), "messages that were refused"),
            (sum(|pair| pair.broker.given_back), "messages that were given back"),
            (sum(|pair| pair.broker.again), "messages that were sent again"),
            (sum(|pair| pair.broker.was_full), "times that a client did not read"),
        ] {
            assert!(count > self.pairs.len() as u64 / 20, "{count} {what}");
        }
    }

    /// Each session holds so much at the most. Then it is gone.
    pub(crate) fn check_sessions(&mut self, most: isize) {
        for pair in self.pairs.drain(..) {
            let Pair { client, server, plan, .. } = pair;
            let sizes = [size_of_val(&client), size_of_val(&server)];
            let heaps = [held(|| drop(client)).0, held(|| drop(server)).0];
            for (size, heap) in sizes.into_iter().zip(heaps) {
                let held = isize::try_from(size).expect("small") - heap;
                let remembered = match plan {
                    _ if plan.chooses_ids => IDS,
                    _ if plan.renews => SUBSCRIPTIONS,
                    _ => 0,
                };
                assert!(held <= most + remembered, "{held} octets, {plan:?}");
            }
        }
    }
}
