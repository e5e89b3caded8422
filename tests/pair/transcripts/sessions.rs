//! TR-01, TR-03 to TR-06, TR-12 to TR-15, TR-19: how sessions begin, beat and end.

use stomp_proto::client::{self, AckMode, SendRequest, SubscribeRequest, UnsubscribeRequest};
use stomp_proto::server::{self, Accept, Delivery};
use stomp_proto::{
    Client, ClientConfig, CloseReason, HeartBeat, Server, ServerConfig, Session, UsageError,
    Version, VersionSet, websocket,
};

use super::{assert_wires, delivery, say_instead};
use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_1, V1_2, ms};

const CONNECTED: &str = "CONNECTED\nversion:1.2\nsession:s1\nheart-beat:0,0\n\n\0";

#[test]
fn tr_01_connect_send_with_receipt_leave() {
    for mut setup in Setup::of(V1_2) {
        setup.client = ClientConfig::new("h").login("u").passcode("p");
        let mut pair = setup.start();
        pair.drive();
        let connect = "CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\nlogin:u\npasscode:p\n\n\0";
        assert_wires(&mut pair, connect, CONNECTED);
        let receipt = pair.client.next_receipt();
        let request = SendRequest::new("/queue/a").body("hi").receipt(receipt);
        pair.client.send(&request).unwrap();
        pair.drive();
        let send = "SEND\ndestination:/queue/a\nreceipt:1\ncontent-length:2\n\nhi\0";
        assert_wires(&mut pair, send, "RECEIPT\nreceipt-id:1\n\n\0");
        pair.client.disconnect(pair.now).unwrap();
        pair.drive();
        let disconnect = "DISCONNECT\nreceipt:2\n\n\0";
        assert_wires(&mut pair, disconnect, "RECEIPT\nreceipt-id:2\n\n\0");
        assert_eq!(pair.listener.told(), ["CONNECTED 1.2", "RECEIPT 1", "CLOSED Disconnected"]);
        let told = ["CONNECT 1.2", "SEND /queue/a \"hi\"", "DISCONNECT", "CLOSED Disconnected []"];
        assert_eq!(pair.broker.told(), told);
        assert!(pair.client.is_finished() && pair.server.is_finished());
    }
}

/// A client of ours always says which versions it speaks, and gives every subscription an id.
#[test]
fn tr_03_1_0_without_negotiation() {
    for mut setup in Setup::of(V1_0) {
        setup.client = ClientConfig::without_host().versions(V1_0).login("u").passcode("p");
        let mut pair = setup.start();
        pair.drive();
        let connect = "CONNECT\naccept-version:1.0\nlogin:u\npasscode:p\n\n\0";
        assert_wires(&mut pair, connect, "CONNECTED\nversion:1.0\nsession:s1\n\n\0");
        let subscription = pair.subscribe("/q", AckMode::Auto);
        let delivery = Delivery::builder("/q").header("path", "a\\nb").body("x").build();
        pair.broker.publish("/q", delivery);
        pair.drive();
        let message = "MESSAGE\nsubscription:1\nmessage-id:1\ndestination:/q\npath:a\\nb\n\
             content-length:1\n\nx\0";
        assert_wires(&mut pair, "SUBSCRIBE\nid:1\ndestination:/q\n\n\0", message);
        let path = pair.listener.message("x").headers().get("path");
        assert_eq!(path.as_deref(), Some("a\\nb"));
        pair.client.unsubscribe(subscription).unwrap();
        pair.drive();
        assert_wires(&mut pair, "UNSUBSCRIBE\nid:1\n\n\0", "");
        assert_eq!(pair.broker.told()[2..], ["UNSUBSCRIBE #0"]);
    }
}

/// TR-03 in the words of a client that knows 1.0 alone.
#[test]
fn tr_03_word_for_word() {
    for setup in Setup::of(V1_0) {
        let mut pair = setup.start();
        say_instead(&mut pair, "CONNECT\nlogin:u\npasscode:p\n\n\0SUBSCRIBE\ndestination:/q\n\n\0");
        let delivery = Delivery::builder("/q").header("path", "a\\nb").body("x").build();
        pair.broker.publish("/q", delivery);
        pair.drive();
        let message = "MESSAGE\nmessage-id:1\ndestination:/q\npath:a\\nb\ncontent-length:1\n\nx\0";
        let down = format!("CONNECTED\nversion:1.0\nsession:s1\n\n\0{message}");
        assert_eq!(pair.down.written(), down);
        assert_eq!(pair.listener.told(), ["CONNECTED 1.0", "MESSAGE of nobody \"x\""]);
        pair.up.inject(b"UNSUBSCRIBE\ndestination:/q\n\n\0", pair.now);
        pair.drive();
        let told = ["CONNECT 1.0", "SUBSCRIBE #0 /q auto", "UNSUBSCRIBE #0"];
        assert_eq!(pair.broker.told(), told);
    }
}

