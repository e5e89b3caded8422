//! Queues, names and patterns: what one session makes for all of them.

use core::fmt::Write;

use crate::attack::{Attack, Target};
use crate::peer::{Flood, Peer, message};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "destinations",
        does: "100,000 SEND, each to a queue of its own",
        answer: "ERROR Limit exceeded",
        logged: "failed by the application",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| destinations(target, 100_000, ""),
    },
    Attack {
        name: "long-names",
        does: "SEND to a queue and SUBSCRIBE to a topic with a name of 60,000 octets",
        answer: "ERROR Processing error",
        logged: "failed by the application",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: long_names,
    },
    Attack {
        name: "many-subscribers",
        does: "16 sessions with 1,000 subscriptions each to topics of their own",
        answer: "a RECEIPT for each",
        logged: "peer closed the connection",
        ceiling: 64,
        waits: 0,
        rounds: 10,
        run: many_subscribers,
    },
    Attack {
        name: "names-used-up",
        does: "16 sessions with SEND to 1,024 queues of their own each",
        answer: "ERROR resource_error to the last",
        logged: "failed by the application",
        ceiling: 64,
        waits: 0,
        rounds: 10,
        run: names_used_up,
    },
    Attack {
        name: "hoards",
        does: "1,000 subscriptions without bound to a queue of 20,000 messages, unread, and UNSUBSCRIBE of each",
        answer: "end of stream",
        logged: "peer closed the connection",
        ceiling: 64,
        waits: 0,
        rounds: 10,
        run: hoards,
    },
    Attack {
        name: "patterns",
        does: "1,000 subscriptions to topics like `#.a.#.a`, as long as they may be, and 20 SEND to `a.a.a`",
        answer: "a RECEIPT for each",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: patterns,
    },
    Attack {
        name: "filled-queues",
        does: "fills 40 queues with 60 MB each that nobody reads",
        answer: "not read any further, then ERROR queue is full",
        logged: "failed by the application",
        // The broker is told that messages may take 256, and half of that is for whoever comes first.
        ceiling: 192,
        waits: 30,
        rounds: 0,
        run: filled_queues,
    },
    Attack {
        name: "committed-queues",
        does: "40 COMMIT of 15 MB, each to a queue of its own, and then 15 of 1,000 SEND of 3 KB, each to a queue of its own",
        answer: "RECEIPT to 8, then ERROR queue is full; RECEIPT to each of the small ones",
        logged: "failed by the application",
        ceiling: 256,
        waits: 30,
        rounds: 0,
        run: committed_queues,
    },
];

fn destinations(target: &Target, count: usize, suffix: &str) -> String {
    let mut sends = String::new();
    for number in 0..count {
        write!(sends, "SEND\ndestination:/queue/{number}{suffix}\n\n\0").unwrap();
    }
    let mut peer = Peer::login(target.tcp);
    peer.flood(sends.as_bytes());
    peer.ending()
}

fn long_names(target: &Target) -> String {
    let name = "n".repeat(60_000);
    let ended = destinations(target, 1000, &name);
    let mut peer = Peer::login(target.tcp);
    peer.say(format!("SUBSCRIBE\nid:0\ndestination:/topic/{name}\n\n\0"));
    assert_eq!(peer.ending(), ended);
    ended
}

fn many_subscribers(target: &Target) -> String {
    let mut peers: Vec<_> = (0..16).map(|_| Peer::login(target.tcp)).collect();
    for (session, peer) in peers.iter_mut().enumerate() {
        let mut requests = String::new();
        for number in 0..1000 {
            let destination = format!("/topic/{session}.{number}");
            write!(requests, "SUBSCRIBE\nid:{number}\ndestination:{destination}\n\n\0").unwrap();
        }
        peer.say(requests.as_bytes());
        peer.sync();
    }
    for peer in &mut peers {
        peer.half_close();
        assert_eq!(peer.ending(), "end of stream");
    }
    "a RECEIPT for each".into()
}

