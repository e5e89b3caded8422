//! Counts allocations, exactly.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic where it sets things up")]

mod codec;
#[path = "../../benches/corpus/mod.rs"]
#[expect(dead_code, reason = "a frame that the benches encode is built there")]
mod corpus;
mod counting;
mod sensor;
mod sessions;
