//! The task that has a session's AMQP connection: it carries out one step after the other.

use alloc::collections::BTreeMap;
use core::pin::{Pin, pin};
use core::time::Duration;

use futures_util::stream::{FuturesOrdered, StreamExt, once};
use futures_util::{Stream, future};
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicNackOptions,
    BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions, QueueBindOptions,
    QueueDeleteOptions,
};
use lapin::types::FieldTable;
use lapin::uri::AMQPUri;
use lapin::{Channel, Connection, Consumer, Error, ErrorKind, Event, PublisherConfirm};
use stomp_proto::destination::ConsumerTag;
use stomp_proto::frame::AckMode;
use stomp_proto::server::Failure;
use tokio::select;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;
use tracing::debug;

use super::Token;
use super::failure::{failure, refused};
use super::login::connect;
use super::step::{ConsumerNumber, Publish, Start, Step};
use crate::backend::{Login, Outcome};

/// Unsettled deliveries of a consumer that does not say `prefetch-count`.
const PREFETCH_COUNT: u16 = 1000;
/// Messages of a consumer in the mode auto that wait here for room at its connection.
const AUTO_PREFETCH_COUNT: u16 = 100;

/// How long the reason for the end of a channel may take.
const REASON_TIMEOUT: Duration = Duration::from_secs(1);

/// What the task is to do.
#[derive(Debug)]
pub(super) enum Command {
    /// Connect. It comes first.
    LogIn(Option<Login>),
    /// Carry out steps as one, and tell when they took effect.
    Perform(Vec<Step>),
    /// Settle deliveries.
    Settle(Outcome, Vec<Token>),
}

/// What the task has to say.
pub(super) enum Told {
    /// The oldest command that is to be told of took effect, and these consumers run.
    Done(Vec<Started>),
    /// The oldest command that is to be told of failed. It is the last that the task does.
    Failed(Failure),
}

/// A consumer that runs.
pub(super) struct Started {
    pub(super) number: ConsumerNumber,
    pub(super) tag: ConsumerTag,
    pub(super) deliveries: Deliveries,
}

/// The messages of a consumer, and `None` when it was ended.
pub(super) type Deliveries = Pin<Box<dyn Stream<Item = Option<Result<Delivery, Error>>> + Send>>;

/// Carries out commands until there will be no more, or one fails.
pub(super) async fn work(
    uri: AMQPUri,
    mut commands: UnboundedReceiver<Command>,
    told: UnboundedSender<Told>,
) {
    // Whoever does not listen any more has nothing to hear.
    let tell = |what| drop(told.send(what));
    let Some(Command::LogIn(login)) = commands.recv().await else { return };
    let mut link = match Link::open(&uri, login).await {
        Ok(link) => link,
        Err(error) => return tell(Told::Failed(refused(&error))),
    };
    tell(Told::Done(Vec::new()));
    if let Err(failure) = link.serve(commands, tell).await {
        tell(Told::Failed(failure));
    }
    if let Err(error) = link.connection.close(200, "session is over".into()).await {
        debug!(%error, "AMQP connection did not end in order");
    }
}

struct Link {
    connection: Connection,
    /// For all but transactions: it confirms what is published.
    channel: Channel,
    /// For transactions, if there were any: AMQP knows no channel for both.
    transactions: Option<Channel>,
    /// What the next consumers are started with.
    prefetch_count: Option<u16>,
    consumers: BTreeMap<ConsumerTag, (ConsumerNumber, Consumer)>,
}

/// What was done for a command.
#[derive(Default)]
struct Performed {
    /// It takes effect when these come.
    confirms: Vec<PublisherConfirm>,
    /// The consumers that run then.
    started: Vec<Started>,
}

impl Link {
    async fn open(uri: &AMQPUri, login: Option<Login>) -> Result<Self, Error> {
        let connection = connect(uri, login).await?;
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        let (transactions, prefetch_count, consumers) = (None, None, BTreeMap::new());
        Ok(Self { connection, channel, transactions, prefetch_count, consumers })
    }

