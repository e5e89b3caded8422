//! The session transcripts of the requirements, TR-01 to TR-22, from the server's side.
//!
//! They assume the strict preset, so this is `Dialect::SPEC`. Where a transcript and the decisions
//! before it (chapter 0) differ, the decisions hold, and the test says so.

mod first;
mod second;

use stomp_proto::ServerConfig;
use stomp_proto::server::{Delivery, Dialect};

use crate::harness::speaking;

fn strict() -> ServerConfig {
    speaking(Dialect::SPEC)
}

const CONNECT_1_1: &str = "CONNECT\naccept-version:1.1\nhost:h\n\n\0";
const CONNECTED_1_1: &str = "CONNECTED\nversion:1.1\nsession:s1\nheart-beat:0,0\n\n\0";
const CONNECTED_1_2: &str = "CONNECTED\nversion:1.2\nsession:s1\nheart-beat:0,0\n\n\0";

fn named(message_id: &str, ack_id: &str, body: &'static str) -> Delivery {
    Delivery::builder("/q").message_id(message_id).ack_id(ack_id).body(body).build()
}
