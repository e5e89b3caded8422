//! Jobs in the words of AMQP, so that they can wait for their turn.

use alloc::collections::BTreeMap;

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use stomp_proto::destination::{Action, Argument, Arguments, ConsumerTag, QueueFlags};
use stomp_proto::frame::{AckMode, Header};
use stomp_proto::server::Failure;

use super::{Token, message};
use crate::backend::{Job, Outcome, Outgoing};

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
    /// What head and body take up.
    octets: usize,
}

/// What a step takes besides what may be long, about: its names, and what it is kept in.
const OVERHEAD: usize = 1 << 10;
/// What a header or an argument takes besides its octets, about.
const ENTRY: usize = 128;

impl Step {
    /// The octets that it holds, about.
    pub(super) fn octets(&self) -> usize {
        let octets = match self {
            Self::Publish(publish) => publish.octets,
            Self::Declare { arguments, .. } | Self::Consume(Start { arguments, .. }) => {
                let entries = arguments.inner().iter();
                entries.map(|(name, value)| name.as_str().len() + value_octets(value)).sum()
            }
            Self::Settle { deliveries, .. } => size_of_val(deliveries.as_slice()),
            Self::Bind { .. } | Self::Qos { .. } | Self::Cancel { .. } | Self::Delete { .. } => 0,
        };
        octets + OVERHEAD
    }
}

fn value_octets(value: &AMQPValue) -> usize {
    ENTRY
        + match value {
            AMQPValue::LongString(text) => text.as_bytes().len(),
            AMQPValue::FieldArray(values) => values.as_slice().iter().map(value_octets).sum(),
            // The others are numbers.
            _ => 0,
        }
}

fn message_octets(message: Outgoing<'_>) -> usize {
    let header = |header: Header<'_>| header.name().len() + header.value().len() + ENTRY;
    message.body.len() + message.headers.iter().map(header).sum::<usize>()
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
                    steps.extend(step(action, message, &mut draw)?);
                }
            }
        }
    }
    Ok(steps)
}

fn step(
    action: Action<'_>,
    message: Option<Outgoing<'_>>,
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
            message.map(|message| {
                let (body, octets) = (message.body.clone(), message_octets(message));
                Step::Publish(Publish { exchange, key, properties, body, octets })
            })
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

#[cfg(test)]
mod tests {
    use stomp_proto::destination::{Planner, PlannerConfig};
    use stomp_proto::{Command, Frame};

    use super::*;
    use crate::names;

    fn octets(frame: &Frame) -> usize {
        let mut planner = Planner::new(PlannerConfig::default());
        let (headers, body) = (frame.headers(), frame.body());
        let (plan, message) = match frame.command() {
            Command::Send => {
                (planner.send(headers, names::queue), Some(Outgoing { headers, body }))
            }
            _ => (planner.subscribe(headers, names::queue), None),
        };
        let steps = steps(vec![Job::Carry { plan: plan.unwrap(), message }], || 0).unwrap();
        steps.iter().map(Step::octets).sum()
    }

    #[test]
    fn what_a_client_may_make_long_counts() {
        let long = "x".repeat(60_000);
        let send = || Frame::builder(Command::Send).header("destination", "/queue/a");
        let subscribe = || {
            let subscribe = Frame::builder(Command::Subscribe).header("destination", "/queue/a");
            subscribe.header("id", "0")
        };
        for (short, long) in [
            (send(), send().header("a", &long)),
            (send(), send().body(long.clone())),
            (subscribe(), subscribe().header("x-dead-letter-exchange", &long)),
            (subscribe(), subscribe().header("x-stream-filter", &long)),
        ] {
            let (short, long) = (octets(&short.build()), octets(&long.build()));
            assert!(short < 10_000 && (60_000..70_000).contains(&long), "{short} {long}");
        }
        let deliveries = vec![Token(0); 1000];
        let settle = Step::Settle { outcome: Outcome::Consumed, deliveries };
        assert!(settle.octets() >= 8000);
    }
}
