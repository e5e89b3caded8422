//! Both ends of a session over a day: their driver, what happens to them, and the sessions after it.

use core::time::Duration;

use stomp_proto::codec::Limits;
use stomp_proto::server::ServerConfig;
use stomp_proto::{ClientConfig, CloseReason, Session};

use crate::broker::Broker;
use crate::customer::Customer;
use crate::line::{Dice, Line, Pace, Read};
use crate::plan::Plan;
use crate::{Client, Server};

const HOUR: Duration = Duration::from_secs(3600);
/// Behind so much of every hour nothing new happens until the next.
const ACTIVE: Duration = Duration::from_secs(45 * 60);

#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) plan: Plan,
    dice: Dice,
    pub(crate) client: Client,
    pub(crate) server: Server,
    pub(crate) customer: Customer,
    pub(crate) broker: Broker,
    /// From the client to the server.
    pub(crate) up: Line,
    pub(crate) down: Line,
    /// When something happens next.
    happens: Duration,
    asleep_until: Option<Duration>,
    reconnect_at: Option<Duration>,
    is_silenced: bool,
    /// Sessions that ended.
    pub(crate) ended: u64,
    /// Ends that were.
    pub(crate) convicted: u64,
    /// The pace of either direction at an earlier time.
    pub(crate) watched: [Option<Pace>; 2],
}

impl Pair {
    pub(crate) fn new(number: u64, now: Duration) -> Self {
        let plan = Plan::new(number);
        let mut dice = Dice::new(number.wrapping_mul(0xD134_2543_DE82_EF95));
        let client = Client::new(config(&plan), now).expect("a sound configuration");
        let server = Server::new(server_config(&plan), now);
        let [up, down] = lines(&plan, &mut dice);
        let (broker, customer) = (Broker::new(&plan), Customer::new(&plan));
        // All have their first messages in the first minutes.
        let happens = now + Duration::from_millis(1000 + dice.below(600_000));
        Self {
            plan,
            dice,
            client,
            server,
            customer,
            broker,
            up,
            down,
            happens,
            asleep_until: None,
            reconnect_at: None,
            is_silenced: false,
            ended: 0,
            convicted: 0,
            watched: [None; 2],
        }
    }

    /// Does all that can be done at this time; when there will be more to do.
    pub(crate) fn step(&mut self, now: Duration) -> Duration {
        if self.reconnect_at.is_some_and(|at| at <= now) {
            self.reconnect(now);
        }
        if self.asleep_until.is_some_and(|at| at <= now) {
            self.asleep_until = None;
        }
        if self.customer.flush_at.is_some_and(|at| at <= now) {
            self.customer.flush(&mut self.client);
        }
        if self.happens <= now {
            self.happen(now);
        }
        while self.turn_of_client(now) | self.turn_of_server(now) {}
        let is_over = self.customer.closed.is_some() && self.broker.is_closed;
        if is_over && self.reconnect_at.is_none() {
            self.ended += 1;
            self.reconnect_at = Some(now + Duration::from_millis(1 + self.dice.below(5000)));
        }
        let next = self.next();
        assert!(next > now, "at {now:?} something is left to be done at {next:?}");
        next
    }

    fn next(&self) -> Duration {
        let up = self.up.next_arrival().filter(|_| self.server.wants_read());
        let down = self.down.next_arrival().filter(|_| self.client.wants_read());
        let deadlines = [self.client.poll_timeout(), self.server.poll_timeout()];
        let own = [self.asleep_until, self.reconnect_at, self.customer.flush_at];
        let others = [up, down].into_iter().chain(deadlines).chain(own);
        others.flatten().fold(self.happens, Duration::min)
    }

