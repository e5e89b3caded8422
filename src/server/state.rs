//! Where a server session stands.

use crate::{HeartBeat, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing but CONNECT or STOMP may come.
    AwaitConnect,
    /// The application decides on the CONNECT; nothing behind it is read.
    Answering(Handshake),
    Connected(Version),
    /// DISCONNECT was read; nothing behind it will be.
    Closing(Version),
}

/// What CONNECT settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handshake {
    pub(super) version: Version,
    /// What the client says; `None`: heart-beats are not spoken of.
    pub(super) heart_beat: Option<HeartBeat>,
}

impl State {
    pub(super) fn version(self) -> Option<Version> {
        match self {
            Self::AwaitConnect => None,
            Self::Answering(handshake) => Some(handshake.version),
            Self::Connected(version) | Self::Closing(version) => Some(version),
        }
    }

    /// The version that the client knows of: until CONNECTED it does not know how to read escapes.
    pub(super) fn settled(self) -> Option<Version> {
        match self {
            Self::AwaitConnect | Self::Answering(_) => None,
            Self::Connected(version) | Self::Closing(version) => Some(version),
        }
    }
}
