//! The application at the client's end: a waiter who brings an order in, gets one out, and leaves.

use core::error::Error;
use core::time::Duration;
use std::io;

use stomp_proto::client::{
    AckMode, AckRequest, Connected, EndTransaction, Event, Message, ReceiptId, SendRequest,
    SubscribeRequest,
};
use stomp_proto::frame::Role;
use stomp_proto::{Client, UsageError};

use super::journal::Journal;

const ORDERS: &str = "/queue/orders";
const BILLS: &str = "/queue/bills";

/// One note in three spellings, of which 1.2 can carry the first, 1.1 the second, 1.0 the third.
const NOTES: [&str; 3] = ["4:30\r\nno milk", "4:30\nno milk", "4:30, no milk"];

/// How long the waiter stays when all is done: long enough for heart-beats.
const REST: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct Waiter {
    order: Option<ReceiptId>,
    bill: Option<ReceiptId>,
    leaves_at: Option<Duration>,
}

impl Waiter {
    pub(crate) fn handle(
        &mut self,
        event: Event,
        client: &mut Client<Duration>,
        now: Duration,
        journal: &mut Journal<'_>,
    ) -> Result<(), Box<dyn Error>> {
        let mut note = |text: String| journal.note(now, Role::Client, &text);
        match event {
            Event::Connected(connected) => {
                note(describe(&connected))?;
                client.subscribe(&SubscribeRequest::new(ORDERS).ack(AckMode::Client))?;
                self.bring_order(client, note)?;
            }
            Event::Message(message) => {
                note(format!("an order: {}", message.body().escape_ascii()))?;
                self.serve(&message, client)?;
            }
            Event::Receipt(receipt) if Some(receipt) == self.order => {
                note("the broker has the order".into())?;
            }
            Event::Receipt(receipt) if Some(receipt) == self.bill => {
                note("committed: the bill is sent and the order settled".into())?;
                self.leaves_at = Some(now + REST);
            }
            Event::Receipt(_) | Event::UnknownReceipt(_) => {}
            Event::Closed(reason) => note(format!("closed: {reason}"))?,
        }
        Ok(())
    }

    /// An application has deadlines of its own, beside those of the session.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.leaves_at
    }

    pub(crate) fn handle_timeout(
        &mut self,
        client: &mut Client<Duration>,
        now: Duration,
    ) -> Result<(), Box<dyn Error>> {
        if self.leaves_at.is_some_and(|leaves_at| leaves_at <= now) {
            self.leaves_at = None;
            client.disconnect(now)?;
        }
        Ok(())
    }

    /// Sends an order with the richest note that the version can carry.
    fn bring_order(
        &mut self,
        client: &mut Client<Duration>,
        mut note: impl FnMut(String) -> io::Result<()>,
    ) -> Result<(), Box<dyn Error>> {
        let receipt = client.next_receipt();
        for text in NOTES {
            let order =
                SendRequest::new(ORDERS).header("note", text).body("two teas").receipt(receipt);
            match client.send(&order) {
                // Nothing was queued: the session goes on as if it had not been asked.
                Err(UsageError::Encode(error)) => note(format!("refused {text:?}: {error}"))?,
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    self.order = Some(receipt);
                    return Ok(());
                }
            }
        }
        Err("no spelling of the note can be sent".into())
    }

    /// Sends the bill and settles the order, both or neither.
    fn serve(
        &mut self,
        order: &Message,
        client: &mut Client<Duration>,
    ) -> Result<(), Box<dyn Error>> {
        let token = order.token().ok_or("an order that needs no settling")?;
        let transaction = client.begin()?;
        client.send(&SendRequest::new(BILLS).body("5.20").transaction(&transaction))?;
        client.ack(AckRequest::new(&token).transaction(&transaction))?;
        let receipt = client.next_receipt();
        client.commit(EndTransaction::new(transaction).receipt(receipt))?;
        self.bill = Some(receipt);
        Ok(())
    }
}

fn describe(connected: &Connected) -> String {
    let version = connected.version();
    match connected.heart_beat().outgoing {
        Some(interval) => format!("connected on {version} with a heart-beat every {interval:?}"),
        None => format!("connected on {version} without heart-beats"),
    }
}