#[test]
fn tr_04_no_common_version() {
    let error = "ERROR\nversion:1.0,1.1,1.2\nmessage:unsupported version\n\
         content-type:text/plain\ncontent-length:37\n\nSupported versions are 1.0, 1.1, 1.2\n\0";
    for setup in Setup::of(V1_2) {
        let mut pair = setup.start();
        say_instead(&mut pair, "CONNECT\naccept-version:2.1\nhost:h\n\n\0");
        pair.drive();
        assert_eq!(pair.down.written(), error);
        assert_eq!(pair.broker.told(), ["CLOSED Protocol(NoCommonVersion({})) []"]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unsupported version"]);
        let Some(CloseReason::Error { frame, .. }) = &pair.listener.closed else {
            panic!("{:?}", pair.listener.closed);
        };
        assert_eq!(frame.header("version").as_deref(), Some("1.0,1.1,1.2"));
        assert_eq!(frame.body(), "Supported versions are 1.0, 1.1, 1.2\n");
    }
}

#[test]
fn tr_05_connect_and_send_in_one_read() {
    for version in [V1_1, V1_2] {
        for setup in Setup::of(version) {
            let mut pair = setup.start();
            pair.broker.answers = Answers::Later;
            let connect = format!("CONNECT\naccept-version:{version}\nhost:h\n\n\0");
            let send = "SEND\ndestination:/q\nk:a\\rb\n\nx\0";
            say_instead(&mut pair, &format!("{connect}{send}"));
            pair.drive();
            assert_eq!(pair.broker.told(), [format!("CONNECT {version}")]);
            assert_eq!(pair.down.written(), "");
            pair.broker.confirm(&mut pair.server);
            pair.drive();
            let connected = CONNECTED.replace("1.2", version.as_str());
            if version == V1_2 {
                assert_eq!(pair.down.written(), connected);
                assert_eq!(pair.broker.told(), ["SEND /q \"x\""]);
                continue;
            }
            let error = "ERROR\nmessage:malformed frame\n\n\0";
            assert_eq!(pair.down.written(), format!("{connected}{error}"));
            let told = ["CONNECTED 1.1", "CLOSED by ERROR: malformed frame"];
            assert_eq!(pair.listener.told(), told);
        }
    }
}

#[test]
fn tr_06_refused_login() {
    for mut setup in Setup::of(V1_2) {
        setup.client = setup.client.login("u").passcode("bad");
        let mut pair = setup.start();
        pair.broker.answers = Answers::Failing("access refused");
        pair.drive();
        let connect = "CONNECT\naccept-version:1.2\nhost:h\nlogin:u\npasscode:bad\n\n\0";
        assert_wires(&mut pair, connect, "ERROR\nmessage:access refused\n\n\0");
        assert_eq!(pair.broker.told(), ["CONNECT 1.2", "CLOSED Failed []"]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: access refused"]);
    }
}

/// A pair that is connected at t=0, with beats every 3000 upwards and every 4000 downwards.
fn tr_12(mut setup: Setup) -> Pair {
    setup.latencies = [ms(0); 2];
    setup.client = setup.client.heart_beat(HeartBeat { can_send: 1000, wants: 4000 });
    setup.accept = setup.accept.heart_beat(HeartBeat { can_send: 2000, wants: 3000 });
    let mut pair = setup.start();
    pair.drive();
    let connect = "CONNECT\naccept-version:1.2\nhost:h\nheart-beat:1000,4000\n\n\0";
    let connected = "CONNECTED\nversion:1.2\nsession:s1\nheart-beat:2000,3000\n\n\0";
    assert_wires(&mut pair, connect, connected);
    assert_eq!((pair.now, pair.client.poll_timeout()), (ms(0), Some(ms(2250))));
    pair.broker.told();
    pair.listener.told();
    pair
}

#[test]
fn tr_12_heart_beat_arithmetic() {
    for setup in Setup::of(V1_2) {
        let mut pair = tr_12(setup);
        pair.run_for(ms(2250));
        assert_wires(&mut pair, "\n", "");
        assert_eq!(pair.client.poll_timeout(), Some(ms(4500)));
        pair.run_for(ms(1750));
        pair.send("/q", "a");
        pair.drive();
        let send = "SEND\ndestination:/q\ncontent-length:1\n\na\0";
        assert_wires(&mut pair, send, "\n");
        assert_eq!(pair.client.poll_timeout(), Some(ms(6250)));
        assert_eq!(pair.broker.told(), ["SEND /q \"a\""]);
        pair.up.fall_silent();
        pair.run_until(ms(10_499));
        assert_eq!(pair.broker.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.broker.told(), ["CLOSED PeerSilent []"]);
    }
    for setup in Setup::of(V1_2) {
        let mut pair = tr_12(setup);
        pair.down.fall_silent();
        pair.run_for(ms(8499));
        assert_eq!(pair.listener.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.listener.told(), ["CLOSED PeerSilent"]);
    }
}

#[test]
fn tr_13_no_beat_inside_a_frame() {
    for setup in Setup::of(V1_2) {
        let mut pair = tr_12(setup);
        pair.up.capacity = 10;
        pair.send("/q", "a");
        pair.client.handle_timeout(pair.now);
        let outbox = pair.client.outbox();
        assert_eq!(pair.up.write(outbox, pair.now), Some(10));
        pair.up.capacity = 0;
        pair.run_for(ms(2250));
        assert_wires(&mut pair, "SEND\ndesti", "");
        pair.up.capacity = 1000;
        pair.run_for(ms(250));
        assert_wires(&mut pair, "nation:/q\ncontent-length:1\n\na\0", "");
        assert_eq!(pair.client.poll_timeout(), Some(ms(2250 + 2250)));
    }
}

/// What the transcript calls `Disconnecting` is `NotConnected` here.
#[test]
fn tr_14_message_while_waiting_for_the_last_receipt() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        let request = SubscribeRequest::new("/q").id("0");
        pair.subscribe_with(&request.ack(AckMode::Client));
        pair.drive();
        pair.up.written();
        pair.broker.publish("/q", delivery("9", "t9", "x"));
        pair.turn();
        pair.client.disconnect(pair.now).unwrap();
        while pair.listener.messages.is_empty() {
            pair.run_for(ms(1));
        }
        let token = pair.listener.token("x");
        assert_eq!(pair.client.ack(&token), Err(UsageError::NotConnected));
        pair.drive();
        let message = "MESSAGE\nsubscription:0\nmessage-id:9\nack:t9\ndestination:/q\n\
             content-length:1\n\nx\0";
        let down = format!("{message}RECEIPT\nreceipt-id:1\n\n\0");
        assert_wires(&mut pair, "DISCONNECT\nreceipt:1\n\n\0", &down);
        assert_eq!(pair.listener.told(), ["MESSAGE #0 \"x\"", "CLOSED Disconnected"]);
        assert_eq!(pair.broker.given_back, [1]);
    }
}

