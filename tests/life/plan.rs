//! What a session is like: version, heart-beats, latency, and how much happens in it.

use core::time::Duration;

use stomp_proto::{HeartBeat, Version};

use crate::line::Dice;

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says what may happen, by itself")]
pub(crate) struct Plan {
    pub(crate) version: Version,
    pub(crate) client: HeartBeat,
    pub(crate) server: HeartBeat,
    pub(crate) latency: Duration,
    /// Milliseconds.
    pub(crate) jitter: u64,
    /// How long it is from one happening to the next, on average. `None`: nothing happens but at the
    /// start.
    pub(crate) pace: Option<Duration>,
    /// Whether the connection is lost now and then, and whether that may go unnoticed.
    pub(crate) is_flaky: bool,
    pub(crate) may_fall_silent: bool,
    /// Whether subscriptions end and others begin.
    pub(crate) renews: bool,
    /// Whether the client does not read at times, and little fits on its way.
    pub(crate) is_slow: bool,
    pub(crate) chooses_ids: bool,
}

/// One in so many beats so often; the others at any interval from 5 to 60 minutes, if at all.
const MOST_OFTEN: (u64, u32) = (400, 10_000);
const OFTEN: (u64, u32) = (20, 60_000);

impl Plan {
    pub(crate) fn new(number: u64) -> Self {
        let mut dice = Dice::new(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for _ in 0..8 {
            dice.below(2);
        }
        let beats_often = number % OFTEN.0 == 7;
        let mut beat = || match number {
            _ if number % MOST_OFTEN.0 == 3 => MOST_OFTEN.1,
            _ if beats_often => OFTEN.1,
            _ if dice.below(8) == 0 => 0,
            _ => u32::try_from(300_000 + dice.below(3_300_000)).expect("small"),
        };
        let [client, server] = [(); 2].map(|()| HeartBeat { can_send: beat(), wants: beat() });
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        let chooses_ids = number == 2;
        Self {
            version: Version::ALL[usize::try_from(number % 3).expect("small")],
            client,
            server,
            latency: Duration::from_millis(1 + dice.below(150)),
            jitter: dice.below(200),
            pace: match number % 8 {
                _ if chooses_ids => minutes(1),
                0..=4 => None,
                5 | 6 => minutes(240),
                _ => minutes(120),
            },
            is_flaky: number % 4 == 3 || beats_often,
            may_fall_silent: beats_often,
            renews: number % 16 == 5,
            is_slow: number % 16 == 15,
            chooses_ids,
        }
    }
}
