//! Credentials, wherever a client may write them: in no answer, and in no line of the log.
//!
//! All that an attacker reads is searched for them, and so is the log of every attack.
//!
//! What is told, to the sender alone, and so is not tried: a word of up to 16 capitals where a command is to
//! be, as RabbitMQ tells it, because nobody can say whether that is a command that there is not or a passcode
//! that looks like one; and what a refusal is about, a `destination`, `id` or `transaction` that is not there.
//! Everywhere else, capitals are tried as well.

use crate::attack::{Attack, Target};
use crate::peer::{CAPITALS, MARKS, Peer, connect};

pub(crate) const ATTACKS: &[Attack] = &[Attack {
    name: "credentials",
    does: "its credentials in good and bad CONNECT, and wherever else a client may write them",
    answer: "an ERROR to each that is bad, a credential in none",
    logged: "protocol error: NUL before the end of the head",
    ceiling: 32,
    waits: 0,
    rounds: 0,
    run: credentials,
}];

/// What stands for the credentials.
const SECRET: &str = "SECRET";

/// What is said instead of CONNECT, and how it ends.
const BEFORE: &[(&str, &str)] = &[
    ("CONNECT\naccept-version:9\npasscode:SECRET\nlogin:SECRET\n\n\0", "ERROR Version mismatch"),
    ("CONNECT\naccept-version:SECRET\n\n\0", "ERROR Version mismatch"),
    ("CONNECT\naccept-version:1.2\nheart-beat:SECRET\n\n\0", "ERROR Processing error"),
    ("CONNECT\naccept-version:1.2\npasscode:SECRET\n\nSECRET\0", "ERROR body on CONNECT"),
    ("CONNECT\npasscode:a\nSECRET\n\n\0", "ERROR malformed frame"),
    ("CONNECT\npasscode SECRET\n\n\0", "ERROR malformed frame"),
    ("CONNECT\n:SECRET\n\n\0", "ERROR malformed frame"),
    ("CONNECT\npasscode:SECRET\u{0}SECRET\n\n\0", "ERROR malformed frame"),
    ("CONNECT\npasscode:SECRET\ncontent-length:SECRET\n\n\0", "ERROR malformed frame"),
    ("CONNECT\npasscode:SECRET", "ERROR malformed frame"),
    ("CONNECT SECRET\n\n\0", "ERROR Illegal command"),
    ("SECRET\npasscode:SECRET\n\n\0", "ERROR Illegal command"),
    ("passcode:SECRET\n\n\0", "ERROR Illegal command"),
    ("SEND\npasscode:SECRET\ndestination:SECRET\n\nSECRET\0", "ERROR Illegal command"),
    ("GET / HTTP/1.1\nAuthorization:SECRET\n\n", "end of stream"),
    ("CONNECT\nlogin:SECRET\npasscode:SECRET\n\n\0DISCONNECT\n\n\0", "end of stream"),
    ("STOMP\naccept-version:1.1\nlogin:SECRET\npasscode:SECRET\n\n\0", "end of stream"),
];

/// What is said behind CONNECT, and how that ends.
const BEHIND: &[(&str, &str)] = &[
    ("CONNECT\nlogin:SECRET\npasscode:SECRET\n\n\0", "ERROR already connected"),
    ("STOMP\npasscode:SECRET\n\nSECRET\0", "ERROR malformed frame"),
    ("passcode:SECRET\n\n\0", "ERROR Bad command"),
    ("MESSAGE\npasscode:SECRET\n\nSECRET\0", "ERROR Bad command"),
    ("SEND\npasscode:SECRET\n\n\0", "ERROR Missing destination"),
    ("SEND\npasscode:SECRET\ndestination:/nowhere\n\n\0", "ERROR Unknown destination"),
    ("SEND\npasscode:SEC\\RET\n\n\0", "ERROR malformed frame"),
    (
        "SEND\ndestination:/queue/a\npasscode:SECRET\ncontent-length:1\n\nSECRET\0",
        "ERROR malformed frame",
    ),
    ("SEND\ndestination:/queue/a\npasscode:SECRET\ntransaction:t\n\n\0", "ERROR Bad transaction"),
    ("SUBSCRIBE\ndestination:/queue/a\npasscode:SECRET\n\n\0", "ERROR invalid subscription"),
    ("SUBSCRIBE\nid:0\ndestination:/queue/a\nack:SECRET\n\n\0", "ERROR Processing error"),
    (
        "SUBSCRIBE\nid:0\ndestination:/queue/a\nprefetch-count:SECRET\n\n\0",
        "ERROR Processing error",
    ),
    ("ACK\nid:0\nsubscription:0\nmessage-id:0\npasscode:SECRET\n\n\0", "ERROR Invalid header"),
    ("BEGIN\npasscode:SECRET\n\n\0", "ERROR Missing transaction"),
    ("ABORT\ntransaction:t\npasscode:SECRET\n\nSECRET\0", "ERROR malformed frame"),
    ("UNSUBSCRIBE\nid:0\npasscode:SECRET\n\n\0", "ERROR No subscription found"),
    ("DISCONNECT\npasscode:SECRET\n\n\0", "end of stream"),
];

/// What is said where a command is to be, in anything but capitals.
const AS_COMMAND: &[(&str, &str)] = &[
    ("SECRET\npasscode:SECRET\n\n\0", "ERROR Bad command"),
    ("SENDSECRET\n\n\0", "ERROR Bad command"),
];

fn credentials(target: &Target) -> String {
    let behind = |octets: &str, mark: &str, expected: &str| {
        for version in ["1.1", "1.2"] {
            check(Peer::login_on(target.tcp, version), octets, mark, expected);
        }
    };
    for mark in MARKS.into_iter().chain(CAPITALS) {
        for (octets, expected) in BEFORE {
            check(Peer::open(target.tcp), octets, mark, expected);
        }
        for (octets, expected) in BEHIND {
            behind(octets, mark, expected);
        }
    }
    for mark in MARKS {
        for (octets, expected) in AS_COMMAND {
            behind(octets, mark, expected);
        }
        // With neither end of the line nor of the frame, for as long as it may take.
        let mut peer = Peer::open(target.tcp);
        peer.say(connect("1.2").replace("\n\n\0", "\npasscode:\0"));
        assert_eq!(peer.ending(), "ERROR malformed frame");
    }
    "an ERROR to each that is bad, a credential in none".into()
}

fn check(mut peer: Peer, octets: &str, mark: &str, expected: &str) {
    peer.say(octets.replace(SECRET, mark));
    peer.half_close();
    assert_eq!(peer.ending(), expected, "{octets:?}");
}
