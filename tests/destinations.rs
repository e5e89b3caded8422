//! Destinations and plans: the vectors and the field cases.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a vector that cannot be read is a failure")]

use serde_json::{Map, Value, json};
use stomp_proto::codec::{Decoder, DecoderConfig, Item};
use stomp_proto::destination::{
    Action, Argument, Arguments, ConsumerTag, Destination, PlanError, Planner, PlannerConfig,
    QueueFlags, Scheme, Unnamed, message_destination,
};
use stomp_proto::frame::AckMode;
use stomp_proto::{Command, Frame, Version};

const VECTORS: &str = include_str!("data/destination-vectors.jsonl");

#[test]
fn parse_vectors_hold() {
    for vector in vectors("parse", 34) {
        let text = string(&vector["in"]);
        match Destination::parse(text) {
            Ok(destination) => assert_eq!(read_out(&destination), vector["out"], "{vector}"),
            Err(error) => assert_error(error.message(), &error.body(), &vector),
        }
    }
}

#[test]
fn format_vectors_hold() {
    for vector in vectors("format", 12) {
        let text = message_destination(string(&vector["exchange"]), string(&vector["key"]));
        assert_eq!(text, vector["out"], "{vector}");
    }
}

#[test]
fn plan_vectors_hold() {
    for vector in vectors("plan", 47) {
        let mut config = PlannerConfig::default();
        let original = vector["variant"] == "original";
        config.scheme = if original { Scheme::Original } else { Scheme::Current };
        if let Some(exchange) = vector["topic"].as_str() {
            config.topic_exchange = exchange.into();
        }
        let mut planner = Planner::new(config);
        for queue in list(&vector["known"]) {
            send(&mut planner, &[("destination", &format!("/queue/{}", string(queue)))]).unwrap();
        }
        for tag in list(&vector["subs"]) {
            let headers = match string(tag).split_at(2) {
                ("T_", id) => vec![("id", id), ("destination", "/amq/queue/other")],
                ("Q_", destination) => vec![("destination", destination)],
                other => panic!("{other:?}"),
            };
            subscribe(&mut planner, &headers).unwrap();
        }
        let mut headers = Vec::new();
        headers.extend(vector["destination"].as_str().map(|text| ("destination", text)));
        let others = list(&vector["headers"]).iter();
        headers.extend(others.map(|header| (string(&header[0]), string(&header[1]))));
        let generated = |_: Unnamed<'_>| {
            String::from(if original { "<server-named>" } else { "<stomp-subscription>" })
        };
        let command = match string(&vector["frame"]) {
            "SEND" => Command::Send,
            "SUBSCRIBE" => Command::Subscribe,
            other => panic!("{other}"),
        };
        match plan(&mut planner, &frame(command, &headers), generated) {
            Ok(actions) => assert_eq!(Value::Array(actions), vector["actions"], "{vector}"),
            Err(error) => assert_error(error.message(), &error.body(), &vector),
        }
    }
}

/// field case B108
#[test]
fn a_destination_that_is_empty_or_missing_or_names_nothing_is_an_error() {
    for version in Version::ALL {
        for scheme in [Scheme::Original, Scheme::Current] {
            for (octets, message, body) in [
                ("SUBSCRIBE\nid:1\ndestination:\n\n\0", "Invalid", "Destination cannot be blank"),
                ("SEND\ndestination:\n\nx\0", "Invalid", "Destination cannot be blank"),
                ("SEND\ndestination:/queue/\n\nx\0", "Invalid", "'/' is not a valid queue "),
                ("SEND\ndestination:/topic/\n\nx\0", "Invalid", "'/' is not a valid topic "),
                ("SEND\ndestination:/exchange/\n\nx\0", "Invalid", "'/' is not a valid exchange "),
                ("SEND\ndestination:/queue\n\nx\0", "Invalid", "'' is not a valid queue "),
                ("SEND\ndestination:/amq/queue/\n\nx\0", "Invalid", "'/' is not a valid amqqueue "),
                ("SEND\ndestination:/\n\nx\0", "Unknown", "'/' is not a valid destination.\n"),
                ("SEND\n\nx\0", "Missing", "\"SEND\" must include a 'destination' header\n"),
                ("SUBSCRIBE\nid:1\n\n\0", "Missing", "\"SUBSCRIBE\" must include a "),
                ("SEND\nDestination:/queue/a\n\nx\0", "Missing", "\"SEND\" must include a "),
            ] {
                let mut planner = planner(scheme);
                let error = plan_octets(&mut planner, version, octets.as_bytes()).unwrap_err();
                if scheme == Scheme::Current || message == "Missing" {
                    assert_eq!(error.message(), format!("{message} destination"), "{octets:?}");
                    assert!(error.body().starts_with(body), "{octets:?}: {:?}", error.body());
                } else {
                    assert_eq!(error.message(), "Unknown destination", "{octets:?}");
                }
            }
        }
    }
}

