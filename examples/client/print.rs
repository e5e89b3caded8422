//! Prints a message, for people or as a line of JSON.

use std::io::{self, Write};

use serde_json::Value;
use stomp_proto::client::Message;

/// Headers and the text of the body, with nothing in it that a terminal would act on.
pub(crate) fn plain(message: &Message, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "MESSAGE")?;
    for header in message.headers().iter() {
        writeln!(out, "    {}: {}", visible(&header.name()), visible(&header.value()))?;
    }
    for line in message.as_frame().malformed_headers() {
        writeln!(out, "    malformed header: {}", line.escape_ascii())?;
    }
    writeln!(out)?;
    for line in String::from_utf8_lossy(message.body()).lines() {
        writeln!(out, "    {}", visible(line))?;
    }
    writeln!(out)
}

/// An object, its members in a fixed order, which a map would not keep.
pub(crate) fn json(message: &Message, out: &mut dyn Write) -> io::Result<()> {
    let headers = message.headers().iter().map(|header| [header.name(), header.value()]);
    let headers: Value = headers.collect();
    let body = Value::from(message.body().escape_ascii().to_string());
    writeln!(out, r#"{{"headers":{headers},"body":{body}}}"#)
}

/// Text on one line.
pub(crate) fn visible(text: &str) -> String {
    let escaped = |character: char| {
        if character.is_control() { character.escape_debug().to_string() } else { character.into() }
    };
    text.chars().map(escaped).collect()
}
