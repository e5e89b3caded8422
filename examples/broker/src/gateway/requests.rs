//! What the client asks for: each event becomes jobs for the backend.

use stomp_proto::Refused;
use stomp_proto::destination::{Action, ConsumerTag, PlanError};
use stomp_proto::frame::{Headers, name};
use stomp_proto::server::{
    Accept, ConnectFrame, ConnectReply, Event, Failure, LedgerEntry, Reply, SendFrame,
    SubscribeFrame, SubscriptionId, UnsubscribeFrame, Work,
};
use tracing::{info, warn};

use super::{Gateway, Server, confirm, failure, heart_beat};
use crate::backend::{Channel, Job, Login, Outcome, Outgoing, Submitted};
use crate::names;

const SOFTWARE: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

impl<C: Channel> Gateway<C> {
    pub(crate) fn handle(&mut self, server: &mut Server<C>, event: Event<C::Token>) {
        match event {
            Event::Connect { frame, reply } => self.log_in(server, &frame, reply),
            Event::Send { frame, reply } => self.send(server, &frame, reply),
            Event::Subscribe { frame, reply } => self.subscribe(server, &frame, reply),
            Event::Unsubscribe { frame, reply } => self.unsubscribe(server, &frame, reply),
            Event::Ack { deliveries, reply, .. } => {
                let settled = Job::Settle(Outcome::Consumed, tokens(deliveries));
                self.submit(server, vec![settled], reply);
            }
            Event::Nack { frame, deliveries, reply } => {
                let settled = Job::Settle(refusal(frame.headers()), tokens(deliveries));
                self.submit(server, vec![settled], reply);
            }
            Event::Commit { work, reply, .. } => self.commit(server, work, reply),
            // Behind all that is under way.
            Event::Disconnect { reply, .. } => {
                self.is_leaving = true;
                self.submit(server, Vec::new(), reply);
            }
            Event::Closed { reason, open } => {
                info!(session = self.session, %reason, open = open.len(), "closed");
                self.left_open = tokens(open);
                self.is_over = true;
                self.has_ended = true;
            }
        }
    }

    /// Whoever the backend lets in is let in, to the one virtual host there is.
    fn log_in(&mut self, server: &mut Server<C>, frame: &ConnectFrame, reply: ConnectReply) {
        info!(session = self.session, version = %frame.version(), "connecting");
        self.heart_beat = heart_beat::answer(frame.heart_beat(), self.heart_beat);
        let headers = frame.headers();
        let login = headers.get(name::LOGIN).map(|login| Login {
            name: login.into_owned(),
            passcode: headers.get(name::PASSCODE).unwrap_or_default().into_owned(),
        });
        match self.channel.log_in(login) {
            Submitted::Done => self.accept(server, reply),
            Submitted::Failed(failure) => self.fail(server, reply, failure),
            Submitted::UnderWay => self.connecting = Some(reply),
        }
    }

    pub(super) fn accept(&mut self, server: &mut Server<C>, reply: ConnectReply) {
        info!(session = self.session, "connected");
        let accept = Accept::new(&*self.session).server(SOFTWARE).heart_beat(self.heart_beat);
        if let Err(Refused { error, token }) = server.accept(reply, &accept) {
            warn!(session = self.session, %error, "not accepted");
            let _ = server.fail(token, &Failure::new("internal error"));
        }
    }

    fn send(&mut self, server: &mut Server<C>, frame: &SendFrame, reply: Reply) {
        match self.plan_send(server, frame) {
            Ok(job) => self.submit(server, vec![job], reply),
            Err(failure) => self.fail(server, reply, failure),
        }
    }

