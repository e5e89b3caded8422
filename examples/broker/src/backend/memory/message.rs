//! A message in a queue, and how it looks to a subscriber.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use stomp_proto::Frame;
use stomp_proto::destination::name::{PERSISTENT, REDELIVERED, REPLY_TO};
use stomp_proto::destination::{DeliveryMode, Properties, message_destination, message_reply_to};
use stomp_proto::frame::Headers;
use stomp_proto::frame::name::DESTINATION;
use stomp_proto::server::Delivery;

use crate::backend::Outgoing;

/// What a message takes besides its octets, about.
const OVERHEAD: usize = 512;

/// Shared by the queues that have it.
#[derive(Debug)]
pub(super) struct Message {
    /// Headers and body as they are delivered, the first time or again.
    content: Frame,
    first: Delivery,
    octets: usize,
    /// Where it counts once it is in a queue, for as long as it is there.
    held: Held,
    is_held: AtomicBool,
}

/// The octets of all messages in queues, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Arc<AtomicUsize>);

impl Held {
    pub(super) fn octets(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if *self.is_held.get_mut() {
            self.held.0.fetch_sub(self.octets, Ordering::Relaxed);
        }
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
        let first = delivery(&content, false);
        // The headers are there twice, in `first` as well.
        let header_octets: usize =
            content.headers().iter().map(|it| it.name().len() + it.value().len() + 2).sum();
        let octets = content.body().len() + 2 * header_octets + OVERHEAD;
        Self { content, first, octets, held: held.clone(), is_held: AtomicBool::new(false) }
    }

    /// Takes it into account: it is in a queue, the first or another.
    pub(super) fn hold(&self) {
        if !self.is_held.swap(true, Ordering::Relaxed) {
            self.held.0.fetch_add(self.octets, Ordering::Relaxed);
        }
    }

    /// What it counts in a queue.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// What a subscriber gets.
    pub(super) fn delivery(&self, redelivered: bool) -> Delivery {
        if redelivered { delivery(&self.content, true) } else { self.first.clone() }
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

fn delivery(content: &Frame, redelivered: bool) -> Delivery {
    let destination = content.header(DESTINATION).unwrap_or_default();
    let again = if redelivered { "true" } else { "false" };
    let start = Delivery::builder(&*destination).header(REDELIVERED, again);
    // The builder leaves out what the server owns, the destination as well.
    let headers = content.headers();
    let built = headers.iter().fold(start, |it, header| it.header(header.name(), header.value()));
    built.body(content.body().clone()).build()
}
