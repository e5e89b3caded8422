//! The codec: no allocation for a frame once the buffers have their size.

use bytes::BytesMut;
use stomp_proto::codec::{ContentLength, Decoder, DecoderConfig, Item, Scanner, Step, encode};
use stomp_proto::{Command, Frame, Version};

use super::corpus::SMALL as MESSAGE;
use super::counting::{Count, counted};

const FRAMES: usize = 1000;

#[test]
fn a_decoder_does_not_allocate_for_frames_that_are_dropped_before_the_next_read() {
    let stream = MESSAGE.repeat(FRAMES);
    for read in [4096, 1448, 322, 16, 1] {
        let mut decoder = decoder();
        let mut frames = 0;
        let mut run = || {
            for octets in stream.chunks(read) {
                decoder.push(octets);
                while let Ok(Some(Item::Frame(frame))) = decoder.next_item() {
                    assert_eq!(frame.header("persistent").as_deref(), Some("true"));
                    assert_eq!(frame.body().len(), 64);
                    frames += 1;
                }
            }
        };
        run();
        assert_eq!(counted(run), Count::NONE, "reads of {read}");
        assert_eq!(frames, 2 * FRAMES);
    }
}

#[test]
fn a_scanner_does_not_allocate_once_it_has_seen_as_many_headers() {
    let mut scanner = Scanner::new(DecoderConfig::default());
    scanner.set_version(Version::V1_2);
    let mut scan = || match scanner.advance(MESSAGE) {
        Ok(Step::Frame { consumed, frame }) => (consumed, frame.headers().len()),
        _ => (0, 0),
    };
    assert_eq!(scan(), (MESSAGE.len(), 8));
    let count = counted(|| {
        for _ in 0..FRAMES {
            assert_eq!(scan(), (MESSAGE.len(), 8));
        }
    });
    assert_eq!(count, Count::NONE);
}

#[test]
fn encoding_does_not_allocate_once_the_buffer_has_its_size() {
    let send = Frame::builder(Command::Send)
        .header("destination", "/queue/orders.eu-west-1.created")
        .header("path", "C:\\orders\n2026")
        .body("not a short body")
        .build();
    let mut out = BytesMut::new();
    let mut write = || {
        out.clear();
        encode(send.as_frame_ref(), Version::V1_2, ContentLength::Automatic, &mut out)
    };
    assert_eq!(write(), Ok(()));
    let count = counted(|| {
        for _ in 0..FRAMES {
            assert_eq!(write(), Ok(()));
        }
    });
    assert_eq!(count, Count::NONE);
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
