//! Transcripts TR-12 to TR-22: heart-beats, what crosses on the wire, errors, limits, WebSocket.

use super::{CONNECT_1_1, CONNECTED_1_1, CONNECTED_1_2, named, strict};
use crate::harness::{Broker, NOTHING, V1_0, V1_1, V1_2, limited, ms, receipt, refused};
use stomp_proto::server::{Accept, Delivery, Event, Server};
use stomp_proto::{HeartBeat, Session, UsageError, VersionSet, websocket};

/// The server's half of the same sums: it sends every 4,000 and expects something every 3,000.
#[test]
fn tr_12_heart_beat_arithmetic() {
    let session = || {
        let mut broker = Broker::new(strict());
        broker.feed("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:1000,4000\n\n\0");
        assert_eq!(broker.told(), ["CONNECT 1.2"]);
        let ours = HeartBeat { can_send: 2000, wants: 3000 };
        broker.accept(&Accept::new("s1").heart_beat(ours));
        assert_eq!(broker.told(), NOTHING);
        let connected = CONNECTED_1_2.replace("0,0", "2000,3000");
        assert_eq!(broker.written(), [connected]);
        broker
    };
    let mut broker = session();
    let agreement = broker.server.heart_beat();
    assert_eq!((agreement.outgoing, agreement.incoming), (Some(ms(4000)), Some(ms(3000))));
    assert_eq!(broker.deadline(), Some(3000), "4000 less a quarter");
    broker.at(3000);
    assert_eq!(broker.written(), ["\n"]);
    broker.at(4000);
    broker.feed("SEND\ndestination:/q\ncontent-length:1\n\na\0");
    assert_eq!(broker.told(), ["SEND /q \"a\""]);
    for (at, written) in [(6000, &["\n"][..]), (9000, &["\n"]), (10_499, &[])] {
        broker.at(at);
        assert_eq!(broker.told(), NOTHING);
        assert_eq!(broker.written(), written);
    }
    broker.at(10_500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"], "4000 + 6500");
    let mut broker = session();
    broker.at(6499);
    assert_eq!(broker.told(), NOTHING);
    broker.at(6500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"], "nothing read since 0");
}

/// With a MESSAGE in the place of the client's SEND.
#[test]
fn tr_13_no_beat_inside_a_frame() {
    let mut broker = Broker::new(strict());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:0,4000\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    broker.accept(&Accept::new("s1").heart_beat(HeartBeat { can_send: 1, wants: 0 }));
    assert_eq!((broker.told().len(), broker.written().len()), (0, 1));
    broker.subscribe("0", "auto");
    broker.try_deliver(0, &named("9", "", "x"), 1).unwrap();
    assert_eq!(broker.take(10), "MESSAGE\nsu");
    broker.at(3000);
    broker.at(5000);
    assert_eq!(
        broker.written(),
        ["bscription:0\nmessage-id:9\ndestination:/q\ncontent-length:1\n\nx\0"]
    );
    broker.at(6000);
    assert_eq!((broker.written(), broker.deadline()), (vec![], Some(8000)), "5000 + 3000");
    broker.at(8000);
    assert_eq!(broker.written(), ["\n"]);
}

/// A MESSAGE is on its way when the client sends `frame`: it is the last one, and goes out before
/// the RECEIPT that was asked for.
fn crosses_a_message(frame: &str, told: &str, afterwards: &UsageError, receipt: &str) {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("0", "auto");
    broker.try_deliver(0, &named("9", "", "x"), 1).unwrap();
    broker.feed(frame);
    assert_eq!(broker.told(), [told]);
    let late = broker.try_deliver(0, &named("10", "", "x"), 2);
    assert_eq!(refused(late, 2), *afterwards);
    broker.confirm();
    let message = "MESSAGE\nsubscription:0\nmessage-id:9\ndestination:/q\ncontent-length:1\n\nx\0";
    assert_eq!(broker.written(), [message, receipt]);
}

#[test]
fn tr_14_message_while_the_client_waits_for_its_last_receipt() {
    let (frame, receipt) = ("DISCONNECT\nreceipt:d1\n\n\0", "RECEIPT\nreceipt-id:d1\n\n\0");
    crosses_a_message(frame, "DISCONNECT", &UsageError::Closed, receipt);
}

#[test]
fn tr_15_message_after_unsubscribe() {
    let frame = "UNSUBSCRIBE\nid:0\nreceipt:u1\n\n\0";
    let receipt = "RECEIPT\nreceipt-id:u1\n\n\0";
    crosses_a_message(frame, "UNSUBSCRIBE #0", &UsageError::UnknownSubscription, receipt);
}

#[test]
fn tr_16_malformed_frame() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.feed("SEND\ndestination:/q\nfoo\n\nx\0SEND\ndestination:/q\n\ny\0");
    let told = broker.told();
    assert!(told.len() == 1 && told[0].contains("kind: MissingColon"), "{told:?}");
    assert_eq!(broker.written(), ["ERROR\nmessage:malformed frame\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

#[test]
fn tr_17_missing_header_receipt_asked() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.feed("SEND\nreceipt:r1\n\nx\0");
    let closed = r#"CLOSED Protocol(MissingHeader { command: Send, name: "destination" }) []"#;
    assert_eq!(broker.told(), [closed]);
    assert_eq!(broker.written(), ["ERROR\nreceipt-id:r1\nmessage:missing destination\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

#[test]
fn tr_18_limit_on_the_declared_length() {
    let mut broker = Broker::connected_with(limited(|limits| limits.max_body_len = 8), V1_2);
    broker.feed("SEND\ndestination:/q\ncontent-length:9\n\n");
    let told = broker.told();
    assert!(told[0].contains("BodyTooLong { limit: 8 }"), "{told:?}");
    assert_eq!(broker.written(), ["ERROR\nmessage:body too large\n\n\0"]);
    assert!(broker.server.wants_shutdown(), "before any octet of the body");
}

#[test]
fn tr_19_websocket() {
    let mut config = strict();
    config.versions = VersionSet::of(&[V1_0, V1_1]);
    let offer = ["v12.stomp, v11.stomp, v10.stomp"];
    config.subprotocol = websocket::select(offer, config.versions);
    assert_eq!(config.subprotocol, Some(V1_1));
    let mut server = Server::<_, u64>::new(config, ms(0));
    server.receive(CONNECT_1_1.as_bytes());
    let Some(Event::Connect { reply, .. }) = server.poll_event(ms(0)) else { panic!("refused") };
    let ours = HeartBeat { can_send: 0, wants: 0 };
    server.accept(reply, &Accept::new("s1").heart_beat(ours)).unwrap();
    let message = server.outbox().next_frame().unwrap();
    assert!(message.is_text);
    assert_eq!(&message.bytes[..], CONNECTED_1_1.as_bytes(), "one message");
    assert_eq!(server.outbox().next_frame(), None);
}

/// ERROR always closes here (chapter 0), whatever RabbitMQ does: there is no soft error, its
/// `version` header is only in that of the negotiation, and no LF follows the NUL.
#[test]
fn tr_20_an_unknown_ack_is_no_soft_error() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.feed("ACK\nid:nope\n\n\0SEND\ndestination:/q\n\nx\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
    assert_eq!(broker.written(), ["ERROR\nmessage:unknown ack id\n\n\0"]);
    assert!(broker.server.wants_shutdown());
}

#[test]
fn tr_21_reserved_names_on_send() {
    let mut broker = Broker::connected_with(strict(), V1_2);
    broker.subscribe("0", "auto");
    broker.feed(
        "SEND\ndestination:/q\nsubscription:9\nmessage-id:9\nfoo:1\nreceipt:r\n\
         content-length:1\n\nx\0",
    );
    let Some(Event::Send { frame, reply }) = broker.event() else { panic!("no SEND") };
    let message = broker.send(0, &Delivery::relay(&frame).build(), 1);
    assert_eq!(
        message.0,
        "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\nfoo:1\ncontent-length:1\n\nx\0"
    );
    broker.server.confirm(reply).unwrap();
    assert_eq!(broker.written(), [receipt("r")]);
}

#[test]
fn tr_22_http_on_the_stomp_port() {
    let mut broker = Broker::new(strict());
    broker.feed("GET / HTTP/1.1\r\n");
    assert_eq!(broker.told(), ["CLOSED Protocol(Foreign(Http)) []"]);
    assert_eq!(broker.written(), NOTHING);
    assert!(broker.server.wants_shutdown());
}
