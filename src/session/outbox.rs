//! What is to be written: coalesces small writes, shares large bodies, knows what has left.

use alloc::collections::VecDeque;
use core::fmt;

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The octets that a session wants written, in order.
///
/// It is a [`bytes::Buf`]: write from it in any way and [`advance`](Buf::advance) it by what was
/// taken. Where messages have bounds (WebSocket), take whole frames with [`Outbox::next_frame`].
///
/// ```
/// use bytes::Buf;
/// use stomp_proto::{Client, ClientConfig, Session};
/// # use core::time::Duration;
/// # fn main() -> Result<(), stomp_proto::UsageError> {
/// let mut client = Client::new(ClientConfig::new("broker"), Duration::ZERO)?;
/// let written = client.outbox().chunk().len();
/// client.outbox().advance(written);
/// assert!(client.outbox().is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Outbox {
    /// Whole chunks before `tail`.
    chunks: VecDeque<Bytes>,
    /// What small writes are appended to.
    tail: BytesMut,
    /// The length of each frame or beat that has not left, the first one's rest.
    frames: VecDeque<usize>,
    len: usize,
    left: u64,
    /// NUL, and what is to follow it.
    frame_end: &'static [u8],
}

/// Octets that the head of a frame takes, or most of it.
const ROOM: usize = 256;

/// One frame or heart-beat, which is one message where messages have bounds.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingFrame {
    /// Its octets.
    pub bytes: Bytes,
    /// Whether they are valid UTF-8 and may be a text message.
    pub is_text: bool,
}

/// Bodies and heads from this length on are shared rather than copied.
const SHARE_FROM: usize = 1024;

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            chunks: VecDeque::new(),
            tail: BytesMut::new(),
            frames: VecDeque::new(),
            len: 0,
            left: 0,
            frame_end: b"\0",
        }
    }

    /// Ends frames that are queued from now on so: with NUL, and LF behind it, if the peer is to have
    /// that (STOMP 1.2, "STOMP Frames").
    pub(crate) fn end_frames_with(&mut self, frame_end: &'static [u8]) {
        self.frame_end = frame_end;
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the next frame or heart-beat whole; `None` if there is nothing to write.
    ///
    /// If a part of it was taken by other means, the rest.
    pub fn next_frame(&mut self) -> Option<OutgoingFrame> {
        let len = *self.frames.front()?;
        let bytes = self.copy_to_bytes(len);
        let is_text = core::str::from_utf8(&bytes).is_ok();
        Some(OutgoingFrame { bytes, is_text })
    }

    /// Writes as much as the writer takes, many chunks in one call; the number of octets.
    ///
    /// # Errors
    ///
    /// Those of the writer; what it took before is gone from here.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, writer: &mut impl std::io::Write) -> std::io::Result<usize> {
        let mut slices = [std::io::IoSlice::new(&[]); 16];
        let filled = self.chunks_vectored(&mut slices);
        let written = writer.write_vectored(slices.get(..filled).unwrap_or_default())?;
        self.advance(written);
        Ok(written)
    }

    /// Octets that have been handed out since the session began.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Octets that will have been handed out when all that is in here has.
    pub(crate) fn end(&self) -> u64 {
        self.left.saturating_add(self.len as u64)
    }

    /// Queues one frame: a head that `head` appends, the `shared` octets behind it, and its end.
    ///
    /// If `head` fails nothing is queued.
    pub(crate) fn frame<E>(
        &mut self,
        head: impl FnOnce(&mut BytesMut) -> Result<(), E>,
        shared: &[&Bytes],
    ) -> Result<(), E> {
        let is_shared = |octets: &&Bytes| octets.len() >= SHARE_FROM;
        if self.tail.capacity() < ROOM / 4 && shared.iter().any(is_shared) {
            // A tail whose octets went with a shared body would grow a little at each line.
            self.tail.reserve(ROOM);
        }
        let start = self.tail.len();
        if let Err(error) = head(&mut self.tail) {
            self.tail.truncate(start);
            return Err(error);
        }
        let mut len = self.tail.len() - start;
        for octets in shared {
            self.put_shared(octets);
            len += octets.len();
        }
        self.tail.put_slice(self.frame_end);
        self.commit(len + self.frame_end.len());
        Ok(())
    }

    /// Queues a heart-beat. STOMP 1.2, "Heart-beating": one line end; LF is one in every version.
    pub(crate) fn beat(&mut self) {
        self.tail.put_u8(b'\n');
        self.commit(1);
    }

    /// Whether the last that is queued is a heart-beat.
    pub(crate) fn ends_with_beat(&self) -> bool {
        // A frame is longer. The rest of one is its NUL, or the LF behind it, which does as well.
        self.frames.back() == Some(&1) && self.tail.last() == Some(&b'\n')
    }

    /// Drops everything: the transport is dead.
    pub(crate) fn discard(&mut self) {
        self.chunks.clear();
        self.frames.clear();
        self.tail = BytesMut::new();
        self.len = 0;
    }

    /// Gives memory back that an idle session does not need.
    pub(crate) fn shrink(&mut self) {
        if self.len == 0 {
            *self = Self { left: self.left, frame_end: self.frame_end, ..Self::new() };
        }
    }

    fn commit(&mut self, len: usize) {
        self.frames.push_back(len);
        self.len += len;
    }

    fn put_shared(&mut self, octets: &Bytes) {
        if octets.len() < SHARE_FROM {
            self.tail.put_slice(octets);
            return;
        }
        if !self.tail.is_empty() {
            let tail = self.tail.split().freeze();
            self.chunks.push_back(tail);
        }
        self.chunks.push_back(octets.clone());
    }

    /// Notes that octets have left, and which frames with them.
    fn leave(&mut self, count: usize) {
        self.len -= count;
        self.left = self.left.saturating_add(count as u64);
        let mut count = count;
        while let Some(frame) = self.frames.front_mut() {
            if count < *frame {
                *frame -= count;
                return;
            }
            count -= *frame;
            self.frames.pop_front();
        }
    }
}

