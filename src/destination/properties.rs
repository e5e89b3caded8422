//! The headers of a SEND as the properties and headers of an AMQP message.

use alloc::borrow::Cow;
use core::fmt;

use super::PlanError;
use super::name::{
    AMQP_MESSAGE_ID, APP_ID, CONTENT_ENCODING, CORRELATION_ID, EXPIRATION, PERSISTENT, PRIORITY,
    PROPERTIES, REPLY_TO, TIMESTAMP, TYPE, USER_ID,
};
use super::value::{boolean, number};
use crate::frame::name::{CONTENT_LENGTH, CONTENT_TYPE, DESTINATION};
use crate::frame::{Header, Headers};

/// What the headers of a SEND are to its message: AMQP properties, or entries of its header table.
///
/// Under [`Scheme::Original`](super::Scheme::Original) only `content-type` is a property.
///
/// ```
/// use stomp_proto::destination::{Action, DeliveryMode, Planner, PlannerConfig};
/// use stomp_proto::{Command, Frame};
/// # fn main() -> Result<(), stomp_proto::destination::PlanError> {
/// let mut planner = Planner::new(PlannerConfig::default());
/// let send = Frame::builder(Command::Send)
///     .header("destination", "/topic/news")
///     .header("persistent", "true")
///     .header("content-type", "text/plain")
///     .header("source", "desk 3")
///     .build();
/// for action in planner.send(send.headers(), |_| "generated-1".into())? {
///     let Action::Publish { properties, .. } = action else { continue };
///     assert_eq!(properties.delivery_mode(), DeliveryMode::Persistent);
///     assert_eq!(properties.content_type().as_deref(), Some("text/plain"));
///     let headers: Vec<_> = properties.headers().map(|header| header.name()).collect();
///     assert_eq!(headers, ["source"]);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Properties<'a> {
    headers: Headers<'a>,
    /// The headers that are properties.
    names: &'static [&'static str],
    delivery_mode: DeliveryMode,
    priority: Option<u8>,
    timestamp: Option<u64>,
    reply_to: Option<Cow<'a, str>>,
}

/// Whether a message is kept on disk: the AMQP property `delivery-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryMode {
    /// 1, or not set.
    #[default]
    Transient,
    /// 2.
    Persistent,
}

impl<'a> Properties<'a> {
    pub(super) fn current(headers: Headers<'a>) -> Result<Self, PlanError> {
        let delivery_mode = match boolean(headers, PERSISTENT)? {
            Some(true) => DeliveryMode::Persistent,
            Some(false) | None => DeliveryMode::Transient,
        };
        Ok(Self {
            headers,
            names: &PROPERTIES,
            delivery_mode,
            priority: number(headers, PRIORITY)?,
            timestamp: number(headers, TIMESTAMP)?,
            reply_to: headers.get(REPLY_TO),
        })
    }

    pub(super) fn original(headers: Headers<'a>) -> Self {
        Self {
            headers,
            names: &[CONTENT_TYPE],
            delivery_mode: DeliveryMode::default(),
            priority: None,
            timestamp: None,
            reply_to: None,
        }
    }

    pub(super) fn set_reply_to(&mut self, queue: &str) {
        self.reply_to = Some(Cow::Owned(queue.into()));
    }

    /// `delivery-mode`, by the header `persistent`.
    #[must_use]
    pub fn delivery_mode(&self) -> DeliveryMode {
        self.delivery_mode
    }

    /// `content-type`.
    #[must_use]
    pub fn content_type(&self) -> Option<Cow<'a, str>> {
        self.property(CONTENT_TYPE)
    }

    /// `content-encoding`.
    #[must_use]
    pub fn content_encoding(&self) -> Option<Cow<'a, str>> {
        self.property(CONTENT_ENCODING)
    }

    /// `priority`.
    #[must_use]
    pub fn priority(&self) -> Option<u8> {
        self.priority
    }

    /// `correlation-id`.
    #[must_use]
    pub fn correlation_id(&self) -> Option<Cow<'a, str>> {
        self.property(CORRELATION_ID)
    }

    /// `reply-to`: the name of a queue where the header named a temporary queue, else the header.
    #[must_use]
    pub fn reply_to(&self) -> Option<&str> {
        self.reply_to.as_deref()
    }

    /// `expiration`: milliseconds, as text.
    #[must_use]
    pub fn expiration(&self) -> Option<Cow<'a, str>> {
        self.property(EXPIRATION)
    }

    /// `message-id`, by the header `amqp-message-id`.
    #[must_use]
    pub fn message_id(&self) -> Option<Cow<'a, str>> {
        self.property(AMQP_MESSAGE_ID)
    }

    /// `timestamp`: seconds since 1970.
    #[must_use]
    pub fn timestamp(&self) -> Option<u64> {
        self.timestamp
    }

    /// `type`.
    #[must_use]
    pub fn message_type(&self) -> Option<Cow<'a, str>> {
        self.property(TYPE)
    }

    /// `user-id`, which a broker has to hold against the user of the session.
    #[must_use]
    pub fn user_id(&self) -> Option<Cow<'a, str>> {
        self.property(USER_ID)
    }

    /// `app-id`.
    #[must_use]
    pub fn app_id(&self) -> Option<Cow<'a, str>> {
        self.property(APP_ID)
    }

    /// The entries of the header table, all of them text: every header that is no property, even
    /// `receipt` and `transaction`, but not `destination` and `content-length`. Of repeated ones the
    /// first counts.
    pub fn headers(&self) -> impl Iterator<Item = Header<'a>> {
        let names = self.names;
        self.headers.iter().filter(move |header| {
            let name = header.name();
            let is = |other: &&str| **other == *name;
            !names.iter().chain(&[DESTINATION, CONTENT_LENGTH]).any(is)
        })
    }

    fn property(&self, name: &str) -> Option<Cow<'a, str>> {
        if self.names.contains(&name) { self.headers.get(name) } else { None }
    }
}

