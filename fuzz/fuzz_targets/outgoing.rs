//! What a session writes has to be sound frames.

use bytes::Buf;
use stomp_proto::codec::{Decoder, DecoderConfig, Limits};
use stomp_proto::{Outbox, Version};

pub(crate) struct Outgoing {
    decoder: Decoder,
}

impl Default for Outgoing {
    fn default() -> Self {
        let mut config = DecoderConfig::default();
        config.limits = Limits::default();
        Self { decoder: Decoder::new(config) }
    }
}

impl Outgoing {
    /// Takes all of it.
    pub(crate) fn take(&mut self, outbox: &mut Outbox, version: Option<Version>) {
        while outbox.has_remaining() {
            let chunk = outbox.chunk();
            self.decoder.push(chunk);
            let len = chunk.len();
            outbox.advance(len);
        }
        // Frames before the version was agreed on have nothing in them that it would change.
        if let Some(version) = version {
            self.decoder.set_version(version);
        }
        while let Some(item) = self.decoder.next_item().expect("sound octets") {
            drop(item);
        }
    }
}
