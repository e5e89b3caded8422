//! RECEIPT: which request it is for, in which order it comes, and what is left unconfirmed.

use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, ReceiptId, SendRequest, SubscribeRequest, Unconfirmed,
    UnsubscribeRequest,
};
use stomp_proto::codec::Limits;
use stomp_proto::{Bound, Limit, Session, UsageError};

use crate::broker::{Answers, Owed};
use crate::harness::{NOTHING, Pair, Setup, V1_2};
use crate::network::Chunking;

/// Sends a message that asks for a receipt.
fn send(pair: &mut Pair) -> ReceiptId {
    let receipt = pair.client.next_receipt();
    pair.client.send(&SendRequest::new("/q").body("x").receipt(receipt)).unwrap();
    receipt
}

fn unconfirmed(pair: &Pair) -> Vec<(ReceiptId, bool)> {
    let unconfirmed = pair.client.unconfirmed();
    unconfirmed.map(|Unconfirmed { receipt, left }| (receipt, left)).collect()
}

/// requirements RC-001, RC-002, RC-004, B-020
#[test]
fn every_request_may_ask_for_one() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let mut receipts = (1..).map(|_| ReceiptId::clone(&pair.client.next_receipt()));
        let receipts: [ReceiptId; 8] = core::array::from_fn(|_| receipts.next().unwrap());
        let request = SubscribeRequest::new("/q").ack(AckMode::ClientIndividual);
        let subscription = pair.subscribe_with(&request.receipt(receipts[0]));
        pair.client.send(&SendRequest::new("/q").body("1").receipt(receipts[1])).unwrap();
        pair.client.send(&SendRequest::new("/q").body("2").receipt(receipts[2])).unwrap();
        pair.drive();
        let [one, two] = ["1", "2"].map(|body| pair.listener.token(body));
        pair.client.ack(AckRequest::new(&one).receipt(receipts[3])).unwrap();
        pair.client.nack(AckRequest::new(&two).receipt(receipts[4])).unwrap();
        let [first, second] = [(); 2].map(|()| pair.client.begin().unwrap());
        pair.client.commit(EndTransaction::new(first).receipt(receipts[5])).unwrap();
        pair.client.abort(EndTransaction::new(second).receipt(receipts[6])).unwrap();
        let request = UnsubscribeRequest::new(subscription).receipt(receipts[7]);
        pair.client.unsubscribe(request).unwrap();
        pair.drive();
        let mut told = pair.listener.told();
        told.retain(|told| !told.starts_with("MESSAGE"));
        assert_eq!(told, receipts.map(|receipt| format!("RECEIPT {receipt}")));
        let written = pair.down.written();
        for receipt in receipts {
            assert!(written.contains(&format!("RECEIPT\nreceipt-id:{receipt}\n\n\0")));
        }
        assert_eq!(unconfirmed(&pair), []);
    }
}

#[test]
fn a_request_that_asks_for_none_gets_none() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let subscription = pair.subscribe("/q", AckMode::Client);
        pair.send("/elsewhere", "x");
        let transaction = pair.client.begin().unwrap();
        pair.client.commit(transaction).unwrap();
        pair.client.unsubscribe(subscription).unwrap();
        pair.drive();
        assert_eq!((pair.down.written(), pair.listener.told()), (String::new(), vec![]));
    }
}

/// requirements RC-003, RC-006, RC-011
#[test]
fn they_come_in_the_order_of_the_answers() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.broker.answers = Answers::Later;
        let sent = [(); 4].map(|()| send(&mut pair));
        pair.drive();
        assert_eq!(pair.listener.told(), NOTHING);
        for (place, left) in [(2, vec![0, 1, 3]), (0, vec![1, 3]), (1, vec![1]), (0, vec![])] {
            let owed = pair.broker.owed.remove(place).unwrap();
            pair.broker.confirm_this(&mut pair.server, owed);
            pair.drive();
            let left: Vec<_> = left.into_iter().map(|place: usize| (sent[place], true)).collect();
            assert_eq!(unconfirmed(&pair), left, "none but its own is struck out");
        }
        assert_eq!(pair.listener.told(), ["RECEIPT 3", "RECEIPT 1", "RECEIPT 4", "RECEIPT 2"]);
    }
}

