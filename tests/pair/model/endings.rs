//! How sessions may end for what became of the connection, and what the client knows of its requests
//! then.

use stomp_proto::client::{ReceiptId, Unconfirmed};

use super::books::What;
use super::player::{Player, Stage};
use crate::harness::ms;
use crate::network::Wire;

/// A request of the client's that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) what: What,
    /// The message that it settles.
    pub(crate) settles: Option<u64>,
    pub(crate) receipt: Option<ReceiptId>,
    /// The octets that go out before it.
    pub(crate) start: usize,
    pub(crate) answer: Answer,
}

/// What the client was told about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Nothing,
    Receipt,
    Error,
}

impl Player {
    /// Whether a session that wrote all this and no more has said a frame in half.
    fn is_torn(octets: &[u8]) -> bool {
        octets.iter().rfind(|octet| **octet != b'\n').is_some_and(|octet| *octet != 0)
    }

    /// How a stream ends for whoever has read it: `None` inside a frame.
    fn end_of_stream(wire: &Wire, is_leaving: bool) -> String {
        let octets = wire.heard();
        match (wire.is_reset(), is_leaving) {
            (true, _) => "Lost".to_owned(),
            (false, _) if Self::is_torn(octets) => {
                let error = format!("DecodeError {{ kind: Truncated, offset: {} }}", octets.len());
                format!("Protocol(Decode({error}))")
            }
            (false, true) => "Disconnected".to_owned(),
            (false, false) => "Eof".to_owned(),
        }
    }

    /// How the session of the server ends, if it does now for what became of the connection.
    pub(super) fn end_of_server(&self, told: &[String]) -> Option<String> {
        let (up, down) = (&self.pair.up, &self.pair.down);
        let has_said = |reason: &str| told.last().is_some_and(|told| told.starts_with(reason));
        if self.server == Stage::Closed {
            return None;
        }
        if has_said("CLOSED Lost") && down.is_closed() {
            // It wrote to a client that was gone.
            return Some("Lost".to_owned());
        }
        if has_said("CLOSED PeerSilent") && up.is_cut() {
            assert!(self.pair.server.heart_beat().incoming.is_some(), "it was promised nothing");
            return Some("PeerSilent".to_owned());
        }
        up.has_ended().then(|| Self::end_of_stream(up, self.server == Stage::Closing))
    }

    /// The session of the client ends for what became of the connection.
    pub(super) fn hear_the_end(&self, reason: &str) {
        let (up, down) = (&self.pair.up, &self.pair.down);
        let since = self.disconnected.map(|at| self.pair.now.saturating_sub(at));
        match reason {
            // It wrote to a server that was gone.
            "Lost" if up.is_closed() => return,
            "TimedOut" => return assert!(since.is_some_and(|it| it >= ms(5000))),
            "PeerSilent" => {
                assert!(down.is_cut() && self.pair.client.heart_beat().incoming.is_some());
            }
            _ => {
                assert!(down.has_ended(), "{reason}");
                assert_eq!(reason, Self::end_of_stream(down, since.is_some()));
            }
        }
        assert!(down.is_cut() || self.expected.is_empty(), "never told: {:?}", self.expected);
        let frames = down.heard().split(|octet| *octet == 0).count() - 1;
        assert_eq!(self.heard, frames, "the frames that came, and the events of them");
    }

    pub(super) fn note_confirmation(&mut self, told: &str) {
        let (about, answer) = match told.strip_prefix("RECEIPT ") {
            Some(receipt) => (receipt, Answer::Receipt),
            None => match told.strip_prefix("CLOSED by ERROR about ") {
                Some(about) => (about.split(':').next().unwrap_or_default(), Answer::Error),
                None => return,
            },
        };
        let is_it = |asked: &&mut Asked| asked.receipt.is_some_and(|it| it.to_string() == about);
        if let Some(asked) = self.asked.iter_mut().find(is_it) {
            asked.answer = answer;
        }
    }

    /// The client names the requests that were not answered, and whether they have left, and no other.
    pub(super) fn check_unconfirmed(&self) {
        let left = self.pair.up.record().len();
        let owed = self.asked.iter().filter(|asked| asked.answer == Answer::Nothing);
        let owed = owed.filter_map(|asked| {
            Some(Unconfirmed { receipt: asked.receipt?, left: left > asked.start })
        });
        assert!(owed.eq(self.pair.client.unconfirmed()), "{:?}", self.asked);
    }
}
