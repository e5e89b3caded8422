//! Any destination, and any frame that names one: it has its way back, plans are in order, and what
//! is refused leaves no trace.

#![no_main]

mod script;

use libfuzzer_sys::fuzz_target;
use script::Script;
use stomp_proto::destination::{
    Action, Destination, Planner, PlannerConfig, Scheme, Unnamed, message_destination,
};
use stomp_proto::{Command, Frame};

fuzz_target!(|input: &[u8]| {
    let Some((mut script, octets)) = Script::of(input) else { return };
    let Ok(text) = core::str::from_utf8(octets) else { return };
    grammar(text);
    plans(&mut script, text);
});

fn grammar(text: &str) {
    if let Ok(destination) = Destination::parse(text) {
        let written = destination.to_string();
        // `%2F` is a slash: what is read is written as it can be read again.
        assert_eq!(Destination::parse(&written).as_ref(), Ok(&destination), "{written}");
    }
    let (exchange, key) = text.split_once('\n').unwrap_or(("", text));
    let written = message_destination(exchange, key);
    // DEL alone is not escaped.
    let is_plain = |octet: u8| (b' '..=0x7f).contains(&octet);
    assert!(written.bytes().all(is_plain), "{written}");
    let _: Result<_, _> = Destination::from_message(&written);
    let _: Result<_, _> = Destination::from_message(text);
}

/// One frame a line: a letter for the command, then headers that tabs part.
fn plans(script: &mut Script<'_>, text: &str) {
    let mut config = PlannerConfig::default();
    config.scheme = script.pick(&[Scheme::Current, Scheme::Original]);
    (config.max_queues, config.max_subscriptions, config.max_temp_queues) = (3, 3, 2);
    let mut planner = Planner::new(config);
    let mut drawn = 0;
    for line in text.lines() {
        let mut parts = line.split('\t');
        let command = match parts.next() {
            Some("S") => Command::Send,
            Some("U") => Command::Unsubscribe,
            _ => Command::Subscribe,
        };
        let headers = parts.filter_map(|header| header.split_once(':'));
        let frame =
            headers.fold(Frame::builder(command), |it, (name, value)| it.header(name, value));
        let frame = frame.build();
        let name = |unnamed: Unnamed<'_>| {
            drawn += 1;
            format!("{drawn}-{unnamed:?}")
        };
        let before = planner.clone();
        let plan = match command {
            Command::Send => planner.send(frame.headers(), name),
            Command::Unsubscribe => planner.unsubscribe(frame.headers()),
            _ => planner.subscribe(frame.headers(), name),
        };
        match plan {
            Ok(plan) => check(command, &plan),
            Err(error) => {
                assert!(!error.message().is_empty());
                let _: String = error.body();
                assert_eq!(format!("{planner:?}"), format!("{before:?}"), "a trace of {error}");
            }
        }
    }
}

fn check(command: Command, plan: &[Action<'_>]) {
    let place = |is: fn(&Action<'_>) -> bool| plan.iter().position(is);
    let declared = place(|action| matches!(action, Action::Declare { .. }));
    let consumes = place(|action| matches!(action, Action::Consume { .. }));
    assert!(declared.is_none() || consumes.is_none() || declared < consumes);
    match command {
        Command::Send => assert!(matches!(plan.last(), Some(Action::Publish { .. }))),
        Command::Unsubscribe => assert!(matches!(plan.first(), Some(Action::Cancel { .. }))),
        _ => assert!(consumes.is_some()),
    }
}