    fn turn_of_client(&mut self, now: Duration) -> bool {
        let mut is_busy = read(&mut self.client, &mut self.down, now);
        self.client.handle_timeout(now);
        while self.asleep_until.is_none() {
            let Some(event) = self.client.poll_event(now) else { break };
            if let stomp_proto::client::Event::Closed(reason) = &event {
                self.check_end_of_client(reason, now);
            }
            let was_connected = self.customer.is_connected;
            self.customer.handle(&mut self.client, event, now);
            if self.customer.is_connected && !was_connected {
                let interval = self.client.heart_beat().outgoing;
                self.up.pace = interval.map(|interval| Pace::new(interval, now));
            }
            is_busy = true;
        }
        is_busy |= self.up.write(self.client.outbox(), now);
        if self.client.wants_shutdown() {
            self.up.shut_down(now);
        }
        is_busy
    }

    fn turn_of_server(&mut self, now: Duration) -> bool {
        let mut is_busy = read(&mut self.server, &mut self.up, now);
        self.server.handle_timeout(now);
        while let Some(event) = self.server.poll_event(now) {
            let is_connect = matches!(event, stomp_proto::server::Event::Connect { .. });
            if let stomp_proto::server::Event::Closed { reason, .. } = &event {
                if *reason == CloseReason::PeerSilent {
                    let interval = self.server.heart_beat().incoming;
                    check_silence(&self.up, interval, self.is_silenced, now);
                    self.convicted += 1;
                }
                self.down.pace = None;
            }
            self.broker.handle(&mut self.server, event);
            for number in self.broker.latest.drain(..) {
                assert!(self.customer.has_settled(number), "{number} is settled by nobody");
            }
            if is_connect {
                let interval = self.server.heart_beat().outgoing;
                self.down.pace = interval.map(|interval| Pace::new(interval, now));
            }
            is_busy = true;
        }
        self.broker.go_on(&mut self.server);
        is_busy |= self.down.write(self.server.outbox(), now);
        if self.server.wants_shutdown() {
            self.down.shut_down(now);
        }
        is_busy
    }

    fn check_end_of_client(&mut self, reason: &CloseReason, now: Duration) {
        if *reason == CloseReason::PeerSilent {
            let interval = self.client.heart_beat().incoming;
            check_silence(&self.down, interval, self.is_silenced, now);
            self.convicted += 1;
        }
        for row in [0, 1] {
            let first = self.customer.first_to_stay(&self.client, row).unwrap_or(u64::MAX);
            assert!(first > self.broker.highest[row], "{first} has not left, and yet it came");
        }
        self.up.pace = None;
    }

    // ---- what happens

    fn happen(&mut self, now: Duration) {
        self.happens = self.later(now);
        if !self.customer.is_connected || self.asleep_until.is_some() {
            return;
        }
        self.customer.send(&mut self.client);
        match self.dice.below(8) {
            _ if self.plan.renews => (0..9).for_each(|of| {
                self.customer.renew(&mut self.client, of % 3);
            }),
            1..=3 if self.plan.is_slow => {
                for _ in 0..8 {
                    self.customer.send(&mut self.client);
                }
                self.asleep_until = Some(now + Duration::from_secs(10 + self.dice.below(110)));
            }
            4..=7 if self.plan.is_flaky => self.lose(now),
            _ => {}
        }
    }

    /// When something happens next, which is in the first part of an hour.
    fn later(&mut self, now: Duration) -> Duration {
        let Some(mut pace) = self.plan.pace else { return Duration::MAX };
        if self.plan.chooses_ids && now < HOUR {
            // Until as many ids are remembered as ever will be.
            pace /= 20;
        }
        let part = u32::try_from(500 + self.dice.below(1000)).expect("small");
        let at = now + pace * part / 1000;
        let into = Duration::from_millis(u64::try_from(at.as_millis()).expect("small") % 3_600_000);
        if into < ACTIVE {
            return at;
        }
        at.saturating_sub(into) + HOUR + Duration::from_millis(self.dice.below(600_000))
    }

