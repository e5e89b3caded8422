//! Holds the events of a replay against those that are kept in `events/`, one file a client.
//!
//! A section starts with the name of its capture and the end that was replayed; then comes a line
//! an event: milliseconds, and what happened. Both ends of at least one capture of each client,
//! broker and version are there.
//!
//! To add a section, add its first line and run the test. To regenerate all of them, run it too:
//! where a file is not as it should be, the test writes the one that should be and says where.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{broker, recording, user};

const EVENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay/events");

/// What starts the first line of a section.
const SECTION: &str = "# ";

#[test]
fn events_are_as_expected() {
    let differing: Vec<_> = files().iter().filter_map(|file| difference(file)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn each_client_broker_and_version_is_there_and_both_ends() {
    let (captures, sections) = (recording::captures(), sections());
    for end in ["client", "server"] {
        let of_end = sections.iter().filter(|section| section.1 == end);
        let shown: Vec<_> = of_end.map(|section| section.0.clone()).collect();
        assert_eq!(kinds(&shown), kinds(&captures), "{end}");
        assert_eq!(brokers(&shown), brokers(&captures), "{end}");
    }
    assert_eq!(distinct(sections.iter()).len(), sections.len(), "none is there twice");
}

/// What a file has otherwise than it should, in words.
fn difference(file: &Path) -> Option<String> {
    let expected = fs::read_to_string(file).expect("text");
    let actual = regenerate(&expected);
    if actual == expected {
        return None;
    }
    let name = format!("replay-{}", file.file_name()?.to_string_lossy());
    let written = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&written, actual).expect("written");
    Some(format!("diff {} {}", file.display(), written.display()))
}

/// The file with the same sections and what they should hold.
fn regenerate(file: &str) -> String {
    let titles = file.lines().filter(|line| line.starts_with(SECTION));
    let lines = titles.flat_map(|title| [vec![title.to_owned()], events(title)].concat());
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// The events of a section.
fn events(title: &str) -> Vec<String> {
    let (capture, end) = capture_and_end(title);
    let recordings = recording::of(capture);
    let [recording] = &recordings[..] else { panic!("{capture}: not one connection") };
    match end {
        "client" => user::replay(recording).record.told,
        "server" => broker::replay(recording).record.told,
        end => panic!("{end}: neither client nor server"),
    }
}

fn capture_and_end(title: &str) -> (&str, &str) {
    let title = title.strip_prefix(SECTION).expect("a title");
    title.split_once(' ').expect("a capture and an end")
}

/// Client, version and broker of each capture whose name tells them; all probes are one client.
fn kinds(captures: &[String]) -> Vec<(&str, &str, &str)> {
    let kinds = captures.iter().filter_map(|capture| {
        let (rest, broker) = capture.rsplit_once('-')?;
        let (client, version) = rest.rsplit_once('-')?;
        let client = if client.starts_with("raw-") { "raw" } else { without_setting(client) };
        version.starts_with("1.").then_some((client, version, broker))
    });
    distinct(kinds)
}

fn brokers(captures: &[String]) -> Vec<&str> {
    distinct(captures.iter().filter_map(|capture| Some(capture.rsplit_once('-')?.1)))
}

fn without_setting(client: &str) -> &str {
    let settings = ["_heartbeat", "_binary", "_deflate", "_split"];
    settings.iter().find_map(|setting| client.strip_suffix(setting)).unwrap_or(client)
}

fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<_> = items.collect();
    items.sort();
    items.dedup();
    items
}

/// The capture and the end of each section.
fn sections() -> Vec<(String, String)> {
    let files = files().into_iter().map(|file| fs::read_to_string(file).expect("text"));
    let files: Vec<_> = files.collect();
    let lines = files.iter().flat_map(|file| file.lines());
    let titles = lines.filter(|line| line.starts_with(SECTION)).map(capture_and_end);
    titles.map(|(capture, end)| (capture.to_owned(), end.to_owned())).collect()
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(EVENTS).expect("the events");
    entries.map(|entry| entry.expect("a file").path()).collect()
}
