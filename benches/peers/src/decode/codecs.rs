//! Crates with a codec of `tokio_util`, driven as `Framed` drives it: append a read, decode until
//! there is no item.

use std::borrow::Cow;
use std::fmt::Display;

use bytes::BytesMut;
use tokio_util::codec::Decoder;

use super::{Decode, Read};
use crate::corpora::Corpus;
use crate::tally::{Seen, Tally, find, find_octets};

const CLIENT_ONLY: &str = "its codec is a client's: it takes no SEND";

struct Codec<D> {
    codec: D,
    buffer: BytesMut,
}

impl<D> Codec<D> {
    fn new(codec: D) -> Box<Self> {
        Box::new(Self { codec, buffer: BytesMut::with_capacity(8 << 10) })
    }
}

impl<D> Decode for Codec<D>
where
    D: Decoder<Error: Display>,
    D::Item: Seen,
{
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.buffer.extend_from_slice(octets);
        loop {
            match self.codec.decode(&mut self.buffer) {
                Ok(Some(item)) => tally.frame(&item),
                Ok(None) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

pub(super) fn iridium_stomp(_: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    Ok(Codec::new(iridium_stomp::StompCodec::new()))
}

impl Seen for iridium_stomp::StompItem {
    fn is_frame(&self) -> bool {
        matches!(self, Self::Frame(_))
    }

    fn body_len(&self) -> usize {
        match self {
            Self::Frame(frame) => frame.body.len(),
            Self::Heartbeat => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Frame(frame) => frame.get_header(name).map(Cow::Borrowed),
            Self::Heartbeat => None,
        }
    }
}

pub(super) fn async_stomp(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    if corpus.is_send {
        return Err(CLIENT_ONLY);
    }
    Ok(Codec::new(async_stomp::client::ClientCodec::new()))
}

impl Seen for async_stomp::Message<async_stomp::FromServer> {
    fn body_len(&self) -> usize {
        match &self.content {
            async_stomp::FromServer::Message { body: Some(body), .. } => body.len(),
            _ => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let async_stomp::FromServer::Message {
            destination,
            message_id,
            subscription,
            ack,
            headers,
            ..
        } = &self.content
        else {
            return None;
        };
        match name {
            "destination" => Some(destination.into()),
            "message-id" => Some(message_id.into()),
            "subscription" => Some(subscription.into()),
            "ack" => ack.as_deref().map(Cow::Borrowed),
            _ => find(headers, name).or_else(|| find_octets(&self.extra_headers, name)),
        }
    }
}

pub(super) fn tokio_stomp(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    if corpus.is_send {
        return Err(CLIENT_ONLY);
    }
    Ok(Codec::new(tokio_stomp::client::ClientCodec))
}

impl Seen for tokio_stomp::Message<tokio_stomp::FromServer> {
    fn body_len(&self) -> usize {
        match &self.content {
            tokio_stomp::FromServer::Message { body: Some(body), .. } => body.len(),
            _ => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let tokio_stomp::FromServer::Message { destination, message_id, subscription, .. } =
            &self.content
        else {
            return None;
        };
        match name {
            "destination" => Some(destination.into()),
            "message-id" => Some(message_id.into()),
            "subscription" => Some(subscription.into()),
            _ => find_octets(&self.extra_headers, name),
        }
    }
}

pub(super) fn tokio_stomp_2(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    if corpus.is_send {
        return Err(CLIENT_ONLY);
    }
    Ok(Codec::new(tokio_stomp_2::client::ClientCodec))
}

impl Seen for tokio_stomp_2::Message<tokio_stomp_2::FromServer> {
    fn body_len(&self) -> usize {
        match &self.content {
            tokio_stomp_2::FromServer::Message { body: Some(body), .. } => body.len(),
            _ => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let tokio_stomp_2::FromServer::Message {
            destination,
            message_id,
            subscription,
            headers,
            ..
        } = &self.content
        else {
            return None;
        };
        match name {
            "destination" => Some(destination.into()),
            "message-id" => Some(message_id.into()),
            "subscription" => Some(subscription.into()),
            _ => find(headers, name).or_else(|| find_octets(&self.extra_headers, name)),
        }
    }
}
