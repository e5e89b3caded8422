//! Heart-beats: what is agreed, when one goes out, when the client counts as silent.

use bytes::Buf;
use stomp_proto::server::{Accept, Delivery};
use stomp_proto::{Beats, HeartBeat, HeartBeatTiming, ServerConfig, Session};

use crate::harness::{Broker, NOTHING, V1_2, limited, ms, receipt};

const BEAT: [&str; 1] = ["\n"];
const SEND: &str = "SEND\ndestination:/q\n\nx\0";

/// A session with these `heart-beat` headers, from the client and from the server, CONNECTED
/// written at 0.
fn beating(config: ServerConfig, theirs: &str, ours: &str) -> Broker {
    let mut broker = Broker::new(config);
    broker.feed(format!("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:{theirs}\n\n\0"));
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    let ours = HeartBeat::parse(ours).unwrap();
    broker.accept(&Accept::new("s").heart_beat(ours));
    assert_eq!(broker.told(), NOTHING);
    let connected = format!("CONNECTED\nversion:1.2\nsession:s\nheart-beat:{ours}\n\n\0");
    assert_eq!(broker.written(), [connected]);
    broker
}

fn lenient(theirs: &str, ours: &str) -> Broker {
    beating(ServerConfig::default(), theirs, ours)
}

/// What is written when the clock stands there.
fn written_at(broker: &mut Broker, milliseconds: u64) -> Vec<String> {
    broker.at(milliseconds);
    assert_eq!(broker.told(), NOTHING);
    broker.written()
}

/// requirements HB-002 to HB-006, field case B68
#[test]
fn each_direction_is_the_larger_wish_or_nothing() {
    for (theirs, ours, outgoing, incoming) in [
        ("0,0", "5000,5000", None, None),
        ("0,5000", "5000,0", Some(5000), None),
        ("5000,0", "0,5000", None, Some(5000)),
        ("1000,5000", "10000,0", Some(10_000), None),
        ("1000,5000", "10000,3000", Some(10_000), Some(3000)),
        ("8000,4000", "1,5000", Some(4000), Some(8000)),
        ("4294967296,1", "1,1", Some(1), Some(4_294_967_295)),
    ] {
        let agreement = lenient(theirs, ours).server.heart_beat();
        assert_eq!(agreement.outgoing, outgoing.map(ms), "{theirs} {ours}");
        assert_eq!(agreement.incoming, incoming.map(ms), "{theirs} {ours}");
    }
    let broker = Broker::connected(V1_2);
    assert_eq!((broker.server.heart_beat().outgoing, broker.deadline()), (None, None));
}

/// requirements HB-007, HB-008, HB-018
#[test]
fn an_idle_server_beats_a_quarter_early() {
    let mut broker = lenient("0,1000", "1000,0");
    assert_eq!(broker.deadline(), Some(750));
    assert_eq!(written_at(&mut broker, 749), NOTHING);
    assert_eq!(written_at(&mut broker, 750), BEAT);
    assert_eq!(broker.deadline(), Some(1500));
    assert_eq!(written_at(&mut broker, 1500), BEAT);
    assert_eq!(written_at(&mut broker, 11_000), BEAT, "one for many that were missed");
    assert_eq!(broker.deadline(), Some(11_750));
}

#[test]
fn five_seconds_early_are_early_enough() {
    assert_eq!(lenient("0,60000", "1,0").deadline(), Some(55_000));
}

#[test]
fn a_frame_is_a_sign_of_life() {
    let mut broker = lenient("0,1000", "1000,0");
    broker.subscribe("0", "auto");
    broker.at(700);
    broker.deliver(0, 1);
    assert_eq!(written_at(&mut broker, 750), NOTHING);
    assert_eq!(broker.deadline(), Some(1450), "750 after it left");
    assert_eq!(written_at(&mut broker, 1450), BEAT);
}

