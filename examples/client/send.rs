//! `client … send`: sends a message and waits until the broker has confirmed it.

use std::time::Instant;

use stomp_proto::client::{Event, SendRequest};
use stomp_proto::{Client, CloseReason};

use super::driver::Driver;
use super::failure::Failure;

pub(crate) fn send(
    mut driver: Driver<Client<Instant>>,
    destination: &str,
    body: Vec<u8>,
) -> Result<(), Failure> {
    let receipt = driver.session().next_receipt();
    let request = SendRequest::new(destination).body(body).receipt(receipt);
    let mut is_confirmed = false;
    while let Some(event) = driver.next_event() {
        match event {
            Event::Connected(_) => driver.session().send(&request)?,
            Event::Receipt(it) if it == receipt => {
                is_confirmed = true;
                driver.session().disconnect(Instant::now())?;
            }
            // After DISCONNECT it goes on until the broker ends its stream as well.
            Event::Closed(CloseReason::Disconnected)
            | Event::Message(_)
            | Event::Receipt(_)
            | Event::UnknownReceipt(_) => {}
            // The broker has the message, however it takes its leave.
            Event::Closed(_) if is_confirmed => break,
            Event::Closed(reason) => return Err(Failure::closed(&reason, driver.error())),
        }
    }
    Ok(())
}
