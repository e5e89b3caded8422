//! stomp-agnostic: its handles over a transport that has in hand what was read.

use core::future::{Future, pending};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::borrow::Cow;

use async_trait::async_trait;
use bytes::Bytes;
use stomp_agnostic::{
    ClientData, ClientStompHandle, ClientTransport, FromServer, Message, ReadData, ReadError,
    ServerResponse, ServerStompHandle, ServerTransport, ToServer, WriteError,
};

use super::{Decode, Read};
use crate::corpora::Corpus;
use crate::tally::{Seen, Tally, find, find_octets};

/// What the next read gives; without it, there is nothing to read.
struct InHand(Option<Bytes>);

impl InHand {
    async fn take(&mut self) -> Result<ReadData<()>, ReadError> {
        match self.0.take() {
            Some(octets) => Ok(ReadData::Binary(octets)),
            None => pending().await,
        }
    }
}

#[async_trait]
impl ClientTransport for InHand {
    type ProtocolSideChannel = ();

    async fn write(&mut self, _: Message<ToServer>) -> Result<(), WriteError> {
        Ok(())
    }

    async fn read(&mut self) -> Result<ReadData<()>, ReadError> {
        self.take().await
    }
}

#[async_trait]
impl ServerTransport for InHand {
    type ProtocolSideChannel = ();

    async fn write(&mut self, _: Message<FromServer>) -> Result<(), WriteError> {
        Ok(())
    }

    async fn read(&mut self) -> Result<ReadData<()>, ReadError> {
        self.take().await
    }
}

/// A server for SEND, a client for MESSAGE.
pub(super) fn enter(corpus: &Corpus, _: Read) -> Result<Box<dyn Decode>, &'static str> {
    if corpus.is_send { server() } else { client() }
}

struct OfClient(ClientStompHandle<InHand>);

fn client() -> Result<Box<dyn Decode>, &'static str> {
    let connected = InHand(Some(Bytes::from_static(b"CONNECTED\nversion:1.2\n\n\0")));
    let connecting = ClientStompHandle::connect(connected, "h".to_owned(), None, None, Vec::new());
    match once(connecting) {
        Poll::Ready(Ok(handle)) => Ok(Box::new(OfClient(handle))),
        _ => Err("it does not connect"),
    }
}

impl Decode for OfClient {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.0.as_mut_transport().0 = Some(Bytes::copy_from_slice(octets));
        loop {
            match once(self.0.read_response()) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(ServerResponse::Message(message))) => tally.frame(&message),
                Poll::Ready(other) => return Err(format!("{other:?}")),
            }
            // It looks for a frame only after a read: one that gives nothing, for those in its buffer.
            self.0.as_mut_transport().0 = Some(Bytes::new());
        }
    }
}

struct OfServer(ServerStompHandle<InHand>);

fn server() -> Result<Box<dyn Decode>, &'static str> {
    let connect = b"CONNECT\naccept-version:1.2\nhost:h\n\n\0";
    let connect = InHand(Some(Bytes::from_static(connect)));
    let (login, session) = (Box::new(|_, _| true), Box::new(|| None));
    match once(ServerStompHandle::wait_for_connection(connect, login, session)) {
        Poll::Ready(Ok(handle)) => Ok(Box::new(OfServer(handle))),
        _ => Err("it does not let a client in"),
    }
}

impl Decode for OfServer {
    fn read(&mut self, octets: &[u8], tally: &mut Tally) -> Result<(), String> {
        self.0.as_mut_transport().0 = Some(Bytes::copy_from_slice(octets));
        loop {
            match once(self.0.read_data()) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(ClientData::Message(message))) => tally.frame(&message),
                Poll::Ready(other) => return Err(format!("{other:?}")),
            }
            self.0.as_mut_transport().0 = Some(Bytes::new());
        }
    }
}

/// Polls a future once: what it waits for is in hand or does not come.
fn once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

impl Seen for Message<FromServer> {
    fn body_len(&self) -> usize {
        match &self.content {
            FromServer::Message { body: Some(body), .. } => body.len(),
            _ => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let FromServer::Message { destination, message_id, subscription, headers, .. } =
            &self.content
        else {
            return None;
        };
        match name {
            "destination" => Some(destination.into()),
            "message-id" => Some(message_id.into()),
            "subscription" => Some(subscription.into()),
            _ => find(headers, name).or_else(|| find_octets(&self.extra_headers, name)),
        }
    }
}

impl Seen for Message<ToServer> {
    fn body_len(&self) -> usize {
        match &self.content {
            ToServer::Send { body: Some(body), .. } => body.len(),
            _ => 0,
        }
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let ToServer::Send { destination, headers, .. } = &self.content else { return None };
        match name {
            "destination" => Some(destination.into()),
            _ => headers
                .as_deref()
                .and_then(|headers| find(headers, name))
                .or_else(|| find_octets(&self.extra_headers, name)),
        }
    }
}
