//! The client's end of a session: what the application calls.
//!
//! Requests go by reference into a [`Client`], which writes them to its outbox or refuses them;
//! what the broker sends comes out of it as [`Event`]s. How to drive it is said at
//! [`Session`].
//!
//! ```
//! use core::time::Duration;
//! use stomp_proto::client::{AckMode, Event, SendRequest, SubscribeRequest};
//! use stomp_proto::{Client, ClientConfig, Session, UsageError};
//! # fn main() -> Result<(), UsageError> {
//! let now = Duration::ZERO;
//! let mut client = Client::new(ClientConfig::new("broker").login("alice").passcode("hush"), now)?;
//! # while client.outbox().next_frame().is_some() {}
//! # let mut answers = [
//! #     "CONNECTED\nversion:1.2\n\n\0",
//! #     "MESSAGE\nsubscription:1\nmessage-id:m\nack:a\ndestination:/queue/a\n\nhi\0",
//! #     "RECEIPT\nreceipt-id:2\n\n\0",
//! # ].into_iter();
//! # let mut read = |client: &mut Client<_>| client.receive(answers.next().unwrap_or("").as_bytes());
//! loop {
//!     // Write the outbox, read from the socket, then:
//!     # read(&mut client);
//!     while let Some(event) = client.poll_event(now) {
//!         match event {
//!             Event::Connected(_) => {
//!                 let subscription = SubscribeRequest::new("/queue/a").ack(AckMode::Client);
//!                 client.subscribe(&subscription)?;
//!                 let receipt = client.next_receipt();
//!                 client.send(&SendRequest::new("/queue/a").body("hi").receipt(receipt))?;
//!             }
//!             Event::Message(message) => {
//!                 assert_eq!(message.body(), "hi");
//!                 if let Some(token) = message.token() {
//!                     client.ack(&token)?;
//!                 }
//!                 client.disconnect(now)?;
//!             }
//!             Event::Receipt(_) | Event::UnknownReceipt(_) => {}
//!             Event::Closed(reason) => {
//!                 assert_eq!(reason.to_string(), "disconnected");
//!                 return Ok(());
//!             }
//!         }
//!     }
//! }
//! # }
//! ```

mod ack;
mod config;
mod event;
mod message;
mod outgoing;
mod receipts;
mod request;
mod state;
mod subscriptions;
mod transaction;

use core::fmt;

use bytes::BytesMut;

pub use ack::{AckRequest, AckToken};
pub use config::{ClientConfig, ConnectCommand, VersionMismatch};
pub use event::{Connected, Event};
pub use message::Message;
pub use receipts::{ReceiptId, Unconfirmed};
pub use request::{SendRequest, SubscribeRequest, UnsubscribeRequest};
pub use subscriptions::SubscriptionId;

pub use crate::frame::AckMode;
pub use transaction::{EndTransaction, Transaction};

use crate::session::link::Link;
use crate::session::{Agreement, Bound, CloseReason, Instant, Limit, Outbox, Session, UsageError};
use crate::{Command, Version};
use config::Terms;
use receipts::Receipts;
use state::State;
use subscriptions::Subscriptions;

/// The client's end of one session.
///
/// Every request is refused with [`UsageError::NotConnected`] before CONNECTED has come and after
/// [`Client::disconnect`], and with [`UsageError::Closed`] when the session has ended. A request
/// that is refused, for whatever reason, has changed nothing and queued nothing.
pub struct Client<I> {
    link: Link<I>,
    state: State,
    terms: Terms,
    epoch: Epoch,
    receipts: Receipts,
    subscriptions: Subscriptions,
    /// The last that was begun; counts on from session to session.
    transactions: u64,
}

/// Which session of a row of successors a token is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Epoch(u64);

impl Epoch {
    const FIRST: Self = Self(0);

    fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Refuses what is of another session.
    fn check(self, token: Self) -> Result<(), UsageError> {
        if self == token { Ok(()) } else { Err(UsageError::Stale) }
    }
}

impl<I: Instant> Client<I> {
    /// A client at the start of a connection; CONNECT is already in its outbox.
    ///
    /// It is answered by [`Event::Connected`], or by [`Event::Closed`] at the latest when
    /// [`connect_timeout`](crate::codec::Limits::connect_timeout) has passed.
    ///
    /// # Errors
    ///
    /// * [`UsageError::NoVersion`]: no version is offered, or not the one of the subprotocol.
    /// * [`UsageError::MissingHost`]: 1.1 or 1.2 is offered without a host.
    /// * [`UsageError::OwnedHeader`]: a header of the configuration has a method of its own there, or
    ///   does not belong in CONNECT.
    /// * [`UsageError::Encode`]: a value that CONNECT cannot carry.
    #[expect(clippy::needless_pass_by_value, reason = "it holds credentials, of no use afterwards")]
    pub fn new(config: ClientConfig, now: I) -> Result<Self, UsageError> {
        let (receipts, subscriptions) = (Receipts::default(), Subscriptions::default());
        Self::open(&config, now, receipts, subscriptions)
    }

