//! What a peer may make us hold, and for how long.

use core::time::Duration;

/// Bounds on what a decoder or a session holds, and on how long it waits.
///
/// A peer that exceeds one of the decoder's gets a [`DecodeError`](super::DecodeError) that names
/// it; one that exceeds another, a [`ProtocolError`](crate::ProtocolError); a caller, a
/// [`UsageError`](crate::UsageError).
///
/// ```
/// use stomp_proto::codec::Limits;
/// let mut limits = Limits::default();
/// limits.max_body_len = 1 << 20;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of one head: command, header lines and the blank line. Default: 64 KiB; never more than
    /// 16 MiB.
    pub max_head_len: usize,
    /// The same before a version is set, that is, before login; then also for bodies, but not that of
    /// an ERROR, which says why there will be no login. Default: 16 KiB, room for a token in a
    /// header.
    pub max_connect_head_len: usize,
    /// Header lines of one frame; repeated and malformed ones count. Default: 128.
    pub max_headers: usize,
    /// Octets of one body. An announced length is held against it before a byte of the body is
    /// awaited. Default: 16 MiB.
    pub max_body_len: usize,
    /// Line ends in a row before a version is set. Default: 64.
    pub max_idle_eols: usize,
    /// Octets received and not looked at, because the caller does not poll, from which on a session
    /// wants no more. Default: 64 KiB.
    pub max_inbox_len: usize,
    /// Octets queued for a peer that does not read, above which requests and deliveries are refused
    /// and a server reads no further frame. Default: 16 MiB.
    pub max_outbox_len: usize,
    /// Subscriptions of a session: live ones, and ended ones with open deliveries. Default: 1,024.
    pub max_subscriptions: usize,
    /// Server: open deliveries of a session. Default: 65,536.
    pub max_unacknowledged: usize,
    /// Server: open transactions of a session. Default: 16.
    pub max_transactions: usize,
    /// Server: frames in one transaction. Default: 1,024.
    pub max_transaction_frames: usize,
    /// Server: octets in the open transactions of a session. Default: 16 MiB.
    pub max_transaction_len: usize,
    /// Client: receipts owed. Default: 65,536.
    pub max_pending_receipts: usize,
    /// How long the peer may take for its part of the handshake, however its octets trickle.
    /// Default: 10 s.
    pub connect_timeout: Duration,
    /// Client: how long the broker may take to answer DISCONNECT. Default: 5 s.
    pub disconnect_timeout: Duration,
    /// How long the peer may take to end its stream when all is said. Default: 5 s.
    pub close_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_head_len: 64 << 10,
            max_connect_head_len: 16 << 10,
            max_headers: 128,
            max_body_len: 16 << 20,
            max_idle_eols: 64,
            max_inbox_len: 64 << 10,
            max_outbox_len: 16 << 20,
            max_subscriptions: 1024,
            max_unacknowledged: 65_536,
            max_transactions: 16,
            max_transaction_frames: 1024,
            max_transaction_len: 16 << 20,
            max_pending_receipts: 65_536,
            connect_timeout: Duration::from_secs(10),
            disconnect_timeout: Duration::from_secs(5),
            close_timeout: Duration::from_secs(5),
        }
    }
}
