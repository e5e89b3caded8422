//! Time to encode into a buffer that is used again.

#![expect(missing_docs, reason = "criterion's macros write public items")]
#![expect(clippy::expect_used, clippy::panic, reason = "a bench may panic")]

#[expect(dead_code, reason = "shared by the benches, each of which uses a part")]
mod corpus;

use core::hint::black_box;

use bytes::BytesMut;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stomp_proto::codec::{ContentLength, Decoder, DecoderConfig, Item, encode};
use stomp_proto::{Frame, Version};

fn encoding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for (name, frame) in [
        ("send", corpus::send()),
        ("small", decoded(corpus::SMALL)),
        ("escaped", decoded(corpus::ESCAPED)),
    ] {
        let mut out = BytesMut::new();
        let write = |out: &mut BytesMut| {
            out.clear();
            let frame = black_box(&frame).as_frame_ref();
            encode(frame, Version::V1_2, ContentLength::Automatic, out).expect("a sound frame");
        };
        write(&mut out);
        group.throughput(Throughput::Bytes(out.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| write(&mut out)));
    }
}

fn decoded(octets: &[u8]) -> Frame {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    decoder.push(octets);
    match decoder.next_item() {
        Ok(Some(Item::Frame(frame))) => frame,
        other => panic!("{other:?}"),
    }
}

criterion_group!(benches, encoding);
criterion_main!(benches);
