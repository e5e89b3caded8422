//! From what the client did wrong to the ERROR that says so.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::{BufMut, BytesMut};

use super::Failure;
use crate::codec::DecodeErrorKind;
use crate::frame::name;
use crate::frame::value::BLANKS;
use crate::{Command, ProtocolError, Version, VersionSet};

/// What an ERROR says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) message: String,
    /// A plain text body.
    pub(super) explanation: String,
    /// The versions that the server speaks, where that is what it is about.
    pub(super) versions: Option<VersionSet>,
    /// More headers, `version` among them only if it is not about that.
    pub(super) headers: Vec<(String, String)>,
}

impl Notice {
    /// The same, in the words of the embedder.
    pub(super) fn worded(self, words: Failure) -> Self {
        let Failure { message, explanation, mut headers } = words;
        if self.versions.is_some() {
            headers.retain(|(name, _)| name != name::VERSION);
        }
        Self { message, explanation, headers, versions: self.versions }
    }

    /// `None`: the client speaks another protocol and would not understand it.
    pub(super) fn of(error: &ProtocolError, ours: VersionSet) -> Option<Self> {
        let message = match error {
            ProtocolError::Foreign(_) => return None,
            ProtocolError::NoCommonVersion(_) => return Some(Self::unsupported_version(ours)),
            ProtocolError::MissingHeader { command: Command::Subscribe, name: name::ID } => {
                return Some(Self {
                    message: "invalid subscription".into(),
                    explanation: "id header required".into(),
                    ..Self::default()
                });
            }
            ProtocolError::Decode(error) => decode_message(error.kind).into(),
            ProtocolError::UnexpectedFrame(Command::Connect | Command::Stomp) => {
                "already connected".into()
            }
            ProtocolError::NotConnected(_) => "not connected".into(),
            ProtocolError::MissingHeader { name, .. } => format!("missing {name}"),
            ProtocolError::InvalidHeader { name, .. } => format!("invalid {name}"),
            ProtocolError::UnknownDelivery => "unknown ack id".into(),
            error => format!("{error}"),
        };
        Some(Self { message, ..Self::default() })
    }

    /// The message on one line, with nothing in it that the version cannot carry or, before there is
    /// one, that the client might read in another way.
    pub(super) fn one_line(&self, version: Option<Version>) -> String {
        let is_odd = |character: char| {
            character.is_control() || (version.is_none() && matches!(character, ':' | '\\'))
        };
        let line = self.message.replace(is_odd, " ");
        line.trim_start_matches(BLANKS).into()
    }

    fn unsupported_version(ours: VersionSet) -> Self {
        let list = format!("{ours}").replace(',', ", ");
        Self {
            message: "unsupported version".into(),
            explanation: format!("Supported versions are {list}\n"),
            versions: Some(ours),
            ..Self::default()
        }
    }
}

pub(super) fn put_versions(versions: VersionSet, out: &mut BytesMut) {
    out.put_slice(format!("{versions}").as_bytes());
}

