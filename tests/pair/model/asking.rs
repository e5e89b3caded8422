//! What the client does in the name of an operation, and why it may not.

use bytes::Buf;
use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, ReceiptId, SendRequest, SubscribeRequest,
    UnsubscribeRequest,
};
use stomp_proto::{Session, UsageError};

use super::books::{Request, What};
use super::endings::{Answer, Asked};
use super::operations::{MODES, NAMES};
use super::player::{Player, Subscribed, Token, Usage};

impl Player {
    /// Notes a request, or checks why it was refused.
    fn asked<T>(
        &mut self,
        asked: Result<T, UsageError>,
        what: What,
        receipt: Option<ReceiptId>,
    ) -> Option<T> {
        let refusal = match (self.has_client_closed, self.disconnected) {
            (true, _) => Some(UsageError::Closed),
            (false, Some(_)) => Some(UsageError::NotConnected),
            (false, None) => None,
        };
        match asked {
            Ok(asked) => {
                assert_eq!(refusal, None, "{what:?} was taken");
                let settles = match &what {
                    What::Settle { ids, .. } => self.tokens.iter().find(|it| it.ids == *ids),
                    _ => None,
                };
                self.asked.push(Asked {
                    what: what.clone(),
                    settles: settles.map(|token| token.number),
                    receipt,
                    start: self.start,
                    answer: Answer::Nothing,
                });
                let end = self.said();
                self.requests.push_back(Request { what, receipt, end });
                Some(asked)
            }
            Err(error) => {
                assert_eq!(Some(error), refusal, "{what:?}");
                None
            }
        }
    }

    /// The octets that the client has said, be they written or not.
    fn said(&mut self) -> usize {
        self.pair.up.record().len() + self.pair.client.outbox().remaining()
    }

    fn receipt(&mut self, wanted: bool) -> Option<ReceiptId> {
        self.start = self.said();
        wanted.then(|| self.pair.client.next_receipt())
    }

    pub(super) fn subscribe(
        &mut self,
        name: Option<usize>,
        mode: usize,
        receipt: bool,
        daring: bool,
    ) {
        let receipt = self.receipt(receipt);
        let number = self.subscriptions.len() + 1;
        let destination = format!("/d{}", if self.is_nameless() { number } else { number % 2 });
        let (text, mode) = match name {
            Some(place) => (NAMES[place].to_owned(), MODES[place % MODES.len()]),
            None => (number.to_string(), MODES[mode]),
        };
        let is_allowed = self.books.allows_name(&text) && self.books.allows_mode(mode);
        if !daring && !is_allowed {
            return;
        }
        let mut request = SubscribeRequest::new(&destination).ack(mode);
        if name.is_some() {
            request = request.id(&text);
        }
        if let Some(receipt) = receipt {
            request = request.receipt(receipt);
        }
        let asked = self.pair.client.subscribe(&request);
        drop(request);
        let is_taken = self.subscriptions.iter().any(|it| it.is_live && it.name == text);
        if is_taken && !self.has_client_closed && self.disconnected.is_none() {
            assert_eq!(asked, Err(UsageError::DuplicateSubscription));
            return;
        }
        let what = What::Subscribe { name: text.clone(), destination: destination.clone(), mode };
        if let Some(id) = self.asked(asked, what, receipt) {
            self.subscriptions.push(Subscribed { id, name: text, mode, is_live: true });
            self.pair.listener.subscriptions.push(id);
        }
    }

    pub(super) fn unsubscribe(&mut self, place: usize, receipt: bool) {
        let Some(place) = place.checked_rem(self.subscriptions.len()) else { return };
        let receipt = self.receipt(receipt);
        let Subscribed { id, name, is_live, .. } = self.subscriptions[place].clone();
        let mut request = UnsubscribeRequest::new(id);
        if let Some(receipt) = receipt {
            request = request.receipt(receipt);
        }
        let asked = self.pair.client.unsubscribe(request);
        if !is_live && !self.has_client_closed && self.disconnected.is_none() {
            assert_eq!(asked, Err(UsageError::UnknownSubscription));
            return;
        }
        if self.asked(asked, What::Unsubscribe { name }, receipt).is_some() {
            self.subscriptions[place].is_live = false;
        }
    }

    pub(super) fn renew(&mut self, name: usize) {
        let is_it = |it: &Subscribed| it.is_live && it.name == NAMES[name];
        if let Some(place) = self.subscriptions.iter().position(is_it) {
            self.unsubscribe(place, false);
        }
        self.subscribe(Some(name), 0, false, false);
    }

