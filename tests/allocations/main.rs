//! Counts allocations, exactly.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic where it sets things up")]

mod codec;
#[path = "../../benches/corpus/mod.rs"]
#[expect(dead_code, reason = "of what the benches measure, one message is counted")]
mod corpus;
mod counting;
mod sessions;
