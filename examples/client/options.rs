//! The command line.

use core::num::NonZeroU64;
use std::ffi::OsString;

use lexopt::{Arg, Error, Parser, ValueExt};
use stomp_proto::client::AckMode;
use stomp_proto::{ClientConfig, HeartBeat, Version, VersionSet};

pub(crate) const USAGE: &str = "\
Sends a message to a STOMP broker, or prints the messages of a destination.

Usage: client [OPTIONS] ADDR send DESTINATION [BODY]
       client [OPTIONS] ADDR subscribe DESTINATION [--ack MODE] [--count N] [--json]

ADDR is HOST:PORT. Without BODY, it is read from standard input.

    send       Ends when the broker has confirmed the message by a receipt.
    subscribe  Acknowledges each message when it is printed.

Options:
    --host VHOST          The virtual host. Default: the host of ADDR. RabbitMQ wants /.
    --login LOGIN         The user.
    --passcode PASSCODE   The user's password. Better in the environment, as STOMP_PASSCODE: other
                          users can see the arguments of a process.
    --versions LIST       The versions to offer. Default: 1.0,1.1,1.2.
    --heart-beat OUT,IN   Milliseconds between heart-beats, sent and wanted. Default: 0,0, none.
    --ack MODE            auto, client or client-individual. Default: auto, where a message counts
                          as consumed once the broker has sent it.
    --count N             End after that many messages. Default: when the broker ends.
    --json                Print JSON, an object a line: {\"headers\":[[name,value],…],\"body\":\"…\"},
                          the body as Rust's escape_ascii writes it.
    --help                Print this.

Exit status: 0 if all went well, 1 if the session failed, 2 if the command line makes no sense.
";

/// What the command line asks for.
pub(crate) struct Options {
    pub(crate) address: String,
    pub(crate) config: ClientConfig,
    pub(crate) destination: String,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    /// `None`: standard input is the body.
    Send {
        body: Option<String>,
    },
    Subscribe(Subscribe),
}

/// How to go about a subscription.
pub(crate) struct Subscribe {
    pub(crate) ack: AckMode,
    /// Messages to take; `None`: all.
    pub(crate) count: Option<NonZeroU64>,
    pub(crate) json: bool,
}

/// Reads the arguments behind the program's name; `passcode` is that of the environment. `None`:
/// only help is wanted.
pub(crate) fn parse(
    args: impl IntoIterator<Item: Into<OsString>>,
    passcode: Option<OsString>,
) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(args);
    let mut given = Given::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Long("host") => given.host = Some(parser.value()?.string()?),
            Arg::Long("login") => given.login = Some(parser.value()?.string()?),
            Arg::Long("passcode") => given.passcode = Some(parser.value()?),
            Arg::Long("versions") => given.versions = Some(parser.value()?.parse_with(versions)?),
            Arg::Long("heart-beat") => given.heart_beat = parser.value()?.parse_with(heart_beat)?,
            Arg::Long("ack") => given.ack = Some(parser.value()?.parse_with(ack_mode)?),
            Arg::Long("count") => given.count = Some(parser.value()?.parse()?),
            Arg::Long("json") => given.json = true,
            Arg::Value(value) => given.values.push(value.string()?),
            _ => return Err(arg.unexpected()),
        }
    }
    let config = given.config(passcode)?;
    given.into_options(config).map(Some)
}

/// The arguments as they were given.
#[derive(Default)]
struct Given {
    host: Option<String>,
    login: Option<String>,
    passcode: Option<OsString>,
    versions: Option<VersionSet>,
    heart_beat: HeartBeat,
    ack: Option<AckMode>,
    count: Option<NonZeroU64>,
    json: bool,
    values: Vec<String>,
}

impl Given {
    fn config(&self, passcode: Option<OsString>) -> Result<ClientConfig, Error> {
        let address = self.values.first().ok_or("no ADDR given, see --help")?;
        let host = host_of(address).ok_or_else(|| format!("{address:?} is not HOST:PORT"))?;
        let config = ClientConfig::new(self.host.as_deref().unwrap_or(host))
            .versions(self.versions.unwrap_or(VersionSet::ALL))
            .heart_beat(self.heart_beat);
        match (&self.login, self.passcode.clone().or(passcode)) {
            (Some(login), Some(passcode)) => {
                // Not shown, as other arguments that make no sense are.
                let passcode = passcode.into_string().map_err(|_| "passcode is not UTF-8")?;
                Ok(config.login(login).passcode(passcode))
            }
            (Some(_), None) => Err("--login without --passcode or STOMP_PASSCODE".into()),
            (None, _) if self.passcode.is_some() => Err("--passcode without --login".into()),
            (None, _) => Ok(config),
        }
    }

    fn into_options(self, config: ClientConfig) -> Result<Options, Error> {
        let is_bare = self.ack.is_none() && self.count.is_none() && !self.json;
        let mut values = self.values.into_iter();
        let mut value = |name: &str| values.next().ok_or(format!("no {name} given, see --help"));
        let (address, action) = (value("ADDR")?, value("send or subscribe")?);
        let destination = value("DESTINATION")?;
        let action = match &*action {
            "send" if is_bare => Action::Send { body: values.next() },
            "send" => return Err("--ack, --count and --json are for subscribe".into()),
            "subscribe" => Action::Subscribe(Subscribe {
                ack: self.ack.unwrap_or_default(),
                count: self.count,
                json: self.json,
            }),
            _ => return Err(format!("{action:?} is neither send nor subscribe").into()),
        };
        match values.next() {
            Some(value) => Err(Error::UnexpectedArgument(value.into())),
            None => Ok(Options { address, config, destination, action }),
        }
    }
}

/// The host of `HOST:PORT`, an IPv6 address without its brackets.
fn host_of(address: &str) -> Option<&str> {
    let (host, port) = address.rsplit_once(':')?;
    let _: u16 = port.parse().ok()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    Some(bare.unwrap_or(host)).filter(|host| !host.is_empty())
}

fn versions(list: &str) -> Result<VersionSet, &'static str> {
    let versions: Option<VersionSet> = list.split(',').map(Version::parse).collect();
    versions.ok_or("not a list of 1.0, 1.1 and 1.2")
}

fn heart_beat(value: &str) -> Result<HeartBeat, &'static str> {
    HeartBeat::parse(value).ok_or("not OUT,IN in milliseconds")
}

fn ack_mode(value: &str) -> Result<AckMode, &'static str> {
    AckMode::parse(value).ok_or("not auto, client or client-individual")
}
