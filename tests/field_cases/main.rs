//! What goes wrong in real STOMP software: a test for each field case of the codec and of WebSocket.

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
