//! The application behind a client: it sends, consumes what comes back, and knows what was confirmed.

use core::time::Duration;

use stomp_proto::client::{
    AckRequest, AckToken, EndTransaction, Event, Message, ReceiptId, SendRequest, SubscribeRequest,
    SubscriptionId, Transaction,
};
use stomp_proto::frame::AckMode;
use stomp_proto::{CloseReason, UsageError};

use crate::Client;
use crate::broker::DESTINATIONS;
use crate::plan::Plan;

const MODES: [AckMode; 3] = [AckMode::Auto, AckMode::Client, AckMode::ClientIndividual];

/// Of a row of messages that were sent: outside of transactions, or two in each.
#[derive(Clone, Copy, Debug)]
struct Sent {
    row: usize,
    number: u64,
}

/// What a receipt confirms.
#[derive(Debug)]
enum Request {
    Sent(Sent),
    /// That these messages were settled.
    Settled(Vec<u64>),
}

#[derive(Debug, Default)]
pub(crate) struct Customer {
    subscriptions: [Option<SubscriptionId>; 3],
    /// Octets in the body of a message.
    padding: usize,
    /// The last of each row.
    sent: [u64; 2],
    /// In the order of their receipts.
    owed: Vec<(ReceiptId, Request)>,
    /// Settled in a session that was lost before that was confirmed, and not delivered again so far.
    unknown: Vec<u64>,
    /// Sent in one, and to be sent again.
    to_send: Vec<Sent>,
    /// Of the mode client, not acknowledged so far.
    waiting: Vec<(u64, AckToken)>,
    /// When those are acknowledged at the latest.
    pub(crate) flush_at: Option<Duration>,
    pub(crate) is_connected: bool,
    /// The messages that were settled, as far as was confirmed.
    settled: u64,
    received: u64,
    pub(crate) closed: Option<CloseReason>,
}

impl Customer {
    pub(crate) fn new(plan: &Plan) -> Self {
        let padding = if plan.is_slow { 500 } else { 10 };
        Self { padding, ..Self::default() }
    }

    pub(crate) fn handle(&mut self, client: &mut Client, event: Event, now: Duration) {
        assert_eq!(self.closed, None, "{event:?} after the last event");
        match event {
            Event::Connected(_) => {
                self.is_connected = true;
                for of in 0..3 {
                    self.subscriptions[of].get_or_insert_with(|| subscribe(client, of));
                }
                for sent in core::mem::take(&mut self.to_send) {
                    self.send_in(client, sent);
                }
            }
            Event::Message(message) => self.consume(client, &message, now),
            Event::Receipt(receipt) => {
                let at = self.owed.iter().position(|(owed, _)| *owed == receipt);
                match self.owed.remove(at.expect("asked for, and not confirmed before")).1 {
                    Request::Sent(_) => {}
                    Request::Settled(numbers) => self.settled += numbers.len() as u64,
                }
            }
            Event::UnknownReceipt(receipt) => panic!("a receipt of nothing: {receipt}"),
            Event::Closed(reason) => self.close(client, reason),
        }
    }

    fn close(&mut self, client: &Client, reason: CloseReason) {
        let owed = self.owed.iter().map(|(receipt, _)| *receipt);
        assert!(owed.eq(client.unconfirmed().map(|it| it.receipt)), "what is not confirmed");
        for (_, request) in self.owed.drain(..) {
            match request {
                Request::Sent(sent) => self.to_send.push(sent),
                Request::Settled(numbers) => self.unknown.extend(numbers),
            }
        }
        self.waiting.clear();
        (self.is_connected, self.flush_at, self.closed) = (false, None, Some(reason));
    }

    /// The number of the first message of a row that has not left, when the session is over.
    pub(crate) fn first_to_stay(&self, client: &Client, row: usize) -> Option<u64> {
        let mut owed = self.owed.iter().zip(client.unconfirmed());
        owed.find_map(|((_, request), unconfirmed)| match request {
            Request::Sent(sent) if sent.row == row && !unconfirmed.left => Some(sent.number),
            _ => None,
        })
    }

    // ---- sending

    /// One message to each destination, and two in a transaction.
    pub(crate) fn send(&mut self, client: &mut Client) {
        for row in [0, 0, 0, 1] {
            self.sent[row] += 1;
            let number = self.sent[row];
            self.send_in(client, Sent { row, number });
        }
    }

