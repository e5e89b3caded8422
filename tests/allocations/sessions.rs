//! Sessions: no allocation for a message in the steady state, and little memory when idle.

use core::time::Duration;

use bytes::Buf;
use stomp_proto::client::{SendRequest, SubscribeRequest};
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Accept, Delivery, Event, ServerConfig, SubscriptionId};
use stomp_proto::{Client, ClientConfig, HeartBeat, Server, Session, client};

use super::corpus::{SEND, SMALL as MESSAGE};
use super::counting::{Count, counted, held};

const BEATS: HeartBeat = HeartBeat { can_send: 10_000, wants: 10_000 };

/// What an idle session may hold, the session itself included.
const CONNECTED: usize = 1024;
/// And with its first subscription.
const SUBSCRIBED: usize = 2048;

#[test]
fn a_client_does_not_allocate_for_a_message() {
    let stream = MESSAGE.repeat(64);
    let mut now = Duration::ZERO;
    let mut client = client();
    let mut messages = 0;
    let mut run = || {
        for octets in stream.chunks(1448) {
            now += Duration::from_millis(1);
            client.receive(octets);
            while let Some(event) = client.poll_event(now) {
                let client::Event::Message(message) = event else { panic!("{event:?}") };
                assert_eq!(message.subscription(), None, "of another session");
                messages += 1;
            }
        }
    };
    run();
    assert_eq!(counted(run), Count::NONE);
    assert_eq!(messages, 128);
}

#[test]
fn a_server_does_not_allocate_for_a_send_that_is_confirmed_before_the_next_read() {
    let stream = SEND.repeat(64);
    let mut server = server();
    let mut sent = 0;
    let mut run = || {
        for octets in stream.chunks(1448) {
            server.receive(octets);
            while let Some(event) = server.poll_event(Duration::from_secs(5)) {
                let Event::Send { frame, reply } = event else { panic!("{event:?}") };
                assert_eq!(frame.body().len(), 64);
                server.confirm(reply).unwrap();
                sent += 1;
            }
            let receipts = server.outbox().remaining();
            server.outbox().advance(receipts);
        }
    };
    run();
    assert_eq!(counted(run), Count::NONE);
    assert_eq!(sent, 128);
}

#[test]
fn a_relay_allocates_for_what_the_application_keeps_only() {
    const FRAMES: usize = 1000;
    let now = Duration::from_secs(3);
    let (mut from, mut to) = (server(), server());
    let subscription = subscribe_to(&mut to);
    let mut kept = 0;
    let mut relay = || {
        from.receive(SEND);
        let Some(Event::Send { frame, reply }) = from.poll_event(now) else { panic!("no SEND") };
        let mut delivery = None;
        let made = counted(|| delivery = Some(Delivery::relay(&frame).build()));
        kept += made.allocations;
        to.deliver(subscription, &delivery.unwrap(), 0).unwrap();
        from.confirm(reply).unwrap();
        for session in [&mut from, &mut to] {
            let len = session.outbox().remaining();
            assert!(len > 0);
            session.outbox().advance(len);
        }
    };
    relay();
    let count = counted(|| (0..FRAMES).for_each(|_| relay()));
    assert_eq!(count.held, 0);
    assert_eq!(count.allocations, kept / (FRAMES + 1) * FRAMES, "its deliveries, and nothing else");
    assert!(kept <= 3 * (FRAMES + 1), "{kept}");
}

#[test]
fn a_body_that_is_shared_costs_no_allocation() {
    const FRAMES: usize = 100;
    let mut server = server();
    let mut delivery = Delivery::builder("/queue/orders.eu-west-1.created");
    for name in ["content-type", "content-encoding", "correlation-id", "reply-to"] {
        delivery = delivery.header(name, "neither long nor short");
    }
    let delivery = delivery.body(vec![b'x'; 5000]).build();
    let subscription = subscribe_to(&mut server);
    let mut deliver = || {
        server.deliver(subscription, &delivery, 0).unwrap();
        // Chunk by chunk, as it is when a socket takes no more at a time.
        while server.outbox().has_remaining() {
            let len = server.outbox().chunk().len();
            server.outbox().advance(len);
        }
    };
    deliver();
    assert_eq!(counted(|| (0..FRAMES).for_each(|_| deliver())), Count::NONE);
}

