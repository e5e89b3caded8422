//! What both ends of a connection did, in time order.

use stomp_proto::frame::Role;
use stomp_proto::{Command, Version};

use super::stream::{Entry, Stream, VersionSource, negotiated};
use super::transcript::Connection;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    title: Option<Title>,
    pub(crate) entries: Vec<Entry>,
}

/// Which connection it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) name: String,
    pub(crate) transport: String,
}

impl Timeline {
    /// Of the octets of one direction, which came at no known time.
    pub(crate) fn of_octets(octets: &[u8], from: Role, version: VersionSource) -> Self {
        let mut entries = Vec::new();
        let mut stream = Stream::new(from, version);
        stream.receive(octets, None, &mut entries);
        stream.finish(None, &mut entries);
        Self { title: None, entries }
    }

    /// Of a recorded connection.
    pub(crate) fn of_connection(connection: Connection) -> Self {
        let mut entries = Vec::new();
        let version = agreed_version(&connection);
        let mut client = Stream::new(Role::Client, VersionSource::Agreed(version));
        let mut server = Stream::new(Role::Server, VersionSource::Agreed(version));
        for read in &connection.reads {
            let stream = match read.from {
                Role::Client => &mut client,
                Role::Server => &mut server,
            };
            if read.octets.is_empty() {
                stream.finish(Some(read.at_ms), &mut entries);
            } else {
                stream.receive(&read.octets, Some(read.at_ms), &mut entries);
            }
        }
        let end_ms = connection.reads.last().map(|read| read.at_ms);
        client.finish(end_ms, &mut entries);
        server.finish(end_ms, &mut entries);
        let title = Title { name: connection.name, transport: connection.transport };
        Self { title: Some(title), entries }
    }

    /// What is said above it: nothing if there is no other to tell it from.
    pub(crate) fn title_among(&self, timelines: &[Self]) -> Option<&Title> {
        self.title.as_ref().filter(|_| timelines.len() > 1)
    }
}

/// The version that the server's CONNECTED settles.
///
/// It is looked up ahead of time, so that what a client sends before it saw CONNECTED need not
/// wait for its place in the timeline.
fn agreed_version(connection: &Connection) -> Option<Version> {
    let reads = connection.reads.iter().filter(|read| read.from == Role::Server);
    let octets = reads.map(|read| &*read.octets).collect::<Vec<_>>().concat();
    let server = Timeline::of_octets(&octets, Role::Server, VersionSource::Given(None));
    let mut frames = server.entries.iter().filter_map(Entry::frame);
    frames.find(|frame| frame.command() == Command::Connected).and_then(negotiated)
}
