//! The bounds on what a broker sends: at each of them fine, and one beyond ends the session.

use stomp_proto::codec::{DecodeErrorKind, Limits};
use stomp_proto::{CloseReason, ProtocolError};

use crate::harness::{App, V1_0, V1_1, V1_2, limited};

/// What ends a session in the middle of a stream: no more of it is needed.
fn defect(app: &mut App, octets: impl AsRef<[u8]>) -> DecodeErrorKind {
    let reason = app.ends(octets);
    let CloseReason::Protocol(ProtocolError::Decode(error)) = reason else { panic!("{reason:?}") };
    error.kind
}

/// A session under limits, in each version, that takes `fits` and ends with `beyond`.
fn bounded(set: fn(&mut Limits), fits: &str, beyond: &str, kind: DecodeErrorKind) {
    for version in [V1_0, V1_1, V1_2] {
        let mut app = App::connected_with(limited(set), version);
        for _ in 0..10 {
            assert_eq!(app.hears(fits), ["MESSAGE m"], "each frame has all of it, field case B11");
        }
        assert_eq!(defect(&mut app, beyond), kind, "{version}: {beyond:?}");
    }
}

const HEAD: &str = "MESSAGE\nsubscription:0\nmessage-id:m\ndestination:/q\n";

/// requirements L-001, L-002, field case B120
#[test]
fn a_head_is_bounded_before_it_is_whole() {
    let padded = |len: usize| format!("{HEAD}k:{}", "v".repeat(len - HEAD.len() - "k:\n\n".len()));
    bounded(
        |limits| limits.max_head_len = 100,
        &(padded(100) + "\n\nx\0"),
        &(padded(101) + "\n\n"),
        DecodeErrorKind::HeadTooLong { limit: 100 },
    );
    bounded(
        |limits| limits.max_headers = 4,
        &format!("{HEAD}a:1\n\nx\0"),
        &format!("{HEAD}a:1\na:1\n"),
        DecodeErrorKind::TooManyHeaders { limit: 4 },
    );
}

/// requirement B-010, field case B11
#[test]
fn a_body_is_bounded_by_its_length_and_in_fact() {
    let counted = |len: usize| format!("{HEAD}content-length:{len}\n\n");
    let kind = DecodeErrorKind::BodyTooLong { limit: 9 };
    for (fits, beyond) in [
        (counted(9) + "xxxxxxxxx\0", counted(10)),
        (counted(9) + "xxxxxxxxx\0", counted(usize::MAX)),
        (format!("{HEAD}\nxxxxxxxxx\0"), format!("{HEAD}\nxxxxxxxxxx")),
    ] {
        bounded(|limits| limits.max_body_len = 9, &fits, &beyond, kind);
    }
}

/// field case B122
#[test]
fn before_connected_there_is_less_room_but_for_what_an_error_explains() {
    let connected = |len: usize| {
        let start = "CONNECTED\nversion:1.2\nk:";
        format!("{start}{}\n\n", "v".repeat(len - start.len() - "\n\n".len()))
    };
    let config = || limited(|limits| limits.max_connect_head_len = 40);
    let mut app = App::new(config());
    assert_eq!(app.hears(connected(40) + "\0"), ["CONNECTED 1.2"]);
    assert_eq!(app.hears(format!("{HEAD}\nx\0")), ["MESSAGE m"], "of more than 40 octets");
    let kind = defect(&mut App::new(config()), connected(41));
    assert_eq!(kind, DecodeErrorKind::HeadTooLong { limit: 40 });
    let octets = format!("CONNECTED\n\n{}", "x".repeat(41));
    let kind = defect(&mut App::new(config()), octets);
    assert_eq!(kind, DecodeErrorKind::BodyTooLong { limit: 40 }, "also what 1.0 ignores");
    let explained = format!("ERROR\nmessage:no\n\n{}\0", "x".repeat(1000));
    assert_eq!(App::new(config()).hears(explained), ["CLOSED by an ERROR"]);
}

/// requirement F-025
#[test]
fn line_ends_before_connected_are_counted() {
    let app = || App::new(limited(|limits| limits.max_idle_eols = 3));
    assert_eq!(app().hears("\n\r\n\nCONNECTED\nversion:1.2\n\n\0"), ["CONNECTED 1.2"]);
    let kind = defect(&mut app(), "\n\n\n\n");
    assert_eq!(kind, DecodeErrorKind::TooManyEols { limit: 3 });
}
