//! Field cases about CONNECT and heart-beats.

use stomp_proto::server::Accept;
use stomp_proto::{HeartBeat, ServerConfig, Session, VersionSet};

use crate::harness::{Broker, NOTHING, UNSUPPORTED_VERSION, V1_1, V1_2, error, ms};

fn opened(connect: &str) -> Broker {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed(connect);
    broker
}

/// Answered with that `heart-beat`; CONNECTED, which is written at 0.
fn beating(connect: &str, ours: HeartBeat) -> (Broker, String) {
    let mut broker = opened(connect);
    assert_eq!(broker.told().len(), 1);
    broker.accept(&Accept::new("s").heart_beat(ours));
    assert_eq!(broker.told(), NOTHING);
    let connected = broker.written().remove(0);
    (broker, connected)
}

/// B54: CONNECT without accept-version
#[test]
fn b54_a_plain_1_0_client_is_let_in() {
    let mut broker = opened("CONNECT\nlogin:guest\npasscode:guest\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.0"]);
    broker.accept(&Accept::new("s").heart_beat(HeartBeat { can_send: 1000, wants: 1000 }));
    assert_eq!(broker.written(), ["CONNECTED\nversion:1.0\nsession:s\n\n\0"]);
    assert_eq!((broker.told(), broker.deadline()), (vec![], None), "no heart-beats");
    broker.feed("SEND\ndestination:/q\\n\n\nx\0");
    assert_eq!(broker.told(), ["SEND /q\\n \"x\""], "no escapes");

    let mut config = ServerConfig::default();
    config.versions = VersionSet::of(&[V1_1, V1_2]);
    let mut broker = Broker::new(config);
    broker.feed("CONNECT\nlogin:guest\npasscode:guest\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(NoCommonVersion({V1_0})) []"]);
    assert!(broker.written()[0].starts_with("ERROR\nversion:1.1,1.2\nmessage:"));
    assert!(broker.server.wants_shutdown());
}

/// B57: no common version
#[test]
fn b57_the_error_lists_the_versions_and_the_connection_ends() {
    let mut broker = opened("CONNECT\naccept-version:2.0,2.1\nhost:/\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(NoCommonVersion({})) []"]);
    assert_eq!(broker.written(), [UNSUPPORTED_VERSION]);
    assert!(broker.server.wants_shutdown());
}

/// B59: misspelt negotiation header
#[test]
fn b59_what_is_not_accept_version_asks_for_nothing() {
    for header in ["accepted-version", "version", "Accept-Version"] {
        let mut broker = opened(&format!("CONNECT\n{header}:1.2\nhost:/\n\n\0"));
        assert_eq!(broker.told(), ["CONNECT 1.0"]);
        broker.accept(&Accept::new("s"));
        assert_eq!(broker.written(), ["CONNECTED\nversion:1.0\nsession:s\n\n\0"]);
    }
}

/// B61: STOMP command as alias of CONNECT
#[test]
fn b61_stomp_is_handled_as_connect_is() {
    let head = "accept-version:1.1,1.2\nhost:/\npasscode:a\\tb\n\n\0";
    let answers = ["CONNECT", "STOMP"].map(|command| {
        let mut broker = opened(&format!("{command}\n{head}"));
        assert_eq!(broker.told(), [format!("{command} 1.2")], "no escape in it is undefined");
        broker.accept(&Accept::new("s"));
        broker.written()
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], ["CONNECTED\nversion:1.2\nsession:s\nheart-beat:0,0\n\n\0"]);
}

/// B62: frame before CONNECT, or a second CONNECT
#[test]
fn b62_connect_comes_first_and_once() {
    for (frame, command) in [
        ("SEND\ndestination:/queue/foo\n\nhello\0", "Send"),
        ("DISCONNECT\n\n\0", "Disconnect"),
        ("MESSAGE\ndestination:/q\nmessage-id:1\n\nx\0", "Message"),
    ] {
        let mut broker = opened(frame);
        assert_eq!(broker.told(), [format!("CLOSED Protocol(NotConnected({command})) []")]);
        assert_eq!(broker.written(), [error("not connected")]);
        assert!(broker.server.wants_shutdown());
    }
    let connect = "CONNECT\naccept-version:1.2\nhost:/\n\n\0";
    let mut broker = opened(&connect.repeat(2));
    assert_eq!(broker.told(), ["CONNECT 1.2"], "one login");
    broker.accept(&Accept::new("s"));
    assert_eq!(broker.told(), ["CLOSED Protocol(UnexpectedFrame(Connect)) []"]);
    assert_eq!(broker.written()[1..], [error("already connected")]);
    let mut broker = opened(&format!("{connect}SEND\ndestination:/q\n\nx\0"));
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    broker.accept(&Accept::new("s"));
    assert_eq!(broker.told(), ["SEND /q \"x\""], "pipelined frames are fine");
}

/// B63: EOL before CONNECTED
#[test]
fn b63_the_first_octet_of_the_server_is_that_of_connected() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:10,10\n\n\0";
    let mut broker = opened(connect);
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    broker.at(5000);
    assert_eq!(broker.written(), NOTHING);
    broker.accept(&Accept::new("s").heart_beat(HeartBeat { can_send: 10, wants: 0 }));
    broker.at(9000);
    broker.at(9999);
    assert_eq!(broker.take(1), "C");
}

