//! Prints what passes, and remembers in what the versions differ.

use core::time::Duration;
use std::io::{self, Write};

use stomp_proto::Version;
use stomp_proto::frame::Role;

/// As wide as what stands before a command.
const INDENT: &str = "          ";

/// Prints one connection as it goes on.
pub(crate) struct Journal<'a> {
    out: &'a mut dyn Write,
    /// The time of the last entry.
    latest: Duration,
    summary: Summary,
}

/// What one version does in its own way.
#[derive(Debug)]
pub(crate) struct Summary {
    version: Version,
    /// The headers by which ACK names a message.
    ack: String,
    /// The note of the order, as it stood on the wire.
    note: String,
    heart_beats: u32,
}

impl<'a> Journal<'a> {
    pub(crate) fn new(version: Version, out: &'a mut dyn Write) -> io::Result<Self> {
        heading(&format!("STOMP {version}"), out)?;
        let (ack, note) = (String::new(), String::new());
        let summary = Summary { version, ack, note, heart_beats: 0 };
        Ok(Self { out, latest: Duration::ZERO, summary })
    }

    /// A frame or heart-beat that one end sends.
    pub(crate) fn frame(&mut self, now: Duration, from: Role, octets: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(octets);
        let Some((head, body)) = text.trim_end_matches('\0').split_once("\n\n") else {
            self.summary.heart_beats += 1;
            return self.entry(now, arrow(from), "heart-beat");
        };
        let mut lines = head.split('\n');
        let command = lines.next().unwrap_or_default();
        self.entry(now, arrow(from), command)?;
        for line in lines {
            self.summary.add(command, line);
            writeln!(self.out, "{INDENT}{}", visible(line))?;
        }
        if !body.is_empty() {
            writeln!(self.out, "\n{INDENT}{}", visible(body))?;
        }
        Ok(())
    }

    /// One end ends its stream.
    pub(crate) fn end(&mut self, now: Duration, from: Role) -> io::Result<()> {
        self.entry(now, arrow(from), "end of stream")
    }

    /// What an application has to say.
    pub(crate) fn note(&mut self, now: Duration, who: Role, text: &str) -> io::Result<()> {
        let who = match who {
            Role::Client => "client",
            Role::Server => "broker",
        };
        self.entry(now, '·', &format!("{who}: {text}"))
    }

    /// Ends the journal of the connection.
    pub(crate) fn finish(self) -> io::Result<Summary> {
        writeln!(self.out, "\n")?;
        Ok(self.summary)
    }

    fn entry(&mut self, now: Duration, mark: char, text: &str) -> io::Result<()> {
        if now != self.latest {
            self.latest = now;
            writeln!(self.out)?;
        }
        writeln!(self.out, "{:>4} ms {mark} {text}", now.as_millis())
    }
}

impl Summary {
    /// Takes in a header line of a frame.
    fn add(&mut self, command: &str, line: &str) {
        let Some((name, value)) = line.split_once(':') else { return };
        match (command, name) {
            ("ACK", "transaction") => {}
            ("ACK", name) if self.ack.is_empty() => self.ack = name.into(),
            ("ACK", name) => self.ack = format!("{}, {name}", self.ack),
            ("SEND", "note") => self.note = value.into(),
            _ => {}
        }
    }
}

/// Prints what differed, a line for each version.
pub(crate) fn write_summaries(summaries: &[Summary], out: &mut dyn Write) -> io::Result<()> {
    heading("What differed", out)?;
    writeln!(out, "     {:<26}{:<24}heart-beats", "ACK names", "the note on the wire")?;
    for Summary { version, ack, note, heart_beats } in summaries {
        writeln!(out, "{version}  {ack:<26}{note:<24}{heart_beats}")?;
    }
    Ok(())
}

fn heading(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{text}\n{}\n", "=".repeat(text.len()))
}

fn arrow(from: Role) -> char {
    match from {
        Role::Client => '→',
        Role::Server => '←',
    }
}

/// Text with nothing in it that a terminal would act on; escapes stay as they are on the wire.
fn visible(text: &str) -> String {
    let escaped = |character: char| {
        if character.is_control() { character.escape_debug().to_string() } else { character.into() }
    };
    text.chars().map(escaped).collect()
}
