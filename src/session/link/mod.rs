//! What both ends share: decoder, outbox, timers, and how it ended.

mod clock;

use alloc::boxed::Box;
use core::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

use super::heart_beat::{Agreement, HeartBeat, HeartBeatTiming};
use super::timers::{Instant, Timer, Timers};
use super::{Bound, CloseReason, Limit, Outbox, UsageError};
use crate::codec::{Decoder, DecoderConfig, Layout, Limits, MalformedHeader};
use crate::{Command, Frame, Headers, Version};

#[derive(Debug)]
pub(crate) struct Link<I> {
    decoder: Decoder,
    outbox: Outbox,
    timers: Timers<I>,
    timing: HeartBeatTiming,
    /// What this end and the peer said about heart-beats.
    ours: HeartBeat,
    theirs: HeartBeat,
    /// How long after the last octet that was sent a beat is due, while any are.
    beat_after: Option<Duration>,
    /// How long after the last octet that came the peer counts as silent, while it is listened to.
    silent_after: Option<Duration>,
    /// Whether heart-beats start at the next look at the clock.
    is_starting: bool,
    /// The latest `now` that was seen.
    looked: I,
    /// What had been received, and what had left, at that time.
    received: u64,
    left: u64,
    /// Octets of the inbox that were looked at without finding a whole frame.
    examined: usize,
    /// Whether nothing has happened since an earlier time.
    is_idle: bool,
    input: Input,
    overdue: Option<Overdue>,
    /// Whether a silent peer has been given more time because the driver overslept.
    is_reprieved: bool,
    /// Apart: most sessions have none, and for long.
    end: Option<Box<End>>,
}

/// What the peer has failed to send in time, unless it is found in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overdue {
    /// Its part of the handshake, or the last answer.
    Answer,
    /// Anything at all.
    SignOfLife,
}

/// The peer's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Open,
    Ended,
    Lost,
}

/// The session is over, apart from what is still to be written.
#[derive(Clone, Debug)]
struct End {
    /// Until it is handed out.
    reason: Option<CloseReason>,
    /// Whether the peer has had its time to end its stream.
    lingered: bool,
}

/// No timeout of a configuration is longer: no interval on the wire is, and every clock can add it.
const LONGEST_TIMEOUT: Duration = Duration::from_millis(u32::MAX as u64);

impl<I: Instant> Link<I> {
    pub(crate) fn new(
        limits: Limits,
        malformed_header: MalformedHeader,
        timing: HeartBeatTiming,
        now: I,
    ) -> Self {
        // "Never" would be more than some clocks can add.
        let mut limits = limits;
        for timeout in
            [&mut limits.connect_timeout, &mut limits.disconnect_timeout, &mut limits.close_timeout]
        {
            *timeout = (*timeout).min(LONGEST_TIMEOUT);
        }
        let mut timers = Timers::new();
        timers.set(Timer::Connect, now + limits.connect_timeout);
        let config = DecoderConfig { limits, malformed_header };
        Self {
            decoder: Decoder::new(config),
            outbox: Outbox::new(),
            timers,
            timing,
            ours: HeartBeat::NONE,
            theirs: HeartBeat::NONE,
            beat_after: None,
            silent_after: None,
            is_starting: false,
            looked: now,
            received: 0,
            left: 0,
            examined: 0,
            is_idle: false,
            input: Input::Open,
            overdue: None,
            is_reprieved: false,
            end: None,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.decoder.limits()
    }

    pub(crate) fn agreement(&self) -> Agreement {
        self.ours.agree(self.theirs)
    }

    /// The handshake is over: frames from here on follow `version`, heart-beats start at the next
    /// look at the clock.
    pub(crate) fn connected(&mut self, version: Version, ours: HeartBeat, theirs: HeartBeat) {
        self.decoder.set_version(version);
        self.answered(Timer::Connect);
        (self.ours, self.theirs) = (ours, theirs);
        let agreement = self.agreement();
        self.beat_after = agreement.outgoing.map(|interval| self.timing.beat_after(interval));
        self.silent_after = agreement.incoming.map(|interval| self.timing.silent_after(interval));
        self.is_starting = true;
    }

    /// Nothing may follow what was queued last, not even a heart-beat.
    pub(crate) fn stop_beats(&mut self) {
        self.beat_after = None;
        self.timers.stop(Timer::Beat);
    }

    /// The answer came for which a timer was set.
    pub(crate) fn answered(&mut self, timer: Timer) {
        self.timers.stop(timer);
        self.overdue = None;
    }

    /// Nothing more is expected of the peer.
    pub(crate) fn stop_listening(&mut self) {
        self.silent_after = None;
        self.timers.stop(Timer::Silence);
    }

    pub(crate) fn set_timer(&mut self, timer: Timer, deadline: I) {
        self.timers.set(timer, deadline);
    }

    // ---- input

    #[inline]
    pub(crate) fn receive(&mut self, octets: &[u8]) {
        if self.end.is_none() && !self.decoder.take_beat(octets) {
            self.decoder.push(octets);
        }
    }

    pub(crate) fn wants_read(&self) -> bool {
        let unexamined = self.decoder.buffered().saturating_sub(self.examined);
        self.input == Input::Open && unexamined <= self.limits().max_inbox_len
    }

    pub(crate) fn buffers(&mut self) -> (&mut BytesMut, &mut Outbox) {
        (self.decoder.buffer(), &mut self.outbox)
    }

    pub(crate) fn handle_eof(&mut self) {
        if self.input == Input::Open {
            self.input = Input::Ended;
        }
    }

    pub(crate) fn handle_lost(&mut self) {
        self.input = Input::Lost;
        self.outbox.discard();
    }

    /// Whether the transport is dead.
    pub(crate) fn is_lost(&self) -> bool {
        self.input == Input::Lost
    }

    /// How the peer's stream ended, if it did.
    pub(crate) fn peer_end(&self) -> Option<CloseReason> {
        match self.input {
            Input::Open => None,
            Input::Ended => Some(CloseReason::Eof),
            Input::Lost => Some(CloseReason::Lost),
        }
    }

    /// Whether so much waits to be written that the peer has to read some of it first.
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.remaining() > self.limits().max_outbox_len
    }

