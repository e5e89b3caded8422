//! What is written for each request, and what is refused.

use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, SendRequest, SubscribeRequest, UnsubscribeRequest,
};
use stomp_proto::codec::{ContentLength, EncodeError};
use stomp_proto::{Bound, Command, Frame, Limit, Session, UsageError, Version};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, limited, message};

/// requirements chapter 0.5
#[test]
fn a_send_is_written_in_a_fixed_order() {
    let mut app = App::connected(V1_2);
    let transaction = app.client.begin().unwrap();
    let receipt = app.client.next_receipt();
    let request = SendRequest::new("/queue/a")
        .header("b", "2")
        .body("hi")
        .receipt(receipt)
        .header("a", "1:\\\n\r")
        .transaction(&transaction)
        .header("b", "again");
    app.client.send(&request).unwrap();
    let expected = "SEND\ndestination:/queue/a\ntransaction:1\nb:2\na:1\\c\\\\\\n\\r\nb:again\n\
                    receipt:1\ncontent-length:2\n\nhi\0";
    assert_eq!(app.written(), ["BEGIN\ntransaction:1\n\n\0", expected]);
    app.client.send(&SendRequest::new("/queue/a")).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/queue/a\n\n\0"]);
}

/// field case B51
#[test]
fn content_length_is_left_out_on_request_but_never_when_the_body_holds_a_nul() {
    let mut app = App::connected(V1_2);
    let request = SendRequest::new("/q").content_length(ContentLength::Omit);
    app.client.send(&request.clone().body("text")).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/q\n\ntext\0"]);
    let refused = app.client.send(&request.body("a\0b"));
    assert_eq!(refused, Err(UsageError::Encode(EncodeError::NulWithoutContentLength)));
    app.client.send(&SendRequest::new("/q").body("a\0b")).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/q\ncontent-length:3\n\na\0b\0"]);
}

#[test]
fn a_large_body_goes_out_as_it_is() {
    let mut app = App::connected(V1_1);
    let body = "x".repeat(100_000);
    app.client.send(&SendRequest::new("/q").body(body.clone())).unwrap();
    let head = "SEND\ndestination:/q\ncontent-length:100000\n\n";
    assert_eq!(app.written(), [format!("{head}{body}\0")]);
}

#[test]
fn a_subscription_is_named_by_a_number_unless_it_has_a_name() {
    let mut app = App::connected(V1_2);
    let first = app.client.subscribe(&SubscribeRequest::new("/a")).unwrap();
    let receipt = app.client.next_receipt();
    let request = SubscribeRequest::new("/topic/b")
        .receipt(receipt)
        .header("selector", "a > 1")
        .ack(AckMode::ClientIndividual)
        .id("du:rable");
    let named = app.client.subscribe(&request).unwrap();
    let third = app.client.subscribe(&SubscribeRequest::new("/c").ack(AckMode::Client)).unwrap();
    assert!(first != named && named != third);
    assert_eq!(
        app.written(),
        [
            "SUBSCRIBE\nid:1\ndestination:/a\n\n\0",
            "SUBSCRIBE\nid:du\\crable\ndestination:/topic/b\nack:client-individual\nselector:a > 1\n\
         receipt:1\n\n\0",
            "SUBSCRIBE\nid:3\ndestination:/c\nack:client\n\n\0",
        ]
    );
    let receipt = app.client.next_receipt();
    let request = UnsubscribeRequest::new(named).header("durable", "true").receipt(receipt);
    app.client.unsubscribe(request).unwrap();
    app.client.unsubscribe(first).unwrap();
    assert_eq!(
        app.written(),
        ["UNSUBSCRIBE\nid:du\\crable\ndurable:true\nreceipt:2\n\n\0", "UNSUBSCRIBE\nid:1\n\n\0",]
    );
}

#[test]
fn an_id_is_free_again_when_its_subscription_has_ended() {
    let mut app = App::connected(V1_2);
    let request = SubscribeRequest::new("/q").id("1");
    let first = app.client.subscribe(&request).unwrap();
    assert_eq!(app.client.subscribe(&request), Err(UsageError::DuplicateSubscription));
    app.client.unsubscribe(first).unwrap();
    assert_eq!(app.client.unsubscribe(first), Err(UsageError::UnknownSubscription));
    let second = app.client.subscribe(&request).unwrap();
    assert_ne!(first, second);
    assert_eq!(app.client.unsubscribe(first), Err(UsageError::UnknownSubscription));
    let plain = app.client.subscribe(&SubscribeRequest::new("/q"));
    assert!(plain.is_ok(), "a number is chosen that is no explicit id");
    assert_eq!(app.written().last().unwrap(), "SUBSCRIBE\nid:3\ndestination:/q\n\n\0");
}

