//! Heart-beats: agreed, sent in time, missed.

use bytes::Buf;
use stomp_proto::client::{AckMode, SendRequest};
use stomp_proto::{Beats, ClientConfig, HeartBeat, HeartBeatTiming, Session};

use crate::harness::{App, NOTHING, V1_0, V1_2, config, limited, message, ms};

fn offer(can_send: u32, wants: u32) -> ClientConfig {
    config().heart_beat(HeartBeat { can_send, wants })
}

/// A session of 1.2 whose ends said so about heart-beats, at 0 ms.
fn agreed(ours: (u32, u32), theirs: (u32, u32)) -> App {
    agreed_with(offer(ours.0, ours.1), theirs)
}

fn agreed_with(config: ClientConfig, theirs: (u32, u32)) -> App {
    let mut app = App::new(config);
    app.feed(format!("CONNECTED\nversion:1.2\nheart-beat:{},{}\n\n\0", theirs.0, theirs.1));
    assert_eq!(app.told(), ["CONNECTED 1.2"]);
    app
}

fn intervals(app: &App) -> (Option<u128>, Option<u128>) {
    let agreement = app.client.heart_beat();
    let millis = |interval: core::time::Duration| interval.as_millis();
    (agreement.outgoing.map(millis), agreement.incoming.map(millis))
}

/// requirements HB-004 to HB-006, field cases B66, B68, B76
#[test]
fn each_direction_takes_the_larger_number_or_none() {
    for (ours, theirs, expected) in [
        ((1000, 5000), (10_000, 0), (None, Some(10_000))),
        ((1000, 5000), (10_000, 3000), (Some(3000), Some(10_000))),
        ((0, 0), (1000, 1000), (None, None)),
        ((1000, 4000), (2000, 3000), (Some(3000), Some(4000))),
        ((1999, 1500), (1000, 1000), (Some(1999), Some(1500))),
    ] {
        assert_eq!(intervals(&agreed(ours, theirs)), expected);
    }
    let mut app = App::new(offer(1000, 1000));
    app.hears("CONNECTED\nversion:1.2\n\n\0");
    assert_eq!(intervals(&app), (None, None), "no header is 0,0");
    assert_eq!(app.deadline(), None);
}

/// requirement HB-014
#[test]
fn on_1_0_they_are_agreed_on_if_the_broker_answers_them() {
    let mut app = App::new(offer(1000, 1000));
    app.hears("CONNECTED\nheart-beat:0,30000\n\n\0");
    assert_eq!((app.client.version(), intervals(&app)), (Some(V1_0), (Some(30_000), None)));
    app.at(25_000);
    assert_eq!(app.written(), ["\n"]);
}

/// TR-12
#[test]
fn beats_are_sent_early_and_counted_from_the_last_octet_that_left() {
    let mut app = agreed((1000, 4000), (2000, 3000));
    assert_eq!(app.deadline(), Some(2250));
    app.at(2249);
    assert_eq!(app.written(), NOTHING);
    app.at(2250);
    assert_eq!(app.written(), ["\n"]);
    assert_eq!(app.told(), NOTHING);
    assert_eq!(app.deadline(), Some(4500));
    app.at(4000);
    app.client.send(&SendRequest::new("/q").body("a")).unwrap();
    assert_eq!(app.written(), ["SEND\ndestination:/q\ncontent-length:1\n\na\0"]);
    app.at(4000);
    assert_eq!(app.deadline(), Some(6250));
    app.at(8499);
    assert_eq!(app.told(), NOTHING);
    app.at(8500);
    assert_eq!(app.told(), ["CLOSED peer fell silent"]);
    assert_eq!(app.deadline(), Some(13_500), "for the broker to end its stream");
}

/// requirement HB-012
#[test]
fn they_begin_with_the_event_and_not_with_the_next_call() {
    let mut app = App::new(offer(1000, 1000));
    app.feed("CONNECTED\nversion:1.2\nheart-beat:1000,1000\n\n\0");
    assert_eq!(app.deadline(), Some(10_000), "for CONNECTED");
    assert!(app.event().is_some());
    assert_eq!(app.deadline(), Some(750));
}

