//! The captures, connection by connection: each read with the frames that it completes.

use core::time::Duration;
use std::fs;
use std::path::Path;

use stomp_proto::frame::Role;
use stomp_proto::{Command, Frame, Version};

use crate::stream::{self, Entry, Stream, VersionSource};
use crate::transcript::{self, Connection};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/captures");

/// A recorded connection.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The name of its file, without the ending.
    pub(crate) capture: String,
    /// Its name in the file.
    pub(crate) connection: String,
    /// What CONNECTED says.
    pub(crate) version: Option<Version>,
    pub(crate) reads: Vec<Read>,
}

/// What arrived from one end at once; without octets: the end of its stream.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) at: Duration,
    pub(crate) from: Role,
    pub(crate) octets: Vec<u8>,
    pub(crate) frames: Vec<Frame>,
}

/// All connections of all captures.
pub(crate) fn all() -> Vec<Recording> {
    captures().iter().flat_map(|capture| of(capture)).collect()
}

/// Those of the captures whose names start so.
pub(crate) fn starting_with(prefix: &str) -> Vec<Recording> {
    let captures = captures().into_iter().filter(|capture| capture.starts_with(prefix));
    captures.flat_map(|capture| of(&capture)).collect()
}

/// The connections of a capture.
pub(crate) fn of(capture: &str) -> Vec<Recording> {
    let file = fs::read(Path::new(CAPTURES).join(format!("{capture}.txt"))).expect(capture);
    let connections = transcript::parse(&file).expect(capture);
    connections.into_iter().map(|connection| Recording::new(capture, connection)).collect()
}

/// The names of all captures, sorted.
pub(crate) fn captures() -> Vec<String> {
    let entries = fs::read_dir(CAPTURES).expect("the captures");
    let files = entries.map(|entry| entry.expect("a file").file_name());
    let names = files.filter_map(|file| Some(file.to_str()?.strip_suffix(".txt")?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// What a stream says in those octets.
pub(crate) fn decode(from: Role, version: Option<Version>, octets: &[u8]) -> Vec<Frame> {
    let mut entries = Vec::new();
    Stream::new(from, VersionSource::Agreed(version)).receive(octets, None, &mut entries);
    entries.iter().filter_map(Entry::frame).cloned().collect()
}

/// The value of a header.
pub(crate) fn header(frame: &Frame, name: &str) -> Option<String> {
    frame.header(name).map(String::from)
}

impl Recording {
    fn new(capture: &str, connection: Connection) -> Self {
        let version = agreed_version(&connection);
        let mut client = Decoding::new(Role::Client, version);
        let mut server = Decoding::new(Role::Server, version);
        let reads = connection.reads.into_iter().map(|read| match read.from {
            Role::Client => client.take(read),
            Role::Server => server.take(read),
        });
        Self {
            capture: capture.to_owned(),
            connection: connection.name,
            version,
            reads: reads.collect(),
        }
    }

    /// What tells it from all others.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.capture, self.connection)
    }

    /// What one end sent.
    pub(crate) fn frames(&self, from: Role) -> impl Iterator<Item = &Frame> {
        self.reads.iter().filter(move |read| read.from == from).flat_map(|read| &read.frames)
    }

    /// CONNECT or STOMP.
    pub(crate) fn connect(&self) -> &Frame {
        self.frames(Role::Client).next().expect("a first frame")
    }

    /// CONNECTED, or the ERROR in its place.
    pub(crate) fn answer(&self) -> &Frame {
        self.frames(Role::Server).next().expect("a first frame")
    }
}

/// One direction of a connection, as far as it was decoded.
struct Decoding {
    stream: Stream,
    entries: Vec<Entry>,
}

impl Decoding {
    fn new(from: Role, version: Option<Version>) -> Self {
        Self { stream: Stream::new(from, VersionSource::Agreed(version)), entries: Vec::new() }
    }

    fn take(&mut self, read: transcript::Read) -> Read {
        let known = self.entries.len();
        self.stream.receive(&read.octets, None, &mut self.entries);
        let entries = self.entries.iter().skip(known);
        let frames = entries.filter_map(Entry::frame).cloned().collect();
        let transcript::Read { at_ms, from, octets } = read;
        Read { at: Duration::from_millis(at_ms), from, octets, frames }
    }
}

/// The version that CONNECTED settles, for either direction.
fn agreed_version(connection: &Connection) -> Option<Version> {
    let reads = connection.reads.iter().filter(|read| read.from == Role::Server);
    let octets = reads.map(|read| &*read.octets).collect::<Vec<_>>().concat();
    let frames = decode(Role::Server, None, &octets);
    let connected = frames.iter().find(|frame| frame.command() == Command::Connected)?;
    stream::negotiated(connected)
}
