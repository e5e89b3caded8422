//! CONNECT, what is agreed, and what answers are taken.

use stomp_proto::client::{AckMode, ConnectCommand, Event, SendRequest, VersionMismatch};
use stomp_proto::codec::{DecodeErrorKind, EncodeError};
use stomp_proto::{
    Agreement, Client, ClientConfig, CloseReason, Command, HeartBeat, MalformedHeader,
    ProtocolError, Session, UsageError, Version,
};

use crate::harness::{App, NOTHING, V1_0, V1_1, V1_2, config, limited, message, ms, offering};

fn connect(config: ClientConfig) -> String {
    App::unwritten(config).written().concat()
}

fn refused(config: ClientConfig) -> UsageError {
    Client::new(config, ms(0)).expect_err("refused")
}

/// requirements C-018, C-008, chapter 0.5
#[test]
fn connect_lists_what_is_offered_ascending_in_a_fixed_order() {
    let plain = connect(config());
    assert_eq!(plain, "CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\n\n\0");
    let full = config()
        .header("client-id", "c")
        .header("x", "y:z")
        .heart_beat(HeartBeat { can_send: 5000, wants: 10_000 })
        .passcode("p")
        .login("u");
    let expected = "CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\nlogin:u\npasscode:p\n\
                    heart-beat:5000,10000\nclient-id:c\nx:y:z\n\n\0";
    assert_eq!(connect(full), expected);
    assert_eq!(connect(offering(&[V1_0])), "CONNECT\naccept-version:1.0\n\n\0");
    let two = offering(&[V1_2, V1_0]);
    assert_eq!(connect(two), "CONNECT\naccept-version:1.0,1.2\nhost:h\n\n\0");
}

/// requirements C-012, C-039, field case B61
#[test]
fn stomp_opens_a_session_of_any_version_on_request() {
    for versions in [&[V1_0][..], &[V1_2]] {
        let octets = connect(offering(versions).connect_command(ConnectCommand::Stomp));
        assert!(octets.starts_with("STOMP\naccept-version:"), "{octets}");
    }
}

/// field case B40
#[test]
fn values_of_connect_are_escaped_on_request_only() {
    for (escape, passcode) in [(false, r"a\b:c"), (true, r"a\\b\cc")] {
        for command in [ConnectCommand::Connect, ConnectCommand::Stomp] {
            let config = config().passcode(r"a\b:c");
            let config = if escape { config.escape_connect() } else { config };
            assert!(
                connect(config.connect_command(command))
                    .contains(&format!("\npasscode:{passcode}\n"))
            );
        }
    }
}

/// field case B49
#[test]
fn what_connect_cannot_carry_is_refused_by_the_name_of_the_header() {
    let unrepresentable = |name: &str| {
        let (command, version) = (Command::Connect, V1_2);
        UsageError::Encode(EncodeError::Unrepresentable { name: name.into(), command, version })
    };
    let evil = "x\nclient-id:evil";
    assert_eq!(refused(config().passcode(evil)), unrepresentable("passcode"));
    assert_eq!(refused(config().login(evil)), unrepresentable("login"));
    assert_eq!(refused(ClientConfig::new(evil)), unrepresentable("host"));
    assert_eq!(refused(config().header("k", evil)), unrepresentable("k"));
    assert_eq!(refused(config().header("a:b", "x")), unrepresentable("a:b"));
    assert_eq!(refused(config().header("", "x")), UsageError::Encode(EncodeError::EmptyName));
}

/// requirement C-031
#[test]
fn a_configuration_that_makes_no_connect_is_refused() {
    assert_eq!(refused(offering(&[])), UsageError::NoVersion);
    assert_eq!(refused(offering(&[V1_2]).subprotocol(V1_1)), UsageError::NoVersion);
    assert_eq!(refused(ClientConfig::without_host()), UsageError::MissingHost);
    assert_eq!(
        connect(ClientConfig::without_host().versions(V1_0)),
        "CONNECT\naccept-version:1.0\n\n\0"
    );
    for owned in
        ["accept-version", "host", "login", "passcode", "heart-beat", "receipt", "content-length"]
    {
        assert_eq!(refused(config().header(owned, "1")), UsageError::OwnedHeader(owned.into()));
    }
}

