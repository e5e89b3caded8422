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
        let queue = match (headers.get(X_QUEUE_NAME), &id) {
            _ if !is_bound => Text::new(key),
            // The empty name would have the broker choose one, and nobody would know it.
            (Some(queue), _) if !queue.is_empty() => Text::new(&queue),
            (_, Some(id)) if is_durable => Text::new(&name(Unnamed::Durable { exchange, key, id })),
            _ => Text::new(&name(Unnamed::Subscription)),
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
