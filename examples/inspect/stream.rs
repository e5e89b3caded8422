//! One direction of a connection: octets in, what happened out.

use stomp_proto::codec::{DecodeError, Decoder, DecoderConfig, Item, MalformedHeader};
use stomp_proto::frame::{Role, name};
use stomp_proto::{Command, EmptyAcceptVersion, Frame, Version, VersionSet};

/// Something that one end did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) from: Role,
    /// When it was complete; of a run of EOLs, when it began.
    pub(crate) at_ms: Option<u64>,
    pub(crate) happening: Happening,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    Frame(Box<Frame>),
    /// A run of EOLs between two frames of the same end: heart-beats, mostly.
    Eols {
        count: u64,
        until_ms: Option<u64>,
    },
    /// It broke the protocol; what else it sent is not looked at.
    Error(DecodeError),
}

/// What tells the version that a stream is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionSource {
    /// The caller, for all of the stream. `None`: as before a version is agreed.
    Given(Option<Version>),
    /// The server's CONNECTED, for what stands behind CONNECT, STOMP or CONNECTED.
    Agreed(Option<Version>),
    /// The stream's own CONNECTED or, at a guess, CONNECT or STOMP.
    Announced,
}

impl Entry {
    pub(crate) fn frame(&self) -> Option<&Frame> {
        match &self.happening {
            Happening::Frame(frame) => Some(frame),
            Happening::Eols { .. } | Happening::Error(_) => None,
        }
    }
}

/// Decodes what one end sends.
#[derive(Debug)]
pub(crate) struct Stream {
    from: Role,
    decoder: Decoder,
    version_source: VersionSource,
    version: Option<Version>,
    /// Where among the entries the run of EOLs stands that is going on.
    run: Option<usize>,
    has_failed: bool,
}

impl Stream {
    pub(crate) fn new(from: Role, version_source: VersionSource) -> Self {
        let mut config = DecoderConfig::default();
        config.malformed_header = match from {
            Role::Client => MalformedHeader::Reject,
            Role::Server => MalformedHeader::Keep,
        };
        let mut stream = Self {
            from,
            decoder: Decoder::new(config),
            version_source,
            version: None,
            run: None,
            has_failed: false,
        };
        if let VersionSource::Given(version) = version_source {
            stream.set_version(version);
        }
        stream
    }

    /// Takes octets in and adds what they complete to `entries`, the same ones in every call.
    pub(crate) fn receive(&mut self, octets: &[u8], at_ms: Option<u64>, entries: &mut Vec<Entry>) {
        self.decoder.push(octets);
        while !self.has_failed {
            match self.decoder.next_item() {
                Ok(Some(Item::Eol)) => self.add_eol(at_ms, entries),
                Ok(Some(Item::Frame(frame))) => {
                    self.settle_version(&frame);
                    self.add(Happening::Frame(Box::new(frame)), at_ms, entries);
                }
                Ok(None) => break,
                Err(error) => self.fail(error, at_ms, entries),
            }
        }
    }

    /// Says that the stream has ended.
    pub(crate) fn finish(&mut self, at_ms: Option<u64>, entries: &mut Vec<Entry>) {
        if self.has_failed {
            return;
        }
        if let Err(error) = self.decoder.finish() {
            self.fail(error, at_ms, entries);
        }
    }

    fn add(&mut self, happening: Happening, at_ms: Option<u64>, entries: &mut Vec<Entry>) {
        entries.push(Entry { from: self.from, at_ms, happening });
        self.run = None;
    }

    fn add_eol(&mut self, at_ms: Option<u64>, entries: &mut Vec<Entry>) {
        let run = self.run.and_then(|run| entries.get_mut(run));
        if let Some(Entry { happening: Happening::Eols { count, until_ms }, .. }) = run {
            *count += 1;
            *until_ms = at_ms;
        } else {
            let run = entries.len();
            self.add(Happening::Eols { count: 1, until_ms: at_ms }, at_ms, entries);
            self.run = Some(run);
        }
    }

    fn fail(&mut self, error: DecodeError, at_ms: Option<u64>, entries: &mut Vec<Entry>) {
        self.add(Happening::Error(error), at_ms, entries);
        self.has_failed = true;
    }

    /// Sets the version if `frame` is where it takes hold.
    fn settle_version(&mut self, frame: &Frame) {
        if self.version.is_some() {
            return;
        }
        let announced = match frame.command() {
            Command::Connect | Command::Stomp => highest_accepted(frame),
            Command::Connected => negotiated(frame),
            _ => return,
        };
        match self.version_source {
            VersionSource::Given(_) => {}
            VersionSource::Agreed(version) => self.set_version(version),
            VersionSource::Announced => self.set_version(announced),
        }
    }

    fn set_version(&mut self, version: Option<Version>) {
        self.version = version;
        if let Some(version) = version {
            self.decoder.set_version(version);
        }
    }
}

/// Who sends a stream, by how it starts.
pub(crate) fn likely_sender(octets: &[u8]) -> Role {
    let frame = octets.trim_ascii_start();
    let mut of_servers =
        Command::ALL.into_iter().filter(|command| command.sender() == Role::Server);
    if of_servers.any(|command| frame.starts_with(command.as_str().as_bytes())) {
        Role::Server
    } else {
        Role::Client
    }
}

/// What CONNECT or STOMP asks for at best. A server may still choose less.
fn highest_accepted(connect: &Frame) -> Option<Version> {
    let value = connect.header(name::ACCEPT_VERSION);
    VersionSet::accepted(value.as_deref(), EmptyAcceptVersion::Means1_0).highest()
}

/// What CONNECTED says; without a word it is 1.0, and so are brokers that know no other.
pub(crate) fn negotiated(connected: &Frame) -> Option<Version> {
    match connected.header(name::VERSION) {
        Some(version) => Version::parse(&version),
        None => Some(Version::V1_0),
    }
}
