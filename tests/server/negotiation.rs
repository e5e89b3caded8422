//! CONNECT and CONNECTED: which version, what is required, what is answered.

use stomp_proto::server::{Accept, Dialect, Event, Failure, Server};
use stomp_proto::{HeartBeat, ServerConfig, Session, UsageError, Version, VersionSet};

use crate::harness::{Broker, NOTHING, PRESETS, V1_0, V1_1, V1_2, error, ms, speaking};

/// What becomes of a CONNECT with these header lines.
fn connect(config: &ServerConfig, lines: &str) -> Result<Version, Vec<String>> {
    let mut broker = Broker::new(config.clone());
    broker.feed(format!("CONNECT\n{lines}\n\0"));
    broker.told();
    let refused = broker.written();
    if refused.is_empty() { Ok(broker.server.version().unwrap()) } else { Err(refused) }
}

/// requirements C-019, C-020, C-022, KQ-01 to KQ-06
#[test]
fn the_highest_common_version_is_spoken() {
    for dialect in PRESETS {
        for (lines, version) in [
            ("host:h\n", V1_0),
            ("accept-version:1.0\nhost:h\n", V1_0),
            ("accept-version:1.1\nhost:h\n", V1_1),
            ("accept-version:1.2\nhost:h\n", V1_2),
            ("accept-version:1.0,1.1,2.0\nhost:h\n", V1_1),
            ("accept-version:1.2,1.1,1.0\nhost:h\n", V1_2),
            ("accept-version:1.1, 1.2\nhost:h\n", V1_2),
            ("accept-version: 1.0 \t,9.9\nhost:h\n", V1_0),
            ("accept-version:1.1\naccept-version:1.2\nhost:h\n", V1_1),
        ] {
            assert_eq!(connect(&speaking(dialect), lines), Ok(version), "{lines}");
        }
    }
}

/// requirements C-021, H-023, KQ-04
#[test]
fn no_common_version_is_an_error_that_lists_ours() {
    let refusal = |ours: VersionSet, text: &str| {
        let len = text.len();
        format!(
            "ERROR\nversion:{ours}\nmessage:unsupported version\ncontent-type:text/plain\n\
             content-length:{len}\n\n{text}\0"
        )
    };
    let all = refusal(VersionSet::ALL, "Supported versions are 1.0, 1.1, 1.2\n");
    for lines in ["accept-version:2.1\nhost:h\n", "accept-version:1.2;1.1\n", "accept-version:1\n"]
    {
        for dialect in PRESETS {
            assert_eq!(connect(&speaking(dialect), lines), Err(vec![all.clone()]), "{lines}");
        }
    }
    let mut config = ServerConfig::default();
    config.versions = VersionSet::of(&[V1_1, V1_2]);
    let newer = refusal(config.versions, "Supported versions are 1.1, 1.2\n");
    assert_eq!(connect(&config, "login:u\n"), Err(vec![newer]), "1.0 is not spoken here");
    assert_eq!(connect(&config, "accept-version:1.0,1.1\n"), Ok(V1_1));
}

/// requirements W-005, W-013
#[test]
fn a_websocket_subprotocol_narrows_the_choice() {
    for (subprotocol, accept, version) in [
        (V1_0, "accept-version:1.0,1.1,1.2\n", Some(V1_0)),
        (V1_1, "accept-version:1.0,1.1,1.2\n", Some(V1_1)),
        (V1_0, "", Some(V1_0)),
        (V1_0, "accept-version:1.2\n", None),
        (V1_2, "accept-version:1.1\n", None),
        (V1_2, "", None),
    ] {
        let mut config = ServerConfig::default();
        config.subprotocol = Some(subprotocol);
        let connected = connect(&config, &format!("{accept}host:h\n"));
        assert_eq!(connected.ok(), version, "{subprotocol} {accept}");
    }
}

/// requirements C-006, C-009, C-036
#[test]
fn the_application_sees_the_whole_connect() {
    let mut server = Server::<_, u64>::new(ServerConfig::default(), ms(0));
    server.receive(
        b"STOMP\naccept-version:1.2\nhost:v\\host\nlogin:u\npasscode:a:b\\n\nclient-id:c1\n\
          heart-beat:1000,2000\n\n\0",
    );
    let Some(Event::Connect { frame, .. }) = server.poll_event(ms(0)) else { panic!("no CONNECT") };
    assert_eq!(frame.as_frame().command().as_str(), "STOMP");
    assert_eq!(frame.version(), V1_2);
    assert_eq!(frame.host().as_deref(), Some("v\\host"));
    assert_eq!(frame.login().as_deref(), Some("u"));
    assert_eq!(frame.passcode().as_deref(), Some("a:b\\n"), "never unescaped");
    assert_eq!(frame.headers().get("client-id").as_deref(), Some("c1"));
    assert_eq!(frame.heart_beat(), HeartBeat { can_send: 1000, wants: 2000 });
    assert_eq!(server.version(), Some(V1_2), "to be shown before it is answered");
}

