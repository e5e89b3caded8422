//! The escaping rules of each version: check, unescape (lazily), escape.
//!
//! STOMP 1.1 and 1.2, "Value Encoding". A single pass from left to right; octets of a multi-octet
//! UTF-8 sequence are never mistaken for a backslash.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use memchr::memchr;

use super::Command;
use crate::Version;

/// Which escapes stand for something in the head of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// None: a backslash is data.
    None,
    /// `\n`, `\c` and `\\`.
    V1_1,
    /// `\n`, `\c`, `\\` and `\r`.
    V1_2,
}

impl Escapes {
    /// The escapes of a frame; before a version is agreed there are none.
    pub(crate) fn of(version: Option<Version>, command: Command) -> Self {
        let of_version = match version {
            None | Some(Version::V1_0) => Self::None,
            Some(Version::V1_1) => Self::V1_1,
            Some(Version::V1_2) => Self::V1_2,
        };
        if command.escapes_headers() { of_version } else { Self::None }
    }

    /// The octet that a backslash followed by `code` stands for.
    #[inline]
    pub(crate) const fn decode(self, code: u8) -> Option<u8> {
        match (self, code) {
            (Self::None, _) => None,
            (_, b'n') => Some(b'\n'),
            (_, b'c') => Some(b':'),
            (_, b'\\') => Some(b'\\'),
            (Self::V1_2, b'r') => Some(b'\r'),
            _ => None,
        }
    }

    /// The codes that can be decoded.
    #[inline]
    pub(crate) const fn codes(self) -> Codes {
        const V1_1: Codes = Codes::of(Escapes::V1_1);
        const V1_2: Codes = Codes::of(Escapes::V1_2);
        match self {
            Self::None => Codes(0),
            Self::V1_1 => V1_1,
            Self::V1_2 => V1_2,
        }
    }

    /// The code that stands behind a backslash for `octet`.
    pub(crate) fn encode(self, octet: u8) -> Option<u8> {
        match octet {
            _ if self == Self::None => None,
            b'\n' => Some(b'n'),
            b':' => Some(b'c'),
            b'\\' => Some(b'\\'),
            b'\r' if self == Self::V1_2 => Some(b'r'),
            _ => None,
        }
    }

    /// Where the first backslash stands that starts no defined escape.
    pub(crate) fn first_undefined(self, text: &[u8]) -> Option<usize> {
        if self == Self::None {
            return None;
        }
        let mut from = 0;
        while let Some(found) = memchr(b'\\', text.get(from..)?) {
            let backslash = from + found;
            let code = text.get(backslash + 1).copied();
            if code.and_then(|code| self.decode(code)).is_none() {
                return Some(backslash);
            }
            from = backslash + 2;
        }
        None
    }

    /// The text without its escapes, borrowed where it has none. An undefined escape stays as it is.
    #[inline]
    pub(crate) fn unescape(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::None || !text.contains(&b'\\') {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.unescaped(text))
    }

    fn unescaped(self, text: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = split_at_backslash(rest) {
            plain.extend_from_slice(before);
            let code = after.first().copied();
            if let Some(octet) = code.and_then(|code| self.decode(code)) {
                plain.push(octet);
                rest = after.get(1..).unwrap_or_default();
            } else {
                plain.push(b'\\');
                rest = after;
            }
        }
        plain.extend_from_slice(rest);
        plain
    }
}

/// A set of escape codes, which is asked faster than [`Escapes::decode`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes(u32);

impl Codes {
    /// The lowest code, which has the lowest bit.
    const LOWEST: u8 = b'\\';

    const fn of(escapes: Escapes) -> Self {
        let mut codes = 0;
        let mut bit = 0;
        while bit < 32 {
            if escapes.decode(Self::LOWEST + bit).is_some() {
                codes |= 1 << bit;
            }
            bit += 1;
        }
        Self(codes)
    }

    #[inline]
    pub(crate) fn contain(self, code: u8) -> bool {
        let bit = u32::from(code.wrapping_sub(Self::LOWEST));
        self.0.checked_shr(bit).is_some_and(|codes| codes & 1 == 1)
    }
}

