//! The broker as a process: its addresses, its memory, its log at its most verbose.

use alloc::sync::Arc;
use core::time::Duration;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::attack::Target;
use crate::peer::PATIENCE;

pub(crate) struct Broker {
    child: Child,
    /// What it has printed: where it listens, and its log.
    out: Printed,
    log: Printed,
    gathering: Vec<JoinHandle<()>>,
}

type Printed = Arc<Mutex<Vec<u8>>>;

impl Broker {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stomp-broker"));
        command.args(["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--memory", "256"]);
        command.args(["--log", "trace"]);
        command.env("NO_COLOR", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Somebody has to read it, or it would wait.
        let (out, log) = (Printed::default(), Printed::default());
        let gathering = vec![
            gather(child.stdout.take().unwrap(), out.clone()),
            gather(child.stderr.take().unwrap(), log.clone()),
        ];
        Self { child, out, log, gathering }
    }

    /// Where it listens, which it is to say soon.
    pub(crate) fn target(&self) -> Target {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(target) = target(&text(&self.out)) {
                return target;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not listen:\n{}", text(&self.log));
    }

    /// The most that it has held so far, in MiB, rounded up; `None`: the system does not tell.
    pub(crate) fn peak_memory(&self) -> Option<usize> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: usize = peak.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib.div_ceil(1024))
    }

    /// Whether it comes to print that.
    pub(crate) fn says(&self, what: &str) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if text(&self.log).contains(what) {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Ends it; all that it has printed.
    pub(crate) fn end(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.gathering.drain(..).for_each(|thread| thread.join().unwrap());
        text(&self.out) + &text(&self.log)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Where something else has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where it says that it listens, if it has said all of it.
fn target(printed: &str) -> Option<Target> {
    let (tcp, rest) = printed.strip_prefix("listening on tcp://")?.split_once('\n')?;
    let (ws, _) = rest.strip_prefix("listening on ws://")?.split_once('\n')?;
    Some(Target { tcp: tcp.parse().unwrap(), ws: ws.parse().unwrap() })
}

fn text(printed: &Printed) -> String {
    String::from_utf8_lossy(&printed.lock().unwrap()).into_owned()
}

fn gather(mut output: impl Read + Send + 'static, printed: Printed) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut piece = [0; 4096];
        loop {
            match output.read(&mut piece).unwrap() {
                0 => break,
                count => printed.lock().unwrap().extend_from_slice(&piece[..count]),
            }
        }
    })
}
