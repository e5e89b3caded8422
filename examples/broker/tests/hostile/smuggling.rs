//! Octets that one reader may take for one frame and another for two: what each comes to, exactly.
//!
//! What is relayed is looked at in all three versions, by a reader that shares nothing with the crate.

use crate::attack::{Attack, Target};
use crate::peer::{Peer, message};

pub(crate) const ATTACKS: &[Attack] = &[Attack {
    name: "smuggling",
    does: "frames within frames, by NUL, CR, LF, escapes, and lengths that lie",
    answer: "each is one frame to everybody, or an ERROR and nothing behind it is read",
    logged: "protocol error: invalid content-length",
    ceiling: 32,
    waits: 0,
    rounds: 0,
    run: |target| {
        for case in CASES {
            check(target, case);
        }
        "each is one frame to everybody, or an ERROR and nothing behind it is read".into()
    },
}];

struct Case {
    /// The version of the sender.
    version: &'static str,
    says: &'static [u8],
    /// What it is answered, but for the RECEIPT of a frame of ours that ends it.
    answers: &'static [&'static str],
    /// What its subscribers get on 1.0, 1.1 and 1.2, from `destination` on.
    arrives: [&'static [&'static str]; 3],
}

const NOTHING: [&[&str]; 3] = [&[], &[], &[]];
const MALFORMED: &[&str] = &["ERROR malformed frame"];

const CASES: &[Case] = &[
    // ---- NUL
    refused("1.2", b"SEND\ndestination:/topic/a\nx:1\0SEND\ndestination:/topic/evil\n\nevil\0"),
    refused("1.0", b"SEND\ndestination:/topic/a\nx:1\0SEND\ndestination:/topic/evil\n\nevil\0"),
    refused("1.1", b"SEND\ndestination:/topic/a\0\nSEND\ndestination:/topic/evil\n\nevil\0"),
    Case {
        version: "1.2",
        says: b"SEND\0\ndestination:/topic/evil\n\nevil\0",
        answers: &["ERROR Bad command"],
        arrives: NOTHING,
    },
    refused("1.2", b"BEGIN\ntransaction:t\n\nSEND\ndestination:/topic/evil\n\nevil\0"),
    Case {
        // The NUL ends the frame, and what is behind it is none.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\n\none\0two\0",
        answers: &["ERROR Bad command"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
    // ---- content-length
    Case {
        // All of the second frame is in the body of the first, to everybody.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\ncontent-length:38\n\n\
            one\0SEND\ndestination:/topic/evil\n\nevil\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:38\n\n\
            one\0SEND\ndestination:/topic/evil\n\nevil"]),
    },
    Case {
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\ncontent-length:3\ncontent-length:3\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
    Case {
        // The name of a header is as it is written, and this one is the application's.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\nContent-Length:38\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\nContent-Length:38\ncontent-length:3\n\none"]),
    },
    Case {
        // Where there can be no body, it says nothing.
        version: "1.2",
        says: b"BEGIN\ntransaction:t\ncontent-length:38\n\n\0ABORT\ntransaction:t\nreceipt:a\n\n\0",
        answers: &["RECEIPT\nreceipt-id:a\n\n", "RECEIPT\nreceipt-id:end\n\n"],
        arrives: NOTHING,
    },
    Case {
        // 1.0 pads its values.
        version: "1.0",
        says: b"SEND\ndestination: /topic/a\ncontent-length: 3 \n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length: 3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:3\ncontent-length:38\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:38\ncontent-length:3\n\none\0"),
    refused("1.0", b"SEND\ndestination:/topic/a\ncontent-length:0\ncontent-length:3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:0\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:2\n\none\0"),
    refused("1.1", b"SEND\ndestination:/topic/a\ncontent-length:2\n\none\0"),
    refused("1.0", b"SEND\ndestination:/topic/a\ncontent-length:2\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:-1\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:-3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:+3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:0x3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:3.0\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:3,3\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\ncontent-length:\xd9\xa3\n\none\0"),
    refused("1.2", b"BEGIN\ntransaction:t\ncontent-length:-1\n\n\0"),
    // 2^64 and 3, 2^32 and 3, and one that no integer holds.
    too_large(b"SEND\ndestination:/topic/a\ncontent-length:18446744073709551619\n\none\0"),
    too_large(b"SEND\ndestination:/topic/a\ncontent-length:4294967299\n\none\0"),
    too_large(
        b"SEND\ndestination:/topic/a\n\
        content-length:99999999999999999999999999999999999999999999999\n\none\0",
    ),
    Case {
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\ncontent-length:00000000000000000000003\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
    // ---- CR and LF
    refused("1.2", b"SEND\ndestination:/topic/a\nx:1\r2\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\r\r\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\n\r\rone\0"),
    Case {
        version: "1.2",
        says: b"SEND\r\ndestination:/topic/a\r\nx:1\n\r\n\r\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        // The first blank line ends the head, whatever ends it.
        arrives: same(&["/topic/a\nredelivered:false\nx:1\ncontent-length:5\n\n\r\none"]),
    },
    Case {
        // On 1.1 CR is an octet like any other. There is no way to write it there, and one on 1.2.
        version: "1.1",
        says: b"SEND\ndestination:/topic/a\nx:1\rdestination:/topic/evil\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: [
            &["/topic/a\nredelivered:false\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx:1\\rdestination\\c/topic/evil\ncontent-length:3\n\none"],
        ],
    },
    Case {
        // Lines come out of escapes, and go into escapes again. 1.0 has none.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\nx:1\\ndestination\\c/topic/evil\\n\\nevil\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: [
            &["/topic/a\nredelivered:false\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx:1\\ndestination\\c/topic/evil\\n\\nevil\n\
                content-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx:1\\ndestination\\c/topic/evil\\n\\nevil\n\
                content-length:3\n\none"],
        ],
    },
    Case {
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\nx\\c1\\ny:2\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: [
            &["/topic/a\nredelivered:false\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx\\c1\\ny:2\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx\\c1\\ny:2\ncontent-length:3\n\none"],
        ],
    },
    Case {
        // On 1.0 a backslash is one, and to the others it is written as what it is.
        version: "1.0",
        says: b"SEND\ndestination:/topic/a\nx:1\\ny\\c2\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: [
            &["/topic/a\nredelivered:false\nx:1\\ny\\c2\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx:1\\\\ny\\\\c2\ncontent-length:3\n\none"],
            &["/topic/a\nredelivered:false\nx:1\\\\ny\\\\c2\ncontent-length:3\n\none"],
        ],
    },
    refused("1.2", b"SEND\ndestination:/topic/a\nx:1\\\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\nx:1\\t2\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\nx:1\\0SEND\n\none\0"),
    refused("1.1", b"SEND\ndestination:/topic/a\nx:1\\r2\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\nx:\xff\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\n:x\n\none\0"),
    refused("1.2", b"SEND\ndestination:/topic/a\nx\n\none\0"),
    // ---- headers that say it twice
    Case {
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\ndestination:/topic/evil\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
    Case {
        // What only the broker may say is not relayed.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\nsubscription:9\nredelivered:true\nack:9\nx:1\nx:2\n\none\0",
        answers: &["RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\nx:1\nx:2\ncontent-length:3\n\none"]),
    },
    Case {
        // What is echoed is the octets that came.
        version: "1.2",
        says: b"SEND\ndestination:/topic/a\nreceipt:1\\n\\n\\cERROR\n\none\0",
        answers: &["RECEIPT\nreceipt-id:1\\n\\n\\cERROR\n\n", "RECEIPT\nreceipt-id:end\n\n"],
        arrives: same(&["/topic/a\nredelivered:false\ncontent-length:3\n\none"]),
    },
];

const fn refused(version: &'static str, says: &'static [u8]) -> Case {
    Case { version, says, answers: MALFORMED, arrives: NOTHING }
}

const fn too_large(says: &'static [u8]) -> Case {
    Case { version: "1.2", says, answers: &["ERROR body too large"], arrives: NOTHING }
}

const fn same(arrives: &'static [&'static str]) -> [&'static [&'static str]; 3] {
    [arrives, arrives, arrives]
}

