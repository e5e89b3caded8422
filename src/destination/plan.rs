//! The planner: what a frame that names a destination asks of a broker, and what it remembers of that.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    Action, ConsumerTag, Kind, PlanError, QueueDefaults, QueueType, Remembered, TOPIC_EXCHANGE,
    original, queue,
};
use crate::Command;
use crate::frame::name::{DESTINATION, ID};
use crate::frame::{AckMode, Headers, Text};

/// Makes plans for the frames of one session, and remembers what it takes to make the next.
///
/// A plan counts as carried out. Where a broker refuses a step of one, RabbitMQ ends the connection,
/// and so should you: the planner goes with its session. [`Planner::forget`] is for a subscription
/// that is dropped while the session stays.
///
/// A frame that is refused leaves no trace. RabbitMQ 4.3.5 notices a second subscription of the same
/// id when it has declared the queue and set the prefetch count; here neither is done, so that a
/// mistake makes no queue that gathers messages for nobody.
///
/// ```
/// use stomp_proto::destination::{Action, Planner, PlannerConfig};
/// use stomp_proto::{Command, Frame};
/// # fn main() -> Result<(), stomp_proto::destination::PlanError> {
/// let mut planner = Planner::new(PlannerConfig::default());
/// let send = Frame::builder(Command::Send).header("destination", "/queue/jobs").build();
/// let plan = planner.send(send.headers(), |_| "generated-1".into())?;
/// assert!(matches!(plan[..], [Action::Declare { .. }, Action::Publish { .. }]));
/// let plan = planner.send(send.headers(), |_| "generated-2".into())?;
/// assert!(matches!(plan[..], [Action::Publish { .. }]), "the queue is known");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Planner {
    pub(super) config: PlannerConfig,
    /// The queues that were declared because a destination named them.
    pub(super) declared: BTreeSet<Text>,
    pub(super) subscriptions: BTreeMap<ConsumerTag, Subscription>,
    /// Which queue is behind each temporary name.
    pub(super) temp_queues: BTreeMap<Text, Text>,
}

/// How a [`Planner`] plans.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannerConfig {
    /// Whose plans to make. Default: [`Scheme::Current`].
    pub scheme: Scheme,
    /// [`Scheme::Current`]: the exchange that `/topic` stands for. Default: `amq.topic`.
    pub topic_exchange: String,
    /// [`Scheme::Current`]: what the queues of subscriptions are by default.
    pub queue_defaults: QueueDefaults,
    /// [`Scheme::Current`]: the type that the virtual host gives a queue without `x-queue-type`.
    /// Default: classic.
    pub queue_type: QueueType,
    /// [`Scheme::Current`]: queues that a session may declare by naming them as its destinations.
    /// Each stays with the broker when the session is gone. Default: 1,024.
    pub max_queues: usize,
    /// Live subscriptions of a session. Default: 1,024.
    pub max_subscriptions: usize,
    /// [`Scheme::Current`]: temporary queues of a session. Default: 64.
    pub max_temp_queues: usize,
}

/// Whose plans a [`Planner`] makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Those of the design document of 2010: `/queue` is bound to `amq.direct`, a subscription to
    /// `/exchange` is bound only by a pattern, before its consumer starts, and `destination` is all
    /// that is read, besides the `id` and `ack` of the protocol. Nothing is remembered but
    /// subscriptions, so that every frame declares its queue.
    Original,
    /// Those of RabbitMQ 4.3.5: queues are reached through the default exchange, a subscription to
    /// `/exchange` or `/topic` is bound after its consumer started, and many headers have a say.
    #[default]
    Current,
}

/// What a queue that has no name yet is for. The name comes from the embedder, as this crate knows no
/// randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed<'a> {
    /// A subscription. The name must be one that no other queue of the broker has.
    Subscription,
    /// A durable subscription. The name must follow from these three and nothing that changes from
    /// session to session, so that the next session finds the queue.
    ///
    /// A hash will do: RabbitMQ 4.3.5 takes `stomp-subscription-` and an MD5 over key and id. Two users
    /// with the same three share the queue, unless the user goes into the name as well.
    Durable {
        /// The exchange that it will be bound to.
        exchange: &'a str,
        /// The routing key that it will be bound with.
        key: &'a str,
        /// The `id` of the SUBSCRIBE.
        id: &'a str,
    },
    /// Replies, by the temporary name that the client gave it. The name must be one that no other
    /// queue of the broker has, and one that cannot be guessed: whoever knows it can send to it.
    TempQueue(&'a str),
}

