//! From what the client did wrong to the ERROR that says so.

use alloc::format;
use alloc::string::String;

use bytes::{BufMut, BytesMut};

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
}

impl Notice {
    /// `None`: the client speaks another protocol and would not understand it.
    pub(super) fn of(error: &ProtocolError, ours: VersionSet) -> Option<Self> {
        let message = match error {
            ProtocolError::Foreign(_) => return None,
            ProtocolError::NoCommonVersion(_) => return Some(Self::unsupported_version(ours)),
            ProtocolError::MissingHeader { command: Command::Subscribe, name: name::ID } => {
                return Some(Self {
                    message: "invalid subscription".into(),
                    explanation: "id header required".into(),
                    versions: None,
                });
            }
            ProtocolError::Decode(error) => decode_message(error.kind).into(),
            ProtocolError::UnexpectedFrame(Command::Connect | Command::Stomp) => {
                "already connected".into()
            }
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