    /// The job of a SEND. Replies to a temporary queue that is new come by a subscription of its own.
    fn plan_send<'a>(
        &mut self,
        server: &mut Server<C>,
        frame: &'a SendFrame,
    ) -> Result<Job<'a, C::Token>, Failure> {
        let plan = self.planner.send(frame.headers(), names::queue).map_err(|e| failure(&e))?;
        for action in &plan {
            let Action::Consume { tag, .. } = action else { continue };
            let id = tag.subscription_id().unwrap_or_default();
            let subscription = server
                .open_subscription(id)
                .map_err(|error| Failure::new("Processing error").explanation(error.to_string()))?;
            self.enter(subscription, tag.clone());
        }
        let message = Some(Outgoing { headers: frame.headers(), body: frame.body() });
        Ok(Job::Carry { plan, message })
    }

    fn subscribe(&mut self, server: &mut Server<C>, frame: &SubscribeFrame, reply: Reply) {
        match self.planner.subscribe(frame.headers(), names::queue) {
            Ok(plan) => {
                for action in &plan {
                    if let Action::Consume { tag, .. } = action {
                        self.enter(frame.subscription(), tag.clone());
                    }
                }
                self.submit(server, vec![Job::Carry { plan, message: None }], reply);
            }
            Err(error) => self.fail(server, reply, failure(&error)),
        }
    }

    /// What the subscription left open stays the client's, to settle while its session lasts.
    fn unsubscribe(&mut self, server: &mut Server<C>, frame: &UnsubscribeFrame, reply: Reply) {
        match self.plan_unsubscribe(frame) {
            Ok(plan) => {
                self.submit(server, vec![Job::Carry { plan, message: None }], reply);
            }
            Err(error) => self.fail(server, reply, failure(&error)),
        }
    }

    /// The session has found out which subscription ends. On 1.0 the frame may name it by its
    /// destination although it has an id, which the planner does not take.
    fn plan_unsubscribe(
        &mut self,
        frame: &UnsubscribeFrame,
    ) -> Result<Vec<Action<'static>>, PlanError> {
        let headers = frame.headers();
        let named = match (headers.get(name::ID), headers.get(name::DESTINATION)) {
            (Some(id), _) => Some(ConsumerTag::of_id(&id)),
            (None, destination) => destination.map(|it| ConsumerTag::of_destination(&it)),
        };
        let recorded = self.consumers.remove(&frame.subscription());
        if let Some(tag) = &recorded {
            self.subscriptions.remove(tag);
        }
        match recorded {
            Some(tag) if named.as_ref() != Some(&tag) => {
                self.planner.forget(tag.as_str());
                Ok(vec![Action::Cancel { tag }])
            }
            Some(_) | None => self.planner.unsubscribe(headers),
        }
    }

    /// All of it is planned before any of it is done. What is sent does not meet what is settled, so
    /// the order of the two does not count.
    fn commit(&mut self, server: &mut Server<C>, work: Vec<Work<C::Token>>, reply: Reply) {
        let (mut sends, mut settled) = (Vec::new(), Vec::new());
        for work in work {
            match work {
                Work::Send(frame) => sends.push(frame),
                Work::Ack { deliveries, .. } => {
                    settled.push((Outcome::Consumed, tokens(deliveries)));
                }
                Work::Nack { frame, deliveries } => {
                    settled.push((refusal(frame.headers()), tokens(deliveries)));
                }
            }
        }
        let plans: Result<Vec<_>, _> =
            sends.iter().map(|frame| self.plan_send(server, frame)).collect();
        match plans {
            Ok(mut jobs) => {
                let settled = settled.into_iter().map(|(how, tokens)| Job::Settle(how, tokens));
                jobs.extend(settled);
                self.submit(server, jobs, reply);
            }
            Err(failure) => {
                for (_, tokens) in settled {
                    self.channel.settle(Outcome::GivenBack, tokens);
                }
                self.fail(server, reply, failure);
            }
        }
    }

    fn enter(&mut self, subscription: SubscriptionId, tag: ConsumerTag) {
        self.consumers.insert(subscription, tag.clone());
        self.subscriptions.insert(tag, subscription);
    }

    /// Answers a request as soon as it took effect, and not before.
    fn submit(&mut self, server: &mut Server<C>, jobs: Vec<Job<'_, C::Token>>, reply: Reply) {
        match self.channel.submit(jobs) {
            Submitted::Done => confirm(server, reply),
            Submitted::Failed(failure) => self.fail(server, reply, failure),
            Submitted::UnderWay => self.owed.push_back(reply),
        }
    }
}

fn tokens<T>(entries: Vec<LedgerEntry<T>>) -> Vec<T> {
    entries.into_iter().map(|entry| entry.value).collect()
}

/// What becomes of a message that was not consumed: it goes back, unless NACK says otherwise.
fn refusal(headers: Headers<'_>) -> Outcome {
    match headers.get("requeue").as_deref() {
        Some("false" | "False") => Outcome::Rejected,
        _ => Outcome::GivenBack,
    }
}