#[test]
fn tr_15_message_after_unsubscribe() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        let subscription = pair.subscribe_with(&SubscribeRequest::new("/q").id("0"));
        pair.drive();
        pair.up.written();
        pair.broker.publish("/q", delivery("9", "t9", "x"));
        pair.turn();
        let receipt = pair.client.next_receipt();
        let request = UnsubscribeRequest::new(subscription).receipt(receipt);
        pair.client.unsubscribe(request).unwrap();
        pair.drive();
        let message = "MESSAGE\nsubscription:0\nmessage-id:9\ndestination:/q\n\
             content-length:1\n\nx\0";
        let down = format!("{message}RECEIPT\nreceipt-id:1\n\n\0");
        assert_wires(&mut pair, "UNSUBSCRIBE\nid:0\nreceipt:1\n\n\0", &down);
        assert_eq!(pair.listener.told(), ["MESSAGE of nobody \"x\"", "RECEIPT 1"]);
    }
}

/// Hands over what is to be written, one frame in one message; what that was.
fn carry(from: &mut impl Session, to: &mut impl Session) -> Vec<String> {
    let messages = core::iter::from_fn(|| from.outbox().next_frame());
    let carried = messages.map(|message| {
        assert!(message.is_text);
        to.receive(&message.bytes);
        String::from_utf8(message.bytes.to_vec()).unwrap()
    });
    carried.collect()
}

/// There is no stream here, and no pair. The heart-beats are ours, for the last line.
#[test]
fn tr_19_websocket() {
    let offer = websocket::offer(VersionSet::ALL);
    assert_eq!(offer, "v12.stomp, v11.stomp, v10.stomp");
    let version = websocket::select([&*offer], VersionSet::of(&[V1_0, V1_1]));
    assert_eq!(version.map(Version::subprotocol), Some("v11.stomp"));
    let answer = websocket::verify(VersionSet::ALL, Some("v11.stomp"));
    assert_eq!(answer, websocket::Answer::Negotiated(V1_1));

    let beats = HeartBeat { can_send: 1000, wants: 1000 };
    let config = ClientConfig::new("h").subprotocol(version).heart_beat(beats);
    let mut client = Client::new(config, ms(0)).unwrap();
    let mut config = ServerConfig::default();
    config.subprotocol = version;
    let mut server = Server::<_, u64>::new(config, ms(0));
    let connect = "CONNECT\naccept-version:1.1\nhost:h\nheart-beat:1000,1000\n\n\0";
    assert_eq!(carry(&mut client, &mut server), [connect]);
    let Some(server::Event::Connect { reply, .. }) = server.poll_event(ms(0)) else {
        panic!("no CONNECT");
    };
    server.accept(reply, &Accept::new("s1").heart_beat(beats)).unwrap();
    let connected = "CONNECTED\nversion:1.1\nsession:s1\nheart-beat:1000,1000\n\n\0";
    assert_eq!(carry(&mut server, &mut client), [connected]);
    assert!(matches!(client.poll_event(ms(0)), Some(client::Event::Connected(_))));
    assert!(server.poll_event(ms(0)).is_none());
    client.handle_timeout(ms(750));
    server.handle_timeout(ms(750));
    assert_eq!(carry(&mut client, &mut server), ["\n"]);
    assert_eq!(carry(&mut server, &mut client), ["\n"]);
}
