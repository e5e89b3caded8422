//! Any octets against a server with an application that answers by a script: no panic, each delivery is
//! settled once, what is written is sound, and nothing follows the last event.

#![no_main]

mod outgoing;
mod script;

use core::time::Duration;
use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use outgoing::Outgoing;
use script::Script;
use stomp_proto::codec::Limits;
use stomp_proto::server::{
    Accept, Delivery, Dialect, Event, Failure, LedgerEntry, Reply, ServerConfig, SubscriptionId,
    Work,
};
use stomp_proto::{HeartBeat, Server, Session};

fuzz_target!(|input: &[u8]| {
    let Some((mut script, octets)) = Script::of(input) else { return };
    let mut config = ServerConfig::default();
    config.dialect = script.pick(&[Dialect::LENIENT, Dialect::SPEC, Dialect::KUBEMQ]);
    if script.choose(2) == 1 {
        config.limits = tight();
    }
    let max_inbox = config.limits.max_inbox_len;
    let mut broker = Broker {
        server: Server::new(config, Duration::ZERO),
        now: Duration::ZERO,
        owed: Vec::new(),
        subscriptions: Vec::new(),
        open: BTreeSet::new(),
        delivered: 0,
        is_closed: false,
        outgoing: Outgoing::default(),
    };
    let mut rest = octets;
    while !rest.is_empty() && broker.server.wants_read() {
        let size = rest.len().min(1 + script.choose(64));
        broker.server.receive(&rest[..size]);
        rest = &rest[size..];
        broker.turn(&mut script);
        let (inbox, _) = broker.server.buffers();
        assert!(broker.is_closed || inbox.len() <= max_inbox + 64);
    }
    match script.choose(3) {
        0 => broker.server.handle_eof(),
        1 => broker.server.handle_lost(),
        _ => {}
    }
    for _ in 0..20 {
        broker.now += Duration::from_secs(3600);
        broker.turn(&mut script);
    }
    broker.server.handle_lost();
    broker.turn(&mut script);
    assert!(broker.is_closed && broker.server.is_finished());
    assert!(broker.open.is_empty(), "{:?} were never settled", broker.open);
});

fn tight() -> Limits {
    let mut limits = Limits::default();
    (limits.max_head_len, limits.max_connect_head_len, limits.max_body_len) = (200, 100, 50);
    (limits.max_subscriptions, limits.max_unacknowledged, limits.max_transactions) = (2, 3, 2);
    (limits.max_inbox_len, limits.max_outbox_len) = (300, 400);
    limits
}

struct Broker {
    server: Server<Duration, u64>,
    now: Duration,
    owed: Vec<Reply>,
    subscriptions: Vec<SubscriptionId>,
    /// Delivered and not settled.
    open: BTreeSet<u64>,
    delivered: u64,
    is_closed: bool,
    outgoing: Outgoing,
}

impl Broker {
    fn turn(&mut self, script: &mut Script<'_>) {
        self.now += Duration::from_millis(script.choose(3) as u64);
        self.server.handle_timeout(self.now);
        while let Some(event) = self.server.poll_event(self.now) {
            assert!(!self.is_closed, "{event:?} behind the last");
            self.act(script, event);
        }
        self.act_unasked(script);
        let version = self.server.version();
        if script.choose(4) > 0 {
            self.outgoing.take(self.server.outbox(), version);
        }
    }

    fn act(&mut self, script: &mut Script<'_>, event: Event<u64>) {
        match event {
            Event::Connect { reply, .. } => {
                let heart_beat = HeartBeat { can_send: 1000, wants: 1000 };
                let accept = Accept::new("session-1").heart_beat(heart_beat);
                if script.choose(8) == 7 {
                    let _: Result<_, _> = self.server.fail(reply, &Failure::new("no"));
                } else {
                    self.server.accept(reply, &accept).unwrap();
                }
            }
            Event::Subscribe { frame, reply } => {
                self.subscriptions.push(frame.subscription());
                self.answer(script, reply);
            }
            Event::Unsubscribe { frame, reply } => {
                let open = self.server.release(frame.subscription());
                self.settle(open);
                self.answer(script, reply);
            }
            Event::Ack { deliveries, reply, .. } | Event::Nack { deliveries, reply, .. } => {
                self.settle(deliveries);
                self.answer(script, reply);
            }
            Event::Commit { work, reply, .. } => {
                for work in work {
                    match work {
                        Work::Send(_) => {}
                        Work::Ack { deliveries, .. } | Work::Nack { deliveries, .. } => {
                            self.settle(deliveries);
                        }
                    }
                }
                self.answer(script, reply);
            }
            Event::Send { reply, .. } | Event::Disconnect { reply, .. } => {
                self.answer(script, reply)
            }
            Event::Closed { open, .. } => {
                self.settle(open);
                self.is_closed = true;
            }
        }
    }

    /// What the broker does of its own accord.
    fn act_unasked(&mut self, script: &mut Script<'_>) {
        if !self.subscriptions.is_empty() && script.choose(3) > 0 {
            let subscription = script.pick(&self.subscriptions);
            let delivery = Delivery::builder("/queue/a").header("a", "b:c").body("hi\0");
            self.delivered += 1;
            match self.server.deliver(subscription, &delivery.build(), self.delivered) {
                Ok(delivered) if delivered.settled.is_some() => {}
                Ok(_) => assert!(self.open.insert(self.delivered)),
                Err(refused) => assert_eq!(refused.token, self.delivered),
            }
        }
        if !self.owed.is_empty() && script.choose(2) == 1 {
            let reply = self.owed.remove(script.choose(self.owed.len()));
            let _: Result<_, _> = self.server.confirm(reply);
        }
        if !self.subscriptions.is_empty() && script.choose(16) == 15 {
            let subscription = script.pick(&self.subscriptions);
            let open = self.server.release(subscription);
            self.settle(open);
        }
    }

    fn answer(&mut self, script: &mut Script<'_>, reply: Reply) {
        match script.choose(16) {
            0 => {
                let _: Result<_, _> = self.server.fail(reply, &Failure::new("not now"));
            }
            1..4 => self.owed.push(reply),
            _ => {
                let _: Result<_, _> = self.server.confirm(reply);
            }
        }
    }

    fn settle(&mut self, deliveries: Vec<LedgerEntry<u64>>) {
        for delivery in deliveries {
            assert!(self.open.remove(&delivery.value), "{} is settled twice", delivery.value);
        }
    }
}
