//! Queues of a RabbitMQ: each session has an AMQP connection of its own, as its exclusive queues and
//! its permissions want it.
//!
//! ```text
//!   Gateway ──▶ AmqpChannel ──▶ Command ──▶ task: one step after the other ──▶ RabbitMQ
//!      ▲             ▲                        │                                   │
//!      └── Notice ───┴──── Told: took effect ─┘      Consumer: messages ◀─────────┘
//! ```

mod failure;
mod login;
mod message;
mod step;
mod task;

use alloc::collections::{BTreeMap, VecDeque};
use core::fmt;
use core::time::Duration;
use std::io;

use futures_util::StreamExt;
use lapin::uri::{AMQPScheme, AMQPUri};
use stomp_proto::destination::ConsumerTag;
use stomp_proto::server::Failure;
use tokio::select;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_stream::StreamMap;
use tracing::warn;

use super::{Backend, Channel, Job, Login, Notice, Outcome, Submitted, Wanted};
use failure::gone;
use login::connect;
use step::{ConsumerNumber, Start, Step};
use task::{Command, Deliveries, Started, Told, work};

/// Requests of a session that may be under way. If there are more, the session is not polled.
const MAX_UNDER_WAY: usize = 256;
/// Octets in them, of heads and arguments as well.
const MAX_OCTETS: usize = 1 << 20;
/// How long a request may be under way: so long a RabbitMQ without memory, say, may keep a session that
/// may be dead for long.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How long what is under way may take when the session has ended.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The queues of a RabbitMQ.
#[derive(Clone)]
pub struct Amqp {
    uri: AMQPUri,
}

impl Amqp {
    /// The broker and virtual host that a URI names, `amqp://user:password@host:port/vhost`. Its user
    /// is whom a client is taken for that does not log in.
    ///
    /// # Errors
    ///
    /// It is no such URI.
    pub fn new(uri: &str) -> Result<Self, String> {
        // What the parser says may quote the password.
        let uri: AMQPUri = uri.parse().map_err(|_| "not an AMQP URI".to_owned())?;
        match uri.scheme {
            AMQPScheme::AMQP => Ok(Self { uri }),
            AMQPScheme::AMQPS => Err("AMQP over TLS is not built in".into()),
        }
    }

    /// Whether the broker can be had: connects to it and leaves again.
    ///
    /// # Errors
    ///
    /// It cannot.
    pub async fn check(&self) -> io::Result<()> {
        let connection = connect(&self.uri, None).await.map_err(|error| self.unavailable(error))?;
        let closed = timeout(CLOSE_TIMEOUT, connection.close(200, "checked".into())).await;
        closed.map_err(|_| self.unavailable("it does not answer"))?.map_err(io::Error::other)
    }
}

impl Amqp {
    fn unavailable(&self, why: impl fmt::Display) -> io::Error {
        let authority = &self.uri.authority;
        io::Error::other(format!("no AMQP on {}:{}: {why}", authority.host, authority.port))
    }
}

impl fmt::Debug for Amqp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the password.
        f.debug_struct("Amqp").field("host", &self.uri.authority.host).finish_non_exhaustive()
    }
}

impl Backend for Amqp {
    type Channel = AmqpChannel;

    async fn open(&self) -> io::Result<AmqpChannel> {
        let (commands, to_do) = unbounded_channel();
        let (tell, told) = unbounded_channel();
        let task = tokio::spawn(work(self.uri.clone(), to_do, tell));
        Ok(AmqpChannel {
            commands,
            told,
            task,
            under_way: VecDeque::new(),
            octets: 0,
            last_number: 0,
            numbers: BTreeMap::new(),
            consumers: StreamMap::new(),
            is_gone: false,
        })
    }
}

/// What one session has of a RabbitMQ.
pub struct AmqpChannel {
    commands: UnboundedSender<Command>,
    told: UnboundedReceiver<Told>,
    task: JoinHandle<()>,
    /// The requests under way, oldest first.
    under_way: VecDeque<UnderWay>,
    /// The octets in all of them.
    octets: usize,
    last_number: ConsumerNumber,
    /// The consumers that were started and not ended.
    numbers: BTreeMap<ConsumerTag, ConsumerNumber>,
    /// Their messages.
    consumers: StreamMap<ConsumerNumber, Deliveries>,
    is_gone: bool,
}

struct UnderWay {
    since: Instant,
    octets: usize,
}

impl fmt::Debug for AmqpChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AmqpChannel")
            .field("under_way", &self.under_way.len())
            .field("consumers", &self.numbers)
            .finish_non_exhaustive()
    }
}

