//! The commands: their names, who may send them, whether they carry a body, since which version.

use core::fmt;

use crate::Version;

/// The command of a frame. The set is closed: a frame with any other word is a protocol error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Opens a session.
    Connect,
    /// Opens a session, told apart from HTTP more easily; since 1.1.
    Stomp,
    /// The server's answer to CONNECT.
    Connected,
    /// A message to a destination.
    Send,
    /// Asks for the messages of a destination.
    Subscribe,
    /// Ends a subscription.
    Unsubscribe,
    /// A message was consumed.
    Ack,
    /// A message was not consumed; since 1.1.
    Nack,
    /// Starts a transaction.
    Begin,
    /// Carries out a transaction.
    Commit,
    /// Drops a transaction.
    Abort,
    /// Ends the session.
    Disconnect,
    /// A message of a subscription.
    Message,
    /// A frame that asked for a receipt was processed.
    Receipt,
    /// Something went wrong; the connection ends.
    Error,
}

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The end that opened the connection and sends CONNECT.
    Client,
    /// The end that answers with CONNECTED.
    Server,
}

impl Command {
    /// Every command.
    pub const ALL: [Self; 15] = [
        Self::Connect,
        Self::Stomp,
        Self::Connected,
        Self::Send,
        Self::Subscribe,
        Self::Unsubscribe,
        Self::Ack,
        Self::Nack,
        Self::Begin,
        Self::Commit,
        Self::Abort,
        Self::Disconnect,
        Self::Message,
        Self::Receipt,
        Self::Error,
    ];

    /// The command as the wire has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "CONNECT",
            Self::Stomp => "STOMP",
            Self::Connected => "CONNECTED",
            Self::Send => "SEND",
            Self::Subscribe => "SUBSCRIBE",
            Self::Unsubscribe => "UNSUBSCRIBE",
            Self::Ack => "ACK",
            Self::Nack => "NACK",
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Abort => "ABORT",
            Self::Disconnect => "DISCONNECT",
            Self::Message => "MESSAGE",
            Self::Receipt => "RECEIPT",
            Self::Error => "ERROR",
        }
    }

    /// The end that sends frames of this command.
    #[must_use]
    pub const fn sender(self) -> Role {
        match self {
            Self::Connected | Self::Message | Self::Receipt | Self::Error => Role::Server,
            _ => Role::Client,
        }
    }

    /// Whether frames of this command may carry a body (STOMP 1.2, "Body").
    #[must_use]
    pub const fn may_have_body(self) -> bool {
        matches!(self, Self::Send | Self::Message | Self::Error)
    }

    /// The version that introduced the command.
    #[must_use]
    pub const fn since(self) -> Version {
        match self {
            Self::Stomp | Self::Nack => Version::V1_1,
            _ => Version::V1_0,
        }
    }

    /// Whether its headers are escaped, on versions that escape at all.
    ///
    /// STOMP 1.2, "Value Encoding", exempts CONNECT and CONNECTED; STOMP is handled like CONNECT.
    pub(crate) const fn escapes_headers(self) -> bool {
        !matches!(self, Self::Connect | Self::Stomp | Self::Connected)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
