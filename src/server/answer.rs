//! What a server queues in answer to the client: CONNECTED, RECEIPT, ERROR.

use bytes::BytesMut;

use super::notice::{self, Notice};
use super::reply::Answers;
use super::state::State;
use super::{Accept, ConnectReply, Failure, Reply, Server};
use crate::codec::{EncodeError, HeadWriter};
use crate::frame::{Text, name};
use crate::{CloseReason, Command, HeartBeat, Instant, Refused, UsageError, Version};

impl<I: Instant, T> Server<I, T> {
    /// Lets the client in: queues CONNECTED. Heart-beats start, and the frames behind CONNECT are
    /// read.
    ///
    /// # Errors
    ///
    /// [`UsageError::Closed`]; [`UsageError::NotConnected`] if no CONNECT waits for an answer;
    /// [`UsageError::Encode`] and [`UsageError::OwnedHeader`] for what CONNECTED cannot carry.
    pub fn accept(
        &mut self,
        reply: ConnectReply,
        accept: &Accept,
    ) -> Result<(), Refused<ConnectReply>> {
        self.try_accept(accept).map_err(|error| Refused::new(error, reply))
    }

    fn try_accept(&mut self, accept: &Accept) -> Result<(), UsageError> {
        let handshake = match self.state {
            _ if self.link.is_closed() => return Err(UsageError::Closed),
            State::Answering(handshake) => handshake,
            _ => return Err(UsageError::NotConnected),
        };
        let owned = [
            name::VERSION,
            name::SESSION,
            name::SERVER,
            name::HEART_BEAT,
            // CONNECTED has no body, and a peer may take it at its word (STOMP 1.2, "Body").
            name::CONTENT_LENGTH,
        ];
        if let Some((name, _)) = accept.headers.iter().find(|(name, _)| owned.contains(&&**name)) {
            return Err(UsageError::OwnedHeader(Text::new(name)));
        }
        let version = handshake.version;
        let head = |out: &mut BytesMut| -> Result<(), EncodeError> {
            let mut head = HeadWriter::new(out, Command::Connected, version);
            head.raw_header(name::VERSION, version.as_str().as_bytes());
            head.header(name::SESSION.as_bytes(), accept.session.as_bytes())?;
            if let Some(server) = &accept.server {
                head.header(name::SERVER.as_bytes(), server.as_bytes())?;
            }
            if handshake.heart_beat.is_some() {
                head.line(name::HEART_BEAT, |out| accept.heart_beat.put(out));
            }
            for (name, value) in &accept.headers {
                head.header(name.as_bytes(), value.as_bytes())?;
            }
            head.finish();
            Ok(())
        };
        self.link.queue(head, &[])?;
        let theirs = handshake.heart_beat.unwrap_or(HeartBeat::NONE);
        self.link.connected(version, accept.heart_beat, theirs);
        self.state = State::Connected(version);
        Ok(())
    }

    /// Says that a request was carried out: queues RECEIPT if one was asked for.
    ///
    /// A subscription takes deliveries from here on; a DISCONNECT ends the session with
    /// [`CloseReason::Disconnected`].
    ///
    /// # Errors
    ///
    /// [`UsageError::Closed`]; [`UsageError::NotConnected`] before CONNECTED.
    pub fn confirm(&mut self, reply: Reply) -> Result<(), Refused<Reply>> {
        match self.state {
            _ if self.link.is_closed() => return Err(Refused::new(UsageError::Closed, reply)),
            State::AwaitConnect | State::Answering(_) => {
                return Err(Refused::new(UsageError::NotConnected, reply));
            }
            State::Connected(_) | State::Closing(_) => {}
        }
        self.receipt(reply.receipt.as_ref());
        match reply.answers {
            Answers::Subscribe(subscription) => self.subscriptions.confirm(subscription),
            Answers::Disconnect => self.link.close(CloseReason::Disconnected),
            Answers::Other => {}
        }
        Ok(())
    }

    /// Ends the session with ERROR, in answer to a request or, with `None`, of its own accord.
    ///
    /// ERROR names the receipt that the request asked for. It always closes, in every version
    /// (STOMP 1.2, "ERROR").
    ///
    /// # Errors
    ///
    /// [`UsageError::Closed`].
    pub fn fail(
        &mut self,
        reply: impl Into<Option<Reply>>,
        failure: &Failure,
    ) -> Result<(), UsageError> {
        if self.link.is_closed() {
            return Err(UsageError::Closed);
        }
        let receipt = reply.into().and_then(|reply| reply.receipt);
        self.error(receipt.as_ref(), &Notice::default().worded(failure.clone()));
        self.link.close(CloseReason::Failed);
        Ok(())
    }

    /// Queues a RECEIPT if one was asked for, with the client's own octets.
    pub(super) fn receipt(&mut self, receipt: Option<&Text>) {
        let (Some(receipt), Some(version)) = (receipt, self.version()) else { return };
        let head = |out: &mut BytesMut| -> Result<(), EncodeError> {
            let mut head = HeadWriter::new(out, Command::Receipt, version);
            head.raw_header(name::RECEIPT_ID, receipt.as_bytes());
            head.finish();
            Ok(())
        };
        // It cannot fail: the value came from the client.
        let _: Result<(), EncodeError> = self.link.queue(head, &[]);
    }

    /// Queues an ERROR.
    pub(super) fn error(&mut self, receipt: Option<&Text>, notice: &Notice) {
        let version = self.state.settled();
        let message = notice.one_line(version);
        let body = notice.explanation.clone().into_bytes().into();
        let version = version.unwrap_or(Version::V1_2);
        let head = |out: &mut BytesMut| -> Result<(), EncodeError> {
            let mut head = HeadWriter::new(out, Command::Error, version);
            if let Some(receipt) = receipt {
                head.raw_header(name::RECEIPT_ID, receipt.as_bytes());
            }
            if let Some(versions) = notice.versions {
                head.line(name::VERSION, |out| notice::put_versions(versions, out));
            }
            head.header(name::MESSAGE.as_bytes(), message.as_bytes())?;
            for (name, value) in &notice.headers {
                // What cannot be written is not worth the rest.
                let _: Result<(), EncodeError> = head.header(name.as_bytes(), value.as_bytes());
            }
            if !notice.explanation.is_empty() {
                head.raw_header(name::CONTENT_TYPE, b"text/plain");
                head.decimal(name::CONTENT_LENGTH, notice.explanation.len() as u64);
            }
            head.finish();
            Ok(())
        };
        // It cannot fail: the message was made one line.
        let _: Result<(), EncodeError> = self.link.queue(head, &[&body]);
    }
}
