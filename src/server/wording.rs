//! Other words for the ERROR about what a client did wrong.

use core::{fmt, ptr};

use super::Failure;
use crate::{Frame, ProtocolError, Version};

/// What a client did wrong, for a [`Wording`] to tell.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Complaint<'a> {
    /// What it is.
    pub error: &'a ProtocolError,
    /// The frame it is about, if the session was connected and could read it. What is in there is
    /// what the client wrote: a credential does not belong into an ERROR.
    pub frame: Option<&'a Frame>,
    /// The octets that came behind the frames that could be read.
    pub unread: &'a [u8],
    /// The version of the session, once it is connected.
    pub version: Option<Version>,
}

impl fmt::Debug for Complaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets: there may be a passcode among them.
        f.debug_struct("Complaint")
            .field("error", &self.error)
            .field("frame", &self.frame)
            .field("unread", &self.unread.len())
            .field("version", &self.version)
            .finish()
    }
}

/// How a server puts into words what a client did wrong, for a broker that takes the place of another
/// one, whose words its clients know.
///
/// Where it has none, the server keeps to its own. The session ends either way.
///
/// ```
/// use stomp_proto::server::{Complaint, Failure, ServerConfig, Wording};
/// use stomp_proto::ProtocolError;
///
/// fn words(complaint: Complaint<'_>) -> Option<Failure> {
///     match complaint.error {
///         ProtocolError::MissingHeader { name, .. } => {
///             Some(Failure::new("Missing header").explanation(format!("there is no {name}\n")))
///         }
///         _ => None,
///     }
/// }
/// let mut config = ServerConfig::default();
/// config.wording = Some(Wording::new(words));
/// ```
#[derive(Clone, Copy)]
pub struct Wording(fn(Complaint<'_>) -> Option<Failure>);

impl Wording {
    /// A wording.
    #[must_use]
    pub const fn new(words: fn(Complaint<'_>) -> Option<Failure>) -> Self {
        Self(words)
    }

    pub(super) fn words(self, complaint: Complaint<'_>) -> Option<Failure> {
        (self.0)(complaint)
    }
}

/// By the address of the function. Two of the same code may share one.
impl PartialEq for Wording {
    fn eq(&self, other: &Self) -> bool {
        ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Wording {}

impl fmt::Debug for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wording").finish_non_exhaustive()
    }
}
