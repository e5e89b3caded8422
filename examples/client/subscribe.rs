//! `client … subscribe`: prints messages and acknowledges them.

use std::io::{ErrorKind, Write};
use std::time::Instant;

use stomp_proto::client::{Event, Message, SubscribeRequest};
use stomp_proto::{Client, CloseReason};

use super::driver::Driver;
use super::failure::Failure;
use super::options::Subscribe;
use super::print;

pub(crate) fn subscribe(
    mut driver: Driver<Client<Instant>>,
    destination: &str,
    options: &Subscribe,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let request = SubscribeRequest::new(destination).ack(options.ack);
    let mut wanted = options.count.map_or(u64::MAX, Into::into);
    while let Some(event) = driver.next_event() {
        match event {
            Event::Connected(_) => {
                driver.session().subscribe(&request)?;
            }
            // Those that are under way behind the last one go back to the broker.
            Event::Message(message) if wanted > 0 => {
                wanted -= 1;
                if print(&message, options.json, out)? {
                    acknowledge(&message, driver.session())?;
                } else {
                    wanted = 0;
                }
                if wanted == 0 {
                    driver.session().disconnect(Instant::now())?;
                }
            }
            // After DISCONNECT it goes on until the broker ends its stream as well.
            Event::Closed(CloseReason::Disconnected)
            | Event::Message(_)
            | Event::Receipt(_)
            | Event::UnknownReceipt(_) => {}
            Event::Closed(reason) => return Err(Failure::closed(&reason, driver.error())),
        }
    }
    Ok(())
}

/// `false`: the reader of our output has seen enough.
fn print(message: &Message, json: bool, out: &mut dyn Write) -> Result<bool, Failure> {
    let printed = if json { print::json(message, out) } else { print::plain(message, out) };
    match printed.and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::session(format_args!("standard output: {error}"))),
    }
}

fn acknowledge(message: &Message, client: &mut Client<Instant>) -> Result<(), Failure> {
    // In mode auto there is nothing to acknowledge it with.
    if let Some(token) = message.token() {
        client.ack(&token)?;
    }
    Ok(())
}
