//! Heart-beats: who beats when, who is convicted when, and who never is.

use core::time::Duration;

use stomp_proto::client::AckMode;
use stomp_proto::codec::Limits;
use stomp_proto::{Beats, HeartBeat, HeartBeatTiming, Session};

use crate::broker::Answers;
use crate::harness::{NOTHING, Pair, Setup, V1_2, ms};
use crate::network::{Chunking, Dice};

const HOUR: Duration = ms(3_600_000);

/// Both ends beat, and want to be beaten to, at that interval.
fn beating(mut setup: Setup, interval: u32) -> Setup {
    let both = HeartBeat { can_send: interval, wants: interval };
    setup.client = setup.client.heart_beat(both);
    setup.accept = setup.accept.heart_beat(both);
    setup
}

/// Both ends beat every second; the client does it then.
fn with_beats(setup: Setup, beats: Beats) -> Setup {
    let mut setup = beating(setup, 1000);
    let timing = HeartBeatTiming { beats, ..HeartBeatTiming::default() };
    setup.client = setup.client.heart_beat_timing(timing);
    setup
}

fn every_second() -> impl Iterator<Item = Pair> {
    Setup::all().map(|setup| beating(setup, 1000).connected())
}

/// How late an octet may be: convicted is who is silent for two intervals and 500 ms, and a beat is
/// due a quarter early, or 5 s.
fn margin(interval: u64) -> u64 {
    2 * interval + 500 - (interval - (interval / 4).min(5000))
}

/// requirements HB-007, HB-010, HB-011
#[test]
fn a_peer_that_beats_as_agreed_is_never_convicted_however_late_its_beats_arrive() {
    for interval in [1000, 8000, 60_000] {
        for setup in Setup::all() {
            let mut pair = beating(setup, interval).connected();
            let interval = u64::from(interval);
            let mut dice = Dice::new(interval);
            while pair.now < HOUR {
                pair.up.latency = ms(dice.roll(margin(interval) - 1));
                pair.down.latency = ms(dice.roll(margin(interval) - 1));
                pair.run_for(ms(1 + dice.roll(interval)));
            }
            assert_eq!((pair.listener.told(), pair.broker.told()), (vec![], vec![]));
            for beats in [pair.up.written(), pair.down.written()] {
                assert!(beats.bytes().all(|octet| octet == b'\n'));
                assert!(beats.len() as u64 >= 3_600_000 / interval, "{} beats", beats.len());
            }
        }
    }
}

/// requirements HB-007, HB-008, HB-010
#[test]
fn beats_come_a_quarter_early_and_silence_is_convicted_after_two_and_a_half_seconds() {
    for mut pair in every_second() {
        pair.run_for(HOUR);
        pair.up.written();
        pair.down.written();
        pair.run_for(ms(7500));
        assert_eq!((pair.up.written(), pair.down.written()), ("\n".repeat(10), "\n".repeat(10)));
        let read = pair.down.read_count();
        while pair.down.read_count() == read {
            pair.run_for(ms(1));
        }
        pair.down.fall_silent();
        pair.run_for(ms(2499));
        assert_eq!(pair.listener.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.listener.told(), ["CLOSED PeerSilent"]);
        pair.drive();
        assert_eq!(pair.broker.told(), ["CLOSED Eof []"]);
    }
}

#[test]
fn a_peer_that_is_silent_from_the_start_is_convicted_too() {
    for mut pair in every_second() {
        assert_eq!(pair.now, ms(50), "CONNECT arrived at 20, CONNECTED at 50");
        pair.up.fall_silent();
        pair.down.fall_silent();
        pair.run_until(ms(2519));
        assert_eq!((pair.broker.told(), pair.listener.told()), (vec![], vec![]));
        pair.run_for(ms(1));
        assert_eq!(pair.broker.told(), ["CLOSED PeerSilent []"]);
        pair.run_for(ms(29));
        assert_eq!(pair.listener.told(), NOTHING);
        pair.run_for(ms(1));
        assert_eq!(pair.listener.told(), ["CLOSED PeerSilent"]);
        let written = (pair.up.written(), pair.down.written());
        pair.run_for(ms(4999));
        assert!(pair.server.is_finished() && !pair.client.is_finished(), "both linger for 5 s");
        pair.run_for(ms(1));
        assert!(pair.client.is_finished());
        assert_eq!(written, ("\n\n\n".to_owned(), "\n\n\n".to_owned()));
        assert_eq!((pair.up.written(), pair.down.written()), (String::new(), String::new()));
    }
}

