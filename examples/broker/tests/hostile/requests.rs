//! Requests by the thousand, each of them sound.

use core::fmt::Write;

use crate::attack::{Attack, Target};
use crate::peer::{Flood, Peer};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "begins",
        does: "10,000 BEGIN",
        answer: "ERROR Transaction limit exceeded",
        logged: "protocol error: more than 16 open transactions",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            flood(target, 10_000, |out, number| write!(out, "BEGIN\ntransaction:{number}\n\n\0"))
        },
    },
    Attack {
        name: "transaction-of-a-million",
        does: "1,000,000 SEND in a transaction",
        answer: "ERROR more than 1024 frames in a transaction",
        logged: "protocol error: more than 1024 frames in a transaction",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            transaction(
                target,
                &b"SEND\ndestination:/queue/a\ntransaction:t\n\n\0".repeat(1_000_000),
            )
        },
    },
    Attack {
        name: "transaction-of-a-gigabyte",
        does: "1,000 SEND of 1 MiB in a transaction",
        answer: "ERROR more than 16777216 octets in transactions",
        logged: "protocol error: more than 16777216 octets in transactions",
        ceiling: 64,
        waits: 0,
        rounds: 0,
        run: |target| {
            let body = "x".repeat(1 << 20);
            let send = format!("SEND\ndestination:/queue/a\ntransaction:t\n\n{body}\0");
            let mut peer = Peer::login(target.tcp);
            peer.say("BEGIN\ntransaction:t\n\n\0");
            for _ in 0..1000 {
                if peer.flood(send.as_bytes()) == Flood::Cut {
                    break;
                }
            }
            peer.ending()
        },
    },
    Attack {
        name: "subscriptions",
        does: "100,000 SUBSCRIBE, each to a topic of its own",
        answer: "ERROR more than 1024 subscriptions",
        logged: "protocol error: more than 1024 subscriptions",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            flood(target, 100_000, |out, number| {
                write!(out, "SUBSCRIBE\nid:{number}\ndestination:/topic/{number}\n\n\0")
            })
        },
    },
    Attack {
        name: "acks-of-nothing",
        does: "1,000,000 ACK of ids that it makes up",
        answer: "ERROR Invalid header",
        logged: "protocol error: acknowledges no open delivery",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| flood(target, 1_000_000, |out, number| write!(out, "ACK\nid:{number}\n\n\0")),
    },
    Attack {
        name: "nacks-of-nothing",
        does: "1,000,000 NACK of ids in the form that the broker gives out",
        answer: "ERROR Invalid header",
        logged: "protocol error: acknowledges no open delivery",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            flood(target, 1_000_000, |out, number| write!(out, "NACK\nid:a{number}-0\n\n\0"))
        },
    },
    Attack {
        name: "acks-of-what-is-settled",
        does: "100,000 ACK and 100,000 NACK of a message that it has settled",
        answer: "nothing",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 10,
        run: acks_of_what_is_settled,
    },
    Attack {
        name: "nack-and-again",
        does: "10,000 times NACK of the message that comes back each time",
        answer: "a MESSAGE for each",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: nack_and_again,
    },
    Attack {
        name: "subscribes-and-unsubscribes",
        does: "20,000 times SUBSCRIBE to a topic and UNSUBSCRIBE",
        answer: "nothing",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 10,
        run: |target| {
            let mut peer = Peer::login(target.tcp);
            let two = b"SUBSCRIBE\nid:0\ndestination:/topic/a\n\n\0UNSUBSCRIBE\nid:0\n\n\0";
            peer.say(two.repeat(20_000));
            nothing(peer)
        },
    },
];

/// What comes of a session that makes so many requests.
fn flood(
    target: &Target,
    count: usize,
    request: impl Fn(&mut String, usize) -> core::fmt::Result,
) -> String {
    let mut requests = String::new();
    for number in 0..count {
        request(&mut requests, number).unwrap();
    }
    let mut peer = Peer::login(target.tcp);
    peer.flood(requests.as_bytes());
    peer.ending()
}

fn transaction(target: &Target, requests: &[u8]) -> String {
    let mut peer = Peer::login(target.tcp);
    peer.say("BEGIN\ntransaction:t\n\n\0");
    peer.flood(requests);
    peer.ending()
}

fn acks_of_what_is_settled(target: &Target) -> String {
    let mut peer = Peer::login(target.tcp);
    let message = deliver(&mut peer);
    let id = ack_id(&message);
    peer.say(format!("ACK\nid:{id}\n\n\0"));
    for command in ["ACK", "NACK"] {
        let acks = format!("{command}\nid:{id}\n\n\0").repeat(100_000);
        peer.say(acks.as_bytes());
    }
    nothing(peer)
}

fn nack_and_again(target: &Target) -> String {
    let mut peer = Peer::login(target.tcp);
    let mut message = deliver(&mut peer);
    for _ in 0..10_000 {
        peer.say(format!("NACK\nid:{}\n\n\0", ack_id(&message)));
        message = peer.text();
        assert!(message.contains("\nredelivered:true\n"), "{message}");
    }
    peer.half_close();
    assert_eq!(peer.ending(), "end of stream");
    "a MESSAGE for each".into()
}

/// A message that is open.
fn deliver(peer: &mut Peer) -> String {
    peer.say("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client-individual\n\n\0");
    peer.say("SEND\ndestination:/queue/a\n\nhello\0");
    peer.text()
}

fn ack_id(message: &str) -> &str {
    message.lines().find_map(|line| line.strip_prefix("ack:")).expect("no message")
}

/// The session has taken all of it without a word, and goes on.
fn nothing(mut peer: Peer) -> String {
    peer.say("BEGIN\ntransaction:last\nreceipt:last\n\n\0");
    assert_eq!(peer.text(), "RECEIPT\nreceipt-id:last\n\n");
    peer.half_close();
    assert_eq!(peer.ending(), "end of stream");
    "nothing".into()
}
