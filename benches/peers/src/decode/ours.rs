//! This crate: borrowed frames, owned ones, and the events of a session.

use core::time::Duration;
use std::borrow::Cow;

use stomp_proto::codec::{Decoder, DecoderConfig, Item, Scanner, Step};
use stomp_proto::frame::{AckMode, FrameRef};
use stomp_proto::server::{Event, SendFrame};
use stomp_proto::{Client, Frame, Session, Version, client};

use super::{Decode, Read};
use crate::corpora::Corpus;
use crate::sessions::{Broker, drain, subscribed, subscriber};
use crate::tally::{Seen, Tally};

struct Borrowed {
    scanner: Scanner,
    /// What is left of earlier reads.
    rest: Vec<u8>,
}

pub(super) fn borrowed(_: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    let mut scanner = Scanner::new(DecoderConfig::default());
    scanner.set_version(Version::V1_2);
    Ok(Box::new(Borrowed { scanner, rest: Vec::new() }))
}

impl Decode for Borrowed {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        if self.rest.is_empty() {
            let consumed = scan(&mut self.scanner, octets, tally)?;
            self.rest.extend_from_slice(&octets[consumed..]);
        } else {
            self.rest.extend_from_slice(octets);
            let consumed = scan(&mut self.scanner, &self.rest, tally)?;
            self.rest.drain(..consumed);
        }
        Ok(())
    }
}

/// Scans all that is whole; how many octets that is.
fn scan(scanner: &mut Scanner, buffer: &[u8], tally: &mut Tally) -> Result<usize, String> {
    let mut at = 0;
    loop {
        match scanner.advance(&buffer[at..]).map_err(|error| error.to_string())? {
            Step::NeedMore => return Ok(at),
            Step::Eol { consumed } | Step::Nul { consumed } => at += consumed,
            Step::Frame { consumed, frame } => {
                tally.frame(&frame);
                at += consumed;
            }
        }
    }
}

struct Owned(Decoder);

pub(super) fn owned(_: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    Ok(Box::new(Owned(decoder)))
}

impl Decode for Owned {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.0.push(octets);
        while let Some(item) = self.0.next_item().map_err(|error| error.to_string())? {
            if let Item::Frame(frame) = item {
                tally.frame(&frame);
            }
        }
        Ok(())
    }
}

/// A server for SEND, a client for MESSAGE.
pub(super) fn session(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    let now = Duration::ZERO;
    Ok(if corpus.is_send {
        Box::new(OfServer { server: subscribed(AckMode::Auto).0, now })
    } else {
        Box::new(OfClient { client: subscriber(), now })
    })
}

struct OfClient {
    client: Client<Duration>,
    now: Duration,
}

impl Decode for OfClient {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.now += Duration::from_millis(1);
        self.client.receive(octets);
        while let Some(event) = self.client.poll_event(self.now) {
            match event {
                client::Event::Message(message) => tally.frame(&message),
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(())
    }
}

struct OfServer {
    server: Broker,
    now: Duration,
}

impl Decode for OfServer {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.now += Duration::from_millis(1);
        self.server.receive(octets);
        while let Some(event) = self.server.poll_event(self.now) {
            let Event::Send { frame, reply } = event else { return Err(format!("{event:?}")) };
            tally.frame(&frame);
            self.server.confirm(reply).map_err(|refused| format!("{refused:?}"))?;
        }
        // The receipts that the frames ask for.
        drain(&mut self.server);
        Ok(())
    }
}

impl Seen for FrameRef<'_> {
    fn body_len(&self) -> usize {
        self.body().len()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        FrameRef::header(*self, name)
    }
}

impl Seen for Frame {
    fn body_len(&self) -> usize {
        self.body().len()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        Frame::header(self, name)
    }
}

impl Seen for client::Message {
    fn body_len(&self) -> usize {
        self.body().len()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers().get(name)
    }
}

impl Seen for SendFrame {
    fn body_len(&self) -> usize {
        self.body().len()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers().get(name)
    }
}
