//! What a server does with each request, told of plain lists that are searched from end to end.

use stomp_proto::client::{AckMode, ReceiptId};
use stomp_proto::server::Dialect;
use stomp_proto::{UsageError, Version};

use crate::harness::{V1_0, V1_1, V1_2};

/// A request of the client's, on its way.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) what: What,
    pub(super) receipt: Option<ReceiptId>,
    /// The octets that the client has written when it is whole.
    pub(super) end: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Send { body: String, transaction: Option<u64> },
    Subscribe { name: String, destination: String, mode: AckMode },
    Unsubscribe { name: String },
    Settle { nack: bool, ids: Ids, transaction: Option<u64> },
    Begin(u64),
    Commit(u64),
    Abort(u64),
    Disconnect,
}

impl What {
    /// The transaction that it is done in.
    pub(crate) fn transaction(&self) -> Option<u64> {
        match self {
            Self::Send { transaction, .. } | Self::Settle { transaction, .. } => *transaction,
            _ => None,
        }
    }
}

/// What a MESSAGE says about itself; empty what it does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(super) subscription: String,
    pub(super) message_id: String,
    pub(super) ack: String,
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The application is told, and answers.
    Told(String),
    /// The session sees to it alone.
    Silent,
    /// The session ends: its reason, and what the ERROR says.
    Fault(&'static str, &'static str),
}

const UNKNOWN: Outcome = Outcome::Fault("UnknownDelivery", "unknown ack id");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// A transaction settles it.
    Held,
    Gone,
}

/// A delivery in a client mode.
#[derive(Clone, Debug)]
struct Made {
    number: u64,
    /// The place of its subscription.
    of: usize,
    /// As far as they were chosen, or the client has them.
    message_id: Option<String>,
    ack: Option<String>,
    state: State,
}

#[derive(Clone, Debug)]
pub(super) struct Subscription {
    pub(super) name: String,
    pub(super) destination: String,
    pub(super) mode: AckMode,
    pub(super) is_confirmed: bool,
    pub(super) has_ended: bool,
}

#[derive(Clone, Debug)]
enum Held {
    Send(String),
    Settle { nack: bool, of: usize, places: Vec<usize> },
}

#[derive(Clone, Debug)]
pub(super) struct Books {
    pub(super) version: Version,
    pub(super) dialect: Dialect,
    pub(super) subscriptions: Vec<Subscription>,
    /// In the order in which they were made.
    made: Vec<Made>,
    transactions: Vec<(u64, Vec<Held>)>,
}

impl Books {
    pub(super) fn new(version: Version, dialect: Dialect) -> Self {
        let (subscriptions, made, transactions) = (Vec::new(), Vec::new(), Vec::new());
        Self { version, dialect, subscriptions, made, transactions }
    }

    pub(super) fn process(&mut self, what: &What) -> Outcome {
        match what {
            What::Send { body, transaction: None } => told(format!("SEND /sent {body:?}")),
            What::Send { body, transaction: Some(transaction) } => {
                self.hold(*transaction, Held::Send(body.clone()))
            }
            What::Subscribe { name, destination, mode } => self.subscribe(name, destination, *mode),
            What::Unsubscribe { name } => {
                let is_it = |it: &Subscription| !it.has_ended && it.name == *name;
                let place = self.subscriptions.iter().position(is_it).expect("a live one");
                self.subscriptions[place].has_ended = true;
                told(format!("UNSUBSCRIBE #{place}"))
            }
            What::Settle { nack, ids, transaction } => self.settle(*nack, ids, *transaction),
            What::Begin(transaction) => {
                self.transactions.push((*transaction, Vec::new()));
                Outcome::Silent
            }
            What::Commit(transaction) => {
                let held = self.end(*transaction);
                let work: Vec<_> = held.into_iter().map(|held| self.carry_out(held)).collect();
                told(format!("COMMIT {transaction}: {}", work.join(", ")))
            }
            What::Abort(transaction) => {
                let held = self.end(*transaction);
                self.give_back(held);
                Outcome::Silent
            }
            What::Disconnect => {
                self.abort_all();
                told("DISCONNECT".to_owned())
            }
        }
    }

    pub(super) fn allows_name(&self, name: &str) -> bool {
        !name.is_empty() || self.version == V1_0 || self.dialect != Dialect::KUBEMQ
    }

    pub(super) fn allows_mode(&self, mode: AckMode) -> bool {
        let is_known = mode != AckMode::ClientIndividual || self.version != V1_0;
        is_known || self.dialect != Dialect::SPEC
    }

    pub(super) fn allows_nack(&self) -> bool {
        self.version != V1_0 || self.dialect != Dialect::SPEC
    }

    fn subscribe(&mut self, name: &str, destination: &str, mode: AckMode) -> Outcome {
        if !self.allows_name(name) {
            let reason = "MissingHeader { command: Subscribe, name: \"id\" }";
            return Outcome::Fault(reason, "invalid subscription");
        }
        if !self.allows_mode(mode) {
            let reason = "InvalidHeader { command: Subscribe, name: \"ack\" }";
            return Outcome::Fault(reason, "invalid ack");
        }
        let place = self.subscriptions.len();
        self.subscriptions.push(Subscription {
            name: name.to_owned(),
            destination: destination.to_owned(),
            mode,
            is_confirmed: false,
            has_ended: false,
        });
        told(format!("SUBSCRIBE #{place} {destination} {mode}"))
    }

