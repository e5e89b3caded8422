//! A long dialogue, cut off at every octet of either direction: nothing is lost or settled twice.

use core::time::Duration;

use stomp_proto::client::{
    AckMode, AckRequest, AckToken, EndTransaction, Message, ReceiptId, SendRequest,
    SubscribeRequest, UnsubscribeRequest,
};
use stomp_proto::{Client, Session};

use crate::harness::{Pair, Setup, ms};
use crate::network::Dice;

/// What a receipt confirms.
#[derive(Clone, Copy, Debug)]
enum Fact {
    /// The message was taken in.
    Taken(u64),
    /// The message was acknowledged, one way or the other.
    Settled(u64),
}

/// All that a client says, whatever becomes of the session in the meantime.
struct Dialogue {
    pair: Pair,
    asked: Vec<(ReceiptId, Vec<Fact>)>,
}

impl Dialogue {
    fn hold(setup: Setup, up: Option<usize>, down: Option<usize>) -> Self {
        let mut pair = setup.start();
        (pair.up.cut, pair.down.cut) = (up, down);
        let mut dialogue = Self { pair, asked: Vec::new() };
        dialogue.pair.drive();
        dialogue.subscribe_and_send();
        dialogue.pair.drive();
        dialogue.acknowledge("2", vec![Fact::Settled(1), Fact::Settled(2)]);
        dialogue.commit();
        dialogue.abort();
        dialogue.leave();
        dialogue.pair.run_for(ms(30_000));
        dialogue
    }

    /// Makes a request with a receipt.
    fn ask(
        &mut self,
        facts: Vec<Fact>,
        request: impl FnOnce(&mut Client<Duration>, ReceiptId) -> bool,
    ) {
        let receipt = self.pair.client.next_receipt();
        if request(&mut self.pair.client, receipt) {
            self.asked.push((receipt, facts));
        }
    }

    fn subscribe_and_send(&mut self) {
        let request = SubscribeRequest::new("/q").ack(AckMode::Client);
        self.pair.listener.subscriptions.extend(self.pair.client.subscribe(&request));
        for (body, number) in [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5)] {
            self.ask(vec![Fact::Taken(number)], |client, receipt| {
                client.send(&SendRequest::new("/q").body(body).receipt(receipt)).is_ok()
            });
        }
    }

    fn token(&self, body: &str) -> Option<AckToken> {
        let messages = &self.pair.listener.messages;
        messages.iter().find(|message| *message.body() == body).and_then(Message::token)
    }

    fn acknowledge(&mut self, body: &str, facts: Vec<Fact>) {
        if let Some(token) = self.token(body) {
            self.ask(facts, |client, receipt| {
                client.ack(AckRequest::new(&token).receipt(receipt)).is_ok()
            });
        }
    }

    fn commit(&mut self) {
        let Ok(transaction) = self.pair.client.begin() else { return };
        let is_sent = {
            let request = SendRequest::new("/out").body("6").transaction(&transaction);
            self.pair.client.send(&request).is_ok()
        };
        let settles = self.token("3").is_some_and(|token| {
            let request = AckRequest::new(&token).transaction(&transaction);
            self.pair.client.ack(request).is_ok()
        });
        self.pair.drive();
        let mut facts = Vec::new();
        facts.extend(is_sent.then_some(Fact::Taken(6)));
        facts.extend(settles.then_some(Fact::Settled(3)));
        self.ask(facts, |client, receipt| {
            client.commit(EndTransaction::new(transaction).receipt(receipt)).is_ok()
        });
        self.pair.drive();
    }

    fn abort(&mut self) {
        let Ok(transaction) = self.pair.client.begin() else { return };
        if let Some(token) = self.token("4") {
            let _: Result<_, _> =
                self.pair.client.ack(AckRequest::new(&token).transaction(&transaction));
        }
        self.ask(Vec::new(), |client, receipt| {
            client.abort(EndTransaction::new(transaction).receipt(receipt)).is_ok()
        });
    }

    fn leave(&mut self) {
        if let Some(subscription) = self.pair.listener.subscriptions.first().copied() {
            self.ask(Vec::new(), |client, receipt| {
                client.unsubscribe(UnsubscribeRequest::new(subscription).receipt(receipt)).is_ok()
            });
        }
        self.pair.drive();
        self.acknowledge("4", vec![Fact::Settled(4)]);
        let _: Result<_, _> = self.pair.client.disconnect(self.pair.now);
    }

    /// What was confirmed has happened, what is not is known, and each message is settled once.
    fn check(mut self) {
        let Pair { client, server, listener, broker, up, down, .. } = &mut self.pair;
        let cut = format!("cut at {:?} and {:?}", up.cut, down.cut);
        assert!(client.is_finished() && server.is_finished(), "{cut}");
        let (told, broker_told) = (listener.told(), broker.told());
        for told in [&told, &broker_told] {
            let closed = told.iter().filter(|it| it.starts_with("CLOSED")).count();
            assert_eq!(closed, 1, "{cut}: {told:?}");
        }
        let (mut confirmed, mut owed) = (Vec::new(), Vec::new());
        for (receipt, facts) in self.asked {
            if told.contains(&format!("RECEIPT {receipt}")) {
                confirmed.extend(facts);
            } else {
                owed.push(receipt);
            }
        }
        let unconfirmed: Vec<_> = client.unconfirmed().map(|it| it.receipt).collect();
        assert_eq!(unconfirmed, owed, "{cut}");
        for fact in confirmed {
            let is_true = match fact {
                Fact::Taken(number) => number <= broker.taken(),
                Fact::Settled(number) => broker.consumed.contains(&number),
            };
            assert!(is_true, "{cut}: {fact:?} was confirmed to {told:?}");
        }
        let mut each: Vec<_> = broker.consumed.iter().chain(&broker.given_back).copied().collect();
        each.sort_unstable();
        assert_eq!(each, broker.delivered, "{cut}: each once, consumed or given back");
    }
}

/// How many octets the whole dialogue takes in each direction, if nobody cuts it off.
fn lengths(setup: Setup) -> [usize; 2] {
    let dialogue = Dialogue::hold(setup, None, None);
    let Pair { listener, broker, up, down, .. } = &dialogue.pair;
    assert_eq!((broker.taken(), &*broker.consumed), (6, &[1, 2, 3, 4][..]));
    assert_eq!((&*broker.given_back, listener.messages.len()), (&[5][..], 5));
    let lengths = [up.record().len(), down.record().len()];
    assert_eq!(dialogue.asked.len(), 10);
    dialogue.check();
    lengths
}

#[test]
fn what_the_client_says_ends_at_any_octet() {
    for setup in Setup::all() {
        for cut in 0..=lengths(setup.clone())[0] {
            Dialogue::hold(setup.clone(), Some(cut), None).check();
        }
    }
}

#[test]
fn what_the_server_says_ends_at_any_octet() {
    for setup in Setup::all() {
        for cut in 0..=lengths(setup.clone())[1] {
            Dialogue::hold(setup.clone(), None, Some(cut)).check();
        }
    }
}

#[test]
fn both_directions_end_somewhere() {
    let mut dice = Dice::new(2012);
    for setup in Setup::all() {
        let [up, down] = lengths(setup.clone()).map(|len| len as u64);
        for _ in 0..60 {
            let mut cut = |len| usize::try_from(dice.roll(len)).ok();
            Dialogue::hold(setup.clone(), cut(up), cut(down)).check();
        }
    }
}
