//! How long a session waits for a client that is slow, silent, or deaf, and what it never loses by it.

use std::time::Instant;

use bytes::Buf;
use core::time::Duration;
use stomp_proto::server::{Delivery, Event};
use stomp_proto::{HeartBeat, Server, ServerConfig, Session};

use crate::harness::{Broker, NOTHING, V1_2, limited, ms, receipt};

const KIB: usize = 1024;

/// A broker that has queued ten messages and the last RECEIPT.
fn leaving() -> Broker {
    let mut broker = Broker::connected(V1_2);
    broker.subscribe("0", "auto");
    let delivery = Delivery::builder("/q").body(vec![b'x'; KIB]).build();
    for value in 0..10 {
        broker.try_deliver(0, &delivery, value).unwrap();
    }
    broker.feed("DISCONNECT\nreceipt:77\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    broker.confirm();
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    broker
}

#[test]
fn a_client_that_reads_slowly_gets_everything_to_the_last_receipt() {
    let mut broker = leaving();
    let mut octets = String::new();
    for second in 1.. {
        broker.at(4000 * second);
        octets += &broker.take(KIB);
        assert_eq!(broker.told(), NOTHING);
        if !broker.server.outbox().has_remaining() {
            break;
        }
    }
    assert!(octets.ends_with(&receipt("77")), "{octets}");
    assert_eq!(octets.matches("MESSAGE\n").count(), 10);
    assert!(broker.server.wants_shutdown() && !broker.server.is_finished());
    broker.server.handle_eof();
    assert!(broker.server.is_finished());
}

#[test]
fn a_client_that_stops_reading_has_its_time_from_then_on() {
    let mut broker = leaving();
    broker.at(4000);
    broker.take(KIB);
    broker.at(8000);
    assert_eq!(broker.deadline(), Some(9000), "since it was last seen to read");
    broker.at(9000);
    assert!(broker.server.is_finished());
}

/// It has ended its stream, and what is queued is more than is allowed: no frame is read any more.
#[test]
fn a_client_that_has_left_and_reads_nothing_is_not_waited_for_for_ever() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_outbox_len = KIB), V1_2);
    broker.subscribe("0", "client");
    let delivery = Delivery::builder("/q").body(vec![b'x'; 2 * KIB]).build();
    broker.try_deliver(0, &delivery, 1).unwrap();
    broker.feed("SEND\ndestination:/q\n\nlast\0");
    broker.server.handle_eof();
    assert_eq!(broker.told(), NOTHING, "a RECEIPT would find no room");
    assert_eq!(broker.deadline(), Some(5000));
    broker.at(5000);
    assert_eq!(broker.told(), ["SEND /q \"last\"", "CLOSED Lost [1]"]);
    assert!(broker.server.is_finished());
}

/// Not polling is back-pressure, and no reason to lose what has come.
#[test]
fn what_a_silent_client_sent_is_delivered_before_it_is_convicted() {
    let mut broker = beating();
    broker.feed("SEND\ndestination:/q\n\n1\0SEND\ndestination:/q\n\n2\0");
    broker.server.handle_timeout(ms(1));
    broker.server.handle_timeout(ms(2501));
    broker.now = ms(2501);
    let told = broker.told();
    assert_eq!(told, ["SEND /q \"1\"", "SEND /q \"2\"", "CLOSED PeerSilent []"]);
}

#[test]
fn a_driver_that_overslept_may_read_first() {
    let mut broker = beating();
    broker.at(60_000);
    assert_eq!(broker.told(), NOTHING, "its beats may lie in the socket");
    assert_eq!(broker.deadline(), Some(60_500));
    broker.feed("\n");
    broker.at(60_500);
    assert_eq!(broker.told(), NOTHING);
    broker.at(63_000);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
}

#[test]
fn a_driver_that_overslept_and_has_nothing_to_read_waits_once() {
    let mut broker = beating();
    broker.at(60_000);
    assert_eq!(broker.told(), NOTHING);
    broker.at(60_500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
}

/// `Duration::MAX` is a natural way to say "never", and more than a clock can add.
#[test]
fn no_time_is_too_long_for_a_clock() {
    let mut config = limited(|limits| {
        limits.connect_timeout = Duration::MAX;
        limits.close_timeout = Duration::MAX;
    });
    config.timing.late_extra = Duration::MAX;
    config.timing.late_intervals = u32::MAX;
    let now = Instant::now();
    let mut server = Server::<Instant, u64>::new(config, now);
    server.receive(b"CONNECT\naccept-version:1.2\nhost:h\nheart-beat:4294967295,4294967295\n\n\0");
    let Some(Event::Connect { reply, .. }) = server.poll_event(now) else { panic!("no CONNECT") };
    let beats = HeartBeat { can_send: u32::MAX, wants: u32::MAX };
    server.accept(reply, &stomp_proto::server::Accept::new("s").heart_beat(beats)).unwrap();
    assert!(server.poll_event(now).is_none());
    assert!(server.poll_timeout() > Some(now));
    server.handle_eof();
    assert!(matches!(server.poll_event(now), Some(Event::Closed { .. })));
}

/// A client that promised an octet a second.
fn beating() -> Broker {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:1000,0\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    let beats = HeartBeat { can_send: 0, wants: 1000 };
    broker.accept(&stomp_proto::server::Accept::new("s1").heart_beat(beats));
    assert_eq!(broker.told(), NOTHING);
    broker.written();
    broker
}
