//! What carries out what sessions ask for: the seam between the broker and its queues.

mod amqp;
mod memory;

use core::fmt;

use bytes::Bytes;
use stomp_proto::destination::{Action, ConsumerTag};
use stomp_proto::frame::Headers;
use stomp_proto::server::{Delivery, Failure};

pub use amqp::{Amqp, AmqpChannel};
pub use memory::{Memory, MemoryLimits};

/// A place where messages wait.
pub trait Backend: Clone + Send + Sync + 'static {
    /// What a session gets.
    type Channel: Channel;

    /// Opens a channel for a new session.
    ///
    /// # Errors
    ///
    /// There is none to be had; the connection is dropped.
    fn open(&self) -> impl Future<Output = std::io::Result<Self::Channel>> + Send;
}

/// What one session has of a backend.
pub trait Channel: Send + 'static {
    /// What a delivery is settled by.
    type Token: Send + 'static;

    /// Whether it takes jobs. If not, the session is not polled until a [`Notice`] came.
    fn is_ready(&self) -> bool;

    /// Lets a client in, as somebody or as whoever does not say. It comes first, and once.
    ///
    /// What is [`Submitted::UnderWay`] is followed by [`Notice::Done`] or [`Notice::Failed`].
    fn log_in(&mut self, login: Option<Login>) -> Submitted;

    /// Takes on jobs that are to be carried out as one, behind those that it took on before.
    ///
    /// What is [`Submitted::UnderWay`] is followed by [`Notice::Done`] or [`Notice::Failed`].
    fn submit(&mut self, jobs: Vec<Job<'_, Self::Token>>) -> Submitted;

    /// Settles deliveries at once, without a notice.
    fn settle(&mut self, outcome: Outcome, deliveries: Vec<Self::Token>);

    /// What has happened next. A call that is given up loses nothing.
    fn next_notice(&mut self, wanted: Wanted) -> impl Future<Output = Notice<Self::Token>> + Send;

    /// Ends the channel: its consumers and its own queues go, and what was left open goes back.
    fn close(self, open: Vec<Self::Token>) -> impl Future<Output = ()> + Send;
}

/// What a session can hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever happens.
    All,
    /// No message: there is no room for one.
    NoMessage,
}

/// Who a client says that it is.
pub struct Login {
    /// `login` of its CONNECT.
    pub name: String,
    /// `passcode`; empty if there was none.
    pub passcode: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither is for a log.
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

/// Something to do.
#[derive(Debug)]
pub enum Job<'a, T> {
    /// The plan for a frame, step by step.
    Carry {
        /// The steps.
        plan: Vec<Action<'a>>,
        /// The message of a SEND.
        message: Option<Outgoing<'a>>,
    },
    /// Deliveries were settled.
    Settle(Outcome, Vec<T>),
}

/// What has become of jobs so far.
#[derive(Debug)]
pub enum Submitted {
    /// They took effect.
    Done,
    /// They failed; the session has to end.
    Failed(Failure),
    /// A notice will tell.
    UnderWay,
}

/// A message as a client sent it.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// All headers of the SEND.
    pub headers: Headers<'a>,
    /// Its body, which shares a read buffer with its neighbours.
    pub body: &'a Bytes,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was consumed.
    Consumed,
    /// It was not consumed, and somebody else may.
    GivenBack,
    /// It never left, so that the next delivery of it is the first.
    Unsent,
    /// It was not consumed, and nobody shall.
    Rejected,
}

/// What has happened.
#[derive(Debug)]
pub enum Notice<T> {
    /// The oldest jobs that are under way took effect.
    Done,
    /// The oldest jobs that are under way failed; the session has to end.
    Failed(Failure),
    /// A consumer gets a message.
    Message {
        /// The consumer.
        consumer: ConsumerTag,
        /// The message.
        delivery: Delivery,
        /// What it is settled by, in every mode.
        token: T,
    },
    /// A consumer was ended because its queue is gone.
    Cancelled(ConsumerTag),
}
