//! What can go wrong, each in one line.

use core::fmt;
use std::io;

use stomp_proto::{CloseReason, UsageError};

use super::print::visible;

/// Characters that are shown of the body of an ERROR.
const BODY_SHOWN: usize = 200;

/// Why the program ends without having done what it was asked to do.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit status.
    pub(crate) status: u8,
    text: String,
}

impl Failure {
    /// The session or the network failed.
    pub(crate) fn session(text: impl fmt::Display) -> Self {
        Self { status: 1, text: text.to_string() }
    }

    /// The session ended; `error` is what was wrong with the socket, if anything.
    pub(crate) fn closed(reason: &CloseReason, error: Option<&io::Error>) -> Self {
        match (reason, error) {
            (CloseReason::Error { frame, .. }, _) if !frame.body().is_empty() => {
                let body = String::from_utf8_lossy(frame.body());
                let body: String = body.trim().chars().take(BODY_SHOWN).collect();
                Self::session(format_args!("{reason}: {body}"))
            }
            (CloseReason::Lost, Some(error)) => Self::session(format_args!("{reason}: {error}")),
            _ => Self::session(reason),
        }
    }

    fn usage(text: impl fmt::Display) -> Self {
        Self { status: 2, text: text.to_string() }
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::usage(error)
    }
}

/// Only arguments can be what the session refuses: a destination with a line end on 1.0, say.
impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::usage(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One line, whatever the broker or the command line brought in.
        f.write_str(&visible(&self.text))
    }
}
