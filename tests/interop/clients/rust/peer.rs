//! A session and what has arrived on it, waited for one by one.

use alloc::collections::VecDeque;
use std::net::TcpStream;
use std::time::Instant;

use stomp_proto::client::{
    AckMode, AckRequest, Event, Message, ReceiptId, SendRequest, SubscribeRequest, SubscriptionId,
    UnsubscribeRequest,
};
use stomp_proto::{Client, ClientConfig, CloseReason, HeartBeat};

use super::driver::Driver;
use super::{Outcome, Setting};

const BEAT: u32 = 1_000;

/// A client whose session is open. How long an answer may take is up to who runs the program.
pub(super) struct Peer {
    driver: Driver<Client<Instant>>,
    messages: VecDeque<Message>,
    receipts: Vec<ReceiptId>,
}

impl Peer {
    pub(super) fn connect(setting: &Setting) -> Outcome<Self> {
        let config = ClientConfig::new("/")
            .login("guest")
            .passcode("guest")
            .versions(setting.version)
            .heart_beat(HeartBeat { can_send: BEAT, wants: BEAT });
        let socket = TcpStream::connect(&setting.address)?;
        let mut driver = Driver::new(Client::new(config, Instant::now())?, socket)?;
        match driver.next_event() {
            Some(Event::Connected(connected)) if connected.version() == setting.version => {
                Ok(Self { driver, messages: VecDeque::new(), receipts: Vec::new() })
            }
            event => Err(format!("{event:?} instead of CONNECTED").into()),
        }
    }

    pub(super) fn session(&mut self) -> &mut Client<Instant> {
        self.driver.session()
    }

    /// Subscribes, and waits until that took effect.
    pub(super) fn subscribe(&mut self, queue: &str, ack: AckMode) -> Outcome<SubscriptionId> {
        let receipt = self.session().next_receipt();
        let request = SubscribeRequest::new(queue).ack(ack).receipt(receipt);
        let subscription = self.session().subscribe(&request)?;
        self.receipt(receipt)?;
        Ok(subscription)
    }

    /// Unsubscribes, and waits until that took effect.
    pub(super) fn unsubscribe(&mut self, subscription: SubscriptionId) -> Outcome<()> {
        let receipt = self.session().next_receipt();
        self.session().unsubscribe(UnsubscribeRequest::new(subscription).receipt(receipt))?;
        self.receipt(receipt)
    }

    /// Sends, and waits until the broker has the message.
    pub(super) fn send(&mut self, request: SendRequest<'_>) -> Outcome<()> {
        let receipt = self.session().next_receipt();
        self.session().send(&request.receipt(receipt))?;
        self.receipt(receipt)
    }

    /// Acknowledges, and waits until that took effect.
    pub(super) fn ack(&mut self, message: &Message) -> Outcome<()> {
        let receipt = self.session().next_receipt();
        let token = message.token().ok_or("a message without a token")?;
        self.session().ack(AckRequest::new(&token).receipt(receipt))?;
        self.receipt(receipt)
    }

    /// Gives a message back, and waits until that took effect.
    pub(super) fn nack(&mut self, message: &Message) -> Outcome<()> {
        let receipt = self.session().next_receipt();
        let token = message.token().ok_or("a message without a token")?;
        self.session().nack(AckRequest::new(&token).receipt(receipt))?;
        self.receipt(receipt)
    }

    /// The next message, which must have that body.
    pub(super) fn message(&mut self, body: &[u8]) -> Outcome<Message> {
        loop {
            if let Some(message) = self.messages.pop_front() {
                if message.body() == body {
                    return Ok(message);
                }
                let (is, should_be) = (start(message.body()), start(body));
                return Err(format!("the message {is} instead of {should_be}").into());
            }
            self.advance()?;
        }
    }

    pub(super) fn receipt(&mut self, receipt: ReceiptId) -> Outcome<()> {
        while !self.receipts.contains(&receipt) {
            self.advance()?;
        }
        Ok(())
    }

    /// Ends the session, which must go without a message that nobody waited for.
    pub(super) fn disconnect(mut self) -> Outcome<()> {
        self.driver.session().disconnect(Instant::now())?;
        let mut closed = None;
        while let Some(event) = self.driver.next_event() {
            match event {
                Event::Closed(reason) => closed = Some(reason),
                other => return Err(format!("{other:?} instead of the end").into()),
            }
        }
        match (closed, self.messages.is_empty()) {
            (Some(CloseReason::Disconnected), true) => Ok(()),
            other => Err(format!("ended with {other:?}").into()),
        }
    }

    fn advance(&mut self) -> Outcome<()> {
        match self.driver.next_event() {
            Some(Event::Message(message)) => self.messages.push_back(message),
            Some(Event::Receipt(receipt)) => self.receipts.push(receipt),
            event => {
                let error = self.driver.error();
                return Err(format!("unexpected {event:?} (socket: {error:?})").into());
            }
        }
        Ok(())
    }
}

/// What is shown of a body.
fn start(body: &[u8]) -> String {
    let shown = body.get(..40).unwrap_or(body);
    format!("\"{}\" of {} octets", shown.escape_ascii(), body.len())
}
