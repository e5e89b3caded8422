//! Stories of a broker and its clients, all on the loopback interface.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic where it sets things up"
)]

extern crate alloc;

mod amqp;
mod amqp_load;
mod load;
mod messages;
mod pressure;
mod process;
mod program;
mod queues;
mod redelivery;
mod refusals;
mod replies;
mod shutdown;
mod socket;
mod support;
mod topics;
mod transactions;
mod versions;
mod websocket;
