//! Field cases about limits and the end of a session.

use stomp_proto::server::{Accept, Delivery, Event, Failure, Reply, Server};
use stomp_proto::{ServerConfig, Session, UsageError};

use crate::harness::{Broker, NOTHING, V1_2, error, ms, receipt, refused};

/// B120: header flood
#[test]
fn b120_a_flood_of_headers_ends_before_the_head_does() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\n");
    for number in 1..=128 {
        broker.feed(format!("h{number}:v\n"));
        assert_eq!(broker.told(), NOTHING);
    }
    broker.feed("h129:v\n");
    let told = broker.told();
    assert!(told[0].contains("TooManyHeaders { limit: 128 }"), "{told:?}");
    assert_eq!(broker.written(), [error("head too large")]);

    let mut broker = Broker::connected(V1_2);
    broker.feed("SENDS");
    let told = broker.told();
    assert!(told[0].contains("UnknownCommand"), "no LF is waited for: {told:?}");
    assert_eq!(broker.written(), [error("unknown command")]);
}

/// B122: smaller budget before login
#[test]
fn b122_whoever_has_not_logged_in_cannot_fill_the_memory() {
    let padding = "x-pad:aaaaaaaa\n";
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\n");
    let mut fed = 0;
    while broker.told().is_empty() {
        broker.feed(padding);
        fed += padding.len();
        assert!(fed <= 16 << 10, "by many small messages as well");
    }
    assert_eq!(broker.written(), [error("head too large")]);
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nx-pad:");
    broker.feed("a".repeat(70_000));
    let told = broker.told();
    assert!(told[0].contains("HeadTooLong { limit: 16384 }"), "{told:?}");
}

/// B123: defaults too small for honest peers
#[test]
fn b123_a_token_fits_into_connect_and_megabytes_into_a_send() {
    let token = "a".repeat(12_000);
    let mut server = Server::<_, u64>::new(ServerConfig::default(), ms(0));
    let connect = format!("CONNECT\naccept-version:1.2\nhost:/\npasscode:{token}\n\n\0");
    server.receive(connect.as_bytes());
    let Some(Event::Connect { frame, reply }) = server.poll_event(ms(0)) else { panic!("no") };
    assert_eq!(frame.passcode().as_deref(), Some(&*token));
    server.accept(reply, &Accept::new("s")).unwrap();
    let selector = "s".repeat(50_000);
    let body = vec![0; 10 << 20];
    let head = format!("SEND\ndestination:/q\nselector:{selector}\ncontent-length:10485760\n\n");
    server.receive(&[head.as_bytes(), &body, b"\0"].concat());
    let Some(Event::Send { frame, .. }) = server.poll_event(ms(0)) else { panic!("no SEND") };
    assert_eq!(frame.body().len(), 10 << 20);
    assert_eq!(frame.headers().get("selector").as_deref(), Some(&*selector));
}

/// B124: ERROR without closing
#[test]
fn b124_error_is_the_last_frame() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    broker.server.fail(None::<Reply>, &Failure::new("x")).unwrap();
    let delivery = Delivery::builder("/q").body("x").build();
    assert_eq!(refused(broker.try_deliver(0, &delivery, 1), 1), UsageError::Closed);
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.written(), ["ERROR\nmessage:x\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

/// B125: ERROR lost because the close came first
#[test]
fn b125_output_first_then_the_close() {
    let mut broker = Broker::connected(V1_2);
    broker.server.fail(None::<Reply>, &Failure::new("not_found")).unwrap();
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    let error = "ERROR\nmessage:not_found\n\n\0";
    for octet in error.chars() {
        assert!(!broker.server.wants_shutdown() && !broker.server.is_finished());
        assert_eq!(broker.take(1), octet.to_string());
    }
    assert!(broker.server.wants_shutdown(), "now there is nothing left");
    assert!(!broker.server.is_finished(), "the peer reads it before it closes");
    broker.server.handle_eof();
    assert!(broker.server.is_finished());
}

/// B126: close without DISCONNECT, and work lost on DISCONNECT
#[test]
fn b126_what_came_before_the_end_is_worked_on() {
    let sends = "SEND\ndestination:/q\n\n1\0SEND\ndestination:/q\n\n2\0";
    let mut broker = Broker::connected(V1_2);
    broker.feed(format!("{sends}DISCONNECT\nreceipt:77\n\n\0"));
    broker.server.handle_eof();
    for told in ["SEND /q \"1\"", "SEND /q \"2\"", "DISCONNECT"] {
        assert_eq!(broker.next().as_deref(), Some(told));
        broker.confirm();
    }
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    assert_eq!(broker.written(), [receipt("77")], "although the client has ended its stream");
    assert!(broker.server.is_finished());

    let mut broker = Broker::connected(V1_2);
    broker.feed(sends);
    broker.server.handle_eof();
    assert_eq!(broker.told(), ["SEND /q \"1\"", "SEND /q \"2\"", "CLOSED Eof []"]);
}

/// B128: ERROR without message header, or with secrets
#[test]
fn b128_an_error_has_a_message_and_no_secrets() {
    for connect in [
        "CONNECT\naccept-version:7\npasscode:hush\nlogin:hush\n\n\0",
        "CONNECT\naccept-version:1.2\npasscode:hush\nlogin:hush\nheart-beat:hush\n\n\0",
        "CONNECT\naccept-version:1.2\npasscode:hush\nlogin\n\n\0",
        "CONNECT\naccept-version:1.2\nhost:h\npasscode:hush\n\nhush\0",
        "CONNECT\npasscode:hush\0",
        "SEND\npasscode:hush\n\nhush\0",
    ] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(connect);
        let told = broker.told();
        assert!(told[0].starts_with("CLOSED Protocol(") && !told[0].contains("hush"), "{told:?}");
        let written = broker.written();
        assert!(written[0].contains("\nmessage:") && !written[0].contains("hush"), "{written:?}");
        assert!(!format!("{:?}", broker.server).contains("hush"));
    }
}
