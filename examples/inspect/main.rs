//! Prints recorded STOMP traffic, for people or as JSON lines.
//!
//! ```text
//! cargo run --example inspect -- tests/captures/stomp.py-1.2-rabbitmq.txt
//! ```

pub(crate) mod json;
mod options;
mod plain;
pub(crate) mod stream;
pub(crate) mod timeline;
pub(crate) mod transcript;

use core::error::Error;
use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use options::{Options, Request};
use stream::{Happening, VersionSource};
use timeline::Timeline;

fn main() -> ExitCode {
    match run(env::args_os().skip(1), &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(Verdict::Sound) => ExitCode::SUCCESS,
        Ok(Verdict::Broken) => ExitCode::from(1),
        Err(trouble) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "inspect: {trouble}");
            ExitCode::from(2)
        }
    }
}

/// Whether what was read is STOMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All of it was decoded.
    Sound,
    /// A direction ended with an error.
    Broken,
}

/// Does what the command line says, its program name left out.
pub(crate) fn run(
    args: impl IntoIterator<Item: Into<OsString>>,
    stdin: &mut dyn Read,
    out: &mut dyn Write,
) -> Result<Verdict, Box<dyn Error>> {
    let options = match options::parse(args)? {
        Request::Help => {
            unless_closed(out.write_all(options::USAGE.as_bytes()))?;
            return Ok(Verdict::Sound);
        }
        Request::Inspect(options) => options,
    };
    let octets = read(&options.file, stdin)
        .map_err(|error| format!("{}: {error}", options.file.display()))?;
    let timelines = decode(&octets, &options)?;
    unless_closed(print(&timelines, &options, out))?;
    Ok(verdict(&timelines))
}

fn read(file: &Path, stdin: &mut dyn Read) -> io::Result<Vec<u8>> {
    if file != Path::new("-") {
        return fs::read(file);
    }
    let mut octets = Vec::new();
    stdin.read_to_end(&mut octets)?;
    Ok(octets)
}

fn decode(octets: &[u8], options: &Options) -> Result<Vec<Timeline>, Box<dyn Error>> {
    if !transcript::is_transcript(octets) {
        let from = options.from.unwrap_or_else(|| stream::likely_sender(octets));
        let version = options.version.unwrap_or(VersionSource::Announced);
        return Ok(vec![Timeline::of_octets(octets, from, version)]);
    }
    if options.from.is_some() || options.version.is_some() {
        return Err("--from and --version are not for transcripts, which tell both".into());
    }
    Ok(transcript::parse(octets)?.into_iter().map(Timeline::of_connection).collect())
}

fn print(timelines: &[Timeline], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    if options.json {
        json::write(timelines, &mut out)?;
    } else {
        plain::write(timelines, &mut out)?;
    }
    out.flush()
}

/// Takes it as no error that the reader of our output has seen enough.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })
}

fn verdict(timelines: &[Timeline]) -> Verdict {
    let mut entries = timelines.iter().flat_map(|timeline| &timeline.entries);
    if entries.any(|entry| matches!(entry.happening, Happening::Error(_))) {
        Verdict::Broken
    } else {
        Verdict::Sound
    }
}
