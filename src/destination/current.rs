//! Plans as RabbitMQ 4.3.5 makes them, with its checks in their order.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::name::{PREFETCH_COUNT, REPLY_TO, X_QUEUE_NAME};
use super::plan::{TEMP_QUEUE_ID, check_room, destination};
use super::queue::{Declaration, Purpose, consumer_arguments, is_durable};
use super::value::{ack_mode, number};
use super::{
    Action, Arguments, ConsumerTag, Destination, DestinationError, Kind, PlanError, Planner,
    Properties, QueueFlags, Remembered, Subscription, Unnamed,
};
use crate::Command;
use crate::frame::name::{ID, MESSAGE_ID};
use crate::frame::{AckMode, Headers, Text};

impl Planner {
    pub(super) fn subscribe_current(
        &mut self,
        headers: Headers<'_>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'static>>, PlanError> {
        let (id, is_durable) = (headers.get(ID), is_durable(headers));
        if is_durable && id.is_none() {
            return Err(PlanError::MissingId);
        }
        let text = destination(headers, Command::Subscribe)?;
        let parsed = match Destination::parse(&text) {
            // RabbitMQ takes a blank one for a queue without a name, and notices later.
            Err(error) if error != DestinationError::Blank => return Err(error.into()),
            parsed => parsed,
        };
        let prefetch_count = number(headers, PREFETCH_COUNT)?;
        let mode = ack_mode(headers)?;
        let destination = parsed?;
        let kind = destination.kind();
        let (exchange, key) = destination.route(&self.config.topic_exchange);
        let purpose = match kind {
            Kind::Queue => Some(Purpose::Named),
            Kind::Exchange => Some(Purpose::Exchange(self.config.queue_defaults.exchange)),
            Kind::Topic => Some(Purpose::Topic(self.config.queue_defaults.topic)),
            Kind::AmqQueue | Kind::ReplyQueue => None,
            Kind::TempQueue => return Err(is_temp_queue(Command::Subscribe, &text)),
        };
        let declaration = purpose
            .map(|purpose| Declaration::read(headers, purpose, self.config.queue_type))
            .transpose()?;
        let tag = self.free_tag(headers, &text)?;
        let arguments = consumer_arguments(headers)?;
        let is_known = kind == Kind::Queue && !self.is_undeclared(key)?;

        // Nothing is refused from here on.
        let is_bound = matches!(kind, Kind::Exchange | Kind::Topic);
        let queue = if is_bound {
            let unnamed = match &id {
                Some(id) if is_durable => Unnamed::Durable { exchange, key, id },
                _ => Unnamed::Subscription,
            };
            queue_name(headers, unnamed, name)
        } else {
            Text::new(key)
        };
        let (exchange, key) = (Text::new(exchange), Text::new(key));
        let mut plan = Vec::new();
        if kind == Kind::Topic {
            plan.push(Action::CheckTopicRead { exchange: exchange.clone(), key: key.clone() });
        }
        if let Some(declaration) = declaration.filter(|_| !is_known) {
            plan.push(declaration.of(queue.clone()));
        }
        plan.extend(prefetch_count.map(|prefetch_count| Action::Qos { prefetch_count }));
        plan.push(Action::Consume { queue: queue.clone(), tag: tag.clone(), mode, arguments });
        if is_bound {
            plan.push(Action::Bind { queue: queue.clone(), exchange, key });
        }
        if kind == Kind::Queue {
            self.declared.insert(queue.clone());
        }
        let destination = Text::new(&text);
        self.subscriptions.insert(tag, Subscription { destination, kind, mode, queue });
        Ok(plan)
    }

    pub(super) fn send_current<'a>(
        &mut self,
        headers: Headers<'a>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'a>>, PlanError> {
        if headers.get(MESSAGE_ID).is_some() {
            return Err(PlanError::MessageIdOnSend);
        }
        let text = destination(headers, Command::Send)?;
        let destination = Destination::parse(&text)?;
        let (exchange, key) = destination.route(&self.config.topic_exchange);
        let declaration = match destination.kind() {
            Kind::Queue => {
                let declaration =
                    Declaration::read(headers, Purpose::Named, self.config.queue_type)?;
                self.is_undeclared(key)?.then_some(declaration)
            }
            Kind::Exchange | Kind::Topic | Kind::AmqQueue | Kind::ReplyQueue => None,
            Kind::TempQueue => return Err(is_temp_queue(Command::Send, &text)),
        };
        let temp_queue = self.temp_queue(headers)?;
        let mut properties = Properties::current(headers)?;

        // Nothing is refused from here on.
        let (exchange, key) = (Text::new(exchange), Text::new(key));
        let mut plan = Vec::new();
        if let Some(declaration) = declaration {
            plan.push(declaration.of(key.clone()));
            self.declared.insert(key.clone());
        }
        match temp_queue {
            None => {}
            Some(TempQueue::Known(queue)) => properties.set_reply_to(&queue),
            Some(TempQueue::New(temp)) => {
                let queue = Text::new(&name(Unnamed::TempQueue(&temp)));
                plan.extend(reply_consumer(&temp, &queue));
                properties.set_reply_to(&queue);
                self.temp_queues.insert(temp, queue);
            }
        }
        plan.push(Action::Publish { exchange, key, properties });
        Ok(plan)
    }

    /// The temporary queue that `reply-to` names, if it names one.
    fn temp_queue(&self, headers: Headers<'_>) -> Result<Option<TempQueue>, PlanError> {
        let Some(reply_to) = headers.get(REPLY_TO) else { return Ok(None) };
        let Ok(destination) = Destination::parse(&reply_to) else {
            return Err(PlanError::InvalidValue { name: REPLY_TO });
        };
        let Destination::TempQueue(temp) = destination else { return Ok(None) };
        if let Some(queue) = self.temp_queues.get(&*temp) {
            return Ok(Some(TempQueue::Known(queue.clone())));
        }
        let most = self.config.max_temp_queues;
        check_room(self.temp_queues.len(), most, Remembered::TempQueues)?;
        Ok(Some(TempQueue::New(Text::new(&temp))))
    }
}

/// The name of a queue that the destination does not name.
fn queue_name(
    headers: Headers<'_>,
    unnamed: Unnamed<'_>,
    name: impl FnOnce(Unnamed<'_>) -> String,
) -> Text {
    match headers.get(X_QUEUE_NAME) {
        Some(given) if !given.is_empty() => Text::new(&given),
        // To AMQP the empty name asks the broker for one, which nobody here would get to know.
        Some(_) | None => Text::new(&name(unnamed)),
    }
}

/// A temporary name in `reply-to`.
enum TempQueue {
    /// The queue that is behind it.
    Known(Text),
    /// There is no queue behind this name yet.
    New(Text),
}

/// Makes the queue behind a temporary name, and hands out what comes to it as if the client had
/// subscribed: the `subscription` of such a MESSAGE is the `reply-to` of the SEND.
fn reply_consumer(temp: &str, queue: &Text) -> [Action<'static>; 2] {
    let flags = QueueFlags { durable: Some(false), auto_delete: Some(true), exclusive: Some(true) };
    let tag = ConsumerTag::of_id(&format!("{TEMP_QUEUE_ID}{temp}"));
    [
        Action::Declare { queue: queue.clone(), flags, arguments: Arguments::new() },
        Action::Consume {
            queue: queue.clone(),
            tag,
            mode: AckMode::Auto,
            arguments: Arguments::new(),
        },
    ]
}

fn is_temp_queue(command: Command, destination: &str) -> PlanError {
    PlanError::TempQueue { command, destination: Text::new(destination) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::destination::PlannerConfig;

    fn planner() -> Planner {
        Planner::new(PlannerConfig::default())
    }

    fn frame(headers: &[(&str, &str)]) -> Frame {
        let start = Frame::builder(Command::Send);
        headers.iter().fold(start, |frame, (name, value)| frame.header(name, value)).build()
    }

    fn subscribe(
        planner: &mut Planner,
        headers: &[(&str, &str)],
    ) -> Result<Vec<Action<'static>>, PlanError> {
        planner.subscribe(frame(headers).headers(), |_| "generated".into())
    }

    /// What a SEND does, in short.
    fn send(planner: &mut Planner, headers: &[(&str, &str)]) -> Result<Vec<String>, PlanError> {
        let frame = frame(headers);
        let name = |unnamed: Unnamed<'_>| {
            let Unnamed::TempQueue(temp) = unnamed else { panic!("{unnamed:?}") };
            format!("gen-{temp}")
        };
        let plan = planner.send(frame.headers(), name)?;
        let step = |action| match action {
            Action::Declare { queue, .. } => format!("declare {queue}"),
            Action::Consume { queue, tag, .. } => format!("consume {queue} as {tag}"),
            Action::Publish { exchange, key, properties } => {
                format!("publish {exchange}/{key} reply to {:?}", properties.reply_to())
            }
            other => panic!("{other:?}"),
        };
        Ok(plan.into_iter().map(step).collect())
    }

    fn set<'a>(headers: &mut Vec<(&'a str, &'a str)>, name: &'a str, value: &'a str) {
        headers.retain(|(other, _)| *other != name);
        headers.push((name, value));
    }

