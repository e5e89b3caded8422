//! What the application answers a request with.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::SubscriptionId;
use crate::HeartBeat;
use crate::frame::{Text, name};

/// The answer that a request is owed: RECEIPT through [`confirm`](super::Server::confirm), or ERROR
/// through [`fail`](super::Server::fail), never both.
///
/// It is of one session, and is to be handed back to that: another would not know the difference.
///
/// It is owed even if the client asked for no receipt: a subscription gets messages only when its
/// SUBSCRIBE was confirmed, and a DISCONNECT that is not confirmed ends only with the connection.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a request that is neither confirmed nor failed is never answered"]
pub struct Reply {
    /// The `receipt` header as the client wrote it.
    pub(super) receipt: Option<Text>,
    pub(super) answers: Answers,
}

/// The request that a reply answers, as far as confirming it does more than send a RECEIPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    Subscribe(SubscriptionId),
    Disconnect,
    Other,
}

/// The answer that a CONNECT is owed (of one session, like [`Reply`]): CONNECTED through [`accept`](super::Server::accept), or ERROR
/// through [`fail`](super::Server::fail).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a CONNECT that is neither accepted nor failed is never answered"]
pub struct ConnectReply(pub(super) ());

impl From<ConnectReply> for Option<Reply> {
    /// CONNECT has no receipt (STOMP 1.2, "receipt").
    fn from(_: ConnectReply) -> Self {
        None
    }
}

/// What goes into CONNECTED.
///
/// ```
/// use stomp_proto::HeartBeat;
/// use stomp_proto::server::Accept;
/// let accept = Accept::new("session-1")
///     .server("broker/1.0")
///     .heart_beat(HeartBeat { can_send: 10_000, wants: 10_000 });
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Accept {
    pub(super) session: String,
    pub(super) server: Option<String>,
    pub(super) heart_beat: HeartBeat,
    pub(super) headers: Vec<(String, String)>,
}

impl Accept {
    /// CONNECTED with this `session` id, which should be unique among the sessions of the broker.
    pub fn new(session: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            server: None,
            heart_beat: HeartBeat::NONE,
            headers: Vec::new(),
        }
    }

    /// Adds `server`: a name, perhaps `/` and a version, perhaps comments behind blanks.
    pub fn server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Says what the server can send and wants to get. Default: nothing.
    pub fn heart_beat(mut self, heart_beat: HeartBeat) -> Self {
        self.heart_beat = heart_beat;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the values of headers: a broker may answer a login with a token.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Accept")
            .field("session", &self.session)
            .field("server", &self.server)
            .field("heart_beat", &self.heart_beat)
            .field("headers", &names)
            .finish()
    }
}

/// What goes into ERROR.
///
/// ```
/// use stomp_proto::server::Failure;
/// let failure = Failure::new("no such queue").explanation("queue 'a' was deleted");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Failure {
    pub(super) message: String,
    pub(super) explanation: String,
    pub(super) headers: Vec<(String, String)>,
}

impl Failure {
    /// ERROR with a short description; line ends and the like in it become blanks.
    ///
    /// Never put a credential into it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), explanation: String::new(), headers: Vec::new() }
    }

    /// Adds a plain text body.
    pub fn explanation(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = explanation.into();
        self
    }

    /// Adds a header. Left out are those that the server writes, `receipt-id`, `message`,
    /// `content-type` and `content-length`, and in the end what the version of the session cannot
    /// carry; `version` counts where the server has nothing to say of it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        let owned = [name::RECEIPT_ID, name::MESSAGE, name::CONTENT_TYPE, name::CONTENT_LENGTH];
        if !owned.contains(&&*name) {
            self.headers.push((name, value.into()));
        }
        self
    }
}
