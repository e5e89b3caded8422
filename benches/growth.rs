//! Does one thing at one size a fixed number of times: `growth JOB SIZE COUNT [ROUNDS]`.
//!
//! `benches/growth.py` runs it and shows what grows with the size and what does not. It prints how
//! many units of cost one round had, and the nanoseconds of the fastest. Without arguments every job
//! runs once at a small size.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench may panic and print"
)]

#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod corpus;
#[path = "../tests/allocations/counting.rs"]
#[expect(dead_code, reason = "shared with the tests of allocations, which use all of it")]
mod counting;
#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod sessions;

extern crate alloc;

use alloc::collections::VecDeque;
use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use bytes::Buf;
use counting::{counted, held};
use sessions::{Broker, deliver, relay, subscribed, subscribed_in};
use stomp_proto::codec::{Decoder, DecoderConfig, Item};
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Delivery, Event};
use stomp_proto::{Session, Version};

/// Does as many as that, and says how many units of cost that had.
type Round = Box<dyn FnMut(usize) -> usize>;

/// Sets a job up for a size.
type SetUp = fn(usize) -> Round;

const JOBS: [(&str, SetUp); 10] = [
    ("read/small", |read| reading(&corpus::SMALL.repeat(STREAM), read)),
    ("read/large-counted", |read| reading(&corpus::large_counted(), read)),
    ("read/large-to-nul", |read| reading(&corpus::large_to_nul(), read)),
    ("ack/1.2", |open| acknowledging(Version::V1_2, open)),
    ("ack/1.1", |open| acknowledging(Version::V1_1, open)),
    ("ack/1.0", |open| acknowledging(Version::V1_0, open)),
    ("settle", settling),
    ("idle", idling),
    ("relay", relaying),
    ("copy", copying),
];

/// Small frames in a stream that is longer than the longest read.
const STREAM: usize = 3328;

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let arguments: Vec<_> = arguments.collect();
    let name = arguments.first();
    let number = |at: usize, default: usize| match arguments.get(at) {
        Some(number) => number.parse().expect("a number"),
        None => default,
    };
    let (size, count, rounds) = (number(1, 1000), number(2, 1), number(3, 1));
    for (job, set_up) in JOBS {
        if name.is_none_or(|name| name == job) {
            run(job, set_up, size, count, rounds);
        }
    }
}

fn run(job: &str, set_up: SetUp, size: usize, count: usize, rounds: usize) {
    let (held, mut round) = held(|| set_up(size));
    let (mut units, mut allocations, mut nanoseconds) = (0, 0, u128::MAX);
    for _ in 0..rounds {
        let start = Instant::now();
        allocations = counted(|| units = round(count)).allocations;
        nanoseconds = nanoseconds.min(start.elapsed().as_nanos());
    }
    println!(
        "{{\"job\": \"{job}\", \"size\": {size}, \"units\": {units}, \"held\": {held}, \
         \"allocations\": {allocations}, \"nanoseconds\": {nanoseconds}}}"
    );
}

/// Frames to owned ones, in reads of some length. Units: octets.
fn reading(stream: &[u8], read: usize) -> Round {
    let stream = stream.to_vec();
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    Box::new(move |count| {
        for _ in 0..count {
            let mut frames = 0;
            for octets in stream.chunks(read) {
                decoder.push(octets);
                while let Some(item) = decoder.next_item().expect("sound octets") {
                    frames += usize::from(matches!(black_box(&item), Item::Frame(_)));
                }
            }
            assert!(frames == 1 || frames == STREAM, "{frames} frames");
        }
        count * stream.len()
    })
}

