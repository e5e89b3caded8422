//! Connections that end in the middle of something.

use core::time::Duration;
use std::thread;

use crate::attack::{Attack, Target};
use crate::before_login::common;
use crate::peer::{Peer, connect};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "half-closed",
        does: "ends its stream behind 1,000 SEND with receipts",
        answer: "each RECEIPT, and end of stream",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: half_closed,
    },
    Attack {
        name: "half-closed-in-the-middle",
        does: "ends its stream in a command, a header, a body, and before CONNECT",
        answer: "ERROR malformed frame",
        logged: "protocol error: stream ended inside a frame",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: half_closed_in_the_middle,
    },
    Attack {
        name: "half-closed-and-stays",
        does: "ends its stream with 16 MB owed to it, and neither reads them nor goes",
        answer: "it loses what it did not read",
        logged: "peer closed the connection",
        ceiling: 64,
        waits: 10,
        rounds: 0,
        run: half_closed_and_stays,
    },
    Attack {
        name: "resets",
        does: "1,000 connections that end by RST, in CONNECT, in a body, with a message open",
        answer: "the message comes again to another one",
        logged: "connection was lost",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: resets,
    },
    Attack {
        name: "comes-and-goes",
        does: "2,000 connections that connect, subscribe and go",
        answer: "end of stream",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: comes_and_goes,
    },
];

fn half_closed(target: &Target) -> String {
    let mut peer = Peer::login(target.tcp);
    for number in 0..1000 {
        peer.say(format!("SEND\ndestination:/queue/a\nreceipt:{number}\n\nhello\0"));
    }
    peer.half_close();
    for number in 0..1000 {
        assert_eq!(peer.text(), format!("RECEIPT\nreceipt-id:{number}\n\n"));
    }
    format!("each RECEIPT, and {}", peer.ending())
}

fn half_closed_in_the_middle(target: &Target) -> String {
    let mut peers = Vec::new();
    for part in ["SE", "SEND\ndest", "SEND\ndestination:/queue/a\n\nbo"] {
        let mut peer = Peer::login(target.tcp);
        peer.say(part);
        peers.push(peer);
    }
    let mut peer = Peer::open(target.tcp);
    peer.say(connect("1.2").trim_end_matches('\0'));
    peers.push(peer);
    common(peers.iter_mut().map(|peer| {
        peer.half_close();
        peer.ending()
    }))
}

fn half_closed_and_stays(target: &Target) -> String {
    let mut peer = Peer::login(target.tcp);
    let receipt = "r".repeat(16 << 10);
    for _ in 0..1000 {
        peer.say(format!("BEGIN\ntransaction:t\nreceipt:{receipt}\n\n\0"));
        peer.say("ABORT\ntransaction:t\n\n\0");
    }
    peer.half_close();
    // Twice as long as it is waited for.
    thread::sleep(Duration::from_secs(10));
    let came = peer.rest_or_reset();
    assert!(came < 1000, "all of it came");
    "it loses what it did not read".into()
}

fn resets(target: &Target) -> String {
    let mut sender = Peer::login(target.tcp);
    sender.say("SEND\ndestination:/queue/a\nreceipt:0\n\nhello\0");
    sender.frame();
    for number in 0..1000 {
        // A socket that is closed with something unread in it resets its connection.
        let mut peer = Peer::open(target.tcp);
        peer.say(connect("1.2"));
        match number % 3 {
            0 => peer.say("SEND\ndestination:/queue/a\ncontent-length:1000\n\nbo"),
            1 => {
                peer.frame();
                peer.say("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client\n\n\0");
                let message = peer.text();
                assert!(message.ends_with("\n\nhello"), "{message}");
                peer.say("BEGIN\ntransaction:t\nreceipt:r\n\n\0");
            }
            _ => peer.say("CONNECT\npasscode:markedpass"),
        }
        peer.await_answer();
    }
    let mut peer = Peer::login(target.tcp);
    peer.say("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client\n\n\0");
    let message = peer.text();
    assert!(
        message.contains("\nredelivered:true\n") && message.ends_with("\n\nhello"),
        "{message}"
    );
    peer.half_close();
    assert_eq!(peer.rest(), [""; 0]);
    "the message comes again to another one".into()
}

fn comes_and_goes(target: &Target) -> String {
    common((0..2000).map(|_| {
        let mut peer = Peer::login(target.tcp);
        peer.say("SUBSCRIBE\nid:0\ndestination:/topic/a\nreceipt:0\n\n\0");
        assert_eq!(peer.text(), "RECEIPT\nreceipt-id:0\n\n");
        peer.half_close();
        peer.ending()
    }))
}
