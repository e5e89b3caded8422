//! Decodes a stream in every way there is, and says in plain types what became of it.

use core::iter::once;

use stomp_proto::codec::{self, DecodeError, Decoder, DecoderConfig, Scanner, Step};
use stomp_proto::{Command, FrameRef, Version};

/// Under which rules a stream is decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    pub(crate) version: Option<Version>,
    pub(crate) config: DecoderConfig,
}

/// What became of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) items: Vec<Item>,
    /// The octets that wait for more, or the error.
    pub(crate) rest: Result<Vec<u8>, DecodeError>,
    /// What it means if the stream ends there.
    pub(crate) finish: Result<(), DecodeError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Eol,
    Frame(Plain),
}

/// A frame read out: names and values unescaped, malformed header lines raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) command: Command,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) malformed: Vec<Vec<u8>>,
    pub(crate) body: Vec<u8>,
}

impl From<FrameRef<'_>> for Item {
    fn from(frame: FrameRef<'_>) -> Self {
        let headers = frame.headers().iter();
        Self::Frame(Plain {
            command: frame.command(),
            headers: headers.map(|h| (h.name().into_owned(), h.value().into_owned())).collect(),
            malformed: frame.malformed_headers().map(<[u8]>::to_vec).collect(),
            body: frame.body().to_vec(),
        })
    }
}

impl Setup {
    pub(crate) fn decoder(&self) -> Decoder {
        let mut decoder = Decoder::new(self.config.clone());
        if let Some(version) = self.version {
            decoder.set_version(version);
        }
        decoder
    }

    pub(crate) fn scanner(&self) -> Scanner {
        let mut scanner = Scanner::new(self.config.clone());
        if let Some(version) = self.version {
            scanner.set_version(version);
        }
        scanner
    }

    /// What becomes of `octets`, which must be the same whole, cut in two anywhere and octet by
    /// octet, through [`Decoder`] and through [`Scanner`].
    pub(crate) fn outcome(&self, octets: &[u8]) -> Outcome {
        let whole = self.decode(once(octets));
        assert_eq!(self.scan(once(octets)), whole, "Scanner, whole: {self:?}");
        for at in 1..octets.len() {
            let (start, end) = octets.split_at(at);
            assert_eq!(self.decode([start, end]), whole, "Decoder, cut at {at}: {self:?}");
            assert_eq!(self.scan([start, end]), whole, "Scanner, cut at {at}: {self:?}");
        }
        assert_eq!(self.decode(octets.chunks(1)), whole, "Decoder, octet by octet: {self:?}");
        assert_eq!(self.scan(octets.chunks(1)), whole, "Scanner, octet by octet: {self:?}");
        whole
    }

    /// What becomes of `chunks` in a [`Decoder`], copied in and read in by turns.
    pub(crate) fn decode<'a>(&self, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
        let mut decoder = self.decoder();
        let mut items = Vec::new();
        for (index, chunk) in chunks.into_iter().enumerate() {
            if index % 2 == 0 {
                decoder.push(chunk);
            } else {
                decoder.buffer().extend_from_slice(chunk);
            }
            if let Err(error) = take_items(&mut decoder, &mut items) {
                decoder.push(b"\n");
                assert_eq!(decoder.next_item(), Err(error), "the error stays");
                return Outcome { items, rest: Err(error), finish: decoder.finish() };
            }
            assert_eq!(decoder.command(), command_of(decoder.buffer()));
        }
        let rest = decoder.buffer().to_vec();
        assert_eq!(decoder.buffered(), rest.len());
        Outcome { items, rest: Ok(rest), finish: decoder.finish() }
    }

    /// What becomes of `chunks` in a [`Scanner`].
    pub(crate) fn scan<'a>(&self, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
        let mut scanner = self.scanner();
        let mut items = Vec::new();
        let mut rest = Vec::new();
        for chunk in chunks {
            rest.extend_from_slice(chunk);
            loop {
                let consumed = match scanner.advance(&rest) {
                    Ok(Step::NeedMore) => break,
                    Ok(Step::Nul { consumed }) => consumed,
                    Ok(Step::Eol { consumed }) => {
                        items.push(Item::Eol);
                        consumed
                    }
                    Ok(Step::Frame { consumed, frame }) => {
                        items.push(frame.into());
                        consumed
                    }
                    Err(error) => {
                        let again = scanner.advance(b"\n").map(|_| ());
                        assert_eq!(again, Err(error), "the error stays");
                        return Outcome { items, rest: Err(error), finish: scanner.finish(&rest) };
                    }
                };
                rest.drain(..consumed);
            }
            assert_eq!(scanner.command(), command_of(&rest));
        }
        Outcome { items, finish: scanner.finish(&rest), rest: Ok(rest) }
    }
}

/// Takes what is whole out of a decoder.
pub(crate) fn take_items(decoder: &mut Decoder, items: &mut Vec<Item>) -> Result<(), DecodeError> {
    while let Some(item) = decoder.next_item()? {
        items.push(match item {
            codec::Item::Eol => Item::Eol,
            codec::Item::Frame(frame) => frame.as_frame_ref().into(),
        });
    }
    Ok(())
}

/// The command of a frame that is not whole, if its line is.
fn command_of(rest: &[u8]) -> Option<Command> {
    let line = rest.split_inclusive(|octet| *octet == b'\n').next()?.strip_suffix(b"\n")?;
    let name = line.strip_suffix(b"\r").unwrap_or(line);
    Command::ALL.into_iter().find(|command| command.as_str().as_bytes() == name)
}