/// TR-13, requirement HB-013
#[test]
fn no_beat_lands_inside_a_frame() {
    let mut app = agreed((1000, 0), (0, 1000));
    app.client.send(&SendRequest::new("/q").body("a")).unwrap();
    app.client.outbox().advance(10);
    app.at(100);
    assert_eq!(app.deadline(), Some(750), "counted from when it can have left at the earliest");
    app.at(750);
    app.at(1500);
    let rest = "nation:/q\ncontent-length:1\n\na\0";
    assert_eq!(app.written(), [rest]);
    app.at(1600);
    assert_eq!(app.deadline(), Some(2250));
    app.at(2250);
    assert_eq!(app.written(), ["\n"]);
}

/// requirement HB-018
#[test]
fn several_missed_intervals_make_one_beat() {
    let mut app = agreed((1000, 0), (0, 1000));
    app.at(10_000);
    app.at(20_000);
    assert_eq!(app.written(), ["\n"]);
}

/// requirements HB-009 to HB-011, field cases B70, B71
#[test]
fn the_peer_is_silent_when_no_octet_came_for_two_intervals_and_a_half_second() {
    let mut app = agreed((0, 1000), (1000, 0));
    assert_eq!(app.deadline(), Some(2500));
    for at in [1000, 2000, 3990, 6400] {
        app.feed("\n");
        app.at(at);
        assert_eq!(app.told(), NOTHING);
    }
    let trickled = message("0", "1");
    for (index, octet) in trickled.bytes().enumerate() {
        app.at(6400 + index as u64 * 600);
        app.feed([octet]);
        let whole = index + 1 == trickled.len();
        assert_eq!(app.told().is_empty(), !whole, "any octet is a sign of life");
    }
    let last = 6400 + (trickled.len() as u64 - 1) * 600;
    assert_eq!(app.deadline(), Some(u128::from(last) + 2500));
    app.at(last + 2499);
    assert_eq!(app.told(), NOTHING);
    app.client.outbox().advance(0);
    app.at(last + 2500);
    assert_eq!(app.told(), ["CLOSED peer fell silent"]);
}

/// The driver was late with the octets, and the application has not been told yet.
#[test]
fn a_sign_of_life_that_is_found_after_the_deadline_counts() {
    let mut app = agreed((0, 1000), (1000, 0));
    app.at(2500);
    assert_eq!(app.hears("\n"), NOTHING);
    assert_eq!(app.deadline(), Some(5000));
}

/// field case B71
#[test]
fn what_is_read_does_not_put_off_a_beat_nor_what_is_written_the_silence() {
    let mut app = agreed((1000, 1000), (1000, 1000));
    app.feed("\n");
    app.at(700);
    assert_eq!(app.deadline(), Some(750));
    app.at(750);
    assert_eq!(app.written(), ["\n"]);
    app.at(3199);
    assert_eq!(app.told(), NOTHING);
    app.at(3200);
    assert_eq!(app.told(), ["CLOSED peer fell silent"], "2,500 after the octet at 700");
}

/// field case B72
#[test]
fn frames_make_beats_superfluous_unless_the_peer_insists() {
    for (beats, expected) in [(Beats::WhenIdle, 0), (Beats::Always, 1)] {
        let timing = HeartBeatTiming { beats, ..HeartBeatTiming::default() };
        let mut app = agreed_with(offer(1000, 0).heart_beat_timing(timing), (0, 1000));
        app.at(500);
        app.client.send(&SendRequest::new("/q")).unwrap();
        app.written();
        app.at(750);
        assert_eq!(app.written().len(), expected, "{beats:?}");
    }
}

/// field case B70
#[test]
fn how_early_and_how_late_can_be_configured() {
    let timing = HeartBeatTiming {
        early_part: 2,
        late_intervals: 3,
        late_extra: ms(0),
        ..HeartBeatTiming::default()
    };
    let mut app = agreed_with(offer(1000, 1000).heart_beat_timing(timing), (1000, 1000));
    assert_eq!(app.deadline(), Some(500));
    app.at(500);
    assert_eq!(app.written(), ["\n"]);
    app.at(2999);
    assert_eq!(app.told(), NOTHING);
    app.at(3000);
    assert_eq!(app.told(), ["CLOSED peer fell silent"]);
}

