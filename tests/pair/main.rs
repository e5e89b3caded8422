//! Stories about both ends of a session: a client and a server on a virtual clock, with an
//! application behind each and a network in between.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the helpers are part of the tests: what they do not expect fails the test"
)]

extern crate alloc;

mod acknowledgements;
mod back_pressure;
mod broker;
mod cut_off;
mod ending;
mod handshake;
mod harness;
mod heart_beats;
mod listener;
mod messages;
mod model;
mod network;
mod receipts;
mod reconnecting;
mod transactions;
mod transcripts;
