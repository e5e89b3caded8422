//! The application at the server's end: a broker with one client, whose queues hold nothing.

use core::error::Error;
use core::time::Duration;
use std::collections::HashMap;

use stomp_proto::Server;
use stomp_proto::frame::Role;
use stomp_proto::server::{Accept, Delivery, Event, SendFrame, SubscriptionId, Work};

use super::HEART_BEAT;
use super::journal::Journal;

#[derive(Debug, Default)]
pub(crate) struct Broker {
    /// By destination.
    subscriptions: HashMap<String, SubscriptionId>,
}

impl Broker {
    /// Carries a request out and answers it. What a delivery holds comes back when it is settled.
    pub(crate) fn handle(
        &mut self,
        event: Event<String>,
        server: &mut Server<Duration, String>,
        now: Duration,
        journal: &mut Journal<'_>,
    ) -> Result<(), Box<dyn Error>> {
        let mut note = |text: String| journal.note(now, Role::Server, &text);
        match event {
            Event::Connect { frame, reply } => {
                note(format!("{} is the highest version in common", frame.version()))?;
                server.accept(reply, &Accept::new("1").server("tour").heart_beat(HEART_BEAT))?;
            }
            Event::Subscribe { frame, reply } => {
                self.subscriptions.insert(frame.destination().into(), frame.subscription());
                server.confirm(reply)?;
            }
            Event::Send { frame, reply } => {
                server.confirm(reply)?;
                self.publish(&frame, server)?;
            }
            Event::Commit { work, reply, .. } => {
                for work in work {
                    match work {
                        Work::Send(frame) => {
                            note(format!("committed: a message to {}", frame.destination()))?;
                            self.publish(&frame, server)?;
                        }
                        Work::Ack { deliveries, .. } => {
                            for delivery in deliveries {
                                note(format!("committed: {} settled", delivery.value))?;
                            }
                        }
                        Work::Nack { .. } => {}
                    }
                }
                server.confirm(reply)?;
            }
            Event::Unsubscribe { reply, .. }
            | Event::Ack { reply, .. }
            | Event::Nack { reply, .. }
            | Event::Disconnect { reply, .. } => server.confirm(reply)?,
            Event::Closed { reason, open } => {
                note(format!("closed: {reason}, {} deliveries open", open.len()))?;
            }
        }
        Ok(())
    }

    /// Hands a message to whoever subscribed to its destination.
    fn publish(
        &self,
        send: &SendFrame,
        server: &mut Server<Duration, String>,
    ) -> Result<(), Box<dyn Error>> {
        if let Some(subscription) = self.subscriptions.get(&*send.destination()) {
            let value = send.body().escape_ascii().to_string();
            server.deliver(*subscription, &Delivery::relay(send).build(), value)?;
        }
        Ok(())
    }
}
