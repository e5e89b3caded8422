//! Generates frames, octets that nearly are frames, and the rules to read them by.

use core::ops::Range;

use bytes::BytesMut;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use stomp_proto::codec::{ContentLength, Limits, MalformedHeader, encode};
use stomp_proto::{Command, Frame, Version};

use crate::support::{Plain, Setup};

/// Octets that mean something inside a header line, or that one easily gets wrong there.
const INSIDE: &[&[u8]] = &[
    b"a",
    b"k",
    b":",
    b" ",
    b"\t",
    b"\\n",
    b"\\c",
    b"\\r",
    b"\\\\",
    b"\\t",
    b"\\",
    b"\r",
    b"\x7f",
    b"\xc3\xa9",
    b"\xe2\x82",
    b"\xff",
    b"so-long-that-it-fills-some-of-the-words-that-are-looked-at-together",
];

/// Octets that mean something to the framing.
const FRAMING: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\n\n",
    b"key:value\n",
    b"k:v\r\n",
    b"content-length",
    b"content-length:",
    b"content-length:2\n",
    b"content-length:2\r\n",
    b"content-length: 2\t\r\n",
    b"content-length:02\xff\n",
    b"content-length:3\n",
    b"content-length:99999999999999999999\n",
    b"2",
    b"CONN",
    b"ACK",
    b"MESSAGE\n",
    b"ERROR\r\n",
    b"RECEIPT\n\n\0",
];

/// How a head can end and go on, for better or worse.
const ENDS: &[&[u8]] = &[
    b"",
    b"\0",
    b"\n",
    b"\n\0",
    b"\n\0\n",
    b"\r\n\0\r\n",
    b"\nab\0",
    b"\na\0\0",
    b"\nabc\0",
    b"\nabcdefgh\0",
];

pub(crate) fn versions() -> impl Strategy<Value = Version> {
    select(&Version::ALL)
}

/// Every version and none, both ways with malformed lines, ample and tight limits.
pub(crate) fn setups() -> impl Strategy<Value = Setup> {
    let malformed = select(&[MalformedHeader::Reject, MalformedHeader::Keep]);
    let limits = prop_oneof![2 => Just(Limits::default()), 1 => tight_limits()];
    (option::weighted(0.75, versions()), malformed, limits).prop_map(
        |(version, malformed_header, limits)| {
            let mut setup = Setup { version, ..Setup::default() };
            setup.config.malformed_header = malformed_header;
            setup.config.limits = limits;
            setup
        },
    )
}

/// Limits that small streams hit.
pub(crate) fn tight_limits() -> impl Strategy<Value = Limits> {
    (0..100usize, 0..60usize, 0..5usize, 0..12usize, 0..4usize).prop_map(
        |(head, connect_head, headers, body, eols)| {
            let mut limits = Limits::default();
            limits.max_head_len = head;
            limits.max_connect_head_len = connect_head;
            limits.max_headers = headers;
            limits.max_body_len = body;
            limits.max_idle_eols = eols;
            limits
        },
    )
}

/// Frames that `version` can carry, with the right `content-length` or without.
pub(crate) fn carried_frames(version: Version) -> impl Strategy<Value = Plain> {
    (any_frames(), any::<bool>()).prop_map(move |(mut frame, announced)| {
        let command = frame.command;
        for (name, value) in &mut frame.headers {
            name.retain(|octet| can_carry(version, command, octet));
            value.retain(|octet| can_carry(version, command, octet) || octet == ':');
            if name.is_empty() {
                name.push('k');
            }
            if version == Version::V1_0 {
                *value = value.trim_start_matches([' ', '\t']).to_owned();
            }
        }
        if announced {
            frame.headers.insert(0, ("content-length".into(), frame.body.len().to_string()));
        }
        frame
    })
}

/// Whether the names of a frame of `version` can hold `octet`, escaped or not.
pub(crate) fn can_carry(version: Version, command: Command, octet: char) -> bool {
    let escapes = match (version, command) {
        (Version::V1_0, _) | (_, Command::Connect | Command::Stomp | Command::Connected) => "",
        (Version::V1_1, _) => "\n:",
        (Version::V1_2, _) => "\n:\r",
    };
    !matches!(octet, '\0' | '\n' | '\r' | ':') || escapes.contains(octet)
}

