//! A STOMP client for the command line, on blocking `std`.
//!
//! ```text
//! cargo run --example client -- 127.0.0.1:61613 send /queue/a hello
//! cargo run --example client -- 127.0.0.1:61613 subscribe /queue/a --ack client --count 1
//! ```

pub(crate) mod driver;
mod failure;
mod options;
mod print;
mod send;
mod subscribe;

use core::time::Duration;
use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Instant;

use stomp_proto::Client;

use driver::Driver;
use failure::Failure;
use options::{Action, Options};

/// How long an address may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let (args, passcode) = (env::args_os().skip(1), env::var_os("STOMP_PASSCODE"));
    match run(args, passcode, &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "client: {failure}");
            ExitCode::from(failure.status)
        }
    }
}

/// Does what the command line says, its program name left out.
pub(crate) fn run(
    args: impl IntoIterator<Item: Into<OsString>>,
    passcode: Option<OsString>,
    stdin: &mut dyn Read,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(options) = options::parse(args, passcode)? else {
        return out.write_all(options::USAGE.as_bytes()).map_err(Failure::session);
    };
    let Options { address, config, destination, action } = options;
    let driver = || -> Result<_, Failure> {
        let socket = connect(&address);
        let socket =
            socket.map_err(|error| Failure::session(format_args!("{address}: {error}")))?;
        let client = Client::new(config, Instant::now())?;
        Driver::new(client, socket).map_err(Failure::session)
    };
    match action {
        Action::Send { body } => {
            // Before there is a broker that waits for it.
            let body = body.map_or_else(|| read(stdin), |body| Ok(body.into()))?;
            send::send(driver()?, &destination, body)
        }
        Action::Subscribe(subscribe) => {
            subscribe::subscribe(driver()?, &destination, &subscribe, out)
        }
    }
}

fn read(stdin: &mut dyn Read) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    match stdin.read_to_end(&mut body) {
        Ok(_) => Ok(body),
        Err(error) => Err(Failure::session(format_args!("standard input: {error}"))),
    }
}

/// Connects to the first address of a name that answers.
fn connect(address: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
