//! Strict parsers of header values.

use core::fmt;

/// How the messages of a subscription are acknowledged: the `ack` header of SUBSCRIBE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AckMode {
    /// `auto`: a message counts as consumed once it is sent.
    #[default]
    Auto,
    /// `client`: an ACK or NACK covers all messages of the subscription up to its own.
    Client,
    /// `client-individual`: an ACK or NACK covers its own message; since 1.1.
    ClientIndividual,
}

impl AckMode {
    /// The mode as the header writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Client => "client",
            Self::ClientIndividual => "client-individual",
        }
    }

    /// Whether the client acknowledges.
    pub(crate) fn is_by_client(self) -> bool {
        self != Self::Auto
    }

    /// The mode that a header value names.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let all = [Self::Auto, Self::Client, Self::ClientIndividual];
        all.into_iter().find(|mode| mode.as_str() == value)
    }
}

impl fmt::Display for AckMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Blanks: what may surround an item of a list, and what 1.0 pads values with.
pub(crate) const BLANKS: [char; 2] = [' ', '\t'];

/// The number that a decimal header value stands for: one digit or more and nothing else.
///
/// By hand because `str::parse` takes a sign. Saturates: every bound that such a number is held
/// against is far lower.
pub(crate) fn decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0u64, |number, octet| {
        let digit = octet.wrapping_sub(b'0');
        (digit < 10).then(|| number.saturating_mul(10).saturating_add(u64::from(digit)))
    })
}

/// `value` without the blanks before it.
pub(crate) fn trim_leading_blanks(value: &[u8]) -> &[u8] {
    let blanks = value.iter().take_while(|octet| is_blank(**octet)).count();
    value.get(blanks..).unwrap_or_default()
}

/// `value` without the blanks around it.
pub(crate) fn trim_blanks(value: &[u8]) -> &[u8] {
    let value = trim_leading_blanks(value);
    let blanks = value.iter().rev().take_while(|octet| is_blank(**octet)).count();
    value.get(..value.len().saturating_sub(blanks)).unwrap_or_default()
}

pub(crate) fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// requirement B-009, field cases B06 and B07
    #[test]
    fn a_decimal_is_digits_and_nothing_else() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"005"), Some(5));
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), Some(u64::MAX), "saturates");
        assert_eq!(decimal(b"99999999999999999999999999"), Some(u64::MAX), "saturates");
        for wrong in
            [&b""[..], b"+5", b"-1", b" 5", b"5 ", b"5a", b"5:", b"5/", b"0x5", b"5.0", b"\xb2"]
        {
            assert_eq!(decimal(wrong), None, "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn blanks_are_spaces_and_tabs() {
        assert_eq!(trim_leading_blanks(b" \t a "), b"a ");
        assert_eq!(trim_leading_blanks(b"  "), b"");
        assert_eq!(trim_blanks(b" \ta b\t "), b"a b");
        assert_eq!(trim_blanks(b" \t "), b"");
        assert_eq!(trim_blanks(b"\x0ba"), b"\x0ba");
    }
}
