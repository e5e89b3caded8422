//! Drives a session through a recording, read by read and on a clock that shows recorded times.

use core::time::Duration;

use bytes::Bytes;
use stomp_proto::frame::Role;
use stomp_proto::{CloseReason, Frame, Session};

use crate::recording::Recording;

/// What stands behind a session.
pub(crate) trait Application<S: Session> {
    /// Acts on an event, and puts it in words.
    fn handle(&mut self, session: &mut S, event: S::Event, now: Duration) -> String;

    /// Does what the recorded end did when it wrote those frames.
    fn act(&mut self, session: &mut S, frames: &[Frame], now: Duration);
}

/// What a session said.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The events, one a line, each with its time.
    pub(crate) told: Vec<String>,
    /// Frames and beats, each with the time when it was written.
    pub(crate) written: Vec<(Duration, Bytes)>,
}

/// Replays what the peer sent, in reads of so many octets at the most.
///
/// Where a recording ends without the end of a stream, the transport dies.
pub(crate) fn drive<S, A>(
    recording: &Recording,
    peer: Role,
    most: usize,
    session: S,
    application: &mut A,
) -> Record
where
    S: Session<Instant = Duration>,
    A: Application<S>,
{
    let (now, record) = (Duration::ZERO, Record::default());
    let mut driver = Driver { session, application, now, record };
    for read in &recording.reads {
        driver.run_until(read.at);
        if read.from != peer {
            driver.application.act(&mut driver.session, &read.frames, driver.now);
        } else if read.octets.is_empty() {
            driver.session.handle_eof();
        } else {
            driver.receive(&read.octets, most);
        }
        driver.turn();
    }
    driver.session.handle_lost();
    driver.turn();
    assert!(driver.session.is_finished(), "{}", recording.name());
    driver.record
}

/// Whether a session ended with neither end blamed for it.
pub(crate) fn ended_well(closed: Option<&CloseReason>) -> bool {
    matches!(closed, Some(CloseReason::Disconnected | CloseReason::Eof | CloseReason::Lost))
}

struct Driver<'a, S, A> {
    session: S,
    application: &'a mut A,
    now: Duration,
    record: Record,
}

impl<S: Session<Instant = Duration>, A: Application<S>> Driver<'_, S, A> {
    /// Meets the deadlines up to that time.
    fn run_until(&mut self, now: Duration) {
        while let Some(deadline) = self.session.poll_timeout().filter(|deadline| *deadline <= now) {
            self.now = deadline;
            self.session.handle_timeout(deadline);
            self.turn();
            assert!(self.session.poll_timeout().is_none_or(|next| next > deadline));
        }
        self.now = now;
    }

    /// Takes octets in: copied if they come as they were recorded, else read into place.
    fn receive(&mut self, octets: &[u8], most: usize) {
        if octets.len() <= most {
            return self.session.receive(octets);
        }
        for chunk in octets.chunks(most) {
            self.session.buffers().0.extend_from_slice(chunk);
            self.turn();
        }
    }

    /// Acts on what there is to act on, and writes what there is to write.
    fn turn(&mut self) {
        while let Some(event) = self.session.poll_event(self.now) {
            let line = self.application.handle(&mut self.session, event, self.now);
            self.record.told.push(format!("{} {line}", self.now.as_millis()));
        }
        while let Some(frame) = self.session.outbox().next_frame() {
            self.record.written.push((self.now, frame.bytes));
        }
    }
}