    /// A client for the connection after this one.
    ///
    /// Its counters go on where these stand, so that no receipt is drawn twice. The live
    /// subscriptions are carried on under the same ids: their SUBSCRIBE frames are queued again,
    /// without receipts, when CONNECTED has come and before the application hears of it. Tokens and
    /// transactions of this session are [`UsageError::Stale`] there; [`Client::unconfirmed`] of this
    /// one says what to send again.
    ///
    /// # Errors
    ///
    /// Those of [`Client::new`], and [`UsageError::LimitExceeded`] if the configuration allows for
    /// fewer subscriptions than there are.
    #[expect(clippy::needless_pass_by_value, reason = "as in `new`")]
    pub fn successor(&self, config: ClientConfig, now: I) -> Result<Self, UsageError> {
        let most = config.decoding().0.max_subscriptions;
        if self.subscriptions.live().len() > most {
            return Err(UsageError::LimitExceeded(Limit { what: Bound::Subscriptions, most }));
        }
        let (receipts, subscriptions) = (self.receipts.successor(), self.subscriptions.successor());
        let mut client = Self::open(&config, now, receipts, subscriptions)?;
        client.epoch = self.epoch.next();
        client.transactions = self.transactions;
        Ok(client)
    }

    fn open(
        config: &ClientConfig,
        now: I,
        receipts: Receipts,
        subscriptions: Subscriptions,
    ) -> Result<Self, UsageError> {
        let terms = config.terms()?;
        let (limits, malformed_header, timing) = config.decoding();
        let mut link = Link::new(limits.clone(), malformed_header, timing, now);
        link.queue(|out| config.write_connect(&terms, out), &[])?;
        Ok(Self {
            link,
            state: State::Connecting,
            terms,
            epoch: Epoch::FIRST,
            receipts,
            subscriptions,
            transactions: 0,
        })
    }

    /// Draws a receipt, to be put in any one request. In every state.
    ///
    /// The broker's RECEIPT for that request becomes [`Event::Receipt`] with the same id. Receipts
    /// come in any order, and on some brokers late: `RabbitMQ` confirms a persistent message when it
    /// is stored (STOMP 1.2, "RECEIPT").
    pub fn next_receipt(&mut self) -> ReceiptId {
        self.receipts.draw()
    }

    /// The receipts that are owed, in the order in which they were drawn. In every state.
    ///
    /// One that an ERROR named as failed is no longer among them.
    pub fn unconfirmed(&self) -> impl Iterator<Item = Unconfirmed> {
        self.receipts.unconfirmed(self.link.sent().left())
    }

    /// Whether a request still finds room in the outbox. What was refused for lack of it can be tried
    /// again when the outbox was written from.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.link.is_full()
    }

    /// The version of the session; `None` before CONNECTED.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.state.version()
    }

    /// The heart-beats of the session; none before CONNECTED.
    #[must_use]
    pub fn heart_beat(&self) -> Agreement {
        self.link.agreement()
    }

    /// The next event, if what came makes one. Apart, so that a poll without any costs little.
    #[inline(never)]
    fn next_event(&mut self, now: I) -> Option<Event> {
        if self.link.is_closed() {
            return self.link.take_reason().map(Event::Closed);
        }
        let end = match self.link.find_frame() {
            Ok(Some(layout)) if layout.command == Command::Message => {
                match self.examine(self.link.found_headers(layout)) {
                    // Taken in place: what holds a frame is too large to be handed about for nothing.
                    Ok(facts) => {
                        let frame = self.link.take_frame(layout);
                        return Some(Event::Message(Message::new(frame, facts, self.epoch)));
                    }
                    Err(error) => CloseReason::Protocol(error),
                }
            }
            Ok(Some(layout)) => {
                let frame = self.link.take_frame(layout);
                match self.handle_frame(frame) {
                    Event::Closed(reason) => reason,
                    event => {
                        // For heart-beats to begin at CONNECTED, and not at the next call.
                        self.link.look(now);
                        return Some(event);
                    }
                }
            }
            Ok(None) => {
                if self.link.rest() {
                    self.receipts.shrink();
                    self.subscriptions.shrink();
                }
                return None;
            }
            Err(reason) => self.end_of_stream(reason),
        };
        self.link.close(end);
        self.link.look(now);
        self.link.take_reason().map(Event::Closed)
    }
}

impl<I: Instant> Session for Client<I> {
    type Instant = I;
    type Event = Event;

    fn receive(&mut self, octets: &[u8]) {
        self.link.receive(octets);
    }

    fn wants_read(&self) -> bool {
        self.link.wants_read()
    }

    fn buffers(&mut self) -> (&mut BytesMut, &mut Outbox) {
        self.link.buffers()
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.link.outbox()
    }

    fn poll_event(&mut self, now: I) -> Option<Event> {
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

impl<I> fmt::Debug for Client<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets it holds: there are credentials among them.
        f.debug_struct("Client")
            .field("state", &self.state)
            .field("subscriptions", &self.subscriptions.live().len())
            .field("receipts_owed", &self.receipts.len())
            .finish_non_exhaustive()
    }
}
