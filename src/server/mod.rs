//! The server's end of a session: it negotiates, validates and correlates; the application decides.

mod answer;
mod config;
mod deliver;
mod delivery;
mod dialect;
mod event;
mod frames;
mod ids;
mod ledger;
mod notice;
mod opening;
mod reply;
mod sending;
mod settled;
mod settling;
mod state;
mod subscribing;
mod subscriptions;
mod transactions;
mod wording;

use core::fmt;

use bytes::BytesMut;

pub use config::{FrameEnd, ServerConfig};
pub use deliver::Delivered;
pub use delivery::{Delivery, DeliveryBuilder};
pub use dialect::{AckScope, Dialect, HeartBeatOn1_0, SubscriptionOn1_0, Tolerance};
pub use event::{AckFrame, ConnectFrame, Event, SendFrame, SubscribeFrame, UnsubscribeFrame, Work};
pub use ledger::{DeliveryTag, LedgerEntry};
pub use reply::{Accept, ConnectReply, Failure, Reply};
pub use subscriptions::SubscriptionId;
pub use wording::{Complaint, Wording};

use frames::Fault;
use ledger::Ledger;
use notice::Notice;
use state::State;
use subscriptions::Subscriptions;
use transactions::Transactions;

use crate::frame::Text;
use crate::session::link::Link;
use crate::{
    Agreement, CloseReason, Frame, Instant, MalformedHeader, Outbox, ProtocolError, Session,
    Version, VersionSet,
};

/// The server's end of a session.
///
/// `T` is what the broker wants back for each delivery that is settled or left open.
///
/// ```
/// use core::time::Duration;
/// use stomp_proto::server::{Accept, Event, Server, ServerConfig};
/// use stomp_proto::Session;
///
/// let mut server = Server::<Duration, u64>::new(ServerConfig::default(), Duration::ZERO);
/// server.receive(b"CONNECT\naccept-version:1.2\nhost:h\n\n\0");
/// while let Some(event) = server.poll_event(Duration::ZERO) {
///     match event {
///         Event::Connect { frame, reply } => {
///             assert_eq!(frame.host().as_deref(), Some("h"));
///             let _ = server.accept(reply, &Accept::new("session-1"));
///         }
///         _ => {}
///     }
/// }
/// let connected = server.outbox().next_frame().map(|frame| frame.bytes);
/// assert_eq!(
///     connected.as_deref(),
///     Some(&b"CONNECTED\nversion:1.2\nsession:session-1\nheart-beat:0,0\n\n\0"[..])
/// );
/// ```
pub struct Server<I, T> {
    /// Those that the server speaks.
    versions: VersionSet,
    /// Those that are still to be had.
    open_versions: VersionSet,
    dialect: Dialect,
    link: Link<I>,
    state: State,
    subscriptions: Subscriptions,
    ledger: Ledger<T>,
    transactions: Transactions,
    wording: Option<Wording>,
}

impl<I: Instant, T> Server<I, T> {
    /// A session that waits for CONNECT, for [`Limits::connect_timeout`] at the most.
    ///
    /// [`Limits::connect_timeout`]: crate::codec::Limits::connect_timeout
    #[must_use]
    pub fn new(config: ServerConfig, now: I) -> Self {
        // A server always rejects: what it lets pass it would have to relay.
        let malformed = MalformedHeader::Reject;
        let open_versions = config.open_versions();
        let ServerConfig { versions, dialect, limits, timing, frame_end, wording, .. } = config;
        let mut link = Link::new(limits, malformed, timing, now);
        link.outbox().end_frames_with(frame_end.octets());
        Self {
            versions,
            open_versions,
            dialect,
            link,
            state: State::AwaitConnect,
            subscriptions: Subscriptions::new(),
            ledger: Ledger::new(),
            transactions: Transactions::new(),
            wording,
        }
    }

