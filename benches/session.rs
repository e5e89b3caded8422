//! Time that sessions take: events, relaying, fan-out, settling, heart-beats.

#![expect(missing_docs, reason = "criterion's macros write public items")]
#![expect(clippy::expect_used, clippy::panic, reason = "a bench may panic")]

#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod corpus;
mod sessions;

use core::hint::black_box;
use core::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sessions::{deliver, drain, relay, subscribed, subscriber};
use stomp_proto::Session;
use stomp_proto::frame::AckMode;
use stomp_proto::server::{Delivery, Event};

fn events(criterion: &mut Criterion) {
    const FRAMES: usize = 64;
    let stream = corpus::SMALL.repeat(FRAMES);
    let mut client = subscriber();
    let mut group = criterion.benchmark_group("session");
    group.throughput(Throughput::Elements(FRAMES as u64));
    group.bench_function("client/poll-event/small", |bencher| {
        bencher.iter(|| {
            for octets in stream.chunks(1448) {
                client.receive(octets);
                while let Some(event) = client.poll_event(Duration::ZERO) {
                    black_box(&event);
                }
            }
        });
    });
    group.finish();
}

fn relaying(criterion: &mut Criterion) {
    const SESSIONS: u64 = 1000;
    let mut group = criterion.benchmark_group("session");
    group.throughput(Throughput::Elements(1));
    let (mut from, _) = subscribed(AckMode::Auto);
    let (mut to, subscription) = subscribed(AckMode::Auto);
    let mut out = Vec::with_capacity(1 << 12);
    group.bench_function("relay/send-to-message", |bencher| {
        bencher.iter(|| relay(&mut from, &mut to, subscription, corpus::SEND, &mut out));
    });

    let mut receivers: Vec<_> = (0..SESSIONS).map(|_| subscribed(AckMode::Auto)).collect();
    group.throughput(Throughput::Elements(SESSIONS));
    group.bench_function("fan-out/1000", |bencher| {
        bencher.iter(|| {
            let delivery = Delivery::builder("/topic/a").body(vec![b'x'; 4096]).build();
            for (server, subscription) in &mut receivers {
                server.deliver(*subscription, &delivery, 0).expect("room for a delivery");
                drain(server);
            }
        });
    });
    group.finish();
}

fn settling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("session/settle");
    // One of many, and another in its place.
    let (mut server, subscription) = subscribed(AckMode::ClientIndividual);
    deliver(&mut server, subscription, 100_000);
    let mut tag = 50_000;
    group.throughput(Throughput::Elements(1));
    group.bench_function("one-of-100000", |bencher| {
        bencher.iter(|| {
            tag += 1;
            let slot = if tag <= 100_000 { tag - 1 } else { 50_000 + (tag - 100_001) % 50_000 };
            server.receive(format!("ACK\nid:a{tag}-{slot}\n\n\0").as_bytes());
            let Some(Event::Ack { deliveries, .. }) = server.poll_event(Duration::ZERO) else {
                panic!("no ACK of {tag}");
            };
            deliver(&mut server, subscription, 1);
            deliveries.len()
        });
    });
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("10000-at-once", |bencher| {
        let filled = || {
            let (mut server, subscription) = subscribed(AckMode::Client);
            deliver(&mut server, subscription, 10_000);
            server.receive(b"ACK\nid:a10000-9999\n\n\0");
            server
        };
        let settle = |mut server: sessions::Broker| match server.poll_event(Duration::ZERO) {
            Some(Event::Ack { deliveries, .. }) => (deliveries.len(), server),
            other => panic!("{other:?}"),
        };
        bencher.iter_batched(filled, settle, BatchSize::LargeInput);
    });
    group.finish();
}

fn heart_beats(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("session");
    group.bench_function("idle-hour-of-beats", |bencher| {
        let session = || subscribed(AckMode::Auto).0;
        let idle = |mut server: sessions::Broker| {
            let mut now = Duration::ZERO;
            let mut beats = 0;
            server.poll_event(now);
            while now < Duration::from_secs(3600) {
                let Some(deadline) = server.poll_timeout() else { panic!("no deadline") };
                now = deadline;
                server.receive(b"\n");
                server.handle_timeout(now);
                assert!(server.poll_event(now).is_none());
                beats += usize::from(server.outbox().next_frame().is_some());
            }
            beats
        };
        bencher.iter_batched(session, idle, BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(benches, events, relaying, settling, heart_beats);
criterion_main!(benches);
