//! Drives a session over a blocking socket: take it with you to embed the crate in blocking `std`.

use core::time::Duration;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Instant;

use bytes::Buf;
use stomp_proto::Session;

/// Octets of one read.
const READ_LEN: usize = 64 << 10;

/// The longest wait for input while there is more to write.
const PATIENCE: Duration = Duration::from_millis(5);

/// The shortest wait, because a socket takes none for an error.
const MOMENT: Duration = Duration::from_millis(1);

/// Either end of a session, and the socket to the other end.
///
/// One thread does it all. It writes no more than the socket has room for, and comes back to
/// reading: two ends that write as long as it takes, at the same time, would each wait for the
/// other to read.
pub(crate) struct Driver<S> {
    session: S,
    socket: TcpStream,
    chunk: Box<[u8]>,
    has_shut_down: bool,
    error: Option<io::Error>,
}

impl<S: Session<Instant = Instant>> Driver<S> {
    pub(crate) fn new(session: S, socket: TcpStream) -> io::Result<Self> {
        // The outbox puts together what goes together.
        socket.set_nodelay(true)?;
        let chunk = vec![0; READ_LEN].into();
        Ok(Self { session, socket, chunk, has_shut_down: false, error: None })
    }

    /// The session, for requests and answers. The next [`Driver::next_event`] writes them.
    pub(crate) fn session(&mut self) -> &mut S {
        &mut self.session
    }

    /// Waits for the next event; `None`: the session is over.
    pub(crate) fn next_event(&mut self) -> Option<S::Event> {
        loop {
            let now = Instant::now();
            self.session.handle_timeout(now);
            if let Some(event) = self.session.poll_event(now) {
                return Some(event);
            }
            if self.session.is_finished() {
                return None;
            }
            if let Err(error) = self.exchange() {
                self.lose(error);
            }
        }
    }

    /// What was wrong with the socket, if the session was lost.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Writes; if there is nothing to write or no room for it, waits for input or the next deadline.
    fn exchange(&mut self) -> io::Result<()> {
        let written = self.write()?;
        if self.session.wants_shutdown() && !self.has_shut_down {
            self.has_shut_down = true;
            self.socket.shutdown(Shutdown::Write)?;
        }
        if written > 0 {
            // There may be events that waited for room in the outbox.
            return Ok(());
        }
        if self.session.wants_read() {
            let wait = self.wait();
            self.socket.set_read_timeout(wait)?;
            self.read().or_else(unless_passing)?;
        } else {
            thread::sleep(PATIENCE);
        }
        Ok(())
    }

    /// Writes what the socket has room for; the number of octets.
    fn write(&mut self) -> io::Result<usize> {
        if !self.session.outbox().has_remaining() {
            return Ok(0);
        }
        self.socket.set_nonblocking(true)?;
        let written = self.session.outbox().write_to(&mut self.socket);
        self.socket.set_nonblocking(false)?;
        written.or_else(unless_passing)
    }

    /// How long to wait for input; `None`: as long as it takes.
    fn wait(&mut self) -> Option<Duration> {
        let until_due = |due: Instant| due.saturating_duration_since(Instant::now()).max(MOMENT);
        let wait = self.session.poll_timeout().map(until_due);
        if self.session.outbox().has_remaining() {
            return Some(wait.map_or(PATIENCE, |wait| wait.min(PATIENCE)));
        }
        wait
    }

    /// Reads once; the number of octets.
    fn read(&mut self) -> io::Result<usize> {
        let count = self.socket.read(&mut self.chunk)?;
        match self.chunk.get(..count) {
            Some(octets) if count > 0 => self.session.receive(octets),
            _ => self.session.handle_eof(),
        }
        Ok(count)
    }

    /// Gives the socket up.
    fn lose(&mut self, error: io::Error) {
        // If it was writing that failed, the peer's last words may still be there: an ERROR, say.
        if self.socket.set_read_timeout(Some(MOMENT)).is_ok() {
            while let Ok(1..) = self.read() {}
        }
        self.session.handle_lost();
        self.error = Some(error);
    }
}

/// Takes it as no error that no octet could be written or read for now.
fn unless_passing(error: io::Error) -> io::Result<usize> {
    match error.kind() {
        // A read that timed out is the first on Unix and the second on Windows.
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(0),
        _ => Err(error),
    }
}