fn check(target: &Target, case: &Case) {
    let mut watchers = ["1.0", "1.1", "1.2"].map(|version| {
        let mut peer = Peer::login_on(target.tcp, version);
        for topic in ["a", "evil"] {
            peer.say(format!("SUBSCRIBE\nid:{topic}\ndestination:/topic/{topic}\n\n\0"));
        }
        peer.sync();
        peer
    });
    let mut peer = Peer::login_on(target.tcp, case.version);
    peer.say(case.says);
    // Behind what ends the session nothing is read.
    peer.say("SEND\ndestination:/topic/end\nreceipt:end\n\n\0");
    peer.half_close();
    let said = case.says.escape_ascii();
    let answers: Vec<_> = peer.rest().iter().map(|frame| shortened(frame)).collect();
    assert_eq!(answers, escaped(case.answers), "{} {said}", case.version);
    for (peer, expected) in watchers.iter_mut().zip(case.arrives) {
        // What was there before the first answer comes before the second.
        let mut arrived = peer.sync();
        arrived.extend(peer.sync());
        let arrived: Vec<_> = arrived.iter().map(|frame| from_destination(frame)).collect();
        assert_eq!(arrived, escaped(expected), "{} {said}", case.version);
    }
}

fn escaped(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.as_bytes().escape_ascii().to_string()).collect()
}

/// Of an ERROR what it says.
fn shortened(frame: &str) -> String {
    match frame.strip_prefix("ERROR\\n") {
        Some(error) => format!("ERROR {}", message(&error.replace("\\n", "\n"))),
        None => frame.into(),
    }
}

/// Of a MESSAGE what the sender has a say in.
fn from_destination(frame: &str) -> String {
    assert!(frame.starts_with("MESSAGE\\nsubscription:a\\n"), "{frame}");
    frame.split_once("destination:").expect("no destination").1.into()
}