#[test]
fn what_is_unconfirmed_after_a_loss_had_left_or_had_not() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let confirmed = send(&mut pair);
        pair.drive();
        let under_way = send(&mut pair);
        pair.turn();
        let written = send(&mut pair);
        assert_eq!(unconfirmed(&pair), [(under_way, true), (written, false)]);
        pair.lose();
        pair.drive();
        assert_eq!(pair.listener.told(), [format!("RECEIPT {confirmed}"), "CLOSED Lost".into()]);
        assert_eq!(unconfirmed(&pair), [(under_way, true), (written, false)], "as it was");
        assert_eq!(pair.broker.told(), ["SEND /q \"x\"", "CLOSED Lost []"]);
    }
}

#[test]
fn a_request_has_left_with_its_first_octet() {
    let mut setup = Setup::new(V1_2, Chunking::Octets);
    setup.capacity = 1;
    let mut pair = setup.connected();
    let before = pair.up.record().len();
    let [first, second] = [(); 2].map(|()| send(&mut pair));
    let len = "SEND\ndestination:/q\nreceipt:1\ncontent-length:1\n\nx\0".len();
    pair.broker.answers = Answers::Later;
    while pair.up.record().len() < before + 2 * len {
        let left = pair.up.record().len() - before;
        let expected = [(first, left > 0), (second, left > len)];
        assert_eq!(unconfirmed(&pair), expected, "after {left} octets");
        pair.run_for(pair.setup.latencies[0]);
    }
}

/// requirement RC-008
#[test]
fn a_receipt_is_asked_for_once_at_a_time() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let receipt = send(&mut pair);
        let again = SendRequest::new("/q").body("again").receipt(receipt);
        assert_eq!(pair.client.send(&again), Err(UsageError::DuplicateReceipt));
        pair.drive();
        assert_eq!(pair.client.send(&again), Ok(()), "it has come");
        pair.drive();
        assert_eq!(pair.listener.told(), ["RECEIPT 1", "RECEIPT 1"]);
        assert_eq!(pair.broker.told(), ["SEND /q \"x\"", "SEND /q \"again\""]);
    }
}

#[test]
fn so_many_may_be_owed_and_no_more() {
    for mut setup in Setup::all() {
        let mut limits = Limits::default();
        limits.max_pending_receipts = 2;
        setup.client = setup.client.limits(limits);
        let mut pair = setup.connected();
        send(&mut pair);
        send(&mut pair);
        let receipt = pair.client.next_receipt();
        let third = SendRequest::new("/q").body("third").receipt(receipt);
        let limit = Limit { what: Bound::PendingReceipts, most: 2 };
        assert_eq!(pair.client.send(&third), Err(UsageError::LimitExceeded(limit)));
        pair.send("/q", "without");
        pair.drive();
        assert_eq!(pair.client.send(&third), Ok(()));
        pair.drive();
        let told = ["SEND /q \"x\"", "SEND /q \"x\"", "SEND /q \"without\"", "SEND /q \"third\""];
        assert_eq!(pair.broker.told(), told);
    }
}

/// requirement ER-010
#[test]
fn an_error_fails_one_and_leaves_the_others_unconfirmed() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        pair.broker.answers = Answers::Later;
        let sent = [(); 3].map(|()| send(&mut pair));
        pair.drive();
        pair.broker.owed.swap(0, 1);
        pair.broker.fail(&mut pair.server, "no");
        pair.drive();
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR about 2: no"]);
        assert_eq!(unconfirmed(&pair), [(sent[0], true), (sent[2], true)]);
        let Some(Owed::Other(reply)) = pair.broker.owed.pop_front() else { panic!("no reply") };
        let refused = pair.server.confirm(reply).unwrap_err();
        assert_eq!(refused.error, UsageError::Closed, "nothing follows the ERROR");
        pair.drive();
        assert_eq!(pair.down.written(), "ERROR\nreceipt-id:2\nmessage:no\n\n\0");
    }
}

/// requirement D-002
#[test]
fn the_receipt_of_disconnect_is_the_end_and_not_an_event() {
    for setup in Setup::all() {
        let mut pair = setup.connected();
        let sent = send(&mut pair);
        pair.client.disconnect(pair.now).unwrap();
        assert_eq!(unconfirmed(&pair), [(sent, false)], "it is the session's own");
        pair.drive();
        assert!(pair.up.written().ends_with("DISCONNECT\nreceipt:2\n\n\0"));
        let receipts = "RECEIPT\nreceipt-id:1\n\n\0RECEIPT\nreceipt-id:2\n\n\0";
        assert_eq!(pair.down.written(), receipts);
        assert_eq!(pair.listener.told(), ["RECEIPT 1", "CLOSED Disconnected"]);
        assert!(pair.client.is_finished() && pair.server.is_finished());
    }
}
