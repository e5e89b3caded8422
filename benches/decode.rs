//! Time to decode, next to the octets it covers.

#![expect(missing_docs, reason = "criterion's macros write public items")]
#![expect(clippy::expect_used, clippy::panic, reason = "a bench may panic")]

#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod corpus;

use core::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stomp_proto::Version;
use stomp_proto::codec::{Decoder, DecoderConfig, Scanner, Step};

fn borrowed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode/borrowed");
    for (name, frame) in [
        ("small", corpus::SMALL.to_vec()),
        ("escaped", corpus::ESCAPED.to_vec()),
        ("send-to-nul", corpus::SEND.to_vec()),
        ("large-counted", corpus::large_counted()),
        ("large-to-nul", corpus::large_to_nul()),
    ] {
        let mut scanner = Scanner::new(DecoderConfig::default());
        scanner.set_version(Version::V1_2);
        group.throughput(Throughput::Bytes(frame.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| match scanner.advance(black_box(&frame)) {
                Ok(Step::Frame { consumed, frame }) => (consumed, frame.body().len()),
                other => panic!("{other:?}"),
            });
        });
    }
    // The yardstick of large-to-nul.
    let octets = corpus::large_to_nul();
    group.throughput(Throughput::Bytes(octets.len() as u64));
    group.bench_function("large-to-nul/memchr", |bencher| {
        bencher.iter(|| memchr::memchr(0, black_box(&octets)));
    });
}

fn owned(criterion: &mut Criterion) {
    const FRAMES: usize = 64;
    let stream = corpus::SMALL.repeat(FRAMES);
    let mut group = criterion.benchmark_group("decode/owned/small");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    for read in [16, 1448, 16 << 10] {
        let mut decoder = Decoder::new(DecoderConfig::default());
        decoder.set_version(Version::V1_2);
        group.bench_function(BenchmarkId::from_parameter(read), |bencher| {
            bencher.iter(|| {
                for octets in stream.chunks(read) {
                    decoder.push(octets);
                    while let Some(item) = decoder.next_item().expect("sound octets") {
                        black_box(&item);
                    }
                }
            });
        });
    }
}

criterion_group!(benches, borrowed, owned);
criterion_main!(benches);
