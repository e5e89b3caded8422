//! One direction of a connection: latency, sockets of bounded size, and how much a read takes.

use alloc::collections::VecDeque;
use core::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use stomp_proto::Outbox;

/// How the stream is cut into reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunking {
    /// A read takes all that has come.
    Whole,
    /// A read takes one octet.
    Octets,
    /// A read takes between 1 and 100 octets, as the dice fall.
    Random(u64),
}

pub(crate) const CHUNKINGS: [Chunking; 3] =
    [Chunking::Whole, Chunking::Octets, Chunking::Random(7)];

/// Random numbers that are the same in every run (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number from 0 to `most`.
    pub(crate) fn roll(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % (most + 1)
    }
}

/// What a read finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Octets(Bytes),
    /// The writer has ended its stream.
    End,
    /// The connection is dead.
    Reset,
    /// Nothing for now.
    Nothing,
}

/// How the reader of a stream that is cut off finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The stream ends as if the writer had ended it.
    End,
    /// The socket is broken.
    Reset,
    /// Not at all.
    Silence,
}

/// What becomes of the octets that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// They arrive.
    Arrive,
    /// They vanish, and nobody is told.
    Vanish,
    /// They cannot even be written: the reader has closed its socket.
    Refused,
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) latency: Duration,
    /// The octets that may be under way or wait to be read: the buffers of both sockets together.
    pub(crate) capacity: usize,
    /// The stream ends after so many octets, whatever is written.
    pub(crate) cut: Option<usize>,
    /// And so the reader finds out.
    pub(crate) cut_is: Cut,
    chunking: Chunking,
    dice: Dice,
    fate: Fate,
    /// With the time at which they arrive.
    under_way: VecDeque<(Duration, Bytes)>,
    /// When the end of the stream arrives.
    end: Option<Duration>,
    end_was_read: bool,
    /// All that was ever written, and how much of it was asked for.
    record: Vec<u8>,
    asked: usize,
    /// The octets that were read.
    read: usize,
}

impl Wire {
    pub(crate) fn new(latency: Duration, capacity: usize, chunking: Chunking) -> Self {
        let seed = if let Chunking::Random(seed) = chunking { seed } else { 0 };
        Self {
            latency,
            capacity,
            cut: None,
            cut_is: Cut::End,
            chunking,
            dice: Dice::new(seed),
            fate: Fate::Arrive,
            under_way: VecDeque::new(),
            end: None,
            end_was_read: false,
            record: Vec::new(),
            asked: 0,
            read: 0,
        }
    }

    // ---- the writer

    /// Writes as much as the socket takes; how much that was. `None`: the socket is broken.
    pub(crate) fn write(&mut self, outbox: &mut Outbox, now: Duration) -> Option<usize> {
        if self.fate == Fate::Refused && outbox.has_remaining() {
            return None;
        }
        let start = self.record.len();
        let mut room = self.capacity.saturating_sub(self.waiting());
        while room > 0 && outbox.has_remaining() {
            let chunk = outbox.chunk();
            let count = chunk.len().min(room);
            self.record.extend_from_slice(&chunk[..count]);
            outbox.advance(count);
            room -= count;
        }
        let end = self.cut.unwrap_or(usize::MAX).min(self.record.len());
        if self.fate == Fate::Arrive && self.end.is_none() && start < end {
            let octets = Bytes::copy_from_slice(&self.record[start..end]);
            self.under_way.push_back((self.arrival(now), octets));
        }
        if self.is_cut() {
            self.shut_down(now);
        }
        Some(self.record.len() - start)
    }

    /// Ends the stream behind what was written.
    pub(crate) fn shut_down(&mut self, now: Duration) {
        if self.end.is_none() && self.fate == Fate::Arrive {
            self.end = Some(self.arrival(now));
        }
    }

    /// When what is written now arrives: never before what was written earlier.
    fn arrival(&self, now: Duration) -> Duration {
        let last = self.under_way.back().map_or(Duration::ZERO, |(at, _)| *at);
        last.max(now + self.latency)
    }

    // ---- the reader

