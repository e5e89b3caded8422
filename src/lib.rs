//! Sans-IO STOMP 1.0, 1.1 and 1.2: the frame codec and the client and server sessions, and nothing
//! that touches a socket, a clock, a thread or a random number.
//!
//! Octets and requests go in; frames to write, events to act on and the next deadline come out. Any
//! runtime can drive it: an async one, blocking `std`, a WebSocket library, a test with a virtual
//! clock.
//!
//! ```text
//!    network                              session                               application
//!
//!   octets ──▶ inbox ──▶ Decoder ──▶ Frame ──▶ state ──▶ poll_event() ──▶ Event
//!                                             │  subscriptions, receipts,   │
//!                                             │  deliveries, transactions   │ answers it with
//!                                             ▼                             ▼
//!   octets ◀── outbox ◀──────── head writer ◀─┴──────────── send(), ack(), deliver(), confirm() …
//!             (a Buf)
//!                     poll_timeout() ──▶ when?      handle_timeout(now) ──▶ a beat, or the end
//! ```
//!
//! **The [guide]** leads from nothing to something that works, for the author of [a client](guide::client),
//! of [a broker](guide::broker), and [without `std`](guide::embedded).
//!
//! * [`Client`] and [`Server`] are the two ends. Both are driven through [`Session`].
//! * [`codec`]: octets to frames ([`codec::Decoder`] with an inbox of its own, [`codec::Scanner`] over
//!   a buffer of yours) and back ([`codec::encode`]), under the rules of each version.
//! * [`frame`]: what a frame is, and how to read one or make one.
//! * [`websocket`]: the subprotocols `v10.stomp`, `v11.stomp` and `v12.stomp`.
//! * [`destination`]: destinations as RabbitMQ reads them, turned into what a broker does.
//!
//! # The loop
//!
//! This is all there is to a driver, whichever end it drives:
//!
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use std::io::{ErrorKind, Read, Write};
//! use std::time::{Duration, Instant};
//!
//! use bytes::Buf;
//! use stomp_proto::Session;
//!
//! # trait Socket: Read + Write {
//! #     fn set_read_timeout(&self, timeout: Option<Duration>) -> std::io::Result<()>;
//! #     fn shut_down_writing(&self) -> std::io::Result<()>;
//! # }
//! /// Drives a session over a blocking socket until it is over.
//! fn drive<S: Session<Instant = Instant>>(
//!     session: &mut S,
//!     socket: &mut impl Socket,
//!     mut handle: impl FnMut(&mut S, S::Event),
//! ) {
//!     let mut chunk = [0; 4096];
//!     let mut open = true;
//!     while !session.is_finished() {
//!         // Events until there are none; what is written makes room for more.
//!         loop {
//!             while let Some(event) = session.poll_event(Instant::now()) {
//!                 handle(session, event);
//!             }
//!             if !session.outbox().has_remaining() {
//!                 break;
//!             }
//!             if !matches!(session.outbox().write_to(socket), Ok(1..)) {
//!                 session.handle_lost();
//!             }
//!         }
//!         if session.wants_shutdown() && open {
//!             open = false;
//!             if socket.shut_down_writing().is_err() {
//!                 session.handle_lost();
//!             }
//!         }
//!         // Octets, or the time when something is due.
//!         let due = session.poll_timeout();
//!         let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
//!         let _ = socket.set_read_timeout(wait.map(|wait| wait.max(Duration::from_millis(1))));
//!         if session.wants_read() {
//!             match socket.read(&mut chunk) {
//!                 Ok(0) => session.handle_eof(),
//!                 Ok(read) => session.receive(&chunk[..read]),
//!                 Err(error) => match error.kind() {
//!                     ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
//!                     _ => session.handle_lost(),
//!                 },
//!             }
//!         } else if let Some(wait) = wait {
//!             std::thread::sleep(wait);
//!         } else {
//!             // The application owes an answer, and has to wake this up: another story.
//!             return;
//!         }
//!         session.handle_timeout(Instant::now());
//!     }
//! }
//! ```
//!
//! One that writes while the peer does not read has to go on reading meanwhile, as long as
//! [`Session::wants_read`] says so; [`Session::buffers`] lends both sides at once.
//!
//! # What holds
//!
//! * No input and no order of calls panics. Who erred is in the type: [`ProtocolError`] is the peer and
//!   ends the session, [`UsageError`] is the caller and changes nothing.
//! * What was accepted before an error is delivered. `Closed` comes exactly once, and nothing after it.
//! * Not polling is back-pressure: [`Session::wants_read`] turns false, and memory stays below
//!   [`codec::Limits`].
//!
//! # What it does not do
//!
//! Open sockets, speak TLS or WebSocket, reconnect by itself, queue messages, persist anything, or
//! choose names that must be unique beyond a connection.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `std` (default) | `Outbox::write_to`, and `chunks_vectored` of an outbox; the search for the end of a body asks the CPU at run time what it can do. Without it the crate needs `core` and `alloc` only. |
//! | `simd` | Heads are looked at sixteen octets at a time instead of eight, by way of the crate `wide`: a small frame that comes whole takes 13 to 19 % fewer instructions on x86-64 (`benches/callgrind.py --simd`). Nothing else changes. |
//! | `portable-atomic` | Shared buffers on targets that have no compare-and-swap, such as `thumbv6m-none-eabi`: their counters come from the crate `portable-atomic`, which the embedder tells how. Of no use elsewhere. |

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod client;
pub mod codec;
pub mod destination;
pub mod frame;
// Pages and nothing else; so it is not compiled.
#[cfg(any(doc, doctest))]
pub mod guide;
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
