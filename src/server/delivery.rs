//! A message on its way to subscribers: built once, delivered to any number of sessions.

use core::fmt;

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
#[derive(Clone)]
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

/// Octets of a body that are copied rather than keep a read buffer.
const COPIED: usize = 64 << 10;

impl Delivery {
    /// Starts a message that came to `destination`.
    pub fn builder(destination: impl AsRef<str>) -> DeliveryBuilder {
        DeliveryBuilder::new(destination.as_ref().as_bytes(), 0)
    }

    /// Starts with what a SEND carries: destination, body, and every header but those that the
    /// server owns.
    ///
    /// A body of up to 64 KiB is copied out of the read buffer that it came in: a message that waits
    /// in a queue would keep all of that.
    pub fn relay(send: &SendFrame) -> DeliveryBuilder {
        let headers = send.headers();
        let destination = headers.find(name::DESTINATION).map(Header::value_octets);
        let mut builder = DeliveryBuilder::new(&destination.unwrap_or_default(), headers.octets());
        for header in headers.iter().filter(|header| !is_owned(header.raw_name())) {
            builder.head.push(&header.name_octets(), &header.value_octets());
        }
        builder.body(match send.body() {
            body if body.len() <= COPIED => Bytes::copy_from_slice(body),
            body => body.clone(),
        })
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
            end_head(&mut octets, &body, content_length);
            Tails::Same(Tail { octets: octets.freeze(), dropped: 0 })
        } else {
            let tail = |version| write_tail(head.headers(), &body, content_length, version);
            let (v1_0, v1_2) = (tail(Version::V1_0), tail(Version::V1_2));
            // Only CR is written otherwise in 1.1, or not at all.
            let v1_1 = match &v1_2 {
                Ok(same) if !head.headers().holds(b'\r') => Ok(same.clone()),
                _ => tail(Version::V1_1),
            };
            Tails::PerVersion([v1_0, v1_1, v1_2])
        };
        Delivery { message_id, ack_id, tails, body }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("message_id", &self.message_id)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
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
    end_head(&mut octets, body, content_length);
    Ok(Tail { octets: octets.freeze(), dropped })
}

