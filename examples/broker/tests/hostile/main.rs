//! What a peer on an open port can do to the broker, and what that comes to.
//!
//! Each attack has a broker process of its own and a bystander on it. The program prints a table of all
//! of them and fails if one does not come to what the table in here says.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic where it sets things up"
)]

extern crate alloc;

mod attack;
mod before_login;
mod broker;
mod bystander;
mod credentials;
mod endings;
mod framing;
mod peer;
mod queues;
mod report;
mod requests;
mod smuggling;
mod unread;
mod websocket;

use core::cmp::Reverse;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use attack::{Attack, Measured};

/// At a time: most of them wait for something, and each is measured in a process of its own.
const WORKERS: usize = 8;

fn main() -> ExitCode {
    let all = [
        before_login::ATTACKS,
        framing::ATTACKS,
        smuggling::ATTACKS,
        credentials::ATTACKS,
        requests::ATTACKS,
        queues::ATTACKS,
        unread::ATTACKS,
        endings::ATTACKS,
        websocket::ATTACKS,
    ];
    // As libtest has it: names are what is to be run, and its options mean nothing here but one.
    let (options, names): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let is_wanted =
        |attack: &&Attack| names.is_empty() || names.iter().any(|it| attack.name.contains(&**it));
    let attacks: Vec<&Attack> = all.into_iter().flatten().filter(is_wanted).collect();
    if options.iter().any(|option| option == "--list") {
        let mut out = stdout().lock();
        for attack in attacks {
            writeln!(out, "{}: test", attack.name).unwrap();
        }
        return ExitCode::SUCCESS;
    }
    let results = run(&attacks);
    let has_failed = results.iter().any(Result::is_err);
    report::print(&attacks, &results);
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs them, those that wait for long first.
fn run(attacks: &[&Attack]) -> Vec<Result<Measured, String>> {
    let mut order: Vec<usize> = (0..attacks.len()).collect();
    order.sort_by_key(|index| Reverse(attacks[*index].waits));
    let next = Mutex::new(order.into_iter());
    let results = Mutex::new(vec![Err("not run".to_owned()); attacks.len()]);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().unwrap().next() else { break };
                    let result = attacks[index].run();
                    results.lock().unwrap()[index] = result;
                }
            });
        }
    });
    results.into_inner().unwrap()
}
