//! What is for debugging shows no credential, whatever holds one. Of ERROR that is told by the tests of
//! the server.

use core::cell::RefCell;
use core::fmt::Debug;
use core::time::Duration;

use stomp_proto::client::{AckRequest, SendRequest, SubscribeRequest};
use stomp_proto::codec::{Decoder, DecoderConfig, Scanner, Step};
use stomp_proto::destination::{Planner, PlannerConfig};
use stomp_proto::server::{Accept, Complaint, Delivery, Event, ServerConfig, Wording};
use stomp_proto::{
    Client, ClientConfig, CloseReason, Command, Frame, MalformedHeader, Server, Session, Version,
};

const LOGIN: &str = "hush-login";
const PASSCODE: &str = "hush-passcode";
/// In the spellings that a careless client may use.
const HEADERS: [(&str, &str); 6] = [
    ("login", LOGIN),
    ("passcode", PASSCODE),
    ("Login", LOGIN),
    ("PassCode", PASSCODE),
    ("passcode ", PASSCODE),
    ("Authorization", PASSCODE),
];

#[track_caller]
fn check(what: impl Debug) {
    for shown in [format!("{what:?}"), format!("{what:#?}")] {
        assert!(!shown.contains("hush"), "{shown}");
        // As a list of numbers.
        assert!(!shown.replace(char::is_whitespace, "").contains("104,117,115,104"), "{shown}");
    }
}

fn frame(command: Command) -> Frame {
    let start = Frame::builder(command).header("destination", "/topic/a");
    HEADERS.iter().fold(start, |frame, (name, value)| frame.header(name, value)).build()
}

fn octets(command: Command) -> Vec<u8> {
    let lines = HEADERS.map(|(name, value)| format!("{name}:{value}\n")).concat();
    format!("{command}\ndestination:/topic/a\naccept-version:1.2\n{lines}\n\0").into_bytes()
}

#[test]
fn frames_and_their_headers() {
    for command in [Command::Connect, Command::Stomp, Command::Send, Command::Message] {
        let frame = frame(command);
        check(&frame);
        check(frame.headers());
        frame.headers().iter().for_each(|header| check(header));
        let start = Frame::builder(command);
        check(HEADERS.iter().fold(start, |it, (name, value)| it.header(name, value)));
        check(CloseReason::Error { frame: Box::new(frame), receipt: None });
    }
}

#[test]
fn decoders_with_and_without_a_whole_frame() {
    let octets = octets(Command::Connect);
    for end in 0..=octets.len() {
        let mut decoder = Decoder::new(DecoderConfig::default());
        decoder.push(&octets[..end]);
        check(&decoder);
        check(decoder.next_item());
        check(&decoder);
        let mut scanner = Scanner::new(DecoderConfig::default());
        if let Ok(Step::Frame { frame, .. }) = scanner.advance(&octets[..end]) {
            check(frame);
        }
        check(scanner.advance(&octets[..end]));
    }
}

#[test]
fn malformed_lines_that_are_kept() {
    let mut config = DecoderConfig::default();
    config.malformed_header = MalformedHeader::Keep;
    let mut decoder = Decoder::new(config);
    decoder.push(b"CONNECTED\npasscode hush-passcode\n:hush-passcode\nlogin:hush-login\xff\n\n\0");
    let item = decoder.next_item().unwrap();
    assert!(item.is_some());
    check(item);
}

#[test]
fn requests_and_configurations() {
    let config = ClientConfig::new("h").login(LOGIN).passcode(PASSCODE);
    let config = HEADERS[2..].iter().fold(config, |it, (name, value)| it.header(*name, *value));
    check(&config);
    let mut client = Client::new(config, Duration::ZERO).unwrap();
    check(&client);
    check(client.outbox());
    check(client.outbox().next_frame());
    let mut send = SendRequest::new("/topic/a");
    let mut subscribe = SubscribeRequest::new("/topic/a").ack(stomp_proto::client::AckMode::Client);
    for (name, value) in HEADERS {
        send = send.header(name, value);
        subscribe = subscribe.header(name, value);
    }
    check(send);
    check(&subscribe);
    client.receive(b"CONNECTED\nversion:1.2\n\n\0");
    check(client.poll_event(Duration::ZERO));
    client.subscribe(&subscribe).unwrap();
    let message = octets(Command::Message);
    let message = String::from_utf8(message).unwrap();
    let ours = "MESSAGE\nsubscription:1\nmessage-id:1\nack:1\n";
    client.receive(message.replace("MESSAGE\n", ours).as_bytes());
    let event = client.poll_event(Duration::ZERO);
    check(&event);
    let Some(stomp_proto::client::Event::Message(message)) = event else { panic!("no message") };
    check(message.headers());
    let token = message.token().unwrap();
    check(HEADERS.iter().fold(AckRequest::new(&token), |it, (name, value)| it.header(name, value)));
}

#[test]
fn what_a_server_makes_of_them() {
    let mut server = Server::<_, ()>::new(ServerConfig::default(), Duration::ZERO);
    server.receive(&octets(Command::Connect));
    let event = server.poll_event(Duration::ZERO);
    check(&event);
    let Some(Event::Connect { reply, .. }) = event else { panic!("no CONNECT") };
    let accept =
        HEADERS.iter().fold(Accept::new("s"), |it, (name, value)| it.header(*name, *value));
    check(&accept);
    server.accept(reply, &Accept::new("s")).unwrap();
    server.receive(&octets(Command::Send));
    let event = server.poll_event(Duration::ZERO);
    check(&event);
    let Some(Event::Send { frame, reply }) = event else { panic!("no SEND") };
    server.confirm(reply).unwrap();
    check(Delivery::relay(&frame));
    check(Delivery::relay(&frame).build());
    let mut planner = Planner::new(PlannerConfig::default());
    check(planner.send(frame.headers(), |_| String::new()));
    check(planner);
    check(server.outbox());
    check(server);
}

thread_local! {
    static COMPLAINTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn what_a_wording_is_told() {
    let mut config = ServerConfig::default();
    config.wording = Some(Wording::new(|complaint: Complaint<'_>| {
        check(complaint);
        assert_eq!(complaint.version, Some(Version::V1_2));
        COMPLAINTS.with_borrow_mut(|seen| seen.push(format!("{complaint:?}")));
        None
    }));
    let unread = format!("{PASSCODE}\n");
    let duplicate = octets(Command::Connect);
    for wrong in [unread.as_bytes(), &duplicate] {
        let mut server = Server::<_, ()>::new(config.clone(), Duration::ZERO);
        server.receive(b"CONNECT\naccept-version:1.2\n\n\0");
        let Some(Event::Connect { reply, .. }) = server.poll_event(Duration::ZERO) else {
            panic!()
        };
        server.accept(reply, &Accept::new("s")).unwrap();
        server.receive(wrong);
        server.receive(unread.as_bytes());
        check(server.poll_event(Duration::ZERO));
    }
    let [decode, again] = &COMPLAINTS.take()[..] else { panic!("not told of both") };
    assert!(decode.contains("UnknownCommand") && decode.contains("unread: 28"), "{decode}");
    assert!(again.contains("UnexpectedFrame") && again.contains("unread: 14"), "{again}");
}
