//! What goes wrong in real STOMP software: one test for each field case that the codec answers for.

#[path = "../support/expect.rs"]
mod expect;
#[path = "../support/mod.rs"]
mod support;

mod content_length;
mod encoder;
mod escapes;
mod framing;
mod header_lines;
mod limits;
mod websocket;
