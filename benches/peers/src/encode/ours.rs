//! This crate: from a frame that is kept, from one that is built each time, and as a request to a
//! session.

use core::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use stomp_proto::client::SendRequest;
use stomp_proto::codec::{ContentLength, encode};
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Delivery, SubscriptionId};
use stomp_proto::{Client, Command, Frame, Session, Version};

use super::Encode;
use crate::corpora::Outgoing;
use crate::sessions::{Broker, subscribed, subscriber};

struct Borrowed(Frame);

pub(super) fn borrowed(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    Ok(Box::new(Borrowed(build(&outgoing.headers, outgoing.body.clone().into()))))
}

impl Encode for Borrowed {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        write(&self.0, out)
    }
}

/// The parts of a frame, its body shared.
struct Built {
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Built {
    fn new(headers: Vec<(String, String)>, outgoing: &Outgoing) -> Self {
        Self { headers, body: outgoing.body.clone().into() }
    }
}

pub(super) fn built(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    Ok(Box::new(Built::new(outgoing.headers.clone(), outgoing)))
}

impl Encode for Built {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        write(&build(&self.headers, self.body.clone()), out)
    }
}

fn build(headers: &[(String, String)], body: Bytes) -> Frame {
    let builder = Frame::builder(Command::Send);
    let with = |builder: stomp_proto::frame::FrameBuilder, (name, value): &(String, String)| {
        builder.header(name, value)
    };
    headers.iter().fold(builder, with).body(body).build()
}

fn write(frame: &Frame, out: &mut BytesMut) -> Result<(), String> {
    encode(frame.as_frame_ref(), Version::V1_2, ContentLength::Automatic, out)
        .map_err(|error| error.to_string())
}

struct OfClient {
    client: Client<Duration>,
    destination: String,
    parts: Built,
}

pub(super) fn client(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    // The session names its receipts itself, and would remember each: this is sent without.
    let others = outgoing.others().into_iter().filter(|(name, _)| name != "receipt").collect();
    Ok(Box::new(OfClient {
        client: subscriber(),
        destination: outgoing.destination().to_owned(),
        parts: Built::new(others, outgoing),
    }))
}

impl Encode for OfClient {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        let mut request = SendRequest::new(&self.destination).body(self.parts.body.clone());
        for (name, value) in &self.parts.headers {
            request = request.header(name, value);
        }
        self.client.send(&request).map_err(|error| error.to_string())?;
        take(&mut self.client, out);
        Ok(())
    }
}

struct OfServer {
    server: Broker,
    subscription: SubscriptionId,
    destination: String,
    parts: Built,
}

pub(super) fn server(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let (server, subscription) = subscribed(AckMode::Auto);
    Ok(Box::new(OfServer {
        server,
        subscription,
        destination: outgoing.destination().to_owned(),
        parts: Built::new(outgoing.others(), outgoing),
    }))
}

impl Encode for OfServer {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        let builder = Delivery::builder(&self.destination).body(self.parts.body.clone());
        let pairs = self.parts.headers.iter();
        let delivery = pairs.fold(builder, |builder, (name, value)| builder.header(name, value));
        self.server
            .deliver(self.subscription, &delivery.build(), 0)
            .map_err(|refused| format!("{refused:?}"))?;
        take(&mut self.server, out);
        Ok(())
    }
}

/// Writes what a session has to write.
fn take(session: &mut impl Session, out: &mut BytesMut) {
    let outbox = session.outbox();
    while outbox.has_remaining() {
        let chunk = outbox.chunk();
        let len = chunk.len();
        out.put_slice(chunk);
        outbox.advance(len);
    }
}