/// What a SUBSCRIBE asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subscription {
    /// Its `destination`.
    pub destination: Text,
    /// The kind of its destination.
    pub kind: Kind,
    /// Its `ack`.
    pub mode: AckMode,
    /// The queue that it consumes from.
    pub queue: Text,
}

impl Planner {
    /// A planner for a session that starts.
    #[must_use]
    pub fn new(config: PlannerConfig) -> Self {
        Self {
            config,
            declared: BTreeSet::new(),
            subscriptions: BTreeMap::new(),
            temp_queues: BTreeMap::new(),
        }
    }

    /// The steps that a SUBSCRIBE asks for. A RECEIPT for it is due behind the last.
    ///
    /// `name` names the queue, if it needs a name.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is remembered.
    pub fn subscribe(
        &mut self,
        headers: Headers<'_>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'static>>, PlanError> {
        match self.config.scheme {
            Scheme::Original => self.subscribe_original(headers, name),
            Scheme::Current => self.subscribe_current(headers, name),
        }
    }

    /// The steps that a SEND asks for. [`Action::Publish`] is the last.
    ///
    /// Plan one in a transaction when that is committed: so RabbitMQ does behind 4.3.5, which declares
    /// at the SEND and publishes at the COMMIT.
    ///
    /// `name` names the queue behind a temporary name in `reply-to`, if that is new.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is remembered.
    pub fn send<'a>(
        &mut self,
        headers: Headers<'a>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'a>>, PlanError> {
        match self.config.scheme {
            Scheme::Original => original::send(headers),
            Scheme::Current => self.send_current(headers, name),
        }
    }

    /// The steps that an UNSUBSCRIBE asks for.
    ///
    /// It acts only on what the SUBSCRIBE left behind: a queue that the UNSUBSCRIBE names may be
    /// somebody else's. The queue of a topic is deleted if UNSUBSCRIBE says `durable:true` or
    /// `persistent:true`.
    ///
    /// # Errors
    ///
    /// [`PlanError`]: nothing is to be done, and nothing is forgotten.
    pub fn unsubscribe(&mut self, headers: Headers<'_>) -> Result<Vec<Action<'static>>, PlanError> {
        let is_durable = match self.config.scheme {
            Scheme::Original => false,
            Scheme::Current => queue::is_durable(headers),
        };
        let tag = match (headers.get(ID), headers.get(DESTINATION)) {
            (None, _) if is_durable => return Err(PlanError::MissingId),
            (Some(id), _) if id.starts_with(TEMP_QUEUE_ID) => {
                return Err(PlanError::UnsubscribeTempQueue);
            }
            (Some(id), _) => ConsumerTag::of_id(&id),
            (None, Some(destination)) => ConsumerTag::of_destination(&destination),
            (None, None) => return Err(PlanError::MissingIdAndDestination),
        };
        let Some(subscription) = self.subscriptions.remove(&tag) else {
            return Err(PlanError::UnknownSubscription(tag));
        };
        let mut plan = vec![Action::Cancel { tag }];
        if is_durable && subscription.kind == Kind::Topic {
            // It may be known by its name, too: then the next SEND to it has to make it again.
            self.declared.remove(&subscription.queue);
            plan.push(Action::Delete { queue: subscription.queue });
        }
        Ok(plan)
    }

    /// The live subscription with that consumer tag. Temporary queues have none.
    #[must_use]
    pub fn subscription(&self, tag: &str) -> Option<&Subscription> {
        self.subscriptions.get(tag)
    }

    /// The broker ended a consumer because its queue was deleted, say. Forgets what it knew of both,
    /// and returns what RabbitMQ tells the client; `None`: there was no such consumer.
    pub fn cancelled(&mut self, tag: &str) -> Option<PlanError> {
        let entry = self.subscriptions.remove_entry(tag);
        let (tag, queue) = if let Some((tag, subscription)) = entry {
            (tag, subscription.queue)
        } else {
            let id = tag.strip_prefix(ConsumerTag::ID)?;
            let queue = self.temp_queues.remove(id.strip_prefix(TEMP_QUEUE_ID)?)?;
            (ConsumerTag::of_id(id), queue)
        };
        self.declared.remove(&queue);
        Some(PlanError::Cancelled(tag))
    }

    /// Drops a subscription that ended in any other way than by UNSUBSCRIBE: its plan failed, say,
    /// and the session goes on all the same.
    pub fn forget(&mut self, tag: &str) -> Option<Subscription> {
        self.subscriptions.remove(tag)
    }

    /// Whether a queue that a destination names has to be declared.
    pub(super) fn is_undeclared(&self, queue: &str) -> Result<bool, PlanError> {
        if self.declared.contains(queue) {
            return Ok(false);
        }
        check_room(self.declared.len(), self.config.max_queues, Remembered::Queues)?;
        Ok(true)
    }

    /// The tag for a SUBSCRIBE that can be entered.
    pub(super) fn free_tag(
        &self,
        headers: Headers<'_>,
        destination: &str,
    ) -> Result<ConsumerTag, PlanError> {
        let tag = match headers.get(ID) {
            // Tags of that form are those of temporary queues.
            Some(id) if id.starts_with(TEMP_QUEUE_ID) => {
                return Err(PlanError::InvalidValue { name: ID });
            }
            Some(id) => ConsumerTag::of_id(&id),
            None => ConsumerTag::of_destination(destination),
        };
        if self.subscriptions.contains_key(&tag) {
            return Err(PlanError::Duplicate(tag));
        }
        let most = self.config.max_subscriptions;
        check_room(self.subscriptions.len(), most, Remembered::Subscriptions)?;
        Ok(tag)
    }
}

impl Default for PlannerConfig {
    fn default() -> Self {
        Self {
            scheme: Scheme::default(),
            topic_exchange: TOPIC_EXCHANGE.into(),
            queue_defaults: QueueDefaults::default(),
            queue_type: QueueType::default(),
            max_queues: 1024,
            max_subscriptions: 1024,
            max_temp_queues: 64,
        }
    }
}

/// What the ids of subscriptions to temporary queues start with.
pub(super) const TEMP_QUEUE_ID: &str = "/temp-queue/";

pub(super) fn destination(
    headers: Headers<'_>,
    command: Command,
) -> Result<Cow<'_, str>, PlanError> {
    headers.get(DESTINATION).ok_or(PlanError::MissingDestination(command))
}

pub(super) fn check_room(len: usize, most: usize, what: Remembered) -> Result<(), PlanError> {
    if len < most { Ok(()) } else { Err(PlanError::LimitExceeded { what, most }) }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::Frame;

    const HEADERS: [(&str, &str); 36] = [
        ("id", "0"),
        ("id", "1"),
        ("id", "2"),
        ("id", ""),
        ("id", "/temp-queue/r"),
        ("destination", "/queue/a"),
        ("destination", "/queue/b"),
        ("destination", "c"),
        ("destination", "/queue/victim"),
        ("destination", "/topic/t"),
        ("destination", "/topic/u.#"),
        ("destination", "/exchange/e"),
        ("destination", "/exchange/e/k"),
        ("destination", "/amq/queue/a"),
        ("destination", "/reply-queue/r/s"),
        ("destination", "/temp-queue/r"),
        ("destination", "/nowhere"),
        ("destination", ""),
        ("durable", "true"),
        ("durable", "false"),
        ("durable", "perhaps"),
        ("persistent", "true"),
        ("persistent", "false"),
        ("auto-delete", "false"),
        ("exclusive", "true"),
        ("x-queue-name", "victim"),
        ("x-queue-type", "quorum"),
        ("x-max-length", "many"),
        ("ack", "client"),
        ("ack", "never"),
        ("prefetch-count", "3"),
        ("prefetch-count", "65536"),
        ("reply-to", "/temp-queue/r"),
        ("reply-to", "/temp-queue/s"),
        ("reply-to", "/temp-queue/"),
        ("priority", "256"),
    ];

    #[derive(Clone, Debug)]
    enum Step {
        Frame(Command, Vec<(&'static str, &'static str)>),
        Cancelled(&'static str),
        Forget(&'static str),
    }

    fn step() -> impl Strategy<Value = Step> {
        let command = select(&[Command::Subscribe, Command::Send, Command::Unsubscribe][..]);
        let headers = proptest::collection::vec(select(&HEADERS[..]), 0..6);
        let tag = select(&["T_0", "T_1", "T_", "Q_/queue/a", "T_/temp-queue/r", "", "x"][..]);
        prop_oneof![
            8 => (command, headers).prop_map(|(command, headers)| Step::Frame(command, headers)),
            1 => tag.clone().prop_map(Step::Cancelled),
            1 => tag.prop_map(Step::Forget),
        ]
    }

    fn frame(command: Command, headers: &[(&str, &str)]) -> Frame {
        let start = Frame::builder(command);
        headers.iter().fold(start, |frame, (name, value)| frame.header(name, value)).build()
    }

    fn planner(scheme: Scheme) -> Planner {
        Planner::new(PlannerConfig {
            scheme,
            max_queues: 2,
            max_subscriptions: 3,
            max_temp_queues: 1,
            ..PlannerConfig::default()
        })
    }

    /// Every queue that a plan does something to.
    fn queues<'p>(plan: &'p [Action<'_>]) -> impl Iterator<Item = &'p str> {
        plan.iter().filter_map(|action| match action {
            Action::Declare { queue, .. }
            | Action::Bind { queue, .. }
            | Action::Consume { queue, .. }
            | Action::Delete { queue } => Some(queue.as_str()),
            Action::CheckTopicRead { .. }
            | Action::Qos { .. }
            | Action::Publish { .. }
            | Action::Cancel { .. } => None,
        })
    }

    fn position(plan: &[Action<'_>], is: impl Fn(&Action<'_>) -> bool) -> Option<usize> {
        plan.iter().position(is)
    }

    fn check_subscribe(planner: &Planner, plan: &[Action<'static>]) -> Result<(), TestCaseError> {
        let consume = position(plan, |action| matches!(action, Action::Consume { .. }));
        let Some(Action::Consume { tag, queue, mode, .. }) = consume.map(|at| &plan[at]) else {
            return Err(TestCaseError::fail("no consumer"));
        };
        let subscription = planner.subscription(tag.as_str()).unwrap();
        prop_assert_eq!((&subscription.queue, subscription.mode), (queue, *mode));
        prop_assert!(queues(plan).all(|other| queue == other));
        let declare = position(plan, |action| matches!(action, Action::Declare { .. }));
        prop_assert!(declare < consume);
        let bind = position(plan, |action| matches!(action, Action::Bind { .. }));
        match (planner.config.scheme, bind) {
            (Scheme::Original, Some(bind)) => prop_assert!(Some(bind) < consume),
            (Scheme::Original, None) => prop_assert_eq!(subscription.kind, Kind::Exchange),
            (Scheme::Current, bind) => {
                let is_bound = matches!(subscription.kind, Kind::Exchange | Kind::Topic);
                prop_assert_eq!(bind > consume, is_bound);
            }
        }
        Ok(())
    }

    fn check_unsubscribe(
        before: &Planner,
        after: &Planner,
        plan: &[Action<'static>],
    ) -> Result<(), TestCaseError> {
        let Some(Action::Cancel { tag }) = plan.first() else {
            return Err(TestCaseError::fail("no cancel"));
        };
        let recorded = before.subscription(tag.as_str()).unwrap();
        prop_assert!(after.subscription(tag.as_str()).is_none());
        match &plan[1..] {
            [] => {}
            [Action::Delete { queue }] => {
                prop_assert_eq!(queue, &recorded.queue);
                prop_assert_eq!(recorded.kind, Kind::Topic);
            }
            more => return Err(TestCaseError::fail(format!("{more:?}"))),
        }
        Ok(())
    }

    /// Whether the SEND makes the queue that it names.
    fn declares(planner: &mut Planner, destination: &str) -> bool {
        let frame = frame(Command::Send, &[("destination", destination)]);
        let plan = planner.send(frame.headers(), |_| String::new()).unwrap();
        matches!(plan[..], [Action::Declare { .. }, Action::Publish { .. }])
    }

    fn subscribe(planner: &mut Planner, headers: &[(&str, &str)]) {
        let frame = frame(Command::Subscribe, headers);
        planner.subscribe(frame.headers(), |_| "generated".into()).unwrap();
    }

    /// destinations.md, chapter 8
    #[test]
    fn an_unsubscribe_needs_an_id_or_destination_of_a_live_subscription() {
        let mut planner = planner(Scheme::Current);
        subscribe(&mut planner, &[("id", "0"), ("destination", "/queue/a")]);
        for (headers, error) in [
            (&[][..], PlanError::MissingIdAndDestination),
            (&[("durable", "true"), ("destination", "/queue/a")], PlanError::MissingId),
            (&[("persistent", "True")], PlanError::MissingId),
            (&[("id", "/temp-queue/")], PlanError::UnsubscribeTempQueue),
            (&[("id", "1")], PlanError::UnknownSubscription(ConsumerTag::of_id("1"))),
            (
                &[("destination", "/queue/a")],
                PlanError::UnknownSubscription(ConsumerTag::of_destination("/queue/a")),
            ),
        ] {
            let frame = frame(Command::Unsubscribe, headers);
            assert_eq!(planner.unsubscribe(frame.headers()).unwrap_err(), error);
        }
        let frame = frame(Command::Unsubscribe, &[("id", "0"), ("destination", "/elsewhere")]);
        assert_eq!(planner.unsubscribe(frame.headers()).unwrap().len(), 1, "the id counts");
    }

    #[test]
    fn a_queue_that_is_gone_is_made_again_by_the_next_send() {
        let mut planner = planner(Scheme::Current);
        subscribe(&mut planner, &[("id", "0"), ("destination", "/queue/a")]);
        assert!(!declares(&mut planner, "/queue/a"));
        let told = planner.cancelled("T_0");
        assert_eq!(told, Some(PlanError::Cancelled(ConsumerTag::of_id("0"))));
        assert_eq!(planner.cancelled("T_0"), None, "once");
        assert!(declares(&mut planner, "/queue/a"));

        let topic = ("destination", "/topic/t");
        subscribe(&mut planner, &[("id", "1"), topic, ("x-queue-name", "a"), ("durable", "true")]);
        let frame = frame(Command::Unsubscribe, &[("id", "1"), ("durable", "true")]);
        assert_eq!(planner.unsubscribe(frame.headers()).unwrap().len(), 2);
        assert!(declares(&mut planner, "/queue/a"));
    }

    #[test]
    fn a_subscription_that_is_forgotten_leaves_its_queue_and_frees_its_id() {
        let mut planner = planner(Scheme::Current);
        let headers = [("id", "0"), ("destination", "/queue/a"), ("ack", "client")];
        subscribe(&mut planner, &headers);
        let forgotten = planner.forget("T_0").unwrap();
        assert_eq!((&*forgotten.queue, forgotten.mode), ("a", AckMode::Client));
        assert_eq!(planner.forget("T_0"), None);
        assert!(!declares(&mut planner, "/queue/a"));
        subscribe(&mut planner, &headers);
    }

    proptest! {
        #[test]
        fn whatever_comes_plans_are_sound_and_refusals_leave_no_trace(
            scheme in select(&[Scheme::Original, Scheme::Current][..]),
            steps in proptest::collection::vec(step(), 0..40),
        ) {
            let mut planner = planner(scheme);
            let mut names = 0;
            for step in steps {
                let before = planner.clone();
                let name = |_: Unnamed<'_>| {
                    names += 1;
                    format!("generated-{names}")
                };
                let refused = match step {
                    Step::Frame(Command::Subscribe, headers) => {
                        let frame = frame(Command::Subscribe, &headers);
                        let plan = planner.subscribe(frame.headers(), name);
                        if let Ok(plan) = &plan {
                            check_subscribe(&planner, plan)?;
                        }
                        plan.is_err()
                    }
                    Step::Frame(Command::Unsubscribe, headers) => {
                        let frame = frame(Command::Unsubscribe, &headers);
                        let plan = planner.unsubscribe(frame.headers());
                        if let Ok(plan) = &plan {
                            check_unsubscribe(&before, &planner, plan)?;
                        }
                        plan.is_err()
                    }
                    Step::Frame(_, headers) => {
                        let frame = frame(Command::Send, &headers);
                        let plan = planner.send(frame.headers(), name);
                        if let Ok(plan) = &plan {
                            let publish = position(plan, |a| matches!(a, Action::Publish { .. }));
                            prop_assert_eq!(publish, Some(plan.len() - 1));
                        }
                        plan.is_err()
                    }
                    Step::Cancelled(tag) => planner.cancelled(tag).is_none(),
                    Step::Forget(tag) => planner.forget(tag).is_none(),
                };
                if refused {
                    prop_assert_eq!(format!("{before:?}"), format!("{planner:?}"));
                }
                prop_assert!(planner.declared.len() <= 2);
                prop_assert!(planner.subscriptions.len() <= 3);
                prop_assert!(planner.temp_queues.len() <= 1);
            }
        }
    }
}
