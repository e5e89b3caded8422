//! Prints timelines for people: what is long is shortened, what is secret is hidden.

use std::io::{self, Write};

use stomp_proto::Frame;
use stomp_proto::frame::{Role, name};

use super::stream::{Entry, Happening};
use super::timeline::Timeline;

/// Characters, or octets where it is no text, that are shown of a body.
const BODY_SHOWN: usize = 64;

/// Stands for a credential.
const HIDDEN: &str = "…";

pub(crate) fn write(timelines: &[Timeline], out: &mut dyn Write) -> io::Result<()> {
    for (index, timeline) in timelines.iter().enumerate() {
        if let Some(title) = timeline.title_among(timelines) {
            let gap = if index == 0 { "" } else { "\n" };
            let (name, transport) = (visible(&title.name), visible(&title.transport));
            writeln!(out, "{gap}connection {name} ({transport})")?;
        }
        let printer = Printer { time_width: time_width(&timeline.entries) };
        for entry in &timeline.entries {
            printer.write_entry(entry, out)?;
        }
    }
    Ok(())
}

/// One timeline's layout: a column of times, an arrow, and what happened.
struct Printer {
    /// Digits of the longest time; `None`: nothing is known about time.
    time_width: Option<usize>,
}

impl Printer {
    fn write_entry(&self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        if let (Some(width), Some(at_ms)) = (self.time_width, entry.at_ms) {
            write!(out, "{at_ms:>width$} ms ")?;
        }
        write!(out, "{} ", arrow(entry.from))?;
        match &entry.happening {
            Happening::Frame(frame) => self.write_frame(frame, out),
            Happening::Error(error) => writeln!(out, "error: {error}"),
            Happening::Eols { count, until_ms } => {
                write!(out, "{}", counted(*count, "EOL"))?;
                match until_ms {
                    Some(until_ms) if entry.at_ms != Some(*until_ms) => {
                        writeln!(out, " until {until_ms} ms")
                    }
                    _ => writeln!(out),
                }
            }
        }
    }

    fn write_frame(&self, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
        let indent = " ".repeat(self.time_width.map_or(0, |width| width + " ms ".len()) + 4);
        writeln!(out, "{}", frame.command())?;
        for header in frame.headers().iter() {
            let name = header.name();
            let value = if is_secret(&name) { HIDDEN.to_owned() } else { visible(&header.value()) };
            writeln!(out, "{indent}{}: {value}", visible(&name))?;
        }
        for line in frame.malformed_headers() {
            writeln!(out, "{indent}malformed header: {}", describe_malformed(line))?;
        }
        if !frame.body().is_empty() {
            writeln!(out, "{indent}{}", describe_body(frame.body()))?;
        }
        Ok(())
    }
}

fn time_width(entries: &[Entry]) -> Option<usize> {
    let longest = entries.iter().filter_map(|entry| entry.at_ms).max()?;
    Some(longest.to_string().len())
}

fn arrow(from: Role) -> char {
    match from {
        Role::Client => '→',
        Role::Server => '←',
    }
}

fn describe_malformed(line: &[u8]) -> String {
    let name = line.split(|octet| *octet == b':').next().unwrap_or_default();
    if is_secret(&String::from_utf8_lossy(name)) {
        HIDDEN.to_owned()
    } else {
        line.escape_ascii().to_string()
    }
}

/// Length and start of a body.
fn describe_body(body: &[u8]) -> String {
    let mut pieces = body.utf8_chunks().flat_map(|chunk| {
        let text = chunk.valid().chars().map(visible_char);
        text.chain(chunk.invalid().iter().map(|octet| format!("\\x{octet:02x}")))
    });
    let start: String = pieces.by_ref().take(BODY_SHOWN).collect();
    let ellipsis = if pieces.next().is_some() { "…" } else { "" };
    format!("[{}] {start}{ellipsis}", counted(body.len() as u64, "octet"))
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Whether the value of a header is not for every eye.
fn is_secret(header: &str) -> bool {
    header.eq_ignore_ascii_case(name::PASSCODE) || header.eq_ignore_ascii_case("authorization")
}

/// Text with nothing in it that a terminal would act on.
fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

fn visible_char(character: char) -> String {
    if character.is_control() || character == '\\' {
        character.escape_debug().to_string()
    } else {
        character.to_string()
    }
}