#[test]
fn a_destination_is_needed() {
    let mut app = App::connected(V1_2);
    let missing = Some(UsageError::MissingDestination);
    assert_eq!(app.client.send(&SendRequest::new("")).err(), missing);
    assert_eq!(app.client.subscribe(&SubscribeRequest::new("")).err(), missing);
    assert_eq!(app.written(), NOTHING);
}

/// requirements chapter 0.5: a header that the caller sets and the machine owns is an error
#[test]
fn a_header_that_the_session_writes_is_refused() {
    let mut app = App::connected(V1_2);
    let subscription = app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let mut transaction = app.client.begin().unwrap();
    app.written();
    let owned = |name: &str| UsageError::OwnedHeader(name.into());
    for name in ["destination", "transaction", "receipt", "content-length"] {
        let refused = app.client.send(&SendRequest::new("/q").header("a", "b").header(name, "1"));
        assert_eq!(refused, Err(owned(name)));
    }
    for name in ["id", "destination", "ack", "receipt", "content-length"] {
        let refused = app.client.subscribe(&SubscribeRequest::new("/q").header(name, "1"));
        assert_eq!(refused, Err(owned(name)));
    }
    for name in ["id", "receipt", "content-length"] {
        let request = UnsubscribeRequest::new(subscription).header(name, "1");
        assert_eq!(app.client.unsubscribe(request), Err(owned(name)));
    }
    for name in ["id", "subscription", "message-id", "transaction", "receipt", "content-length"] {
        let request = || AckRequest::new(&token).header(name, "1");
        assert_eq!(app.client.ack(request()), Err(owned(name)));
        assert_eq!(app.client.nack(request()), Err(owned(name)));
    }
    for name in ["transaction", "receipt", "content-length"] {
        let request = EndTransaction::new(transaction).header(name, "1");
        let refused = app.client.commit(request).unwrap_err();
        assert_eq!(refused.error, owned(name));
        let request = EndTransaction::new(refused.token).header(name, "1");
        let refused = app.client.abort(request).unwrap_err();
        assert_eq!(refused.error, owned(name));
        transaction = refused.token;
    }
    assert_eq!(app.written(), NOTHING);
    app.client.commit(transaction).unwrap();
    app.client.unsubscribe(subscription).unwrap();
    assert_eq!(app.written().len(), 2, "what was refused changed nothing");
}

/// requirements H-013, H-014, field case B45
#[test]
fn what_the_version_cannot_carry_is_refused_by_the_name_of_the_header() {
    for (version, name, value) in [
        (V1_0, "k", "a\nb"),
        (V1_0, "k", " a"),
        (V1_0, "a:b", "v"),
        (V1_1, "k", "a\rb"),
        (V1_2, "k", "\0"),
    ] {
        let mut app = App::connected(version);
        let unrepresentable = |command| {
            let name = name.into();
            UsageError::Encode(EncodeError::Unrepresentable { name, command, version })
        };
        let receipt = app.client.next_receipt();
        let send = SendRequest::new("/q").receipt(receipt);
        let refused = app.client.send(&send.clone().header(name, value));
        assert_eq!(refused, Err(unrepresentable(Command::Send)));
        let subscribe = SubscribeRequest::new("/q").id("0").receipt(receipt);
        let refused = app.client.subscribe(&subscribe.clone().header(name, value));
        assert_eq!(refused, Err(unrepresentable(Command::Subscribe)));
        assert_eq!(app.written(), NOTHING);
        assert_eq!(app.client.unconfirmed().count(), 0, "the receipt is still free");
        assert_eq!(app.client.subscribe(&subscribe), Ok(app_first_subscription()));
    }
}

/// The id that every session gives first.
fn app_first_subscription() -> stomp_proto::client::SubscriptionId {
    App::connected(V1_2).subscribe("0", AckMode::Auto)
}

#[test]
fn any_other_client_frame_goes_out_under_the_version_of_the_session() {
    for (version, value) in [(V1_0, "a:\\"), (V1_1, "a\\c\\\\"), (V1_2, "a\\c\\\\")] {
        let mut app = App::connected(version);
        for command in [
            Command::Send,
            Command::Subscribe,
            Command::Unsubscribe,
            Command::Ack,
            Command::Nack,
            Command::Begin,
            Command::Commit,
            Command::Abort,
        ] {
            let frame = Frame::builder(command).header("k", "a:\\").build();
            app.client.send_frame(&frame).unwrap();
            assert_eq!(app.written(), [format!("{command}\nk:{value}\n\n\0")]);
        }
        let send = Frame::builder(Command::Send).body("hi").build();
        app.client.send_frame(&send).unwrap();
        assert_eq!(app.written(), ["SEND\ncontent-length:2\n\nhi\0"]);
    }
}