    /// Takes what one read takes.
    pub(crate) fn read(&mut self, now: Duration) -> Read {
        let Some((at, octets)) = self.under_way.front_mut() else {
            if self.next_arrival().is_none_or(|at| at > now) {
                return Read::Nothing;
            }
            self.end_was_read = true;
            return if self.is_reset() { Read::Reset } else { Read::End };
        };
        if *at > now {
            return Read::Nothing;
        }
        let count = match self.chunking {
            Chunking::Whole => octets.len(),
            Chunking::Octets => 1,
            Chunking::Random(_) => {
                let roll = usize::try_from(self.dice.roll(99)).expect("small");
                octets.len().min(1 + roll)
            }
        };
        let mut chunk = octets.split_to(count);
        if octets.is_empty() {
            self.under_way.pop_front();
        }
        if self.chunking == Chunking::Whole {
            chunk = self.with_the_rest(chunk, now);
        }
        self.read += chunk.len();
        Read::Octets(chunk)
    }

    fn with_the_rest(&mut self, first: Bytes, now: Duration) -> Bytes {
        let mut all = BytesMut::from(first);
        while self.under_way.front().is_some_and(|(at, _)| *at <= now) {
            let (_, octets) = self.under_way.pop_front().expect("there is one");
            all.extend_from_slice(&octets);
        }
        all.freeze()
    }

    /// The reader closes its socket: it wants no more.
    pub(crate) fn close(&mut self) {
        self.under_way.clear();
        self.fate = Fate::Refused;
    }

    // ---- the network

    /// From here on nothing arrives any more, and nobody is told.
    pub(crate) fn fall_silent(&mut self) {
        self.fate = Fate::Vanish;
        self.under_way.clear();
        self.end = self.end.filter(|_| self.end_was_read);
    }

    /// The stream ends at that time, in that way: what is written from here on, and what would have
    /// arrived later, does not arrive.
    pub(crate) fn cut_at(&mut self, at: Duration, cut: Cut) {
        self.cut = Some(self.record.len());
        self.cut_is = cut;
        self.end = Some(self.end.map_or(at, |end| end.min(at)));
        self.under_way.retain(|(arrival, _)| *arrival <= at);
    }

    /// Octets of somebody else's that arrive behind what was written.
    pub(crate) fn inject(&mut self, octets: &[u8], now: Duration) {
        self.record.extend_from_slice(octets);
        self.under_way.push_back((self.arrival(now), Bytes::copy_from_slice(octets)));
    }

    /// Whether a read that takes all that has come finds the end behind it.
    pub(crate) fn is_at_its_end(&self, now: Duration) -> bool {
        let is_next = self.under_way.is_empty() && self.chunking == Chunking::Whole;
        is_next && self.next_arrival().is_some_and(|at| at <= now)
    }

    /// When there is something to read next, be it the end of the stream.
    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        let is_silent = self.is_cut() && self.cut_is == Cut::Silence;
        let end = self.end.filter(|_| !is_silent && !self.end_was_read);
        self.under_way.front().map(|(at, _)| *at).or(end)
    }

    // ---- the test

    /// The octets that were written since the last time, as text.
    pub(crate) fn written(&mut self) -> String {
        let octets = &self.record[self.asked..];
        self.asked = self.record.len();
        String::from_utf8_lossy(octets).into_owned()
    }

    /// All octets that were ever written.
    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// The number of octets that were read.
    pub(crate) fn read_count(&self) -> usize {
        self.read
    }

    /// Whether the reader has closed its socket.
    pub(crate) fn is_closed(&self) -> bool {
        self.fate == Fate::Refused
    }

    /// Whether the stream was cut off, whoever has noticed.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_some_and(|cut| cut <= self.record.len())
    }

    /// Whether the reader finds a broken socket behind what arrives.
    pub(crate) fn is_reset(&self) -> bool {
        self.is_cut() && self.cut_is == Cut::Reset
    }

    /// When the end arrives, or would if it were one.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.end
    }

    /// The octets that were read.
    pub(crate) fn heard(&self) -> &[u8] {
        &self.record[..self.read]
    }

    /// Whether the end of the stream was read.
    pub(crate) fn has_ended(&self) -> bool {
        self.end_was_read
    }

    /// The number of octets that are under way or wait to be read.
    pub(crate) fn waiting(&self) -> usize {
        self.under_way.iter().map(|(_, octets)| octets.len()).sum()
    }
}
