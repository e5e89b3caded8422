//! Any octets against a client with an application that asks by a script: no panic, what is written is
//! sound, nothing follows the last event, and what was never confirmed is said.

#![no_main]

mod outgoing;
mod script;

use core::time::Duration;

use libfuzzer_sys::fuzz_target;
use outgoing::Outgoing;
use script::Script;
use stomp_proto::client::{
    AckMode, AckRequest, AckToken, EndTransaction, Event, SendRequest, SubscribeRequest,
    SubscriptionId, Transaction, UnsubscribeRequest,
};
use stomp_proto::codec::Limits;
use stomp_proto::{Client, ClientConfig, CloseReason, HeartBeat, Session, Version};

const PASSCODE: &str = "secret";

fuzz_target!(|input: &[u8]| {
    let Some((mut script, octets)) = Script::of(input) else { return };
    let mut config = ClientConfig::new("broker").login("user").passcode(PASSCODE);
    config = config.heart_beat(HeartBeat { can_send: 1000, wants: 1000 });
    if script.choose(2) == 1 {
        config = config.versions(script.pick(&Version::ALL));
    }
    if script.choose(2) == 1 {
        let mut limits = Limits::default();
        (limits.max_head_len, limits.max_connect_head_len, limits.max_body_len) = (200, 100, 50);
        (limits.max_inbox_len, limits.max_outbox_len) = (300, 400);
        config = config.limits(limits);
    }
    let client = Client::new(config.clone(), Duration::ZERO).unwrap();
    let mut app = App {
        client,
        now: Duration::ZERO,
        subscriptions: Vec::new(),
        tokens: Vec::new(),
        transactions: Vec::new(),
        sent: 0,
        confirmed: 0,
        is_closed: false,
        // What the broker says is passed on, whatever it is.
        is_told: octets.windows(PASSCODE.len()).any(|it| it == PASSCODE.as_bytes()),
        outgoing: Outgoing::default(),
    };
    let mut rest = octets;
    while !rest.is_empty() && app.client.wants_read() {
        let size = rest.len().min(1 + script.choose(64));
        app.client.receive(&rest[..size]);
        rest = &rest[size..];
        app.turn(&mut script);
    }
    match script.choose(3) {
        0 => app.client.handle_eof(),
        1 => app.client.handle_lost(),
        _ => {}
    }
    for _ in 0..20 {
        app.now += Duration::from_secs(3600);
        app.turn(&mut script);
    }
    app.client.handle_lost();
    app.turn(&mut script);
    assert!(app.is_closed && app.client.is_finished());
    assert_eq!(app.client.unconfirmed().count(), app.sent - app.confirmed);
    // A successor takes over whatever was left.
    if let Ok(successor) = app.client.successor(config, app.now) {
        assert!(!successor.is_finished());
    }
});

struct App {
    client: Client<Duration>,
    now: Duration,
    subscriptions: Vec<SubscriptionId>,
    tokens: Vec<AckToken>,
    transactions: Vec<Transaction>,
    /// Requests with a receipt that were taken, and those that were answered.
    sent: usize,
    confirmed: usize,
    is_closed: bool,
    /// Whether the broker says the passcode.
    is_told: bool,
    outgoing: Outgoing,
}

impl App {
    fn turn(&mut self, script: &mut Script<'_>) {
        self.now += Duration::from_millis(script.choose(3) as u64);
        self.client.handle_timeout(self.now);
        while let Some(event) = self.client.poll_event(self.now) {
            assert!(!self.is_closed, "{event:?} behind the last");
            match event {
                Event::Message(message) => self.tokens.extend(message.token()),
                Event::Receipt(_) => self.confirmed += 1,
                Event::Closed(reason) => {
                    // An ERROR that names a request has told what became of that.
                    if let CloseReason::Error { receipt: Some(_), .. } = &reason {
                        self.confirmed += 1;
                    }
                    let shown = format!("{reason} {reason:?}");
                    assert!(self.is_told || !shown.contains(PASSCODE), "{shown}");
                    self.is_closed = true;
                }
                Event::Connected(_) | Event::UnknownReceipt(_) => {}
            }
        }
        self.ask(script);
        let version = self.client.version();
        if script.choose(4) > 0 {
            self.outgoing.take(self.client.outbox(), version);
        }
        assert!(!format!("{:?}", self.client).contains(PASSCODE));
    }

    /// A request; those that are refused change nothing.
    fn ask(&mut self, script: &mut Script<'_>) {
        let modes = [AckMode::Auto, AckMode::Client, AckMode::ClientIndividual];
        match script.choose(10) {
            0 | 1 => {
                let id = script.choose(3).to_string();
                let request = SubscribeRequest::new("/queue/a").id(&id).ack(script.pick(&modes));
                self.subscriptions.extend(self.client.subscribe(&request));
            }
            2 if !self.subscriptions.is_empty() => {
                let subscription =
                    self.subscriptions.swap_remove(script.choose(self.subscriptions.len()));
                let receipt = self.client.next_receipt();
                let request = UnsubscribeRequest::new(subscription).receipt(receipt);
                self.sent += usize::from(self.client.unsubscribe(request).is_ok());
            }
            3 => {
                let receipt = self.client.next_receipt();
                let request =
                    SendRequest::new("/queue/b").header("a", "b:c").body("hi").receipt(receipt);
                self.sent += usize::from(self.client.send(&request).is_ok());
            }
            4 | 5 if !self.tokens.is_empty() => {
                let token = self.tokens.swap_remove(script.choose(self.tokens.len()));
                let mut request = AckRequest::new(&token);
                if !self.transactions.is_empty() && script.choose(2) == 1 {
                    request = request.transaction(&self.transactions[0]);
                }
                let _: Result<_, _> = match script.choose(2) {
                    0 => self.client.ack(request),
                    _ => self.client.nack(request),
                };
            }
            6 => self.transactions.extend(self.client.begin()),
            7 if !self.transactions.is_empty() => {
                let transaction = self.transactions.swap_remove(0);
                let end = EndTransaction::new(transaction);
                let _: Result<_, _> = match script.choose(2) {
                    0 => self.client.commit(end).map_err(|_| ()),
                    _ => self.client.abort(end).map_err(|_| ()),
                };
            }
            8 if script.choose(8) == 0 => {
                // Its receipt is not one of ours.
                let _: Result<_, _> = self.client.disconnect(self.now);
            }
            _ => {}
        }
    }
}
