//! What the broker and the network do in the name of an operation.

use stomp_proto::UsageError;
use stomp_proto::server::{Delivery, Failure, Reply};

use crate::harness::Pair;

use super::operations::{ACK_IDS, MESSAGE_IDS};
use super::player::{Expected, Player, Stage};

impl Player {
    /// Under ids of the session's or of the broker's; with the daring, also to a subscription that
    /// has ended or was not confirmed.
    pub(super) fn deliver(
        &mut self,
        to: usize,
        message_id: Option<usize>,
        ack_id: Option<usize>,
        daring: bool,
    ) {
        let subscriptions = &self.books.subscriptions;
        let is_live = |of: &usize| subscriptions[*of].is_confirmed && !subscriptions[*of].has_ended;
        let live: Vec<_> = (0..subscriptions.len()).filter(|of| daring || is_live(of)).collect();
        let Some(of) = to.checked_rem(live.len()).map(|place| live[place]) else { return };
        let message_id = message_id.map(|place| MESSAGE_IDS[place % MESSAGE_IDS.len()]);
        let ack_id = ack_id.map(|place| ACK_IDS[place % ACK_IDS.len()]);
        let number = self.pair.broker.taken() + 1;
        let destination = self.books.subscriptions[of].destination.clone();
        let mut delivery = Delivery::builder(destination).body(number.to_string());
        if let Some(id) = message_id {
            delivery = delivery.message_id(id);
        }
        if let Some(id) = ack_id {
            delivery = delivery.ack_id(id);
        }
        self.pair.broker.publish("/nowhere", delivery.build());
        let subscription = self.pair.broker.subscription(of);
        let Pair { broker, server, .. } = &mut self.pair;
        let delivered = broker.deliver_to(server, subscription, number);
        let expected = if self.server == Stage::Connected {
            self.books.deliver(of, number, message_id, ack_id)
        } else {
            Err(UsageError::Closed)
        };
        assert_eq!(delivered, expected);
        if expected.is_ok() {
            self.expect(Expected::Message { number, of });
        }
    }

    pub(super) fn confirm(&mut self, place: usize) {
        let Some(place) = place.checked_rem(self.owed.len()) else { return };
        if self.server == Stage::Closed {
            return;
        }
        let owed = self.pair.broker.owed.remove(place).expect("as many as are owed here");
        self.pair.broker.confirm_this(&mut self.pair.server, owed);
        if let Some((receipt, effect)) = self.owed.remove(place) {
            self.apply(receipt, effect);
        }
        self.pair.turn();
    }

    pub(super) fn release(&mut self, of: usize) {
        let Some(of) = of.checked_rem(self.books.subscriptions.len()) else { return };
        let subscription = self.pair.broker.subscription(of);
        let released = self.pair.server.release(subscription).into_iter();
        let released: Vec<_> = released.map(|entry| entry.value).collect();
        let expected =
            if self.server == Stage::Closed { Vec::new() } else { self.books.release(of) };
        assert_eq!(released, expected);
    }

    pub(super) fn fail(&mut self) {
        let failed = self.pair.server.fail(None::<Reply>, &Failure::new("enough"));
        if self.server == Stage::Closed {
            assert_eq!(failed, Err(UsageError::Closed));
            return;
        }
        assert_eq!(failed, Ok(()));
        self.expect(Expected::Words("CLOSED by ERROR: enough".to_owned()));
        self.close_server("Failed");
        self.pair.turn();
    }

    pub(super) fn lose(&mut self) {
        self.pair.lose();
        self.pair.turn();
        self.expected.clear();
        if self.server != Stage::Closed {
            self.close_server("Lost");
        }
        if !self.has_client_closed {
            self.expected.push_back(Expected::Words("CLOSED Lost".to_owned()));
        }
    }
}
