//! Prints timelines for machines: a JSON object a line.

use std::io::{self, Write};

use serde_json::Value;
use stomp_proto::Frame;
use stomp_proto::codec::DecodeErrorKind;
use stomp_proto::frame::Role;

use super::stream::{Entry, Happening};
use super::timeline::Timeline;

pub(crate) fn write(timelines: &[Timeline], out: &mut dyn Write) -> io::Result<()> {
    for timeline in timelines {
        if let Some(title) = timeline.title_among(timelines) {
            writeln!(out, r#"{{"connection":{}}}"#, Value::from(&*title.name))?;
        }
        for entry in &timeline.entries {
            write_entry(entry, out)?;
        }
    }
    Ok(())
}

/// Writes one line. Its members have a fixed order, which a map would not keep.
pub(crate) fn write_entry(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    write!(out, r#"{{"from":"{}""#, role_name(entry.from))?;
    match &entry.happening {
        Happening::Frame(frame) => write_frame(frame, out)?,
        Happening::Eols { count, .. } => write!(out, r#","eols":{count}"#)?,
        Happening::Error(error) => {
            write!(out, r#","error":"{}","offset":{}"#, kind_name(error.kind), error.offset)?;
        }
    }
    if let Some(at_ms) = entry.at_ms {
        write!(out, r#","at_ms":{at_ms}"#)?;
    }
    writeln!(out, "}}")
}

fn write_frame(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let headers = frame.headers().iter().map(|header| [header.name(), header.value()]);
    let headers: Value = headers.collect();
    let body = frame.body();
    write!(out, r#","command":"{}","headers":{headers}"#, frame.command())?;
    write!(out, r#","body":{},"body_len":{}"#, escaped(body), body.len())?;
    let malformed: Vec<Value> = frame.malformed_headers().map(escaped).collect();
    if !malformed.is_empty() {
        write!(out, r#","malformed":{}"#, Value::from(malformed))?;
    }
    Ok(())
}

fn escaped(octets: &[u8]) -> Value {
    octets.escape_ascii().to_string().into()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Client => "client",
        Role::Server => "server",
    }
}

/// The name of an error kind, without its fields.
fn kind_name(kind: DecodeErrorKind) -> String {
    let mut name = format!("{kind:?}");
    name.truncate(name.find([' ', '{']).unwrap_or(name.len()));
    name
}