/// B64: session and server are optional; ours always sends `session`, `server` only on request
#[test]
fn b64_the_name_of_the_server_can_be_hidden() {
    let mut broker = opened("CONNECT\naccept-version:1.1\nhost:/\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.1"]);
    broker.accept(&Accept::new("s"));
    assert_eq!(broker.written(), ["CONNECTED\nversion:1.1\nsession:s\nheart-beat:0,0\n\n\0"]);
}

/// B65: silent or slow peer before CONNECT
#[test]
fn b65_the_time_for_connect_is_that_of_the_whole_frame() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\n\n\0";
    let mut silent = opened("");
    silent.at(10_000);
    assert_eq!((silent.told(), silent.written()), (vec!["CLOSED TimedOut []".into()], vec![]));

    let mut slow = opened("");
    for (number, octet) in connect.as_bytes().iter().enumerate().take(10) {
        slow.at(1000 * number as u64);
        slow.feed([*octet]);
        assert_eq!(slow.told(), NOTHING);
        assert_eq!(slow.deadline(), Some(10_000), "not put off");
    }
    slow.at(10_000);
    assert_eq!(slow.told(), ["CLOSED TimedOut []"]);

    let mut busy = opened(connect);
    busy.at(20_000);
    assert_eq!(busy.told(), ["CONNECT 1.2"], "it came in time, it is we who were late");
    busy.at(90_000);
    assert_eq!((busy.told(), busy.deadline()), (vec![], None));
}

/// B66: missing header means 0,0
#[test]
fn b66_no_heart_beat_header_no_heart_beats() {
    let ours = HeartBeat { can_send: 1000, wants: 1000 };
    let (mut broker, connected) = beating("CONNECT\naccept-version:1.2\nhost:/\n\n\0", ours);
    assert_eq!(connected, "CONNECTED\nversion:1.2\nsession:s\nheart-beat:1000,1000\n\n\0");
    let agreement = broker.server.heart_beat();
    assert_eq!((agreement.outgoing, agreement.incoming), (None, None));
    broker.at(1_000_000);
    assert_eq!((broker.told(), broker.written(), broker.deadline()), (vec![], vec![], None));
}

/// B68: directions mixed up, or no maximum taken
#[test]
fn b68_each_direction_has_its_own_numbers() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:1000,5000\n\n\0";
    for (wants, incoming) in [(0, None), (3000, Some(ms(3000)))] {
        let (broker, connected) = beating(connect, HeartBeat { can_send: 10_000, wants });
        assert!(connected.contains(&format!("\nheart-beat:10000,{wants}\n")), "{connected}");
        let agreement = broker.server.heart_beat();
        assert_eq!((agreement.outgoing, agreement.incoming), (Some(ms(10_000)), incoming));
    }
}

/// B70: receiver without an error margin; sender too late
#[test]
fn b70_a_late_beat_is_forgiven_and_ours_are_early() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:1000,1000\n\n\0";
    let (mut broker, _) = beating(connect, HeartBeat { can_send: 1000, wants: 1000 });
    for at in [1005, 2010, 4000, 6490] {
        broker.at(at);
        broker.feed("\n");
        assert_eq!(broker.told(), NOTHING, "{at}");
        broker.written();
    }
    let (mut broker, _) = beating(connect, HeartBeat { can_send: 1000, wants: 0 });
    broker.at(u64::try_from(broker.deadline().unwrap()).unwrap());
    assert_eq!((broker.now, broker.written()), (ms(750), vec!["\n".to_owned()]));
}

/// B71: what counts as activity
#[test]
fn b71_half_a_frame_is_activity_and_the_clocks_are_two() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:1000,1000\n\n\0";
    let (mut broker, _) = beating(connect, HeartBeat { can_send: 1000, wants: 1000 });
    broker.feed("SEND\ndestination:/q\ncontent-length:100000\n\n");
    let mut beats = 0;
    for turn in 1..=20 {
        broker.feed("x");
        broker.at(600 * turn);
        assert_eq!(broker.told(), NOTHING);
        beats += broker.written().len();
    }
    assert!(beats >= 8, "{beats} in 12 s: what comes in puts off nothing that goes out");
    broker.at(14_499);
    assert_eq!(broker.told(), NOTHING);
    broker.at(14_500);
    let told = broker.told();
    assert_eq!(told, ["CLOSED PeerSilent []"], "12,000 + 2,500: what goes out is no answer");
}

/// B76: server rounds or clamps the interval
#[test]
fn b76_the_server_reckons_with_the_numbers_it_announced() {
    let connect = "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:1999,1500\n\n\0";
    let (broker, connected) = beating(connect, HeartBeat { can_send: 1000, wants: 1000 });
    assert_eq!(connected, "CONNECTED\nversion:1.2\nsession:s\nheart-beat:1000,1000\n\n\0");
    let agreement = broker.server.heart_beat();
    assert_eq!((agreement.outgoing, agreement.incoming), (Some(ms(1500)), Some(ms(1999))));
    assert_eq!(broker.deadline(), Some(1125), "1500 less a quarter");
}
