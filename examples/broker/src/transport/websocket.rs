//! A session over WebSocket: one frame is one message, text when it is UTF-8.

use core::future::poll_fn;
use core::task::{Context, Poll};
use std::io;

use bytes::Buf;
use futures_util::{SinkExt, StreamExt};
use stomp_proto::codec::Limits;
use stomp_proto::{OutgoingFrame, Session, Version, VersionSet, websocket};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::{End, READ_LEN, Transport};

/// Octets of pongs, headers that we add and what is written at a time, besides the longest message.
const PONGS_LEN: usize = 1 << 20;

pub(crate) struct WebSocket {
    socket: WebSocketStream<TcpStream>,
    /// Whether something was handed over that may not have left.
    is_unflushed: bool,
    end: End,
}

/// Shakes hands; the version of the subprotocol that was chosen, if one was.
pub(crate) async fn accept(
    stream: TcpStream,
    limits: &Limits,
) -> io::Result<(WebSocket, Option<Version>)> {
    let mut chosen = None;
    #[expect(clippy::result_large_err, reason = "the library wants it so")]
    let choose = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
        let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        chosen = websocket::select(offered.filter_map(|line| line.to_str().ok()), VersionSet::ALL);
        if let Some(version) = chosen {
            let name = HeaderValue::from_static(version.subprotocol());
            response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, name);
        }
        Ok(response)
    };
    let most = limits.max_head_len + limits.max_body_len + 1;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_LEN)
        // A message goes in when nearly all before it has left. Pongs that nobody reads gather.
        .max_write_buffer_size(most + PONGS_LEN)
        .max_message_size(Some(most))
        .max_frame_size(Some(most));
    let socket = accept_hdr_async_with_config(stream, choose, Some(config)).await;
    let socket = socket.map_err(io::Error::other)?;
    Ok((WebSocket { socket, is_unflushed: false, end: End::Open }, chosen))
}

impl WebSocket {
    /// Whether a frame was handed over, or all of them have left.
    fn poll_write(
        &mut self,
        session: &mut impl Session,
        context: &mut Context<'_>,
    ) -> io::Result<bool> {
        let mut has_written = false;
        while session.outbox().has_remaining() {
            match self.socket.poll_ready_unpin(context) {
                Poll::Ready(ready) => ready.map_err(io::Error::other)?,
                Poll::Pending => return Ok(has_written),
            }
            let Some(frame) = session.outbox().next_frame() else { break };
            self.socket.start_send_unpin(message(frame)).map_err(io::Error::other)?;
            (self.is_unflushed, has_written) = (true, true);
        }
        if self.is_unflushed
            && let Poll::Ready(flushed) = self.socket.poll_flush_unpin(context)
        {
            // Not tried again if it failed: a connection that is dead stays so.
            self.is_unflushed = false;
            flushed.map_err(io::Error::other)?;
        }
        if self.end == End::Wanted
            && let Poll::Ready(ended) = self.socket.poll_close_unpin(context)
        {
            (self.end, has_written) = (End::Done, true);
            ended.map_err(io::Error::other)?;
        }
        Ok(has_written)
    }

    /// Whether something came. Pings are answered while looking for it.
    fn poll_read(
        &mut self,
        session: &mut impl Session,
        context: &mut Context<'_>,
    ) -> io::Result<bool> {
        let Poll::Ready(message) = self.socket.poll_next_unpin(context) else { return Ok(false) };
        match message.transpose().map_err(io::Error::other)? {
            Some(Message::Text(text)) => session.receive(text.as_bytes()),
            Some(Message::Binary(octets)) => session.receive(&octets),
            // The answer to a close leaves with the next look, which ends the stream.
            Some(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_)) => {}
            None => session.handle_eof(),
        }
        Ok(true)
    }
}

impl Transport for WebSocket {
    async fn progress<S: Session + Send>(&mut self, session: &mut S) -> io::Result<()> {
        poll_fn(|context| {
            let has_written = self.poll_write(session, context)?;
            let has_read = session.wants_read() && self.poll_read(session, context)?;
            if has_written || has_read { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await
    }

    fn shut_down(&mut self) {
        self.end.want();
    }
}

fn message(OutgoingFrame { bytes, is_text }: OutgoingFrame) -> Message {
    if !is_text {
        return Message::Binary(bytes);
    }
    Utf8Bytes::try_from(bytes.clone()).map_or(Message::Binary(bytes), Message::Text)
}