/// field case B109
#[test]
fn slashes_split_before_escapes_are_undone() {
    let queue = |name: &str| json!([declared(name), ["publish", "", name]]);
    for (octets, expected) in [
        ("SEND\ndestination:/queue/a%2Fb%25c\n\nx\0", queue("a/b%25c")),
        ("SEND\ndestination:/queue/a%2fb\n\nx\0", queue("a%2fb")),
        ("SEND\ndestination:/queue/%2F\n\nx\0", queue("/")),
        ("SEND\ndestination:/queue/100%\n\nx\0", queue("100%")),
        ("SEND\ndestination:/queue/\u{e9}\n\nx\0", queue("\u{e9}")),
        ("SEND\ndestination:foo\n\nx\0", queue("foo")),
        ("SEND\ndestination:foo%2Fbar\n\nx\0", queue("foo/bar")),
        (
            "SEND\ndestination:/reply-queue/amq.gen-a/b\n\nx\0",
            json!([["publish", "", "amq.gen-a/b"]]),
        ),
        ("SEND\ndestination:/exchange/logs/eu.%2F\n\nx\0", json!([["publish", "logs", "eu./"]])),
    ] {
        for version in Version::ALL {
            let plan = plan_octets(&mut planner(Scheme::Current), version, octets.as_bytes());
            assert_eq!(plan.map(Value::Array), Ok(expected.clone()), "{octets:?}");
        }
    }
    for version in [Version::V1_1, Version::V1_2] {
        let octets = b"SEND\ndestination:/queue/a\\cb\\\\c\n\nx\0";
        let plan = plan_octets(&mut planner(Scheme::Current), version, octets);
        assert_eq!(plan.map(Value::Array), Ok(queue(r"a:b\c")), "the escapes of STOMP come first");
    }
    for (octets, body) in [
        ("SEND\ndestination:/queue/a/b\n\nx\0", "'/a/b' is not a valid queue destination\n"),
        ("SEND\ndestination:/topic/a/\n\nx\0", "'/a/' is not a valid topic destination\n"),
        ("SEND\ndestination:/exchange//k\n\nx\0", "'//k' is not a valid exchange destination\n"),
        ("SEND\ndestination:/exchange/a/b/c\n\nx\0", "'/a/b/c' is not a valid exchange "),
        ("SEND\ndestination:/amq/queue/a/b\n\nx\0", "'/a/b' is not a valid amqqueue "),
    ] {
        let plan = plan_octets(&mut planner(Scheme::Current), Version::V1_2, octets.as_bytes());
        assert!(plan.unwrap_err().body().starts_with(body), "{octets:?}");
    }
}

/// field case B109, on the way out
#[test]
fn a_message_names_its_queue_with_escapes_that_lead_back_to_it() {
    for name in ["a/b%c", "100%", "a%2Fb", "\u{e9}", "a b", "%"] {
        let text = message_destination("", name);
        assert!(text.is_ascii(), "{text}");
        assert_eq!(Destination::from_message(&text), Ok(Destination::Queue(name.into())));
    }
}