    async fn serve(
        &mut self,
        mut commands: UnboundedReceiver<Command>,
        tell: impl Fn(Told),
    ) -> Result<(), Failure> {
        let mut events = pin!(self.connection.events_listener());
        let mut effects = FuturesOrdered::new();
        // When there will be no more commands, what is under way is waited for.
        let mut is_open = true;
        while is_open || !effects.is_empty() {
            select! {
                biased;
                Some(effect) = effects.next() => match effect {
                    Ok(started) => tell(Told::Done(started)),
                    Err(error) => return Err(reason(error, events).await),
                },
                Some(event) = events.next(), if is_open => {
                    if let Event::Error(error) = event {
                        return Err(failure(&error));
                    }
                }
                command = commands.recv(), if is_open => {
                    let performed = match command {
                        Some(Command::Perform(steps)) => {
                            if is_transaction(&steps) {
                                // It goes another way, and must not overtake what was sent before.
                                while let Some(effect) = effects.next().await {
                                    match effect {
                                        Ok(started) => tell(Told::Done(started)),
                                        Err(error) => return Err(reason(error, events).await),
                                    }
                                }
                            }
                            self.perform(steps).await
                        }
                        Some(Command::Settle(outcome, deliveries)) => {
                            match self.settle(outcome, deliveries).await {
                                Ok(()) => continue,
                                Err(error) => Err(error),
                            }
                        }
                        Some(Command::LogIn(_)) => return Err(Failure::new("already connected")),
                        None => {
                            is_open = false;
                            continue;
                        }
                    };
                    // Nothing is done behind what failed.
                    is_open = performed.is_ok();
                    effects.push_back(effect(performed));
                }
            }
        }
        Ok(())
    }

    async fn perform(&mut self, steps: Vec<Step>) -> Result<Performed, Error> {
        if is_transaction(&steps) {
            return self.commit(steps).await;
        }
        let mut performed = Performed::default();
        for step in steps {
            self.step(step, &mut performed).await?;
        }
        Ok(performed)
    }

    /// All messages are published as one; only then, what was consumed for them is settled. If that
    /// comes too late, it is delivered again.
    async fn commit(&mut self, steps: Vec<Step>) -> Result<Performed, Error> {
        let transactions = self.transactions().await?;
        let (mut performed, mut settlements) = (Performed::default(), Vec::new());
        for step in steps {
            match step {
                // The confirmation is that of the commit.
                Step::Publish(it) => drop(publish(&transactions, it).await?),
                Step::Settle { outcome, deliveries } => settlements.push((outcome, deliveries)),
                step => self.step(step, &mut performed).await?,
            }
        }
        transactions.tx_commit().await?;
        for (outcome, deliveries) in settlements {
            self.settle(outcome, deliveries).await?;
        }
        Ok(performed)
    }

    /// The channel for transactions.
    async fn transactions(&mut self) -> Result<Channel, Error> {
        if let Some(transactions) = &self.transactions {
            return Ok(transactions.clone());
        }
        let transactions = self.connection.create_channel().await?;
        transactions.tx_select().await?;
        Ok(self.transactions.insert(transactions).clone())
    }

    async fn step(&mut self, step: Step, performed: &mut Performed) -> Result<(), Error> {
        match step {
            Step::Declare { queue, options, arguments } => {
                self.channel.queue_declare(queue, options, arguments).await?;
            }
            Step::Bind { queue, exchange, key } => {
                let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
                self.channel.queue_bind(queue, exchange, key, options, arguments).await?;
            }
            Step::Qos { prefetch_count } => self.prefetch_count = Some(prefetch_count),
            Step::Consume(start) => performed.started.push(self.consume(start).await?),
            Step::Publish(it) => performed.confirms.push(publish(&self.channel, it).await?),
            Step::Cancel { tag } => self.cancel(&tag).await?,
            Step::Delete { queue } => {
                self.channel.queue_delete(queue, QueueDeleteOptions::default()).await?;
            }
            Step::Settle { outcome, deliveries } => self.settle(outcome, deliveries).await?,
        }
        Ok(())
    }

