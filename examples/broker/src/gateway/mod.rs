//! What stands between a session and the backend: notices become answers, and, in `requests`, events
//! become jobs.

mod heart_beat;
mod requests;
mod words;

use alloc::collections::{BTreeMap, VecDeque};

use bytes::Buf;
use stomp_proto::codec::Limits;
use stomp_proto::destination::{ConsumerTag, PlanError, Planner, PlannerConfig};
use stomp_proto::frame::name::SUBSCRIPTION;
use stomp_proto::server::{ConnectReply, Delivery, Failure, Reply, SubscriptionId};
use stomp_proto::{HeartBeat, Refused, Session, UsageError};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::backend::{Channel, Notice, Outcome, Wanted};
use crate::names;

pub(crate) use words::WORDING;

type Server<C> = stomp_proto::Server<Instant, <C as Channel>::Token>;

/// Octets in the outbox from which on the backend's messages wait where they are: in their queues.
const OUTBOX_FULL: usize = 256 << 10;

pub(crate) struct Gateway<C: Channel> {
    session: String,
    channel: C,
    planner: Planner,
    heart_beat: HeartBeat,
    /// CONNECT, while the backend has to let the client in.
    connecting: Option<ConnectReply>,
    /// The requests under way in the backend, oldest first.
    owed: VecDeque<Reply>,
    /// What the session ends with when they were answered, and the request that it answers.
    last: Option<(Option<Reply>, Failure)>,
    consumers: BTreeMap<SubscriptionId, ConsumerTag>,
    subscriptions: BTreeMap<ConsumerTag, SubscriptionId>,
    /// Open deliveries a session may have.
    max_unacknowledged: usize,
    /// What the session left open.
    left_open: Vec<C::Token>,
    /// The client has said DISCONNECT.
    is_leaving: bool,
    is_over: bool,
    has_ended: bool,
}

impl<C: Channel> Gateway<C> {
    pub(crate) fn new(
        channel: C,
        planner: PlannerConfig,
        heart_beat: HeartBeat,
        limits: &Limits,
    ) -> Self {
        Self {
            session: names::session(),
            channel,
            planner: Planner::new(planner),
            heart_beat,
            connecting: None,
            owed: VecDeque::new(),
            last: None,
            consumers: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            max_unacknowledged: limits.max_unacknowledged,
            left_open: Vec::new(),
            is_leaving: false,
            is_over: false,
            has_ended: false,
        }
    }

    /// Whether the session may be polled.
    pub(crate) fn is_ready(&self) -> bool {
        // Whoever leaves hears of all that is under way, even if it has ended its stream.
        let is_ending = self.last.is_some() || (self.is_leaving && !self.owed.is_empty());
        self.is_over || (!is_ending && self.channel.is_ready())
    }

    /// What the backend has to say next.
    pub(crate) async fn next_notice(&mut self, wanted: Wanted) -> Notice<C::Token> {
        self.channel.next_notice(wanted).await
    }

    /// Whether the session has had its last event.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether it matters to the session what the backend has to say.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_over
    }

    /// No message unless the session can keep the books on one more delivery, and hold what it is.
    pub(crate) fn wanted(&self, server: &mut Server<C>) -> Wanted {
        let has_room = !self.is_leaving
            && server.unacknowledged() < self.max_unacknowledged
            && server.outbox().remaining() < OUTBOX_FULL;
        if has_room { Wanted::All } else { Wanted::NoMessage }
    }

    /// Ends the session from the broker's side, when what is under way was answered.
    pub(crate) fn say_goodbye(&mut self, server: &mut Server<C>) {
        self.fail(server, None, Failure::new("broker is shutting down"));
    }

    /// Waits no longer for what is under way, of which nobody knows what becomes of it.
    pub(crate) fn give_up(&mut self, server: &mut Server<C>) {
        if let Some((reply, failure)) = self.last.take() {
            self.end(server, reply, failure);
        }
    }

    pub(crate) async fn close(self) {
        self.channel.close(self.left_open).await;
    }

    pub(crate) fn act_on(&mut self, server: &mut Server<C>, notice: Notice<C::Token>) {
        match notice {
            Notice::Done => match self.connecting.take() {
                Some(reply) => self.accept(server, reply),
                None => self.confirm_oldest(server),
            },
            Notice::Failed(failure) => {
                // Which of several it was cannot be told.
                let reply = if self.owed.len() > 1 { None } else { self.owed.pop_front() };
                self.end(server, reply, failure);
            }
            Notice::Message { consumer, delivery, token } => {
                self.deliver(server, &consumer, &delivery, token);
            }
            Notice::Cancelled(tag) => {
                if let Some(error) = self.planner.cancelled(tag.as_str()) {
                    self.fail(server, None, failure(&error));
                }
            }
        }
    }

    fn deliver(
        &mut self,
        server: &mut Server<C>,
        consumer: &ConsumerTag,
        delivery: &Delivery,
        token: C::Token,
    ) {
        let Some(&subscription) = self.subscriptions.get(consumer) else {
            return self.channel.settle(Outcome::Unsent, vec![token]);
        };
        match server.deliver(subscription, delivery, token) {
            Ok(delivered) => {
                // In the mode auto it counts as consumed.
                self.channel.settle(Outcome::Consumed, Vec::from_iter(delivered.settled));
            }
            Err(Refused { error, token }) => {
                let is_unfit =
                    matches!(error, UsageError::Encode(_) | UsageError::HeadersNotCarried(_));
                let outcome = if is_unfit { Outcome::Rejected } else { Outcome::Unsent };
                if is_unfit {
                    warn!(session = self.session, %error, "dropped a message");
                } else {
                    debug!(session = self.session, %error, "not delivered");
                }
                // It would come back at once, for ever.
                self.is_over |= error == UsageError::Closed;
                self.channel.settle(outcome, vec![token]);
            }
        }
    }

    fn confirm_oldest(&mut self, server: &mut Server<C>) {
        if let Some(reply) = self.owed.pop_front() {
            confirm(server, reply);
        }
        if self.owed.is_empty()
            && let Some((reply, failure)) = self.last.take()
        {
            self.end(server, reply, failure);
        }
    }

    /// Ends the session, when the requests before that are under way were answered.
    fn fail(&mut self, server: &mut Server<C>, reply: impl Into<Option<Reply>>, failure: Failure) {
        if self.owed.is_empty() {
            self.end(server, reply.into(), failure);
        } else if self.last.is_none() {
            self.last = Some((reply.into(), failure));
        }
    }

    fn end(&mut self, server: &mut Server<C>, reply: Option<Reply>, failure: Failure) {
        // A session that has ended in the meantime needs no reason to.
        let _ = server.fail(reply, &words::signed(failure));
        self.is_over = true;
    }
}

fn confirm<T>(server: &mut stomp_proto::Server<Instant, T>, reply: Reply) {
    // A session that has ended in the meantime owes nothing.
    let _ = server.confirm(reply);
}

/// The planner's refusals, in the words of RabbitMQ.
fn failure(error: &PlanError) -> Failure {
    let failure = Failure::new(error.message()).explanation(error.body());
    match error {
        // Behind the letter is the id or, without one, the destination.
        PlanError::Cancelled(tag) => match tag.as_str().split_once('_') {
            Some((_, subscription)) => failure.header(SUBSCRIPTION, subscription),
            None => failure,
        },
        _ => failure,
    }
}