    const fn invalid(name: &'static str) -> PlanError {
        PlanError::InvalidValue { name }
    }

    /// destinations.md, chapter 8: whatever else is wrong, the first check that fails is told.
    #[test]
    fn a_subscribe_is_checked_in_the_order_of_rabbitmq() {
        let mut planner = planner();
        subscribe(&mut planner, &[("id", "0"), ("destination", "/queue/other")]).unwrap();
        let mut headers = Vec::new();
        for (name, value) in [
            ("durable", "true"),
            ("prefetch-count", "many"),
            ("ack", "never"),
            ("exclusive", "perhaps"),
            ("x-priority", "high"),
        ] {
            set(&mut headers, name, value);
        }
        let temp = "/temp-queue/t";
        let command = Command::Subscribe;
        for (error, name, value) in [
            (PlanError::MissingId, "id", "/temp-queue/t"),
            (PlanError::MissingDestination(command), "destination", "/nowhere"),
            (DestinationError::Unknown("/nowhere".into()).into(), "destination", "/queue"),
            (
                DestinationError::Invalid { kind: Kind::Queue, rest: "".into() }.into(),
                "destination",
                "",
            ),
            (invalid("prefetch-count"), "prefetch-count", " 7 "),
            (invalid("ack"), "ack", "client-individual"),
            (DestinationError::Blank.into(), "destination", temp),
            (PlanError::TempQueue { command, destination: temp.into() }, "destination", "/queue/a"),
            (invalid("exclusive"), "exclusive", "false"),
            (invalid("id"), "id", "0"),
            (PlanError::Duplicate(ConsumerTag::of_id("0")), "id", "1"),
            (invalid("x-priority"), "x-priority", "-1"),
        ] {
            assert_eq!(subscribe(&mut planner, &headers).unwrap_err(), error, "{headers:?}");
            set(&mut headers, name, value);
        }
        let plan = subscribe(&mut planner, &headers).unwrap();
        assert!(matches!(
            plan[..],
            [
                Action::Declare { .. },
                Action::Qos { prefetch_count: 7 },
                Action::Consume { mode: AckMode::ClientIndividual, .. },
            ]
        ));
        let recorded = planner.subscription("T_1").unwrap();
        assert_eq!(recorded.destination, "/queue/a");
        assert_eq!(recorded.mode, AckMode::ClientIndividual);
    }