impl Buf for Outbox {
    fn remaining(&self) -> usize {
        self.len
    }

    fn chunk(&self) -> &[u8] {
        self.chunks.front().map_or(&self.tail, |chunk| chunk)
    }

    /// Says that octets were taken. More than there are counts as all of them.
    fn advance(&mut self, count: usize) {
        if count >= self.len {
            // Nearly always, and then the room in the tail can be used again from its start.
            self.left = self.left.saturating_add(self.len as u64);
            self.len = 0;
            self.frames.clear();
            if !self.chunks.is_empty() {
                self.chunks.clear();
            }
            return self.tail.clear();
        }
        let mut rest = count;
        self.leave(rest);
        while let Some(chunk) = self.chunks.front_mut() {
            if rest < chunk.len() {
                return chunk.advance(rest);
            }
            rest -= chunk.len();
            self.chunks.pop_front();
        }
        self.tail.advance(rest);
    }

    #[cfg(feature = "std")]
    fn chunks_vectored<'a>(&'a self, slices: &mut [std::io::IoSlice<'a>]) -> usize {
        let tail = Some(&self.tail[..]).filter(|tail| !tail.is_empty());
        let chunks = self.chunks.iter().map(|chunk| &chunk[..]).chain(tail);
        let filled = slices.iter_mut().zip(chunks);
        filled.map(|(slice, chunk)| *slice = std::io::IoSlice::new(chunk)).count()
    }

    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        let len = len.min(self.len);
        let bytes = match self.chunks.front_mut() {
            Some(chunk) if len < chunk.len() => chunk.split_to(len),
            None => self.tail.split_to(len).freeze(),
            Some(_) => {
                let mut bytes = BytesMut::with_capacity(len);
                bytes.put(self.take(len));
                return bytes.freeze();
            }
        };
        self.leave(len);
        bytes
    }
}

