//! The handshake: versions, credentials, heart-beats, refusals, and who waits for how long.

use stomp_proto::client::{ConnectCommand, SendRequest, VersionMismatch};
use stomp_proto::codec::Limits;
use stomp_proto::{ClientConfig, HeartBeat, Session, UsageError, Version, VersionSet};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_0, V1_1, V1_2, ms};
use crate::network::Chunking;

fn whole(version: Version) -> Setup {
    Setup::new(version, Chunking::Whole)
}

/// Every set of versions but the empty one.
fn sets() -> impl Iterator<Item = VersionSet> {
    (1..8_u8).map(|bits| {
        let versions = Version::ALL.into_iter().enumerate();
        versions.filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, version)| version).collect()
    })
}

/// requirements C-018 to C-021, H-023
#[test]
fn the_highest_version_in_common_is_spoken_or_none() {
    for (offer, spoken) in sets().flat_map(|offer| sets().map(move |spoken| (offer, spoken))) {
        for mut setup in Setup::of(V1_2) {
            setup.client = ClientConfig::new("h").versions(offer);
            setup.server.versions = spoken;
            let mut pair = setup.start();
            pair.drive();
            let has_both =
                |version: &Version| offer.contains(*version) && spoken.contains(*version);
            let common = Version::ALL.into_iter().rfind(has_both);
            assert_eq!(pair.client.version(), common, "{offer} and {spoken}");
            assert_eq!(pair.server.version(), common);
            if let Some(version) = common {
                assert_eq!(pair.broker.told(), [format!("CONNECT {version}")]);
                assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);
                continue;
            }
            let closed = format!("CLOSED Protocol(NoCommonVersion({offer:?})) []");
            assert_eq!(pair.broker.told(), [closed]);
            assert_eq!(pair.listener.told(), ["CLOSED by ERROR: unsupported version"]);
            let body =
                format!("Supported versions are {}\n", spoken.to_string().replace(',', ", "));
            let head = format!("ERROR\nversion:{spoken}\nmessage:unsupported version\n");
            let body_head = format!("content-type:text/plain\ncontent-length:{}\n", body.len());
            assert_eq!(pair.down.written(), format!("{head}{body_head}\n{body}\0"));
            assert!(pair.client.is_finished() && pair.server.is_finished());
        }
    }
}

/// requirements C-004 to C-010, C-014, C-036
#[test]
fn both_ends_learn_what_the_other_says_about_itself() {
    for mut setup in Setup::all() {
        let version = setup.version;
        setup.client = setup.client.login("alice").passcode("hu:sh").header("client-id", "c1");
        setup.accept = setup.accept.server("broker/1.0 (x)").header("user-name", "al:ice");
        let mut pair = setup.connected();
        let client = pair.broker.client.take().unwrap();
        assert_eq!(client.host().as_deref(), Some("h").filter(|_| version != V1_0));
        assert_eq!(client.login().as_deref(), Some("alice"));
        assert_eq!(client.passcode().as_deref(), Some("hu:sh"));
        assert_eq!(client.headers().get("client-id").as_deref(), Some("c1"));
        let connected = pair.listener.connected.take().unwrap();
        assert_eq!(connected.session().as_deref(), Some("s1"));
        assert_eq!(connected.server().as_deref(), Some("broker/1.0 (x)"));
        assert_eq!(connected.headers().get("user-name").as_deref(), Some("al:ice"));
    }
}

/// requirements C-011, C-012
#[test]
fn stomp_opens_a_session_as_connect_does() {
    for mut setup in Setup::all() {
        let version = setup.version;
        setup.client = setup.client.connect_command(ConnectCommand::Stomp);
        let mut pair = setup.start();
        pair.drive();
        let host = if version == V1_0 { "" } else { "host:h\n" };
        assert_eq!(pair.up.written(), format!("STOMP\naccept-version:{version}\n{host}\n\0"));
        assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);
    }
}

