//! How a session opens: what CONNECT settles, and what comes in its place.

use super::frames::{Fault, invalid, missing};
use super::state::{Handshake, State};
use super::{ConnectFrame, ConnectReply, Event, HeartBeatOn1_0, Server};
use crate::codec::{DecodeError, DecodeErrorKind};
use crate::frame::{Form, name};
use crate::session::Timer;
use crate::{Command, Foreign, Frame, HeartBeat, Instant, ProtocolError, Version, VersionSet};

impl<I: Instant, T> Server<I, T> {
    /// What can be held against a frame that is not whole yet: before login nothing but CONNECT is
    /// worth waiting for.
    pub(super) fn early_fault(&self) -> Option<Fault> {
        if self.state != State::AwaitConnect {
            return None;
        }
        match self.link.incoming_command()? {
            Command::Connect | Command::Stomp => None,
            command => Some(ProtocolError::NotConnected(command).into()),
        }
    }

    /// The other protocol that the octets are of which start no command.
    pub(super) fn foreign(&mut self, error: &ProtocolError) -> Option<ProtocolError> {
        const HTTP: [&[u8]; 8] =
            [b"GET ", b"POST ", b"PUT ", b"HEAD ", b"OPTIONS ", b"PATCH ", b"DELETE ", b"TRACE "];
        let is_unknown = matches!(
            error,
            ProtocolError::Decode(DecodeError { kind: DecodeErrorKind::UnknownCommand, .. })
        );
        if self.state != State::AwaitConnect || !is_unknown {
            return None;
        }
        let start = self.link.unread();
        // A method that is cut off counts as well.
        let is = |method: &&[u8]| start.starts_with(method) || method.starts_with(start);
        match start.first()? {
            // The record type of a TLS handshake.
            0x16 => Some(ProtocolError::Foreign(Foreign::Tls)),
            _ if HTTP.iter().any(is) => Some(ProtocolError::Foreign(Foreign::Http)),
            _ => None,
        }
    }

    pub(super) fn connect(&mut self, mut frame: Frame) -> Result<Event<T>, ProtocolError> {
        let dialect = self.dialect;
        let theirs = VersionSet::accepted(
            frame.header(name::ACCEPT_VERSION).as_deref(),
            dialect.empty_accept_version,
        );
        let common = theirs.intersection(self.open_versions).highest();
        let version = common.ok_or(ProtocolError::NoCommonVersion(theirs))?;
        match version {
            // Only now can it be known to pad its values.
            Version::V1_0 => {
                frame.reread(Form::Padded);
                frame.drop_body();
            }
            _ if !frame.body().is_empty() => {
                return Err(ProtocolError::UnexpectedBody(frame.command()));
            }
            _ if frame.header(name::HOST).is_none() && !dialect.missing_host.accepts() => {
                return Err(missing(&frame, name::HOST));
            }
            _ => {}
        }
        let heart_beat = self.offered_heart_beat(version, &frame)?;
        self.link.answered(Timer::Connect);
        self.state = State::Answering(Handshake { version, heart_beat });
        let heart_beat = heart_beat.unwrap_or_default();
        let frame = ConnectFrame { frame, version, heart_beat };
        Ok(Event::Connect { frame, reply: ConnectReply(()) })
    }

    /// What the client says about heart-beats; `None`: they are not spoken of.
    fn offered_heart_beat(
        &self,
        version: Version,
        frame: &Frame,
    ) -> Result<Option<HeartBeat>, ProtocolError> {
        let value = match (version, self.dialect.heart_beat_on_1_0) {
            (Version::V1_0, HeartBeatOn1_0::Ignore) => return Ok(None),
            _ => frame.header(name::HEART_BEAT),
        };
        match value {
            Some(value) => match HeartBeat::parse(&value) {
                Some(heart_beat) => Ok(Some(heart_beat)),
                None => Err(invalid(frame, name::HEART_BEAT)),
            },
            None if version == Version::V1_0 => Ok(None),
            None => Ok(Some(HeartBeat::NONE)),
        }
    }
}