fn decode_message(kind: DecodeErrorKind) -> &'static str {
    match kind {
        DecodeErrorKind::UnknownCommand => "unknown command",
        DecodeErrorKind::HeadTooLong { .. } | DecodeErrorKind::TooManyHeaders { .. } => {
            "head too large"
        }
        DecodeErrorKind::BodyTooLong { .. } => "body too large",
        _ => "malformed frame",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::DecodeError;
    use crate::session::{Bound, Foreign, Limit};

    fn message(error: &ProtocolError) -> Option<String> {
        Notice::of(error, VersionSet::ALL).map(|notice| notice.message)
    }

    #[test]
    fn every_error_has_its_words() {
        let missing = |command, name| ProtocolError::MissingHeader { command, name };
        let invalid = |command, name| ProtocolError::InvalidHeader { command, name };
        let limit = |what| ProtocolError::LimitExceeded(Limit { what, most: 3 });
        for (error, words) in [
            (ProtocolError::UnexpectedFrame(Command::Connect), "already connected"),
            (ProtocolError::UnexpectedFrame(Command::Stomp), "already connected"),
            (ProtocolError::UnexpectedFrame(Command::Message), "unexpected MESSAGE"),
            (ProtocolError::NotConnected(Command::Send), "not connected"),
            (missing(Command::Send, name::DESTINATION), "missing destination"),
            (missing(Command::Unsubscribe, name::ID), "missing id"),
            (missing(Command::Subscribe, name::ID), "invalid subscription"),
            (invalid(Command::Connect, name::HEART_BEAT), "invalid heart-beat"),
            (ProtocolError::UnexpectedBody(Command::Connect), "body on CONNECT"),
            (ProtocolError::NoCommonVersion(VersionSet::EMPTY), "unsupported version"),
            (ProtocolError::DuplicateSubscription, "subscription id is in use"),
            (ProtocolError::UnknownSubscription, "no such subscription"),
            (ProtocolError::DuplicateTransaction, "transaction was begun already"),
            (ProtocolError::UnknownTransaction, "no such transaction"),
            (ProtocolError::UnknownDelivery, "unknown ack id"),
            (limit(Bound::Subscriptions), "more than 3 subscriptions"),
            (limit(Bound::Transactions), "more than 3 open transactions"),
            (limit(Bound::TransactionFrames), "more than 3 frames in a transaction"),
            (limit(Bound::TransactionOctets), "more than 3 octets in transactions"),
        ] {
            assert_eq!(message(&error).as_deref(), Some(words));
        }
        assert_eq!(message(&ProtocolError::Foreign(Foreign::Http)), None);
        assert_eq!(message(&ProtocolError::Foreign(Foreign::Tls)), None);
    }

    #[test]
    fn the_words_for_a_broken_frame_give_no_detail_away() {
        use DecodeErrorKind as Kind;
        for (words, kinds) in [
            ("unknown command", &[Kind::UnknownCommand][..]),
            (
                "head too large",
                &[Kind::HeadTooLong { limit: 1 }, Kind::TooManyHeaders { limit: 1 }],
            ),
            ("body too large", &[Kind::BodyTooLong { limit: 1 }]),
            (
                "malformed frame",
                &[
                    Kind::MissingColon,
                    Kind::EmptyName,
                    Kind::InvalidEscape,
                    Kind::NotUtf8,
                    Kind::StrayCarriageReturn,
                    Kind::NulInHead,
                    Kind::InvalidContentLength,
                    Kind::MissingNul,
                    Kind::UnexpectedBody,
                    Kind::TooManyEols { limit: 1 },
                    Kind::Truncated,
                ],
            ),
        ] {
            for &kind in kinds {
                let error = ProtocolError::Decode(DecodeError { kind, offset: 7 });
                assert_eq!(message(&error).as_deref(), Some(words), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_subscription_without_an_id_and_a_version_are_explained() {
        let missing = ProtocolError::MissingHeader { command: Command::Subscribe, name: name::ID };
        let notice = Notice::of(&missing, VersionSet::ALL).unwrap();
        assert_eq!((&*notice.explanation, notice.versions), ("id header required", None));
        let none = ProtocolError::NoCommonVersion(VersionSet::EMPTY);
        let ours = VersionSet::of(&[Version::V1_0, Version::V1_2]);
        let notice = Notice::of(&none, ours).unwrap();
        assert_eq!(notice.explanation, "Supported versions are 1.0, 1.2\n");
        let mut header = BytesMut::new();
        put_versions(notice.versions.unwrap(), &mut header);
        assert_eq!(header, "1.0,1.2");
    }

    /// requirements ER-003, H-023
    #[test]
    fn a_message_is_one_line_that_its_reader_can_read() {
        for (message, unsettled, settled) in [
            ("plain", "plain", "plain"),
            ("a:b\\c", "a b c", "a:b\\c"),
            ("a\r\nb\0c\td", "a  b c d", "a  b c d"),
            (" \t a ", "a ", "a "),
            ("\n", "", ""),
            ("\u{85}\u{e9}\u{20ac}", "\u{e9}\u{20ac}", "\u{e9}\u{20ac}"),
        ] {
            let notice = Notice { message: message.into(), ..Notice::default() };
            assert_eq!(notice.one_line(None), unsettled);
            for version in Version::ALL {
                assert_eq!(notice.one_line(Some(version)), settled);
            }
        }
    }
}