    /// In every mode messages are acknowledged, in the mode auto when they leave: what is pushed
    /// without that gathers here without bound. The bound is a number; AMQP has one for octets, but
    /// RabbitMQ does not know it.
    async fn consume(&mut self, start: Start) -> Result<Started, Error> {
        let Start { number, tag, queue, mode, arguments } = start;
        let prefetch_count = match (mode, self.prefetch_count) {
            (AckMode::Auto, _) => AUTO_PREFETCH_COUNT,
            (AckMode::Client | AckMode::ClientIndividual, None) => PREFETCH_COUNT,
            // Any number, says the client; so many are too many for its session anyway.
            (AckMode::Client | AckMode::ClientIndividual, Some(0)) => u16::MAX,
            (AckMode::Client | AckMode::ClientIndividual, Some(count)) => count,
        };
        self.channel.basic_qos(prefetch_count, BasicQosOptions::default()).await?;
        let (name, options) = (number.to_string().into(), BasicConsumeOptions::default());
        let consumer = self.channel.basic_consume(queue, name, options, arguments).await?;
        self.consumers.insert(tag.clone(), (number, consumer.clone()));
        let end = once(future::ready(None));
        let deliveries: Deliveries = Box::pin(consumer.map(Some).chain(end));
        Ok(Started { number, tag, deliveries })
    }

    /// Ends a consumer. What it has brought and nobody has taken goes back.
    async fn cancel(&mut self, tag: &ConsumerTag) -> Result<(), Error> {
        let Some((number, mut consumer)) = self.consumers.remove(tag) else { return Ok(()) };
        let options = BasicCancelOptions::default();
        self.channel.basic_cancel(number.to_string().into(), options).await?;
        while let Some(delivery) = consumer.next().await {
            let delivered = vec![Token(delivery?.delivery_tag)];
            self.settle(Outcome::Unsent, delivered).await?;
        }
        Ok(())
    }

    async fn settle(&self, outcome: Outcome, deliveries: Vec<Token>) -> Result<(), Error> {
        for Token(tag) in deliveries {
            let requeue = match outcome {
                Outcome::Consumed => {
                    self.channel.basic_ack(tag, BasicAckOptions::default()).await?;
                    continue;
                }
                Outcome::GivenBack | Outcome::Unsent => true,
                Outcome::Rejected => false,
            };
            let options = BasicNackOptions { requeue, multiple: false };
            self.channel.basic_nack(tag, options).await?;
        }
        Ok(())
    }
}

async fn publish(channel: &Channel, message: Publish) -> Result<PublisherConfirm, Error> {
    let Publish { exchange, key, properties, body, .. } = message;
    let options = BasicPublishOptions::default();
    channel.basic_publish(exchange, key, options, &body, *properties).await
}

/// Whether steps are several messages, or messages with settlements.
fn is_transaction(steps: &[Step]) -> bool {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let messages = count(|step| matches!(step, Step::Publish(_)));
    let settlements = count(|step| matches!(step, Step::Settle { .. }));
    messages > 1 || (messages == 1 && settlements > 0)
}

/// Waits until what was done took effect; the consumers that run then.
async fn effect(performed: Result<Performed, Error>) -> Result<Vec<Started>, Fault> {
    let Performed { confirms, started } = performed.map_err(Fault::Error)?;
    for confirm in confirms {
        if confirm.await.map_err(Fault::Error)?.is_nack() {
            return Err(Fault::NotConfirmed);
        }
    }
    Ok(started)
}

/// Why something did not take effect.
enum Fault {
    Error(Error),
    NotConfirmed,
}

/// The words for a fault. On a channel that is being closed every step fails alike, and why it was
/// closed comes as an event.
async fn reason(fault: Fault, mut events: impl Stream<Item = Event> + Unpin) -> Failure {
    let error = match fault {
        Fault::Error(error) => error,
        Fault::NotConfirmed => {
            return Failure::new("not confirmed").explanation("the broker lost the message\n");
        }
    };
    if matches!(error.kind(), ErrorKind::InvalidChannelState(..)) {
        while let Ok(Some(event)) = timeout(REASON_TIMEOUT, events.next()).await {
            if let Event::Error(error) = event {
                return failure(&error);
            }
        }
    }
    failure(&error)
}
