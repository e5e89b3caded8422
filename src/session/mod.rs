//! The driver's view of either end of a session.

mod error;
mod heart_beat;
pub(crate) mod link;
mod outbox;
mod timers;

use bytes::BytesMut;

pub use error::{Bound, CloseReason, Foreign, Limit, ProtocolError, Refused, UsageError};
pub use heart_beat::{Agreement, Beats, HeartBeat, HeartBeatTiming};
pub use outbox::{Outbox, OutgoingFrame};
pub use timers::Instant;
pub(crate) use timers::Timer;

/// What a driver does with a session, be it a [`Client`](crate::Client) or a
/// [`Server`](crate::Server).
///
/// The loop: read octets into it, poll it for events until there are none, write its outbox, wait
/// for the socket or the deadline, whichever comes first. Any method may be called at any time and
/// any number of times; none of them panics.
///
/// ```
/// use core::time::Duration;
/// use stomp_proto::Session;
///
/// /// One turn of the loop, apart from reading and writing.
/// fn turn<S: Session<Instant = Duration>>(
///     session: &mut S,
///     now: Duration,
///     mut handle: impl FnMut(&mut S, S::Event),
/// ) -> Option<Duration> {
///     session.handle_timeout(now);
///     while let Some(event) = session.poll_event(now) {
///         handle(session, event);
///     }
///     session.poll_timeout()
/// }
/// ```
pub trait Session {
    /// The clock of the driver.
    type Instant: Instant;
    /// What the session tells the application.
    type Event;

    /// Copies octets in that came from the peer.
    fn receive(&mut self, octets: &[u8]);

    /// Whether to read from the peer now.
    ///
    /// `false` is back-pressure: the application does not poll, or has to answer first. What is
    /// received nevertheless is kept.
    fn wants_read(&self) -> bool;

    /// Where to read into without a copy, and what to write at the same time.
    ///
    /// Reserve room in the inbox, append to it, and leave alone what it holds.
    fn buffers(&mut self) -> (&mut BytesMut, &mut Outbox);

    /// What to write.
    fn outbox(&mut self) -> &mut Outbox;

    /// The next event; `None`: nothing more without new input, time, room in the outbox, or an answer
    /// of the application.
    ///
    /// Reads frames up to and including the first that makes an event, so that the state of the
    /// session is never ahead of the event in your hand.
    fn poll_event(&mut self, now: Self::Instant) -> Option<Self::Event>;

    /// When to call [`Session::handle_timeout`] if nothing else happens.
    fn poll_timeout(&self) -> Option<Self::Instant>;

    /// Acts on the deadlines that have passed. Early or late is fine; it leaves a later deadline or
    /// none. Receive first what has come: when a session should have been called long ago, it gives
    /// the peer a little more time, once.
    fn handle_timeout(&mut self, now: Self::Instant);

    /// The peer has ended its stream. What it sent before is still delivered.
    fn handle_eof(&mut self);

    /// The transport is dead: what was to be written is discarded. What the peer sent before is still
    /// delivered; if only writing failed, read first what is still to be had, an ERROR perhaps.
    fn handle_lost(&mut self);

    /// Whether nothing more will be written: end our stream, and go on reading until the peer ends
    /// its own.
    ///
    /// A socket that is closed with unread input can take back the ERROR just written (STOMP 1.2,
    /// "Connection Lingering").
    fn wants_shutdown(&self) -> bool;

    /// Whether the session is over: its last event was handed out, its output was written or lost,
    /// and the peer has ended its stream or had its time. Drop the socket.
    fn is_finished(&self) -> bool;
}