impl fmt::Debug for OutgoingFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets, as below.
        f.debug_struct("OutgoingFrame")
            .field("len", &self.bytes.len())
            .field("is_text", &self.is_text)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the octets: a CONNECT among them holds a passcode.
        f.debug_struct("Outbox")
            .field("frames", &self.frames.len())
            .field("len", &self.len)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn put(outbox: &mut Outbox, head: &[u8], body: &Bytes) {
        let head = |out: &mut BytesMut| {
            out.put_slice(head);
            Ok::<(), ()>(())
        };
        outbox.frame(head, &[body]).unwrap();
    }

    fn outbox() -> (Outbox, Bytes) {
        let large = Bytes::from(alloc::vec![b'x'; 3000]);
        let mut outbox = Outbox::new();
        put(&mut outbox, b"SEND\n\n", &Bytes::from_static(b"hi"));
        put(&mut outbox, b"SEND\n\n", &large);
        outbox.beat();
        put(&mut outbox, b"SEND\n\n", &Bytes::from_static(b"\xff"));
        (outbox, large)
    }

    fn all(outbox: &mut Outbox) -> Vec<u8> {
        outbox.copy_to_bytes(outbox.remaining()).to_vec()
    }

    #[test]
    fn frames_come_out_one_by_one_with_their_kind() {
        let (mut outbox, large) = outbox();
        assert!(!outbox.is_empty());
        let next = |outbox: &mut Outbox| outbox.next_frame().map(|it| (it.bytes, it.is_text));
        assert_eq!(next(&mut outbox), Some((Bytes::from_static(b"SEND\n\nhi\0"), true)));
        let expected = [b"SEND\n\n", &large[..], b"\0"].concat();
        assert_eq!(next(&mut outbox), Some((expected.into(), true)));
        assert_eq!(next(&mut outbox), Some((Bytes::from_static(b"\n"), true)));
        assert_eq!(next(&mut outbox), Some((Bytes::from_static(b"SEND\n\n\xff\0"), false)));
        assert_eq!(next(&mut outbox), None);
        assert_eq!((outbox.remaining(), outbox.left()), (0, outbox.end()));
        assert!(outbox.is_empty());
    }

    #[test]
    fn the_rest_of_a_frame_follows_what_was_taken_of_it() {
        let (mut outbox, _) = outbox();
        outbox.advance(3);
        assert_eq!(outbox.next_frame().unwrap().bytes, "D\n\nhi\0");
    }

    #[test]
    fn a_large_body_is_shared_and_a_small_one_copied() {
        let (mut outbox, large) = outbox();
        let shared = outbox.chunks.iter().any(|chunk| chunk.as_ptr() == large.as_ptr());
        assert!(shared);
        for (len, chunks) in [(SHARE_FROM - 1, 0), (SHARE_FROM, 2)] {
            outbox.discard();
            put(&mut outbox, b"SEND\n\n", &large.slice(..len));
            assert_eq!(outbox.chunks.len(), chunks, "{len} octets");
        }
        outbox.advance(6);
        assert_eq!(outbox.copy_to_bytes(100).as_ptr(), large.as_ptr(), "nor when a part is taken");
    }

    #[test]
    fn whoever_takes_chunk_by_chunk_or_all_at_once_leaves_nothing_behind() {
        let expected = all(&mut outbox().0);
        let (mut outbox, _) = outbox();
        let mut taken = Vec::new();
        while outbox.has_remaining() {
            let chunk = outbox.chunk().len();
            assert_ne!(chunk, 0, "there is a next octet");
            taken.extend(outbox.copy_to_bytes(chunk));
        }
        assert_eq!(taken, expected);
        let (mut outbox, _) = self::outbox();
        outbox.advance(outbox.remaining());
        assert_eq!(outbox.chunk(), b"");
        outbox.beat();
        assert_eq!(all(&mut outbox), b"\n");
    }

    /// A tail that goes with the body is gone for good; one that stays grows to what it needs.
    #[test]
    fn room_for_a_head_is_made_at_once_before_a_body_that_is_shared() {
        let (large, small) = (Bytes::from(alloc::vec![b'x'; 3000]), Bytes::from_static(b"hi"));
        for (before, body, after) in
            [(0, &large, ROOM), (63, &large, ROOM), (64, &large, 64), (0, &small, 0)]
        {
            let mut outbox = Outbox::new();
            outbox.tail = BytesMut::with_capacity(before);
            let mut room = 0;
            let head = |out: &mut BytesMut| {
                room = out.capacity();
                Ok::<(), ()>(())
            };
            outbox.frame(head, &[body]).unwrap();
            assert_eq!(room, after, "{before}, {} octets", body.len());
        }
    }

    #[test]
    fn an_idle_outbox_gives_its_memory_back_and_still_counts() {
        let (mut outbox, _) = outbox();
        let count = outbox.remaining();
        outbox.shrink();
        assert_eq!(outbox.remaining(), count, "not while there is something to write");
        outbox.advance(count);
        outbox.shrink();
        let held = outbox.chunks.capacity() + outbox.tail.capacity() + outbox.frames.capacity();
        assert_eq!((held, outbox.left()), (0, count as u64));
    }

    #[test]
    fn neither_a_frame_nor_the_rest_of_one_is_a_beat() {
        let (mut outbox, _) = outbox();
        assert!(!outbox.ends_with_beat());
        outbox.advance(outbox.remaining() - 1);
        assert!(!outbox.ends_with_beat(), "but its NUL");
        outbox.end_frames_with(b"\0\n");
        put(&mut outbox, b"SEND\n\n", &Bytes::new());
        assert!(!outbox.ends_with_beat(), "but the LF behind it");
        outbox.beat();
        assert!(outbox.ends_with_beat());
    }

    #[test]
    fn a_head_that_fails_leaves_nothing_behind() {
        let (mut outbox, _) = outbox();
        let before = (outbox.remaining(), outbox.end());
        let head = |out: &mut BytesMut| {
            out.put_slice(b"half a head");
            Err("no")
        };
        assert_eq!(outbox.frame(head, &[&Bytes::from_static(b"body")]), Err("no"));
        assert_eq!((outbox.remaining(), outbox.end()), before);
        assert!(all(&mut outbox).ends_with(b"SEND\n\n\xff\0"));
    }

    #[cfg(feature = "std")]
    #[test]
    fn many_chunks_are_written_in_one_call() {
        let (mut outbox, _) = outbox();
        let expected = all(&mut self::outbox().0);
        let mut written = Vec::new();
        assert_eq!(outbox.write_to(&mut written).unwrap(), expected.len());
        assert_eq!(written, expected);
        assert_eq!(outbox.remaining(), 0);
    }

    proptest! {
        #[test]
        fn any_way_of_taking_gives_the_same_octets(takes in prop::collection::vec(0..5000usize, 1..8)) {
            let expected = all(&mut outbox().0);
            let (mut outbox, _) = outbox();
            let mut taken = Vec::new();
            for (index, take) in takes.into_iter().enumerate() {
                let take = take.min(outbox.remaining());
                match index % 3 {
                    0 => taken.extend_from_slice(&outbox.copy_to_bytes(take)),
                    1 => {
                        let take = take.min(outbox.chunk().len());
                        taken.extend_from_slice(&outbox.chunk()[..take]);
                        outbox.advance(take);
                    }
                    _ => taken.extend(outbox.next_frame().into_iter().flat_map(|it| it.bytes)),
                }
                prop_assert_eq!(outbox.left(), taken.len() as u64);
                let frames: usize = outbox.frames.iter().sum();
                prop_assert_eq!(frames, outbox.remaining());
            }
            taken.extend(all(&mut outbox));
            prop_assert_eq!(taken, expected);
        }
    }
}
