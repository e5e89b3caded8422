//! Before CONNECT: nobody has said who it is, and nobody gets far.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use crate::attack::{Attack, Target};
use crate::peer::{MARKS, PATIENCE, Peer};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "says-nothing",
        does: "opens 200 connections and says nothing",
        answer: "end of stream",
        logged: "peer did not answer in time",
        ceiling: 32,
        waits: 10,
        rounds: 0,
        run: says_nothing,
    },
    Attack {
        name: "slow-loris",
        does: "opens 200 connections, on each an octet of CONNECT at a time; half of them fall silent",
        answer: "end of stream",
        logged: "peer did not answer in time",
        ceiling: 32,
        waits: 10,
        rounds: 0,
        run: slow_loris,
    },
    Attack {
        name: "line-ends-before-login",
        does: "1,000,000 line ends",
        answer: "ERROR malformed frame",
        logged: "protocol error: more than 64 line ends before the handshake at octet 64",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = Peer::open(target.tcp);
            peer.flood(&[b'\n'; 1_000_000]);
            peer.ending()
        },
    },
    Attack {
        name: "endless-command",
        does: "a command that does not end",
        answer: "ERROR Illegal command; cut off",
        logged: "protocol error: unknown command at octet 7",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, "", "CONNECT"),
    },
    Attack {
        name: "endless-header-before-login",
        does: "CONNECT with a `passcode` that does not end",
        answer: "ERROR head too large; cut off",
        logged: "protocol error: head exceeds 16384 octets at octet 16384",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, "CONNECT\npasscode:", MARKS[1]),
    },
    Attack {
        name: "endless-headers-before-login",
        does: "CONNECT with header lines that do not end",
        answer: "ERROR head too large; cut off",
        logged: "protocol error: more than 128 header lines",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| endless(target, "CONNECT\n", &format!("passcode:{}\n", MARKS[1])),
    },
    Attack {
        name: "endless-body-before-login",
        does: "CONNECT that announces a gigabyte, and then a body that does not end",
        answer: "ERROR body too large; cut off",
        logged: "protocol error: body exceeds 16384 octets",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| {
            let head = format!("CONNECT\npasscode:{}\ncontent-length:1073741824\n\n", MARKS[1]);
            endless(target, &head, "body")
        },
    },
    Attack {
        name: "send-before-login",
        does: "SEND of a gigabyte in the place of CONNECT",
        answer: "ERROR Illegal command; cut off",
        logged: "protocol error: SEND before CONNECT",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| {
            let mut peer = Peer::open(target.tcp);
            peer.say("SEND\n");
            // It is not waited for more than that.
            peer.await_answer();
            peer.flood_on(&b"content-length:1073741824\n".repeat(8192))
        },
    },
    Attack {
        name: "http",
        does: "an HTTP request, headers without end",
        answer: "end of stream; cut off",
        logged: "protocol error: peer speaks HTTP, not STOMP",
        ceiling: 32,
        waits: 5,
        rounds: 0,
        run: |target| {
            endless(target, "GET / HTTP/1.1\r\n", &format!("Authorization: {}\r\n", MARKS[1]))
        },
    },
];

/// What a connection comes to that starts so, and goes on for as long as it is let.
fn endless(target: &Target, start: &str, over_and_over: &str) -> String {
    let mut peer = Peer::open(target.tcp);
    peer.say(start);
    peer.flood_on(over_and_over.repeat(8192).as_bytes())
}

fn says_nothing(target: &Target) -> String {
    let mut peers: Vec<_> = (0..200).map(|_| Peer::open(target.tcp)).collect();
    common(peers.iter_mut().map(Peer::ending))
}

fn slow_loris(target: &Target) -> String {
    let mut peers: Vec<_> = (0..200).map(|_| Peer::open(target.tcp)).collect();
    let [login, passcode] = MARKS;
    let start = format!("CONNECT\nlogin:{login}\npasscode:{passcode}");
    let mut octets = start.bytes().chain(core::iter::repeat(b'x'));
    let mut endings = vec![None; peers.len()];
    let start = Instant::now();
    for turn in 0.. {
        let octet = [octets.next().unwrap()];
        for (index, (peer, ending)) in peers.iter_mut().zip(&mut endings).enumerate() {
            let is_silent = index % 2 == 0 && turn > 10;
            *ending = ending.take().or_else(|| peer.ending_by_now());
            if ending.is_none() && !is_silent {
                // It may end just now.
                peer.flood(&octet);
            }
        }
        if endings.iter().all(Option::is_some) {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "neither answered nor cut off");
        thread::sleep(Duration::from_millis(100));
    }
    common(endings.into_iter().flatten())
}

/// What all of them came to.
pub(crate) fn common(endings: impl Iterator<Item = String>) -> String {
    let mut all: Vec<_> = endings.collect();
    all.sort();
    all.dedup();
    all.join(", or ")
}