/// An ACK of one of many open deliveries, all over the place, and another delivery for it. Units: ACKs.
fn acknowledging(version: Version, open: usize) -> Round {
    /// No divisor of a number of deliveries that is asked for.
    const STRIDE: usize = 611_953;
    let (mut server, subscription) = subscribed_in(version, AckMode::ClientIndividual);
    deliver(&mut server, subscription, open as u64);
    // The number of the delivery in each place.
    let mut places: Vec<_> = (1..=open).collect();
    let mut last = open;
    let mut place = 0;
    Box::new(move |count| {
        for _ in 0..count {
            place = (place + STRIDE) % open;
            let tag = places[place];
            let id = match version {
                Version::V1_2 => format!("id:a{tag}-{place}"),
                _ => format!("subscription:0\nmessage-id:{tag}-{place}"),
            };
            server.receive(format!("ACK\n{id}\n\n\0").as_bytes());
            match server.poll_event(Duration::ZERO) {
                Some(Event::Ack { deliveries, .. }) => assert_eq!(deliveries.len(), 1),
                other => panic!("no ACK of {tag}: {other:?}"),
            }
            deliver(&mut server, subscription, 1);
            last += 1;
            places[place] = last;
        }
        assert_eq!(server.unacknowledged(), open);
        count
    })
}

/// That many deliveries, and one ACK of all. Units: deliveries.
fn settling(open: usize) -> Round {
    let (mut server, subscription) = subscribed(AckMode::Client);
    Box::new(move |count| {
        for _ in 0..count {
            deliver(&mut server, subscription, open as u64 - 1);
            let last = Delivery::builder("/q").body("hello").build();
            server.deliver(subscription, &last, 0).expect("room for a delivery");
            let len = server.outbox().remaining();
            let octets = server.outbox().copy_to_bytes(len);
            let message = core::str::from_utf8(&octets).expect("a text");
            let ack = message.lines().find_map(|line| line.strip_prefix("ack:")).expect("an id");
            server.receive(format!("ACK\nid:{ack}\n\n\0").as_bytes());
            match server.poll_event(Duration::ZERO) {
                Some(Event::Ack { deliveries, .. }) => assert_eq!(deliveries.len(), open),
                other => panic!("no ACK of {ack}: {other:?}"),
            }
        }
        assert_eq!(server.unacknowledged(), 0);
        count * open
    })
}

/// Sessions that only beat, in one loop: the next that is due beats, and hears its peer. Units: turns
/// of a session, one beat in and one out.
fn idling(connections: usize) -> Round {
    let mut sessions: Vec<Broker> =
        (0..connections).map(|_| subscribed(AckMode::Client).0).collect();
    // All beat at the same interval: who is put off comes after all others, and no heap is needed.
    let mut queue: VecDeque<_> = (0..connections).collect();
    let mut turns = move |count| {
        let mut beats = 0;
        for _ in 0..count {
            let id = queue.pop_front().expect("a session");
            let session = &mut sessions[id];
            let due = session.poll_timeout().expect("beats were agreed on");
            session.handle_timeout(due);
            assert!(session.poll_event(due).is_none());
            let outbox = session.outbox();
            let len = outbox.remaining();
            outbox.advance(len);
            beats += len;
            // The other end is not in step.
            let later = due + Duration::from_secs(1);
            session.receive(b"\n");
            assert!(session.poll_event(later).is_none());
            queue.push_back(id);
        }
        assert_eq!(beats, count, "a beat each");
        count
    };
    // What it took to connect is given back by now.
    turns(3 * connections);
    Box::new(turns)
}

/// A SEND with a body of that many octets into one session, a MESSAGE out of another, written. Units:
/// frames.
fn relaying(body: usize) -> Round {
    let send = send(body);
    let (mut from, _) = subscribed(AckMode::Auto);
    let (mut to, subscription) = subscribed(AckMode::Auto);
    let mut out = Vec::new();
    Box::new(move |count| {
        for _ in 0..count {
            relay(&mut from, &mut to, subscription, &send, &mut out);
            assert!(black_box(&out).len() > body);
        }
        count
    })
}

/// The yardstick of it: the same octets copied in and out. Units: frames.
fn copying(body: usize) -> Round {
    let send = send(body);
    let (mut inbox, mut out) = (Vec::new(), Vec::new());
    Box::new(move |count| {
        for _ in 0..count {
            inbox.clear();
            inbox.extend_from_slice(black_box(&send));
            out.clear();
            out.extend_from_slice(black_box(&inbox));
            black_box(&out);
        }
        count
    })
}

fn send(body: usize) -> Vec<u8> {
    let head = corpus::SEND.split(|&octet| octet == b'{').next().unwrap_or_default();
    [head, &b"x".repeat(body), b"\0"].concat()
}