#[test]
fn what_waits_to_be_written_is_one_when_it_leaves_and_not_before() {
    let mut broker = lenient("0,1000", "1000,0");
    broker.subscribe("0", "auto");
    broker.try_deliver(0, &Delivery::builder("/q").body("x").build(), 1).unwrap();
    broker.at(750);
    broker.at(1500);
    let written = broker.written();
    assert_eq!(written.len(), 1, "no beat behind it: {written:?}");
    assert!(written[0].starts_with("MESSAGE\n"));
    assert_eq!(written_at(&mut broker, 2250), BEAT);
}

/// requirement HB-013
#[test]
fn a_beat_never_lands_inside_a_frame() {
    for beats in [Beats::WhenIdle, Beats::Always] {
        let mut config = ServerConfig::default();
        config.timing.beats = beats;
        let mut broker = beating(config, "0,1000", "1000,0");
        broker.subscribe("0", "auto");
        let delivery = Delivery::builder("/q").body("x".repeat(5000)).build();
        broker.try_deliver(0, &delivery, 1).unwrap();
        let mut octets = broker.take(10);
        broker.at(750);
        octets += &broker.take(4000);
        broker.at(1500);
        let rest = broker.server.outbox().remaining();
        octets += &broker.take(rest);
        let body = "x".repeat(5000);
        let head = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/q\ncontent-length:5000\n\n";
        // One, though two were due: they do not pile up for a peer that does not read.
        let beat = if beats == Beats::Always { "\n" } else { "" };
        assert_eq!(octets, format!("{head}{body}\0{beat}"), "{beats:?}");
    }
}

/// requirement HB-012, field case B63
#[test]
fn there_is_no_beat_before_connected() {
    let mut broker = Broker::new(ServerConfig::default());
    broker.feed("CONNECT\naccept-version:1.2\nhost:h\nheart-beat:100,100\n\n\0");
    assert_eq!(broker.told(), ["CONNECT 1.2"]);
    for at in [100, 1000, 10_000, 100_000] {
        assert_eq!(written_at(&mut broker, at), NOTHING);
        assert_eq!(broker.deadline(), None);
    }
    broker.accept(&Accept::new("s").heart_beat(HeartBeat { can_send: 100, wants: 100 }));
    broker.at(100_010);
    broker.at(100_090);
    let written = broker.written();
    assert_eq!(written.len(), 1);
    assert!(written[0].starts_with("CONNECTED\n"), "and none while it waits to be written");
    assert_eq!(written_at(&mut broker, 100_165), BEAT);
}

