//! WebSocket, whose own frames can be abused as well.

use core::fmt::Write;

use crate::attack::{Attack, Target};
use crate::before_login::common;
use crate::peer::{Flood, MARKS, Peer, connect};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "ws-half-a-handshake",
        does: "opens 200 connections, on each half of a WebSocket handshake",
        answer: "end of stream",
        logged: "timed out",
        ceiling: 32,
        waits: 10,
        rounds: 0,
        run: |target| {
            let mut peers: Vec<_> = (0..200).map(|_| Peer::open(target.ws)).collect();
            for peer in &mut peers {
                peer.say(HANDSHAKE.split_at(HANDSHAKE.len() / 2).0);
            }
            common(peers.iter_mut().map(Peer::ending))
        },
    },
    Attack {
        name: "ws-endless-handshake",
        does: "a WebSocket handshake with header lines that do not end",
        answer: "cut off",
        logged: "Space limit exceeded: Too many headers",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = Peer::open(target.ws);
            peer.say("GET / HTTP/1.1\r\n");
            let lines = format!("Authorization: {}\r\n", MARKS[1]).repeat(1_000_000);
            assert_eq!(peer.flood(lines.as_bytes()), Flood::Cut);
            "cut off".into()
        },
    },
    Attack {
        name: "ws-nothing-behind-the-handshake",
        does: "opens 100 WebSockets, and on each pings but says no CONNECT",
        answer: "closed",
        logged: "peer did not answer in time",
        ceiling: 32,
        waits: 10,
        rounds: 0,
        run: |target| {
            let mut peers: Vec<_> = (0..100).map(|_| open(target)).collect();
            for peer in &mut peers {
                peer.say(message(PING, b"there?"));
                assert_eq!(next(peer), (PONG, b"there?".to_vec()));
            }
            common(peers.iter_mut().map(closed))
        },
    },
    Attack {
        name: "ws-almost-whole-before-login",
        does: "on 8 WebSockets a message of 16 MiB before CONNECT, but for its end",
        answer: "closed",
        logged: "peer did not answer in time",
        // The WebSocket holds a message until it is whole, and there is room for half as much again.
        ceiling: 8 * 24 + 16,
        waits: 10,
        rounds: 0,
        run: |target| {
            let mut peers: Vec<_> = (0..8).map(|_| open(target)).collect();
            let octets = fragment(TEXT, &[b'x'; 64 << 10]);
            for peer in &mut peers {
                for number in 0..255 {
                    let kind = if number == 0 { TEXT } else { CONTINUATION };
                    peer.say([&[kind], &octets[1..]].concat());
                }
            }
            common(peers.iter_mut().map(closed))
        },
    },
    Attack {
        name: "ws-gigabyte-announced",
        does: "SEND of a gigabyte, in messages of 64 KiB",
        answer: "ERROR body too large, closed",
        logged: "protocol error: body exceeds 16777216 octets",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = login(target);
            let head = "SEND\ndestination:/queue/a\ncontent-length:1073741824\n\n";
            peer.say(message(TEXT, head.as_bytes()));
            peer.flood(&message(TEXT, &[b'x'; 64 << 10]).repeat(1000));
            let (_, error) = next(&mut peer);
            let error = String::from_utf8(error).unwrap();
            format!("ERROR {}, {}", crate::peer::message(&error), closed(&mut peer))
        },
    },
    Attack {
        name: "ws-giant-frame",
        does: "a WebSocket frame of 2^62 octets",
        answer: "cut off",
        logged: "connection was lost",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = login(target);
            peer.say(head(TEXT, Fragment::Last, 1 << 62));
            cut(&mut peer, MARKS[1].repeat(1_000_000).as_bytes())
        },
    },
    Attack {
        name: "ws-endless-fragments",
        does: "a WebSocket message in fragments that do not end",
        answer: "cut off",
        logged: "connection was lost",
        ceiling: 80,
        waits: 0,
        rounds: 0,
        run: |target| {
            let mut peer = login(target);
            peer.say(fragment(TEXT, &[b'\n'; 64 << 10]));
            cut(&mut peer, &fragment(CONTINUATION, &[b'\n'; 64 << 10]).repeat(1600))
        },
    },
    Attack {
        name: "ws-empty-fragments",
        does: "a WebSocket message in 1,000,000 fragments of nothing, and then a SEND in it",
        answer: "its RECEIPT",
        logged: "connection was lost",
        ceiling: 32,
        waits: 0,
        rounds: 10,
        run: |target| {
            let mut peer = login(target);
            peer.say(fragment(TEXT, b""));
            peer.say(fragment(CONTINUATION, b"").repeat(1_000_000));
            let begin = b"BEGIN\ntransaction:t\nreceipt:r\n\n\0";
            peer.say(message(CONTINUATION, begin));
            assert_eq!(next(&mut peer), (TEXT, b"RECEIPT\nreceipt-id:r\n\n\0".to_vec()));
            peer.half_close();
            "its RECEIPT".into()
        },
    },
    Attack {
        name: "ws-pings-unread",
        does: "400,000 pings, and reads no pong",
        answer: "fewer pongs than pings, closed",
        logged: "peer closed the connection",
        ceiling: 48,
        waits: 10,
        rounds: 0,
        run: pings_unread,
    },
    Attack {
        name: "ws-broken-frames",
        does: "frames without a mask, of no kind that there is, of text that is no UTF-8",
        answer: "cut off",
        logged: "connection was lost",
        ceiling: 32,
        waits: 0,
        rounds: 0,
        run: |target| {
            let unmasked = [0x80 | TEXT, 4, b'B', b'E', b'G', b'I'];
            let no_kind = message(0x3, b"x");
            let no_text = message(TEXT, b"\xff\xfe");
            common([&unmasked[..], &no_kind, &no_text].into_iter().map(|octets| {
                let mut peer = login(target);
                peer.say(octets);
                cut(&mut peer, &message(PING, b"").repeat(1_000_000))
            }))
        },
    },
];