/// A driver that sleeps until the one deadline is woken for a beat or for silence, and for nothing
/// else, however the two compare with the other time limits.
///
/// field case B78
#[test]
fn no_other_time_limit_wakes_a_session_with_heart_beats() {
    for (interval, silence) in [(100, 700), (10_000, 20_500), (60_000, 120_500)] {
        let hasty = limited(|limits| {
            limits.connect_timeout = ms(2000);
            limits.disconnect_timeout = ms(2000);
            limits.close_timeout = ms(2000);
        });
        let beats = HeartBeat { can_send: 0, wants: interval };
        let mut app = agreed_with(hasty.heart_beat(beats), (interval, 0));
        let mut heard = 0;
        for _ in 0..100 {
            assert_eq!(app.deadline(), Some(u128::from(heard + silence)));
            heard += u64::from(interval);
            app.at(heard);
            assert_eq!(app.hears("\n"), NOTHING);
        }
        assert_eq!(app.deadline(), Some(u128::from(heard + silence)));
        app.at(heard + silence);
        assert_eq!(app.told(), ["CLOSED peer fell silent"], "at the first call, without a spin");
    }
}

/// requirements HB-008, HB-015, field case B75
#[test]
fn either_line_end_is_a_beat_that_came_and_lf_is_one_that_goes() {
    let mut app = agreed((1000, 1000), (1000, 1000));
    for beat in ["\n", "\r\n", "\r", "\n", "\n\n\n"] {
        assert_eq!(app.hears(beat), NOTHING);
    }
    app.at(750);
    assert_eq!(app.written(), ["\n"]);
    let mut app = App::connected(V1_2);
    assert_eq!(app.hears("\n\n\n"), NOTHING, "also where none was agreed on");
}

/// requirement HB-012
#[test]
fn no_beat_goes_before_connected() {
    let mut app = App::unwritten(offer(10, 0));
    app.at(5000);
    assert!(app.written().concat().starts_with("CONNECT\n"));
    app.at(6000);
    assert_eq!(app.written(), NOTHING);
}

/// requirement HB-019
#[test]
fn no_beat_goes_after_disconnect_but_silence_is_still_noticed() {
    let patient = limited(|limits| limits.disconnect_timeout = ms(60_000));
    let beats = HeartBeat { can_send: 1000, wants: 1000 };
    let mut app = agreed_with(patient.heart_beat(beats), (1000, 1000));
    app.disconnect();
    for at in [750, 1000, 2000, 2499] {
        app.at(at);
        assert_eq!(app.written(), NOTHING);
        assert_eq!(app.told(), NOTHING);
    }
    app.at(2500);
    assert_eq!(app.told(), ["CLOSED peer fell silent"]);
}

/// field case B74
#[test]
fn an_error_is_fatal_even_if_it_says_it_is_a_heart_beat() {
    let mut app = agreed((1000, 1000), (1000, 1000));
    assert_eq!(app.hears("ERROR\nmessage:heartbeat\n\n\0"), ["CLOSED by an ERROR"]);
    app.at(900);
    assert_eq!(app.written(), NOTHING, "no beat follows");
}

#[test]
fn a_client_that_does_not_listen_does_not_call_its_peer_silent() {
    let small = limited(|limits| limits.max_inbox_len = 10);
    let beats = HeartBeat { can_send: 0, wants: 1000 };
    let mut app = agreed_with(small.heart_beat(beats), (1000, 0));
    app.subscribe("0", AckMode::Auto);
    app.feed(message("0", "1").repeat(3));
    app.at(1000);
    assert!(!app.client.wants_read());
    app.at(60_000);
    assert_eq!(app.told(), ["MESSAGE 1", "MESSAGE 1", "MESSAGE 1"]);
    app.at(62_499);
    assert_eq!(app.told(), NOTHING);
    app.at(62_500);
    assert_eq!(app.told(), ["CLOSED peer fell silent"]);
}
