//! A MESSAGE that has come: what the session finds out about it, and what the application gets.

use alloc::borrow::Cow;
use core::fmt;

use bytes::Bytes;

use super::Epoch;
use super::ack::{AckToken, Form};
use super::subscriptions::{SubscriptionId, Subscriptions};
use crate::frame::{Header, name};
use crate::session::ProtocolError;
use crate::{Command, Frame, Headers, Version};

/// MESSAGE: a message of a subscription.
///
/// It shares the read buffer with its neighbours: keeping it keeps that buffer. Keep what
/// [`Frame::to_compact`] makes of it instead.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    frame: Frame,
    facts: Facts,
    epoch: Epoch,
}

impl Message {
    /// A MESSAGE that was checked, and what was found out about it.
    #[inline]
    pub(super) fn new(frame: Frame, facts: Facts, epoch: Epoch) -> Self {
        Self { frame, facts, epoch }
    }

    /// Where the message was sent to, in the broker's spelling.
    #[must_use]
    pub fn destination(&self) -> Cow<'_, str> {
        self.value(self.facts.at.destination)
    }

    /// The broker's name of the message.
    #[must_use]
    pub fn message_id(&self) -> Cow<'_, str> {
        self.value(self.facts.at.message_id)
    }

    /// The subscription; `None` if it has ended, or never was one of this session: brokers send
    /// replies to temporary queues that way.
    #[must_use]
    pub fn subscription(&self) -> Option<SubscriptionId> {
        self.facts.subscription
    }

    /// What to acknowledge it with; `None` if it is not acknowledged by the client.
    ///
    /// It is there also when the subscription has ended in the meantime.
    #[must_use]
    pub fn token(&self) -> Option<AckToken> {
        let raw = |position: u32| self.frame.shared_raw_value(position as usize);
        let message_id = || raw(self.facts.at.message_id);
        let form = match self.facts.acknowledged? {
            Version::V1_0 => Form::V1_0 { message_id: message_id() },
            Version::V1_1 => Form::V1_1 {
                subscription: raw(self.facts.at.subscription),
                message_id: message_id(),
            },
            Version::V1_2 => Form::V1_2 { ack: raw(self.facts.at.ack) },
        };
        Some(AckToken::new(self.epoch, form))
    }

    /// The body; empty if there is none.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        self.frame.body()
    }

    /// All headers.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        self.frame.headers()
    }

    /// The frame.
    #[must_use]
    pub fn as_frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame.
    #[must_use]
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    fn value(&self, position: u32) -> Cow<'_, str> {
        self.headers().at(position as usize).map(Header::value).unwrap_or_default()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)
    }
}

/// What a session finds out about a MESSAGE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    at: Positions,
    /// Whose it is.
    subscription: Option<SubscriptionId>,
    /// The version in whose form it is acknowledged, if by the client at all.
    acknowledged: Option<Version>,
}

impl Facts {
    /// Checks that a MESSAGE has what it must have, and finds out whose it is.
    #[inline]
    pub(super) fn of(
        headers: Headers<'_>,
        version: Version,
        subscriptions: &Subscriptions,
    ) -> Result<Self, ProtocolError> {
        let at = Positions::of(headers);
        let missing = |name| ProtocolError::MissingHeader { command: Command::Message, name };
        if at.destination == MISSING {
            return Err(missing(name::DESTINATION));
        }
        if at.message_id == MISSING {
            return Err(missing(name::MESSAGE_ID));
        }
        let header = |position: u32| headers.at(position as usize);
        let receiver = match header(at.subscription) {
            Some(subscription) => subscriptions.by_name(&subscription.value_octets()),
            // Only 1.0 lets a broker leave it out.
            None if version == Version::V1_0 => {
                let destination = header(at.destination).map(Header::value_octets);
                subscriptions.by_destination(&destination.unwrap_or_default())
            }
            None => return Err(missing(name::SUBSCRIPTION)),
        };
        let mut acknowledged = receiver.is_by_client.then_some(version);
        if acknowledged == Some(Version::V1_2) && at.ack == MISSING {
            // STOMP 1.2, "MESSAGE": it must be there if the client is to acknowledge, which one that
            // was under way for an earlier subscription of the same id perhaps is not.
            let name = header(at.subscription).map(Header::value_octets);
            let is_excused = receiver.subscription.is_none()
                || subscriptions.has_ended_without_acks(&name.unwrap_or_default());
            if !is_excused {
                return Err(missing(name::ACK));
            }
            acknowledged = None;
        }
        Ok(Self { at, subscription: receiver.subscription, acknowledged })
    }
}