const HANDSHAKE: &str = "GET /stomp HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n\
    Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
// RFC 6455, 5.2.
const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// Which part of a message a frame is.
#[derive(Clone, Copy)]
enum Fragment {
    Last,
    MoreFollow,
}

fn open(target: &Target) -> Peer {
    let mut peer = Peer::open(target.ws);
    peer.say(HANDSHAKE);
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.extend(peer.octets(1));
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "));
    peer
}

fn login(target: &Target) -> Peer {
    let mut peer = open(target);
    peer.say(message(TEXT, connect("1.2").as_bytes()));
    let (_, connected) = next(&mut peer);
    assert!(connected.starts_with(b"CONNECTED\n"));
    peer
}

/// The head of a frame, with a mask that leaves all as it is.
fn head(kind: u8, fragment: Fragment, len: u64) -> Vec<u8> {
    let mut head = match fragment {
        Fragment::Last => vec![0x80 | kind],
        Fragment::MoreFollow => vec![kind],
    };
    match u16::try_from(len) {
        Ok(len @ 0..=125) => head.push(0x80 | len.to_be_bytes()[1]),
        Ok(len) => {
            head.push(0x80 | 0x7e);
            head.extend(len.to_be_bytes());
        }
        Err(_) => {
            head.push(0x80 | 0x7f);
            head.extend(len.to_be_bytes());
        }
    }
    head.extend([0; 4]);
    head
}

fn message(kind: u8, octets: &[u8]) -> Vec<u8> {
    [&head(kind, Fragment::Last, octets.len() as u64), octets].concat()
}

fn fragment(kind: u8, octets: &[u8]) -> Vec<u8> {
    [&head(kind, Fragment::MoreFollow, octets.len() as u64), octets].concat()
}

/// The next frame: its kind and what it holds.
fn next(peer: &mut Peer) -> (u8, Vec<u8>) {
    let head = peer.octets(2);
    assert_eq!(head[0] & 0x80, 0x80, "a fragment");
    let len = match head[1] {
        126 => u16::from_be_bytes(peer.octets(2).try_into().unwrap()).into(),
        127 => panic!("a long frame"),
        len => usize::from(len),
    };
    (head[0] & 0xf, peer.octets(len))
}

/// The broker has closed it in order.
fn closed(peer: &mut Peer) -> String {
    assert_eq!(next(peer).0, CLOSE);
    peer.say(message(CLOSE, b""));
    assert_eq!(peer.ending(), "end of stream");
    "closed".into()
}

/// It comes to nothing but its end, whatever else is sent.
fn cut(peer: &mut Peer, octets: &[u8]) -> String {
    match peer.flood(octets) {
        Flood::Cut => "cut off".into(),
        flood => format!("{flood:?}"),
    }
}

const PINGS: usize = 400_000;

fn pings_unread(target: &Target) -> String {
    let mut octets = Vec::new();
    let mut text = String::new();
    for number in 0..PINGS {
        text.clear();
        write!(text, "{number:0125}").unwrap();
        octets.extend(message(PING, text.as_bytes()));
    }
    let mut peer = login(target);
    peer.say(octets);
    peer.say(message(CLOSE, b""));
    // RFC 6455, 5.5.3: only the last of them has to be answered.
    let mut pongs = 0;
    while next(&mut peer).0 == PONG {
        pongs += 1;
    }
    assert_eq!(peer.ending(), "end of stream");
    match pongs {
        1..PINGS => "fewer pongs than pings, closed".into(),
        pongs => format!("{pongs} pongs"),
    }
}
