//! Threads of a test: what goes wrong in them goes wrong in the test, and one that hangs fails it.

use core::time::Duration;
use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};

use super::Outcome;

/// Longer than any test takes on any machine.
const LIMIT: Duration = Duration::from_secs(120);

pub(crate) type Thread<T> = JoinHandle<Outcome<T>>;

/// Runs a test in a thread of its own, which is left behind if it does not end.
pub(crate) fn in_time(test: impl FnOnce() -> Outcome<()> + Send + 'static) -> Outcome<()> {
    let (ends, has_ended) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        // Dropped when the test ends, however it does.
        let _ends = ends;
        test()
    });
    let hangs = has_ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
    assert!(!hangs, "the test hangs");
    join(thread)
}

/// Waits for what a thread comes to.
pub(crate) fn join<T>(thread: Thread<T>) -> Outcome<T> {
    thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
}
