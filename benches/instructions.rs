//! Runs one job a fixed number of times, for callgrind to count: `instructions JOB COUNT`.
//!
//! `benches/callgrind.py` runs it and prints instructions per frame. Without arguments every job
//! runs once.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unreachable,
    reason = "a bench may panic"
)]

mod corpus;
mod sessions;

use core::hint::black_box;
use core::time::Duration;

use bytes::{Buf, BytesMut};
use sessions::{connected, deliver, drain, relay, subscribed, subscriber};
use stomp_proto::codec::{ContentLength, Decoder, DecoderConfig, Item, Scanner, Step, encode};
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Delivery, Event};
use stomp_proto::{HeartBeat, Session, Version};

/// Frames that lie behind each other in one buffer.
const BATCH: usize = 64;

type Job = fn(usize);

const JOBS: [(&str, Job); 23] = [
    ("decode/small/borrowed", |count| borrowed(corpus::SMALL, count)),
    ("decode/small/owned", |count| owned(corpus::SMALL, 4 * corpus::SMALL.len(), count)),
    ("decode/small/owned/16-octet-reads", |count| owned(corpus::SMALL, 16, count)),
    ("decode/small/owned/1448-octet-reads", |count| owned(corpus::SMALL, 1448, count)),
    ("decode/escaped/borrowed", |count| borrowed(corpus::ESCAPED, count)),
    ("decode/send-to-nul/borrowed", |count| borrowed(corpus::SEND, count)),
    ("decode/eol/borrowed", |count| borrowed(b"\n", count)),
    ("decode/eol/owned", eols),
    ("decode/large-counted/borrowed", |count| whole(&corpus::large_counted(), count)),
    ("decode/large-to-nul/borrowed", |count| whole(&corpus::large_to_nul(), count)),
    ("decode/large-counted/owned/16-octet-reads", |count| dripped(&corpus::large_counted(), count)),
    ("decode/large-to-nul/owned/16-octet-reads", |count| dripped(&corpus::large_to_nul(), count)),
    ("encode/send", encoding),
    ("server/relay", relaying),
    ("server/fan-out-1000", fan_out),
    ("server/settle-one-of-1000", |count| settle_one(1000, count)),
    ("server/settle-one-of-100000", |count| settle_one(100_000, count)),
    ("server/settle-all-at-once", settle_all),
    ("server/settle-beside-10000-held", settle_beside_held),
    ("session/beat-in", beats_in),
    ("session/beat-out", beats_out),
    ("client/small/poll-event", |count| client_messages(4 * corpus::SMALL.len(), count)),
    ("client/small/poll-event/one-a-read", |count| client_messages(corpus::SMALL.len(), count)),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let name = arguments.next();
    let count = arguments.next().map_or(1, |count| count.parse().expect("a count"));
    for (job, run) in JOBS {
        if name.as_deref().is_none_or(|name| name == job) {
            run(count);
        }
    }
}

fn scanner() -> Scanner {
    let mut scanner = Scanner::new(DecoderConfig::default());
    scanner.set_version(Version::V1_2);
    scanner
}

fn decoder() -> Decoder {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    decoder
}

/// Scans batches of a frame in a buffer of ours.
fn borrowed(frame: &[u8], count: usize) {
    let buffer = frame.repeat(BATCH);
    let mut scanner = scanner();
    for _ in 0..count.div_ceil(BATCH) {
        scan(&mut scanner, &buffer);
    }
}

/// Scans a frame that is too large for a batch.
fn whole(frame: &[u8], count: usize) {
    let mut scanner = scanner();
    for _ in 0..count {
        scan(&mut scanner, frame);
    }
}

fn scan(scanner: &mut Scanner, buffer: &[u8]) {
    let mut rest = buffer;
    loop {
        let consumed = match scanner.advance(rest).expect("sound octets") {
            Step::NeedMore => break,
            Step::Eol { consumed } | Step::Nul { consumed } => consumed,
            Step::Frame { consumed, frame } => {
                black_box(frame);
                consumed
            }
        };
        rest = &rest[consumed..];
    }
}

/// Feeds batches of a frame to a decoder in reads of some length; frames are dropped at once.
fn owned(frame: &[u8], read: usize, count: usize) {
    let stream = frame.repeat(BATCH);
    let mut decoder = decoder();
    for _ in 0..count.div_ceil(BATCH) {
        for octets in stream.chunks(read) {
            decoder.push(octets);
            while let Some(item) = decoder.next_item().expect("sound octets") {
                black_box(&item);
            }
        }
    }
}

/// Feeds a frame that is too large for a batch in reads of 16 octets.
fn dripped(frame: &[u8], count: usize) {
    let mut decoder = decoder();
    for _ in 0..count {
        for octets in frame.chunks(16) {
            decoder.push(octets);
            while let Some(item) = decoder.next_item().expect("sound octets") {
                black_box(&item);
            }
        }
    }
}

