//! What carries a session's octets: the loop of a connection knows no more than this.

mod tcp;
mod websocket;

use std::io;

use stomp_proto::Session;

pub(crate) use tcp::Tcp;
pub(crate) use websocket::accept;

/// How much is read at a time.
const READ_LEN: usize = 16 << 10;

pub(crate) trait Transport: Send {
    /// Reads into a session, if it wants that, and writes from it, if there is something, as soon as
    /// one or the other can be done. A call that is given up has done nothing.
    ///
    /// An error means that the connection is dead. That the peer has ended its stream is none: the
    /// session is told.
    fn progress<S>(&mut self, session: &mut S) -> impl Future<Output = io::Result<()>> + Send
    where
        S: Session + Send;

    /// Nothing more will be written: from now on `progress` ends our stream as well.
    fn shut_down(&mut self);
}
