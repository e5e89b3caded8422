//! Replays the captures through the sessions: what recorded clients sent drives a `Server`, what
//! recorded brokers sent drives a `Client`, read by read and at the recorded times.
//!
//! `../captures/README.md` says where the captures are from.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers are part of the tests: what they do not expect fails the test"
)]

mod broker;
mod client;
mod drive;
mod events;
mod heart_beats;
mod raw_errors;
mod recording;
mod server;
#[path = "../../examples/inspect/stream.rs"]
#[expect(dead_code, reason = "`inspect` also reads what is no capture")]
mod stream;
#[path = "../../examples/inspect/transcript.rs"]
#[expect(dead_code, reason = "as above")]
mod transcript;
mod user;