/// field case B77
#[test]
fn heart_beats_cost_no_allocation_in_either_direction() {
    let mut client = client();
    let mut beat = || {
        let due = client.poll_timeout().unwrap();
        client.receive(b"\n");
        client.handle_timeout(due);
        assert_eq!(client.poll_event(due), None);
        let beats = client.outbox().remaining();
        client.outbox().advance(beats);
        beats
    };
    assert_eq!(beat(), 1);
    let mut beats = 0;
    assert_eq!(counted(|| beats = (0..1000).map(|_| beat()).sum()), Count::NONE);
    assert_eq!(beats, 1000);
    assert_eq!(client.unconfirmed().count(), 0, "a beat asks for no receipt");
}

#[test]
fn an_idle_session_is_small() {
    assert_within(CONNECTED, connected_server);
    assert_within(CONNECTED, connected_client);
}

#[test]
fn an_idle_session_with_a_subscription_is_small() {
    assert_within(SUBSCRIBED, server);
    assert_within(SUBSCRIBED, client);
}

fn assert_within<S>(most: usize, make: impl FnOnce() -> S) {
    let (on_the_heap, session) = held(make);
    let held = usize::try_from(on_the_heap).unwrap() + size_of_val(&session);
    assert!(held <= most, "{held} octets in a {}", core::any::type_name::<S>());
}

#[test]
fn a_server_that_has_worked_and_rests_holds_no_more_than_before() {
    let mut server = server();
    let delivery = Delivery::builder("/queue/a").body("x").build();
    let subscription = subscribe(&mut server, "id:3\ndestination:/queue/c\nack:client");
    rest(&mut server, 5);
    let (held, ()) = held(|| {
        server.deliver(subscription, &delivery, 0).unwrap();
        server.receive(b"BEGIN\ntransaction:t\n\n\0ACK\nid:a1-0\ntransaction:t\n\n\0");
        server.receive(b"COMMIT\ntransaction:t\nreceipt:r\n\n\0");
        let Some(Event::Commit { reply, .. }) = server.poll_event(Duration::from_secs(10)) else {
            panic!("no COMMIT")
        };
        server.confirm(reply).unwrap();
        rest(&mut server, 10);
    });
    assert_eq!(held, 0);
}

/// What it takes is given back, and not kept for the next time: a peer chooses how much it is.
#[test]
fn a_server_keeps_nothing_of_many_subscriptions_and_headers() {
    let mut server = server();
    rest(&mut server, 5);
    let (held, ()) = held(|| {
        let ids = || (10..1000).map(|id| format!("id:{id}"));
        for id in ids() {
            subscribe(&mut server, &format!("{id}\ndestination:/queue/c"));
        }
        for id in ids() {
            server.receive(format!("UNSUBSCRIBE\n{id}\n\n\0").as_bytes());
            let event = server.poll_event(Duration::from_secs(5));
            let Some(Event::Unsubscribe { reply, .. }) = event else { panic!("{event:?}") };
            server.confirm(reply).unwrap();
        }
        let headers = "h:v\n".repeat(120);
        server.receive(format!("SEND\ndestination:/a\n{headers}\n\0").as_bytes());
        let Some(Event::Send { reply, .. }) = server.poll_event(Duration::from_secs(5)) else {
            panic!("no SEND")
        };
        server.confirm(reply).unwrap();
        rest(&mut server, 10);
    });
    assert_eq!(held, 0);
}

