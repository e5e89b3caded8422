//! The end of a session: output first, then our end of the stream, then theirs, and silence.

use stomp_proto::server::{Accept, Delivery, Event, Failure, Reply, Server};
use stomp_proto::{ServerConfig, Session, UsageError};

use crate::harness::{Broker, NOTHING, V1_2, error, limited, ms, receipt, refused};

fn failed() -> Broker {
    let mut broker = Broker::connected(V1_2);
    broker.server.fail(None::<Reply>, &Failure::new("going down")).unwrap();
    broker
}

/// requirement ER-002, field cases B124 and B125
#[test]
fn error_leaves_before_the_stream_is_ended() {
    let mut broker = failed();
    assert!(!broker.server.wants_shutdown());
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert!(!broker.server.wants_shutdown(), "still to be written");
    assert_eq!(broker.take(5), "ERROR");
    assert!(!broker.server.wants_shutdown(), "half of it is");
    assert_eq!(broker.written(), ["\nmessage:going down\n\n\0"]);
    assert!(broker.server.wants_shutdown() && !broker.server.is_finished());
    assert!(broker.server.wants_read(), "until the peer ends its stream");
    broker.feed("SEND\ndestination:/q\n\nlate\0");
    assert_eq!(broker.told(), NOTHING);
    broker.server.handle_eof();
    assert!(broker.server.is_finished() && !broker.server.wants_read());
}

#[test]
fn a_peer_that_does_not_end_its_stream_has_its_time() {
    let mut broker = Broker::connected_with(limited(|limits| limits.close_timeout = ms(700)), V1_2);
    broker.now = ms(100);
    broker.server.fail(None::<Reply>, &Failure::new("x")).unwrap();
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.written(), [error("x")]);
    assert_eq!(broker.deadline(), Some(800));
    broker.at(799);
    assert!(!broker.server.is_finished());
    broker.at(800);
    assert!(broker.server.is_finished());
    assert_eq!(broker.deadline(), None);
}

#[test]
fn a_peer_that_reads_nothing_has_no_longer() {
    let mut broker = failed();
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    broker.at(5000);
    assert_eq!(broker.written(), NOTHING);
    assert!(broker.server.is_finished());
}

/// There is no drain rule: the deadline is there as soon as the last event is.
#[test]
fn the_last_event_comes_with_its_deadline() {
    let mut broker = Broker::connected(V1_2);
    broker.now = ms(300);
    broker.feed("ACK\nid:nope\n\n\0");
    assert_eq!(broker.next().as_deref(), Some("CLOSED Protocol(UnknownDelivery) []"));
    assert_eq!(broker.deadline(), Some(5300));
    let mut broker = Broker::new(ServerConfig::default());
    broker.now = ms(300);
    broker.feed("GET / HTTP/1.1\r\n");
    assert_eq!(broker.next().as_deref(), Some("CLOSED Protocol(Foreign(Http)) []"));
    assert_eq!(broker.deadline(), Some(5300));
    let mut broker = Broker::new(ServerConfig::default());
    broker.at(10_000);
    assert_eq!(broker.next().as_deref(), Some("CLOSED TimedOut []"));
    assert_eq!(broker.deadline(), Some(15_000));
}

#[test]
fn an_end_that_the_peer_made_needs_only_what_is_to_be_written() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("BEGIN\ntransaction:t\nreceipt:b\n\n\0");
    broker.server.handle_eof();
    assert_eq!(broker.told(), ["CLOSED Eof []"]);
    assert!(!broker.server.is_finished(), "the receipt is still to be written");
    assert_eq!(broker.written(), [receipt("b")]);
    assert!(broker.server.is_finished() && broker.server.wants_shutdown());
}

/// requirements D-004, D-005, D-008, D-010
#[test]
fn disconnect_ends_the_session_when_it_is_confirmed() {
    for (line, written) in [("", vec![]), ("receipt:77\n", vec![receipt("77")])] {
        let mut broker = Broker::connected(V1_2);
        broker.subscribe("0", "client");
        let delivery = Delivery::builder("/q").body("x").build();
        broker.try_deliver(0, &delivery, 1).unwrap();
        broker.feed(format!("SEND\ndestination:/q\n\nx\0DISCONNECT\n{line}\n\0SEND\n"));
        assert_eq!(broker.told(), ["SEND /q \"x\"", "DISCONNECT"]);
        broker.confirm();
        assert!(!broker.server.wants_shutdown());
        assert_eq!(refused(broker.try_deliver(0, &delivery, 2), 2), UsageError::Closed);
        broker.confirm();
        assert_eq!(broker.told(), ["CLOSED Disconnected [1]"]);
        let mut all = broker.written();
        assert!(all.remove(0).starts_with("MESSAGE\n"), "nothing queued is withdrawn");
        assert_eq!(all, written);
        assert!(broker.server.wants_shutdown());
    }
}

#[test]
fn a_disconnect_may_fail() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    broker.fail(&Failure::new("work was lost"));
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.written(), ["ERROR\nreceipt-id:d\nmessage:work was lost\n\n\0"]);
}

/// requirement F-026
#[test]
fn a_stream_that_ends_inside_a_frame_is_no_clean_end() {
    for (octets, offset) in
        [("SEND\ndestination:/q\n\nhal", 24), ("SEN", 3), ("SEND\ndestination:/q\r\n", 21)]
    {
        let mut broker = Broker::connected(V1_2);
        broker.feed(octets);
        broker.server.handle_eof();
        let connect = "CONNECT\naccept-version:1.2\nhost:h\n\n\0".len();
        let offset = connect + offset;
        let truncated = format!("DecodeError {{ kind: Truncated, offset: {offset} }}");
        assert_eq!(broker.told(), [format!("CLOSED Protocol(Decode({truncated})) []")]);
        assert_eq!(broker.written(), [error("malformed frame")], "it may still read");
    }
    let mut broker = Broker::connected(V1_2);
    broker.feed("\n\n\r");
    broker.server.handle_eof();
    assert_eq!(broker.told(), ["CLOSED Eof []"], "line ends are no frame");
}

