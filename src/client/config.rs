//! How a client opens a session, and what it takes for an answer.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use bytes::BytesMut;

use crate::codec::{EncodeError, HeadWriter, Limits, MalformedHeader};
use crate::frame::escape::Escapes;
use crate::frame::{Text, name};
use crate::session::{HeartBeat, HeartBeatTiming, ProtocolError, UsageError};
use crate::{Command, Frame, Version, VersionSet};

/// How a [`Client`](super::Client) is set up.
///
/// ```
/// use stomp_proto::{ClientConfig, HeartBeat};
/// let config = ClientConfig::new("broker")
///     .login("alice")
///     .passcode("hush")
///     .heart_beat(HeartBeat { can_send: 10_000, wants: 10_000 });
/// assert!(!format!("{config:?}").contains("hush"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct ClientConfig {
    host: Option<String>,
    login: Option<String>,
    passcode: Option<String>,
    headers: Vec<(String, String)>,
    versions: VersionSet,
    subprotocol: Option<Version>,
    version_mismatch: VersionMismatch,
    connect_command: ConnectCommand,
    escape_connect: bool,
    heart_beat: HeartBeat,
    heart_beat_timing: HeartBeatTiming,
    malformed_header: MalformedHeader,
    limits: Limits,
}

/// The command that opens a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectCommand {
    /// CONNECT, which every broker knows.
    #[default]
    Connect,
    /// STOMP, which tells STOMP from HTTP by its first octets. Brokers of 1.0 do not know it, and
    /// not all of 1.1 do (STOMP 1.2, "CONNECT or STOMP Frame").
    Stomp,
}

/// What becomes of a session whose broker chooses another version than it was left to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionMismatch {
    /// It ends.
    #[default]
    Fatal,
    /// It goes on under the version of CONNECTED, if that is one this crate speaks. For brokers that
    /// answer 1.1 to everybody, or that negotiate past the WebSocket subprotocol.
    Allowed,
}