/// requirements H-015, H-017
#[test]
fn a_passcode_goes_as_it_is_and_escaped_on_request() {
    for (escape, arrives) in [(false, "a\\b:c"), (true, "a\\\\b\\cc")] {
        let mut setup = whole(V1_2);
        setup.client = setup.client.passcode("a\\b:c");
        if escape {
            setup.client = setup.client.escape_connect();
        }
        let pair = setup.connected();
        let client = pair.broker.client.as_ref().unwrap();
        assert_eq!(client.passcode().as_deref(), Some(arrives), "nobody unescapes it here");
    }
}

/// requirement H-019
#[test]
fn blanks_before_a_login_are_lost_on_1_0_alone() {
    for (spoken, arrives) in [(V1_0, "alice "), (V1_1, "  alice "), (V1_2, "  alice ")] {
        let mut setup = whole(spoken);
        setup.client = ClientConfig::new("h").login("  alice ");
        setup.server.versions = spoken.into();
        let pair = setup.connected();
        let client = pair.broker.client.as_ref().unwrap();
        assert_eq!(client.login().as_deref(), Some(arrives), "{spoken}");
    }
}

/// requirements C-033, C-034
#[test]
fn nothing_is_asked_for_before_the_answer_has_come() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.start();
        pair.broker.answers = Answers::Later;
        let request = SendRequest::new("/q").body("x");
        for _ in 0..2 {
            assert_eq!(pair.client.send(&request), Err(UsageError::NotConnected));
            assert_eq!(pair.client.begin().unwrap_err(), UsageError::NotConnected);
            assert_eq!(pair.client.disconnect(pair.now), Err(UsageError::NotConnected));
            pair.drive();
        }
        assert_eq!(pair.broker.told(), [format!("CONNECT {version}")], "and nothing else");
        pair.broker.confirm(&mut pair.server);
        pair.drive();
        assert_eq!(pair.client.send(&request), Ok(()));
        pair.drive();
        assert_eq!(pair.broker.told(), ["SEND /q \"x\""]);
    }
}

/// requirements C-016, C-026
#[test]
fn a_refused_login_is_an_error_and_the_end() {
    for setup in Setup::all() {
        let version = setup.version;
        let mut pair = setup.start();
        pair.broker.answers = Answers::Failing("access: refused");
        pair.drive();
        let told = [format!("CONNECT {version}"), "CLOSED Failed []".to_owned()];
        assert_eq!(pair.broker.told(), told);
        assert_eq!(pair.listener.told(), ["CLOSED by ERROR: access  refused"]);
        assert_eq!(pair.down.written(), "ERROR\nmessage:access  refused\n\n\0");
        assert!(pair.client.is_finished() && pair.server.is_finished());
        assert_eq!(pair.client.send(&SendRequest::new("/q")), Err(UsageError::Closed));
    }
}

#[test]
fn a_broker_may_think_about_a_login_as_long_as_the_client_waits() {
    let mut setup = whole(V1_2);
    let mut patient = Limits::default();
    patient.connect_timeout = ms(3_600_000);
    setup.client = setup.client.limits(patient);
    let mut pair = setup.start();
    pair.broker.answers = Answers::Later;
    pair.run_for(ms(3_599_000));
    pair.broker.confirm(&mut pair.server);
    pair.drive();
    assert_eq!(pair.listener.told(), ["CONNECTED 1.2"]);
}

/// requirement C-035
#[test]
fn a_client_that_gets_no_answer_goes() {
    for setup in Setup::all() {
        let mut pair = setup.start();
        pair.broker.answers = Answers::Later;
        pair.run_for(ms(9_999));
        assert_eq!(pair.listener.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.listener.told(), ["CLOSED TimedOut"]);
        pair.broker.told();
        pair.drive();
        assert_eq!(pair.broker.told(), NOTHING, "nothing is read before the answer");
        pair.broker.confirm(&mut pair.server);
        pair.drive();
        assert_eq!(pair.broker.told(), ["CLOSED Eof []"], "which nobody waits for any more");
        assert_eq!(pair.listener.told(), NOTHING);
        assert!(pair.client.is_finished() && pair.server.is_finished());
    }
}

