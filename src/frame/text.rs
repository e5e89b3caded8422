//! Owned text, inline when short, for the ids that a session keeps.

use alloc::boxed::Box;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// An owned, immutable string that needs no allocation up to [`Text::INLINE`] octets.
///
/// Ids on the wire are nearly always that short. It never points into a read buffer, so keeping one
/// keeps nothing else alive.
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, octets: [u8; Text::INLINE] },
    Heap(Box<str>),
}

impl Text {
    /// The longest text, in octets, that is kept without an allocation.
    pub const INLINE: usize = 22;

    /// Copies `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut octets = [0; Self::INLINE];
        let short = octets.get_mut(..text.len());
        match (short, u8::try_from(text.len())) {
            (Some(short), Ok(len)) => {
                short.copy_from_slice(text.as_bytes());
                Self(Repr::Inline { len, octets })
            }
            _ => Self(Repr::Heap(text.into())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // Always valid: it was copied from a `str`. The second look is the price of safe code.
            Repr::Inline { len, octets } => octets
                .get(..usize::from(*len))
                .and_then(|octets| core::str::from_utf8(octets).ok())
                .unwrap_or_default(),
            Repr::Heap(text) => text,
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn short_and_long_texts_read_back() {
        for len in [0, 1, 21, 22, 23, 300] {
            let text = "x".repeat(len);
            assert_eq!(Text::new(&text), *text);
            assert_eq!(Text::new(&text).clone(), Text::new(&text));
            let inline = matches!(Text::new(&text).0, Repr::Inline { .. });
            assert_eq!(inline, len <= Text::INLINE, "{len} octets");
        }
        assert_eq!(size_of::<Text>(), 24);
    }

    /// The octets that a hash is made of.
    #[derive(Default)]
    struct Hashed(Vec<u8>);

    impl Hasher for Hashed {
        fn write(&mut self, octets: &[u8]) {
            self.0.extend_from_slice(octets);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_text_is_found_by_its_str_and_by_no_other() {
        for (one, other) in [("a", "b"), ("a", ""), ("a", &*"a".repeat(40))] {
            let (text, str) = (Text::new(one), Text::new(other));
            assert_ne!(text, str);
            assert_ne!(text, *other);
            assert_ne!(text, other);
            assert_eq!((text.as_ref(), str.as_ref()), (one, other));
            let (mut hash_of_text, mut hash_of_str) = (Hashed::default(), Hashed::default());
            str.hash(&mut hash_of_text);
            other.hash(&mut hash_of_str);
            assert_eq!(hash_of_text.0, hash_of_str.0);
        }
    }

    #[test]
    fn a_text_compares_and_prints_like_a_str() {
        let euros = "\u{20ac}".repeat(8);
        assert_eq!(Text::new(&euros), *euros, "24 octets, 8 characters");
        assert!(Text::new("a") < Text::new(&"b".repeat(40)));
        assert_eq!(format!("{:?} {:>3}", Text::new("a\n"), Text::new("b")), "\"a\\n\"   b");
    }
}
