//! The protocol versions, sets of them, and how two peers agree on one.

use core::fmt;

use crate::frame::value::BLANKS;

/// A version of the STOMP protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// STOMP 1.0: no escapes, no heart-beats, no NACK.
    V1_0,
    /// STOMP 1.1: escapes for LF, colon and backslash; subscriptions are named.
    V1_1,
    /// STOMP 1.2: an escape for CR too; CRLF line ends; ACK names an `ack` id.
    V1_2,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 3] = [Self::V1_0, Self::V1_1, Self::V1_2];

    /// The version as the `version` and `accept-version` headers write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
            Self::V1_2 => "1.2",
        }
    }

    /// The version that a `version` header names, or `None` for one this crate does not speak.
    ///
    /// Exact: no blanks, no leading zeros.
    ///
    /// ```
    /// use stomp_proto::Version;
    /// assert_eq!(Version::parse("1.1"), Some(Version::V1_1));
    /// assert_eq!(Version::parse("2.0"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    const fn bit(self) -> u8 {
        match self {
            Self::V1_0 => 1,
            Self::V1_1 => 2,
            Self::V1_2 => 4,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A set of protocol versions: what one side speaks, offers, or has in common with the other.
///
/// `Display` writes it as an `accept-version` value: ascending, comma separated, without blanks
/// (STOMP 1.2, "Protocol Negotiation").
///
/// ```
/// use stomp_proto::{Version, VersionSet};
/// let ours = VersionSet::ALL;
/// let theirs = VersionSet::of(&[Version::V1_1, Version::V1_0]);
/// assert_eq!(ours.intersection(theirs).highest(), Some(Version::V1_1));
/// assert_eq!(theirs.to_string(), "1.0,1.1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionSet {
    bits: u8,
}

impl VersionSet {
    /// No version at all.
    pub const EMPTY: Self = Self { bits: 0 };
    /// 1.0, 1.1 and 1.2.
    pub const ALL: Self = Self::of(&Version::ALL);

    /// The set of the versions listed; order and repeats do not matter.
    #[must_use]
    pub const fn of(versions: &[Version]) -> Self {
        let mut bits = 0;
        let mut rest = versions;
        while let [first, tail @ ..] = rest {
            bits |= first.bit();
            rest = tail;
        }
        Self { bits }
    }

    /// What a client speaks, by the `accept-version` header of its CONNECT (`None`: no such header).
    ///
    /// Items may stand in any order with blanks around them; those this crate does not know are
    /// ignored. No header means 1.0 only (STOMP 1.2, "Protocol Negotiation"); what a header that
    /// lists nothing means is for the caller to say.
    ///
    /// ```
    /// use stomp_proto::{EmptyAcceptVersion, Version, VersionSet};
    /// let parse = |value| VersionSet::accepted(value, EmptyAcceptVersion::NoVersion);
    /// assert_eq!(parse(Some("1.2, 1.1,9.9")).to_string(), "1.1,1.2");
    /// assert_eq!(parse(None).highest(), Some(Version::V1_0));
    /// assert_eq!(parse(Some("2.0")).highest(), None);
    /// ```
    #[must_use]
    pub fn accepted(accept_version: Option<&str>, empty: EmptyAcceptVersion) -> Self {
        let Some(list) = accept_version else {
            return Self::of(&[Version::V1_0]);
        };
        if list.split(',').all(|item| item.trim_matches(BLANKS).is_empty()) {
            return match empty {
                EmptyAcceptVersion::NoVersion => Self::EMPTY,
                EmptyAcceptVersion::Means1_0 => Self::of(&[Version::V1_0]),
            };
        }
        list.split(',').filter_map(|item| Version::parse(item.trim_matches(BLANKS))).collect()
    }

    /// Whether the set holds `version`.
    #[must_use]
    pub const fn contains(self, version: Version) -> bool {
        self.bits & version.bit() != 0
    }

    /// Whether the set holds no version.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The versions that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self { bits: self.bits & other.bits }
    }

    /// The highest version of the set.
    #[must_use]
    pub fn highest(self) -> Option<Version> {
        self.iter().next_back()
    }

    /// The versions of the set, oldest first.
    #[must_use]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Version> + use<> {
        Version::ALL.into_iter().filter(move |version| self.contains(*version))
    }
}

impl FromIterator<Version> for VersionSet {
    fn from_iter<I: IntoIterator<Item = Version>>(versions: I) -> Self {
        Self { bits: versions.into_iter().fold(0, |bits, version| bits | version.bit()) }
    }
}

impl From<Version> for VersionSet {
    fn from(version: Version) -> Self {
        Self::of(&[version])
    }
}

impl fmt::Display for VersionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, version) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{version}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for VersionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What an `accept-version` header that is present but lists nothing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyAcceptVersion {
    /// The client speaks no version that we know: there is none in common.
    NoVersion,
    /// The same as no header: the client speaks 1.0.
    Means1_0,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn accepted(value: &str) -> Option<Version> {
        VersionSet::accepted(Some(value), EmptyAcceptVersion::NoVersion).highest()
    }

    /// requirements C-019 to C-024
    #[test]
    fn the_highest_common_version_wins_in_any_order_and_spacing() {
        assert_eq!(accepted("1.0,1.1,2.0"), Some(Version::V1_1));
        assert_eq!(accepted("1.1, 1.2"), Some(Version::V1_2));
        assert_eq!(accepted("1.2,1.1,1.0"), Some(Version::V1_2));
        assert_eq!(accepted(" 1.0\t,1.0"), Some(Version::V1_0));
        assert_eq!(accepted("9.9,1.0"), Some(Version::V1_0));
        assert_eq!(accepted("10.0,1.10"), None, "compared as versions, not by prefix");
        assert_eq!(accepted("2.1"), None);
        assert_eq!(accepted("1.2;1.1"), None);
    }

    #[test]
    fn an_absent_header_means_1_0_and_an_empty_one_what_the_caller_says() {
        for empty in [EmptyAcceptVersion::NoVersion, EmptyAcceptVersion::Means1_0] {
            assert_eq!(VersionSet::accepted(None, empty), Version::V1_0.into());
            assert_eq!(VersionSet::accepted(Some("2.0"), empty), VersionSet::EMPTY);
        }
        for value in ["", " ", "\t ", ",", " , "] {
            assert_eq!(accepted(value), None);
            assert_eq!(
                VersionSet::accepted(Some(value), EmptyAcceptVersion::Means1_0),
                Version::V1_0.into()
            );
        }
    }

    #[test]
    fn a_set_is_written_ascending_without_blanks() {
        assert_eq!(VersionSet::ALL.to_string(), "1.0,1.1,1.2");
        assert_eq!(VersionSet::of(&[Version::V1_2, Version::V1_0]).to_string(), "1.0,1.2");
        assert_eq!(VersionSet::EMPTY.to_string(), "");
    }

    #[test]
    fn sets_intersect_and_know_their_highest() {
        let low = VersionSet::of(&[Version::V1_0, Version::V1_1]);
        let high = VersionSet::of(&[Version::V1_1, Version::V1_2]);
        assert_eq!(low.intersection(high), Version::V1_1.into());
        assert_eq!(low.highest(), Some(Version::V1_1));
        assert!(low.intersection(Version::V1_2.into()).is_empty());
        assert_eq!(VersionSet::EMPTY.highest(), None);
    }
}