fn split_at_backslash(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let backslash = memchr(b'\\', text)?;
    let (before, after) = text.split_at_checked(backslash)?;
    Some((before, after.get(1..)?))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use proptest::prelude::*;

    use super::*;

    fn unescaped(escapes: Escapes, text: &str) -> String {
        String::from_utf8(escapes.unescape(text.as_bytes()).into_owned()).unwrap()
    }

    /// requirements H-001 to H-012
    #[test]
    fn escapes_are_undone_in_one_pass() {
        let (v11, v12) = (Escapes::V1_1, Escapes::V1_2);
        for (escapes, text, plain) in [
            (v12, r"a\nb", "a\nb"),
            (v12, r"a\cb", "a:b"),
            (v12, r"a\\b", r"a\b"),
            (v12, r"a\rb", "a\rb"),
            (v12, r"\\n", r"\n"),
            (v12, r"\\\n", "\\\n"),
            (v12, r"\\c\\\\", r"\c\\"),
            (v11, r"a\nb\c\\", "a\nb:\\"),
            (Escapes::None, r"a\nb\t\", r"a\nb\t\"),
        ] {
            assert_eq!(escapes.first_undefined(text.as_bytes()), None, "{text}");
            assert_eq!(unescaped(escapes, text), plain, "{text}");
        }
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        for (escapes, text) in [(Escapes::None, &br"a\nb"[..]), (Escapes::V1_2, b"a:b")] {
            assert!(matches!(escapes.unescape(text), Cow::Borrowed(it) if it == text));
        }
    }

    #[test]
    fn the_codes_are_those_that_can_be_decoded() {
        for escapes in [Escapes::None, Escapes::V1_1, Escapes::V1_2] {
            for code in 0..=255 {
                assert_eq!(escapes.codes().contain(code), escapes.decode(code).is_some(), "{code}");
            }
        }
    }

    #[test]
    fn undefined_escapes_are_found_and_stay_literal() {
        let (v11, v12) = (Escapes::V1_1, Escapes::V1_2);
        for (escapes, text, at) in [
            (v12, r"a\tb", 1),
            (v12, r"ab\", 2),
            (v12, r"\\\", 2),
            (v12, r"\n\\x\q", 5),
            (v11, r"a\rb", 1),
            (v12, r"\N", 0),
            (v12, "\\\u{e9}", 0),
        ] {
            assert_eq!(escapes.first_undefined(text.as_bytes()), Some(at), "{text}");
        }
        assert_eq!(unescaped(v12, r"bad \x\c\"), r"bad \x:\");
        assert_eq!(unescaped(v11, r"a\rb"), r"a\rb");
    }

    proptest! {
        #[test]
        fn unescape_undoes_escape(text in "[\\\\:\r\n\u{e9}a-d]{0,40}", cr in any::<bool>()) {
            let escapes = if cr { Escapes::V1_2 } else { Escapes::V1_1 };
            let text = if cr { text } else { text.replace('\r', "") };
            let wire: Vec<u8> = text
                .bytes()
                .flat_map(|octet| match escapes.encode(octet) {
                    Some(code) => [Some(b'\\'), Some(code)],
                    None => [Some(octet), None],
                })
                .flatten()
                .collect();
            prop_assert!(!wire.iter().any(|octet| matches!(octet, b'\n' | b':' | b'\r')));
            prop_assert_eq!(escapes.first_undefined(&wire), None);
            prop_assert_eq!(&*escapes.unescape(&wire), text.as_bytes());
        }

        #[test]
        fn what_has_no_undefined_escape_unescapes_to_its_only_reading(
            wire in "[\\\\ncrt:]{0,24}",
        ) {
            // A second, slower reading: octet by octet with a pending backslash.
            let mut plain = Vec::new();
            let mut pending = false;
            let mut undefined = false;
            for octet in wire.bytes() {
                match (pending, octet) {
                    (true, b'n') => plain.push(b'\n'),
                    (true, b'c') => plain.push(b':'),
                    (true, b'r') => plain.push(b'\r'),
                    (true, b'\\') => plain.push(b'\\'),
                    (true, _) => undefined = true,
                    (false, b'\\') => { pending = true; continue }
                    (false, octet) => plain.push(octet),
                }
                pending = false;
            }
            undefined |= pending;
            prop_assert_eq!(Escapes::V1_2.first_undefined(wire.as_bytes()).is_some(), undefined);
            if !undefined {
                prop_assert_eq!(&*Escapes::V1_2.unescape(wire.as_bytes()), &plain[..]);
            }
        }
    }
}
