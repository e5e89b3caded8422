//! Heart-beats: the agreement, when to beat, when the peer counts as silent.
//!
//! STOMP 1.2, "Heart-beating".

use core::fmt;
use core::time::Duration;

use bytes::{BufMut, BytesMut};

use crate::codec::put_decimal;

/// What one end says about heart-beats in CONNECT or CONNECTED.
///
/// ```
/// use stomp_proto::HeartBeat;
/// let offer = HeartBeat { can_send: 10_000, wants: 5_000 };
/// assert_eq!(HeartBeat::parse("10000,5000"), Some(offer));
/// assert_eq!(offer.to_string(), "10000,5000");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeartBeat {
    /// The longest pause that this end guarantees, in milliseconds; 0: it sends none.
    pub can_send: u32,
    /// The pause that this end would like of the other, in milliseconds; 0: it wants none.
    pub wants: u32,
}

impl HeartBeat {
    /// Nothing in either direction, which is also what a missing header means.
    pub const NONE: Self = Self { can_send: 0, wants: 0 };

    /// Reads a `heart-beat` header value: two decimal numbers and a comma, nothing else.
    ///
    /// Numbers that no clock needs are taken as the largest that fits; one that is not even a 64-bit
    /// number is no number.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let (can_send, wants) = value.split_once(',')?;
        Some(Self { can_send: milliseconds(can_send)?, wants: milliseconds(wants)? })
    }

    /// Writes the header value.
    pub(crate) fn put(self, out: &mut BytesMut) {
        put_decimal(self.can_send.into(), out);
        out.put_u8(b',');
        put_decimal(self.wants.into(), out);
    }

    /// What an end that says `self` sends and expects, when the other one says `theirs`.
    #[must_use]
    pub fn agree(self, theirs: Self) -> Agreement {
        Agreement {
            outgoing: interval(self.can_send, theirs.wants),
            incoming: interval(theirs.can_send, self.wants),
        }
    }
}

impl fmt::Display for HeartBeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.can_send, self.wants)
    }
}

/// The heart-beats that two ends agreed on, as one of them sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The longest pause that this end may make.
    pub outgoing: Option<Duration>,
    /// The longest pause that the other end may make.
    pub incoming: Option<Duration>,
}

/// How early to beat, and how late the peer may be.
///
/// ```
/// use stomp_proto::{Beats, HeartBeatTiming};
/// let timing = HeartBeatTiming { late_intervals: 3, ..HeartBeatTiming::default() };
/// assert_eq!(timing.beats, Beats::WhenIdle);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartBeatTiming {
    /// A beat is due that part of the interval early: 4 means a quarter. 0: not early.
    pub early_part: u32,
    /// But never earlier than this.
    pub early_most: Duration,
    /// The peer is silent after that many intervals …
    pub late_intervals: u32,
    /// … and this.
    pub late_extra: Duration,
    /// Whether frames make beats superfluous.
    pub beats: Beats,
}

/// When beats are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beats {
    /// When nothing else was, which is all that the text asks for.
    #[default]
    WhenIdle,
    /// In every interval, for peers that do not take a frame for a sign of life.
    Always,
}

impl Default for HeartBeatTiming {
    /// A beat a quarter early, at most 5 s; silence after two intervals and 500 ms.
    ///
    /// Two intervals alone are too little: ActiveMQ was measured 1,994 ms late on an agreed 1,000.
    fn default() -> Self {
        Self {
            early_part: 4,
            early_most: Duration::from_secs(5),
            late_intervals: 2,
            late_extra: Duration::from_millis(500),
            beats: Beats::WhenIdle,
        }
    }
}

impl HeartBeatTiming {
    /// How long after the last octet was sent a beat is due. Never at once, however early: the
    /// next one would be due at once as well.
    pub(crate) fn beat_after(&self, interval: Duration) -> Duration {
        let early = interval.checked_div(self.early_part).unwrap_or_default();
        interval.saturating_sub(early.min(self.early_most)).max(SHORTEST)
    }

