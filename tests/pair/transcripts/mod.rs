//! The transcripts TR-01 to TR-22 of the requirements, octet for octet on both wires.
//!
//! Where a transcript and the decisions of chapter 0 disagree, or an end of ours says the same in
//! other words, the test says so. In all of them receipts and transactions are named by the numbers
//! that the client draws, and `MESSAGE` has its `ack` as decided: the broker's choice, or ours.

mod deliveries;
mod faults;
mod sessions;

use bytes::Buf;
use stomp_proto::Session;
use stomp_proto::server::Delivery;

use crate::harness::Pair;

/// The client says that, instead of what it has to say.
fn say_instead(pair: &mut Pair, octets: &str) {
    let outbox = pair.client.outbox();
    outbox.advance(outbox.remaining());
    pair.up.inject(octets.as_bytes(), pair.now);
}

/// Asserts what was written in either direction since the last time.
#[track_caller]
fn assert_wires(pair: &mut Pair, up: &str, down: &str) {
    assert_eq!((&*pair.up.written(), &*pair.down.written()), (up, down));
}

/// A message of that body under chosen ids.
fn delivery(message_id: &str, ack_id: &str, body: &str) -> Delivery {
    let builder = Delivery::builder("/q").message_id(message_id).ack_id(ack_id);
    builder.body(body.to_owned()).build()
}