impl ClientConfig {
    /// A client of a virtual host: the name of the broker's machine, or what the broker's manual
    /// says (`/` for RabbitMQ).
    ///
    /// All versions are offered, without login and heart-beats.
    pub fn new(host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..Self::without_host() }
    }

    /// A client that names no virtual host, which is for brokers of 1.0 alone: offer
    /// [nothing else](Self::versions) with it.
    pub fn without_host() -> Self {
        Self {
            host: None,
            login: None,
            passcode: None,
            headers: Vec::new(),
            versions: VersionSet::ALL,
            subprotocol: None,
            version_mismatch: VersionMismatch::default(),
            connect_command: ConnectCommand::default(),
            escape_connect: false,
            heart_beat: HeartBeat::NONE,
            heart_beat_timing: HeartBeatTiming::default(),
            malformed_header: MalformedHeader::Keep,
            limits: Limits::default(),
        }
    }

    /// The user.
    pub fn login(mut self, login: impl Into<String>) -> Self {
        self.login = Some(login.into());
        self
    }

    /// The password of the user.
    pub fn passcode(mut self, passcode: impl Into<String>) -> Self {
        self.passcode = Some(passcode.into());
        self
    }

    /// Adds a header to CONNECT, behind those there are: `client-id`, say.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The versions to offer. Default: all.
    pub fn versions(mut self, versions: impl Into<VersionSet>) -> Self {
        self.versions = versions.into();
        self
    }

    /// The version that the WebSocket handshake settled, if it did: nothing else is offered, and
    /// another version in CONNECTED is a [`VersionMismatch`].
    pub fn subprotocol(mut self, version: impl Into<Option<Version>>) -> Self {
        self.subprotocol = version.into();
        self
    }

    /// What becomes of a version that was not offered. Default: it is fatal.
    pub fn version_mismatch(mut self, version_mismatch: VersionMismatch) -> Self {
        self.version_mismatch = version_mismatch;
        self
    }

    /// The command that opens the session, in any version. Default: CONNECT.
    pub fn connect_command(mut self, command: ConnectCommand) -> Self {
        self.connect_command = command;
        self
    }

    /// Escapes the values in CONNECT, as in other frames of 1.2. By default they are not.
    ///
    /// STOMP 1.2, "Value Encoding", exempts CONNECT. RabbitMQ and ActiveMQ unescape it all the same,
    /// so that a passcode with a backslash only works there if it is escaped.
    pub fn escape_connect(mut self) -> Self {
        self.escape_connect = true;
        self
    }

    /// The heart-beats to offer. Default: none.
    ///
    /// On 1.0, which has none, they are agreed on if the broker answers them.
    pub fn heart_beat(mut self, heart_beat: HeartBeat) -> Self {
        self.heart_beat = heart_beat;
        self
    }

    /// How early to beat, and how late the broker may be.
    pub fn heart_beat_timing(mut self, timing: HeartBeatTiming) -> Self {
        self.heart_beat_timing = timing;
        self
    }

    /// What becomes of malformed header lines. Default: [`MalformedHeader::Keep`], because brokers
    /// relay what their other clients send.
    pub fn malformed_header(mut self, malformed_header: MalformedHeader) -> Self {
        self.malformed_header = malformed_header;
        self
    }

    /// Bounds on what the session holds and how long it waits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(super) fn decoding(&self) -> (&Limits, MalformedHeader, HeartBeatTiming) {
        (&self.limits, self.malformed_header, self.heart_beat_timing)
    }

    /// What is offered, if it makes a CONNECT.
    pub(super) fn terms(&self) -> Result<Terms, UsageError> {
        const OWNED: [&str; 7] = [
            name::ACCEPT_VERSION,
            name::HOST,
            name::LOGIN,
            name::PASSCODE,
            name::HEART_BEAT,
            // STOMP 1.2, "Header receipt": not for CONNECT.
            name::RECEIPT,
            name::CONTENT_LENGTH,
        ];
        let offer = match self.subprotocol {
            Some(version) => self.versions.intersection(version.into()),
            None => self.versions,
        };
        let highest = offer.highest().ok_or(UsageError::NoVersion)?;
        if highest > Version::V1_0 && self.host.is_none() {
            return Err(UsageError::MissingHost);
        }
        if let Some((name, _)) = self.headers.iter().find(|(name, _)| OWNED.contains(&&**name)) {
            return Err(UsageError::OwnedHeader(Text::new(name)));
        }
        Ok(Terms {
            offer,
            highest,
            subprotocol: self.subprotocol,
            version_mismatch: self.version_mismatch,
            heart_beat: self.heart_beat,
        })
    }

    /// Writes the head of CONNECT.
    pub(super) fn write_connect(
        &self,
        terms: &Terms,
        out: &mut BytesMut,
    ) -> Result<(), EncodeError> {
        let command = match self.connect_command {
            ConnectCommand::Connect => Command::Connect,
            ConnectCommand::Stomp => Command::Stomp,
        };
        let mut head = HeadWriter::new(out, command, terms.highest);
        let mut put = |name: &str, value: &str| head.header(name.as_bytes(), &self.written(value));
        put(name::ACCEPT_VERSION, &terms.offer.to_string())?;
        // 1.0 does not know it.
        if let Some(host) = self.host.as_deref().filter(|_| terms.highest > Version::V1_0) {
            put(name::HOST, host)?;
        }
        if let Some(login) = &self.login {
            put(name::LOGIN, login)?;
        }
        if let Some(passcode) = &self.passcode {
            put(name::PASSCODE, passcode)?;
        }
        if self.heart_beat != HeartBeat::NONE {
            put(name::HEART_BEAT, &self.heart_beat.to_string())?;
        }
        for (name, value) in &self.headers {
            put(name, value)?;
        }
        head.finish();
        Ok(())
    }

    /// How a value stands in CONNECT.
    fn written<'a>(&self, value: &'a str) -> Cow<'a, [u8]> {
        if !self.escape_connect {
            return Cow::Borrowed(value.as_bytes());
        }
        let escaped = value.bytes().flat_map(|octet| match Escapes::V1_2.encode(octet) {
            Some(code) => [Some(b'\\'), Some(code)],
            None => [Some(octet), None],
        });
        Cow::Owned(escaped.flatten().collect())
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No credentials: neither login nor passcode, and a token may stand in any other header.
        let redacted = |value: &Option<String>| value.as_ref().map(|_| "…");
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ClientConfig")
            .field("host", &self.host)
            .field("login", &redacted(&self.login))
            .field("passcode", &redacted(&self.passcode))
            .field("headers", &names)
            .field("versions", &self.versions)
            .field("subprotocol", &self.subprotocol)
            .field("version_mismatch", &self.version_mismatch)
            .field("connect_command", &self.connect_command)
            .field("escape_connect", &self.escape_connect)
            .field("heart_beat", &self.heart_beat)
            .field("heart_beat_timing", &self.heart_beat_timing)
            .field("malformed_header", &self.malformed_header)
            .field("limits", &self.limits)
            .finish()
    }
}

/// What CONNECT offers: CONNECTED is held against it.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    offer: VersionSet,
    highest: Version,
    subprotocol: Option<Version>,
    version_mismatch: VersionMismatch,
    pub(super) heart_beat: HeartBeat,
}

impl Terms {
    /// The highest version that is offered.
    pub(super) fn highest(&self) -> Version {
        self.highest
    }

