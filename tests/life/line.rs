//! One direction of a connection: latency, sockets of bounded size, and the pace of what is written.

use alloc::collections::VecDeque;
use core::time::Duration;

use bytes::{Buf, Bytes};
use stomp_proto::Outbox;

/// Random numbers that are the same in every run (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// What a read finds.
#[derive(Debug)]
pub(crate) enum Read {
    Octets(Bytes),
    End,
    Reset,
    Nothing,
}

/// When beats are due in one direction, and how many there were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    since: Duration,
    /// Octets left, at last.
    pub(crate) last: Duration,
    /// The pause behind which a beat is due.
    pub(crate) after: Duration,
    pub(crate) beats: u64,
    /// Whether the socket was full: then nothing can be on time.
    is_blocked: bool,
}

impl Pace {
    /// A quarter early, and 5 s at the most, on the agreed interval.
    pub(crate) fn new(interval: Duration, now: Duration) -> Self {
        let after = interval.saturating_sub((interval / 4).min(Duration::from_secs(5)));
        Self { since: now, last: now, after, beats: 0, is_blocked: false }
    }

    /// Octets leave: a beat to the millisecond when it is due, anything else not later.
    fn check(&mut self, is_beat: bool, now: Duration) {
        let due = self.last + self.after;
        if is_beat {
            assert!(self.is_blocked || now == due, "a beat at {now:?} was due at {due:?}");
            self.beats += 1;
        }
        assert!(self.is_blocked || now <= due, "nothing left until {now:?}, due was {due:?}");
        self.last = now;
    }
}

/// Writes that are under way at most times.
const ROOM: usize = 8;

#[derive(Debug)]
pub(crate) struct Line {
    latency: Duration,
    /// The most that is added to it, in milliseconds.
    jitter: u64,
    /// The octets that may be under way: the buffers of both sockets together.
    pub(crate) capacity: usize,
    dice: Dice,
    /// With the time at which they arrive.
    under_way: VecDeque<(Duration, Bytes)>,
    waiting: usize,
    /// When the end of the stream arrives, and whether it is a broken socket.
    end: Option<(Duration, bool)>,
    /// Whether what is written arrives.
    is_open: bool,
    /// While beats are due.
    pub(crate) pace: Option<Pace>,
    /// When octets were read, at last.
    pub(crate) heard: Duration,
    /// Whether the reader did not read what had come, or the writer could not write.
    pub(crate) is_held_up: bool,
}

impl Line {
    pub(crate) fn new(latency: Duration, jitter: u64, capacity: usize, seed: u64) -> Self {
        Self {
            latency,
            jitter,
            capacity,
            dice: Dice::new(seed),
            under_way: VecDeque::with_capacity(ROOM),
            waiting: 0,
            end: None,
            is_open: true,
            pace: None,
            heard: Duration::ZERO,
            is_held_up: false,
        }
    }

    /// Writes as much as fits. `false`: nothing.
    pub(crate) fn write(&mut self, outbox: &mut Outbox, now: Duration) -> bool {
        let len = outbox.remaining();
        let count = len.min(self.capacity.saturating_sub(self.waiting));
        if let Some(pace) = self.pace.as_mut().filter(|_| len > 0) {
            if count > 0 {
                pace.check(len == 1 && outbox.chunk() == b"\n", now);
            }
            pace.is_blocked = count < len;
            self.is_held_up |= pace.is_blocked;
        }
        if count == 0 {
            return false;
        }
        let octets = if outbox.chunk() == b"\n" {
            outbox.advance(1);
            Bytes::from_static(b"\n")
        } else {
            outbox.copy_to_bytes(count)
        };
        if self.is_open && self.end.is_none() {
            let delay = Duration::from_millis(self.dice.below(self.jitter + 1));
            let last = self.under_way.back().map_or(Duration::ZERO, |(at, _)| *at);
            self.waiting += octets.len();
            self.under_way.push_back((last.max(now + self.latency + delay), octets));
        }
        true
    }

    /// The writer ends its stream.
    pub(crate) fn shut_down(&mut self, now: Duration) {
        if self.is_open && self.end.is_none() {
            let last = self.under_way.back().map_or(Duration::ZERO, |(at, _)| *at);
            self.end = Some((last.max(now + self.latency), false));
        }
    }

    pub(crate) fn read(&mut self, now: Duration) -> Read {
        let Some((at, octets)) = self.under_way.front_mut() else {
            let end = self.end.filter(|_| self.is_open).filter(|(at, _)| *at <= now);
            self.is_open &= end.is_none();
            return match end {
                Some((_, true)) => Read::Reset,
                Some((_, false)) => Read::End,
                None => Read::Nothing,
            };
        };
        if *at > now {
            return Read::Nothing;
        }
        let octets = core::mem::take(octets);
        self.under_way.pop_front();
        self.waiting -= octets.len();
        self.check_arrival(now);
        self.heard = now;
        Read::Octets(octets)
    }

    /// From one arrival to the next it takes no longer than the pace of the writer allows for.
    fn check_arrival(&mut self, now: Duration) {
        let was_held_up = core::mem::take(&mut self.is_held_up);
        let Some(pace) = self.pace.filter(|pace| pace.since <= self.heard && !was_held_up) else {
            return;
        };
        let most = pace.after + Duration::from_millis(self.jitter);
        let pause = now.saturating_sub(self.heard);
        assert!(pause <= most, "nothing came for {pause:?} until {now:?}");
    }

    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        let end = self.end.filter(|_| self.is_open).map(|(at, _)| at);
        self.under_way.front().map(|(at, _)| *at).or(end)
    }

    // ---- what the network does

    /// Nothing arrives any more, and nobody is told.
    pub(crate) fn fall_silent(&mut self) {
        self.under_way.clear();
        (self.waiting, self.is_open) = (0, false);
    }

    /// The connection breaks: a half of what is under way arrives, then the end, or the news that the
    /// socket is broken.
    pub(crate) fn cut(&mut self, is_reset: bool, now: Duration) {
        self.under_way.truncate(1);
        self.waiting = 0;
        if let Some((_, octets)) = self.under_way.front_mut() {
            octets.truncate(octets.len() / 2);
            self.waiting = octets.len();
        }
        self.under_way.retain(|(_, octets)| !octets.is_empty());
        let last = self.under_way.back().map_or(Duration::ZERO, |(at, _)| *at);
        self.end = Some((last.max(now + self.latency), is_reset));
    }

    /// Nothing but beats is under way; what was needed for more is given back.
    pub(crate) fn rest(&mut self) {
        assert!(self.under_way.iter().all(|(_, octets)| octets == "\n"), "octets are under way");
        self.under_way.shrink_to(ROOM);
    }
}
