//! What is decoded and what is encoded, by name.

use stomp_proto::codec::{Decoder, DecoderConfig, Item};
use stomp_proto::{Command, Frame, Version};

use crate::corpus;

/// A frame to decode, over and over.
pub(crate) struct Corpus {
    /// The frame and what follows it.
    pub(crate) unit: Vec<u8>,
    /// How many lie behind each other where reads are not of one size.
    pub(crate) batch: usize,
    /// Its head up to the body, and the body.
    pub(crate) head_len: usize,
    pub(crate) body_len: usize,
    /// Its headers, without escapes.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) is_send: bool,
}

pub(crate) const DECODED: [&str; 6] =
    ["small", "escaped", "send", "beats", "large-counted", "large-to-nul"];

/// Line ends between two frames of `beats`.
const BEATS: usize = 2;

impl Corpus {
    pub(crate) fn named(name: &'static str) -> Self {
        let (octets, batch, beats) = match name {
            "small" => (corpus::SMALL.to_vec(), 64, 0),
            "escaped" => (corpus::ESCAPED.to_vec(), 64, 0),
            "send" => (corpus::SEND.to_vec(), 64, 0),
            "beats" => (corpus::SMALL.to_vec(), 64, BEATS),
            "large-counted" => (corpus::large_counted(), 1, 0),
            "large-to-nul" => (corpus::large_to_nul(), 1, 0),
            _ => panic!("no corpus is named {name}"),
        };
        let frame = decoded(&octets);
        let body_len = frame.body().len();
        Self {
            batch,
            head_len: octets.len() - body_len - 1,
            body_len,
            headers: pairs(&frame),
            is_send: frame.command() == Command::Send,
            unit: [octets, vec![b'\n'; beats]].concat(),
        }
    }
}

/// What is encoded, over and over.
pub(crate) struct Outgoing {
    pub(crate) name: &'static str,
    /// Without `content-length`, which is the encoder's to add or not.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) const ENCODED: [&str; 3] = ["send", "escaped", "large"];

impl Outgoing {
    pub(crate) fn named(name: &'static str) -> Self {
        let frame = match name {
            "send" => corpus::send(),
            "escaped" => decoded(corpus::ESCAPED),
            "large" => decoded(&corpus::large_counted()),
            _ => panic!("no corpus is named {name}"),
        };
        // Those of a MESSAGE that a broker adds are no client's to send.
        let own = |name: &str| !matches!(name, "content-length" | "subscription" | "message-id");
        let headers = pairs(&frame).into_iter().filter(|(name, _)| own(name)).collect();
        Self { name, headers, body: frame.body().to_vec() }
    }

    pub(crate) fn destination(&self) -> &str {
        self.header("destination").expect("each corpus has a destination")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// All headers but the destination.
    pub(crate) fn others(&self) -> Vec<(String, String)> {
        self.headers.iter().filter(|(name, _)| name != "destination").cloned().collect()
    }
}

fn pairs(frame: &Frame) -> Vec<(String, String)> {
    let owned = |text: std::borrow::Cow<'_, str>| text.into_owned();
    frame.headers().iter().map(|header| (owned(header.name()), owned(header.value()))).collect()
}

/// The first frame of some octets.
fn decoded(octets: &[u8]) -> Frame {
    try_decoded(octets).expect("a sound corpus")
}

/// The same of octets that somebody else wrote.
pub(crate) fn try_decoded(octets: &[u8]) -> Result<Frame, String> {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    decoder.push(octets);
    match decoder.next_item() {
        Ok(Some(Item::Frame(frame))) => Ok(frame),
        Ok(other) => Err(format!("what it writes is no frame: {other:?}")),
        Err(error) => Err(format!("what it writes is refused: {error}")),
    }
}
