//! TR-16 to TR-18, TR-20, TR-22: what is wrong, who says so, and that it is the end.

use stomp_proto::codec::Limits;
use stomp_proto::{Command, Frame};

use super::{assert_wires, say_instead};
use crate::harness::{NOTHING, Setup, V1_2};

#[test]
fn tr_16_malformed_frame() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        let frames = "SEND\ndestination:/q\nfoo\n\nx\0SEND\ndestination:/q\n\ny\0";
        say_instead(&mut pair, frames);
        pair.drive();
        assert_wires(&mut pair, frames, "ERROR\nmessage:malformed frame\n\n\0");
        let told = pair.broker.told();
        assert!(told.len() == 1 && told[0].starts_with("CLOSED Protocol(Decode("), "{told:?}");
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: malformed frame"]);
    }
}

/// An application that makes its own frames can leave the destination out; its body gets a length.
#[test]
fn tr_17_missing_header_receipt_asked() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        let receipt = pair.client.next_receipt().to_string();
        let frame = Frame::builder(Command::Send).header("receipt", &receipt).body("x").build();
        pair.client.send_frame(&frame).unwrap();
        pair.drive();
        let send = "SEND\nreceipt:1\ncontent-length:1\n\nx\0";
        let error = "ERROR\nreceipt-id:1\nmessage:missing destination\n\n\0";
        assert_wires(&mut pair, send, error);
        let closed = "CLOSED Protocol(MissingHeader { command: Send, name: \"destination\" }) []";
        assert_eq!(pair.broker.told(), [closed]);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR about 1: missing destination"]);
        assert_eq!(pair.client.unconfirmed().count(), 0, "it failed");
    }
}

#[test]
fn tr_18_limit_on_the_declared_length() {
    for mut setup in Setup::of(V1_2) {
        let mut limits = Limits::default();
        limits.max_body_len = 8;
        setup.server.limits = limits;
        let mut pair = setup.connected();
        let head = "SEND\ndestination:/q\ncontent-length:9\n\n";
        pair.up.capacity = head.len();
        pair.send("/q", "123456789");
        pair.turn();
        pair.up.capacity = 0;
        pair.drive();
        assert_wires(&mut pair, head, "ERROR\nmessage:body too large\n\n\0");
        let told = pair.broker.told();
        assert!(told[0].contains("BodyTooLong { limit: 8 }"), "before any octet of it: {told:?}");
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: body too large"]);
    }
}

/// An ERROR is the end in every version and of every broker; there is no soft one.
#[test]
fn tr_20_soft_error_of_rabbitmq() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.connected();
        pair.broker.is_asleep = true;
        let frame = Frame::builder(Command::Ack).header("id", "nope").build();
        pair.client.send_frame(&frame).unwrap();
        pair.drive();
        let error = "ERROR\nmessage:Invalid header\ncontent-type:text/plain\n\
             version:1.0,1.1,1.2\n\n\0\n";
        pair.down.inject(error.as_bytes(), pair.now);
        pair.drive();
        assert_wires(&mut pair, "ACK\nid:nope\n\n\0", error);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: Invalid header"]);
        pair.down.inject(b"RECEIPT\nreceipt-id:1\n\n\0", pair.now);
        pair.drive();
        assert_eq!(pair.listener.told(), NOTHING);
    }
}

#[test]
fn tr_22_http_on_the_stomp_port() {
    for setup in Setup::of(V1_2) {
        let mut pair = setup.start();
        say_instead(&mut pair, "GET / HTTP/1.1\r\n");
        pair.drive();
        assert_eq!(pair.down.written(), "", "nothing is written");
        assert_eq!(pair.broker.told(), ["CLOSED Protocol(Foreign(Http)) []"]);
        assert_eq!(pair.listener.told(), ["CLOSED Eof"]);
    }
}
