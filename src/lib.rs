//! Sans-IO STOMP 1.0, 1.1 and 1.2: the frame codec, and nothing that touches a socket, a clock, a
//! thread or a random number.
//!
//! Octets go in; frames come out, and the other way round. Any runtime can drive it.
//!
//! * [`codec`]: octets to frames ([`codec::Decoder`] with an inbox of its own, [`codec::Scanner`] over
//!   a buffer of yours) and back ([`codec::encode`]), under the rules of each version.
//! * [`frame`]: what a frame is, and how to read one or make one.
//! * [`VersionSet`]: `accept-version`, and the highest version in common.
//! * [`websocket`]: the subprotocols `v10.stomp`, `v11.stomp` and `v12.stomp`.
//!
//! ```
//! use stomp_proto::codec::{Decoder, DecoderConfig, Item};
//! use stomp_proto::{Command, Version};
//! # fn main() -> Result<(), stomp_proto::codec::DecodeError> {
//! let mut decoder = Decoder::new(DecoderConfig::default());
//! decoder.set_version(Version::V1_2);
//! decoder.push(b"SEND\ndestination:/queue/a\ntext:one\\ntwo\n\nhello\0");
//! while let Some(item) = decoder.next_item()? {
//!     let Item::Frame(frame) = item else { continue };
//!     assert_eq!(frame.command(), Command::Send);
//!     assert_eq!(frame.header("destination").as_deref(), Some("/queue/a"));
//!     assert_eq!(frame.header("text").as_deref(), Some("one\ntwo"));
//!     assert_eq!(&frame.body()[..], b"hello");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! * `std` (default): detection of the CPU at run time in the search for the end of a body. Without it
//!   the crate needs `core` and `alloc` only.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod client;
pub mod codec;
pub mod destination;
pub mod frame;
pub mod server;
mod session;
mod version;
pub mod websocket;

pub use client::{Client, ClientConfig};
pub use codec::MalformedHeader;
pub use frame::{Command, Frame, FrameRef, Headers, Role, Text};
pub use server::{Server, ServerConfig};
pub use session::{
    Agreement, Beats, Bound, CloseReason, Foreign, HeartBeat, HeartBeatTiming, Instant, Limit,
    Outbox, OutgoingFrame, ProtocolError, Refused, Session, UsageError,
};
pub use version::{EmptyAcceptVersion, Version, VersionSet};