/// A delivery of a RabbitMQ: its delivery tag.
#[derive(Clone, Copy, Debug)]
pub struct Token(u64);

impl Channel for AmqpChannel {
    type Token = Token;

    fn is_ready(&self) -> bool {
        self.under_way.len() < MAX_UNDER_WAY && self.octets < MAX_OCTETS
    }

    fn log_in(&mut self, login: Option<Login>) -> Submitted {
        self.start(Command::LogIn(login), 0)
    }

    fn submit(&mut self, jobs: Vec<Job<'_, Token>>) -> Submitted {
        let number = &mut self.last_number;
        let steps = step::steps(jobs, || {
            *number += 1;
            *number
        });
        let steps = match steps {
            Ok(steps) => steps,
            Err(failure) => return Submitted::Failed(failure),
        };
        for step in &steps {
            match step {
                Step::Consume(Start { number, tag, .. }) => {
                    self.numbers.insert(tag.clone(), *number);
                }
                // What it has brought already goes back from the task.
                Step::Cancel { tag } => {
                    if let Some(number) = self.numbers.remove(tag) {
                        self.consumers.remove(&number);
                    }
                }
                Step::Declare { .. }
                | Step::Bind { .. }
                | Step::Qos { .. }
                | Step::Publish(_)
                | Step::Delete { .. }
                | Step::Settle { .. } => {}
            }
        }
        let octets = steps.iter().map(Step::octets).sum();
        self.start(Command::Perform(steps), octets)
    }

    fn settle(&mut self, outcome: Outcome, deliveries: Vec<Token>) {
        if !deliveries.is_empty() {
            // If the task is gone, so is the connection, and everything open has gone back.
            let _ = self.commands.send(Command::Settle(outcome, deliveries));
        }
    }

    async fn next_notice(&mut self, wanted: Wanted) -> Notice<Token> {
        loop {
            let has_messages = wanted == Wanted::All && !self.consumers.is_empty();
            let overdue = self.under_way.front().map(|oldest| oldest.since + MAX_WAIT);
            select! {
                biased;
                told = self.told.recv(), if !self.is_gone => match told {
                    Some(Told::Done(started)) => {
                        self.is_through();
                        for Started { number, tag, deliveries } in started {
                            if self.numbers.get(&tag) == Some(&number) {
                                self.consumers.insert(number, deliveries);
                            }
                        }
                        return Notice::Done;
                    }
                    Some(Told::Failed(failure)) => {
                        self.is_through();
                        return Notice::Failed(failure);
                    }
                    None => {
                        self.is_gone = true;
                        return Notice::Failed(gone());
                    }
                },
                Some((number, delivery)) = self.consumers.next(), if has_messages => {
                    let Some(tag) = self.tag(number) else { continue };
                    match delivery {
                        Some(Ok(delivery)) => return message::notice(tag, delivery),
                        // The task tells, behind all that took effect before.
                        Some(Err(_)) => self.consumers.clear(),
                        None => {
                            self.numbers.remove(&tag);
                            return Notice::Cancelled(tag);
                        }
                    }
                }
                () = sleep_until(overdue.unwrap_or_else(Instant::now)), if overdue.is_some() => {
                    self.under_way.clear();
                    return Notice::Failed(Failure::new("broker does not answer"));
                }
                else => core::future::pending().await,
            }
        }
    }

    async fn close(self, _open: Vec<Token>) {
        let Self { commands, mut task, .. } = self;
        // What was taken on is carried out; what is open goes back with the connection.
        drop(commands);
        if timeout(CLOSE_TIMEOUT, &mut task).await.is_err() {
            warn!("the AMQP broker does not answer");
            task.abort();
        }
    }
}

impl AmqpChannel {
    fn start(&mut self, command: Command, octets: usize) -> Submitted {
        if self.commands.send(command).is_err() {
            return Submitted::Failed(gone());
        }
        self.under_way.push_back(UnderWay { since: Instant::now(), octets });
        self.octets += octets;
        Submitted::UnderWay
    }

    /// The oldest request under way is not any more.
    fn is_through(&mut self) {
        let octets = self.under_way.pop_front().map(|oldest| oldest.octets);
        self.octets = self.octets.saturating_sub(octets.unwrap_or_default());
    }

    fn tag(&self, number: ConsumerNumber) -> Option<ConsumerTag> {
        let mut tags = self.numbers.iter();
        tags.find(|(_, other)| **other == number).map(|(tag, _)| tag.clone())
    }
}