    /// destinations.md, chapter 8
    #[test]
    fn a_send_is_checked_in_the_order_of_rabbitmq() {
        let mut planner = planner();
        let mut headers = Vec::from([
            ("message-id", "1"),
            ("persistent", "perhaps"),
            ("reply-to", "/nowhere"),
            ("priority", "256"),
            ("timestamp", "now"),
        ]);
        let (command, temp) = (Command::Send, "/temp-queue/t");
        assert_eq!(send(&mut planner, &headers), Err(PlanError::MessageIdOnSend));
        headers.remove(0);
        for (error, name, value) in [
            (PlanError::MissingDestination(command), "destination", ""),
            (DestinationError::Blank.into(), "destination", temp),
            (PlanError::TempQueue { command, destination: temp.into() }, "destination", "/queue/a"),
            (invalid("persistent"), "persistent", "true"),
            (invalid("reply-to"), "reply-to", temp),
            (invalid("priority"), "priority", "255"),
            (invalid("timestamp"), "timestamp", "1700000000"),
        ] {
            assert_eq!(send(&mut planner, &headers).unwrap_err(), error, "{headers:?}");
            set(&mut headers, name, value);
        }
        assert_eq!(send(&mut planner, &headers).unwrap().len(), 4);
    }

    /// destinations.md, notes N1 and N2
    #[test]
    fn a_queue_is_declared_once_and_not_by_a_frame_that_is_refused() {
        let mut planner = planner();
        subscribe(&mut planner, &[("id", "0"), ("destination", "/topic/t")]).unwrap();
        let twice = [("id", "0"), ("destination", "/queue/a"), ("prefetch-count", "1")];
        let duplicate = PlanError::Duplicate(ConsumerTag::of_id("0"));
        assert_eq!(subscribe(&mut planner, &twice).unwrap_err(), duplicate);
        let publish = "publish /a reply to None";
        let transient = [("destination", "/queue/a"), ("durable", "false")];
        assert_eq!(send(&mut planner, &transient).unwrap(), ["declare a", publish]);
        for name in ["/queue/a", "a"] {
            assert_eq!(send(&mut planner, &[("destination", name)]).unwrap(), [publish]);
        }
        let plan = subscribe(&mut planner, &[("id", "1"), ("destination", "/queue/a")]).unwrap();
        assert!(matches!(plan[..], [Action::Consume { .. }]));
        let bad = [("destination", "/queue/a"), ("durable", "perhaps")];
        assert_eq!(send(&mut planner, &bad), Err(invalid("durable")), "known or not");
    }

