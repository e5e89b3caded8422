//! The pages of clauses name tests that exist, and tests name clauses that are there.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic where it sets things up")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What one page says, by the ids of its clauses.
type Page = HashMap<String, Row>;

#[derive(Debug)]
struct Row {
    versions: String,
    tests: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a page: a clause first, its versions second, and in the last column the tests.
fn page(name: &str) -> Page {
    let mut page = Page::new();
    for line in text(Path::new("docs").join(name)).lines() {
        let mut columns = line.trim_matches('|').split(" | ").map(str::trim);
        let (Some(id), Some(versions)) = (columns.next(), columns.next()) else { continue };
        if parts(id).is_none() {
            continue;
        }
        let last = columns.last().unwrap();
        let tests = last.split(", ").map(|test| test.trim_matches('`').to_owned()).collect();
        let row = Row { versions: versions.to_owned(), tests };
        assert!(page.insert(id.to_owned(), row).is_none(), "{id} is there twice");
    }
    page
}

fn pages() -> Page {
    let (mut all, silences) = (page("clauses.md"), page("silences.md"));
    assert!(all.len() > 150 && silences.len() > 90, "{} and {}", all.len(), silences.len());
    for (id, row) in silences {
        assert!(all.insert(id.clone(), row).is_none(), "{id} is in both");
    }
    all
}

/// `HB-007`: `HB` and 7.
fn parts(id: &str) -> Option<(&str, u32)> {
    let (group, number) = id.split_once('-')?;
    let is_group =
        (1..=2).contains(&group.len()) && group.bytes().all(|octet| octet.is_ascii_uppercase());
    if !is_group || number.len() != 3 {
        return None;
    }
    Some((group, number.parse().ok()?))
}

/// The clauses of `M-001 to M-003, SU-010`: four.
fn clauses(text: &str) -> Vec<String> {
    let words = text.split(|it: char| it != '-' && !it.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut clauses = Vec::new();
    for (at, id) in words.iter().enumerate() {
        let Some((group, first)) = parts(id) else { continue };
        let last = match words.get(at + 1..at + 3) {
            Some(["to", last]) => parts(last).map_or(first, |(_, last)| last),
            _ => first,
        };
        clauses.extend((first..=last).map(|number| format!("{group}-{number:03}")));
    }
    clauses
}

/// The functions of a file that are tests.
fn tests(source: &str) -> HashSet<&str> {
    let mut tests = HashSet::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            if core::mem::take(&mut is_test) {
                tests.extend(rest.split('(').next());
            }
        }
    }
    tests
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn each_clause_is_shown_by_tests_that_are_there() {
    let vectors = text("tests/data/codec-vectors.jsonl");
    for (id, row) in pages() {
        for test in row.tests {
            if test == "vectors" {
                assert!(vectors.contains(&format!("\"id\": \"{id}")), "{id} has no vector");
                continue;
            }
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{id}: {test:?}"));
            let directory = if file.starts_with("src/") { "" } else { "tests" };
            let source = text(Path::new(directory).join(file).with_extension("rs"));
            assert!(tests(&source).contains(name), "{id}: there is no test {test}");
        }
    }
}

#[test]
fn each_clause_is_of_some_version() {
    for (id, row) in pages() {
        let known = |version: &str| matches!(version, "1.0" | "1.1" | "1.2");
        let is_sound = row.versions == "all" || row.versions.split(", ").all(known);
        assert!(is_sound, "{id}: {}", row.versions);
    }
}

#[test]
fn each_clause_that_a_test_names_is_in_the_pages() {
    let pages = pages();
    let mut files = Vec::new();
    for directory in ["src", "tests", "examples"] {
        sources(&root().join(directory), &mut files);
    }
    let mut named = 0;
    for file in files {
        for line in text(&file).lines().map(str::trim) {
            let Some((_, rest)) =
                line.strip_prefix("/// ").and_then(|it| it.split_once("requirement"))
            else {
                continue;
            };
            for id in clauses(rest) {
                assert!(pages.contains_key(&id), "{}: {id}", file.display());
                named += 1;
            }
        }
    }
    assert!(named > 300, "{named}");
}
