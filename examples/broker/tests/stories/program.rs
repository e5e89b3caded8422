//! The broker as a program: what it prints and how it ends, each within a limit. It does not outlive its
//! test.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

/// How long anything may take that is to happen.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
    log: Receiver<String>,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it printed and was not looked at before.
    pub(crate) lines: Vec<String>,
    pub(crate) log: String,
}

impl Program {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stomp-broker"));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (print, lines) = channel();
        thread::spawn(move || {
            let mut out = BufReader::new(out).lines().map(Result::unwrap);
            out.try_for_each(|line| print.send(line))
        });
        let (tell, log) = channel();
        thread::spawn(move || {
            let mut log = String::new();
            errors.read_to_string(&mut log).unwrap();
            tell.send(log)
        });
        Self { child, lines, log }
    }

    /// Where it says next that it listens.
    pub(crate) fn listens(&self, protocol: &str) -> SocketAddr {
        let line = self.lines.recv_timeout(PATIENCE).expect("it does not listen");
        let address = line.strip_prefix(&format!("listening on {protocol}://"));
        address.expect(&line).parse().unwrap()
    }

    pub(crate) fn id(&self) -> String {
        self.child.id().to_string()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits until it has ended.
    pub(crate) fn ended(mut self) -> Ended {
        let log = self.log.recv_timeout(PATIENCE).expect("it does not end");
        let status = self.status();
        Ended { status, lines: self.lines.iter().collect(), log }
    }

    fn status(&mut self) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