    /// How long after the last octet was received the peer counts as silent. Not so long that a clock
    /// could not add it.
    pub(crate) fn silent_after(&self, interval: Duration) -> Duration {
        let late = interval.saturating_mul(self.late_intervals).saturating_add(self.late_extra);
        late.clamp(SHORTEST, LONGEST)
    }
}

/// Every clock can tell it from nothing: one of milliseconds would add less than that for ever.
const SHORTEST: Duration = Duration::from_millis(1);
/// Of silence: several of the longest intervals that there are. Every clock can add it.
const LONGEST: Duration = Duration::from_secs(400 * 24 * 3600);

fn interval(can_send: u32, wants: u32) -> Option<Duration> {
    let both = can_send != 0 && wants != 0;
    both.then(|| Duration::from_millis(can_send.max(wants).into()))
}

fn milliseconds(number: &str) -> Option<u32> {
    if !number.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// requirements HB-001, HB-017
    #[test]
    fn the_header_is_two_numbers() {
        let parsed = |value| HeartBeat::parse(value).map(|beat| (beat.can_send, beat.wants));
        assert_eq!(parsed("10000,0"), Some((10_000, 0)));
        assert_eq!(parsed("0,0"), Some((0, 0)));
        assert_eq!(parsed("007,1"), Some((7, 1)));
        assert_eq!(parsed("18446744073709551615,4294967296"), Some((u32::MAX, u32::MAX)));
        for wrong in [
            "",
            ",",
            "5",
            "5,",
            ",5",
            "-1,0",
            "+1,0",
            "1, 2",
            " 1,2",
            "1,2 ",
            "1,2,3",
            "a,b",
            "18446744073709551616,0",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    /// requirements HB-004 to HB-006, field case B68
    #[test]
    fn each_direction_takes_the_larger_number_or_none() {
        let agree = |ours: &str, theirs: &str| {
            let (ours, theirs) = (HeartBeat::parse(ours), HeartBeat::parse(theirs));
            let agreement = ours.unwrap().agree(theirs.unwrap());
            (agreement.outgoing, agreement.incoming)
        };
        assert_eq!(agree("0,0", "5000,5000"), (None, None));
        assert_eq!(agree("5000,0", "0,5000"), (Some(ms(5000)), None));
        assert_eq!(agree("1000,5000", "10000,0"), (None, Some(ms(10_000))));
        assert_eq!(agree("1000,5000", "10000,3000"), (Some(ms(3000)), Some(ms(10_000))));
        assert_eq!(agree("8000,4000", "1,5000"), (Some(ms(8000)), Some(ms(4000))));
        assert_eq!(agree("1000,4000", "2000,3000"), (Some(ms(3000)), Some(ms(4000))));
    }

    /// requirements HB-007, HB-010, HB-011
    #[test]
    fn beats_are_early_and_silence_is_late() {
        let timing = HeartBeatTiming::default();
        assert_eq!(timing.beat_after(ms(1000)), ms(750));
        assert_eq!(timing.beat_after(ms(3000)), ms(2250));
        assert_eq!(timing.beat_after(ms(60_000)), ms(55_000), "5 s at the most");
        assert_eq!(timing.silent_after(ms(1000)), ms(2500));
        let exact = HeartBeatTiming {
            early_part: 0,
            late_intervals: 1,
            late_extra: Duration::ZERO,
            ..timing
        };
        assert_eq!(exact.beat_after(ms(1000)), ms(1000));
        assert_eq!(exact.silent_after(ms(1000)), ms(1000));
        for hasty in [timing, HeartBeatTiming { early_part: 1, early_most: ms(9000), ..timing }] {
            assert_eq!(hasty.beat_after(ms(1)), ms(1), "which a clock of milliseconds can add");
        }
        let patient = HeartBeatTiming { late_intervals: u32::MAX, ..timing };
        let days = 400;
        assert_eq!(patient.silent_after(ms(1000)), ms(days * 86_400_000), "a clock can add that");
    }
}
