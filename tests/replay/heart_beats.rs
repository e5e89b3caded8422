//! Recorded heart-beats: what was agreed on, and that it keeps both ends alive.

use core::time::Duration;

use bytes::Bytes;
use stomp_proto::Frame;
use stomp_proto::frame::name;

use crate::drive::ended_well;
use crate::recording::{self, Recording};
use crate::{broker, user};

/// Recordings with heart-beats: the longest pause that client and server may make, in milliseconds,
/// and how many beats a session of ours writes in place of either.
const AGREED: [(&str, [u64; 2], [usize; 2]); 22] = [
    ("aiostomp-1.1-activemq 1", [1000, 1000], [3, 3]),
    ("aiostomp-1.1-rabbitmq 1", [1000, 1000], [3, 3]),
    ("chromium_stompjs_binary-1.2-rabbitmq 1", [1000, 1000], [0, 0]),
    ("chromium_stompjs_heartbeat-1.2-activemq_ws 1", [1000, 1000], [0, 0]),
    ("chromium_stompjs_heartbeat-1.2-rabbitmq 1", [1000, 1000], [0, 0]),
    ("raw-heartbeat-1.2-activemq 1", [0, 500], [0, 10]),
    ("raw-heartbeat-1.2-rabbitmq 1", [0, 1000], [0, 5]),
    ("raw-heartbeat-both-1.1-activemq 1", [500, 500], [10, 10]),
    ("raw-heartbeat-both-1.1-rabbitmq 1", [1000, 1000], [5, 5]),
    ("raw-heartbeat-silent-client-1.2-activemq 1", [500, 0], [4, 0]),
    ("raw-heartbeat-silent-client-1.2-rabbitmq 1", [1000, 0], [4, 0]),
    ("raw-ws-heartbeat-1.2-activemq 1", [0, 1000], [0, 4]),
    ("raw-ws-heartbeat-1.2-rabbitmq 1", [0, 1000], [0, 4]),
    ("raw-ws-heartbeat-1.2-rabbitmq_binframe 1", [0, 1000], [0, 4]),
    ("raw-ws-heartbeat-1.2-stompbrokerjs 1", [0, 1000], [0, 4]),
    ("stomp.py_heartbeat-1.2-activemq 1", [1000, 1000], [3, 3]),
    ("stomp.py_heartbeat-1.2-rabbitmq 1", [1000, 1000], [3, 3]),
    ("stompit_heartbeat-1.2-activemq 1", [1000, 1000], [3, 3]),
    ("stompit_heartbeat-1.2-rabbitmq 1", [1000, 1000], [3, 3]),
    ("stompjs_tcp_heartbeat-1.2-activemq 1", [1000, 1000], [3, 3]),
    ("stompjs_tcp_heartbeat-1.2-rabbitmq 1", [1000, 1000], [3, 3]),
    ("stompjs_ws_heartbeat-1.2-rabbitmq 1", [1000, 1000], [4, 4]),
];

/// requirements HB-005, HB-006
#[test]
fn both_ends_agree_on_what_the_recorded_headers_say() {
    let mut agreed = Vec::new();
    for recording in recording::all() {
        let user = user::replay(&recording).agreement;
        let broker = broker::replay(&recording).agreement;
        let pauses = pauses(&recording);
        assert_eq!([user.outgoing, user.incoming], pauses, "{}", recording.name());
        assert_eq!([broker.incoming, broker.outgoing], pauses, "{}", recording.name());
        if pauses != [None, None] {
            let pauses = pauses.map(|pause| pause.unwrap_or_default().as_millis());
            agreed.push((recording.name(), pauses));
        }
    }
    let expected = AGREED.map(|(name, pauses, _)| (name.to_owned(), pauses.map(u128::from)));
    assert_eq!(agreed, expected);
}

/// requirements HB-010, HB-011
#[test]
fn no_end_falls_silent_for_the_other_unless_it_sends_nothing() {
    for (recording, [client, _], _) in agreed() {
        let (user, broker) = (user::replay(&recording), broker::replay(&recording));
        assert!(ended_well(user.closed.as_ref()), "{}", recording.name());
        if recording.capture.starts_with("raw-heartbeat-silent-client-") {
            // CONNECT came at 0 ms.
            let end = format!("{} CLOSED peer fell silent, open []", 2 * client + 500);
            assert_eq!(broker.record.told.last(), Some(&end));
        } else {
            assert!(ended_well(broker.closed.as_ref()), "{}", recording.name());
        }
    }
}

/// requirement HB-007
#[test]
fn a_session_beats_often_enough() {
    for (recording, pauses, beats) in agreed() {
        let records = [user::replay(&recording).record, broker::replay(&recording).record];
        let written = records.map(|record| record.written);
        assert_eq!(written.each_ref().map(|written| count(written)), beats, "{}", recording.name());
        for (written, pause) in written.iter().zip(pauses).filter(|(_, pause)| *pause > 0) {
            let gaps = written.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0));
            let longest = gaps.max().unwrap_or_default();
            assert!(longest < Duration::from_millis(pause), "{}: {longest:?}", recording.name());
        }
    }
}

/// The recordings of the table.
fn agreed() -> impl Iterator<Item = (Recording, [u64; 2], [usize; 2])> {
    AGREED.into_iter().map(|(name, pauses, beats)| {
        let (capture, _) = name.split_once(' ').expect("a capture and a connection");
        (recording::of(capture).remove(0), pauses, beats)
    })
}

/// What the recorded headers say of client and server (STOMP 1.2, "Heart-beating").
fn pauses(recording: &Recording) -> [Option<Duration>; 2] {
    let (client, server) = (offer(recording.connect()), offer(recording.answer()));
    [(client[0], server[1]), (server[0], client[1])].map(|(can_send, wants)| {
        let both = can_send > 0 && wants > 0;
        both.then(|| Duration::from_millis(can_send.max(wants)))
    })
}

fn offer(frame: &Frame) -> [u64; 2] {
    let value = frame.header(name::HEART_BEAT).unwrap_or("0,0".into());
    let (can_send, wants) = value.split_once(',').expect("two numbers");
    [can_send, wants].map(|number| number.parse().expect("a number"))
}

fn count(written: &[(Duration, Bytes)]) -> usize {
    written.iter().filter(|(_, octets)| octets == "\n").count()
}
