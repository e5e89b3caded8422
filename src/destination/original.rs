//! Plans by the design document of 2010, which says nothing of errors, escapes or memory.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::plan::destination;
use super::value::ack_mode;
use super::{
    Action, Arguments, Destination, Kind, PlanError, Planner, Properties, QueueFlags, Subscription,
    TOPIC_EXCHANGE, Unnamed, escape,
};
use crate::Command;
use crate::frame::{Headers, Text};

/// The exchange that `/queue` goes through.
const DIRECT_EXCHANGE: &str = "amq.direct";

impl Planner {
    pub(super) fn subscribe_original(
        &mut self,
        headers: Headers<'_>,
        name: impl FnOnce(Unnamed<'_>) -> String,
    ) -> Result<Vec<Action<'static>>, PlanError> {
        let text = destination(headers, Command::Subscribe)?;
        let destination = parse(&text)?;
        let mode = ack_mode(headers)?;
        let tag = self.free_tag(headers, &text)?;

        // Nothing is refused from here on.
        let (exchange, key) = route(&destination);
        let kind = destination.kind();
        let (queue, flags) = match kind {
            Kind::Queue => (Text::new(key), NAMED),
            Kind::Topic => (Text::new(&name(Unnamed::Subscription)), TOPIC),
            _ => (Text::new(&name(Unnamed::Subscription)), EXCHANGE),
        };
        let mut plan = vec![declare(queue.clone(), flags)];
        if !matches!(destination, Destination::Exchange { key: None, .. }) {
            plan.push(bind(queue.clone(), exchange, key));
        }
        plan.push(Action::Consume {
            queue: queue.clone(),
            tag: tag.clone(),
            mode,
            arguments: Arguments::new(),
        });
        let destination = Text::new(&text);
        self.subscriptions.insert(tag, Subscription { destination, kind, mode, queue });
        Ok(plan)
    }
}

pub(super) fn send(headers: Headers<'_>) -> Result<Vec<Action<'_>>, PlanError> {
    let text = destination(headers, Command::Send)?;
    let destination = parse(&text)?;
    let (exchange, key) = route(&destination);
    let mut plan = Vec::new();
    if destination.kind() == Kind::Queue {
        let queue = Text::new(key);
        plan.push(declare(queue.clone(), NAMED));
        plan.push(bind(queue, exchange, key));
    }
    let (exchange, key) = (Text::new(exchange), Text::new(key));
    plan.push(Action::Publish { exchange, key, properties: Properties::original(headers) });
    Ok(plan)
}

/// `/exchange/<name>[/<key>]`, `/queue/<name>` and `/topic/<name>`; nothing is said of empty parts, of
/// escapes and of anything else.
fn parse(text: &str) -> Result<Destination<'_>, PlanError> {
    let outside = || PlanError::OutsideOriginal(text.into());
    if !text.starts_with('/') || text.contains(escape::SLASH) {
        return Err(outside());
    }
    let destination = Destination::parse(text).map_err(|_| outside())?;
    match &destination {
        Destination::Exchange { key, .. } if key.as_deref() != Some("") => Ok(destination),
        Destination::Queue(_) | Destination::Topic(_) => Ok(destination),
        _ => Err(outside()),
    }
}

fn route<'a>(destination: &'a Destination<'_>) -> (&'a str, &'a str) {
    match destination {
        Destination::Queue(name) => (DIRECT_EXCHANGE, name),
        other => other.route(TOPIC_EXCHANGE),
    }
}

const UNSAID: QueueFlags = QueueFlags { durable: None, auto_delete: None, exclusive: None };
const EXCHANGE: QueueFlags = QueueFlags { auto_delete: Some(true), ..UNSAID };
const NAMED: QueueFlags = QueueFlags { auto_delete: Some(false), ..UNSAID };
const TOPIC: QueueFlags = QueueFlags { exclusive: Some(true), ..UNSAID };

fn declare(queue: Text, flags: QueueFlags) -> Action<'static> {
    Action::Declare { queue, flags, arguments: Arguments::new() }
}

fn bind(queue: Text, exchange: &str, key: &str) -> Action<'static> {
    Action::Bind { queue, exchange: Text::new(exchange), key: Text::new(key) }
}