/// requirement C-035
#[test]
fn a_client_whose_connect_does_not_come_is_shown_out() {
    for setup in Setup::all() {
        let mut pair = setup.start();
        pair.up.fall_silent();
        pair.run_for(ms(9_999));
        assert_eq!(pair.broker.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.broker.told(), ["CLOSED TimedOut []"]);
        assert!(pair.server.wants_shutdown());
        pair.run_for(ms(4_999));
        assert!(!pair.server.is_finished(), "the client has its time to end its stream");
        pair.run_for(ms(1));
        assert!(pair.server.is_finished());
        assert_eq!(pair.down.written(), "", "without a word");
    }
}

#[test]
fn a_connect_that_trickles_is_not_waited_for_longer() {
    let mut setup = whole(V1_2);
    (setup.latencies, setup.capacity) = ([ms(500), ms(500)], 1);
    let mut pair = setup.start();
    pair.run_for(ms(9_999));
    assert_eq!(pair.up.read_count(), 19, "an octet every half second");
    assert_eq!(pair.broker.told(), NOTHING);
    pair.run_for(ms(1));
    assert_eq!(pair.broker.told(), ["CLOSED TimedOut []"]);
    assert_eq!(pair.listener.told(), ["CLOSED TimedOut"]);
}

/// requirements W-005, W-013
#[test]
fn a_subprotocol_that_one_end_knows_of_settles_the_version() {
    for version in Version::ALL {
        let mut setup = whole(version);
        setup.client = ClientConfig::new("h").subprotocol(version);
        let mut pair = setup.start();
        pair.drive();
        let host = if version == V1_0 { "" } else { "host:h\n" };
        assert_eq!(pair.up.written(), format!("CONNECT\naccept-version:{version}\n{host}\n\0"));
        assert_eq!(pair.listener.told(), [format!("CONNECTED {version}")]);

        let mut setup = whole(version);
        setup.client = ClientConfig::new("h");
        setup.server.subprotocol = Some(version);
        setup.connected();
    }
}

/// requirement W-006
#[test]
fn a_broker_that_ignores_the_subprotocol_is_left_or_borne() {
    for (mismatch, told) in [
        (
            VersionMismatch::Fatal,
            "CLOSED Protocol(SubprotocolMismatch { subprotocol: V1_1, version: V1_2 })",
        ),
        (VersionMismatch::Allowed, "CONNECTED 1.2"),
    ] {
        let mut setup = whole(V1_2);
        setup.client = ClientConfig::new("h").subprotocol(V1_1).version_mismatch(mismatch);
        let mut pair = setup.start();
        pair.broker.answers = Answers::Later;
        pair.drive();
        pair.down.inject(b"CONNECTED\nversion:1.2\n\n\0", pair.now);
        pair.drive();
        assert_eq!(pair.listener.told(), [told]);
    }
}

/// requirements HB-002 to HB-006, HB-014
#[test]
fn both_ends_agree_on_the_same_heart_beats() {
    let offers = [(0, 0), (500, 0), (0, 700), (900, 800)];
    let offers = offers.map(|(can_send, wants)| HeartBeat { can_send, wants });
    let slower = |one: u32, other: u32| (one != 0 && other != 0).then(|| ms(one.max(other).into()));
    for (ours, theirs) in offers.into_iter().flat_map(|ours| offers.map(|theirs| (ours, theirs))) {
        for mut setup in Setup::all() {
            setup.client = setup.client.heart_beat(ours);
            setup.accept = setup.accept.heart_beat(theirs);
            let Pair { client, server, .. } = &setup.connected();
            let (up, down) = (client.heart_beat().outgoing, client.heart_beat().incoming);
            assert_eq!(up, slower(ours.can_send, theirs.wants), "{ours} and {theirs}");
            assert_eq!(down, slower(theirs.can_send, ours.wants), "{ours} and {theirs}");
            assert_eq!((server.heart_beat().incoming, server.heart_beat().outgoing), (up, down));
        }
    }
}
