//! Stories about the server's end of a session: an application that follows a script, a virtual
//! clock, and every octet that goes in or comes out.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers are part of the tests: what they do not expect fails the test"
)]

extern crate alloc;

mod acknowledgements;
mod any_order;
mod deliveries;
mod dialects;
mod errors;
mod field_cases;
mod harness;
mod heart_beats;
mod late_acknowledgements;
mod limits;
mod negotiation;
mod opened;
mod patience;
mod receipts;
mod shutdown;
mod states;
mod subscriptions;
mod transactions;
mod transcripts;
mod wording;
