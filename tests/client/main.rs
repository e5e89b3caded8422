//! Stories about the client's end of a session: an application that follows a script, a virtual
//! clock, and every octet that goes in or comes out.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers are part of the tests: what they do not expect fails the test"
)]

mod acknowledgements;
mod any_order;
mod closing;
mod connecting;
mod harness;
mod heart_beats;
mod limits;
mod messages;
mod receipts;
mod requests;
mod states;
mod successors;
mod transactions;
mod transcripts;
