//! Peers that never read what they are owed.

use core::fmt::Write;

use crate::attack::{Attack, Target};
use crate::peer::{Flood, Peer};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "receipts-unread",
        does: "SEND after SEND with a receipt of 16 KiB, 400 MB of them, and reads nothing",
        answer: "not read any further",
        logged: "connection was lost",
        ceiling: 64,
        waits: 5,
        rounds: 0,
        run: receipts_unread,
    },
    Attack {
        name: "receipts-read-late",
        does: "BEGIN and ABORT with receipts of 1 KiB, 40 MB of them, and reads when it has written all",
        answer: "not read any further until it reads, then each RECEIPT",
        logged: "peer closed the connection",
        ceiling: 64,
        waits: 5,
        rounds: 0,
        run: receipts_read_late,
    },
    Attack {
        name: "topic-unread",
        does: "subscribes to a topic and reads nothing, while another one sends it 200 MB",
        answer: "the other one a RECEIPT for each",
        logged: "connection was lost",
        ceiling: 128,
        waits: 0,
        rounds: 0,
        run: topic_unread,
    },
    Attack {
        name: "queue-unread",
        does: "subscribes to a queue and reads nothing, while another one sends it 200 MB",
        answer: "the other one is not read any further",
        logged: "connection was lost",
        ceiling: 128,
        waits: 5,
        rounds: 0,
        run: queue_unread,
    },
    Attack {
        name: "settles-nothing",
        does: "with prefetch-count 65535 reads 100,000 messages and settles none",
        answer: "65535 messages",
        logged: "peer closed the connection",
        ceiling: 160,
        waits: 5,
        rounds: 0,
        run: settles_nothing,
    },
];

const MEGABYTE: usize = 1_000_000;
/// What a session may have to write before nothing more of its peer is read.
const OUTBOX: usize = 16 << 20;
/// What a queue may have before nothing more is read of whoever sends to it.
const QUEUE: usize = 64 << 20;
/// What sockets, and the outbox where it is not that, may have taken as well, at the most.
const ON_THE_WAY: usize = 32 << 20;

fn receipts_unread(target: &Target) -> String {
    let receipt = "r".repeat(16 << 10);
    let send = format!("SEND\ndestination:/topic/nobody\nreceipt:{receipt}\n\n\0");
    let mut peer = Peer::login(target.tcp);
    match flood(target, &mut peer, send.as_bytes(), 400 * MEGABYTE) {
        // There is a RECEIPT for each, which is almost as long.
        Flood::Stalled(taken) if is_full(taken, OUTBOX) => "not read any further".into(),
        flood => format!("{flood:?}"),
    }
}

fn receipts_read_late(target: &Target) -> String {
    const COUNT: usize = 20_000;
    let fill = "r".repeat(1000);
    let mut frames = String::new();
    for number in 0..COUNT {
        write!(frames, "BEGIN\ntransaction:t\nreceipt:b{number}{fill}\n\n\0").unwrap();
        write!(frames, "ABORT\ntransaction:t\nreceipt:a{number}{fill}\n\n\0").unwrap();
    }
    let (mut peer, mut other) = (Peer::login(target.tcp), Peer::login(target.tcp));
    let flood = peer.flood_beside(&mut other, frames.as_bytes());
    let Flood::Stalled(taken) = flood else { return format!("{flood:?}") };
    assert!(is_full(taken, OUTBOX), "{flood:?}");
    let rest = frames.as_bytes()[taken..].to_vec();
    peer.say_meanwhile(rest, |peer| {
        for number in 0..COUNT {
            assert_eq!(peer.text(), format!("RECEIPT\nreceipt-id:b{number}{fill}\n\n"));
            assert_eq!(peer.text(), format!("RECEIPT\nreceipt-id:a{number}{fill}\n\n"));
        }
    });
    peer.half_close();
    assert_eq!(peer.ending(), "end of stream");
    "not read any further until it reads, then each RECEIPT".into()
}

fn topic_unread(target: &Target) -> String {
    let mut slow = Peer::login(target.tcp);
    slow.say("SUBSCRIBE\nid:0\ndestination:/topic/a\nreceipt:s\n\n\0");
    slow.frame();
    let mut sender = Peer::login(target.tcp);
    let body = "x".repeat(MEGABYTE);
    for number in 0..200 {
        sender.say(format!("SEND\ndestination:/topic/a\nreceipt:{number}\n\n{body}\0"));
        assert_eq!(sender.text(), format!("RECEIPT\nreceipt-id:{number}\n\n"));
    }
    "the other one a RECEIPT for each".into()
}

fn queue_unread(target: &Target) -> String {
    let mut slow = Peer::login(target.tcp);
    slow.say("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client\nreceipt:s\n\n\0");
    slow.frame();
    let mut sender = Peer::login(target.tcp);
    let send = format!("SEND\ndestination:/queue/a\n\n{}\0", "x".repeat(MEGABYTE));
    match flood(target, &mut sender, send.as_bytes(), 200 * MEGABYTE) {
        Flood::Stalled(taken) if is_full(taken, QUEUE) => {
            "the other one is not read any further".into()
        }
        flood => format!("{flood:?}"),
    }
}

fn settles_nothing(target: &Target) -> String {
    const COUNT: usize = 100_000;
    let mut peer = Peer::login(target.tcp);
    let subscribe = "SUBSCRIBE\nid:0\ndestination:/queue/a\nack:client\nprefetch-count:65535\n";
    peer.say(format!("{subscribe}receipt:s\n\n\0"));
    peer.frame();
    let mut sender = Peer::login(target.tcp);
    let sends = "SEND\ndestination:/queue/a\n\n\0".repeat(COUNT);
    sender.say(sends.as_bytes());
    for _ in 0..u16::MAX {
        let message = peer.text();
        assert!(message.starts_with("MESSAGE\n"), "{message}");
    }
    // The broker has all of the others, and would have written what it had more.
    sender.sync();
    peer.half_close();
    assert_eq!(peer.rest(), [""; 0]);
    "65535 messages".into()
}

/// Whether what was taken is what has so many octets, and what is on the way there.
fn is_full(taken: usize, octets: usize) -> bool {
    (octets..octets + ON_THE_WAY).contains(&taken)
}

/// Writes that over and over, so many octets at the most.
fn flood(target: &Target, peer: &mut Peer, piece: &[u8], most: usize) -> Flood {
    let mut other = Peer::login(target.tcp);
    let mut taken = 0;
    while taken < most {
        match peer.flood_beside(&mut other, piece) {
            Flood::Taken => taken += piece.len(),
            Flood::Cut => return Flood::Cut,
            Flood::Stalled(count) => return Flood::Stalled(taken + count),
        }
    }
    Flood::Taken
}