/// requirements HB-004 to HB-006
#[test]
fn each_direction_is_agreed_by_itself() {
    for mut setup in Setup::all() {
        setup.client = setup.client.heart_beat(HeartBeat { can_send: 0, wants: 1000 });
        setup.accept = setup.accept.heart_beat(HeartBeat { can_send: 1000, wants: 1000 });
        let mut pair = setup.connected();
        pair.run_for(HOUR);
        assert_eq!(pair.up.written(), "", "a client that cannot is not expected to");
        assert_eq!(pair.down.written().len(), 4800);
        pair.up.fall_silent();
        pair.run_for(HOUR);
        assert_eq!(pair.broker.told(), NOTHING);
        pair.down.fall_silent();
        pair.run_for(ms(2500));
        assert_eq!(pair.listener.told(), ["CLOSED PeerSilent"]);
    }
}

/// requirement HB-009
#[test]
fn frames_take_the_place_of_beats_unless_beats_are_wanted_always() {
    for (beats, count) in [(Beats::WhenIdle, 0), (Beats::Always, 80)] {
        for setup in Setup::all() {
            let mut pair = with_beats(setup, beats).connected();
            for _ in 0..120 {
                pair.send("/q", "x");
                pair.run_for(ms(500));
            }
            let written = pair.up.written();
            let frame = "SEND\ndestination:/q\ncontent-length:1\n\nx\0";
            assert_eq!(written.matches(frame).count(), 120);
            assert_eq!(written.replace(frame, ""), "\n".repeat(count), "{beats:?}");
            assert_eq!(pair.broker.told(), vec!["SEND /q \"x\""; 120]);
            assert_eq!(pair.listener.told(), NOTHING);
        }
    }
}

#[test]
fn the_next_beat_is_counted_from_the_octets_that_left_and_not_from_when_that_was_noticed() {
    for mut pair in every_second() {
        let left = pair.now;
        pair.send("/q", "x");
        pair.up.write(pair.client.outbox(), left).expect("an open socket");
        pair.client.handle_timeout(left + ms(500));
        assert_eq!(pair.client.poll_timeout(), Some(left + ms(750)));
    }
}

/// requirement HB-013
#[test]
fn no_beat_lands_inside_a_frame() {
    for beats in [Beats::WhenIdle, Beats::Always] {
        for setup in Setup::all() {
            let mut pair = with_beats(setup, beats).connected();
            pair.up.capacity = 10;
            pair.send("/q", "x");
            pair.turn();
            pair.up.capacity = 0;
            pair.run_for(ms(2000));
            assert_eq!(pair.up.written(), "SEND\ndesti");
            pair.up.capacity = 1000;
            pair.run_for(ms(100));
            let rest = "nation:/q\ncontent-length:1\n\nx\0";
            // One, though two were due: they do not pile up.
            let behind = if beats == Beats::Always { "\n" } else { "" };
            assert_eq!(pair.up.written(), format!("{rest}{behind}"));
            pair.run_for(ms(750));
            assert_eq!(pair.up.written(), "\n", "from then on as ever");
            assert_eq!(pair.broker.told(), ["SEND /q \"x\""]);
        }
    }
}

/// requirement HB-009
#[test]
fn a_frame_that_trickles_is_a_sign_of_life() {
    for mut pair in every_second() {
        (pair.up.capacity, pair.up.latency) = (1, ms(2400));
        pair.send("/q", "x");
        pair.run_for(ms(60_000));
        assert_eq!((pair.broker.told(), pair.listener.told()), (vec![], vec![]));
        pair.run_for(ms(60_000));
        assert_eq!(pair.broker.told(), ["SEND /q \"x\""]);
    }
}

