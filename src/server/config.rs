//! How a server session is set up.

use super::{Dialect, Wording};
use crate::codec::Limits;
use crate::{HeartBeatTiming, Version, VersionSet};

/// How a [`Server`](super::Server) is set up.
///
/// ```
/// use stomp_proto::server::{Dialect, ServerConfig};
/// let mut config = ServerConfig::default();
/// config.dialect = Dialect::SPEC;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The versions to speak. Default: all.
    pub versions: VersionSet,
    /// The version that the WebSocket handshake settled, which CONNECT may not contradict.
    pub subprotocol: Option<Version>,
    /// What passes that need not. Default: [`Dialect::LENIENT`].
    pub dialect: Dialect,
    /// How frames end. Default: [`FrameEnd::Nul`].
    pub frame_end: FrameEnd,
    /// Bounds on what the client can make the session hold.
    pub limits: Limits,
    /// How early to beat, and how late the client may be.
    pub timing: HeartBeatTiming,
    /// Other words for what the client did wrong. Default: none.
    pub wording: Option<Wording>,
}

/// How the frames of a server end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameEnd {
    /// With NUL and nothing behind it.
    #[default]
    Nul,
    /// With NUL and LF, as those of many brokers do on TCP.
    ///
    /// Clients skip it, but for the STOMP extension of PHP, which needs it: it takes the octet behind
    /// the NUL for one, whatever it is.
    NulAndEol,
}

impl FrameEnd {
    pub(super) fn octets(self) -> &'static [u8] {
        match self {
            Self::Nul => b"\0",
            Self::NulAndEol => b"\0\n",
        }
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            versions: VersionSet::ALL,
            subprotocol: None,
            dialect: Dialect::default(),
            frame_end: FrameEnd::default(),
            limits: Limits::default(),
            timing: HeartBeatTiming::default(),
            wording: None,
        }
    }
}

impl ServerConfig {
    /// The versions that are still to be had.
    pub(super) fn open_versions(&self) -> VersionSet {
        match self.subprotocol {
            Some(version) => self.versions.intersection(version.into()),
            None => self.versions,
        }
    }
}
