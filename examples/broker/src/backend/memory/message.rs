//! A message in a queue, and how it looks to a subscriber.

use alloc::borrow::Cow;

use stomp_proto::Frame;
use stomp_proto::destination::name::{REDELIVERED, REPLY_TO};
use stomp_proto::destination::{Properties, message_reply_to};
use stomp_proto::frame::name::DESTINATION;
use stomp_proto::server::Delivery;

use crate::backend::Outgoing;

/// What a message takes besides its octets, about.
const OVERHEAD: usize = 512;

/// Shared by the queues that have it.
#[derive(Debug)]
pub(super) struct Message {
    /// Headers and body as they were sent.
    sent: Frame,
    reply_to: Option<String>,
    first: Delivery,
    octets: usize,
}

impl Message {
    pub(super) fn new(sent: Outgoing<'_>, properties: &Properties<'_>) -> Self {
        // It may wait for long, and must not keep the read buffer that it came in.
        let start = Frame::builder(stomp_proto::Command::Send).body(sent.body.to_vec());
        let frame = sent
            .headers
            .iter()
            .fold(start, |frame, header| frame.header(&header.name(), &header.value()));
        let sent = frame.build();
        let reply_to = properties.reply_to().map(|to| message_reply_to(to).into_owned());
        let first = delivery(&sent, reply_to.as_deref(), false);
        // The headers are there twice, in `first` as well.
        let header_octets: usize =
            sent.headers().iter().map(|it| it.name().len() + it.value().len() + 2).sum();
        let octets = sent.body().len() + 2 * header_octets + OVERHEAD;
        Self { sent, reply_to, first, octets }
    }

    /// What it counts in a queue.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// What a subscriber gets.
    pub(super) fn delivery(&self, redelivered: bool) -> Delivery {
        if redelivered {
            return delivery(&self.sent, self.reply_to.as_deref(), true);
        }
        self.first.clone()
    }
}

/// The destination as it was sent (STOMP 1.2, "MESSAGE"), and every header, in order.
fn delivery(sent: &Frame, reply_to: Option<&str>, redelivered: bool) -> Delivery {
    let destination = sent.header(DESTINATION).unwrap_or_default();
    let mut builder = Delivery::builder(&*destination);
    if redelivered {
        // Before what the sender says: the first entry counts.
        builder = builder.header(REDELIVERED, "true");
    }
    for header in sent.headers().iter() {
        let name = header.name();
        let value = match reply_to {
            Some(reply_to) if name == REPLY_TO => Cow::Borrowed(reply_to),
            _ => header.value(),
        };
        builder = builder.header(name, value);
    }
    builder.body(sent.body().clone()).build()
}