    /// The place of an open transaction.
    fn transaction(&self, place: Option<usize>) -> Option<usize> {
        place?.checked_rem(self.transactions.len())
    }

    pub(super) fn send(&mut self, transaction: Option<usize>, receipt: bool) {
        let receipt = self.receipt(receipt);
        let transaction = self.transaction(transaction).map(|place| &self.transactions[place]);
        let body = format!("request {}", self.asked.len());
        let mut request = SendRequest::new("/sent").body(body.clone());
        if let Some((_, transaction)) = transaction {
            request = request.transaction(transaction);
        }
        if let Some(receipt) = receipt {
            request = request.receipt(receipt);
        }
        let transaction = transaction.map(|it| it.0);
        let asked = self.pair.client.send(&request);
        drop(request);
        self.asked(asked, What::Send { body, transaction }, receipt);
    }

    /// With the daring, any token that ever was: also one that was used, of an ended subscription …
    pub(super) fn settle(
        &mut self,
        nack: bool,
        token: usize,
        transaction: Option<usize>,
        receipt: bool,
        daring: bool,
    ) {
        let is_fresh = |place: &usize| daring || self.tokens[*place].usage == Usage::None;
        let fresh: Vec<_> = (0..self.tokens.len()).filter(is_fresh).collect();
        let Some(token) = token.checked_rem(fresh.len()).map(|place| fresh[place]) else { return };
        let nack = nack && (daring || self.books.allows_nack());
        let receipt = self.receipt(receipt);
        let transaction = self.transaction(transaction).map(|place| &self.transactions[place]);
        let Token { ids, of_client: ack_token, .. } = self.tokens[token].clone();
        let mut request = AckRequest::new(&ack_token);
        if let Some((_, transaction)) = transaction {
            request = request.transaction(transaction);
        }
        if let Some(receipt) = receipt {
            request = request.receipt(receipt);
        }
        let transaction = transaction.map(|it| it.0);
        let client = &mut self.pair.client;
        let asked = if nack { client.nack(request) } else { client.ack(request) };
        if self.asked(asked, What::Settle { nack, ids, transaction }, receipt).is_some() {
            self.note_usage(token, transaction.map_or(Usage::Full, Usage::In));
        }
    }

    /// A token was used, and with it perhaps those before it.
    fn note_usage(&mut self, token: usize, usage: Usage) {
        let of = self.tokens[token].of;
        let is_cumulative = self.subscriptions[of].mode == AckMode::Client;
        for (place, other) in self.tokens.iter_mut().enumerate().take(token + 1) {
            let is_covered = is_cumulative && other.of == of && other.usage == Usage::None;
            if place == token || is_covered {
                other.usage = usage;
            }
        }
    }

    pub(super) fn begin(&mut self) {
        if self.transactions.len() == 16 {
            return;
        }
        let number = self.begun + 1;
        let asked = self.pair.client.begin();
        if let Some(transaction) = self.asked(asked, What::Begin(number), None) {
            self.begun = number;
            self.transactions.push((number, transaction));
        }
    }

    pub(super) fn end(&mut self, commit: bool, place: usize, receipt: bool) {
        let Some(place) = self.transaction(Some(place)) else { return };
        let receipt = self.receipt(receipt);
        let (number, transaction) = self.transactions.remove(place);
        let mut request = EndTransaction::new(transaction);
        if let Some(receipt) = receipt {
            request = request.receipt(receipt);
        }
        let client = &mut self.pair.client;
        let asked = if commit { client.commit(request) } else { client.abort(request) };
        let what = if commit { What::Commit(number) } else { What::Abort(number) };
        let asked = asked.map_err(|refused| {
            self.transactions.insert(place, (number, refused.token));
            refused.error
        });
        if self.asked(asked, what, receipt).is_some() {
            let usage = if commit { Usage::Full } else { Usage::None };
            for token in self.tokens.iter_mut().filter(|it| it.usage == Usage::In(number)) {
                token.usage = usage;
            }
        }
    }

    pub(super) fn disconnect(&mut self) {
        let now = self.pair.now;
        let asked = self.pair.client.disconnect(now);
        if self.asked(asked, What::Disconnect, None).is_some() {
            self.disconnected = Some(now);
        }
    }
}