/// Where the headers that a session knows stand in a MESSAGE, each the first of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Positions {
    destination: u32,
    message_id: u32,
    subscription: u32,
    ack: u32,
}

impl Positions {
    #[inline]
    fn of(headers: Headers<'_>) -> Self {
        let names = [name::DESTINATION, name::MESSAGE_ID, name::SUBSCRIPTION, name::ACK];
        let [destination, message_id, subscription, ack] = headers.positions(names);
        Self { destination, message_id, subscription, ack }
    }
}

/// The position of a header that is missing.
const MISSING: u32 = Headers::NOWHERE;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::request::SubscribeRequest;
    use super::*;
    use crate::frame::AckMode;

    const EPOCH: Epoch = Epoch::FIRST;

    fn subscriptions(ack: AckMode) -> Subscriptions {
        let mut subscriptions = Subscriptions::default();
        let request = SubscribeRequest::new("/q").id("a").ack(ack);
        let subscription = subscriptions.prepare(&request, 10).unwrap();
        subscriptions.add(subscription);
        subscriptions
    }

    fn frame(headers: &[(&str, &str)]) -> Frame {
        let builder = Frame::builder(Command::Message);
        headers.iter().fold(builder, |builder, (name, value)| builder.header(name, value)).build()
    }

    fn form(frame: Frame, version: Version, ack: AckMode) -> Option<Form> {
        let facts = Facts::of(frame.headers(), version, &subscriptions(ack)).unwrap();
        let token = Message::new(frame, facts, EPOCH).token()?;
        let form = |form| AckToken::new(EPOCH, form);
        let forms = [
            Form::V1_0 { message_id: "7".into() },
            Form::V1_1 { subscription: "a".into(), message_id: "7".into() },
            Form::V1_2 { ack: "t".into() },
        ];
        Some(forms.into_iter().find(|it| token == form(it.clone())).unwrap())
    }

    /// requirements, field case B80
    #[test]
    fn a_token_takes_the_form_of_the_version_whatever_else_is_there() {
        let all = [
            ("ack", "t"),
            ("message-id", "7"),
            ("destination", "/q"),
            ("subscription", "a"),
            ("ack", "later"),
            ("message-id", "later"),
        ];
        for mode in [AckMode::Client, AckMode::ClientIndividual] {
            let form = |version| form(frame(&all), version, mode);
            assert_eq!(form(Version::V1_0), Some(Form::V1_0 { message_id: "7".into() }));
            let v1_1 = Form::V1_1 { subscription: "a".into(), message_id: "7".into() };
            assert_eq!(form(Version::V1_1), Some(v1_1));
            assert_eq!(form(Version::V1_2), Some(Form::V1_2 { ack: "t".into() }));
        }
        for version in Version::ALL {
            assert_eq!(form(frame(&all), version, AckMode::Auto), None);
        }
    }

    /// requirements M-008, M-011
    #[test]
    fn what_a_message_must_have_depends_on_the_version() {
        let all = [("destination", "/q"), ("message-id", "7"), ("subscription", "a"), ("ack", "t")];
        for version in Version::ALL {
            for (index, (name, _)) in all.iter().enumerate() {
                let rest: Vec<_> = all.iter().copied().filter(|it| it.0 != *name).collect();
                let subscriptions = subscriptions(AckMode::Client);
                let error = Facts::of(frame(&rest).headers(), version, &subscriptions).err();
                let is_needed = match index {
                    0 | 1 => true,
                    2 => version > Version::V1_0,
                    _ => version == Version::V1_2,
                };
                let missing = ProtocolError::MissingHeader { command: Command::Message, name };
                assert_eq!(error, is_needed.then_some(missing), "{name} on {version}");
            }
        }
    }
}
