//! The application behind the client: it keeps what comes and puts it in words.

use core::time::Duration;

use bytes::Bytes;
use stomp_proto::client::{AckToken, Connected, Event, Message, SubscriptionId};
use stomp_proto::{Client, CloseReason, Headers};

use crate::harness::Application;

#[derive(Debug)]
pub(crate) struct Listener {
    /// Events that it takes in one turn.
    pub(crate) appetite: usize,
    taken: usize,
    /// In the order in which they were made; `#0` is the first.
    pub(crate) subscriptions: Vec<SubscriptionId>,
    pub(crate) connected: Option<Connected>,
    pub(crate) messages: Vec<Message>,
    pub(crate) closed: Option<CloseReason>,
    told: Vec<String>,
}

impl Default for Listener {
    fn default() -> Self {
        Self {
            appetite: usize::MAX,
            taken: 0,
            subscriptions: Vec::new(),
            connected: None,
            messages: Vec::new(),
            closed: None,
            told: Vec::new(),
        }
    }
}

impl Listener {
    /// The events since the last time, in words.
    pub(crate) fn told(&mut self) -> Vec<String> {
        core::mem::take(&mut self.told)
    }

    /// A turn begins.
    pub(crate) fn sit_down(&mut self) {
        self.taken = 0;
    }

    pub(crate) fn meet_a_new_session(&mut self) {
        self.closed = None;
        self.connected = None;
    }

    /// The last message with that body.
    pub(crate) fn message(&self, body: &str) -> &Message {
        let message = self.messages.iter().rfind(|message| *message.body() == body);
        message.unwrap_or_else(|| panic!("no message {body:?}"))
    }

    /// What acknowledges that message.
    pub(crate) fn token(&self, body: &str) -> AckToken {
        self.message(body).token().expect("a message that is acknowledged")
    }

    pub(crate) fn bodies(&self) -> Vec<&[u8]> {
        self.messages.iter().map(|message| &message.body()[..]).collect()
    }

    fn words(&self, event: &Event) -> String {
        match event {
            Event::Connected(connected) => format!("CONNECTED {}", connected.version()),
            Event::Message(message) => {
                let of = self.name(message.subscription());
                format!("MESSAGE {of} {}", body(message.body()))
            }
            Event::Receipt(receipt) => format!("RECEIPT {receipt}"),
            Event::UnknownReceipt(receipt) => format!("RECEIPT of nothing: {receipt}"),
            Event::Closed(CloseReason::Error { frame, receipt }) => {
                let message = frame.header("message").unwrap_or_default().into_owned();
                match receipt {
                    Some(receipt) => format!("CLOSED by ERROR about {receipt}: {message}"),
                    None => format!("CLOSED by ERROR: {message}"),
                }
            }
            Event::Closed(reason) => format!("CLOSED {reason:?}"),
        }
    }

    fn name(&self, subscription: Option<SubscriptionId>) -> String {
        let Some(subscription) = subscription else { return "of nobody".to_owned() };
        let number = self.subscriptions.iter().position(|known| *known == subscription);
        format!("#{}", number.expect("a subscription that was made"))
    }
}

impl Application<Client<Duration>> for Listener {
    fn is_hungry(&mut self) -> bool {
        self.taken < self.appetite
    }

    fn handle(&mut self, _: &mut Client<Duration>, event: Event, _: Duration) {
        assert_eq!(self.closed, None, "{event:?} after the last event");
        self.taken += 1;
        let words = self.words(&event);
        self.told.push(words);
        match event {
            Event::Message(message) => self.messages.push(message),
            Event::Closed(reason) => self.closed = Some(reason),
            Event::Connected(connected) => self.connected = Some(connected),
            Event::Receipt(_) | Event::UnknownReceipt(_) => {}
        }
    }
}

/// Headers as names and values, in their order.
pub(crate) fn headers(headers: Headers<'_>) -> Vec<(String, String)> {
    headers.iter().map(|it| (it.name().into_owned(), it.value().into_owned())).collect()
}

/// A body in words: itself if it is short.
pub(crate) fn body(body: &Bytes) -> String {
    if body.len() <= 40 {
        format!("{:?}", String::from_utf8_lossy(body))
    } else {
        format!("{} octets", body.len())
    }
}