/// field case B111
#[test]
fn unsubscribe_acts_on_what_subscribe_recorded_and_on_nothing_that_it_names_itself() {
    const HOSTILE: [(&str, &str); 5] = [
        ("id", "s1"),
        ("durable", "true"),
        ("x-queue-name", "victim"),
        ("destination", "/topic/victim"),
        ("x-queue-type", "quorum"),
    ];
    let mut planner = planner(Scheme::Current);
    let unknown = PlanError::UnknownSubscription(ConsumerTag::of_id("s1"));
    assert_eq!(unsubscribe(&mut planner, &HOSTILE), Err(unknown), "nothing is recorded");
    for (destination, durable, deleted) in [
        ("/topic/t", "durable", true),
        ("/topic/t", "persistent", true),
        ("/exchange/e/k", "durable", false),
        ("/queue/q", "durable", false),
        ("/amq/queue/q", "persistent", false),
    ] {
        let headers = [("id", "s1"), ("destination", destination), (durable, "true")];
        let plan = subscribe(&mut planner, &headers).unwrap();
        let consume = plan.iter().find(|action| action[0] == "consume").unwrap();
        let queue = consume[1].clone();
        let delete = deleted.then(|| json!(["delete", queue]));
        let expected: Vec<_> = [json!(["cancel", "T_s1"])].into_iter().chain(delete).collect();
        assert_eq!(unsubscribe(&mut planner, &HOSTILE), Ok(expected), "{headers:?}");
    }
}

/// field case B111
#[test]
fn a_durable_subscription_is_found_again_and_stays_unless_unsubscribe_says_durable() {
    let headers = [("destination", "/topic/t"), ("id", "s1"), ("persistent", "true")];
    for alias in ["durable", "persistent"] {
        let sessions = [planner(Scheme::Current), planner(Scheme::Current)];
        let [first, second] = sessions.map(|mut planner| {
            let plan = subscribe(&mut planner, &headers).unwrap();
            (planner, plan)
        });
        assert_eq!(first.1, second.1, "the same queue, by its name");
        let (mut planner, plan) = first;
        let cancel = json!(["cancel", "T_s1"]);
        assert_eq!(unsubscribe(&mut planner, &[("id", "s1")]), Ok(vec![cancel.clone()]), "stays");
        assert_eq!(subscribe(&mut planner, &headers).unwrap(), plan, "the id is free again");
        let plan = unsubscribe(&mut planner, &[("id", "s1"), (alias, "True")]);
        assert_eq!(plan, Ok(vec![cancel, json!(["delete", "durable amq.topic t s1"])]));
    }
    let mut planner = planner(Scheme::Current);
    let named = [&headers[..], &[("x-queue-name", "mine")]].concat();
    subscribe(&mut planner, &named).unwrap();
    let plan = unsubscribe(&mut planner, &[("id", "s1"), ("durable", "true")]).unwrap();
    assert_eq!(plan[1], json!(["delete", "mine"]), "by the name of the SUBSCRIBE");
}

fn vectors(op: &str, count: usize) -> Vec<Value> {
    let vectors = VECTORS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let vectors: Vec<_> = vectors.filter(|vector| vector["op"] == op).collect();
    assert_eq!(vectors.len(), count);
    vectors
}

fn planner(scheme: Scheme) -> Planner {
    let mut config = PlannerConfig::default();
    config.scheme = scheme;
    Planner::new(config)
}

fn frame(command: Command, headers: &[(&str, &str)]) -> Frame {
    let start = Frame::builder(command);
    headers.iter().fold(start, |frame, (name, value)| frame.header(name, value)).build()
}

fn subscribe(planner: &mut Planner, headers: &[(&str, &str)]) -> Result<Vec<Value>, PlanError> {
    plan(planner, &frame(Command::Subscribe, headers), generated)
}

fn send(planner: &mut Planner, headers: &[(&str, &str)]) -> Result<Vec<Value>, PlanError> {
    plan(planner, &frame(Command::Send, headers), generated)
}

fn unsubscribe(planner: &mut Planner, headers: &[(&str, &str)]) -> Result<Vec<Value>, PlanError> {
    plan(planner, &frame(Command::Unsubscribe, headers), generated)
}