    /// The connection is lost, one way or the other, or the client leaves.
    fn lose(&mut self, now: Duration) {
        // Some of it has left, and some of it has come.
        self.turn_of_client(now);
        match self.dice.below(4) {
            0 => self.customer.leave(&mut self.client, now),
            1 | 3 if self.plan.may_fall_silent => {
                self.is_silenced = true;
                self.up.fall_silent();
                self.down.fall_silent();
            }
            2 => {
                self.customer.send(&mut self.client);
                self.client.handle_lost();
                self.up.cut(true, now);
                self.down.fall_silent();
            }
            _ => {
                let is_reset = self.dice.below(2) == 0;
                self.up.cut(is_reset, now);
                self.down.cut(is_reset, now);
            }
        }
    }

    fn reconnect(&mut self, now: Duration) {
        self.client =
            self.client.successor(config(&self.plan), now).expect("a sound configuration");
        self.server = Server::new(server_config(&self.plan), now);
        [self.up, self.down] = lines(&self.plan, &mut self.dice);
        self.broker.meet_a_new_session();
        (self.customer.closed, self.reconnect_at, self.is_silenced) = (None, None, false);
    }

    // ---- at rest

    /// Nothing is under way and nothing is owed; both ends agree on what was settled.
    pub(crate) fn rest(&mut self, now: Duration) {
        for session_is_quiet in
            [self.client.poll_event(now).is_none(), self.server.poll_event(now).is_none()]
        {
            assert!(session_is_quiet, "{:?}", self.plan);
        }
        assert!(self.client.outbox().is_empty() && self.server.outbox().is_empty());
        assert!(self.customer.is_connected && self.asleep_until.is_none(), "{self:?}");
        assert_eq!((self.client.unconfirmed().count(), self.server.unacknowledged()), (0, 0));
        for line in [&mut self.up, &mut self.down] {
            line.rest();
            assert!(
                line.pace.is_none_or(|pace| now <= pace.last + pace.after),
                "a beat is missing"
            );
        }
        self.broker.rest();
        let [sent, received, settled] = self.customer.rest();
        let Broker { taken, again, delivered, consumed, refused, .. } = self.broker;
        assert_eq!(sent + again, taken, "{:?}", self.plan);
        assert_eq!(settled, consumed + refused, "{:?}", self.plan);
        assert!(received <= delivered && (self.ended > 0 || received == delivered));
    }
}

/// Whoever convicts does it when two intervals and half a second have passed, and then only.
fn check_silence(line: &Line, interval: Option<Duration>, is_silenced: bool, now: Duration) {
    assert!(is_silenced, "nobody was silent until {now:?}");
    let interval = interval.expect("beats were promised");
    assert_eq!(now, line.heard + 2 * interval + Duration::from_millis(500));
}

/// Reads once. `false`: there is nothing to be read.
fn read<S: Session>(session: &mut S, line: &mut Line, now: Duration) -> bool {
    if !session.wants_read() {
        line.is_held_up = true;
        return false;
    }
    match line.read(now) {
        Read::Octets(octets) => session.receive(&octets),
        Read::End => session.handle_eof(),
        Read::Reset => session.handle_lost(),
        Read::Nothing => return false,
    }
    true
}

fn config(plan: &Plan) -> ClientConfig {
    let mut limits = limits(plan);
    if plan.renews {
        // As many subscriptions that have ended are remembered.
        limits.max_subscriptions = 8;
    }
    ClientConfig::new("h").versions(plan.version).heart_beat(plan.client).limits(limits)
}

fn server_config(plan: &Plan) -> ServerConfig {
    let mut config = ServerConfig::default();
    config.limits = limits(plan);
    if plan.is_slow {
        config.limits.max_outbox_len = 10_000;
    }
    config
}

fn limits(plan: &Plan) -> Limits {
    let mut limits = Limits::default();
    if plan.is_slow {
        limits.max_inbox_len = 2000;
    }
    limits
}

fn lines(plan: &Plan, dice: &mut Dice) -> [Line; 2] {
    let capacity = if plan.is_slow { 4000 } else { 64 << 10 };
    let mut line = || Line::new(plan.latency, plan.jitter, capacity, dice.below(u64::MAX));
    [line(), line()]
}
