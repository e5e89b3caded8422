//! The escapes in the names of destinations: fewer on the way in than on the way out.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What stands for a slash in a name.
pub(super) const SLASH: &str = "%2F";

/// Which escapes stand for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `%2F` is a slash; any other percent sign is itself. So RabbitMQ 4.3.5 reads SEND and SUBSCRIBE.
    Slash,
    /// `%XX` is an octet. So it writes MESSAGE.
    Octets,
}

impl Escapes {
    /// The name without its escapes; `None`: an escape that stands for nothing.
    pub(super) fn undo(self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Slash if name.contains(SLASH) => Some(Cow::Owned(name.replace(SLASH, "/"))),
            Self::Octets if name.contains('%') => octets_unescaped(name).map(Cow::Owned),
            Self::Slash | Self::Octets => Some(Cow::Borrowed(name)),
        }
    }
}

/// A name on its way into a SEND or SUBSCRIBE.
pub(super) struct SlashEscaped<'a>(pub(super) &'a str);

impl fmt::Display for SlashEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.split('/').enumerate() {
            if index > 0 {
                f.write_str(SLASH)?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// A name on its way out in a MESSAGE.
pub(super) struct OctetsEscaped<'a>(pub(super) &'a str);

impl fmt::Display for OctetsEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;

        for octet in self.0.bytes() {
            match octet {
                // RabbitMQ 4.3.5 lets 127 pass.
                b'/' | b'%' | ..32 | 128.. => write!(f, "%{octet:02X}")?,
                octet => f.write_char(char::from(octet))?,
            }
        }
        Ok(())
    }
}

fn octets_unescaped(name: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => return String::from_utf8(octets).ok(),
            [b'%', high, low, behind @ ..] => {
                octets.push((hex_digit(*high)? << 4) | hex_digit(*low)?);
                behind
            }
            [b'%', ..] => return None,
            [octet, behind @ ..] => {
                octets.push(*octet);
                behind
            }
        };
    }
}

fn hex_digit(octet: u8) -> Option<u8> {
    char::from(octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_escapes_is_not_copied() {
        for (escapes, name) in [(Escapes::Slash, "a%2f%"), (Escapes::Octets, "a.b")] {
            assert!(matches!(escapes.undo(name), Some(Cow::Borrowed(it)) if it == name), "{name}");
        }
    }
}
