//! Transactions: begun, used, ended once.

use stomp_proto::client::{AckMode, AckRequest, EndTransaction, SendRequest};
use stomp_proto::{Refused, UsageError};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, message, receipt};

/// requirements T-001, T-002, chapter 0.5
#[test]
fn a_transaction_is_named_by_a_number_of_its_own() {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        let first = app.client.begin().unwrap();
        let second = app.client.begin().unwrap();
        assert_ne!(first, second);
        app.client.send(&SendRequest::new("/q").transaction(&second)).unwrap();
        let receipt = app.client.next_receipt();
        let request = EndTransaction::new(second).receipt(receipt).header("k", "v");
        app.client.commit(request).unwrap();
        app.client.abort(first).unwrap();
        assert_eq!(
            app.written(),
            [
                "BEGIN\ntransaction:1\n\n\0",
                "BEGIN\ntransaction:2\n\n\0",
                "SEND\ndestination:/q\ntransaction:2\n\n\0",
                "COMMIT\ntransaction:2\nk:v\nreceipt:1\n\n\0",
                "ABORT\ntransaction:1\n\n\0",
            ]
        );
        assert_eq!(app.hears("RECEIPT\nreceipt-id:1\n\n\0"), ["RECEIPT 1"]);
    }
}

#[test]
fn a_transaction_that_cannot_be_ended_comes_back() {
    let mut app = App::connected(V1_2);
    let transaction = app.client.begin().unwrap();
    let drawn = app.client.next_receipt();
    app.client.send(&SendRequest::new("/q").receipt(drawn)).unwrap();
    app.written();
    let Refused { error, token, .. } =
        app.client.commit(EndTransaction::new(transaction).receipt(drawn)).unwrap_err();
    assert_eq!(error, UsageError::DuplicateReceipt);
    let Refused { error, token, .. } =
        app.client.abort(EndTransaction::new(token).receipt(drawn)).unwrap_err();
    assert_eq!(error, UsageError::DuplicateReceipt);
    assert_eq!(app.written(), NOTHING);
    app.hears(receipt("1"));
    app.client.abort(EndTransaction::new(token).receipt(drawn)).unwrap();
    assert_eq!(app.written(), ["ABORT\ntransaction:1\nreceipt:1\n\n\0"]);
}

#[test]
fn a_transaction_of_an_earlier_session_is_stale() {
    let mut app = App::connected(V1_2);
    let transaction = app.client.begin().unwrap();
    let client = app.client.successor(config(), app.now).unwrap();
    let mut next = App::of(client);
    next.hears("CONNECTED\nversion:1.2\n\n\0");
    let next_transaction = next.client.begin().unwrap();
    next.written();
    next.subscribe("0", AckMode::Client);
    let token = next.token(message("0", "m"));
    let stale = Some(UsageError::Stale);
    let refused = next.client.send(&SendRequest::new("/q").transaction(&transaction));
    assert_eq!(refused.err(), stale);
    let request = AckRequest::new(&token).transaction(&transaction);
    assert_eq!(next.client.ack(request).err(), stale);
    let refused = next.client.commit(transaction).unwrap_err();
    assert_eq!(refused.error, UsageError::Stale);
    let refused = next.client.abort(refused.token).unwrap_err();
    assert_eq!(refused.to_string(), "token of another session");
    assert_eq!(next.written(), NOTHING);
    next.client.commit(next_transaction).unwrap();
    assert_eq!(next.written(), ["COMMIT\ntransaction:2\n\n\0"], "the numbers go on");
}

#[test]
fn a_transaction_that_is_refused_takes_no_number() {
    let mut app = App::new(config());
    assert_eq!(app.client.begin(), Err(UsageError::NotConnected));
    app.hears("CONNECTED\nversion:1.2\n\n\0");
    let transaction = app.client.begin().unwrap();
    assert_eq!(format!("{transaction:?}"), "Transaction(1)");
}
