//! ACK and NACK, in the form of each version.

use stomp_proto::client::{AckMode, AckRequest};
use stomp_proto::{CloseReason, Session, UsageError};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, limited, message};

/// requirements, NK-001, NK-004, field cases B80, B82, B90
#[test]
fn one_token_takes_the_form_of_the_version() {
    for (version, line) in
        [(V1_0, "message-id:m\n"), (V1_1, "subscription:0\nmessage-id:m\n"), (V1_2, "id:ack-m\n")]
    {
        for mode in [AckMode::Client, AckMode::ClientIndividual] {
            let mut app = App::connected(version);
            app.subscribe("0", mode);
            let token = app.token(message("0", "m"));
            app.client.ack(&token).unwrap();
            app.client.nack(&token).unwrap();
            assert_eq!(app.written(), [format!("ACK\n{line}\n\0"), format!("NACK\n{line}\n\0")]);
        }
    }
}

/// requirement B-021, field case B80
#[test]
fn what_the_broker_wrote_goes_back_octet_for_octet() {
    let octets = "MESSAGE\nsubscription:s:1\\c\nmessage-id:ID\\cA:x\\\\\nack:ID\\cB:y\n\
                  destination:/x\n\nx\0";
    for (version, expected) in [
        (V1_0, "ACK\nmessage-id:ID\\cA:x\\\\\n\n\0"),
        (V1_1, "ACK\nsubscription:s:1\\c\nmessage-id:ID\\cA:x\\\\\n\n\0"),
        (V1_2, "ACK\nid:ID\\cB:y\n\n\0"),
    ] {
        let mut app = App::connected(version);
        let id = if version == V1_0 { "s:1\\c" } else { "s:1:" };
        let subscription = app.subscribe(id, AckMode::Client);
        let message = app.message(octets);
        assert_eq!(message.subscription(), Some(subscription));
        app.client.ack(&message.token().unwrap()).unwrap();
        assert_eq!(app.written(), [expected]);
    }
}

#[test]
fn on_1_0_the_blanks_before_a_message_id_do_not_go_back() {
    let mut app = App::connected(V1_0);
    app.subscribe("0", AckMode::Client);
    let token = app.token("MESSAGE\nsubscription: 0\nmessage-id: \t7 \ndestination:/q\n\nx\0");
    app.client.ack(&token).unwrap();
    assert_eq!(app.written(), ["ACK\nmessage-id:7 \n\n\0"]);
}

/// requirements chapter 0.5, A-004, A-014, NK-005, field cases B90, B103
#[test]
fn an_acknowledgement_may_have_a_transaction_headers_and_a_receipt() {
    let mut app = App::connected(V1_1);
    app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let transaction = app.client.begin().unwrap();
    app.written();
    let receipt = app.client.next_receipt();
    let request = AckRequest::new(&token)
        .receipt(receipt)
        .header("requeue", "false")
        .transaction(&transaction);
    app.client.nack(request).unwrap();
    assert_eq!(
        app.written(),
        ["NACK\nsubscription:0\nmessage-id:m\ntransaction:1\nrequeue:false\nreceipt:1\n\n\0"]
    );
}

/// requirement A-015, field case B83
#[test]
fn there_is_nothing_to_acknowledge_an_auto_message_with() {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected(version);
        app.subscribe("0", AckMode::Auto);
        assert_eq!(app.message(message("0", "m")).token(), None);
    }
}

/// requirement U-005, field case B86
#[test]
fn a_message_of_a_subscription_that_has_ended_can_still_be_acknowledged() {
    for (version, expected) in [
        (V1_0, "ACK\nmessage-id:m\n\n\0"),
        (V1_1, "ACK\nsubscription:0\nmessage-id:m\n\n\0"),
        (V1_2, "ACK\nid:ack-m\n\n\0"),
    ] {
        let mut app = App::connected(version);
        let subscription = app.subscribe("0", AckMode::Client);
        app.client.unsubscribe(subscription).unwrap();
        app.written();
        let message = app.message(message("0", "m"));
        assert_eq!(message.subscription(), None);
        app.client.ack(&message.token().unwrap()).unwrap();
        assert_eq!(app.written(), [expected]);
    }
}

#[test]
fn of_ended_subscriptions_of_one_id_the_last_counts() {
    let mut app = App::connected(V1_2);
    for mode in [AckMode::Client, AckMode::Auto, AckMode::Client] {
        let subscription = app.subscribe("0", mode);
        app.client.unsubscribe(subscription).unwrap();
        app.written();
        let token = app.message(message("0", "m")).token();
        assert_eq!(token.is_some(), mode == AckMode::Client);
    }
}

#[test]
fn only_so_many_ended_subscriptions_are_remembered() {
    let mut app = App::connected_with(limited(|limits| limits.max_subscriptions = 2), V1_2);
    for id in ["a", "b", "c"] {
        let subscription = app.subscribe(id, AckMode::Client);
        app.client.unsubscribe(subscription).unwrap();
        app.written();
    }
    let is_known = ["a", "b", "c"].map(|id| app.message(message(id, "m")).token().is_some());
    assert_eq!(is_known, [false, true, true]);
}

#[test]
fn a_token_outlives_its_message_and_its_read_buffer() {
    let mut app = App::connected(V1_1);
    app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let compact = token.to_compact();
    assert_eq!(compact, token);
    drop(token);
    app.feed(message("0", "other").repeat(1000));
    assert_eq!(app.told().len(), 1000);
    app.client.ack(&compact).unwrap();
    assert_eq!(app.written(), ["ACK\nsubscription:0\nmessage-id:m\n\n\0"]);
    for version in [V1_0, V1_2] {
        let mut app = App::connected(version);
        app.subscribe("0", AckMode::Client);
        let token = app.token(message("0", "m"));
        assert_eq!(token.to_compact(), token);
    }
}

#[test]
fn a_token_of_an_earlier_session_is_stale() {
    let mut app = App::connected(V1_2);
    app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let mut next = App::of(app.client.successor(config(), app.now).unwrap());
    assert_eq!(next.client.ack(&token), Err(UsageError::NotConnected));
    assert_eq!(next.hears("CONNECTED\nversion:1.2\n\n\0"), ["CONNECTED 1.2"]);
    next.written();
    assert_eq!(next.client.ack(&token), Err(UsageError::Stale));
    assert_eq!(next.client.nack(&token), Err(UsageError::Stale));
    assert_eq!(next.written(), NOTHING);
    let same = next.token(message("0", "m"));
    assert_ne!(same, token, "the same id of another session");
    next.client.ack(&same).unwrap();
}

#[test]
fn a_token_is_refused_when_its_session_has_ended() {
    let mut app = App::connected(V1_2);
    app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    app.client.handle_eof();
    assert_eq!(app.ends(""), CloseReason::Eof);
    assert_eq!(app.client.ack(&token), Err(UsageError::Closed));
}