impl fmt::Debug for Properties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Properties")
            .field("headers", &self.headers)
            .field("reply_to", &self.reply_to)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::{Command, Frame};

    fn send() -> Frame {
        let start = Frame::builder(Command::Send)
            .header("destination", "/queue/a")
            .header("content-length", "0")
            .header("receipt", "r")
            .header("transaction", "t")
            .header("x-max-length", "1")
            .header("mine", "1")
            .header("mine", "2");
        let values = ["true", "4", "1700000000"];
        let numbers = [PERSISTENT, PRIORITY, TIMESTAMP];
        let frame = numbers
            .iter()
            .zip(values)
            .fold(start, |frame, (name, value)| frame.header(name, value));
        let texts = PROPERTIES.iter().filter(|name| !numbers.contains(name));
        texts.fold(frame, |frame, name| frame.header(name, name)).build()
    }

    fn names(properties: &Properties<'_>) -> Vec<String> {
        properties.headers().map(|header| header.name().into_owned()).collect()
    }

    #[test]
    fn its_headers_are_shown_and_where_the_reply_goes() {
        let frame = Frame::builder(Command::Send).header("reply-to", "/temp-queue/a").build();
        let mut properties = Properties::current(frame.headers()).unwrap();
        properties.set_reply_to("q");
        let shown =
            "Properties { headers: {\"reply-to\": \"/temp-queue/a\"}, reply_to: Some(\"q\"), .. }";
        assert_eq!(alloc::format!("{properties:?}"), shown);
    }

    /// destinations.md, chapter 5.2
    #[test]
    fn every_property_is_read_and_the_rest_is_the_header_table() {
        let frame = send();
        let properties = Properties::current(frame.headers()).unwrap();
        assert_eq!(properties.delivery_mode(), DeliveryMode::Persistent);
        assert_eq!(properties.priority(), Some(4));
        assert_eq!(properties.timestamp(), Some(1_700_000_000));
        assert_eq!(properties.reply_to(), Some(REPLY_TO));
        for (name, value) in [
            (CONTENT_TYPE, properties.content_type()),
            (CONTENT_ENCODING, properties.content_encoding()),
            (CORRELATION_ID, properties.correlation_id()),
            (EXPIRATION, properties.expiration()),
            (AMQP_MESSAGE_ID, properties.message_id()),
            (TYPE, properties.message_type()),
            (USER_ID, properties.user_id()),
            (APP_ID, properties.app_id()),
        ] {
            assert_eq!(value.as_deref(), Some(name));
        }
        let table = ["receipt", "transaction", "x-max-length", "mine", "mine"];
        assert_eq!(names(&properties), table);
    }

    #[test]
    fn what_is_not_said_is_not_set() {
        let frame = Frame::builder(Command::Send).header("persistent", "false").build();
        let properties = Properties::current(frame.headers()).unwrap();
        assert_eq!(properties.delivery_mode(), DeliveryMode::Transient);
        assert_eq!((properties.priority(), properties.timestamp()), (None, None));
        assert_eq!((properties.content_type(), properties.reply_to()), (None, None));
        assert_eq!(properties.headers().count(), 0);
    }

    #[test]
    fn the_original_scheme_knows_one_property() {
        let frame = send();
        let properties = Properties::original(frame.headers());
        assert_eq!(properties.content_type().as_deref(), Some(CONTENT_TYPE));
        assert_eq!(properties.delivery_mode(), DeliveryMode::Transient);
        assert_eq!(properties.app_id(), None);
        let passed_on = frame.headers().len() - 3;
        assert_eq!(names(&properties).len(), passed_on, "all but three");
    }
}
