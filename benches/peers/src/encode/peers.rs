//! Every other crate. Where one takes its message by value, a clone of it is a part of the number, as
//! making it would be.

use bytes::{BufMut, BytesMut};
use stomp_rs::protocol::ClientCommand;
use tokio_util::codec::Encoder;

use super::Encode;
use crate::corpora::Outgoing;

/// A message and what writes it.
struct Peer<M, W> {
    message: M,
    write: W,
}

impl<M, W: FnMut(&M, &mut BytesMut) -> Result<(), String>> Encode for Peer<M, W> {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        (self.write)(&self.message, out)
    }
}

fn peer<M: 'static>(
    message: M,
    write: impl FnMut(&M, &mut BytesMut) -> Result<(), String> + 'static,
) -> Result<Box<dyn Encode>, &'static str> {
    Ok(Box::new(Peer { message, write }))
}

pub(super) fn iridium_stomp(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let frame = iridium_stomp::Frame::new("SEND").set_body(outgoing.body.clone());
    let with =
        |frame: iridium_stomp::Frame, (name, value): &(String, String)| frame.header(name, value);
    let item = iridium_stomp::StompItem::Frame(outgoing.headers.iter().fold(frame, with));
    let mut codec = iridium_stomp::StompCodec::new();
    peer(item, move |item, out| codec.encode(item.clone(), out).map_err(|error| error.to_string()))
}

pub(super) fn async_stomp(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let send = async_stomp::ToServer::Send {
        destination: outgoing.destination().to_owned(),
        transaction: None,
        headers: Some(outgoing.others()),
        body: Some(outgoing.body.clone()),
    };
    let mut codec = async_stomp::client::ClientCodec::new();
    peer(send, move |send, out| {
        codec
            .encode(async_stomp::Message::from(send.clone()), out)
            .map_err(|error| error.to_string())
    })
}

pub(super) fn tokio_stomp(_: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    Err("its SEND has a destination and a transaction, and writes no other header")
}

pub(super) fn tokio_stomp_2(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let send = tokio_stomp_2::ToServer::Send {
        destination: outgoing.destination().to_owned(),
        transaction: None,
        headers: Some(outgoing.others()),
        body: Some(outgoing.body.clone()),
    };
    let mut codec = tokio_stomp_2::client::ClientCodec;
    peer(send, move |send, out| {
        codec
            .encode(tokio_stomp_2::Message::from(send.clone()), out)
            .map_err(|error| error.to_string())
    })
}

pub(super) fn stomp_agnostic(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let send = stomp_agnostic::ToServer::Send {
        destination: outgoing.destination().to_owned(),
        transaction: None,
        headers: Some(outgoing.others()),
        body: Some(outgoing.body.clone()),
    };
    peer(send, |send, out| {
        out.put_slice(&stomp_agnostic::Message::from(send.clone()).into_bytes());
        Ok(())
    })
}

pub(super) fn stomp_rs(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let frame = stomp_rs::protocol::Frame::<ClientCommand> {
        command: ClientCommand::Send,
        headers: outgoing.headers.iter().cloned().collect(),
        body: String::from_utf8(outgoing.body.clone()).map_err(|_| "its bodies are text")?,
    };
    peer(frame, |frame, out| {
        out.put_slice(&frame.to_bytes());
        Ok(())
    })
}

pub(super) fn stomp_parser(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let parts = (outgoing.headers.clone(), outgoing.body.clone());
    peer(parts, |(headers, body), out| {
        let destination = headers.iter().find(|(name, _)| name == "destination");
        let (_, destination) = destination.ok_or("no destination")?;
        let mut builder = stomp_parser::client::SendFrameBuilder::new(destination.clone());
        for (name, value) in headers {
            builder = match name.as_str() {
                "destination" => builder,
                "content-type" => builder.content_type(value.clone()),
                "receipt" => builder.receipt(value.clone()),
                _ => builder.add_custom_header(name.clone(), value.clone()),
            };
        }
        let octets: Vec<u8> = builder.body(body.clone()).build().into();
        out.put_slice(&octets);
        Ok(())
    })
}