#[test]
fn a_dead_transport_takes_all_output_with_it() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client");
    broker.try_deliver(0, &Delivery::builder("/q").body("x").build(), 1).unwrap();
    broker.feed("SEND\ndestination:/q\nreceipt:r\n\nx\0BEGIN\ntransaction:t\nreceipt:b\n\n\0");
    broker.server.handle_lost();
    assert_eq!(broker.written(), NOTHING);
    assert_eq!(broker.next().as_deref(), Some("SEND /q \"x\""), "what came before counts");
    broker.confirm();
    assert_eq!(broker.written(), NOTHING, "there is nobody to tell");
    assert_eq!(broker.told(), ["CLOSED Lost [1]"]);
    assert!(broker.server.is_finished() && !broker.server.wants_shutdown());
    assert_eq!(broker.written(), NOTHING);
}

#[test]
fn the_first_end_counts() {
    let mut broker = failed();
    broker.server.handle_lost();
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    let mut broker = failed();
    broker.server.handle_eof();
    broker.at(1_000_000);
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    let mut broker = Broker::connected(V1_2);
    broker.server.handle_eof();
    broker.server.handle_lost();
    broker.server.handle_eof();
    assert_eq!(broker.told(), ["CLOSED Lost []"]);
}

#[test]
fn closed_comes_once_and_then_there_is_silence() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "client");
    broker.server.fail(None::<Reply>, &Failure::new("going down")).unwrap();
    assert_eq!(broker.told(), ["CLOSED Failed []"]);
    assert_eq!(broker.server.subscription_name(broker.subscriptions[0]), None);
    broker.written();
    for turn in 1..=3 {
        broker.feed("SEND\ndestination:/q\n\nx\0CONNECT\n\n\0\u{ff}");
        broker.server.handle_eof();
        broker.server.handle_lost();
        broker.at(turn * 10_000);
        assert_eq!((broker.told(), broker.written(), broker.deadline()), (vec![], vec![], None));
        assert!(broker.server.is_finished());
        assert_eq!(broker.server.unacknowledged(), 0);
        let failed = broker.server.fail(None::<Reply>, &Failure::new("x"));
        assert_eq!(failed, Err(UsageError::Closed));
    }
}

#[test]
fn closed_lists_what_is_open_in_the_order_of_the_deliveries() {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("b", "client-individual");
    broker.subscribe("a", "client");
    broker.subscribe("c", "auto");
    let first: Vec<_> = [(0, 1), (1, 2), (2, 3), (1, 4), (0, 5)]
        .map(|(of, value)| broker.deliver(of, value))
        .into();
    broker.ack(&first[0]);
    assert_eq!(broker.told(), ["ACK #0 [1]"]);
    broker.unsubscribe("a");
    broker.deliver(0, 6);
    broker.feed("ACK\nid:nope\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) [2, 4, 5, 6]"]);
}

#[test]
fn what_is_shown_is_how_things_stand() {
    let (broker, _) = Broker::with_open(V1_2, "client", 2);
    let server = "Server { state: Connected(V1_2), subscriptions: 1, unacknowledged: 2, .. }";
    assert_eq!(format!("{:?}", broker.server), server);
    let delivery = Delivery::builder("/q").message_id("m").header("k", "v").body("four").build();
    let shown = "Delivery { message_id: Some(\"m\"), body_len: 4, .. }";
    assert_eq!(format!("{delivery:?}"), shown);
    let accept = Accept::new("s").server("b/1").header("token", "secret");
    let shown = "Accept { session: \"s\", server: Some(\"b/1\"), \
                 heart_beat: HeartBeat { can_send: 0, wants: 0 }, headers: [\"token\"] }";
    assert_eq!(format!("{accept:?}"), shown);
}

/// requirement C-009, field case B128
#[test]
fn no_credential_is_ever_shown() {
    let connect = "CONNECT\naccept-version:9\nlogin:u\npasscode:hush1\nAuthorization:hush2\n\n\0";
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed(connect);
    assert!(!format!("{:?}", broker.server).contains("hush"), "{:?}", broker.server);
    let event = broker.event().unwrap();
    assert!(!format!("{event:?}").contains("hush"), "{event:?}");
    let written = broker.written();
    assert!(!written[0].contains("hush"), "{written:?}");

    let mut server = Server::<_, u64>::new(ServerConfig::default(), ms(0));
    server.receive(connect.replace(":9", ":1.2").as_bytes());
    let event = server.poll_event(ms(0)).unwrap();
    let shown = format!("{event:?} {server:?}");
    assert!(shown.contains(r#""passcode": "…""#) && !shown.contains("hush"), "{shown}");
    let Event::Connect { frame, .. } = event else { panic!("no CONNECT") };
    assert_eq!(frame.passcode().as_deref(), Some("hush1"), "only the application reads it");
    // Half a CONNECT, in the inbox.
    let mut server = Server::<_, u64>::new(ServerConfig::default(), ms(0));
    server.receive(b"CONNECT\npasscode:hush");
    assert!(server.poll_event(ms(0)).is_none());
    assert!(!format!("{server:?}").contains("hush"), "{server:?}");
}
