//! Replays what real brokers and clients put on the wire; `captures/README.md` says where it is from.

#[path = "../examples/inspect/main.rs"]
#[expect(dead_code, reason = "what is above its decoding has tests of its own")]
mod inspect;

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use inspect::stream::{Entry, Happening};
use inspect::timeline::Timeline;
use inspect::transcript::{self, Connection, Read};
use stomp_proto::frame::Role;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/captures");

#[test]
fn streams_decode_in_their_recorded_chunks() -> io::Result<()> {
    assert_decodes(|reads| reads)
}

#[test]
fn streams_decode_whole() -> io::Result<()> {
    assert_decodes(|reads| {
        let stream = |from| Read { at_ms: 0, from, octets: octets_of(from, &reads) };
        vec![stream(Role::Client), stream(Role::Server)]
    })
}

#[test]
fn streams_decode_octet_by_octet() -> io::Result<()> {
    assert_decodes(|reads| {
        let split = |read: &Read| {
            let Read { at_ms, from, .. } = *read;
            read.octets.clone().into_iter().map(move |octet| Read {
                at_ms,
                from,
                octets: vec![octet],
            })
        };
        reads.iter().flat_map(split).collect()
    })
}

#[test]
fn the_only_servers_to_break_the_protocol_relay_a_probe() -> io::Result<()> {
    let failed = failed_streams("s2c", |_| true)?;
    assert_eq!(
        failed,
        [
            "raw-error-activemq.txt body_on_SUBSCRIBE/10 NulInHead",
            "raw-error-rabbitmq.txt body_on_SUBSCRIBE/10 NulInHead",
        ]
    );
    Ok(())
}

#[test]
fn the_only_client_to_break_the_protocol_leaves_a_blank_line_out() -> io::Result<()> {
    let failed = failed_streams("c2s", |file| !file.starts_with("raw-"))?;
    assert_eq!(
        failed,
        ["stomper-1.1-activemq.txt 1 NulInHead", "stomper-1.1-rabbitmq.txt 1 NulInHead"]
    );
    Ok(())
}

/// One stream, as a row of `frames.tsv` describes it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Row {
    file: String,
    connection: String,
    direction: String,
    frames: String,
    eols: String,
    commands: String,
    digest: String,
    error: String,
}

/// Decodes every capture in the chunks that `rechunk` makes of the recorded ones.
fn assert_decodes(rechunk: impl Fn(Vec<Read>) -> Vec<Read>) -> io::Result<()> {
    let expected: HashSet<Row> = table()?.into_iter().collect();
    let mut decoded = HashSet::new();
    for (file, connections) in transcripts()? {
        for connection in connections {
            decoded.extend(decode(&file, connection, &rechunk)?);
        }
    }
    assert!(!expected.is_empty());
    let mut differences: Vec<_> = expected.symmetric_difference(&decoded).collect();
    differences.sort();
    assert!(differences.is_empty(), "{differences:#?}");
    Ok(())
}

/// The rows of one connection, one for each direction that has octets.
fn decode(
    file: &str,
    connection: Connection,
    rechunk: impl Fn(Vec<Read>) -> Vec<Read>,
) -> io::Result<Vec<Row>> {
    let name = connection.name.clone();
    let senders = [Role::Client, Role::Server];
    let senders = senders.map(|from| (from, octets_of(from, &connection.reads)));
    let reads = rechunk(connection.reads);
    let timeline = Timeline::of_connection(Connection { reads, ..connection });
    let mut rows = Vec::new();
    for (from, octets) in senders {
        if !octets.is_empty() {
            let entries = timeline.entries.iter().filter(|entry| entry.from == from);
            rows.push(describe(file, &name, from, entries)?);
        }
    }
    Ok(rows)
}

fn describe<'a>(
    file: &str,
    connection: &str,
    from: Role,
    entries: impl Iterator<Item = &'a Entry>,
) -> io::Result<Row> {
    let direction = match from {
        Role::Client => "c2s",
        Role::Server => "s2c",
    };
    let (mut commands, mut eols, mut error) = (Vec::new(), 0, "-".to_owned());
    let mut json = Vec::new();
    for entry in entries {
        match &entry.happening {
            Happening::Frame(frame) => commands.push(frame.command().as_str()),
            Happening::Eols { count, .. } => eols += count,
            Happening::Error(fault) => {
                error = format!("{:?}", fault.kind);
                // The digest covers what came before it.
                break;
            }
        }
        inspect::json::write_entry(&Entry { at_ms: None, ..entry.clone() }, &mut json)?;
    }
    Ok(Row {
        file: file.to_owned(),
        connection: connection.to_owned(),
        direction: direction.to_owned(),
        frames: commands.len().to_string(),
        eols: eols.to_string(),
        commands: commands.join(" "),
        digest: format!("{:016x}", fnv1a(&json)),
        error,
    })
}

fn octets_of(from: Role, reads: &[Read]) -> Vec<u8> {
    let octets = reads.iter().filter(|read| read.from == from).map(|read| &read.octets[..]);
    octets.collect::<Vec<_>>().concat()
}

/// FNV-1a, 64 bits.
fn fnv1a(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |state, octet| {
        (state ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What the table says of streams that end with an error: file, connection, error.
fn failed_streams(direction: &str, file: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let rows = table()?.into_iter().filter(|row| row.error != "-" && row.direction == direction);
    let rows = rows.filter(|row| file(&row.file));
    Ok(rows.map(|row| format!("{} {} {}", row.file, row.connection, row.error)).collect())
}

fn table() -> io::Result<Vec<Row>> {
    let table = fs::read_to_string(Path::new(CAPTURES).join("frames.tsv"))?;
    table.lines().filter(|line| !line.starts_with('#')).map(parse_row).collect()
}

fn parse_row(line: &str) -> io::Result<Row> {
    let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
    let [file, connection, direction, frames, eols, commands, digest, error] =
        cells.try_into().map_err(|_| io::Error::other(format!("not eight cells: {line}")))?;
    Ok(Row { file, connection, direction, frames, eols, commands, digest, error })
}

/// All transcripts by file name.
fn transcripts() -> io::Result<Vec<(String, Vec<Connection>)>> {
    let mut transcripts = Vec::new();
    for entry in fs::read_dir(CAPTURES)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&file).extension().is_some_and(|extension| extension == "txt") {
            let connections = transcript::parse(&fs::read(Path::new(CAPTURES).join(&file))?);
            transcripts.push((file, connections.map_err(io::Error::other)?));
        }
    }
    Ok(transcripts)
}