    /// The version that was negotiated, once CONNECT was read.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.state.version()
    }

    /// The heart-beats that were agreed on.
    #[must_use]
    pub fn heart_beat(&self) -> Agreement {
        self.link.agreement()
    }

    /// What a broker may call a subscription: the id that the client gave, or `auto-N`, which is
    /// never on the wire. `None`: it has ended and nothing of it is open.
    #[must_use]
    pub fn subscription_name(&self, subscription: SubscriptionId) -> Option<Text> {
        self.subscriptions.name(subscription)
    }

    /// Whether a delivery still finds room in the outbox. What was refused for lack of it can be
    /// tried again when the outbox was written from.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.link.is_full()
    }

    /// The number of open deliveries.
    #[must_use]
    pub fn unacknowledged(&self) -> usize {
        self.ledger.len()
    }

    /// Ends the session for what the client did wrong.
    fn refuse(&mut self, Fault { error, receipt, frame }: Fault) {
        if let Some(mut notice) = Notice::of(&error, self.versions) {
            if let Some(words) = self.words(&error, frame.as_deref()) {
                notice = notice.worded(words);
            }
            self.error(receipt.as_ref(), &notice);
        }
        self.link.close(CloseReason::Protocol(error));
    }

    /// What the embedder says to it.
    fn words(&mut self, error: &ProtocolError, frame: Option<&Frame>) -> Option<Failure> {
        let (wording, version) = (self.wording?, self.state.settled());
        wording.words(Complaint { error, frame, unread: self.link.unread(), version })
    }

    /// Ends the session as the client ended its stream.
    fn ended(&mut self, reason: CloseReason) {
        match (reason, self.state) {
            (CloseReason::Protocol(error), _) => {
                let error = self.foreign(&error).unwrap_or(error);
                self.refuse(error.into());
            }
            (CloseReason::Eof, State::Closing(_)) => self.link.close(CloseReason::Disconnected),
            (reason, _) => self.link.close(reason),
        }
    }

    /// Gives memory back when nothing has happened for a while.
    fn rest(&mut self) {
        if self.link.rest() {
            self.ledger.shrink();
            self.transactions.shrink();
            self.subscriptions.shrink();
        }
    }

    /// The next event, if what came makes one. Apart, so that a poll without any costs little.
    #[inline(never)]
    fn next_event(&mut self, now: I) -> Option<Event<T>> {
        loop {
            if self.link.is_closed() {
                // For the client to have its time from the last event on, not from the next call.
                self.link.look(now);
                return self.link.take_reason().map(|reason| self.closed(reason));
            }
            if matches!(self.state, State::Answering(_) | State::Closing(_)) {
                // What is behind CONNECT waits, what is behind DISCONNECT does not count.
                let reason = self.link.peer_end()?;
                self.ended(reason);
                continue;
            }
            if self.link.is_full() {
                // Each frame may ask for a RECEIPT. A client reads on, though: if neither end did, each
                // would wait for the other.
                let reason = self.link.take_overdue()?;
                self.link.close(reason);
                continue;
            }
            match self.link.find_frame() {
                Ok(Some(layout)) => {
                    let frame = self.link.take_frame(layout);
                    match self.handle(frame) {
                        Ok(Some(event)) => return Some(event),
                        Ok(None) => {}
                        Err(fault) => self.refuse(fault),
                    }
                }
                Ok(None) => {
                    let Some(fault) = self.early_fault() else {
                        self.rest();
                        return None;
                    };
                    self.refuse(fault);
                }
                Err(reason) => self.ended(reason),
            }
        }
    }

    fn closed(&mut self, reason: CloseReason) -> Event<T> {
        self.transactions = Transactions::new();
        self.subscriptions = Subscriptions::new();
        Event::Closed { reason, open: self.ledger.drain() }
    }
}

impl<I: Instant, T> Session for Server<I, T> {
    type Instant = I;
    type Event = Event<T>;

    fn receive(&mut self, octets: &[u8]) {
        self.link.receive(octets);
    }

    fn wants_read(&self) -> bool {
        let waits = matches!(self.state, State::Answering(_)) && !self.link.is_closed();
        !waits && self.link.wants_read()
    }

    fn buffers(&mut self) -> (&mut BytesMut, &mut Outbox) {
        self.link.buffers()
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.link.outbox()
    }

    fn poll_event(&mut self, now: I) -> Option<Event<T>> {
        self.link.look(now);
        if self.link.is_quiet() {
            return None;
        }
        self.next_event(now)
    }

    fn poll_timeout(&self) -> Option<I> {
        self.link.poll_timeout()
    }

    fn handle_timeout(&mut self, now: I) {
        self.link.handle_timeout(now);
    }

    fn handle_eof(&mut self) {
        self.link.handle_eof();
    }

    fn handle_lost(&mut self) {
        self.link.handle_lost();
    }

    fn wants_shutdown(&self) -> bool {
        self.link.wants_shutdown()
    }

    fn is_finished(&self) -> bool {
        self.link.is_finished()
    }
}

impl<I, T> fmt::Debug for Server<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets it holds: there are credentials among them.
        f.debug_struct("Server")
            .field("state", &self.state)
            .field("subscriptions", &self.subscriptions.len())
            .field("unacknowledged", &self.ledger.len())
            .finish_non_exhaustive()
    }
}
