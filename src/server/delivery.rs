//! A message on its way to subscribers: built once, delivered to any number of sessions.

use alloc::string::String;
use alloc::vec::Vec;

use bytes::{Bytes, BytesMut};

use super::event::SendFrame;
use crate::codec::{ContentLength, EncodeError, HeadWriter};
use crate::frame::{Headers, Text, name};
use crate::{Command, Version};

/// A message for subscribers.
///
/// Its head is written when it is built, once for each version that needs its own, and shared from
/// then on, as the body is.
///
/// ```
/// use stomp_proto::server::Delivery;
/// let delivery = Delivery::builder("/queue/a").header("redelivered", "false").body("hello").build();
/// let for_another_session = delivery.clone();
/// ```
#[derive(Clone, Debug)]
pub struct Delivery {
    pub(super) message_id: Option<Text>,
    pub(super) ack_id: Option<Text>,
    tails: [Result<Tail, EncodeError>; 3],
    pub(super) body: Bytes,
}

/// The head of a MESSAGE from `destination` on: what is the same for every receiver.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) octets: Bytes,
    /// Headers that the version cannot carry and that were left out.
    pub(super) dropped: usize,
}

/// Puts a [`Delivery`] together.
#[derive(Clone, Debug)]
#[must_use]
pub struct DeliveryBuilder {
    destination: String,
    message_id: Option<Text>,
    ack_id: Option<Text>,
    headers: Vec<(String, String)>,
    content_length: ContentLength,
    body: Bytes,
}

impl Delivery {
    /// Starts a message that came to `destination`.
    pub fn builder(destination: impl Into<String>) -> DeliveryBuilder {
        DeliveryBuilder {
            destination: destination.into(),
            message_id: None,
            ack_id: None,
            headers: Vec::new(),
            content_length: ContentLength::Automatic,
            body: Bytes::new(),
        }
    }

    /// Starts with what a SEND carries: destination, body, and every header but those that the
    /// server owns.
    pub fn relay(send: &SendFrame) -> DeliveryBuilder {
        Self::builder(send.destination()).relayed_headers(send.headers()).body(send.body().clone())
    }

    pub(super) fn tail(&self, version: Version) -> Result<&Tail, EncodeError> {
        let [v10, v11, v12] = &self.tails;
        let tail = match version {
            Version::V1_0 => v10,
            Version::V1_1 => v11,
            Version::V1_2 => v12,
        };
        tail.as_ref().map_err(Clone::clone)
    }
}

impl DeliveryBuilder {
    /// Names the message. Without it each session numbers its deliveries.
    pub fn message_id(mut self, message_id: &str) -> Self {
        self.message_id = Some(Text::new(message_id));
        self
    }

    /// Chooses what a 1.2 client acknowledges it by, a UUID, say. Without it the session does.
    pub fn ack_id(mut self, ack_id: &str) -> Self {
        self.ack_id = Some(Text::new(ack_id));
        self
    }

    /// Adds a header behind those there are. Those that the server owns are left out:
    /// `subscription`, `message-id`, `ack`, `destination`, `content-length`, `receipt`,
    /// `transaction`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        if !is_owned(&name) {
            self.headers.push((name, value.into()));
        }
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Whether `content-length` is written. It is, whenever the body holds a NUL.
    pub fn content_length(mut self, content_length: ContentLength) -> Self {
        self.content_length = content_length;
        self
    }

    /// The message.
    #[must_use]
    pub fn build(self) -> Delivery {
        let newest = self.tail(Version::V1_2);
        let tails = Version::ALL.map(|version| match (&newest, self.tail(version)) {
            // Nearly always: nothing in it needs an escape.
            (Ok(newest), Ok(tail)) if newest.octets == tail.octets => Ok(newest.clone()),
            (_, tail) => tail,
        });
        let Self { message_id, ack_id, body, .. } = self;
        Delivery { message_id, ack_id, tails, body }
    }

    fn relayed_headers(mut self, headers: Headers<'_>) -> Self {
        for header in headers.iter() {
            self = self.header(header.name(), header.value());
        }
        self
    }

    fn tail(&self, version: Version) -> Result<Tail, EncodeError> {
        let mut octets = BytesMut::new();
        let mut dropped = 0;
        let mut head = HeadWriter::resume(&mut octets, Command::Message, version);
        head.header(name::DESTINATION.as_bytes(), self.destination.as_bytes())?;
        for (name, value) in &self.headers {
            if head.header(name.as_bytes(), value.as_bytes()).is_err() {
                dropped += 1;
            }
        }
        let omittable = !self.body.contains(&0);
        let automatic = ContentLength::Automatic;
        head.announce(&self.body, if omittable { self.content_length } else { automatic })?;
        head.finish();
        Ok(Tail { octets: octets.freeze(), dropped })
    }
}

/// The headers of a MESSAGE that are never taken over from a SEND.
fn is_owned(name: &str) -> bool {
    [
        name::SUBSCRIPTION,
        name::MESSAGE_ID,
        name::ACK,
        name::DESTINATION,
        name::CONTENT_LENGTH,
        name::RECEIPT,
        name::TRANSACTION,
    ]
    .contains(&name)
}