/// Frames with anything in their headers, but a body only where one may be.
pub(crate) fn any_frames() -> impl Strategy<Value = Plain> {
    let headers = vec((any_texts(), any_texts()), 0..4);
    let body =
        prop_oneof![Just(Vec::new()), vec(any::<u8>(), 1..12), vec(select(&b"\0\n\\a"[..]), 1..8),];
    (select(&Command::ALL), headers, body).prop_map(|(command, headers, mut body)| {
        if !command.may_have_body() {
            body.clear();
        }
        Plain { command, headers, malformed: Vec::new(), body }
    })
}

fn any_texts() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c:\\\\ \té€]{0,12}", "[a-d\\\\:\n\r\t 😀]{0,9}", "[a-z\0:-]{0,3}"]
}

/// Streams of frames and what stands between them, as a peer that follows `version` writes them.
pub(crate) fn sound_streams(version: Version) -> impl Strategy<Value = Vec<u8>> {
    let eols = select(&["", "", "\n", "\n\n", "\r\n"]);
    vec((carried_frames(version), eols), 1..4).prop_map(move |frames| {
        let mut stream = BytesMut::new();
        for (frame, eols) in &frames {
            let frame = built(frame);
            let result =
                encode(frame.as_frame_ref(), version, ContentLength::Automatic, &mut stream);
            assert_eq!(result, Ok(()), "{frame:?}");
            stream.extend_from_slice(eols.as_bytes());
        }
        stream.to_vec()
    })
}

/// The frame that reads as `plain`.
pub(crate) fn built(plain: &Plain) -> Frame {
    let frame = Frame::builder(plain.command).body(plain.body.clone());
    let headers = plain.headers.iter();
    headers.fold(frame, |frame, (name, value)| frame.header(name, value)).build()
}

/// The streams of [`sound_streams`] with some octets changed, put in or taken out.
pub(crate) fn mutated_streams(version: Version) -> impl Strategy<Value = Vec<u8>> {
    let put = prop_oneof![Just(&b""[..]), select(INSIDE), select(FRAMING)];
    let mutations = vec((any::<Index>(), 0..3usize, put), 0..4);
    (sound_streams(version), mutations).prop_map(|(mut stream, mutations)| {
        for (index, taken, put) in mutations {
            let at = index.index(stream.len() + 1);
            let end = stream.len().min(at + taken);
            stream.splice(at..end, put.iter().copied());
        }
        stream
    })
}

/// Octets that look like frames, of which many are none.
pub(crate) fn nasty_octets() -> impl Strategy<Value = Vec<u8>> {
    let frame = (command_lines(), vec(header_lines(), 0..4), select(ENDS))
        .prop_map(|(command, lines, end)| [command, lines.concat(), end.to_vec()].concat());
    let part = prop_oneof![4 => frame, 1 => fragments(FRAMING, 0..3)];
    vec(part, 1..3).prop_map(|parts| parts.concat())
}

fn command_lines() -> impl Strategy<Value = Vec<u8>> {
    let eol = prop_oneof![8 => Just("\n"), 4 => Just("\r\n"), 1 => Just("\r"), 1 => Just("")];
    (select(&Command::ALL), eol).prop_map(|(command, eol)| format!("{command}{eol}").into_bytes())
}

fn header_lines() -> impl Strategy<Value = Vec<u8>> {
    let colon = prop_oneof![8 => Just(":"), 1 => Just("")];
    let eol = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r\r\n")];
    let line = (fragments(INSIDE, 1..4), colon, fragments(INSIDE, 0..4), eol).prop_map(
        |(name, colon, value, eol)| {
            [name, colon.as_bytes().to_vec(), value, eol.as_bytes().to_vec()].concat()
        },
    );
    prop_oneof![3 => line, 2 => select(FRAMING).prop_map(<[u8]>::to_vec)]
}

fn fragments(
    kinds: &'static [&'static [u8]],
    count: Range<usize>,
) -> impl Strategy<Value = Vec<u8>> {
    vec(select(kinds), count).prop_map(|fragments| fragments.concat())
}

/// The sizes of reads, to be gone through in turn.
pub(crate) fn read_sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![1..4usize, 1..40usize], 1..6)
}

/// `stream` in reads of these sizes.
pub(crate) fn in_reads<'a>(mut stream: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut reads = Vec::new();
    for size in sizes.iter().cycle() {
        let (read, rest) = stream.split_at(stream.len().min(*size));
        reads.push(read);
        stream = rest;
        if stream.is_empty() {
            break;
        }
    }
    reads
}
