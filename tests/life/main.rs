//! A day of life on a virtual clock: thousands of sessions that beat, work, lose their connection and
//! connect again. Nothing drifts, nothing leaks, nothing is settled twice or never.
//!
//! One thread and one loop of timers drive all sessions; the allocator counts what they hold.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers are part of the tests: what they do not expect fails the test"
)]

extern crate alloc;

mod broker;
#[expect(dead_code, reason = "what is held is of interest here, not every allocation")]
#[path = "../allocations/counting.rs"]
mod counting;
mod customer;
mod line;
mod pair;
mod plan;
mod world;

use core::time::Duration;

use counting::held;
use world::World;

type Client = stomp_proto::Client<Duration>;
type Server = stomp_proto::Server<Duration, u64>;

/// Pairs of a client and a server, if `STOMP_LIFE_PAIRS` does not say otherwise.
const PAIRS: u64 = 1500;

const HOUR: Duration = Duration::from_secs(3600);

/// What an idle session may hold, the session itself included.
const IDLE: isize = 2048;

/// What all sessions together may hold more or less at the end of an hour than at the end of the
/// first: that of a few, which have a node of a map more or less than those before them, …
const FEW: isize = 32 << 10;
/// … and so much of each pair.
const EACH: isize = 16;

#[test]
fn a_day_passes_and_leaves_nothing_behind() {
    let pairs = std::env::var("STOMP_LIFE_PAIRS").ok().and_then(|pairs| pairs.parse().ok());
    let pairs = pairs.unwrap_or(PAIRS);
    let (mut live, mut world) = held(|| World::new(pairs));
    live += held(|| world.run_until(HOUR)).0;
    let first = live;
    live += held(|| world.watch_beats()).0;
    let most = FEW + EACH * isize::try_from(pairs).expect("a number that a machine can hold");
    for hour in 2..=24 {
        live += held(|| world.run_until(hour * HOUR)).0;
        let more = live - first;
        assert!(more.abs() <= most, "{more} octets more after hour {hour} than after the first");
    }
    world.check_beats(23 * HOUR);
    world.check_that_it_was_a_day();
    live += held(|| world.check_sessions(IDLE)).0;
    live += held(|| drop(world)).0;
    assert_eq!(live, 0, "octets are held by nobody");
}
