//! Sessions at work, for the benches that measure them.

use core::time::Duration;

use bytes::Buf;
use stomp_proto::client::SubscribeRequest;
use stomp_proto::codec::Limits;
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Accept, Delivery, Event, Server, ServerConfig, SubscriptionId};
use stomp_proto::{Client, ClientConfig, HeartBeat, Session, Version, client};

pub(crate) type Broker = Server<Duration, u64>;

const BEATS: HeartBeat = HeartBeat { can_send: 10_000, wants: 10_000 };

/// A connected server session with one subscription, whose output was written.
pub(crate) fn subscribed(mode: AckMode) -> (Broker, SubscriptionId) {
    subscribed_in(Version::V1_2, mode)
}

/// The same in some version.
pub(crate) fn subscribed_in(version: Version, mode: AckMode) -> (Broker, SubscriptionId) {
    let mut limits = Limits::default();
    limits.max_unacknowledged = 1 << 20;
    let mut config = ServerConfig::default();
    config.limits = limits;
    let mut server = Server::new(config, Duration::ZERO);
    let connect = "host:h\nheart-beat:10000,10000\n\n\0";
    server.receive(format!("CONNECT\naccept-version:{version}\n{connect}").as_bytes());
    let Some(Event::Connect { reply, .. }) = server.poll_event(Duration::ZERO) else {
        panic!("no CONNECT");
    };
    server.accept(reply, &Accept::new("session-1").heart_beat(BEATS)).expect("a good answer");
    server.receive(format!("SUBSCRIBE\nid:0\ndestination:/q\nack:{mode}\n\n\0").as_bytes());
    let Some(Event::Subscribe { frame, reply }) = server.poll_event(Duration::ZERO) else {
        panic!("no SUBSCRIBE");
    };
    server.confirm(reply).expect("a good answer");
    drain(&mut server);
    (server, frame.subscription())
}

/// A connected client session with one subscription, whose output was written.
pub(crate) fn subscriber() -> Client<Duration> {
    let mut client = connected(BEATS);
    let request = SubscribeRequest::new("/queue/orders").id("sub-0").ack(AckMode::Client);
    client.subscribe(&request).expect("a sound request");
    drain(&mut client);
    client
}

/// A connected client session that can beat and wants beats like that, whose output was written.
pub(crate) fn connected(beats: HeartBeat) -> Client<Duration> {
    let config = ClientConfig::new("broker").heart_beat(beats);
    let mut client = Client::new(config, Duration::ZERO).expect("a sound configuration");
    client.receive(b"CONNECTED\nversion:1.2\nheart-beat:10000,10000\n\n\0");
    let connected = client.poll_event(Duration::ZERO);
    assert!(matches!(connected, Some(client::Event::Connected(_))), "{connected:?}");
    drain(&mut client);
    client
}

/// Makes as many deliveries as that.
pub(crate) fn deliver(server: &mut Broker, subscription: SubscriptionId, count: u64) {
    let delivery = Delivery::builder("/q").body("hello").build();
    for value in 0..count {
        server.deliver(subscription, &delivery, value).expect("room for a delivery");
        drain(server);
    }
}

/// Takes in a SEND and hands it on as a MESSAGE, written into `out`.
pub(crate) fn relay(
    from: &mut Broker,
    to: &mut Broker,
    subscription: SubscriptionId,
    send: &[u8],
    out: &mut Vec<u8>,
) {
    from.receive(send);
    while let Some(event) = from.poll_event(Duration::ZERO) {
        let Event::Send { frame, reply } = event else { panic!("no SEND") };
        let delivery = Delivery::relay(&frame).build();
        to.deliver(subscription, &delivery, 0).expect("room for a delivery");
        from.confirm(reply).expect("a good answer");
    }
    out.clear();
    let outbox = to.outbox();
    while outbox.has_remaining() {
        out.extend_from_slice(outbox.chunk());
        let len = outbox.chunk().len();
        outbox.advance(len);
    }
    drain(from);
}

pub(crate) fn drain(session: &mut impl Session) {
    let outbox = session.outbox();
    let len = outbox.remaining();
    outbox.advance(len);
}
