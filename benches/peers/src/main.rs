//! Runs one job a fixed number of times and prints what came of it: `stomp-peers JOB COUNT [ROUNDS]`.
//!
//! A job is `decode/CORPUS/READ/CONTESTANT` or `encode/CORPUS/CONTESTANT`; COUNT is of batches: 64
//! frames, or one of 1 MiB. What is printed is of one round; the time is that of the fastest.
//! Without arguments it prints every job. `benches/peers/measure.py` runs them all.

mod corpora;
#[path = "../../corpus/mod.rs"]
mod corpus;
mod counting;
mod decode;
mod encode;
#[path = "../../sessions/mod.rs"]
#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod sessions;
mod tally;

use std::process::ExitCode;
use std::time::Instant;

use bytes::BytesMut;
use corpora::{Corpus, DECODED, ENCODED, Outgoing};
use decode::Read;
use tally::Tally;

/// What a job came to.
struct Outcome {
    frames: usize,
    octets: usize,
    allocations: u64,
    nanoseconds: u128,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(job) = arguments.next() else {
        jobs().iter().for_each(|job| println!("{job}"));
        return ExitCode::SUCCESS;
    };
    let mut number = || arguments.next().and_then(|number| number.parse().ok()).unwrap_or(1);
    let (count, rounds) = (number(), number());
    match run(&job, count, rounds) {
        Ok(Outcome { frames, octets, allocations, nanoseconds }) => {
            println!(
                "{{\"frames\": {frames}, \"octets\": {octets}, \"allocations\": {allocations}, \
                 \"nanoseconds\": {nanoseconds}}}"
            );
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn jobs() -> Vec<String> {
    let mut jobs = Vec::new();
    for corpus in DECODED {
        for (read, _) in decode::READS {
            let contestants = decode::CONTESTANTS.iter();
            jobs.extend(contestants.map(|(name, _)| format!("decode/{corpus}/{read}/{name}")));
        }
    }
    for corpus in ENCODED {
        let contestants = encode::CONTESTANTS.iter();
        jobs.extend(contestants.map(|(name, _)| format!("encode/{corpus}/{name}")));
    }
    jobs
}

fn run(job: &str, count: usize, rounds: usize) -> Result<Outcome, String> {
    let parts: Vec<_> = job.split('/').collect();
    let unknown = || format!("no such job: {job}");
    match parts[..] {
        ["decode", corpus, read, contestant] => {
            let corpus = DECODED.into_iter().find(|name| *name == corpus).ok_or_else(unknown)?;
            let (_, read) =
                decode::READS.into_iter().find(|(name, _)| *name == read).ok_or_else(unknown)?;
            let mut contestants = decode::CONTESTANTS.into_iter();
            let (name, enter) =
                contestants.find(|(name, _)| *name == contestant).ok_or_else(unknown)?;
            let corpus = Corpus::named(corpus);
            let mut decoder = enter(&corpus, read)?;
            decoding(&mut *decoder, &corpus, read, is_yardstick(name))?;
            best(rounds, || decode_batches(&mut *decoder, &corpus, read, count))
        }
        ["encode", corpus, contestant] => {
            let corpus = ENCODED.into_iter().find(|name| *name == corpus).ok_or_else(unknown)?;
            let mut contestants = encode::CONTESTANTS.into_iter();
            let (name, enter) =
                contestants.find(|(name, _)| *name == contestant).ok_or_else(unknown)?;
            let outgoing = Outgoing::named(corpus);
            let mut encoder = enter(&outgoing)?;
            let mut out = BytesMut::with_capacity(2 * outgoing.body.len() + 4096);
            encode::run(&mut *encoder, &mut out, 1)?;
            compare(&out, &outgoing, name)?;
            best(rounds, || encode_batches(&mut *encoder, &mut out, &outgoing, count))
        }
        _ => Err(unknown()),
    }
}

/// Whether it hands out no frames whose headers could be compared.
fn is_yardstick(name: &str) -> bool {
    matches!(name, "lower-bound" | "memcpy" | "memchr" | "httparse")
}

/// The fastest of some rounds.
fn best(
    rounds: usize,
    mut round: impl FnMut() -> Result<Outcome, String>,
) -> Result<Outcome, String> {
    let mut fastest = round()?;
    for _ in 1..rounds {
        let another = round()?;
        if another.nanoseconds < fastest.nanoseconds {
            fastest = another;
        }
    }
    Ok(fastest)
}

/// Decodes a batch: a contestant shows what it can, and grows to what it needs.
fn decoding(
    decoder: &mut dyn decode::Decode,
    corpus: &Corpus,
    read: Read,
    yardstick: bool,
) -> Result<(), String> {
    let mut tally = Tally::expecting(corpus.headers.clone());
    let stream = corpus.unit.repeat(corpus.batch);
    decode::run(decoder, &stream, read.len(corpus), 1, &mut tally)?;
    match tally.wrong {
        Some(wrong) => Err(wrong),
        None if yardstick || tally.compared => Ok(()),
        None => Err("no frame came out".to_owned()),
    }
}

fn decode_batches(
    decoder: &mut dyn decode::Decode,
    corpus: &Corpus,
    read: Read,
    count: usize,
) -> Result<Outcome, String> {
    let stream = corpus.unit.repeat(corpus.batch);
    let mut tally = Tally::default();
    let (allocations, start) = (counting::allocations(), Instant::now());
    decode::run(decoder, &stream, read.len(corpus), count, &mut tally)?;
    let nanoseconds = start.elapsed().as_nanos();
    let allocations = counting::allocations() - allocations;
    let frames = count * corpus.batch;
    if (tally.frames, tally.body_octets) != (frames, frames * corpus.body_len) {
        return Err(format!(
            "{} frames with {} octets came out of {frames} with {}",
            tally.frames,
            tally.body_octets,
            frames * corpus.body_len
        ));
    }
    Ok(Outcome { frames, octets: frames * corpus.unit.len(), allocations, nanoseconds })
}

/// Frames in what counts as a batch of encoding.
const BATCH: usize = 64;

fn encode_batches(
    encoder: &mut dyn encode::Encode,
    out: &mut BytesMut,
    outgoing: &Outgoing,
    count: usize,
) -> Result<Outcome, String> {
    let frames = if outgoing.name == "large" { count } else { count * BATCH };
    let (allocations, start) = (counting::allocations(), Instant::now());
    encode::run(encoder, out, frames)?;
    let nanoseconds = start.elapsed().as_nanos();
    let allocations = counting::allocations() - allocations;
    Ok(Outcome { frames, octets: frames * out.len(), allocations, nanoseconds })
}

/// Whether what was written is the frame that was given.
fn compare(out: &[u8], outgoing: &Outgoing, name: &str) -> Result<(), String> {
    let frame = corpora::try_decoded(out)?;
    for (header, value) in &outgoing.headers {
        // A session has receipts of its own, and hands none on.
        if matches!(name, "ours-client" | "ours-server") && header == "receipt" {
            continue;
        }
        let found = frame.header(header);
        if found.as_deref() != Some(value) {
            return Err(format!("header {header} is {found:?} on the wire, not {value:?}"));
        }
    }
    if frame.body()[..] != outgoing.body {
        return Err(format!(
            "{} octets of body came of {}",
            frame.body().len(),
            outgoing.body.len()
        ));
    }
    Ok(())
}
