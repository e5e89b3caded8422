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
        let (queue, flags) = match &destination {
            Destination::Queue(queue) => (Text::new(queue), NAMED),
            Destination::Topic(_) => (Text::new(&name(Unnamed::Subscription)), TOPIC),
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

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::Frame;
    use crate::destination::{ConsumerTag, PlannerConfig, Scheme};
    use crate::frame::AckMode;

    fn planner() -> Planner {
        let config = PlannerConfig { scheme: Scheme::Original, ..PlannerConfig::default() };
        Planner::new(config)
    }

    fn frame(headers: &[(&str, &str)]) -> Frame {
        let start = Frame::builder(Command::Send);
        headers.iter().fold(start, |frame, (name, value)| frame.header(name, value)).build()
    }

    /// requirement RD-01
    #[test]
    fn no_header_is_read_but_those_of_the_protocol() {
        let headers = [
            ("id", "0"),
            ("ack", "client"),
            ("durable", "perhaps"),
            ("prefetch-count", "many"),
            ("x-queue-name", "mine"),
            ("x-queue-type", "quorum"),
            ("x-priority", "high"),
            ("reply-to", "/temp-queue/a"),
            ("message-id", "1"),
            ("priority", "high"),
        ];
        let mut planner = planner();
        let topic = [&headers[..], &[("destination", "/topic/t")]].concat();
        let plan = planner.subscribe(frame(&topic).headers(), |_| "generated".into()).unwrap();
        let [Action::Declare { queue, flags, .. }, Action::Bind { .. }, consume] = &plan[..] else {
            panic!("{plan:?}")
        };
        assert_eq!(*queue, "generated");
        assert_eq!(*flags, TOPIC);
        let Action::Consume { mode: AckMode::Client, arguments, .. } = consume else {
            panic!("{consume:?}")
        };
        assert!(arguments.is_empty());
        let unsubscribe = frame(&[("destination", "/topic/t"), ("durable", "true"), ("id", "0")]);
        let plan = planner.unsubscribe(unsubscribe.headers()).unwrap();
        assert!(matches!(plan[..], [Action::Cancel { .. }]), "nothing is deleted");

        let queue = frame(&[&headers[..], &[("destination", "/queue/q")]].concat());
        for _ in 0..2 {
            let plan = planner.send(queue.headers(), |_| panic!("no name is needed")).unwrap();
            let [Action::Declare { .. }, Action::Bind { .. }, Action::Publish { .. }] = plan[..]
            else {
                panic!("{plan:?}: every frame declares")
            };
        }
    }

    /// destinations.md, chapter 2
    #[test]
    fn what_the_document_does_not_name_is_unknown() {
        for destination in [
            "",
            "foo",
            "/",
            "/queue",
            "/queue/",
            "/queue/a/b",
            "/queue/a%2Fb",
            "/topic/",
            "/exchange/",
            "/exchange//k",
            "/exchange/e/",
            "/exchange/e/k/l",
            "/amq/queue/a",
            "/reply-queue/a",
            "/temp-queue/a",
            "/Queue/a",
        ] {
            let frame = frame(&[("destination", destination)]);
            let error = PlanError::OutsideOriginal(destination.into());
            let mut planner = planner();
            let refused = planner.subscribe(frame.headers(), |_| "generated".into());
            assert_eq!(refused.unwrap_err(), error);
            assert_eq!(planner.send(frame.headers(), |_| "generated".into()).unwrap_err(), error);
        }
        for destination in ["/queue/100%", "/topic/a.*.#", "/exchange/e/k%2f"] {
            assert!(parse(destination).is_ok(), "{destination}");
        }
    }

    #[test]
    fn subscriptions_are_known_by_id_or_destination_as_ever() {
        let mut planner = planner();
        let frame = frame(&[("destination", "/queue/q")]);
        planner.subscribe(frame.headers(), |_| "generated".into()).unwrap();
        let tag = ConsumerTag::of_destination("/queue/q");
        let refused = planner.subscribe(frame.headers(), |_| "generated".into());
        assert_eq!(refused.unwrap_err(), PlanError::Duplicate(tag.clone()));
        planner.unsubscribe(frame.headers()).unwrap();
        let refused = planner.unsubscribe(frame.headers());
        assert_eq!(refused.unwrap_err(), PlanError::UnknownSubscription(tag));
        assert_eq!(format!("{:?}", planner.subscription("Q_/queue/q")), "None");
    }
}