#[test]
fn the_answer_says_version_session_server_and_heart_beats() {
    let mut app = App::new(config().heart_beat(HeartBeat { can_send: 1000, wants: 5000 }));
    assert_eq!((app.client.version(), app.client.heart_beat()), (None, Agreement::default()));
    let connected = app
        .connects("CONNECTED\nversion:1.1\nsession:s:1\nserver:x/1 y\nheart-beat:10000,3000\n\n\0");
    assert_eq!(connected.version(), V1_1);
    assert_eq!(connected.session().as_deref(), Some("s:1"));
    assert_eq!(connected.server().as_deref(), Some("x/1 y"));
    assert_eq!(connected.headers().len(), 4);
    assert_eq!(connected.as_frame().command(), Command::Connected);
    assert_eq!(connected.not_renewed(), []);
    let agreement = Agreement { outgoing: Some(ms(3000)), incoming: Some(ms(10_000)) };
    assert_eq!(connected.heart_beat(), agreement);
    assert_eq!((app.client.version(), app.client.heart_beat()), (Some(V1_1), agreement));
    assert_eq!(connected.into_frame().header("session").as_deref(), Some("s:1"));
}

/// requirement F-014, field case B41
#[test]
fn a_raw_colon_and_a_backslash_in_connected_are_data() {
    let mut app = App::new(config());
    let connected = app.connects(
        "CONNECTED\nserver:ActiveMQ/6.0.0\nheart-beat:0,0\nsession:ID:host-1-2:3\\c\nversion:1.2\n\n\0",
    );
    assert_eq!(connected.session().as_deref(), Some("ID:host-1-2:3\\c"));
}

/// requirement C-024, field cases B54, B55
#[test]
fn connected_without_a_version_means_1_0() {
    assert_eq!(App::new(config()).hears("CONNECTED\nsession:abc\n\n\0"), ["CONNECTED 1.0"]);
    let reason = App::new(offering(&[V1_1, V1_2])).ends("CONNECTED\nsession:abc\n\n\0");
    let error = ProtocolError::VersionNotOffered("1.0".into());
    assert_eq!(reason, CloseReason::Protocol(error));
}

/// requirement C-025, field case B56
#[test]
fn a_version_that_was_not_offered_ends_the_session() {
    for version in ["1.1", "2.0", "", "1.2 ", " 1.2"] {
        let octets = format!("CONNECTED\nversion:{version}\n\n\0");
        let reason = App::new(offering(&[V1_2])).ends(&octets);
        let error = ProtocolError::VersionNotOffered(version.into());
        assert_eq!(reason, CloseReason::Protocol(error));
    }
    let allowed = |versions: &[Version]| {
        App::new(offering(versions).version_mismatch(VersionMismatch::Allowed))
    };
    let answer = "CONNECTED\nversion:1.1\n\n\0";
    assert_eq!(allowed(&[V1_2]).hears(answer), ["CONNECTED 1.1"], "stomp-broker-js");
    assert_eq!(allowed(&[V1_0]).hears(answer), ["CONNECTED 1.1"]);
    let reason = allowed(&[V1_2]).ends("CONNECTED\nversion:1.3\n\n\0");
    let error = ProtocolError::VersionNotOffered("1.3".into());
    assert_eq!(reason, CloseReason::Protocol(error), "nobody knows it");
}

/// requirements W-005, W-006
#[test]
fn a_subprotocol_narrows_the_offer_and_binds_the_broker() {
    let narrowed = |mismatch| config().subprotocol(V1_1).version_mismatch(mismatch);
    let (fatal, allowed) = (narrowed(VersionMismatch::Fatal), narrowed(VersionMismatch::Allowed));
    for config in [&fatal, &allowed] {
        assert_eq!(connect(config.clone()), "CONNECT\naccept-version:1.1\nhost:h\n\n\0");
        assert_eq!(
            App::new(config.clone()).hears("CONNECTED\nversion:1.1\n\n\0"),
            ["CONNECTED 1.1"]
        );
    }
    let other = "CONNECTED\nversion:1.2\n\n\0";
    let error = ProtocolError::SubprotocolMismatch { subprotocol: V1_1, version: V1_2 };
    assert_eq!(App::new(fatal).ends(other), CloseReason::Protocol(error));
    assert_eq!(App::new(allowed).hears(other), ["CONNECTED 1.2"]);
    let v1_0 = config().subprotocol(V1_0);
    assert_eq!(connect(v1_0), "CONNECT\naccept-version:1.0\n\n\0", "host is left out");
}

/// requirement H-019
#[test]
fn connected_of_1_0_reads_as_1_0_although_the_version_came_with_it() {
    for version in ["", "version:1.0\n", "version: \t1.0\n"] {
        let mut app = App::new(config().heart_beat(HeartBeat { can_send: 0, wants: 1000 }));
        let octets = format!("CONNECTED\n{version}session: \ts \nheart-beat: 500,0\n\nignored\0");
        let connected = app.connects(octets);
        assert_eq!(connected.version(), V1_0);
        assert_eq!(connected.session().as_deref(), Some("s "), "leading blanks only");
        assert_eq!(connected.heart_beat().incoming, Some(ms(1000)));
        assert_eq!(connected.as_frame().body(), "", "1.0 ignores the body");
    }
    let mut app = App::new(config());
    let connected = app.connects("CONNECTED\nversion:1.1\nsession: s\n\n\0");
    assert_eq!(connected.session().as_deref(), Some(" s"), "1.1 trims nothing");
}