/// Writes what is behind the headers, in every version alike.
fn end_head(octets: &mut BytesMut, body: &[u8], content_length: ContentLength) {
    let mut head = HeadWriter::resume(octets, Command::Message, Version::V1_2);
    // It fails only where a NUL needs the header that is to be left out, which was seen to.
    let _: Result<(), EncodeError> = head.announce(body, content_length);
    head.finish();
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

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    /// The tail of a version in words, and how many headers it lacks.
    fn tail(delivery: &Delivery, version: Version) -> (String, usize) {
        let tail = delivery.tail(version).unwrap();
        (String::from_utf8(tail.octets.to_vec()).unwrap(), tail.dropped)
    }

    #[test]
    fn what_needs_no_escape_is_written_once_for_all_versions() {
        let delivery =
            Delivery::builder("/q").header("k", "v w").header("k", "").body("hi").build();
        let first = &delivery.tail(Version::V1_0).unwrap().octets;
        assert_eq!(*first, "destination:/q\nk:v w\nk:\ncontent-length:2\n\n");
        for version in Version::ALL {
            let clone = delivery.clone();
            assert_eq!(clone.tail(version).unwrap().octets.as_ptr(), first.as_ptr());
            assert_eq!(clone.body.as_ptr(), delivery.body.as_ptr());
        }
    }

    #[test]
    fn each_version_drops_what_it_cannot_carry() {
        for (name, value, lines) in [
            ("k", "v", [Some("k:v"), Some("k:v"), Some("k:v")]),
            ("k", "a:b", [Some("k:a:b"), Some("k:a\\cb"), Some("k:a\\cb")]),
            ("k", "a\\b", [Some("k:a\\b"), Some("k:a\\\\b"), Some("k:a\\\\b")]),
            ("k", "a\nb", [None, Some("k:a\\nb"), Some("k:a\\nb")]),
            ("k", "a\rb", [None, None, Some("k:a\\rb")]),
            ("k", " v", [None, Some("k: v"), Some("k: v")]),
            ("k", "\tv", [None, Some("k:\tv"), Some("k:\tv")]),
            ("k", "v ", [Some("k:v "), Some("k:v "), Some("k:v ")]),
            ("a:b", "v", [None, Some("a\\cb:v"), Some("a\\cb:v")]),
            ("a\rb", "v", [None, None, Some("a\\rb:v")]),
            ("k", "a\0b", [None, None, None]),
            ("", "v", [None, None, None]),
            ("k", "\u{e9}", [Some("k:\u{e9}"), Some("k:\u{e9}"), Some("k:\u{e9}")]),
        ] {
            let delivery = Delivery::builder("/q").header(name, value).header("z", "1").build();
            for (version, line) in Version::ALL.into_iter().zip(lines) {
                let expected = match line {
                    Some(line) => (alloc::format!("destination:/q\n{line}\nz:1\n\n"), 0),
                    None => ("destination:/q\nz:1\n\n".into(), 1),
                };
                assert_eq!(tail(&delivery, version), expected, "{name:?}: {value:?}");
            }
        }
    }

    #[test]
    fn what_needs_an_escape_is_written_once_for_both_versions_that_have_it() {
        let delivery = Delivery::builder("/q").header("k", "a:b\n").body("hi").build();
        let octets = |version| delivery.tail(version).unwrap().octets.as_ptr();
        assert_eq!(octets(Version::V1_1), octets(Version::V1_2));
        assert_ne!(octets(Version::V1_0), octets(Version::V1_2));
    }

    #[test]
    fn a_destination_is_never_dropped() {
        for (destination, carried) in [
            ("/q", [true, true, true]),
            ("a:b", [true, true, true]),
            (" a", [false, true, true]),
            ("a\nb", [false, true, true]),
            ("a\rb", [false, false, true]),
            ("a\0b", [false, false, false]),
            ("", [true, true, true]),
        ] {
            let delivery = Delivery::builder(destination).build();
            let can_be = Version::ALL.map(|version| delivery.tail(version).is_ok());
            assert_eq!(can_be, carried, "{destination:?}");
        }
    }

    #[test]
    fn a_length_is_there_unless_it_may_be_left_out() {
        for (body, request, line) in [
            ("", ContentLength::Automatic, ""),
            ("hi", ContentLength::Automatic, "content-length:2\n"),
            ("hi", ContentLength::Omit, ""),
            ("h\0", ContentLength::Omit, "content-length:2\n"),
            ("", ContentLength::Omit, ""),
        ] {
            // In plain lines and in lines with an escape alike.
            for destination in ["/q", "/q\\"] {
                let builder = Delivery::builder(destination).body(body).content_length(request);
                let expected = alloc::format!("destination:{destination}\n{line}\n");
                assert_eq!(tail(&builder.build(), Version::V1_0), (expected, 0));
            }
        }
    }

    #[test]
    fn names_of_the_server_are_not_taken_and_only_those() {
        let names = [
            "subscription",
            "message-id",
            "ack",
            "destination",
            "content-length",
            "receipt",
            "transaction",
        ];
        let builder =
            names.into_iter().fold(Delivery::builder("/q"), |to, name| to.header(name, "9"));
        let others = ["Ack", "ack ", "receipt-id", "id", "content-type", "message", "priority"];
        let builder = others.into_iter().fold(builder, |to, name| to.header(name, "9"));
        let expected = "destination:/q\nAck:9\nack :9\nreceipt-id:9\nid:9\ncontent-type:9\n\
                        message:9\npriority:9\n\n";
        assert_eq!(tail(&builder.build(), Version::V1_2), (expected.into(), 0));
    }
}