fn eols(count: usize) {
    let mut decoder = decoder();
    for _ in 0..count {
        decoder.push(b"\n");
        while let Some(item) = decoder.next_item().expect("sound octets") {
            black_box(matches!(item, Item::Eol));
        }
    }
}

/// Feeds batches of the small MESSAGE to a client, in reads of some length and turns of 1 ms.
fn client_messages(read: usize, count: usize) {
    let stream = corpus::SMALL.repeat(BATCH);
    let mut now = Duration::ZERO;
    let mut client = subscriber();
    for _ in 0..count.div_ceil(BATCH) {
        for octets in stream.chunks(read) {
            now += Duration::from_millis(1);
            client.receive(octets);
            while let Some(event) = client.poll_event(now) {
                black_box(&event);
            }
        }
    }
}

/// SEND on one session, MESSAGE on another.
fn relaying(count: usize) {
    let (mut from, _) = subscribed(AckMode::Auto);
    let (mut to, subscription) = subscribed(AckMode::Auto);
    let mut out = Vec::new();
    for _ in 0..count {
        relay(&mut from, &mut to, subscription, corpus::SEND, &mut out);
        black_box(&out);
    }
}

/// One message to 1,000 sessions; the count is of deliveries.
fn fan_out(count: usize) {
    const SESSIONS: usize = 1000;
    let mut receivers: Vec<_> = (0..SESSIONS).map(|_| subscribed(AckMode::Auto)).collect();
    for _ in 0..count.div_ceil(SESSIONS) {
        let delivery = Delivery::builder("/topic/a").body(vec![b'x'; 4096]).build();
        for (server, subscription) in &mut receivers {
            server.deliver(*subscription, &delivery, 0).expect("room for a delivery");
            drain(server);
        }
    }
}

/// One ACK of an open delivery among `open`, and another delivery in its place.
fn settle_one(open: u64, count: usize) {
    let (mut server, subscription) = subscribed(AckMode::ClientIndividual);
    deliver(&mut server, subscription, open);
    for tag in 1..=count as u64 {
        // The place that one leaves is taken by the next.
        let slot = (tag - 1) % open;
        server.receive(format!("ACK\nid:a{tag}-{slot}\n\n\0").as_bytes());
        assert!(matches!(server.poll_event(Duration::ZERO), Some(Event::Ack { .. })));
        deliver(&mut server, subscription, 1);
    }
}

/// One ACK of as many deliveries as that.
fn settle_all(count: usize) {
    let (mut server, subscription) = subscribed(AckMode::Client);
    deliver(&mut server, subscription, count as u64);
    server.receive(format!("ACK\nid:a{count}-{}\n\n\0", count - 1).as_bytes());
    assert!(matches!(server.poll_event(Duration::ZERO), Some(Event::Ack { .. })));
}

/// One delivery and a cumulative ACK of it, while an open transaction settles those before it.
fn settle_beside_held(count: usize) {
    const HELD: usize = 10_000;
    let (mut server, subscription) = subscribed(AckMode::Client);
    deliver(&mut server, subscription, HELD as u64);
    let ack = format!("ACK\nid:a{HELD}-{}\ntransaction:t\n\n\0", HELD - 1);
    server.receive(format!("BEGIN\ntransaction:t\n\n\0{ack}").as_bytes());
    assert!(server.poll_event(Duration::ZERO).is_none());
    for tag in HELD + 1..=HELD + count {
        deliver(&mut server, subscription, 1);
        server.receive(format!("ACK\nid:a{tag}-{HELD}\n\n\0").as_bytes());
        assert!(matches!(server.poll_event(Duration::ZERO), Some(Event::Ack { .. })));
    }
}

/// Heart-beats into a session.
fn beats_in(count: usize) {
    let mut client = subscriber();
    for turn in 0..count as u64 {
        client.receive(b"\n");
        assert!(client.poll_event(Duration::from_secs(turn)).is_none());
    }
}

/// Heart-beats out of a session that wants none: when is one due, make it, take it.
fn beats_out(count: usize) {
    let mut client = connected(HeartBeat { can_send: 10_000, wants: 0 });
    for _ in 0..count {
        let Some(due) = client.poll_timeout() else { unreachable!("beats were agreed on") };
        client.handle_timeout(due);
        client.outbox().advance(1);
    }
}

fn encoding(count: usize) {
    let frame = corpus::send();
    let mut out = BytesMut::with_capacity(1024);
    for _ in 0..count {
        out.clear();
        let frame = black_box(&frame).as_frame_ref();
        encode(frame, Version::V1_2, ContentLength::Automatic, &mut out).expect("a sound frame");
        black_box(&out);
    }
}
