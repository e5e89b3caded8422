//! The guide: from nothing to something that works, for three readers.
//!
//! | you write | read |
//! |---|---|
//! | a client: it sends, subscribes and acknowledges | [`client`] |
//! | a broker, or a gateway to one | [`broker`] |
//! | either of them without `std`, in a loop that polls, in little memory | [`embedded`] |
//!
//! Each page stands alone, and its code runs in the tests of this crate. Nothing here opens a socket:
//! octets go in and come out, so that what is on the wire can be seen. [The loop](crate#the-loop)
//! that carries them over a blocking socket is the same for both ends; the README has it on tokio and
//! over WebSocket.

#[doc = include_str!("client.md")]
pub mod client {}

#[doc = include_str!("broker.md")]
pub mod broker {}

#[doc = include_str!("embedded/before.md")]
#[doc = "```"]
#[doc = include_str!("embedded/sensor.rs")]
#[doc = include_str!("embedded/run.rs")]
#[doc = "```"]
#[doc = include_str!("embedded/after.md")]
pub mod embedded {}
