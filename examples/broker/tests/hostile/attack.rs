//! One attack: what the peer does, what has to come of it, and how that is found out.

use core::any::Any;
use core::net::SocketAddr;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;

use crate::broker::Broker;
use crate::bystander::Bystander;
use crate::peer::{CAPITALS, MARKS};

/// An attack, and what it has to come to.
#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// What the peer does.
    pub(crate) does: &'static str,
    /// What comes of it, as `run` sees it.
    pub(crate) answer: &'static str,
    /// Why its session was closed, as the log of the broker has it.
    pub(crate) logged: &'static str,
    /// What the broker may hold at its peak, itself included, in MiB.
    pub(crate) ceiling: usize,
    /// The seconds that something takes to time out, about.
    pub(crate) waits: u32,
    /// The rounds of the bystander that have to come through meanwhile, where the broker is kept busy.
    pub(crate) rounds: usize,
    pub(crate) run: fn(&Target) -> String,
}

/// Where the broker listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) tcp: SocketAddr,
    pub(crate) ws: SocketAddr,
}

/// What it came to.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The broker's peak memory, in MiB; `None`: the system does not tell.
    pub(crate) peak: Option<usize>,
    /// What the bystander sent, got and settled meanwhile.
    pub(crate) rounds: usize,
    /// The longest that one round took.
    pub(crate) slowest: Duration,
}

impl Attack {
    /// Runs it, and holds what it came to against what it has to.
    pub(crate) fn run(&self) -> Result<Measured, String> {
        caught(|| self.measure()).and_then(|measured| measured)
    }

    fn measure(&self) -> Result<Measured, String> {
        let broker = Broker::start();
        let target = broker.target();
        let bystander = Bystander::start(target);
        let came_to = caught(|| (self.run)(&target));
        let bystander = bystander.end();
        let newcomer = caught(|| Bystander::come_and_go(target));
        let reason = format!("={}", self.logged);
        let is_logged = came_to.is_err() || broker.says(&reason);
        let peak = broker.peak_memory();
        let log = broker.end();
        let came_to = came_to?;
        let seen = bystander.map_err(|error| format!("the bystander: {error}"))?;
        newcomer.map_err(|error| format!("a newcomer: {error}"))?;
        if came_to != self.answer {
            return Err(format!("came to: {came_to}\n  instead of: {}", self.answer));
        }
        if !is_logged {
            return Err(format!("no {reason:?} in the log:\n{}", tail(&log)));
        }
        for mark in MARKS.into_iter().chain(CAPITALS) {
            if let Some(line) = log.lines().find(|line| line.contains(mark)) {
                return Err(format!("a credential is in the log: {line}"));
            }
        }
        if let Some(peak) = peak
            && peak > self.ceiling
        {
            return Err(format!("held {peak} MiB and may hold {}", self.ceiling));
        }
        if seen.rounds < self.rounds {
            return Err(format!(
                "the bystander had {} rounds, and not {}",
                seen.rounds, self.rounds
            ));
        }
        Ok(Measured { peak, rounds: seen.rounds, slowest: seen.slowest })
    }
}

/// What a panic says becomes an error.
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| said(&*panic))
}

/// What a panic says.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn tail(log: &str) -> String {
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
