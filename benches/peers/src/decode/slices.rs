//! Crates that parse slices: stomp-rs, which keeps what is not whole, and stomp-parser, which wants
//! one whole frame.

use std::borrow::Cow;

use stomp_parser::client::{ClientFrame, SendFrame};
use stomp_parser::headers::{DecodableValue, HeaderValue};
use stomp_parser::server::{MessageFrame, ServerFrame};
use stomp_rs::protocol::{ClientCommand, Command, Frame, FrameParser, ServerCommand, StompMessage};

use super::{Decode, Read};
use crate::corpora::Corpus;
use crate::tally::{Seen, Tally};

struct StompRs<C: Command>(FrameParser<C>);

pub(super) fn stomp_rs(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    Ok(if corpus.is_send {
        Box::new(StompRs::<ClientCommand>(FrameParser::new()))
    } else {
        Box::new(StompRs::<ServerCommand>(FrameParser::new()))
    })
}

impl<C: Command + Clone> Decode for StompRs<C> {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        let items = self.0.parse(octets).map_err(|error| format!("{error:?}"))?;
        for item in items {
            if let StompMessage::Frame(frame) = item {
                tally.frame(&frame);
            }
        }
        Ok(())
    }
}

impl<C: Into<&'static str>> Seen for Frame<C> {
    fn body_len(&self) -> usize {
        self.body.len()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers.get(name).map(|value| Cow::Borrowed(value.as_str()))
    }
}

/// Each frame is cut out for it, since it does not find where one ends.
struct StompParser {
    unit_len: usize,
    parse: fn(Vec<u8>, &mut Tally) -> Result<(), String>,
}

pub(super) fn stomp_parser(corpus: &Corpus, read: Read) -> Result<Box<dyn Decode>, &'static str> {
    if read != Read::Whole {
        return Err("it takes one whole frame and does not find where one ends");
    }
    let parse = if corpus.is_send { parse_send } else { parse_message };
    Ok(Box::new(StompParser { unit_len: corpus.unit.len(), parse }))
}

fn parse_send(octets: Vec<u8>, tally: &mut Tally) -> Result<(), String> {
    match ClientFrame::try_from(octets) {
        Ok(ClientFrame::Send(frame)) => tally.frame(&frame),
        Ok(other) => return Err(format!("{other:?}")),
        Err(error) => return Err(format!("{error:?}")),
    }
    Ok(())
}

fn parse_message(octets: Vec<u8>, tally: &mut Tally) -> Result<(), String> {
    match ServerFrame::try_from(octets) {
        Ok(ServerFrame::Message(frame)) => tally.frame(&frame),
        Ok(other) => return Err(format!("{other:?}")),
        Err(error) => return Err(format!("{error:?}")),
    }
    Ok(())
}

impl Decode for StompParser {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        octets.chunks(self.unit_len).try_for_each(|unit| (self.parse)(unit.to_vec(), tally))
    }
}

/// A value without its escapes.
fn plain<'a>(value: &'a impl DecodableValue) -> Option<Cow<'a, str>> {
    value.decoded_value().ok().map(|value| value.either(Cow::Borrowed, Cow::Owned))
}

impl Seen for MessageFrame<'_> {
    fn body_len(&self) -> usize {
        self.body().map_or(0, <[u8]>::len)
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        match name {
            "destination" => plain(self.destination()),
            "message-id" => plain(self.message_id()),
            "subscription" => plain(self.subscription()),
            "content-type" => plain(self.content_type()?),
            "content-length" => Some(self.content_length()?.value().to_string().into()),
            _ => plain(self.custom.iter().find(|custom| custom.header_name() == name)?),
        }
    }
}

impl Seen for SendFrame<'_> {
    fn body_len(&self) -> usize {
        self.body().map_or(0, <[u8]>::len)
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        match name {
            "destination" => plain(self.destination()),
            "receipt" => plain(self.receipt()?),
            "content-type" => plain(self.content_type()?),
            "content-length" => Some(self.content_length()?.value().to_string().into()),
            _ => plain(self.custom.iter().find(|custom| custom.header_name() == name)?),
        }
    }
}
