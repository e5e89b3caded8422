//! What a contestant has handed out, so that no number is one of a failure.

use std::borrow::Cow;
use std::hint::black_box;

/// A frame as a contestant hands it out.
pub(crate) trait Seen {
    /// Whether it is a frame, and no heart-beat.
    fn is_frame(&self) -> bool {
        true
    }

    fn body_len(&self) -> usize;

    /// The value of a header, without its escapes.
    fn header(&self, name: &str) -> Option<Cow<'_, str>>;
}

/// Counts frames and octets of bodies; the headers of the first frame are compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) frames: usize,
    pub(crate) body_octets: usize,
    expected: Option<Vec<(String, String)>>,
    /// Whether the headers of a frame were compared.
    pub(crate) compared: bool,
    /// What came otherwise than it was sent.
    pub(crate) wrong: Option<String>,
}

impl Tally {
    pub(crate) fn expecting(headers: Vec<(String, String)>) -> Self {
        Self { expected: Some(headers), ..Self::default() }
    }

    /// Counts what was handed out, unless it is a heart-beat.
    pub(crate) fn frame(&mut self, seen: &impl Seen) {
        if !seen.is_frame() {
            return;
        }
        if let Some(expected) = self.expected.take() {
            self.compared = true;
            self.compare(&expected, seen);
        }
        self.skip(seen.body_len());
        black_box(seen);
    }

    /// Counts a frame of which nothing is handed out.
    pub(crate) fn skip(&mut self, body_octets: usize) {
        self.frames += 1;
        self.body_octets += body_octets;
    }

    fn compare(&mut self, expected: &[(String, String)], seen: &impl Seen) {
        for (name, value) in expected {
            let found = seen.header(name);
            if found.as_deref() != Some(value) {
                let found = found.map_or_else(|| "lost".to_owned(), |found| format!("{found:?}"));
                self.wrong = Some(format!("header {name} is {found}, not {value:?}"));
                return;
            }
        }
    }
}

/// Looks for a header in a list of pairs.
pub(crate) fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<Cow<'a, str>> {
    let (_, value) = headers.iter().find(|(key, _)| key == name)?;
    Some(Cow::Borrowed(value))
}

/// The same among octets.
pub(crate) fn find_octets<'a>(
    headers: &'a [(Vec<u8>, Vec<u8>)],
    name: &str,
) -> Option<Cow<'a, str>> {
    let (_, value) = headers.iter().find(|(key, _)| key == name.as_bytes())?;
    Some(String::from_utf8_lossy(value))
}