    /// The version that a CONNECTED chose.
    pub(super) fn version(&self, connected: &Frame) -> Result<Version, ProtocolError> {
        // STOMP 1.2, "Protocol Negotiation": brokers of 1.0 do not know the header.
        let text = connected.header(name::VERSION).unwrap_or(Version::V1_0.as_str().into());
        let not_offered = || ProtocolError::VersionNotOffered(Text::new(&text));
        let version = known(&text).ok_or_else(not_offered)?;
        if self.version_mismatch == VersionMismatch::Allowed {
            return Ok(version);
        }
        match self.subprotocol {
            Some(subprotocol) if subprotocol != version => {
                Err(ProtocolError::SubprotocolMismatch { subprotocol, version })
            }
            _ if self.offer.contains(version) => Ok(version),
            _ => Err(not_offered()),
        }
    }
}

/// The version that a CONNECTED names. Blanks before it are not part of it on 1.0 alone.
fn known(text: &str) -> Option<Version> {
    let is_padded = || text.trim_start_matches([' ', '\t']) == Version::V1_0.as_str();
    Version::parse(text).or_else(|| is_padded().then_some(Version::V1_0))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn connect(config: &ClientConfig) -> Result<BytesMut, UsageError> {
        let mut out = BytesMut::new();
        config.write_connect(&config.terms()?, &mut out)?;
        Ok(out)
    }

    #[test]
    fn host_is_sent_from_1_1_on() {
        let only_1_0 = ClientConfig::without_host().versions(Version::V1_0);
        assert_eq!(connect(&only_1_0).unwrap(), "CONNECT\naccept-version:1.0\n\n");
        let with_host = ClientConfig::new("h").versions(Version::V1_0);
        assert_eq!(connect(&with_host), connect(&only_1_0));
        let both = VersionSet::of(&[Version::V1_0, Version::V1_1]);
        assert_eq!(
            connect(&ClientConfig::new("h").versions(both)).unwrap(),
            "CONNECT\naccept-version:1.0,1.1\nhost:h\n\n"
        );
        assert_eq!(
            connect(&ClientConfig::without_host().versions(both)),
            Err(UsageError::MissingHost)
        );
    }

    #[test]
    fn the_version_of_connected_is_held_against_the_offer() {
        let chosen = |config: &ClientConfig, version: &str| {
            let frame = Frame::builder(Command::Connected).header("version", version).build();
            config.terms().unwrap().version(&frame)
        };
        let not_offered = |version| Err(ProtocolError::VersionNotOffered(Text::new(version)));
        let all = ClientConfig::new("h");
        for version in Version::ALL {
            assert_eq!(chosen(&all, version.as_str()), Ok(version));
        }
        assert_eq!(chosen(&all, " \t1.0"), Ok(Version::V1_0), "1.0 pads its values");
        for unknown in ["2.0", "", " 1.1", "1.2 ", "1.10"] {
            assert_eq!(chosen(&all, unknown), not_offered(unknown));
        }
        let high = ClientConfig::new("h").versions(Version::V1_2);
        assert_eq!(chosen(&high, "1.1"), not_offered("1.1"));
        let lenient = high.version_mismatch(VersionMismatch::Allowed);
        assert_eq!(chosen(&lenient, "1.1"), Ok(Version::V1_1));
        assert_eq!(chosen(&lenient, "1.3"), not_offered("1.3"), "nobody speaks it");
        let nameless = Frame::builder(Command::Connected).build();
        assert_eq!(all.terms().unwrap().version(&nameless), Ok(Version::V1_0));
    }

    /// requirement C-009, field case B128
    #[test]
    fn no_credential_is_shown() {
        let config = ClientConfig::new("h")
            .login("secret-1")
            .passcode("secret-2")
            .header("x-token", "secret-3");
        let shown = format!("{config:?}");
        assert!(!shown.contains("secret-"), "{shown}");
        assert!(shown.contains("passcode: Some(\"…\")") && shown.contains("x-token"), "{shown}");
    }

    #[test]
    fn values_are_escaped_on_request_and_names_never() {
        let config = ClientConfig::new("h").passcode("a\\b:c\nd\re").versions(Version::V1_2);
        let escaped = connect(&config.clone().escape_connect()).unwrap();
        let expected = "CONNECT\naccept-version:1.2\nhost:h\npasscode:a\\\\b\\cc\\nd\\re\n\n";
        assert_eq!(escaped, expected);
        assert!(matches!(connect(&config), Err(UsageError::Encode(_))));
        for (name, value) in [("a:b", ""), ("a\nb", ""), ("a", "\0")] {
            let config = ClientConfig::new("h").header(name, value).escape_connect();
            assert!(matches!(connect(&config), Err(UsageError::Encode(_))), "{name:?}");
        }
    }
}