#[test]
fn there_is_no_beat_after_the_last_frame() {
    let mut broker = lenient("0,1000", "1000,0");
    broker.feed("ACK\nid:nope\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
    assert_eq!(broker.written(), ["ERROR\nmessage:unknown ack id\n\n\0"]);
    assert_eq!(written_at(&mut broker, 4000), NOTHING);
    let mut broker = lenient("0,1000", "1000,0");
    broker.feed("DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    broker.confirm();
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    assert_eq!(broker.written(), [receipt("d")]);
    assert_eq!(written_at(&mut broker, 4000), NOTHING);
}

#[test]
fn a_session_that_has_ended_waits_for_the_end_of_the_stream_only() {
    let mut broker = lenient("1000,1000", "1000,1000");
    broker.feed("ACK\nid:nope\n\n\0");
    assert_eq!(broker.told(), ["CLOSED Protocol(UnknownDelivery) []"]);
    assert_eq!(broker.deadline(), Some(5000), "neither for a beat nor for silence");
    assert_eq!(broker.written().len(), 1);
    assert_eq!(written_at(&mut broker, 4999), NOTHING);
    assert_eq!(broker.deadline(), Some(5000));
}

/// field case B72
#[test]
fn a_server_may_beat_in_every_interval() {
    let mut config = ServerConfig::default();
    config.timing.beats = Beats::Always;
    let mut broker = beating(config, "0,1000", "1000,0");
    broker.subscribe("0", "auto");
    for turn in 1..=3 {
        broker.at(750 * turn - 50);
        broker.deliver(0, turn);
        assert_eq!(written_at(&mut broker, 750 * turn), BEAT, "although a frame just left");
    }
}

/// requirements HB-009 to HB-011
#[test]
fn a_client_is_silent_after_two_intervals_and_a_half_second() {
    let mut broker = lenient("1000,0", "0,1000");
    assert_eq!(broker.deadline(), Some(2500));
    assert_eq!(written_at(&mut broker, 2499), NOTHING);
    broker.at(2500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
    assert_eq!(broker.deadline(), Some(7500), "for the end of its stream");
    assert_eq!(broker.written(), NOTHING, "no ERROR: nobody is there to read it");
    assert!(broker.server.wants_shutdown());
}

#[test]
fn any_octet_is_a_sign_of_life_also_of_half_a_frame() {
    let mut broker = lenient("1000,0", "0,1000");
    for (at, octet) in (1..).map(|turn| turn * 2000).zip(["\n", "S", "E", "N", "D"]) {
        broker.at(at);
        broker.feed(octet);
        assert_eq!(broker.told(), NOTHING);
        assert_eq!(broker.deadline(), Some(u128::from(at) + 2500));
    }
    broker.at(12_500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
}

#[test]
fn what_arrived_before_a_late_look_counts() {
    let mut broker = lenient("1000,0", "0,1000");
    broker.feed(SEND);
    broker.at(60_000);
    assert_eq!(broker.told(), ["SEND /q \"x\""]);
    assert_eq!(broker.deadline(), Some(62_500));
}

#[test]
fn a_server_that_does_not_listen_hears_no_silence() {
    let config = limited(|limits| limits.max_inbox_len = 10);
    let mut broker = beating(config, "1000,0", "0,1000");
    broker.feed(SEND);
    assert!(!broker.server.wants_read());
    for at in [3000, 6000, 9000] {
        broker.at(at);
        assert!(!broker.server.wants_shutdown());
        assert_eq!(broker.deadline(), Some(u128::from(at) + 2500));
    }
    assert_eq!(broker.told(), ["SEND /q \"x\""]);
    assert!(broker.server.wants_read());
    broker.at(11_500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"], "now it listens");
}

/// A stream that has ended is not a silent one, however late what came with it is looked at.
#[test]
fn the_end_of_the_stream_is_not_taken_for_silence() {
    let mut broker = lenient("1000,0", "0,1000");
    broker.feed(SEND);
    broker.server.handle_eof();
    for at in [100, 2600, 60_000] {
        broker.at(at);
    }
    assert_eq!(broker.deadline(), None);
    assert_eq!(broker.told(), ["SEND /q \"x\"", "CLOSED Eof []"]);
}

/// What is queued between the deadline and the next poll fills the outbox: the server does not read
/// on, but the silence was before.
#[test]
fn a_silence_that_was_noticed_counts_though_the_outbox_is_full_now() {
    let config = limited(|limits| limits.max_outbox_len = 100);
    let mut broker = beating(config, "1000,0", "0,1000");
    broker.subscribe("0", "auto");
    broker.at(2500);
    let delivery = Delivery::builder("/q").body("x".repeat(200)).build();
    broker.try_deliver(0, &delivery, 1).unwrap();
    assert!(!broker.server.has_room());
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
}

#[test]
fn what_the_server_sends_says_nothing_about_the_client_nor_the_other_way_round() {
    let mut broker = lenient("1000,1000", "1000,1000");
    broker.subscribe("0", "auto");
    for at in [700, 1400, 2100] {
        broker.at(at);
        broker.deliver(0, at);
    }
    broker.at(2500);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
    let mut broker = lenient("1000,1000", "1000,1000");
    broker.at(700);
    broker.feed("\n");
    assert_eq!(written_at(&mut broker, 750), BEAT);
}

/// Once it has said DISCONNECT a client sends no more beats, however long the application takes.
#[test]
fn a_client_that_has_left_is_not_silent() {
    let mut broker = lenient("1000,1000", "1000,1000");
    broker.feed("DISCONNECT\nreceipt:d\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    for at in [750, 1500, 2500, 5000, 60_000] {
        let written = written_at(&mut broker, at);
        assert!(written.is_empty() || written == BEAT, "the client still watches: {written:?}");
    }
    broker.confirm();
    assert_eq!(broker.written(), [receipt("d")]);
    assert_eq!(broker.told(), ["CLOSED Disconnected []"]);
    let mut broker = lenient("1000,0", "0,1000");
    broker.feed("DISCONNECT\n\n\0");
    assert_eq!(broker.told(), ["DISCONNECT"]);
    assert_eq!(broker.deadline(), None, "nothing to wake up for");
}

/// requirement HB-015, field case B66
#[test]
fn beats_that_were_not_agreed_do_no_harm() {
    let mut broker = Broker::connected(V1_2);
    broker.feed("\n\r\n\n");
    assert_eq!((broker.told(), broker.written(), broker.deadline()), (vec![], vec![], None));
    broker.feed(SEND);
    assert_eq!(broker.told(), ["SEND /q \"x\""]);
}

#[test]
fn the_margins_are_the_embedders() {
    let mut config = ServerConfig::default();
    config.timing = HeartBeatTiming {
        early_part: 2,
        early_most: ms(100),
        late_intervals: 3,
        late_extra: ms(0),
        beats: Beats::WhenIdle,
    };
    let broker = beating(config.clone(), "0,1000", "1000,0");
    assert_eq!(broker.deadline(), Some(900));
    let broker = beating(config.clone(), "0,100", "1,0");
    assert_eq!(broker.deadline(), Some(50));
    let broker = beating(config, "1000,0", "0,1");
    assert_eq!(broker.deadline(), Some(3000));
}

#[test]
fn without_an_extra_a_client_is_silent_at_its_interval() {
    let mut config = ServerConfig::default();
    config.timing.late_intervals = 1;
    config.timing.late_extra = ms(0);
    let mut broker = beating(config, "1000,0", "0,1000");
    assert_eq!(written_at(&mut broker, 999), NOTHING);
    assert_eq!(broker.deadline(), Some(1000));
    broker.at(1000);
    assert_eq!(broker.told(), ["CLOSED PeerSilent []"]);
}

/// Every driver is late, if only by a little.
#[test]
fn a_driver_that_is_always_late_finds_out_all_the_same() {
    for extra in [0, 1, 500] {
        let mut config = ServerConfig::default();
        config.timing.late_extra = ms(extra);
        let mut broker = beating(config, "1000,0", "0,1000");
        for turn in 1..=2 {
            let deadline = u64::try_from(broker.deadline().unwrap()).unwrap();
            broker.at(deadline + extra + 1);
            if broker.told() == ["CLOSED PeerSilent []"] {
                break;
            }
            assert!(turn == 1, "late once more, by {extra}");
            assert!(broker.deadline() > Some(broker.now.as_millis()), "and no later deadline");
        }
        assert!(broker.server.wants_shutdown());
    }
}

#[test]
fn a_deadline_that_was_acted_on_leaves_a_later_one() {
    for early_part in [0, 1, 2, 4, u32::MAX] {
        for beats in [Beats::WhenIdle, Beats::Always] {
            let mut config = ServerConfig::default();
            config.timing.early_part = early_part;
            config.timing.beats = beats;
            let mut broker = beating(config, "1,1", "1,1");
            let mut last = ms(0);
            while let Some(deadline) = broker.server.poll_timeout() {
                assert!(deadline > last, "{deadline:?} after {last:?}, a part of {early_part}");
                broker.now = deadline;
                broker.server.handle_timeout(deadline);
                broker.told();
                broker.written();
                last = deadline;
            }
            assert!(broker.server.is_finished(), "silent, and then its linger was over");
        }
    }
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut broker = lenient("0,1000", "1000,0");
    assert_eq!(written_at(&mut broker, 750), BEAT);
    assert_eq!(written_at(&mut broker, 10), NOTHING);
    assert_eq!(broker.deadline(), Some(1500));
}
