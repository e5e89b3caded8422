//! What a link does as time passes: heart-beats, silence, and the time a peer has to answer or to go.

use bytes::Buf;

use super::{Input, LONGEST_TIMEOUT, Link, Overdue};
use crate::codec::Limits;
use crate::session::Beats;
use crate::session::timers::{Instant, Timer};

impl<I: Instant> Link<I> {
    /// Takes in what the driver did since the last call, and what time it is.
    #[inline]
    pub(crate) fn look(&mut self, now: I) {
        let now = now.max(self.looked);
        let left = self.outbox.left();
        let has_written = left != self.left;
        if has_written {
            // It may have left right after the last look. Beating too early does no harm.
            if self.timing.beats == Beats::WhenIdle {
                self.await_beat(self.looked);
            }
            self.prolong();
        }
        if self.end.is_some() || self.input == Input::Ended {
            self.see_to_the_end(now);
        }
        let received = self.decoder.received();
        let has_heard = received != self.received;
        if has_heard {
            if self.overdue == Some(Overdue::SignOfLife) {
                self.overdue = None;
            }
            self.await_silence(now);
        }
        if has_heard || has_written {
            self.is_idle = false;
        } else if now > self.looked {
            // Not within one turn of the driver: the next read would have to allocate again.
            self.is_idle = true;
        }
        if self.is_starting {
            self.is_starting = false;
            self.await_silence(now);
            self.await_beat(now);
        }
        (self.received, self.left, self.looked) = (received, left, now);
    }

    pub(crate) fn poll_timeout(&self) -> Option<I> {
        self.timers.next().filter(|_| !self.is_finished())
    }

    /// Acts on the deadlines that have passed. An end that is due with one of them comes when the
    /// inbox has been looked through.
    pub(crate) fn handle_timeout(&mut self, now: I) {
        self.look(now);
        let now = self.looked;
        if self.timers.has_expired(Timer::Close, now) {
            self.linger_no_longer();
        }
        if self.timers.has_expired(Timer::Beat, now) {
            self.beat();
            self.await_beat(now);
        }
        if self.timers.has_expired(Timer::Silence, now) {
            self.hear_nothing(now);
        }
        for timer in [Timer::Connect, Timer::Disconnect] {
            if self.timers.has_expired(timer, now) {
                self.timers.stop(timer);
                self.overdue = Some(Overdue::Answer);
            }
        }
    }

    fn beat(&mut self) {
        // Octets that wait to be written are a sign of life once they are; a beat among them will be.
        let is_due = match self.timing.beats {
            Beats::WhenIdle => !self.outbox.has_remaining(),
            Beats::Always => !self.outbox.ends_with_beat(),
        };
        if is_due && !self.is_lost() {
            self.outbox.beat();
        }
    }

    fn hear_nothing(&mut self, now: I) {
        let grace = self.timing.late_extra.min(LONGEST_TIMEOUT);
        let was_overslept = self.timers.has_expired_by(Timer::Silence, now, grace);
        // Once: a driver may be that late each time.
        let is_reprieved = was_overslept && !grace.is_zero() && !self.is_reprieved;
        self.timers.stop(Timer::Silence);
        match self.input {
            Input::Open if !self.wants_read() => self.await_silence(now), // We did not listen.
            // Whoever comes so late may not have read yet what came meanwhile.
            Input::Open if is_reprieved => {
                self.is_reprieved = true;
                self.timers.set(Timer::Silence, now + grace);
            }
            Input::Open => self.overdue = Some(Overdue::SignOfLife),
            Input::Ended | Input::Lost => {}
        }
    }

    /// The peer reads, slowly: it has its time from here on.
    fn prolong(&mut self) {
        let Limits { close_timeout, disconnect_timeout, .. } = *self.limits();
        for (timer, after) in
            [(Timer::Close, close_timeout), (Timer::Disconnect, disconnect_timeout)]
        {
            if self.timers.is_set(timer) {
                self.timers.set(timer, self.looked + after);
            }
        }
    }

    /// Sees that a peer that is to go, and one that has ended its stream but still has to read, get on
    /// with it.
    #[cold]
    fn see_to_the_end(&mut self, now: I) {
        if self.end.is_some() {
            self.decoder.buffer().clear();
        }
        if self.end.is_none() && !self.outbox.has_remaining() {
            self.timers.stop(Timer::Close);
        } else if !self.timers.is_set(Timer::Close) {
            self.timers.set(Timer::Close, now + self.limits().close_timeout);
        }
    }

    /// Gives memory back when nothing has happened for a while, and says whether that is so.
    pub(crate) fn rest(&mut self) -> bool {
        if self.is_idle {
            self.decoder.shrink();
            self.outbox.shrink();
        }
        self.is_idle
    }

    #[inline]
    fn await_beat(&mut self, since: I) {
        if let Some(after) = self.beat_after {
            self.timers.set(Timer::Beat, since + after);
        }
    }

    #[inline]
    fn await_silence(&mut self, since: I) {
        if let Some(after) = self.silent_after {
            self.is_reprieved = false;
            self.timers.set(Timer::Silence, since + after);
        }
    }

    fn linger_no_longer(&mut self) {
        let Some(end) = &mut self.end else {
            self.timers.stop(Timer::Close);
            return self.handle_lost();
        };
        end.lingered = true;
        self.timers.stop_all();
        self.outbox.discard();
    }
}