    /// STOMP 1.2, "ACK": what it names, and in a cumulative mode all before it.
    fn settle(&mut self, nack: bool, ids: &Ids, transaction: Option<u64>) -> Outcome {
        let (is_1_0, is_lenient) = (self.version == V1_0, self.dialect == Dialect::LENIENT);
        if nack && !self.allows_nack() {
            return Outcome::Fault("UnexpectedFrame(Nack)", "unexpected NACK");
        }
        let named = self.named(ids);
        let Some(&place) = named.iter().find(|place| self.made[**place].state == State::Open)
        else {
            // Made it was: the client got it. A transaction may settle it by now.
            let is_settled = named.is_empty();
            return if is_settled && is_lenient { Outcome::Silent } else { UNKNOWN };
        };
        let of = self.made[place].of;
        let is_cumulative =
            self.subscriptions[of].mode == AckMode::Client && (!is_1_0 || is_lenient);
        let is_covered = |it: &usize| {
            let made = &self.made[*it];
            *it == place || (is_cumulative && *it < place && made.of == of && is_open(made))
        };
        let places: Vec<_> = (0..self.made.len()).filter(is_covered).collect();
        let held = Held::Settle { nack, of, places };
        match transaction {
            Some(transaction) => self.hold(transaction, held),
            None => Outcome::Told(self.carry_out(held)),
        }
    }

    /// The deliveries that are not settled and answer to these ids, the one that is meant first.
    fn named(&self, ids: &Ids) -> Vec<usize> {
        let is_named = |place: &usize| {
            let made = &self.made[*place];
            let is_meant = match self.version {
                V1_0 => made.message_id.as_ref() == Some(&ids.message_id),
                V1_1 => {
                    made.message_id.as_ref() == Some(&ids.message_id)
                        && self.subscriptions[made.of].name == ids.subscription
                }
                V1_2 => made.ack.as_ref() == Some(&ids.ack),
            };
            is_meant && made.state != State::Gone
        };
        let mut named: Vec<_> = (0..self.made.len()).filter(is_named).collect();
        if self.version == V1_1 {
            // The live subscription of that name before those that ended, the newest first.
            let of = |place: &usize| self.made[*place].of;
            named.sort_by_key(|place| {
                (self.subscriptions[of(place)].has_ended, usize::MAX - of(place))
            });
        }
        named
    }

    fn hold(&mut self, transaction: u64, held: Held) -> Outcome {
        if let Held::Settle { places, .. } = &held {
            self.set(places, State::Held);
        }
        let open = self.transactions.iter_mut().find(|open| open.0 == transaction);
        open.expect("an open transaction").1.push(held);
        Outcome::Silent
    }

    fn carry_out(&mut self, held: Held) -> String {
        match held {
            Held::Send(body) => format!("SEND /sent {body:?}"),
            Held::Settle { nack, of, places } => {
                self.set(&places, State::Gone);
                let command = if nack { "NACK" } else { "ACK" };
                format!("{command} #{of} {:?}", self.numbers(&places))
            }
        }
    }

    fn give_back(&mut self, held: Vec<Held>) {
        for held in held {
            if let Held::Settle { places, .. } = held {
                self.set(&places, State::Open);
            }
        }
    }

    fn end(&mut self, transaction: u64) -> Vec<Held> {
        let place = self.transactions.iter().position(|open| open.0 == transaction);
        self.transactions.remove(place.expect("an open transaction")).1
    }

    fn abort_all(&mut self) {
        for (_, held) in core::mem::take(&mut self.transactions) {
            self.give_back(held);
        }
    }

    // ---- what the application does

    /// Makes a delivery, or says why not.
    pub(super) fn deliver(
        &mut self,
        of: usize,
        number: u64,
        message_id: Option<&str>,
        ack_id: Option<&str>,
    ) -> Result<(), UsageError> {
        let subscription = &self.subscriptions[of];
        if !subscription.is_confirmed || subscription.has_ended {
            return Err(UsageError::UnknownSubscription);
        }
        if subscription.mode == AckMode::Auto {
            return Ok(());
        }
        let mut there = self.made.iter().filter(|made| made.state != State::Gone);
        let is_taken = |made: &Made| made.of == of && made.message_id.as_deref() == message_id;
        if message_id.is_some() && there.clone().any(is_taken) {
            return Err(UsageError::DuplicateMessageId);
        }
        let ack_id = ack_id.filter(|_| self.version == V1_2);
        if ack_id.is_some() && there.any(|made| made.ack.as_deref() == ack_id) {
            return Err(UsageError::DuplicateAckId);
        }
        self.made.push(Made {
            number,
            of,
            message_id: message_id.map(ToOwned::to_owned),
            ack: ack_id.map(ToOwned::to_owned),
            state: State::Open,
        });
        Ok(())
    }

    /// The client has a message, and with it the ids that the session gave it.
    pub(super) fn learn(&mut self, number: u64, ids: &Ids) {
        if let Some(made) = self.made.iter_mut().find(|made| made.number == number) {
            made.message_id = Some(ids.message_id.clone());
            made.ack = Some(ids.ack.clone());
        }
    }

    /// Takes what is open of a subscription.
    pub(super) fn release(&mut self, of: usize) -> Vec<u64> {
        let is_free = |place: &usize| self.made[*place].of == of && is_open(&self.made[*place]);
        let places: Vec<_> = (0..self.made.len()).filter(is_free).collect();
        self.set(&places, State::Gone);
        self.numbers(&places)
    }

    /// The session is over: all that is not settled, also by what was held.
    pub(super) fn close(&self) -> Vec<u64> {
        let left = self.made.iter().filter(|made| made.state != State::Gone);
        left.map(|made| made.number).collect()
    }

    fn numbers(&self, places: &[usize]) -> Vec<u64> {
        places.iter().map(|place| self.made[*place].number).collect()
    }

    fn set(&mut self, places: &[usize], state: State) {
        for place in places {
            self.made[*place].state = state;
        }
    }
}

fn is_open(made: &Made) -> bool {
    made.state == State::Open
}

fn told(words: String) -> Outcome {
    Outcome::Told(words)
}
