//! What a peer may make us hold.

/// Bounds on what a peer can make a decoder hold. Exceeding one is a
/// [`DecodeError`](super::DecodeError) that names it.
///
/// ```
/// use stomp_proto::codec::Limits;
/// let mut limits = Limits::default();
/// limits.max_body_len = 1 << 20;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of one head: command, header lines and the blank line. Default: 64 KiB.
    pub max_head_len: usize,
    /// The same before a version is set, that is, before login; also for the body of a CONNECT,
    /// which only 1.0 tolerates. Default: 16 KiB, room for a token in a header.
    pub max_connect_head_len: usize,
    /// Header lines of one frame; repeated and malformed ones count. Default: 128.
    pub max_headers: usize,
    /// Octets of one body. An announced length is held against it before a byte of the body is
    /// awaited. Default: 16 MiB.
    pub max_body_len: usize,
    /// Line ends in a row before a version is set. Default: 64.
    pub max_idle_eols: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_head_len: 64 << 10,
            max_connect_head_len: 16 << 10,
            max_headers: 128,
            max_body_len: 16 << 20,
            max_idle_eols: 64,
        }
    }
}
