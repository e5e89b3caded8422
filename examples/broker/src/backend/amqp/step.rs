//! Jobs in the words of AMQP, so that they can wait for their turn.

use alloc::collections::BTreeMap;

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use stomp_proto::destination::{Action, Argument, Arguments, ConsumerTag, QueueFlags};
use stomp_proto::frame::AckMode;
use stomp_proto::server::Failure;

use super::{Token, message};
use crate::backend::{Job, Outcome};

/// What tells the consumers of a session apart: the id of a subscription may be used again.
pub(super) type ConsumerNumber = u64;

#[derive(Debug)]
pub(super) enum Step {
    Declare { queue: ShortString, options: QueueDeclareOptions, arguments: FieldTable },
    Bind { queue: ShortString, exchange: ShortString, key: ShortString },
    Qos { prefetch_count: u16 },
    Consume(Start),
    Publish(Publish),
    Cancel { tag: ConsumerTag },
    Delete { queue: ShortString },
    Settle { outcome: Outcome, deliveries: Vec<Token> },
}

/// A consumer that is to start.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) number: ConsumerNumber,
    pub(super) tag: ConsumerTag,
    pub(super) queue: ShortString,
    pub(super) mode: AckMode,
    pub(super) arguments: FieldTable,
}

/// A message that is to be published.
#[derive(Debug)]
pub(super) struct Publish {
    pub(super) exchange: ShortString,
    pub(super) key: ShortString,
    pub(super) properties: Box<BasicProperties>,
    pub(super) body: Bytes,
}

/// What a message takes besides its body, about.
const OVERHEAD: usize = 1 << 10;

impl Step {
    /// The octets that it holds, about.
    pub(super) fn octets(&self) -> usize {
        match self {
            Self::Publish(publish) => publish.body.len() + OVERHEAD,
            Self::Declare { .. }
            | Self::Bind { .. }
            | Self::Qos { .. }
            | Self::Consume(_)
            | Self::Cancel { .. }
            | Self::Delete { .. }
            | Self::Settle { .. } => 0,
        }
    }
}

/// The steps of jobs that are to be carried out as one; the numbers of new consumers are drawn.
pub(super) fn steps(
    jobs: Vec<Job<'_, Token>>,
    mut draw: impl FnMut() -> ConsumerNumber,
) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    for job in jobs {
        match job {
            Job::Settle(outcome, deliveries) => steps.push(Step::Settle { outcome, deliveries }),
            Job::Carry { plan, message } => {
                for action in plan {
                    let body = message.map(|message| message.body);
                    steps.extend(step(action, body, &mut draw)?);
                }
            }
        }
    }
    Ok(steps)
}

fn step(
    action: Action<'_>,
    body: Option<&Bytes>,
    draw: &mut impl FnMut() -> ConsumerNumber,
) -> Result<Option<Step>, Failure> {
    Ok(match action {
        // RabbitMQ does, when the queue is bound.
        Action::CheckTopicRead { .. } => None,
        Action::Declare { queue, flags, arguments } => {
            let (queue, options) = (short(&queue)?, declare(flags));
            Some(Step::Declare { queue, options, arguments: table(arguments)? })
        }
        Action::Bind { queue, exchange, key } => {
            let (exchange, key) = (short(&exchange)?, short(&key)?);
            Some(Step::Bind { queue: short(&queue)?, exchange, key })
        }
        Action::Qos { prefetch_count } => Some(Step::Qos { prefetch_count }),
        Action::Consume { queue, tag, mode, arguments } => {
            // AMQP is told a number, but a broker with its queues in memory has the same bound.
            short(tag.as_str())?;
            let (queue, arguments) = (short(&queue)?, table(arguments)?);
            Some(Step::Consume(Start { number: draw(), tag, queue, mode, arguments }))
        }
        Action::Publish { exchange, key, properties } => {
            let (exchange, key) = (short(&exchange)?, short(&key)?);
            let properties = Box::new(message::properties(&properties)?);
            let publish = |body: &Bytes| Publish { exchange, key, properties, body: body.clone() };
            body.map(|body| Step::Publish(publish(body)))
        }
        Action::Cancel { tag } => Some(Step::Cancel { tag }),
        Action::Delete { queue } => Some(Step::Delete { queue: short(&queue)? }),
    })
}

/// A name or property as AMQP writes it.
pub(super) fn short(text: &str) -> Result<ShortString, Failure> {
    ShortString::try_new(text).map_err(|_| {
        let explanation = "a name or property is longer than the 255 octets of AMQP\n";
        Failure::new("Processing error").explanation(explanation)
    })
}

/// What a scheme does not say is RabbitMQ's default.
fn declare(QueueFlags { durable, auto_delete, exclusive }: QueueFlags) -> QueueDeclareOptions {
    QueueDeclareOptions {
        durable: durable.unwrap_or_default(),
        auto_delete: auto_delete.unwrap_or_default(),
        exclusive: exclusive.unwrap_or_default(),
        ..QueueDeclareOptions::default()
    }
}

fn table(arguments: Arguments) -> Result<FieldTable, Failure> {
    let entry = |(name, argument)| Ok((short(name)?, value(argument)));
    let entries: Result<BTreeMap<_, _>, Failure> = arguments.into_iter().map(entry).collect();
    Ok(entries?.into())
}

fn value(argument: Argument) -> AMQPValue {
    let text = |text: &str| AMQPValue::LongString(LongString::from(text));
    match argument {
        Argument::Text(it) => text(&it),
        Argument::Integer(integer) => AMQPValue::LongLongInt(integer),
        Argument::Boolean(boolean) => AMQPValue::Boolean(boolean),
        Argument::Timestamp(timestamp) => AMQPValue::Timestamp(timestamp),
        Argument::Texts(texts) => {
            let texts: Vec<_> = texts.iter().map(|it| text(it)).collect();
            AMQPValue::FieldArray(texts.into())
        }
    }
}
