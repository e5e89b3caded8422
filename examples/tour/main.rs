//! A client and a server session in one process, on STOMP 1.0, 1.1 and 1.2, with both wires shown.
//!
//! ```text
//! cargo run --example tour
//! ```
//!
//! This file is the driver: it embeds both ends, carries octets from outbox to inbox, hands events
//! to an application at each end (`waiter`, `broker`), and moves the clock.

mod broker;
mod journal;
mod waiter;

use core::error::Error;
use core::time::Duration;
use std::io::{self, Write};
use std::process::ExitCode;

use stomp_proto::frame::Role;
use stomp_proto::server::{Dialect, ServerConfig};
use stomp_proto::{Client, ClientConfig, HeartBeat, Server, Session, Version, VersionSet};

use broker::Broker;
use journal::Journal;
use waiter::Waiter;

/// How long octets are under way.
const LATENCY: Duration = Duration::from_millis(5);

/// What either end says: it can send a heart-beat each second, and wants to get one each second.
const HEART_BEAT: HeartBeat = HeartBeat { can_send: 1000, wants: 1000 };

fn main() -> ExitCode {
    match run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "tour: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// A connection a version, and what differed.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut summaries = Vec::new();
    for version in Version::ALL {
        let mut connection = Connection::open(version, out)?;
        connection.run()?;
        summaries.push(connection.journal.finish()?);
    }
    journal::write_summaries(&summaries, out)?;
    Ok(())
}

/// Both ends of a connection, the applications behind them, and the clock.
struct Connection<'a> {
    client: Client<Duration>,
    waiter: Waiter,
    server: Server<Duration, String>,
    broker: Broker,
    now: Duration,
    journal: Journal<'a>,
}

impl<'a> Connection<'a> {
    /// The client speaks `version` and those before it, the server all.
    fn open(version: Version, out: &'a mut dyn Write) -> Result<Self, Box<dyn Error>> {
        let versions: VersionSet = Version::ALL.into_iter().filter(|it| *it <= version).collect();
        let client = ClientConfig::new("cafe").versions(versions).heart_beat(HEART_BEAT);
        let mut server = ServerConfig::default();
        // What the texts say and no more, so that it shows how they differ.
        server.dialect = Dialect::SPEC;
        let now = Duration::ZERO;
        Ok(Self {
            client: Client::new(client, now)?,
            waiter: Waiter::default(),
            server: Server::new(server, now),
            broker: Broker::default(),
            now,
            journal: Journal::new(version, out)?,
        })
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        while !(self.client.is_finished() && self.server.is_finished()) {
            let asked = self.client_to_server()?;
            let answered = self.server_to_client()?;
            if !asked && !answered {
                self.wait()?;
            }
        }
        Ok(())
    }

    /// Whether there was anything to carry.
    fn client_to_server(&mut self) -> Result<bool, Box<dyn Error>> {
        let (from, to) = (&mut self.client, &mut self.server);
        let carried = carry(Role::Client, from, to, self.now, &mut self.journal)?;
        if carried {
            self.now += LATENCY;
        }
        while let Some(event) = self.server.poll_event(self.now) {
            self.broker.handle(event, &mut self.server, self.now, &mut self.journal)?;
        }
        Ok(carried)
    }

    /// Whether there was anything to carry.
    fn server_to_client(&mut self) -> Result<bool, Box<dyn Error>> {
        let (from, to) = (&mut self.server, &mut self.client);
        let carried = carry(Role::Server, from, to, self.now, &mut self.journal)?;
        if carried {
            self.now += LATENCY;
        }
        while let Some(event) = self.client.poll_event(self.now) {
            self.waiter.handle(event, &mut self.client, self.now, &mut self.journal)?;
        }
        Ok(carried)
    }

    /// Lets time pass until something is due: in a session, or for the waiter.
    fn wait(&mut self) -> Result<(), Box<dyn Error>> {
        let due =
            [self.client.poll_timeout(), self.server.poll_timeout(), self.waiter.poll_timeout()];
        let due = due.into_iter().flatten().min().ok_or("each end waits for the other")?;
        self.now = self.now.max(due);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.waiter.handle_timeout(&mut self.client, self.now)
    }
}

/// Takes what one end wants written to the other end; whether there was anything.
fn carry(
    role: Role,
    from: &mut impl Session,
    to: &mut impl Session,
    now: Duration,
    journal: &mut Journal<'_>,
) -> io::Result<bool> {
    let mut carried = false;
    while let Some(frame) = from.outbox().next_frame() {
        journal.frame(now, role, &frame.bytes)?;
        to.receive(&frame.bytes);
        carried = true;
    }
    if from.wants_shutdown() && to.wants_read() {
        journal.end(now, role)?;
        to.handle_eof();
        carried = true;
    }
    Ok(carried)
}
