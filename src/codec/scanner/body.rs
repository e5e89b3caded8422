//! The body behind a head: how long it may be, and where the NUL is that ends it.

use super::{Phase, Scanner};
use crate::codec::error::DecodeErrorKind::{BodyTooLong, MissingNul, UnexpectedBody};
use crate::codec::head::Fault;
use crate::codec::layout::{Body, Found, Layout};
use crate::codec::lines::has_nul;
use crate::{Command, Version};

/// Up to so many octets a NUL is looked for without a call.
const SHORT: usize = 64;

impl Scanner {
    /// Looks for the end of the frame, its head being whole.
    #[inline]
    pub(super) fn read_body(
        &mut self,
        buffer: &[u8],
        command: Command,
        head_len: usize,
    ) -> Result<Found, Fault> {
        // A length on a command that cannot have a body was copied there from a MESSAGE.
        let Some(length) = self.head.content_length.filter(|_| command.may_have_body()) else {
            return self.find_nul(buffer, command, head_len, head_len);
        };
        let limit = self.max_body_len(command);
        match usize::try_from(length.octets) {
            Ok(len) if len <= limit => self.find_end(buffer, command, head_len, len),
            _ => Err(Fault::new(BodyTooLong { limit }, length.at)),
        }
    }

    /// Looks for the NUL behind a body of a known length.
    #[inline]
    pub(super) fn find_end(
        &mut self,
        buffer: &[u8],
        command: Command,
        head_len: usize,
        len: usize,
    ) -> Result<Found, Fault> {
        let nul = head_len.saturating_add(len);
        match buffer.get(nul) {
            None => {
                self.phase = Phase::Counted { command, head_len, len };
                Ok(Found::NeedMore)
            }
            Some(0) => Ok(self.whole(command, head_len, len, Body::Deliver)),
            Some(_) => Err(Fault::new(MissingNul, nul)),
        }
    }

    /// Goes on looking for the NUL that ends a body without a length.
    #[inline(never)]
    pub(super) fn search_on(&mut self, buffer: &[u8]) -> Result<Found, Fault> {
        let Phase::ToNul { command, head_len, searched, excess } = &mut self.phase else {
            return Ok(Found::NeedMore);
        };
        let unsearched = buffer.get(*searched..).unwrap_or_default();
        // Most reads of a large body are more of it.
        if unsearched.len() <= SHORT && buffer.len() <= *excess && !has_nul(unsearched) {
            *searched = buffer.len();
            return Ok(Found::NeedMore);
        }
        let (command, head_len, searched) = (*command, *head_len, *searched);
        self.search_closely(buffer, command, head_len, searched)
    }

    /// Apart, so that what comes before needs few registers.
    #[inline(never)]
    fn search_closely(
        &mut self,
        buffer: &[u8],
        command: Command,
        head_len: usize,
        searched: usize,
    ) -> Result<Found, Fault> {
        self.find_nul(buffer, command, head_len, searched)
    }

    /// Looks for the NUL that ends a body without a length.
    #[inline]
    fn find_nul(
        &mut self,
        buffer: &[u8],
        command: Command,
        head_len: usize,
        searched: usize,
    ) -> Result<Found, Fault> {
        let limit = self.max_body_len(command);
        let excess = head_len.saturating_add(limit);
        // One octet more than the limit may be looked at: the NUL.
        let window = buffer.get(..=excess).unwrap_or(buffer);
        let body = match (command.may_have_body(), self.rules.version) {
            // Before a version is known it may turn out to be 1.0: the session decides.
            (true, _) | (false, None) => Body::Deliver,
            // STOMP 1.0 says of some frames that their body is ignored, and of none that it is wrong.
            (false, Some(Version::V1_0)) => Body::Drop,
            (false, Some(_)) => {
                return match buffer.get(head_len) {
                    None => {
                        self.phase = Phase::ToNul {
                            command,
                            head_len,
                            searched: head_len,
                            excess: head_len,
                        };
                        Ok(Found::NeedMore)
                    }
                    Some(0) => Ok(self.whole(command, head_len, 0, Body::Deliver)),
                    Some(_) => Err(Fault::new(UnexpectedBody, head_len)),
                };
            }
        };
        let unsearched = window.get(searched..).unwrap_or_default();
        match memchr::memchr(0, unsearched) {
            Some(found) => {
                let len = searched - head_len + found;
                Ok(self.whole(command, head_len, len, body))
            }
            None if buffer.len() > excess => Err(Fault::new(BodyTooLong { limit }, excess)),
            None => {
                self.phase = Phase::ToNul { command, head_len, searched: window.len(), excess };
                Ok(Found::NeedMore)
            }
        }
    }

    #[inline]
    fn whole(&mut self, command: Command, head_len: usize, len: usize, body: Body) -> Found {
        self.phase = Phase::Between;
        self.eols = 0;
        let form = self.head.form(&self.rules);
        Found::Frame(Layout { command, form, head_len, len, body })
    }

    /// A CONNECT with a body is held to the limit of its head. An ERROR before login is not: it
    /// says why there will be no login.
    fn max_body_len(&self, command: Command) -> usize {
        match self.rules.version {
            None if command != Command::Error => self.rules.limits.max_connect_head_len,
            _ => self.rules.limits.max_body_len,
        }
    }
}