/// requirement C-032
#[test]
fn a_body_in_connected_ends_a_session_of_1_1_or_1_2() {
    for version in [V1_1, V1_2] {
        let octets = format!("CONNECTED\nversion:{version}\n\nbody\0");
        let reason = App::new(config()).ends(octets);
        let error = ProtocolError::UnexpectedBody(Command::Connected);
        assert_eq!(reason, CloseReason::Protocol(error));
    }
}

/// requirement HB-020
#[test]
fn a_malformed_heart_beat_in_connected_ends_the_session() {
    let error = ProtocolError::InvalidHeader { command: Command::Connected, name: "heart-beat" };
    for heart_beat in ["a,b", "5", "-1,0", "1,2,3", "", " 0,0"] {
        let octets = format!("CONNECTED\nversion:1.2\nheart-beat:{heart_beat}\n\n\0");
        let reason = App::new(config()).ends(octets);
        assert_eq!(reason, CloseReason::Protocol(error.clone()), "{heart_beat:?}");
    }
}

/// field cases B63, B64
#[test]
fn line_ends_before_connected_are_skipped_and_session_and_server_may_be_missing() {
    let mut app = App::new(config());
    assert_eq!(app.hears("\n\r\n"), NOTHING);
    let connected = app.connects("\nCONNECTED\nversion:1.2\n\n\0");
    assert_eq!((connected.session(), connected.server()), (None, None));
}

/// requirement H-022
#[test]
fn what_comes_in_one_read_with_connected_follows_the_version_that_was_agreed() {
    for (version, path) in [("1.0", r"a\nb\rc"), ("1.1", "a\nb\\rc"), ("1.2", "a\nb\rc")] {
        let mut app = App::new(config());
        app.feed(format!(
            "CONNECTED\nversion:{version}\n\n\0\
             MESSAGE\nsubscription:s\nmessage-id:1\ndestination:/q\npath:a\\nb\\rc\n\n\0"
        ));
        assert!(matches!(app.event(), Some(Event::Connected(_))));
        let Some(Event::Message(message)) = app.event() else { panic!("no message") };
        if version == "1.1" {
            // \r is no escape there; the line is kept apart.
            assert_eq!(message.headers().get("path"), None);
            assert_eq!(message.as_frame().malformed_headers().count(), 1);
        } else {
            assert_eq!(message.headers().get("path").as_deref(), Some(path));
        }
    }
}

