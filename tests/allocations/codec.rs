//! The codec: no allocation for a frame once the buffers have their size.

use bytes::BytesMut;
use stomp_proto::codec::{ContentLength, Decoder, DecoderConfig, Item, Scanner, Step, encode};
use stomp_proto::{Frame, Version};

use super::corpus::{self, SMALL as MESSAGE};
use super::counting::{Count, counted};

const FRAMES: usize = 1000;

/// The corpora of the benches, each with how many frames of it are enough.
fn corpora() -> [(&'static str, Vec<u8>, usize); 6] {
    [
        ("small", corpus::SMALL.to_vec(), FRAMES),
        ("escaped", corpus::ESCAPED.to_vec(), FRAMES),
        ("send", corpus::SEND.to_vec(), FRAMES),
        ("beats", [corpus::SMALL, b"\n\n"].concat(), FRAMES),
        ("large, counted", corpus::large_counted(), 2),
        ("large, to NUL", corpus::large_to_nul(), 2),
    ]
}

#[test]
fn a_decoder_does_not_allocate_for_frames_that_are_dropped_before_the_next_read() {
    for (name, frame, count) in corpora() {
        let stream = frame.repeat(count);
        for read in [4096, 1448, 322, 16] {
            let mut decoder = decoder();
            let mut frames = 0;
            let mut run = || {
                for octets in stream.chunks(read) {
                    decoder.push(octets);
                    while let Ok(Some(item)) = decoder.next_item() {
                        let Item::Frame(frame) = item else { continue };
                        assert!(frame.body().len() >= 64);
                        frames += 1;
                    }
                }
            };
            run();
            assert_eq!(counted(run), Count::NONE, "{name}, reads of {read}");
            assert_eq!(frames, 2 * count, "{name}, reads of {read}");
        }
    }
}

#[test]
fn nor_for_frames_that_come_octet_by_octet() {
    let mut decoder = decoder();
    let mut run = || {
        for octet in MESSAGE {
            decoder.push(&[*octet]);
        }
        let Ok(Some(Item::Frame(frame))) = decoder.next_item() else { panic!("no frame") };
        assert_eq!(frame.header("persistent").as_deref(), Some("true"));
    };
    run();
    assert_eq!(counted(run), Count::NONE);
}

#[test]
fn a_scanner_does_not_allocate_once_it_has_seen_as_many_headers() {
    for (name, frame, count) in corpora() {
        let mut scanner = Scanner::new(DecoderConfig::default());
        scanner.set_version(Version::V1_2);
        let mut frames = 0;
        let mut scan = || {
            let mut rest = frame.as_slice();
            loop {
                let consumed = match scanner.advance(rest) {
                    Ok(Step::Frame { consumed, frame }) => {
                        assert!(frame.headers().len() >= 3);
                        frames += 1;
                        consumed
                    }
                    Ok(Step::Eol { consumed }) => consumed,
                    _ => break,
                };
                rest = rest.get(consumed..).unwrap_or_default();
            }
        };
        scan();
        assert_eq!(counted(|| (0..count).for_each(|_| scan())), Count::NONE, "{name}");
        assert_eq!(frames, 1 + count, "{name}");
    }
}

#[test]
fn encoding_does_not_allocate_once_the_buffer_has_its_size() {
    for (name, frame, count) in corpora() {
        let mut decoder = decoder();
        decoder.push(&frame);
        let Ok(Some(Item::Frame(came))) = decoder.next_item() else { panic!("no frame: {name}") };
        let mut builder = Frame::builder(came.command());
        for header in came.headers().iter() {
            builder = builder.header(&header.name(), &header.value());
        }
        let built = builder.body(came.body().clone()).build();
        let mut out = BytesMut::new();
        for frame in [&built, &came] {
            let mut write = || {
                out.clear();
                encode(frame.as_frame_ref(), Version::V1_2, ContentLength::Automatic, &mut out)
            };
            assert_eq!(write(), Ok(()));
            let counted = counted(|| {
                for _ in 0..count {
                    assert_eq!(write(), Ok(()));
                }
            });
            assert_eq!(counted, Count::NONE, "{name}");
            assert!(out.len() > frame.body().len(), "{name}");
        }
    }
}

#[test]
fn unescaping_allocates_when_it_is_asked_for_and_only_for_a_value_that_has_escapes() {
    let mut decoder = decoder();
    decoder.push(b"MESSAGE\nplain:a\nescaped:a\\cb\n\n\0");
    let Ok(Some(Item::Frame(message))) = decoder.next_item() else { panic!("no frame") };
    let mut values = Vec::with_capacity(2);
    assert_eq!(counted(|| values.extend(message.header("plain"))).allocations, 0);
    assert_eq!(counted(|| values.extend(message.header("escaped"))).allocations, 1);
    assert_eq!(values, ["a", "a:b"]);
}

#[test]
fn a_decoder_that_waits_holds_nothing_and_heart_beats_cost_nothing() {
    assert_eq!(counted(|| drop(decoder())), Count::NONE);
    let mut decoder = decoder();
    let mut beat = || {
        decoder.push(b"\n");
        decoder.next_item()
    };
    assert_eq!(beat(), Ok(Some(Item::Eol)));
    let count = counted(|| {
        for _ in 0..FRAMES {
            assert_eq!(beat(), Ok(Some(Item::Eol)));
        }
    });
    assert_eq!(count, Count::NONE);
}

/// requirement B-010
#[test]
fn an_announced_length_reserves_nothing() {
    let mut decoder = decoder();
    let announcement = b"SEND\ncontent-length:16777216\n\n";
    let count = counted(|| {
        decoder.push(announcement);
        assert_eq!(decoder.next_item(), Ok(None));
    });
    assert!(count.octets < 1024, "{count:?}");
}

#[test]
fn a_body_that_drips_in_is_copied_a_bounded_number_of_times() {
    const LEN: usize = 1 << 20;
    for head in ["SEND\n\n".to_owned(), format!("SEND\ncontent-length:{LEN}\n\n")] {
        let mut decoder = decoder();
        let count = counted(|| {
            decoder.push(head.as_bytes());
            for _ in 0..LEN / 16 {
                decoder.push(&[b'x'; 16]);
                assert_eq!(decoder.next_item(), Ok(None));
            }
            decoder.push(b"\0");
            let body = decoder.next_item().map(|item| match item {
                Some(Item::Frame(frame)) => frame.body().len(),
                _ => 0,
            });
            assert_eq!(body, Ok(LEN));
        });
        assert!(count.octets < 5 * LEN, "a buffer that doubles: {count:?}");
    }
}

fn decoder() -> Decoder {
    let mut decoder = Decoder::new(DecoderConfig::default());
    decoder.set_version(Version::V1_2);
    decoder
}