fn names_used_up(target: &Target) -> String {
    for session in 0..16 {
        let mut sends = String::new();
        for number in 0..1024 {
            write!(sends, "SEND\ndestination:/queue/{session}-{number}\n\n\0").unwrap();
        }
        let mut peer = Peer::login(target.tcp);
        // The bystander has two of them.
        if session < 15 {
            peer.say(sends.as_bytes());
            peer.sync();
            continue;
        }
        peer.flood(sends.as_bytes());
        return format!("{} to the last", peer.ending());
    }
    "all of them made".into()
}

fn hoards(target: &Target) -> String {
    let mut sender = Peer::login(target.tcp);
    sender.flood("SEND\ndestination:/queue/a\n\n\0".repeat(20_000).as_bytes());
    sender.sync();
    let mut peer = Peer::login(target.tcp);
    let mut requests = String::new();
    for number in 0..1000 {
        let ids = format!("id:{number}\nack:client\nprefetch-count:0");
        write!(requests, "SUBSCRIBE\n{ids}\ndestination:/queue/a\n\n\0").unwrap();
    }
    for number in 0..1000 {
        write!(requests, "UNSUBSCRIBE\nid:{number}\n\n\0").unwrap();
    }
    peer.say(requests.as_bytes());
    peer.half_close();
    peer.ending()
}

fn patterns(target: &Target) -> String {
    let mut peer = Peer::login(target.tcp);
    // Nothing that is sent fits, and each part of it may be what one of the others stands for.
    let pattern = "#.a.".repeat(60) + "b";
    let mut requests = String::new();
    for number in 0..1000 {
        let destination = format!("/topic/{pattern}.{number}");
        write!(requests, "SUBSCRIBE\nid:{number}\ndestination:{destination}\n\n\0").unwrap();
    }
    peer.say(requests.as_bytes());
    peer.sync();
    let key = ["a"; 126].join(".");
    for number in 0..20 {
        peer.say(format!("SEND\ndestination:/topic/{key}\nreceipt:{number}\n\n\0"));
        assert_eq!(peer.text(), format!("RECEIPT\nreceipt-id:{number}\n\n"));
    }
    peer.half_close();
    assert_eq!(peer.ending(), "end of stream");
    "a RECEIPT for each".into()
}

fn filled_queues(target: &Target) -> String {
    let (mut peer, mut other) = (Peer::login(target.tcp), Peer::login(target.tcp));
    let body = "x".repeat(1_000_000);
    for queue in 0..40 {
        for _ in 0..60 {
            let send = format!("SEND\ndestination:/queue/{queue}\n\n{body}\0");
            if let Flood::Stalled(_) = peer.flood_beside(&mut other, send.as_bytes()) {
                return format!("not read any further, then {}", peer.ending());
            }
        }
    }
    "all of it taken".into()
}

/// What a queue may have beyond what is there for whoever comes first is a quarter of 256 MiB by 16,384.
fn committed_queues(target: &Target) -> String {
    let mut large = Peer::login(target.tcp);
    let body = "x".repeat(1_000_000);
    let mut taken = 0;
    let error = loop {
        commit(&mut large, 15, |_| format!("/queue/{taken}"), &body);
        match large.text() {
            answer if answer == "RECEIPT\nreceipt-id:c\n\n" => taken += 1,
            answer => break answer,
        }
        assert!(taken < 40, "all of it taken");
    };
    let body = "x".repeat(3000);
    for session in 0..15 {
        let mut small = Peer::login(target.tcp);
        commit(&mut small, 1000, |number| format!("/queue/small-{session}-{number}"), &body);
        assert_eq!(small.text(), "RECEIPT\nreceipt-id:c\n\n");
    }
    let error = message(&error);
    format!("RECEIPT to {taken}, then ERROR {error}; RECEIPT to each of the small ones")
}

/// So many SEND in a transaction, and its COMMIT.
fn commit(peer: &mut Peer, count: usize, destination: impl Fn(usize) -> String, body: &str) {
    peer.say("BEGIN\ntransaction:t\n\n\0");
    for number in 0..count {
        let destination = destination(number);
        peer.say(format!("SEND\ndestination:{destination}\ntransaction:t\n\n{body}\0"));
    }
    peer.say("COMMIT\ntransaction:t\nreceipt:c\n\n\0");
}
