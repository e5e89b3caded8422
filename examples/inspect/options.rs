//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Error, Parser, ValueExt};
use stomp_proto::Version;
use stomp_proto::frame::Role;

use super::stream::VersionSource;

pub(crate) const USAGE: &str = "\
Prints recorded STOMP traffic.

Usage: inspect [--json] [--version 1.0|1.1|1.2|pre] [--from client|server] FILE
       inspect [--json] TRANSCRIPT

FILE holds the raw octets of one direction, TRANSCRIPT both directions in time order; - is standard
input. A transcript is known by its first line:

    # STOMP transcript
    connection NAME tcp|ws
    4 c2s CONNECT\\naccept-version:1.2\\nhost:h\\n\\n\\x00
    7 s2c CONNECTED\\nversion:1.2\\n\\n\\x00
    9 c2s

A line is a read: milliseconds, c2s (client to server) or s2c, and the octets as Rust's escape_ascii
writes them; without octets it is the end of that direction. There may be several connections.

Options:
    --json     Print JSON, an object a line, for machines: lossless, so credentials too are shown.
    --version  The STOMP version of all of FILE; pre: that of the time before one is agreed.
               Default: pre until CONNECTED tells the version, or CONNECT or STOMP the highest
               accepted one.
    --from     Who sent FILE: a malformed header line is an error from a client and kept apart from
               a server. Default: server if FILE starts with a command of servers, else client.
    --help     Print this.

Exit status: 0 if all was decoded, 1 if a direction ended with an error, 2 for any other trouble.
";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Help,
    Inspect(Options),
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) json: bool,
    pub(crate) version: Option<VersionSource>,
    pub(crate) from: Option<Role>,
    pub(crate) file: PathBuf,
}

/// Reads the arguments behind the program's name.
pub(crate) fn parse(args: impl IntoIterator<Item: Into<OsString>>) -> Result<Request, Error> {
    let mut parser = Parser::from_args(args);
    let (mut json, mut version, mut from, mut file) = (false, None, None, None);
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
            Arg::Long("json") => json = true,
            Arg::Long("version") => version = Some(parser.value()?.parse_with(version_source)?),
            Arg::Long("from") => from = Some(parser.value()?.parse_with(role)?),
            Arg::Value(value) if file.is_none() => file = Some(PathBuf::from(value)),
            _ => return Err(arg.unexpected()),
        }
    }
    let file = file.ok_or("no FILE given, see --help")?;
    Ok(Request::Inspect(Options { json, version, from, file }))
}

fn version_source(value: &str) -> Result<VersionSource, &'static str> {
    match (value, Version::parse(value)) {
        ("pre", _) => Ok(VersionSource::Given(None)),
        (_, None) => Err("not 1.0, 1.1, 1.2 or pre"),
        (_, version) => Ok(VersionSource::Given(version)),
    }
}

fn role(value: &str) -> Result<Role, &'static str> {
    match value {
        "client" => Ok(Role::Client),
        "server" => Ok(Role::Server),
        _ => Err("not client or server"),
    }
}
