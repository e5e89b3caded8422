//! A session over TCP: octets straight into the inbox and out of the outbox.

use core::future::{pending, poll_fn};
use core::pin::Pin;
use std::io::{self, ErrorKind, IoSlice, Write};

use bytes::Buf;
use stomp_proto::Session;
use tokio::io::{AsyncWrite, Interest};
use tokio::net::TcpStream;

use super::{End, READ_LEN, Transport};

pub(crate) struct Tcp {
    stream: TcpStream,
    end: End,
}

impl Tcp {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, end: End::Open }
    }

    fn read(&self, session: &mut impl Session) -> io::Result<()> {
        let (inbox, _) = session.buffers();
        inbox.reserve(READ_LEN);
        if self.stream.try_read_buf(inbox)? == 0 {
            session.handle_eof();
        }
        Ok(())
    }
}

impl Transport for Tcp {
    async fn progress<S: Session + Send>(&mut self, session: &mut S) -> io::Result<()> {
        if self.end == End::Wanted {
            self.end = End::Done;
            return poll_fn(|context| Pin::new(&mut self.stream).poll_shutdown(context)).await;
        }
        let writes = session.outbox().has_remaining();
        let interest = match (session.wants_read(), writes) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (true, false) => Interest::READABLE,
            (false, true) => Interest::WRITABLE,
            (false, false) => return pending().await,
        };
        let ready = self.stream.ready(interest).await?;
        if writes && ready.is_writable() {
            is_done(session.outbox().write_to(&mut Writer(&self.stream)).map(|_| ()))?;
        }
        if session.wants_read() && ready.is_readable() {
            is_done(self.read(session))?;
        }
        Ok(())
    }

    fn shut_down(&mut self) {
        self.end.want();
    }
}

/// A socket that turned out not to be ready after all is no error.
fn is_done(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        result => result,
    }
}

/// A socket that is written to without waiting.
struct Writer<'a>(&'a TcpStream);

impl Write for Writer<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.try_write(octets)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
