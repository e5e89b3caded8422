//! The application behind a server: what a client sends is delivered to it until it is settled.

use stomp_proto::server::{
    Accept, Delivered, Delivery, Event, LedgerEntry, Reply, SendFrame, SubscriptionId, Work,
};
use stomp_proto::{HeartBeat, UsageError};

use crate::Server;
use crate::plan::Plan;

/// Where messages are sent to: to be consumed in the modes auto, client and client-individual.
pub(crate) const DESTINATIONS: [&str; 3] = ["/auto", "/client", "/individual"];

/// A message that is not settled.
#[derive(Debug)]
struct Kept {
    number: u64,
    /// The place of its destination.
    of: usize,
    delivery: Delivery,
    /// Whether the client has it.
    is_out: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Broker {
    heart_beat: HeartBeat,
    /// Whether it chooses the ids of deliveries.
    chooses_ids: bool,
    /// By destination.
    subscriptions: [Option<SubscriptionId>; 3],
    kept: Vec<Kept>,
    /// The last of each row that was sent: outside of transactions, and in them.
    pub(crate) highest: [u64; 2],
    /// Those that came again.
    pub(crate) again: u64,
    /// All that came in: each has that number.
    pub(crate) taken: u64,
    pub(crate) delivered: u64,
    pub(crate) given_back: u64,
    /// In the mode auto, by being delivered.
    pub(crate) settled_at_once: u64,
    /// What the latest event settled.
    pub(crate) latest: Vec<u64>,
    pub(crate) consumed: u64,
    pub(crate) refused: u64,
    /// How often the client read too slowly.
    pub(crate) was_full: u64,
    pub(crate) is_closed: bool,
}

impl Broker {
    pub(crate) fn new(plan: &Plan) -> Self {
        let (heart_beat, chooses_ids) = (plan.server, plan.chooses_ids);
        Self { heart_beat, chooses_ids, ..Self::default() }
    }

    pub(crate) fn meet_a_new_session(&mut self) {
        self.subscriptions = [None; 3];
        self.is_closed = false;
    }

    pub(crate) fn handle(&mut self, server: &mut Server, event: Event<u64>) {
        assert!(!self.is_closed, "{event:?} after the last event");
        let reply = match event {
            Event::Connect { reply, .. } => {
                let accept = Accept::new("s").heart_beat(self.heart_beat);
                server.accept(reply, &accept).expect("accepted");
                return;
            }
            Event::Subscribe { frame, reply } => {
                let destination = frame.destination();
                let of = DESTINATIONS.iter().position(|it| *it == destination).expect("known");
                self.subscriptions[of] = Some(frame.subscription());
                reply
            }
            Event::Unsubscribe { frame, reply } => {
                let ended = Some(frame.subscription());
                let of = self.subscriptions.iter().position(|it| *it == ended).expect("known");
                self.subscriptions[of] = None;
                let open = server.release(frame.subscription());
                self.take_back(&open);
                reply
            }
            Event::Send { frame, reply } => self.take_in(&frame, reply),
            Event::Ack { deliveries, reply, .. } => self.consume(&deliveries, reply),
            Event::Nack { deliveries, reply, .. } => self.refuse(&deliveries, reply),
            Event::Commit { work, reply, .. } => {
                work.into_iter().fold(reply, |reply, work| match work {
                    Work::Send(frame) => self.take_in(&frame, reply),
                    Work::Ack { deliveries, .. } => self.consume(&deliveries, reply),
                    Work::Nack { deliveries, .. } => self.refuse(&deliveries, reply),
                })
            }
            Event::Disconnect { reply, .. } => reply,
            Event::Closed { open, .. } => {
                self.take_back(&open);
                assert!(self.kept.iter().all(|it| !it.is_out), "what is open is listed");
                self.is_closed = true;
                return;
            }
        };
        server.confirm(reply).expect("confirmed");
    }

    /// Delivers what waits, as far as the client reads.
    pub(crate) fn go_on(&mut self, server: &mut Server) {
        for kept in self.kept.iter_mut().filter(|it| !it.is_out) {
            let Some(subscription) = self.subscriptions[kept.of] else { continue };
            match server.deliver(subscription, &kept.delivery, kept.number) {
                Ok(Delivered { settled, .. }) => {
                    kept.is_out = true;
                    self.delivered += 1;
                    if let Some(number) = settled {
                        assert_eq!((number, kept.of), (kept.number, 0));
                        self.settled_at_once += 1;
                        kept.number = 0;
                    }
                }
                Err(refused) => {
                    assert_eq!(refused.token, kept.number);
                    let is_no_surprise =
                        matches!(refused.error, UsageError::LimitExceeded(_) | UsageError::Closed);
                    assert!(is_no_surprise, "{refused:?}");
                    self.was_full += u64::from(refused.error != UsageError::Closed);
                    break;
                }
            }
        }
        self.kept.retain(|it| it.number != 0);
    }

    /// None is lost: each row is sent in order, and who sends again starts where that may be needed.
    fn take_in(&mut self, frame: &SendFrame, reply: Reply) -> Reply {
        let destination = frame.destination();
        let of = DESTINATIONS.iter().position(|it| *it == destination).expect("known");
        let body = core::str::from_utf8(frame.body()).expect("text");
        let row = usize::from(body.starts_with('t'));
        let number: u64 = body.trim_matches(['p', 't', ' ']).parse().expect("a number");
        assert!(number <= self.highest[row] + 1, "{body} came after {}", self.highest[row]);
        self.again += u64::from(number <= self.highest[row]);
        self.highest[row] = self.highest[row].max(number);
        self.taken += 1;
        let number = self.taken;
        let mut delivery = Delivery::relay(frame).header("number", number.to_string());
        if self.chooses_ids {
            delivery = delivery.message_id(&format!("m{number}")).ack_id(&format!("t{number}"));
        }
        self.kept.push(Kept { number, of, delivery: delivery.build(), is_out: false });
        reply
    }

    fn consume(&mut self, deliveries: &[LedgerEntry<u64>], reply: Reply) -> Reply {
        self.consumed += self.settle(deliveries);
        reply
    }

    fn refuse(&mut self, deliveries: &[LedgerEntry<u64>], reply: Reply) -> Reply {
        self.refused += self.settle(deliveries);
        reply
    }

    /// Each once: what was settled is not kept.
    fn settle(&mut self, deliveries: &[LedgerEntry<u64>]) -> u64 {
        for LedgerEntry { value, .. } in deliveries {
            let is_it = |it: &Kept| it.number == *value && it.is_out;
            let at = self.kept.iter().position(is_it);
            self.kept.remove(at.unwrap_or_else(|| panic!("{value} is settled twice")));
            self.latest.push(*value);
        }
        deliveries.len() as u64
    }

    fn take_back(&mut self, open: &[LedgerEntry<u64>]) {
        for LedgerEntry { value, .. } in open {
            let kept = self.kept.iter_mut().find(|it| it.number == *value && it.is_out);
            kept.unwrap_or_else(|| panic!("{value} was not open")).is_out = false;
            self.given_back += 1;
        }
    }

    /// Nothing waits, and all books balance.
    pub(crate) fn rest(&mut self) {
        assert!(self.kept.is_empty(), "{:?} is not settled", self.kept.first());
        self.kept.shrink_to_fit();
        self.latest.shrink_to_fit();
        let settled = self.settled_at_once + self.consumed + self.refused;
        assert_eq!(settled, self.taken, "each message once");
        assert_eq!(settled + self.given_back, self.delivered, "each delivery once");
        assert_eq!(self.highest[0] + self.highest[1] + self.again, self.taken);
    }
}