    /// The octets that were received and not taken as a frame.
    pub(crate) fn unread(&mut self) -> &[u8] {
        self.decoder.buffer()
    }

    /// The command of the frame that is being received.
    pub(crate) fn incoming_command(&self) -> Option<Command> {
        self.decoder.command()
    }

    /// Whether there is nothing to be done: no octet, no end, no memory to give back.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.decoder.is_at_rest()
            && self.input == Input::Open
            && self.overdue.is_none()
            && self.end.is_none()
            && !self.is_idle
    }

    /// Finds the next frame, which is to be [taken](Self::take_frame) next; `None`: nothing more for
    /// now. The error is how the peer ended it.
    #[inline]
    pub(crate) fn find_frame(&mut self) -> Result<Option<Layout>, CloseReason> {
        self.examined = 0;
        match self.decoder.find_frame() {
            Ok(Some(layout)) => return Ok(Some(layout)),
            Ok(None) => {}
            Err(error) => return Err(CloseReason::Protocol(error.into())),
        }
        self.examined = self.decoder.buffered();
        match (self.input, self.decoder.finish()) {
            (Input::Open, _) => self.take_overdue().map_or(Ok(None), Err),
            (Input::Lost, _) => Err(CloseReason::Lost),
            (Input::Ended, Ok(())) => Err(CloseReason::Eof),
            (Input::Ended, Err(error)) => Err(CloseReason::Protocol(error.into())),
        }
    }

    /// The headers of the frame that was found.
    #[inline]
    pub(crate) fn found_headers(&self, layout: Layout) -> Headers<'_> {
        self.decoder.found_headers(layout)
    }

    /// Takes the frame that was found.
    #[inline]
    pub(crate) fn take_frame(&mut self, layout: Layout) -> Frame {
        self.decoder.take_frame(layout)
    }

    /// The end that is due because the peer did not do something in time.
    pub(crate) fn take_overdue(&mut self) -> Option<CloseReason> {
        Some(match self.overdue.take()? {
            Overdue::Answer => CloseReason::TimedOut,
            Overdue::SignOfLife => CloseReason::PeerSilent,
        })
    }

    // ---- output

    pub(crate) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    pub(crate) fn sent(&self) -> &Outbox {
        &self.outbox
    }

    /// Queues a frame; see [`Outbox::frame`].
    #[inline]
    pub(crate) fn queue<E>(
        &mut self,
        head: impl FnOnce(&mut BytesMut) -> Result<(), E>,
        shared: &[&Bytes],
    ) -> Result<(), E> {
        let queued = self.outbox.frame(head, shared);
        if self.is_lost() {
            // There is nobody to write it to.
            self.outbox.discard();
        }
        queued
    }

    /// Whether a request or delivery still finds room.
    #[inline]
    pub(crate) fn check_room(&self) -> Result<(), UsageError> {
        if self.is_full() {
            let most = self.limits().max_outbox_len;
            return Err(UsageError::LimitExceeded(Limit { what: Bound::OutboxOctets, most }));
        }
        Ok(())
    }

    // ---- the end

    /// Ends the session: what is queued is written, what is received is dropped. The first reason
    /// counts.
    pub(crate) fn close(&mut self, reason: CloseReason) {
        if self.end.is_some() {
            return;
        }
        self.stop_beats();
        self.stop_listening();
        self.timers.stop_all();
        self.decoder.buffer().clear();
        if self.input == Input::Lost {
            self.outbox.discard();
        }
        self.end = Some(Box::new(End { reason: Some(reason), lingered: false }));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    /// The reason, once.
    pub(crate) fn take_reason(&mut self) -> Option<CloseReason> {
        self.end.as_mut()?.reason.take()
    }

    pub(crate) fn wants_shutdown(&self) -> bool {
        self.end.is_some() && !self.outbox.has_remaining() && self.input != Input::Lost
    }

    pub(crate) fn is_finished(&self) -> bool {
        let Some(end) = &self.end else { return false };
        let peer_is_done = self.input != Input::Open || end.lingered;
        end.reason.is_none() && peer_is_done && !self.outbox.has_remaining()
    }
}
