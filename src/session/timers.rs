//! A fixed table of optional deadlines on the caller's clock.

use core::ops::Add;
use core::time::Duration;

/// A point on a clock of the caller's: `std::time::Instant`, `tokio::time::Instant`, or a plain
/// `Duration` since an epoch of its own. Implemented for every type that fits. It has to tell a
/// millisecond from nothing.
pub trait Instant: Copy + Ord + Add<Duration, Output = Self> {}

impl<I: Copy + Ord + Add<Duration, Output = I>> Instant for I {}

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The peer's part of the handshake.
    Connect,
    /// A heart-beat of ours is due.
    Beat,
    /// The peer counts as dead.
    Silence,
    /// The last answer before a session ends.
    Disconnect,
    /// The peer's end of the stream, once ours was written.
    Close,
}

impl Timer {
    const COUNT: usize = 5;
}

#[derive(Clone, Debug)]
pub(crate) struct Timers<I> {
    deadlines: [Option<I>; Timer::COUNT],
}

impl<I: Instant> Timers<I> {
    pub(crate) fn new() -> Self {
        Self { deadlines: [None; Timer::COUNT] }
    }

    #[inline]
    pub(crate) fn set(&mut self, timer: Timer, deadline: I) {
        self.write(timer, Some(deadline));
    }

    pub(crate) fn stop(&mut self, timer: Timer) {
        self.write(timer, None);
    }

    pub(crate) fn stop_all(&mut self) {
        self.deadlines = [None; Timer::COUNT];
    }

    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.read(timer).is_some()
    }

    #[inline]
    pub(crate) fn has_expired(&self, timer: Timer, now: I) -> bool {
        self.read(timer).is_some_and(|deadline| deadline <= now)
    }

    /// Whether the deadline lies back by more than that.
    pub(crate) fn has_expired_by(&self, timer: Timer, now: I, by: Duration) -> bool {
        self.read(timer).is_some_and(|deadline| deadline + by < now)
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<I> {
        self.deadlines.iter().flatten().min().copied()
    }

    #[inline]
    fn read(&self, timer: Timer) -> Option<I> {
        self.deadlines.get(timer as usize).copied().flatten()
    }

    #[inline]
    fn write(&mut self, timer: Timer, deadline: Option<I>) {
        if let Some(entry) = self.deadlines.get_mut(timer as usize) {
            *entry = deadline;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_earliest_deadline_is_next_and_each_timer_has_one() {
        let mut timers = Timers::new();
        assert_eq!(timers.next(), None);
        timers.set(Timer::Close, ms(30));
        timers.set(Timer::Beat, ms(20));
        timers.set(Timer::Connect, ms(10));
        timers.set(Timer::Connect, ms(25));
        assert_eq!(timers.next(), Some(ms(20)));
        timers.stop(Timer::Beat);
        assert_eq!(timers.next(), Some(ms(25)));
        assert!(timers.is_set(Timer::Close) && !timers.is_set(Timer::Beat));
        timers.stop_all();
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn a_deadline_has_passed_when_it_is_reached() {
        let mut timers = Timers::new();
        timers.set(Timer::Silence, ms(10));
        assert!(!timers.has_expired(Timer::Silence, ms(9)));
        assert!(timers.has_expired(Timer::Silence, ms(10)));
        assert!(!timers.has_expired(Timer::Beat, ms(10)));
        assert!(!timers.has_expired_by(Timer::Silence, ms(15), ms(5)), "by that, not by more");
        assert!(timers.has_expired_by(Timer::Silence, ms(16), ms(5)));
    }
}