/// requirements C-003, C-013, C-014, C-015, chapter 0.5
#[test]
fn connected_is_written_octet_by_octet() {
    let accept = Accept::new("s:1\\")
        .server("broker/1.0 (test)")
        .heart_beat(HeartBeat { can_send: 10_000, wants: 0 })
        .header("user-name", "u:1");
    for (version, beats) in
        [(V1_0, ""), (V1_1, "heart-beat:10000,0\n"), (V1_2, "heart-beat:10000,0\n")]
    {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(format!("CONNECT\naccept-version:{version}\nhost:h\n\n\0"));
        assert_eq!(broker.told(), [format!("CONNECT {version}")]);
        broker.accept(&accept);
        let connected = format!(
            "CONNECTED\nversion:{version}\nsession:s:1\\\nserver:broker/1.0 (test)\n{beats}\
             user-name:u:1\n\n\0"
        );
        assert_eq!(broker.written(), [connected], "nothing is escaped");
        assert_eq!(broker.server.version(), Some(version));
    }
}

#[test]
fn what_connected_cannot_carry_is_refused_and_the_reply_comes_back() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    let mut reply = broker.connect.take().unwrap();
    for (accept, owned) in [
        (Accept::new("a\nb"), None),
        (Accept::new("s").server("a\r"), None),
        (Accept::new("s").header("a:b", "c"), None),
        (Accept::new("s").header("", "c"), None),
        (Accept::new("s").header("version", "1.1"), Some("version")),
        (Accept::new("s").header("session", "t"), Some("session")),
        (Accept::new("s").header("server", "t"), Some("server")),
        (Accept::new("s").header("heart-beat", "1,1"), Some("heart-beat")),
        (Accept::new("s").header("content-length", "5"), Some("content-length")),
    ] {
        let refused = broker.server.accept(reply, &accept).unwrap_err();
        match (&refused.error, owned) {
            (UsageError::Encode(_), None) => {}
            (UsageError::OwnedHeader(name), Some(owned)) => assert_eq!(*name, *owned),
            other => panic!("{other:?}"),
        }
        reply = refused.token;
        assert_eq!(broker.written(), NOTHING);
    }
    broker.server.accept(reply, &Accept::new("s")).unwrap();
    assert_eq!(broker.written(), ["CONNECTED\nversion:1.2\nsession:s\nheart-beat:0,0\n\n\0"]);
}

/// requirement C-032
#[test]
fn a_connect_with_a_body_is_one_of_1_0() {
    for version in [V1_1, V1_2] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(format!("CONNECT\naccept-version:{version}\nhost:h\n\nbody\0"));
        assert_eq!(broker.told(), ["CLOSED Protocol(UnexpectedBody(Connect)) []"]);
        assert_eq!(broker.written(), [error("body on CONNECT")]);
    }
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\nlogin: u\n\nbody\0");
    let Some(Event::Connect { frame, .. }) = broker.event() else { panic!("no CONNECT") };
    assert_eq!(frame.login().as_deref(), Some("u"), "padded as on 1.0");
    assert!(frame.as_frame().body().is_empty(), "dropped");
}

/// requirements H-018, H-019
#[test]
fn blanks_before_a_value_are_data_from_1_1_on() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.1\nhost: h\nlogin: u\n\n\0");
    let Some(Event::Connect { frame, .. }) = broker.event() else { panic!("no CONNECT") };
    assert_eq!(frame.host().as_deref(), Some(" h"));
    assert_eq!(frame.login().as_deref(), Some(" u"));
}

/// requirements C-016, H-023
#[test]
fn a_refused_login_is_an_error_that_any_version_reads_alike() {
    for version in [V1_0, V1_1, V1_2] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(format!("CONNECT\naccept-version:{version}\nhost:h\n\n\0"));
        assert_eq!(broker.told(), [format!("CONNECT {version}")]);
        let reply = broker.connect.take().unwrap();
        broker.server.fail(reply, &Failure::new("access refused: u\\v\nno")).unwrap();
        assert_eq!(broker.told(), ["CLOSED Failed []"]);
        assert_eq!(broker.written(), [error("access refused  u v no")], "{version}");
        assert!(broker.server.wants_shutdown());
        assert!(broker.server.wants_read(), "until the client has read it and closes");
    }
}

/// requirement C-031
#[test]
fn connect_has_no_receipt() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\nreceipt:r\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    broker.accept(&Accept::new("s"));
    assert_eq!(broker.written(), ["CONNECTED\nversion:1.2\nsession:s\nheart-beat:0,0\n\n\0"]);
    let mut broker = Broker::new(speaking(Dialect::SPEC));
    broker.feed("CONNECT\naccept-version:1.2\nreceipt:r\n\n\0");
    broker.told();
    assert_eq!(broker.written(), [error("missing host")]);
}

/// requirement HB-001
#[test]
fn a_heart_beat_that_is_no_pair_of_numbers_is_an_error() {
    for value in ["", "5", "-1,0", "1,2,3", "a,b", " 1,2", "18446744073709551616,0"] {
        let mut broker = Broker::new(ServerConfig::default());
        broker.feed(format!("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:{value}\n\n\0"));
        let closed =
            r#"CLOSED Protocol(InvalidHeader { command: Connect, name: "heart-beat" }) []"#;
        assert_eq!(broker.told(), [closed], "{value}");
        assert_eq!(broker.written(), [error("invalid heart-beat")]);
    }
}
