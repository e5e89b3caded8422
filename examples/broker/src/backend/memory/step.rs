//! Jobs in the backend's own words, so that they can wait for room.

use alloc::sync::Arc;

use stomp_proto::Text;
use stomp_proto::destination::{Action, ConsumerTag, QueueFlags};
use stomp_proto::frame::AckMode;

use super::Token;
use super::message::{Held, Message};
use crate::backend::{Job, Outcome};

#[derive(Debug)]
pub(super) enum Step {
    Declare { queue: Text, flags: QueueFlags },
    Bind { queue: Text, exchange: Text, key: Text },
    Qos { prefetch_count: u16 },
    Consume { queue: Text, tag: ConsumerTag, mode: AckMode },
    Publish { exchange: Text, key: Text, message: Arc<Message> },
    Cancel { tag: ConsumerTag },
    Delete { queue: Text },
    Settle { outcome: Outcome, deliveries: Vec<Token> },
}

impl Step {
    /// The names and keys in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let names: [&str; 3] = match self {
            Self::Declare { queue, .. } | Self::Delete { queue } => [queue, "", ""],
            Self::Bind { queue, exchange, key } => [queue, exchange, key],
            Self::Consume { queue, tag, .. } => [queue, tag.as_str(), ""],
            Self::Publish { exchange, key, .. } => [exchange, key, ""],
            Self::Cancel { tag } => [tag.as_str(), "", ""],
            Self::Qos { .. } | Self::Settle { .. } => ["", "", ""],
        };
        names.into_iter()
    }
}

/// The steps of jobs that are to be carried out as one.
pub(super) fn steps(jobs: Vec<Job<'_, Token>>, held: &Held) -> Vec<Step> {
    let mut steps = Vec::new();
    for job in jobs {
        match job {
            Job::Settle(outcome, deliveries) => steps.push(Step::Settle { outcome, deliveries }),
            Job::Carry { plan, message } => {
                for action in plan {
                    steps.extend(match action {
                        // Everybody may read everything, and arguments are not looked at.
                        Action::CheckTopicRead { .. } => None,
                        Action::Declare { queue, flags, arguments: _ } => {
                            Some(Step::Declare { queue, flags })
                        }
                        Action::Bind { queue, exchange, key } => {
                            Some(Step::Bind { queue, exchange, key })
                        }
                        Action::Qos { prefetch_count } => Some(Step::Qos { prefetch_count }),
                        Action::Consume { queue, tag, mode, arguments: _ } => {
                            Some(Step::Consume { queue, tag, mode })
                        }
                        Action::Publish { exchange, key, properties } => message.map(|sent| {
                            let message = Message::new(sent, &exchange, &key, &properties, held);
                            Step::Publish { exchange, key, message: Arc::new(message) }
                        }),
                        Action::Cancel { tag } => Some(Step::Cancel { tag }),
                        Action::Delete { queue } => Some(Step::Delete { queue }),
                    });
                }
            }
        }
    }
    steps
}