#[test]
fn who_does_not_listen_does_not_convict() {
    let mut limits = Limits::default();
    limits.max_inbox_len = 5000;
    for setup in Setup::all() {
        let mut setup = beating(setup, 1000);
        setup.client = setup.client.limits(limits.clone());
        setup.capacity = 5000;
        let mut pair = setup.connected();
        pair.subscribe("/q", AckMode::Auto);
        pair.drive();
        pair.listener.appetite = 0;
        let body = "x".repeat(1000);
        for _ in 0..30 {
            pair.broker.publish_all("/q", [&body]);
        }
        pair.run_for(HOUR);
        assert!(!pair.client.wants_read());
        assert_eq!((pair.listener.told().len(), pair.broker.told().len()), (0, 1));
        pair.listener.appetite = usize::MAX;
        pair.run_for(HOUR);
        assert_eq!(pair.listener.told(), ["MESSAGE #0 1000 octets"; 30]);
        assert_eq!(pair.broker.told(), NOTHING);
    }
}

/// requirement HB-018
#[test]
fn a_driver_that_oversleeps_beats_once_and_looks_before_it_judges() {
    for mut pair in every_second() {
        pair.send("/q", "up");
        pair.subscribe("/q", AckMode::Auto);
        pair.drive();
        pair.send("/q", "up again");
        pair.broker.publish_all("/q", ["down"]);
        pair.turn();
        pair.up.written();
        pair.down.written();
        pair.now += HOUR;
        pair.turn();
        assert_eq!(pair.listener.told(), ["MESSAGE #0 \"up\"", "MESSAGE #0 \"down\""]);
        assert_eq!(pair.up.written(), "\n");
        assert!(pair.down.written().ends_with("up again\0"), "which is as good as a beat");
        pair.run_for(HOUR);
        assert_eq!(pair.listener.told(), ["MESSAGE #0 \"up again\""]);
    }
}

/// requirements HB-012, HB-019
#[test]
fn nobody_beats_before_connected_nor_the_client_after_disconnect() {
    for setup in Setup::all() {
        let mut setup = beating(setup, 1000);
        let mut patient = Limits::default();
        (patient.connect_timeout, patient.disconnect_timeout) = (HOUR + HOUR, HOUR + HOUR);
        setup.client = setup.client.limits(patient);
        let mut pair = setup.start();
        pair.broker.answers = Answers::Later;
        pair.run_for(HOUR);
        assert!(pair.up.written().ends_with("heart-beat:1000,1000\n\n\0"));
        assert_eq!(pair.down.written(), "");
        pair.broker.confirm(&mut pair.server);
        pair.drive();
        pair.down.written();
        pair.client.disconnect(pair.now).unwrap();
        pair.run_for(HOUR);
        assert_eq!(pair.up.written(), "DISCONNECT\nreceipt:1\n\n\0");
        assert_eq!(pair.down.written().len(), 4800, "the server has not said its last");
        pair.broker.confirm(&mut pair.server);
        pair.drive();
        let version = pair.setup.version;
        let told = [format!("CONNECT {version}"), "DISCONNECT".into()];
        assert_eq!(pair.broker.told()[..2], told);
        assert_eq!(pair.listener.told()[1..], ["CLOSED Disconnected"]);
        assert_eq!(pair.down.written(), "RECEIPT\nreceipt-id:1\n\n\0");
        pair.run_for(HOUR);
        assert_eq!((pair.up.written(), pair.down.written()), (String::new(), String::new()));
    }
}

#[test]
fn the_times_may_be_chosen() {
    let timing = HeartBeatTiming {
        early_part: 10,
        early_most: ms(50),
        late_intervals: 1,
        late_extra: ms(300),
        beats: Beats::WhenIdle,
    };
    let mut setup = beating(Setup::new(V1_2, Chunking::Whole), 1000);
    setup.client = setup.client.heart_beat_timing(timing);
    let mut pair = setup.connected();
    pair.run_for(ms(949));
    assert_eq!(pair.up.written(), "");
    pair.run_for(ms(1));
    assert_eq!(pair.up.written(), "\n", "50 ms early at the most");
    pair.down.fall_silent();
    // The last beat arrived at 770 + 30, and 1300 are borne.
    pair.run_until(ms(800 + 1300 - 1));
    assert_eq!(pair.listener.told(), NOTHING);
    pair.run_for(ms(1));
    assert_eq!(pair.listener.told(), ["CLOSED PeerSilent"]);
}
