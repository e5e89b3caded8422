//! A message in a queue, and how it looks to a subscriber.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::ops::Deref;
use core::sync::atomic::{AtomicUsize, Ordering};

use stomp_proto::Frame;
use stomp_proto::destination::name::{PERSISTENT, REDELIVERED, REPLY_TO};
use stomp_proto::destination::{DeliveryMode, Properties, message_destination, message_reply_to};
use stomp_proto::frame::Headers;
use stomp_proto::frame::name::DESTINATION;
use stomp_proto::server::Delivery;

use crate::backend::Outgoing;

/// What a message takes besides its octets, about, with its place in a queue.
const OVERHEAD: usize = 512;
/// Of that, what its place in a queue takes: one message may be in very many.
pub(super) const ENTRY: usize = 128;

/// Shared by the queues that have it.
#[derive(Debug)]
pub(super) struct Message {
    /// Headers and body as they are delivered, the first time or again.
    content: Frame,
    first: Delivery,
    octets: usize,
    /// How many queues it is in.
    queues: AtomicUsize,
    held: Held,
}

/// The octets of all messages in queues, each once, and of all their places there.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Arc<AtomicUsize>);

impl Held {
    pub(super) fn octets(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Which time it is that a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    First,
    Again,
}

/// A message in a queue, where it counts for as long as it is there.
#[derive(Debug)]
pub(super) struct Kept(Arc<Message>);

impl Kept {
    pub(super) fn new(message: Arc<Message>) -> Self {
        let is_first = message.queues.fetch_add(1, Ordering::Relaxed) == 0;
        let octets = if is_first { message.octets } else { ENTRY };
        message.held.0.fetch_add(octets, Ordering::Relaxed);
        Self(message)
    }

    pub(super) fn message(&self) -> Arc<Message> {
        self.0.clone()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let was_last = self.0.queues.fetch_sub(1, Ordering::Relaxed) == 1;
        // The last one takes the message with it.
        let octets = if was_last { self.0.octets } else { ENTRY };
        self.0.held.0.fetch_sub(octets, Ordering::Relaxed);
    }
}

impl Deref for Kept {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.0
    }
}

impl Message {
    /// A message that goes through an exchange with a routing key.
    pub(super) fn new(
        sent: Outgoing<'_>,
        exchange: &str,
        key: &str,
        properties: &Properties<'_>,
        held: &Held,
    ) -> Self {
        // It may wait for long, and must not keep the read buffer that it came in.
        let start = Frame::builder(stomp_proto::Command::Send)
            .header(DESTINATION, &destination(sent.headers, exchange, key))
            .body(sent.body.to_vec());
        // Under the original scheme it is a header like any other.
        let is_property = !properties.headers().any(|header| header.name() == PERSISTENT);
        let content = sent.headers.iter().fold(start, |frame, header| {
            let value = match &*header.name() {
                // The broker has said where it came from, and will say whether for the first time.
                DESTINATION | REDELIVERED => return frame,
                PERSISTENT if is_property => match properties.delivery_mode() {
                    DeliveryMode::Persistent => Cow::Borrowed("true"),
                    DeliveryMode::Transient => return frame,
                },
                REPLY_TO => match properties.reply_to() {
                    Some(reply_to) => message_reply_to(reply_to),
                    None => header.value(),
                },
                _ => header.value(),
            };
            frame.header(&header.name(), &value)
        });
        let content = content.build();
        let first = delivery(&content, Time::First);
        // The headers are there twice, in `first` as well.
        let header_octets: usize =
            content.headers().iter().map(|it| it.name().len() + it.value().len() + 2).sum();
        let octets = content.body().len() + 2 * header_octets + OVERHEAD;
        Self { content, first, octets, queues: AtomicUsize::new(0), held: held.clone() }
    }

    /// What it counts in a queue, its place included.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// What a subscriber gets.
    pub(super) fn delivery(&self, time: Time) -> Delivery {
        match time {
            Time::First => self.first.clone(),
            Time::Again => delivery(&self.content, time),
        }
    }
}

/// The destination of a MESSAGE: by the way that the message took, as RabbitMQ has it.
fn destination<'a>(sent: Headers<'a>, exchange: &str, key: &str) -> Cow<'a, str> {
    match sent.get(DESTINATION) {
        // Under the original scheme that is the way to a queue, which keeps its name.
        Some(queue) if exchange == "amq.direct" && queue.starts_with("/queue/") => queue,
        _ => message_destination(exchange, key).into(),
    }
}

fn delivery(content: &Frame, time: Time) -> Delivery {
    let destination = content.header(DESTINATION).unwrap_or_default();
    let redelivered = match time {
        Time::First => "false",
        Time::Again => "true",
    };
    let start = Delivery::builder(&*destination).header(REDELIVERED, redelivered);
    // The builder leaves out what the server owns, the destination as well.
    let headers = content.headers();
    let built = headers.iter().fold(start, |it, header| it.header(header.name(), header.value()));
    built.body(content.body().clone()).build()
}
