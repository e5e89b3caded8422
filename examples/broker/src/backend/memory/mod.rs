//! Queues in memory, which are gone when the broker is.

mod core;
mod exchange;
mod message;
mod pattern;
mod queue;
mod refusal;
mod step;

use alloc::sync::Arc;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::core::time::Duration;
use stomp_proto::server::Failure;
use tokio::select;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use self::core::{Core, Mail, Performed};
use super::{Backend, Channel, Job, Login, Notice, Outcome, Submitted, Wanted};
use message::Held;
use queue::{Position, QueueId, SessionId};
use step::{Step, steps};

/// Bounds on what the queues hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Octets in one queue, with all that is delivered and not settled. Who sends to a full queue has
    /// to wait; one of a single session drops the oldest messages that nobody has instead. Default:
    /// 64 MiB.
    pub max_queue_len: usize,
    /// Octets of all messages, which they never exceed. When half of it is taken, a queue is full that
    /// would have more than its share, which is a quarter of it by [`MemoryLimits::max_queues`]; so that
    /// whoever fills the memory does not keep out those who do not. Default: 1 GiB.
    pub max_len: usize,
    /// How long a SEND to a full queue may wait before its session ends. Default: 30 s.
    pub max_wait: Duration,
    /// Queues, and as many again that are of a single session each. Default: 16,384.
    pub max_queues: usize,
    /// Bindings. Default: 65,536.
    pub max_bindings: usize,
    /// Unsettled deliveries of a consumer that does not say `prefetch-count`. Default: 1,000.
    pub prefetch_count: u16,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            max_queue_len: 64 << 20,
            max_len: 1 << 30,
            max_wait: Duration::from_secs(30),
            max_queues: 16_384,
            max_bindings: 65_536,
            prefetch_count: 1000,
        }
    }
}

/// Queues in memory.
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
    max_wait: Duration,
}

#[derive(Debug)]
struct Shared {
    core: Mutex<Core>,
    held: Held,
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, Core> {
        // Nothing in there panics; if it did, one session less would be no reason to lose the rest.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// No queues yet.
    #[must_use]
    pub fn new(limits: MemoryLimits) -> Self {
        let (held, max_wait) = (Held::default(), limits.max_wait);
        let core = Mutex::new(Core::new(limits, held.clone()));
        Self { shared: Arc::new(Shared { core, held }), max_wait }
    }
}

impl Backend for Memory {
    type Channel = MemoryChannel;

    async fn open(&self) -> io::Result<MemoryChannel> {
        let has_mail = Arc::new(Notify::new());
        let session = self.shared.core().open(has_mail.clone());
        let Self { shared, max_wait } = self.clone();
        Ok(MemoryChannel { shared, session, has_mail, waiting: None, max_wait })
    }
}

/// What one session has of the queues.
#[derive(Debug)]
pub struct MemoryChannel {
    shared: Arc<Shared>,
    session: SessionId,
    has_mail: Arc<Notify>,
    waiting: Option<Waiting>,
    max_wait: Duration,
}

/// Steps that wait for room, and until when.
#[derive(Debug)]
struct Waiting {
    steps: Vec<Step>,
    deadline: Instant,
}

/// A delivery of a queue in memory.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    queue: QueueId,
    position: Position,
}

impl Channel for MemoryChannel {
    type Token = Token;

    fn is_ready(&self) -> bool {
        self.waiting.is_none()
    }

    /// Everybody is let in.
    fn log_in(&mut self, _login: Option<Login>) -> Submitted {
        Submitted::Done
    }

    fn submit(&mut self, jobs: Vec<Job<'_, Token>>) -> Submitted {
        let steps = steps(jobs, &self.shared.held);
        let deadline = Instant::now() + self.max_wait;
        let mut core = self.shared.core();
        if self.waiting.is_some() {
            // The connection is lost, or it would not have been polled.
            core.abandon(self.session, steps);
            return Submitted::Failed(Failure::new("queue is full"));
        }
        match core.perform(self.session, steps) {
            Performed::Done => Submitted::Done,
            Performed::Failed(failure) => Submitted::Failed(failure),
            Performed::Full(steps) => {
                self.waiting = Some(Waiting { steps, deadline });
                Submitted::UnderWay
            }
        }
    }

    fn settle(&mut self, outcome: Outcome, deliveries: Vec<Token>) {
        if !deliveries.is_empty() {
            self.shared.core().settle(outcome, &deliveries);
        }
    }

    async fn next_notice(&mut self, wanted: Wanted) -> Notice<Token> {
        let shared = self.shared.clone();
        loop {
            if let Some(notice) = self.retry() {
                return notice;
            }
            let mail = match wanted {
                Wanted::All => shared.core().fetch(self.session),
                Wanted::NoMessage => None,
            };
            match mail {
                Some(Mail::Message(queue, it)) => {
                    let token = Token { queue, position: it.position };
                    let delivery = it.message.delivery(it.time);
                    return Notice::Message { consumer: it.consumer.tag, delivery, token };
                }
                Some(Mail::Cancelled(tag)) => return Notice::Cancelled(tag),
                None => {}
            }
            let deadline = self.waiting.as_ref().map(|waiting| waiting.deadline);
            select! {
                // What it is told of meanwhile is not missed.
                () = self.has_mail.notified() => {}
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {}
            }
        }
    }

    async fn close(mut self, open: Vec<Token>) {
        if let Some(Waiting { steps, .. }) = self.waiting.take() {
            self.shared.core().abandon(self.session, steps);
        }
        self.shared.core().close(self.session, &open);
    }
}

impl MemoryChannel {
    /// Tries once more what waits for room.
    fn retry(&mut self) -> Option<Notice<Token>> {
        let Waiting { steps, deadline } = self.waiting.take()?;
        let mut core = self.shared.core();
        match core.perform(self.session, steps) {
            Performed::Done => Some(Notice::Done),
            Performed::Failed(failure) => Some(Notice::Failed(failure)),
            Performed::Full(steps) if Instant::now() >= deadline => {
                core.abandon(self.session, steps);
                let failure = Failure::new("queue is full");
                Some(Notice::Failed(failure.explanation("nobody has made room in time\n")))
            }
            Performed::Full(steps) => {
                drop(core);
                self.waiting = Some(Waiting { steps, deadline });
                None
            }
        }
    }
}
