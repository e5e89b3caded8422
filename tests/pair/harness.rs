//! The pair: both ends of a session, the network between them, and a clock that moves on request.
//!
//! [`turn`] is a driver. One for a real socket does the same; it only waits instead of asking when
//! there will be something to do.

use core::time::Duration;

use stomp_proto::client::{AckMode, SendRequest, SubscribeRequest, SubscriptionId};
use stomp_proto::server::{Accept, Delivery, Dialect};
use stomp_proto::{Client, ClientConfig, Server, ServerConfig, Session, Version};

use crate::broker::Broker;
use crate::listener::Listener;
use crate::network::{CHUNKINGS, Chunking, Cut, Read, Wire};

pub(crate) const V1_0: Version = Version::V1_0;
pub(crate) const V1_1: Version = Version::V1_1;
pub(crate) const V1_2: Version = Version::V1_2;

/// What is told when nothing is.
pub(crate) const NOTHING: [&str; 0] = [];

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What acts on the events of a session.
pub(crate) trait Application<S: Session> {
    /// Whether it takes another event in this turn.
    fn is_hungry(&mut self) -> bool {
        true
    }

    fn handle(&mut self, session: &mut S, event: S::Event, now: Duration);

    /// Does what waits for the session to have room again.
    fn go_on(&mut self, _session: &mut S) {}
}

/// One turn of a driver: what can be done at this time is done. `false`: there was nothing.
pub(crate) fn turn<S: Session<Instant = Duration>>(
    session: &mut S,
    application: &mut impl Application<S>,
    incoming: &mut Wire,
    outgoing: &mut Wire,
    now: Duration,
) -> bool {
    let mut was_busy = false;
    loop {
        // Reading comes before the deadlines: a driver that wakes up late may find a sign of life.
        let mut is_busy = session.wants_read() && read(session, incoming, now);
        if is_busy && incoming.is_at_its_end(now) {
            // As who reads until the socket has nothing more.
            read(session, incoming, now);
        }
        session.handle_timeout(now);
        while application.is_hungry() {
            let Some(event) = session.poll_event(now) else { break };
            application.handle(session, event, now);
            is_busy = true;
        }
        application.go_on(session);
        if let Some(count) = outgoing.write(session.outbox(), now) {
            is_busy |= count > 0;
        } else {
            session.handle_lost();
            is_busy = true;
        }
        if !is_busy {
            break;
        }
        was_busy = true;
    }
    if session.wants_shutdown() {
        outgoing.shut_down(now);
    }
    if session.is_finished() {
        incoming.close();
    }
    let deadline = session.poll_timeout();
    assert!(deadline.is_none_or(|at| at > now), "at {now:?} a deadline is left at {deadline:?}");
    was_busy
}

/// Reads once. `false`: there is nothing to be read.
fn read<S: Session>(session: &mut S, incoming: &mut Wire, now: Duration) -> bool {
    match incoming.read(now) {
        // The two ways in: copying, here a single octet, or reading into the inbox.
        Read::Octets(octets) if octets.len() == 1 => session.receive(&octets),
        Read::Octets(octets) => session.buffers().0.extend_from_slice(&octets),
        Read::End => session.handle_eof(),
        Read::Reset => session.handle_lost(),
        Read::Nothing => return false,
    }
    true
}

/// What becomes of one direction when the other is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// Nothing: its octets arrive, and tell what happened.
    Stays,
    /// It is cut off too, and its reader finds out so much later than the other one.
    Ends(Cut, Duration),
}

/// How a pair is set up.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) version: Version,
    pub(crate) chunking: Chunking,
    pub(crate) client: ClientConfig,
    pub(crate) server: ServerConfig,
    pub(crate) accept: Accept,
    /// From the client to the server, and back.
    pub(crate) latencies: [Duration; 2],
    /// The octets that fit into the sockets of each direction.
    pub(crate) capacity: usize,
    /// What else is cut off with a direction that is.
    pub(crate) other: Other,
}

impl Setup {
    pub(crate) fn new(version: Version, chunking: Chunking) -> Self {
        Self {
            version,
            chunking,
            client: ClientConfig::new("h").versions(version),
            server: ServerConfig::default(),
            accept: Accept::new("s1"),
            latencies: [ms(20), ms(30)],
            capacity: 64 << 10,
            other: Other::Stays,
        }
    }

    /// Every version under every chunking.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Version::ALL.into_iter().flat_map(Self::of)
    }

    /// A version under every chunking.
    pub(crate) fn of(version: Version) -> impl Iterator<Item = Self> {
        CHUNKINGS.into_iter().map(move |chunking| Self::new(version, chunking))
    }

    pub(crate) fn dialect(mut self, dialect: Dialect) -> Self {
        self.server.dialect = dialect;
        self
    }

    /// A pair with CONNECT still to be written.
    pub(crate) fn start(self) -> Pair {
        let now = Duration::ZERO;
        let client = Client::new(self.client.clone(), now).expect("a sound configuration");
        let server = Server::new(self.server.clone(), now);
        let [up, down] = self.wires();
        let (broker, listener) = (Broker::new(self.accept.clone()), Listener::default());
        Pair { setup: self, now, client, server, listener, broker, up, down }
    }

    /// A pair that is connected, with nothing left to be told.
    pub(crate) fn connected(self) -> Pair {
        let version = self.version;
        let mut pair = self.start();
        pair.drive();
        assert_eq!(pair.broker.told(), [format!("CONNECT {version}")]);
        assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);
        pair.forget();
        pair
    }

    /// A connected pair with subscription `#0` to `/q`, and messages of these bodies, numbered from 1
    /// on, with nothing left to be told.
    pub(crate) fn delivered<const N: usize>(self, mode: AckMode, bodies: [&str; N]) -> Pair {
        let mut pair = self.connected();
        pair.subscribe("/q", mode);
        pair.broker.publish_all("/q", bodies);
        pair.drive();
        pair.forget();
        pair
    }

    /// A connected pair with subscriptions `#0` to `/a` and `#1` to `/b`, and a message of each: `/a`
    /// and `/b`, numbered 1 and 2, under the same message-id.
    pub(crate) fn delivered_namesakes(self) -> Pair {
        let mut pair = self.connected();
        for destination in ["/a", "/b"] {
            pair.subscribe(destination, AckMode::ClientIndividual);
            let delivery = Delivery::builder(destination).message_id("m").body(destination);
            pair.broker.publish(destination, delivery.build());
        }
        pair.drive();
        pair.forget();
        pair
    }

    fn wires(&self) -> [Wire; 2] {
        self.latencies.map(|latency| Wire::new(latency, self.capacity, self.chunking))
    }
}