    /// destinations.md, chapter 6
    #[test]
    fn a_temporary_name_in_reply_to_gets_a_queue_and_a_consumer_once() {
        let mut planner = planner();
        let request = [("destination", "/queue/work"), ("reply-to", "/temp-queue/a%2Fb")];
        let publish = "publish /work reply to Some(\"gen-a/b\")";
        let first =
            ["declare work", "declare gen-a/b", "consume gen-a/b as T_/temp-queue/a/b", publish];
        assert_eq!(send(&mut planner, &request).unwrap(), first);
        assert_eq!(send(&mut planner, &request).unwrap(), [publish]);
        for (reply_to, reads) in [
            ("/reply-queue/gen-a/b", "/reply-queue/gen-a/b"),
            ("/queue/answers", "/queue/answers"),
            ("answers", "answers"),
        ] {
            let headers = [("destination", "/topic/t"), ("reply-to", reply_to)];
            let publish = format!("publish amq.topic/t reply to Some({reads:?})");
            assert_eq!(send(&mut planner, &headers).unwrap(), [publish], "passed on as it is");
        }
        let answer = [("destination", "/reply-queue/gen-a/b")];
        assert_eq!(send(&mut planner, &answer).unwrap(), ["publish /gen-a/b reply to None"]);
        assert_eq!(planner.subscription("T_/temp-queue/a/b"), None);

        let error = planner.cancelled("T_/temp-queue/a/b").unwrap();
        assert_eq!(error, PlanError::Cancelled(ConsumerTag::of_id("/temp-queue/a/b")));
        assert_eq!(send(&mut planner, &request).unwrap(), first[1..], "made again");
    }