/// requirement C-026, field case B43
#[test]
fn an_error_instead_of_connected_is_read_by_the_highest_offer_and_never_a_second_error() {
    let octets = "ERROR\nversion:1.0,1.1,1.2\nmessage: bad\\c \\x\\r\\\n\ncontent\0";
    for (offer, message) in
        [(V1_0, "bad\\c \\x\\r\\"), (V1_1, " bad: \\x\\r\\"), (V1_2, " bad: \\x\r\\")]
    {
        let reason = App::new(offering(&[offer])).ends(octets);
        let CloseReason::Error { frame, receipt } = reason else { panic!("{reason:?}") };
        assert_eq!(frame.header("message").as_deref(), Some(message), "{offer}");
        assert_eq!(frame.headers().iter().nth(1).unwrap().name(), "message");
        let raw = frame.headers().iter().nth(1).unwrap().raw_value();
        assert!(raw.ends_with(br"bad\c \x\r\"), "the raw value stays at hand");
        assert_eq!((&frame.body()[..], receipt), (&b"content"[..], None));
    }
}

/// requirement C-035, field case B65
#[test]
fn the_deadline_for_connected_is_not_put_off_by_octets_that_trickle() {
    let mut app = App::new(limited(|limits| limits.connect_timeout = ms(1000)));
    assert_eq!(app.deadline(), Some(1000));
    for (index, octet) in "CONNECTED\nv".bytes().enumerate() {
        app.feed([octet]);
        app.at(index as u64 * 90);
        assert_eq!(app.told(), NOTHING);
        assert_eq!(app.deadline(), Some(1000));
    }
    app.at(1000);
    assert_eq!(app.told(), ["CLOSED peer did not answer in time"]);
}

#[test]
fn connected_that_came_in_time_counts_however_late_it_is_looked_at() {
    let mut app = App::new(limited(|limits| limits.connect_timeout = ms(1000)));
    app.feed("CONNECTED\nversion:1.2\n\n\0");
    app.at(5000);
    assert_eq!(app.told(), ["CONNECTED 1.2"]);
    app.at(99_000);
    assert_eq!(app.told(), NOTHING, "and there is no deadline any more");
    assert_eq!(app.deadline(), None);
}

#[test]
fn a_peer_that_speaks_something_else_ends_the_session() {
    for (octets, kind) in [
        (&b"HTTP/1.1 400 Bad Request\r\n"[..], DecodeErrorKind::UnknownCommand),
        (b"\x15\x03\x01", DecodeErrorKind::UnknownCommand),
        (b"CONNECTED\nno colon\n\n\0", DecodeErrorKind::MissingColon),
    ] {
        let config = config().malformed_header(MalformedHeader::Reject);
        let reason = App::new(config).ends(octets);
        let CloseReason::Protocol(ProtocolError::Decode(error)) = reason else {
            panic!("{reason:?}")
        };
        assert_eq!(error.kind, kind);
    }
}

/// requirement C-009, field case B128
#[test]
fn credentials_are_never_shown() {
    let config = config().login("secret-login").passcode("secret-passcode");
    let config = config.header("authorization", "secret-token");
    let mut app = App::unwritten(config.clone());
    let mut shown = vec![format!("{config:?} {:?}", app.client)];
    shown.push(format!("{:?}", app.client.outbox()));
    // A broker that echoes them, half received and then whole.
    app.feed("ERROR\nmessage:no\npasscode:secret-passcode\nauthorization:secret-token\n\n");
    shown.push(format!("{:?}", app.event()));
    shown.push(format!("{:?}", app.client));
    app.feed("\0");
    shown.push(format!("{:?}", app.event()));
    shown.push(format!("{:?}", app.client));
    for (name, bad) in [
        ("login", config.clone().login("secret\n")),
        ("passcode", config.clone().passcode("secret\n")),
        ("x-token", config.header("x-token", "secret\n")),
    ] {
        let error = refused(bad);
        assert!(error.to_string().contains(name));
        shown.push(format!("{error} {error:?}"));
    }
    let shown = shown.concat();
    assert!(shown.contains("ERROR"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}

/// Above all not octets, nor what a peer may have put its secrets in.
#[test]
fn what_is_shown_is_how_things_stand() {
    let shown = |it: &dyn core::fmt::Debug| format!("{it:?}");
    let mut app = App::unwritten(config().login("l").passcode("p"));
    let config = shown(&config().login("l").passcode("p").header("x-token", "t"));
    let start = r#"ClientConfig { host: Some("h"), login: Some("…"), passcode: Some("…"), headers: ["x-token"]"#;
    assert_eq!(config.split(", versions").next(), Some(start));
    let client = "Client { state: Connecting, subscriptions: 0, receipts_owed: 0, .. }";
    assert_eq!(shown(&app.client), client);
    assert_eq!(shown(app.client.outbox()), "Outbox { frames: 1, len: 63, left: 0, .. }");
    let connect = app.client.outbox().next_frame().unwrap();
    assert_eq!(shown(&connect), "OutgoingFrame { len: 63, is_text: true, .. }");
    let connected = app.connects("CONNECTED\nversion:1.2\nserver:s\n\n\0");
    let frame = r#"CONNECTED { headers: {"version": "1.2", "server": "s"}, body: b"" }"#;
    assert_eq!(shown(&connected), frame);
    app.subscribe_to("/a", AckMode::Auto);
    app.subscribe_to("/b", AckMode::Auto);
    for _ in 0..3 {
        let receipt = app.client.next_receipt();
        app.client.send(&SendRequest::new("/q").body("secret").receipt(receipt)).unwrap();
    }
    let client = "Client { state: Connected(V1_2), subscriptions: 2, receipts_owed: 3, .. }";
    assert_eq!(shown(&app.client), client);
    let frame = r#"MESSAGE { headers: {"subscription": "1", "message-id": "m", "ack": "ack-m", "destination": "/q"}, body: b"x" }"#;
    assert_eq!(shown(&app.message(message("1", "m"))), frame);
}

/// field case B59
#[test]
fn the_rules_come_from_connected_and_not_from_the_offer() {
    let mut app = App::connected_with(offering(&[V1_0, V1_2]), V1_0);
    let request = SendRequest::new("/q").header("path", r"a\b:c");
    app.client.send(&request).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/q\npath:a\\b:c\n\n\0"]);
}
