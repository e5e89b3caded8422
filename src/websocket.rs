//! STOMP over WebSocket: the subprotocol names, what to offer, which to choose, is the answer sound.
//!
//! The names are those of the IANA registry: `v10.stomp`, `v11.stomp`, `v12.stomp`. They compare
//! exactly. Message boundaries mean nothing to the decoder; outgoing, one frame is one message.

use alloc::string::String;

use crate::frame::value::BLANKS;
use crate::{Version, VersionSet};

impl Version {
    /// The WebSocket subprotocol that stands for this version.
    #[must_use]
    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::V1_0 => "v10.stomp",
            Self::V1_1 => "v11.stomp",
            Self::V1_2 => "v12.stomp",
        }
    }

    /// The version that a WebSocket subprotocol stands for.
    #[must_use]
    pub fn from_subprotocol(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.subprotocol() == name)
    }
}

/// What a client writes into `Sec-WebSocket-Protocol`: the preferred version first, because some
/// servers take the first of the list.
///
/// ```
/// use stomp_proto::{VersionSet, websocket};
/// assert_eq!(websocket::offer(VersionSet::ALL), "v12.stomp, v11.stomp, v10.stomp");
/// ```
#[must_use]
pub fn offer(versions: VersionSet) -> String {
    let mut list = String::new();
    for version in versions.iter().rev() {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(version.subprotocol());
    }
    list
}

/// Which of the offered subprotocols a server answers with: the highest that both speak.
///
/// `offered` are the values of all `Sec-WebSocket-Protocol` request headers, each a comma list.
/// `None`: answer without the header, and let CONNECT negotiate. A name that was not offered is
/// never chosen (RFC 6455, section 4.2.2): browsers abort on one.
///
/// ```
/// use stomp_proto::{Version, VersionSet, websocket};
/// let chosen = websocket::select(["mqtt, v10.stomp", "v11.stomp"], VersionSet::ALL);
/// assert_eq!(chosen, Some(Version::V1_1));
/// assert_eq!(chosen.map(Version::subprotocol), Some("v11.stomp"));
/// ```
pub fn select<'a>(
    offered: impl IntoIterator<Item = &'a str>,
    supported: VersionSet,
) -> Option<Version> {
    let offered: VersionSet = offered
        .into_iter()
        .flat_map(|line| line.split(','))
        .filter_map(|name| Version::from_subprotocol(name.trim_matches(BLANKS)))
        .collect();
    offered.intersection(supported).highest()
}

/// What a server's answer to an [`offer`] means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server chose this offered version: offer only it in CONNECT.
    Negotiated(Version),
    /// The server chose none: CONNECT negotiates.
    None,
    /// The server answered though nothing was offered, as ActiveMQ does; with the version, if the
    /// name stands for one.
    Unsolicited(Option<Version>),
    /// The server chose a version that was not among the offered.
    NotOffered(Version),
    /// The server chose a subprotocol that is not STOMP.
    Unknown,
}

/// Judges the `Sec-WebSocket-Protocol` header of a server's answer (`None`: no such header).
///
/// Whether an unsound answer ends the connection is for the embedder to decide; RFC 6455,
/// section 4.1, says it does.
///
/// ```
/// use stomp_proto::websocket::{Answer, verify};
/// use stomp_proto::{Version, VersionSet};
/// let offered = VersionSet::of(&[Version::V1_1, Version::V1_2]);
/// assert_eq!(verify(offered, Some("v11.stomp")), Answer::Negotiated(Version::V1_1));
/// assert_eq!(verify(offered, Some("v10.stomp")), Answer::NotOffered(Version::V1_0));
/// assert_eq!(verify(offered, None), Answer::None);
/// ```
#[must_use]
pub fn verify(offered: VersionSet, answer: Option<&str>) -> Answer {
    let name = answer.unwrap_or_default().trim_matches(BLANKS);
    if name.is_empty() {
        return Answer::None;
    }
    let version = Version::from_subprotocol(name);
    match version {
        Some(version) if offered.contains(version) => Answer::Negotiated(version),
        _ if offered.is_empty() => Answer::Unsolicited(version),
        Some(version) => Answer::NotOffered(version),
        None => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// requirements W-001, W-002
    #[test]
    fn the_offer_lists_the_newest_version_first() {
        assert_eq!(offer(VersionSet::ALL), "v12.stomp, v11.stomp, v10.stomp");
        assert_eq!(offer(Version::V1_1.into()), "v11.stomp");
        assert_eq!(offer(VersionSet::EMPTY), "");
    }

    /// requirements W-003, field case B116
    #[test]
    fn the_server_chooses_the_highest_common_version_or_none() {
        let all = VersionSet::ALL;
        assert_eq!(select([], all), None);
        assert_eq!(select(["v11.stomp", "mqtt"], all), Some(Version::V1_1));
        assert_eq!(select(["v10.stomp, v11.stomp, v12.stomp"], all), Some(Version::V1_2));
        assert_eq!(select(["v10.stomp,v12.stomp"], Version::V1_0.into()), Some(Version::V1_0));
        assert_eq!(select(["v12.stomp"], Version::V1_1.into()), None);
        assert_eq!(select(["V12.STOMP", "stomp", "v12.stompx", ""], all), None, "exact names");
        assert_eq!(select([" \tv12.stomp\t,,"], all), Some(Version::V1_2));
    }

    /// requirements W-004, W-012, field case B116
    #[test]
    fn an_answer_is_judged_by_what_was_offered() {
        let offered = VersionSet::of(&[Version::V1_1, Version::V1_2]);
        assert_eq!(verify(offered, Some("v12.stomp")), Answer::Negotiated(Version::V1_2));
        assert_eq!(verify(offered, Some(" v11.stomp ")), Answer::Negotiated(Version::V1_1));
        assert_eq!(verify(offered, None), Answer::None);
        assert_eq!(verify(offered, Some("")), Answer::None);
        assert_eq!(verify(offered, Some("v10.stomp")), Answer::NotOffered(Version::V1_0));
        assert_eq!(verify(offered, Some("stomp")), Answer::Unknown);
        assert_eq!(verify(offered, Some("v12.stomp, v11.stomp")), Answer::Unknown);
        let nothing = VersionSet::EMPTY;
        assert_eq!(verify(nothing, None), Answer::None);
        assert_eq!(
            verify(nothing, Some("v11.stomp")),
            Answer::Unsolicited(Some(Version::V1_1)),
            "before not-offered"
        );
        assert_eq!(verify(nothing, Some("stomp")), Answer::Unsolicited(None), "before unknown");
    }
}