    #[test]
    fn the_queue_behind_a_temporary_name_is_of_the_session_alone() {
        let frame = frame(&[("destination", "/topic/t"), ("reply-to", "/temp-queue/a")]);
        let mut planner = planner();
        let plan = planner.send(frame.headers(), |_| "generated".into()).unwrap();
        let [Action::Declare { flags, .. }, Action::Consume { mode, .. }, _] = &plan[..] else {
            panic!("{plan:?}")
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(*flags, QueueFlags { durable: no, auto_delete: yes, exclusive: yes });
        assert_eq!(*mode, AckMode::Auto);
    }

    #[test]
    fn what_a_session_makes_a_planner_remember_is_bounded() {
        let mut config = PlannerConfig::default();
        (config.max_queues, config.max_subscriptions, config.max_temp_queues) = (2, 2, 1);
        let mut planner = Planner::new(config);
        let exceeded = |what, most| PlanError::LimitExceeded { what, most };
        for queue in ["a", "b"] {
            send(&mut planner, &[("destination", queue)]).unwrap();
        }
        let refused = send(&mut planner, &[("destination", "c")]);
        assert_eq!(refused, Err(exceeded(Remembered::Queues, 2)));
        let refused = subscribe(&mut planner, &[("id", "0"), ("destination", "c")]);
        assert_eq!(refused.unwrap_err(), exceeded(Remembered::Queues, 2));
        for id in ["0", "1"] {
            subscribe(&mut planner, &[("id", id), ("destination", "b")]).unwrap();
        }
        let refused = subscribe(&mut planner, &[("id", "2"), ("destination", "/topic/t")]);
        assert_eq!(refused.unwrap_err(), exceeded(Remembered::Subscriptions, 2));
        planner.forget("T_0").unwrap();
        subscribe(&mut planner, &[("id", "2"), ("destination", "/topic/t")]).unwrap();
        for reply_to in ["/temp-queue/a", "/temp-queue/a", "/queue/c"] {
            send(&mut planner, &[("destination", "a"), ("reply-to", reply_to)]).unwrap();
        }
        let refused = send(&mut planner, &[("destination", "a"), ("reply-to", "/temp-queue/b")]);
        assert_eq!(refused, Err(exceeded(Remembered::TempQueues, 1)));
    }

    #[test]
    fn a_name_is_asked_for_only_where_there_is_none_and_with_what_it_follows_from() {
        let asked = |headers: &[(&str, &str)]| {
            let mut asked = None;
            let name = |unnamed: Unnamed<'_>| {
                asked = Some(format!("{unnamed:?}"));
                "generated".into()
            };
            planner().subscribe(frame(headers).headers(), name).unwrap();
            asked
        };
        let (topic, exchange) = (("destination", "/topic/t"), ("destination", "/exchange/e/k"));
        let (id, durable) = (("id", "0"), ("durable", "true"));
        let by = |exchange, key| format!("{:?}", Unnamed::Durable { exchange, key, id: "0" });
        assert_eq!(asked(&[topic, id]).as_deref(), Some("Subscription"));
        assert_eq!(asked(&[topic, id, durable]), Some(by("amq.topic", "t")));
        assert_eq!(asked(&[exchange, id, durable]), Some(by("e", "k")));
        let empty = [topic, id, ("x-queue-name", "")];
        assert_eq!(asked(&empty).as_deref(), Some("Subscription"), "an empty name is none");
        assert_eq!(asked(&[topic, id, ("x-queue-name", "mine")]), None);
        assert_eq!(asked(&[("destination", "/queue/a"), id, durable]), None);
        assert_eq!(asked(&[("destination", "/amq/queue/a"), id]), None);
    }
}
