//! The first line of a frame: which command it is, or at which octet it can be none.

use crate::Command;

/// What the start of a frame says about its command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// A whole command line, that long with its line end.
    Command { command: Command, line_len: usize },
    /// The start of a command line.
    Partial,
    /// No command goes on with the octet there.
    Impossible { at: usize },
}

#[inline]
pub(super) fn recognise(window: &[u8]) -> Recognised {
    use Command as C;
    let line = match window.first() {
        Some(b'M') => command_line(window, b"MESSAGE", C::Message),
        Some(b'S') => command_line(window, b"SEND", C::Send)
            .or_else(|| command_line(window, b"SUBSCRIBE", C::Subscribe))
            .or_else(|| command_line(window, b"STOMP", C::Stomp)),
        Some(b'A') => command_line(window, b"ACK", C::Ack)
            .or_else(|| command_line(window, b"ABORT", C::Abort)),
        Some(b'R') => command_line(window, b"RECEIPT", C::Receipt),
        Some(b'N') => command_line(window, b"NACK", C::Nack),
        Some(b'B') => command_line(window, b"BEGIN", C::Begin),
        Some(b'C') => command_line(window, b"COMMIT", C::Commit)
            .or_else(|| command_line(window, b"CONNECT", C::Connect))
            .or_else(|| command_line(window, b"CONNECTED", C::Connected)),
        Some(b'D') => command_line(window, b"DISCONNECT", C::Disconnect),
        Some(b'U') => command_line(window, b"UNSUBSCRIBE", C::Unsubscribe),
        Some(b'E') => command_line(window, b"ERROR", C::Error),
        _ => None,
    };
    line.unwrap_or_else(|| unfinished(window))
}

/// The length is a constant, so that the comparison needs no call.
#[inline]
fn command_line<const N: usize>(
    window: &[u8],
    name: &[u8; N],
    command: Command,
) -> Option<Recognised> {
    match window.strip_prefix(name)? {
        [b'\n', ..] => Some(Recognised::Command { command, line_len: N + 1 }),
        [b'\r', b'\n', ..] => Some(Recognised::Command { command, line_len: N + 2 }),
        _ => None,
    }
}

#[cold]
fn unfinished(window: &[u8]) -> Recognised {
    let may_become = |command: &Command| command.as_str().as_bytes().first() == window.first();
    let common = |command: Command| {
        let line = command.as_str().bytes().chain(*b"\r\n");
        window.iter().zip(line).take_while(|(octet, wanted)| *octet == wanted).count()
    };
    let at = Command::ALL.into_iter().filter(may_become).map(common).max().unwrap_or(0);
    if at == window.len() { Recognised::Partial } else { Recognised::Impossible { at } }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn every_command_is_recognised_with_either_line_end_and_waited_for() {
        for command in Command::ALL {
            for eol in ["\n", "\r\n"] {
                let line = format!("{command}{eol}");
                let line_len = line.len();
                let recognised = recognise(format!("{line}x:y").as_bytes());
                assert_eq!(recognised, Recognised::Command { command, line_len });
                for cut in 0..line_len {
                    assert_eq!(recognise(&line.as_bytes()[..cut]), Recognised::Partial);
                }
            }
        }
    }

    #[test]
    fn the_first_octet_that_no_command_goes_on_with_is_named() {
        for (start, at) in [
            ("GET / HTTP/1.1\r\n", 0),
            ("\u{16}\u{3}\u{1}", 0),
            ("\u{feff}CONNECT\n", 0),
            ("send\n", 0),
            ("SENDX", 4),
            ("SEND \n", 4),
            ("SE\rND", 2),
            ("SUBSCRIPTION", 7),
            ("CONNECTE\n", 8),
            ("CONNECT\r\r\n", 8),
            ("STOMP\0", 5),
            ("A\n", 1),
            ("SENDSENDSEND", 4),
        ] {
            assert_eq!(recognise(start.as_bytes()), Recognised::Impossible { at }, "{start:?}");
        }
    }
}