/// Plans for the first frame of a stream.
fn plan_octets(
    planner: &mut Planner,
    version: Version,
    octets: &[u8],
) -> Result<Vec<Value>, PlanError> {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(version);
    decoder.push(octets);
    let Some(Item::Frame(frame)) = decoder.next_item().unwrap() else { panic!("no frame") };
    plan(planner, &frame, generated)
}

/// Plans for a frame; the plan as the vectors write it.
fn plan(
    planner: &mut Planner,
    frame: &Frame,
    name: impl FnOnce(Unnamed<'_>) -> String,
) -> Result<Vec<Value>, PlanError> {
    let headers = frame.headers();
    let plan = match frame.command() {
        Command::Subscribe => planner.subscribe(headers, name),
        Command::Send => planner.send(headers, name),
        Command::Unsubscribe => planner.unsubscribe(headers),
        other => panic!("{other}"),
    };
    Ok(plan?.into_iter().map(plain).collect())
}

fn generated(unnamed: Unnamed<'_>) -> String {
    match unnamed {
        Unnamed::Subscription => "generated".into(),
        Unnamed::Durable { exchange, key, id } => format!("durable {exchange} {key} {id}"),
        Unnamed::TempQueue(temp) => format!("reply {temp}"),
    }
}

fn plain(action: Action<'_>) -> Value {
    match action {
        Action::CheckTopicRead { exchange, key } => json!(["check_topic_read", *exchange, *key]),
        Action::Declare { queue, flags, arguments: of_queue } => {
            json!(["declare", *queue, flags_of(flags), arguments(of_queue)])
        }
        Action::Bind { queue, exchange, key } => json!(["bind", *queue, *exchange, *key]),
        Action::Qos { prefetch_count } => json!(["qos", prefetch_count]),
        Action::Consume { queue, tag, mode, arguments: of_consumer } => {
            let no_ack = mode == AckMode::Auto;
            match arguments(of_consumer) {
                none if none.is_empty() => json!(["consume", *queue, tag.as_str(), no_ack]),
                some => json!(["consume", *queue, tag.as_str(), no_ack, some]),
            }
        }
        Action::Publish { exchange, key, .. } => json!(["publish", *exchange, *key]),
        Action::Cancel { tag } => json!(["cancel", tag.as_str()]),
        Action::Delete { queue } => json!(["delete", *queue]),
    }
}

fn declared(queue: &str) -> Value {
    let flags = json!({"durable": true, "auto_delete": false, "exclusive": false});
    json!(["declare", queue, flags, {}])
}

fn flags_of(flags: QueueFlags) -> Map<String, Value> {
    let QueueFlags { durable, auto_delete, exclusive } = flags;
    [("durable", durable), ("auto_delete", auto_delete), ("exclusive", exclusive)]
        .into_iter()
        .filter_map(|(name, flag)| Some((name.into(), flag?.into())))
        .collect()
}

fn arguments(arguments: Arguments) -> Map<String, Value> {
    let value = |argument| match argument {
        Argument::Text(text) => text.as_str().into(),
        Argument::Integer(number) => number.into(),
        Argument::Boolean(flag) => flag.into(),
        Argument::Timestamp(seconds) => seconds.into(),
        Argument::Texts(texts) => texts.iter().map(|text| Value::from(text.as_str())).collect(),
    };
    arguments.into_iter().map(|(name, argument)| (name.into(), value(argument))).collect()
}

fn read_out(destination: &Destination<'_>) -> Value {
    match destination {
        Destination::Exchange { name, key } => json!(["exchange", name, key]),
        Destination::Queue(name) => json!(["queue", name]),
        Destination::Topic(name) => json!(["topic", name]),
        Destination::AmqQueue(name) => json!(["amqqueue", name]),
        Destination::ReplyQueue(name) => json!(["reply_queue", name]),
        Destination::TempQueue(name) => json!(["temp_queue", name]),
    }
}

fn assert_error(message: &str, body: &str, vector: &Value) {
    assert_eq!((message, body), (string(&vector["message"]), string(&vector["body"])), "{vector}");
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
