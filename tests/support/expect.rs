//! Says in one line what is to become of a stream.

use stomp_proto::codec::{DecodeError, DecodeErrorKind, MalformedHeader};
use stomp_proto::{Command, Version};

use crate::support::{Item, Outcome, Plain, Setup};

/// Before a version is set, and under each.
pub(crate) const ANY: [Option<Version>; 4] =
    [None, Some(Version::V1_0), Some(Version::V1_1), Some(Version::V1_2)];

/// What becomes of `octets` where malformed header lines are fatal.
pub(crate) fn reject(version: impl Into<Option<Version>>, octets: &[u8]) -> Outcome {
    Setup { version: version.into(), ..Setup::default() }.outcome(octets)
}

/// What becomes of `octets` where malformed header lines are kept apart.
pub(crate) fn keep(version: impl Into<Option<Version>>, octets: &[u8]) -> Outcome {
    let mut setup = Setup { version: version.into(), ..Setup::default() };
    setup.config.malformed_header = MalformedHeader::Keep;
    setup.outcome(octets)
}

/// What becomes of `octets` whatever is done about malformed header lines.
pub(crate) fn either(version: impl Into<Option<Version>>, octets: &[u8]) -> Outcome {
    let version = version.into();
    let outcome = reject(version, octets);
    assert_eq!(keep(version, octets), outcome, "kept instead of rejected, {version:?}");
    outcome
}

/// A frame without malformed header lines.
pub(crate) fn frame(command: Command, headers: &[(&str, &str)], body: &[u8]) -> Item {
    frame_with_malformed(command, headers, &[], body)
}

/// A frame with malformed header lines kept apart.
pub(crate) fn frame_with_malformed(
    command: Command,
    headers: &[(&str, &str)],
    malformed: &[&[u8]],
    body: &[u8],
) -> Item {
    Item::Frame(Plain {
        command,
        headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
        malformed: malformed.iter().map(|line| line.to_vec()).collect(),
        body: body.to_vec(),
    })
}

/// These items, and nothing behind them.
pub(crate) fn whole(items: impl Into<Vec<Item>>) -> Outcome {
    Outcome { items: items.into(), rest: Ok(Vec::new()), finish: Ok(()) }
}

/// These items, and `rest`, which reaches to octet `end` of the stream and waits for more.
pub(crate) fn waiting(items: impl Into<Vec<Item>>, rest: &[u8], end: u64) -> Outcome {
    let truncated = DecodeError { kind: DecodeErrorKind::Truncated, offset: end };
    Outcome { items: items.into(), rest: Ok(rest.to_vec()), finish: Err(truncated) }
}

/// These items, and then an error.
pub(crate) fn failed(items: impl Into<Vec<Item>>, kind: DecodeErrorKind, offset: u64) -> Outcome {
    let error = DecodeError { kind, offset };
    Outcome { items: items.into(), rest: Err(error), finish: Err(error) }
}
