//! Behind CONNECT: frames that are too long in every way that there is.

use crate::attack::{Attack, Target};
use crate::before_login::common;
use crate::peer::{MARKS, Peer};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "gigabyte-announced",
        does: "SEND with `content-length:1073741824`, and then its octets",
        answer: "ERROR body too large; cut off",
        logged: "protocol error: body exceeds 16777216 octets",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| {
            let head = format!("{SEND}passcode:{}\ncontent-length:1073741824\n\n", MARKS[1]);
            endless(target, &head, "body")
        },
    },
    Attack {
        name: "endless-body",
        does: "SEND without `content-length`, and a body that does not end",
        answer: "ERROR body too large; cut off",
        logged: "protocol error: body exceeds 16777216 octets",
        ceiling: 64,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, &format!("{SEND}\n"), MARKS[1]),
    },
    Attack {
        name: "endless-header",
        does: "SEND with a header line that does not end",
        answer: "ERROR head too large; cut off",
        logged: "protocol error: head exceeds 65536 octets",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, &format!("{SEND}passcode:"), MARKS[1]),
    },
    Attack {
        name: "million-headers",
        does: "SEND with 1,000,000 header lines",
        answer: "ERROR head too large",
        logged: "protocol error: more than 128 header lines",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = Peer::login(target.tcp);
            peer.say(SEND);
            peer.flood(&b"passcode:markedpasscode\n".repeat(1_000_000));
            peer.ending()
        },
    },
    Attack {
        name: "bad-command",
        does: "a command that there is not, and does not end",
        answer: "ERROR Bad command; cut off",
        logged: "protocol error: unknown command",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, "SUBSCRIBER", "markedpasscode"),
    },
    Attack {
        name: "line-ends-and-nuls",
        does: "1,000,000 line ends and 1,000,000 NULs between two frames",
        answer: "nothing but the RECEIPT of the second",
        logged: "peer closed the connection",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = Peer::login(target.tcp);
            peer.flood(&[b'\n'; 1_000_000]);
            peer.flood(&[0; 1_000_000]);
            peer.say("BEGIN\ntransaction:t\nreceipt:r\n\n\0");
            assert_eq!(peer.text(), "RECEIPT\nreceipt-id:r\n\n");
            peer.half_close();
            assert_eq!(peer.ending(), "end of stream");
            "nothing but the RECEIPT of the second".into()
        },
    },
    Attack {
        name: "almost-whole",
        does: "on 8 connections SEND of 16 MiB but for the last octet, and ends its stream",
        answer: "ERROR malformed frame",
        logged: "protocol error: stream ended inside a frame",
        // All of them are held at a time, and there is room for half as much again.
        ceiling: 8 * 24 + 16,
        waits: 0,
        rounds: 0,
        run: |target| {
            let body = vec![b'x'; (16 << 20) - 1];
            let mut peers: Vec<_> = (0..8).map(|_| Peer::login(target.tcp)).collect();
            for peer in &mut peers {
                peer.say(format!("{SEND}content-length:16777216\n\n"));
                peer.say(&body);
            }
            common(peers.iter_mut().map(|peer| {
                peer.half_close();
                peer.ending()
            }))
        },
    },
];

const SEND: &str = "SEND\ndestination:/queue/a\n";

/// What a session comes to in which that is sent, for as long as it is let.
fn endless(target: &Target, start: &str, over_and_over: &str) -> String {
    let mut peer = Peer::login(target.tcp);
    peer.say(start);
    peer.flood_on(over_and_over.repeat(8192).as_bytes())
}
