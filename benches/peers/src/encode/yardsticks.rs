//! What writing costs when nothing is checked: the whole copied at once, or piece by piece.

use bytes::{BufMut, BytesMut};
use core::hint::black_box;
use stomp_proto::codec::{ContentLength, encode};
use stomp_proto::{Command, Frame, Version};

use super::Encode;
use crate::corpora::Outgoing;

struct Memcpy(Vec<u8>);

pub(super) fn memcpy(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let pairs = outgoing.headers.iter();
    let builder = pairs
        .fold(Frame::builder(Command::Send), |builder, (name, value)| builder.header(name, value));
    let frame = builder.body(outgoing.body.clone()).build();
    let mut out = BytesMut::new();
    encode(frame.as_frame_ref(), Version::V1_2, ContentLength::Automatic, &mut out)
        .map_err(|_| "no sound frame")?;
    Ok(Box::new(Memcpy(out.to_vec())))
}

impl Encode for Memcpy {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        out.put_slice(black_box(&self.0));
        Ok(())
    }
}

/// Values that are escaped already, and a length that is known.
struct Pieces {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

pub(super) fn pieces(outgoing: &Outgoing) -> Result<Box<dyn Encode>, &'static str> {
    let escape = |value: &str| {
        let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        value.replace(':', "\\c")
    };
    let pairs = outgoing.headers.iter();
    let mut headers: Vec<_> = pairs.map(|(name, value)| (name.clone(), escape(value))).collect();
    headers.push(("content-length".to_owned(), outgoing.body.len().to_string()));
    Ok(Box::new(Pieces { headers, body: outgoing.body.clone() }))
}

impl Encode for Pieces {
    fn encode(&mut self, out: &mut BytesMut) -> Result<(), String> {
        let pairs = black_box(&self.headers);
        let head = pairs.iter().map(|(name, value)| name.len() + value.len() + 2);
        out.reserve(head.sum::<usize>() + self.body.len() + 8);
        out.put_slice(b"SEND\n");
        for (name, value) in pairs {
            out.put_slice(name.as_bytes());
            out.put_u8(b':');
            out.put_slice(value.as_bytes());
            out.put_u8(b'\n');
        }
        out.put_u8(b'\n');
        out.put_slice(&self.body);
        out.put_u8(0);
        Ok(())
    }
}
