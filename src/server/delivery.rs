//! A message on its way to subscribers: built once, delivered to any number of sessions.

use bytes::{Bytes, BytesMut};

use super::event::SendFrame;
use crate::codec::{ContentLength, EncodeError, HeadWriter};
use crate::frame::{FrameBuilder, Header, Headers, Text, name};
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
    tails: Tails,
    pub(super) body: Bytes,
}

/// The head of a MESSAGE from `destination` on: what is the same for every receiver.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) octets: Bytes,
    /// Headers that the version cannot carry and that were left out.
    pub(super) dropped: usize,
}

#[derive(Clone, Debug)]
enum Tails {
    /// Nearly always: nothing in it needs an escape.
    Same(Tail),
    /// Oldest version first.
    PerVersion([Result<Tail, EncodeError>; 3]),
}

/// Puts a [`Delivery`] together.
#[derive(Clone, Debug)]
#[must_use]
pub struct DeliveryBuilder {
    /// The destination and the headers behind it.
    head: FrameBuilder,
    message_id: Option<Text>,
    ack_id: Option<Text>,
    content_length: ContentLength,
    body: Bytes,
}

impl Delivery {
    /// Starts a message that came to `destination`.
    pub fn builder(destination: impl AsRef<str>) -> DeliveryBuilder {
        DeliveryBuilder::new(destination.as_ref().as_bytes(), 0)
    }

    /// Starts with what a SEND carries: destination, body, and every header but those that the
    /// server owns.
    pub fn relay(send: &SendFrame) -> DeliveryBuilder {
        let headers = send.headers();
        let destination = headers.find(name::DESTINATION).map(Header::value_octets);
        let mut builder = DeliveryBuilder::new(&destination.unwrap_or_default(), headers.octets());
        for header in headers.iter().filter(|header| !is_owned(header.raw_name())) {
            builder.head.push(&header.name_octets(), &header.value_octets());
        }
        builder.body(send.body().clone())
    }

    pub(super) fn tail(&self, version: Version) -> Result<&Tail, EncodeError> {
        let tail = match (&self.tails, version) {
            (Tails::Same(tail), _) => return Ok(tail),
            (Tails::PerVersion([tail, _, _]), Version::V1_0)
            | (Tails::PerVersion([_, tail, _]), Version::V1_1)
            | (Tails::PerVersion([_, _, tail]), Version::V1_2) => tail,
        };
        tail.as_ref().map_err(Clone::clone)
    }
}

impl DeliveryBuilder {
    /// With room for so many octets of headers.
    fn new(destination: &[u8], octets: usize) -> Self {
        let mut head = FrameBuilder::with_room(Command::Message, destination.len() + octets + 64);
        head.push(name::DESTINATION.as_bytes(), destination);
        Self {
            head,
            message_id: None,
            ack_id: None,
            content_length: ContentLength::Automatic,
            body: Bytes::new(),
        }
    }

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
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let name = name.as_ref().as_bytes();
        if !is_owned(name) {
            self.head.push(name, value.as_ref().as_bytes());
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
        let Self { head, message_id, ack_id, content_length, body } = self;
        let omittable = !body.contains(&0);
        let content_length = if omittable { content_length } else { ContentLength::Automatic };
        let tails = if head.headers().iter().all(HeadWriter::is_plain_everywhere) {
            let mut octets = head.into_lines();
            HeadWriter::end(&mut octets, &body, content_length);
            Tails::Same(Tail { octets: octets.freeze(), dropped: 0 })
        } else {
            let tail = |version| write_tail(head.headers(), &body, content_length, version);
            Tails::PerVersion(Version::ALL.map(tail))
        };
        Delivery { message_id, ack_id, tails, body }
    }
}

fn write_tail(
    headers: Headers<'_>,
    body: &[u8],
    content_length: ContentLength,
    version: Version,
) -> Result<Tail, EncodeError> {
    let mut octets = BytesMut::with_capacity(headers.octets() + 64);
    let mut dropped = 0;
    let mut head = HeadWriter::resume(&mut octets, Command::Message, version);
    for (position, header) in headers.iter().enumerate() {
        match head.entry(header) {
            Ok(()) => {}
            // The destination.
            Err(error) if position == 0 => return Err(error),
            Err(_) => dropped += 1,
        }
    }
    HeadWriter::end(&mut octets, body, content_length);
    Ok(Tail { octets: octets.freeze(), dropped })
}

/// The headers of a MESSAGE that are never taken over from a SEND.
fn is_owned(name: &[u8]) -> bool {
    [
        name::SUBSCRIPTION,
        name::MESSAGE_ID,
        name::ACK,
        name::DESTINATION,
        name::CONTENT_LENGTH,
        name::RECEIPT,
        name::TRANSACTION,
    ]
    .iter()
    .any(|owned| *owned.as_bytes() == *name)
}