    fn send_in(&mut self, client: &mut Client, sent: Sent) {
        let Sent { row, number } = sent;
        let receipt = client.next_receipt();
        let destination = DESTINATIONS[usize::try_from(number % 3).expect("small")];
        let letter = ["p", "t"][row];
        let body = format!("{letter}{number:<width$}", width = self.padding);
        let request = SendRequest::new(destination).body(body);
        if row == 0 {
            client.send(&request.receipt(receipt)).expect("sent");
        } else {
            let transaction = client.begin().expect("begun");
            client.send(&request.transaction(&transaction)).expect("sent");
            commit(client, transaction, receipt);
        }
        self.owed.push((receipt, Request::Sent(sent)));
    }

    /// Ends a subscription and makes another of the same kind; what was open comes again.
    pub(crate) fn renew(&mut self, client: &mut Client, of: usize) {
        self.flush(client);
        let Some(subscription) = self.subscriptions[of] else { return };
        client.unsubscribe(subscription).expect("unsubscribed");
        self.subscriptions[of] = Some(subscribe(client, of));
    }

    /// Leaves, with nothing unsaid.
    pub(crate) fn leave(&mut self, client: &mut Client, now: Duration) {
        self.flush(client);
        client.disconnect(now).expect("left");
        self.is_connected = false;
    }

    // ---- consuming

    fn consume(&mut self, client: &mut Client, message: &Message, now: Duration) {
        self.received += 1;
        let number = message.headers().get("number").expect("a number").parse().expect("a number");
        // It was not settled, then.
        self.unknown.retain(|unknown| *unknown != number);
        let Some(token) = message.token() else { return };
        if message.subscription().is_none() || !self.is_connected {
            // It comes again.
            return;
        }
        if message.destination() == DESTINATIONS[1] {
            self.waiting.push((number, token.to_compact()));
            self.flush_at = Some(now + Duration::from_secs(2));
            if self.waiting.len() == 4 {
                self.flush(client);
            }
            return;
        }
        if number % 7 == 0 {
            // One that changes its mind.
            let transaction = client.begin().expect("begun");
            let request = AckRequest::new(&token).transaction(&transaction);
            client.nack(request).expect("refused");
            client.abort(transaction).expect("aborted");
        }
        let receipt = client.next_receipt();
        let request = AckRequest::new(&token);
        match number % 5 {
            0 => client.nack(request.receipt(receipt)).expect("refused"),
            1 => {
                let transaction = client.begin().expect("begun");
                client.ack(request.transaction(&transaction)).expect("acknowledged");
                commit(client, transaction, receipt);
            }
            _ => client.ack(request.receipt(receipt)).expect("acknowledged"),
        }
        self.owed.push((receipt, Request::Settled(vec![number])));
    }

    /// Acknowledges what waits, all at once.
    pub(crate) fn flush(&mut self, client: &mut Client) {
        self.flush_at = None;
        let Some((_, token)) = self.waiting.last() else { return };
        let receipt = client.next_receipt();
        client.ack(AckRequest::new(token).receipt(receipt)).expect("acknowledged");
        let numbers = self.waiting.drain(..).map(|(number, _)| number).collect();
        self.owed.push((receipt, Request::Settled(numbers)));
    }

    /// Whether it has settled a message, and does not know yet what came of it.
    pub(crate) fn has_settled(&self, number: u64) -> bool {
        let settles = |request: &Request| match request {
            Request::Settled(numbers) => numbers.contains(&number),
            Request::Sent(_) => false,
        };
        self.unknown.contains(&number) || self.owed.iter().any(|(_, request)| settles(request))
    }

    /// Nothing is owed. How many messages were sent, got and settled.
    pub(crate) fn rest(&mut self) -> [u64; 3] {
        assert!(self.owed.is_empty() && self.to_send.is_empty() && self.waiting.is_empty());
        // What was not delivered again had been settled after all.
        self.settled += self.unknown.drain(..).len() as u64;
        self.owed.shrink_to_fit();
        self.unknown.shrink_to_fit();
        self.to_send.shrink_to_fit();
        self.waiting.shrink_to_fit();
        [self.sent.iter().sum(), self.received, self.settled]
    }
}

fn subscribe(client: &mut Client, of: usize) -> SubscriptionId {
    let request = SubscribeRequest::new(DESTINATIONS[of]).ack(MODES[of]);
    client.subscribe(&request).expect("subscribed")
}

fn commit(client: &mut Client, transaction: Transaction, receipt: ReceiptId) {
    let request = EndTransaction::new(transaction).receipt(receipt);
    let committed: Result<(), UsageError> = client.commit(request).map_err(|it| it.error);
    committed.expect("committed");
}
