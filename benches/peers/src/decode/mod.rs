//! Who decodes, and what of it is measured.

mod agnostic;
mod codecs;
mod ours;
mod slices;
mod yardsticks;

use crate::corpora::Corpus;
use crate::tally::Tally;

/// A decoder as a driver uses it.
pub(crate) trait Decode {
    /// Takes in what one read has given, and hands out every frame that is whole by now.
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String>;
}

/// How much one read gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// 4 frames, or one large one.
    Whole,
    Of(usize),
}

pub(crate) const READS: [(&str, Read); 3] =
    [("whole", Read::Whole), ("1448", Read::Of(1448)), ("16", Read::Of(16))];

/// Makes a contestant for a corpus and a read, or says why it cannot take part.
type Enter = fn(&Corpus, Read) -> Result<Box<dyn Decode>, &'static str>;

pub(crate) const CONTESTANTS: [(&str, Enter); 14] = [
    ("lower-bound", yardsticks::lower_bound),
    ("memcpy", yardsticks::memcpy),
    ("memchr", yardsticks::memchr),
    ("httparse", yardsticks::httparse),
    ("ours-borrowed", ours::borrowed),
    ("ours-owned", ours::owned),
    ("ours-session", ours::session),
    ("iridium-stomp", codecs::iridium_stomp),
    ("async-stomp", codecs::async_stomp),
    ("tokio-stomp", codecs::tokio_stomp),
    ("tokio-stomp-2", codecs::tokio_stomp_2),
    ("stomp-agnostic", agnostic::enter),
    ("stomp-rs", slices::stomp_rs),
    ("stomp-parser", slices::stomp_parser),
];

impl Read {
    /// In octets, for a corpus.
    pub(crate) fn len(self, corpus: &Corpus) -> usize {
        match self {
            Self::Whole => corpus.unit.len() * corpus.batch.min(4),
            Self::Of(len) => len,
        }
    }
}

/// Has a batch decoded as many times as that.
pub(crate) fn run(
    decoder: &mut dyn Decode,
    stream: &[u8],
    read: usize,
    batches: usize,
    tally: &mut Tally,
) -> Result<(), String> {
    for _ in 0..batches {
        for octets in stream.chunks(read) {
            decoder.read(octets, tally)?;
        }
    }
    Ok(())
}