#[test]
fn a_client_that_has_worked_and_rests_holds_no_more_than_before() {
    let mut client = client();
    let (held, ()) = held(|| {
        let receipt = client.next_receipt();
        client.send(&SendRequest::new("/queue/a").body("x").receipt(receipt)).unwrap();
        client.receive(b"RECEIPT\nreceipt-id:1\n\n\0");
        let event = client.poll_event(Duration::from_secs(10));
        assert_eq!(event, Some(client::Event::Receipt(receipt)));
        rest(&mut client, 10);
    });
    assert_eq!(held, 0);
}

/// Of a subscription that ended its names are remembered, for messages that were on their way.
#[test]
fn a_client_keeps_of_a_subscription_that_ended_little_more_than_its_names() {
    let mut client = connected_client();
    let (held, ()) = held(|| {
        let subscription = client.subscribe(&SubscribeRequest::new("/queue/a")).unwrap();
        client.unsubscribe(subscription).unwrap();
        rest(&mut client, 5);
    });
    assert!((1..100).contains(&held), "{held}");
}

/// A client that is idle.
fn connected_client() -> Client<Duration> {
    let config = ClientConfig::new("broker").heart_beat(BEATS);
    let mut client = Client::new(config, Duration::ZERO).unwrap();
    client.receive(b"CONNECTED\nversion:1.2\nheart-beat:10000,10000\n\n\0");
    assert!(matches!(client.poll_event(Duration::ZERO), Some(client::Event::Connected(_))));
    rest(&mut client, 0);
    client
}

/// A client with a subscription that has had messages and is idle now.
fn client() -> Client<Duration> {
    let mut client = connected_client();
    client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    client.receive(MESSAGE);
    let message = client.poll_event(Duration::from_secs(3));
    assert!(matches!(message, Some(client::Event::Message(_))));
    rest(&mut client, 3);
    client
}

/// The other end of it.
fn connected_server() -> Server<Duration, u64> {
    let mut server = Server::new(ServerConfig::default(), Duration::ZERO);
    server.receive(b"CONNECT\naccept-version:1.2\nhost:h\nheart-beat:10000,10000\n\n\0");
    let Some(Event::Connect { reply, .. }) = server.poll_event(Duration::ZERO) else {
        panic!("no CONNECT")
    };
    server.accept(reply, &Accept::new("session-1").heart_beat(BEATS)).unwrap();
    rest(&mut server, 0);
    server
}

/// And with a subscription.
fn server() -> Server<Duration, u64> {
    let mut server = connected_server();
    server.receive(b"SUBSCRIBE\nid:1\ndestination:/queue/a\nack:client\n\n\0");
    let Some(Event::Subscribe { reply, .. }) = server.poll_event(Duration::from_secs(3)) else {
        panic!("no SUBSCRIBE")
    };
    server.confirm(reply).unwrap();
    rest(&mut server, 3);
    server
}

/// A subscription in the mode auto, confirmed.
fn subscribe_to(server: &mut Server<Duration, u64>) -> SubscriptionId {
    subscribe(server, "id:2\ndestination:/queue/b")
}

/// A subscription, confirmed.
fn subscribe(server: &mut Server<Duration, u64>, headers: &str) -> SubscriptionId {
    server.receive(format!("SUBSCRIBE\n{headers}\n\n\0").as_bytes());
    let Some(Event::Subscribe { frame, reply }) = server.poll_event(Duration::from_secs(5)) else {
        panic!("no SUBSCRIBE")
    };
    server.confirm(reply).unwrap();
    frame.subscription()
}

/// Writes what there is to write, and lets a moment pass in which nothing happens.
fn rest(session: &mut impl Session<Instant = Duration>, now: u64) {
    let len = session.outbox().remaining();
    session.outbox().advance(len);
    for seconds in now + 1..now + 3 {
        assert!(session.poll_event(Duration::from_secs(seconds)).is_none());
    }
}
