//! A broker of one connection, on the driver of the example `client`.

pub(crate) mod threads;

use core::error::Error;
use core::time::Duration;
use std::collections::HashMap;
use std::net::TcpStream;
use std::time::Instant;

use bytes::Bytes;
use stomp_proto::codec::Limits;
use stomp_proto::server::{Accept, Delivery, Event, Failure, SendFrame, SubscriptionId, Work};
use stomp_proto::{CloseReason, Frame, HeartBeat, Server, ServerConfig};

use crate::driver::Driver;

/// Where nobody may send to.
pub(crate) const FORBIDDEN: &str = "/queue/forbidden";

/// What every login is let in with.
pub(crate) const PASSCODE: &str = "hush";

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Echoes what is sent to a destination that was subscribed to before.
#[derive(Debug, Default)]
pub(crate) struct Broker {
    /// What each subscription gets first.
    pub(crate) stock: Vec<Delivery>,
    /// By destination.
    pub(crate) subscriptions: HashMap<String, SubscriptionId>,
    pub(crate) seen: Seen,
}

/// What the client did.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connect: Option<Frame>,
    /// Destinations and bodies.
    pub(crate) sent: Vec<(String, Bytes)>,
    /// Frames that acknowledge, and how many deliveries each settled.
    pub(crate) acks: Vec<(Frame, usize)>,
    pub(crate) closed: Option<CloseReason>,
    /// Deliveries that were not settled in the end.
    pub(crate) open: usize,
}

/// Limits that no test is to run into.
pub(crate) fn patient() -> Limits {
    const LONG: Duration = Duration::from_secs(3600);
    let mut limits = Limits::default();
    limits.max_outbox_len = usize::MAX;
    limits.connect_timeout = LONG;
    limits.disconnect_timeout = LONG;
    limits.close_timeout = LONG;
    limits
}

/// A server session for it.
pub(crate) fn server() -> Server<Instant, ()> {
    let mut config = ServerConfig::default();
    config.limits = patient();
    Server::new(config, Instant::now())
}

impl Broker {
    /// Holds a session over `socket`, from its start to its end.
    pub(crate) fn serve(mut self, socket: TcpStream) -> Outcome<Seen> {
        let mut driver = Driver::new(server(), socket)?;
        while let Some(event) = driver.next_event() {
            self.handle(event, driver.session())?;
        }
        Ok(self.seen)
    }

    pub(crate) fn handle(
        &mut self,
        event: Event<()>,
        server: &mut Server<Instant, ()>,
    ) -> Outcome<()> {
        match event {
            Event::Connect { frame, reply } => {
                let is_welcome =
                    frame.login().is_none() || frame.passcode().as_deref() == Some(PASSCODE);
                self.seen.connect = Some(frame.into_frame());
                if is_welcome {
                    let heart_beat = HeartBeat { can_send: 60_000, wants: 60_000 };
                    server.accept(reply, &Accept::new("1").heart_beat(heart_beat))?;
                } else {
                    server.fail(reply, &Failure::new("access refused"))?;
                }
                Ok(())
            }
            Event::Subscribe { frame, reply } => {
                let subscription = frame.subscription();
                self.subscriptions.insert(frame.destination().into(), subscription);
                server.confirm(reply)?;
                for delivery in &self.stock {
                    server.deliver(subscription, delivery, ())?;
                }
                Ok(())
            }
            Event::Send { frame, reply } if frame.destination() == FORBIDDEN => {
                let failure = Failure::new("access refused").explanation("not for you:\nleave");
                Ok(server.fail(reply, &failure)?)
            }
            Event::Send { frame, reply } => {
                self.publish(&frame, server)?;
                Ok(server.confirm(reply)?)
            }
            Event::Ack { frame, deliveries, reply } => {
                self.seen.acks.push((frame.into_frame(), deliveries.len()));
                Ok(server.confirm(reply)?)
            }
            Event::Commit { work, reply, .. } => {
                for work in work {
                    match work {
                        Work::Send(frame) => self.publish(&frame, server)?,
                        Work::Ack { frame, deliveries } => {
                            self.seen.acks.push((frame.into_frame(), deliveries.len()));
                        }
                        Work::Nack { .. } => {}
                    }
                }
                Ok(server.confirm(reply)?)
            }
            Event::Unsubscribe { reply, .. }
            | Event::Nack { reply, .. }
            | Event::Disconnect { reply, .. } => Ok(server.confirm(reply)?),
            Event::Closed { reason, open } => {
                (self.seen.closed, self.seen.open) = (Some(reason), open.len());
                Ok(())
            }
        }
    }
    fn publish(&mut self, send: &SendFrame, server: &mut Server<Instant, ()>) -> Outcome<()> {
        let destination = String::from(send.destination());
        if let Some(subscription) = self.subscriptions.get(&destination) {
            server.deliver(*subscription, &Delivery::relay(send).build(), ())?;
        }
        self.seen.sent.push((destination, send.body().clone()));
        Ok(())
    }
}
