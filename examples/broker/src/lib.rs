//! A STOMP broker on tokio, over TCP and WebSocket: how to embed a server session of `stomp-proto`.
//!
//! ```text
//!   socket ◀──▶ Transport ◀──▶ Server ──▶ Event ──▶ Gateway ──▶ Job ──▶ Channel ◀──▶ Backend
//!                                ▲                     │                   │
//!                                └── confirm, fail ────┴──── deliver ◀── Notice
//! ```
//!
//! * `connection`: the loop that drives one session. Start there.
//! * `gateway`: what a session asks for, turned into jobs for the backend, and what comes back.
//! * [`backend`]: what carries the jobs out: [`backend::Memory`], or [`backend::Amqp`] for a RabbitMQ.
//! * `transport`: TCP and WebSocket.
//! * [`Broker`]: the sockets, and how it all ends.

extern crate alloc;

pub mod backend;
mod broker;
mod connection;
mod gateway;
mod names;
mod transport;

pub use broker::{Address, BindError, Broker, Config, Protocol};

/// The README of the crate: its loops on tokio and WebSocket need what only this package has.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