/// If one direction was cut off, so may the other be.
fn cut_with(one: &Wire, other: &mut Wire, fate: Other) {
    match (one.end().filter(|_| one.is_cut()), fate) {
        (Some(end), Other::Ends(cut, later)) if !other.is_cut() => other.cut_at(end + later, cut),
        _ => {}
    }
}

/// Both ends of a session.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) setup: Setup,
    pub(crate) now: Duration,
    pub(crate) client: Client<Duration>,
    pub(crate) server: Server<Duration, u64>,
    /// The application behind the client.
    pub(crate) listener: Listener,
    /// The application behind the server.
    pub(crate) broker: Broker,
    /// From the client to the server.
    pub(crate) up: Wire,
    /// From the server to the client.
    pub(crate) down: Wire,
}

impl Pair {
    /// Both ends take a turn. `false`: neither had anything to do.
    pub(crate) fn turn(&mut self) -> bool {
        let Self { client, server, listener, broker, up, down, now, .. } = self;
        listener.sit_down();
        let client_was_busy = turn(client, listener, down, up, *now);
        let other = self.setup.other;
        cut_with(up, down, other);
        let server_was_busy = turn(server, broker, up, down, *now);
        cut_with(down, up, other);
        client_was_busy || server_was_busy
    }

    /// Goes on until nothing is under way any more.
    pub(crate) fn drive(&mut self) {
        loop {
            if self.turn() {
                continue;
            }
            let Some(arrival) = self.next_arrival() else { return };
            let next = self.next_deadline().map_or(arrival, |deadline| arrival.min(deadline));
            self.now = next.max(self.now);
        }
    }

    /// Goes on for that long.
    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Goes on until that time has come.
    pub(crate) fn run_until(&mut self, end: Duration) {
        loop {
            if self.turn() {
                continue;
            }
            let next = [self.next_arrival(), self.next_deadline()].into_iter().flatten().min();
            match next {
                Some(next) if next <= end => self.now = next.max(self.now),
                _ if self.now < end => self.now = end,
                _ => return,
            }
        }
    }

    /// Leaves nothing to be told, and nothing that was written.
    pub(crate) fn forget(&mut self) {
        self.listener.told();
        self.broker.told();
        self.up.written();
        self.down.written();
    }

    /// When somebody will find something to read that wants to.
    fn next_arrival(&self) -> Option<Duration> {
        let up = self.up.next_arrival().filter(|_| self.server.wants_read());
        let down = self.down.next_arrival().filter(|_| self.client.wants_read());
        up.into_iter().chain(down).min()
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.client.poll_timeout().into_iter().chain(self.server.poll_timeout()).min()
    }

    /// The connection is lost, with all that was under way, and both ends notice.
    pub(crate) fn lose(&mut self) {
        self.up.fall_silent();
        self.down.fall_silent();
        self.client.handle_lost();
        self.server.handle_lost();
    }

    /// The client connects anew: a successor of its session, and a server that knows nothing.
    pub(crate) fn reconnect(&mut self, client: ClientConfig) {
        self.client = self.client.successor(client, self.now).expect("a sound configuration");
        self.server = Server::new(self.setup.server.clone(), self.now);
        [self.up, self.down] = self.setup.wires();
        self.broker.meet_a_new_session();
        self.listener.meet_a_new_session();
    }

    // ---- what most stories ask of the client

    pub(crate) fn subscribe(&mut self, destination: &str, ack: AckMode) -> SubscriptionId {
        self.subscribe_with(&SubscribeRequest::new(destination).ack(ack))
    }

    pub(crate) fn subscribe_with(&mut self, request: &SubscribeRequest<'_>) -> SubscriptionId {
        let subscription = self.client.subscribe(request).expect("subscribed");
        self.listener.subscriptions.push(subscription);
        subscription
    }

    pub(crate) fn send(&mut self, destination: &str, body: &'static str) {
        self.client.send(&SendRequest::new(destination).body(body)).expect("sent");
    }

    /// Acknowledges the message with that body.
    pub(crate) fn ack(&mut self, body: &str) {
        let token = self.listener.token(body);
        self.client.ack(&token).expect("acknowledged");
    }

    /// Refuses the message with that body.
    pub(crate) fn nack(&mut self, body: &str) {
        let token = self.listener.token(body);
        self.client.nack(&token).expect("refused");
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { setup: Setup { version, chunking, .. }, now, listener, broker, .. } = self;
            eprintln!("in {version} under {chunking:?} at {now:?}: {listener:?}, {broker:?}");
            for (arrow, wire) in [('>', &self.up), ('<', &self.down)] {
                let record = wire.record();
                eprintln!("{arrow} {}", record[record.len().saturating_sub(2000)..].escape_ascii());
            }
        }
    }
}
