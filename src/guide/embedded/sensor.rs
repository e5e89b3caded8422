// A sensor that is a client: `core` and `alloc`, a loop that polls, a clock of milliseconds.

use core::ops::Add;
use core::time::Duration;

use bytes::Buf;
use stomp_proto::client::{Event, ReceiptId, SendRequest};
use stomp_proto::codec::Limits;
use stomp_proto::{Client, ClientConfig, CloseReason, HeartBeat, Session, UsageError};

/// The clock of the board: milliseconds since it was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Millis(u64);

impl Add<Duration> for Millis {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

/// What there is of a network. Neither call waits.
trait Wire {
    /// Octets that have come; 0: none.
    fn read(&mut self, octets: &mut [u8]) -> usize;
    /// How many of these it took.
    fn write(&mut self, octets: &[u8]) -> usize;
}

/// Sends what it measures and counts what was confirmed.
struct Sensor {
    client: Client<Millis>,
    /// Measured and not sent yet.
    value: Option<(u32, ReceiptId)>,
    confirmed: u32,
    end: Option<CloseReason>,
}

impl Sensor {
    fn new(now: Millis) -> Result<Self, UsageError> {
        let config = ClientConfig::new("hub")
            .heart_beat(HeartBeat { can_send: 30_000, wants: 30_000 })
            .limits(limits());
        let client = Client::new(config, now)?;
        Ok(Self { client, value: None, confirmed: 0, end: None })
    }

    fn measure(&mut self, value: u32) {
        self.value = Some((value, self.client.next_receipt()));
    }

    /// When to call `turn` at the latest.
    fn due(&self) -> Option<Millis> {
        self.client.poll_timeout()
    }

    /// One turn of the main loop: read, act, write. It never waits.
    fn turn(&mut self, now: Millis, wire: &mut impl Wire) {
        let mut octets = [0; 64];
        while self.client.wants_read() {
            match wire.read(&mut octets) {
                0 => break,
                read => self.client.receive(octets.get(..read).unwrap_or_default()),
            }
        }
        self.client.handle_timeout(now);
        while let Some(event) = self.client.poll_event(now) {
            match event {
                Event::Receipt(_) => self.confirmed += 1,
                Event::Closed(reason) => self.end = Some(reason),
                Event::Connected(_) | Event::Message(_) | Event::UnknownReceipt(_) => {}
            }
        }
        if let Some((value, receipt)) = self.value {
            let body = value.to_be_bytes();
            let request = SendRequest::new("/queue/values").body(body.to_vec()).receipt(receipt);
            // Not connected yet, or no room: it waits for the next turn.
            if self.client.send(&request).is_ok() {
                self.value = None;
            }
        }
        while self.client.outbox().has_remaining() {
            match wire.write(self.client.outbox().chunk()) {
                0 => break,
                written => self.client.outbox().advance(written),
            }
        }
    }
}

/// What the broker can make it hold.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_head_len = 512;
    limits.max_connect_head_len = 512;
    limits.max_headers = 16;
    limits.max_body_len = 1024;
    limits.max_inbox_len = 512;
    limits.max_outbox_len = 512;
    limits.max_subscriptions = 4;
    limits.max_pending_receipts = 8;
    limits
}