#[test]
fn a_frame_that_this_end_does_not_send_or_that_is_unsound_is_refused() {
    let mut app = App::connected(V1_2);
    for command in [
        Command::Connect,
        Command::Stomp,
        Command::Disconnect,
        Command::Connected,
        Command::Message,
        Command::Receipt,
        Command::Error,
    ] {
        let frame = Frame::builder(command).build();
        assert_eq!(app.client.send_frame(&frame), Err(UsageError::WrongCommand(command)));
    }
    let body = Frame::builder(Command::Ack).body("x").build();
    let unexpected = EncodeError::UnexpectedBody { command: Command::Ack };
    assert_eq!(app.client.send_frame(&body), Err(UsageError::Encode(unexpected)));
    let length = Frame::builder(Command::Send).header("content-length", "5").body("x").build();
    let mismatch = EncodeError::ContentLengthMismatch { body_len: 1 };
    assert_eq!(app.client.send_frame(&length), Err(UsageError::Encode(mismatch)), "B52");
    assert_eq!(app.written(), NOTHING);
}

#[test]
fn requests_are_refused_for_lack_of_room_but_not_those_that_end_something() {
    let mut app = App::connected_with(limited(|limits| limits.max_outbox_len = 100), V1_2);
    let subscription = app.subscribe("0", AckMode::Client);
    let token = app.token(message("0", "m"));
    let (first, second) = (app.client.begin().unwrap(), app.client.begin().unwrap());
    app.written();
    assert!(app.client.has_room());
    app.client.send(&SendRequest::new("/q").body("x".repeat(100))).unwrap();
    assert!(!app.client.has_room());
    let full = UsageError::LimitExceeded(Limit { what: Bound::OutboxOctets, most: 100 });
    assert_eq!(app.client.send(&SendRequest::new("/q")), Err(full.clone()));
    assert_eq!(app.client.subscribe(&SubscribeRequest::new("/q")), Err(full.clone()));
    assert_eq!(app.client.unsubscribe(subscription), Err(full.clone()));
    assert_eq!(app.client.ack(&token), Err(full.clone()));
    assert_eq!(app.client.nack(&token), Err(full.clone()));
    assert_eq!(app.client.begin().err(), Some(full.clone()));
    for command in [Command::Send, Command::Ack, Command::Begin] {
        assert_eq!(app.client.send_frame(&Frame::builder(command).build()), Err(full.clone()));
    }
    let commit = Frame::builder(Command::Commit).build();
    assert_eq!(app.client.send_frame(&commit), Ok(()));
    assert_eq!(app.client.commit(first), Ok(()));
    assert_eq!(app.client.abort(second), Ok(()));
    assert_eq!(app.client.disconnect(app.now), Ok(()));
    assert_eq!(app.written().len(), 5);
}

/// If a broker does not read on while we do not read, each would wait for the other for ever.
#[test]
fn frames_are_read_however_much_waits_to_be_written() {
    let mut app = App::connected_with(limited(|limits| limits.max_outbox_len = 100), V1_2);
    app.client.send(&SendRequest::new("/q").body("x".repeat(100))).unwrap();
    assert_eq!(app.hears(message("0", "m")), ["MESSAGE m"]);
}

#[test]
fn there_are_only_so_many_subscriptions() {
    let mut app = App::connected_with(limited(|limits| limits.max_subscriptions = 2), V1_2);
    let first = app.subscribe("a", AckMode::Auto);
    app.subscribe("b", AckMode::Auto);
    let limit = UsageError::LimitExceeded(Limit { what: Bound::Subscriptions, most: 2 });
    assert_eq!(app.client.subscribe(&SubscribeRequest::new("/q")), Err(limit));
    app.client.unsubscribe(first).unwrap();
    assert!(app.client.subscribe(&SubscribeRequest::new("/q")).is_ok());
}

#[test]
fn a_request_can_go_to_many_sessions() {
    let request = SendRequest::new("/q").header("k", "a\nb").body("hi");
    let written = |version: Version| {
        let mut app = App::connected(version);
        app.client.send(&request).map(|()| app.written().concat())
    };
    assert!(written(V1_0).is_err());
    assert_eq!(written(V1_1), written(V1_2));
}

#[test]
fn each_frame_is_one_message_and_text_if_it_is_utf_8() {
    let mut app = App::connected(V1_2);
    app.client.send(&SendRequest::new("/q").body("hi")).unwrap();
    app.client.send(&SendRequest::new("/q").body(&b"\xff"[..])).unwrap();
    let mut is_text = || app.client.outbox().next_frame().map(|frame| frame.is_text);
    assert_eq!([is_text(), is_text(), is_text()], [Some(true), Some(false), None]);
}
