//! Who encodes.

mod ours;
mod peers;
mod yardsticks;

use bytes::BytesMut;

use crate::corpora::Outgoing;

/// An encoder with its frame at hand.
pub(crate) trait Encode {
    /// Appends the frame to `out`, which is empty and has room.
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String>;
}

/// Makes a contestant for a frame.
type Enter = fn(&Outgoing) -> Result<Box<dyn Encode>, &'static str>;

pub(crate) const CONTESTANTS: [(&str, Enter); 13] = [
    ("lower-bound", yardsticks::pieces),
    ("memcpy", yardsticks::memcpy),
    ("ours-borrowed", ours::borrowed),
    ("ours-built", ours::built),
    ("ours-client", ours::client),
    ("ours-server", ours::server),
    ("iridium-stomp", peers::iridium_stomp),
    ("async-stomp", peers::async_stomp),
    ("tokio-stomp", peers::tokio_stomp),
    ("tokio-stomp-2", peers::tokio_stomp_2),
    ("stomp-agnostic", peers::stomp_agnostic),
    ("stomp-rs", peers::stomp_rs),
    ("stomp-parser", peers::stomp_parser),
];

/// Has a frame encoded again and again, in the place of what was in `out`.
pub(crate) fn run(
    encoder: &mut dyn Encode,
    out: &mut BytesMut,
    frames: usize,
) -> Result<(), String> {
    for _ in 0..frames {
        out.clear();
        encoder.encode(out)?;
        core::hint::black_box(&*out);
    }
    Ok(())
}
