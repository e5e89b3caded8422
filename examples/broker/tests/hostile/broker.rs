//! The broker as a process: its addresses, its memory, its log at its most verbose.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::attack::Target;

pub(crate) struct Broker {
    child: Child,
    target: Target,
    /// What it has printed.
    log: Arc<Mutex<Vec<u8>>>,
    gathering: Vec<JoinHandle<()>>,
}

/// How long it may take to log what has happened.
const PATIENCE: Duration = Duration::from_secs(60);

impl Broker {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stomp-broker"));
        command.args(["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--memory", "256"]);
        command.args(["--log", "trace"]);
        command.env("NO_COLOR", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let target = Target { tcp: address(&mut lines), ws: address(&mut lines) };
        // Somebody has to read them, or it would wait.
        let log = Arc::new(Mutex::new(Vec::new()));
        let errors = child.stderr.take().unwrap();
        let gathering = vec![gather(lines, log.clone()), gather(errors, log.clone())];
        Self { child, target, log, gathering }
    }

    pub(crate) fn target(&self) -> Target {
        self.target
    }

    /// The most that it has held so far, in MiB, rounded up; `None`: the system does not tell.
    pub(crate) fn peak_memory(&self) -> Option<usize> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: usize = peak.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib.div_ceil(1024))
    }

    /// Whether it comes to print that.
    pub(crate) fn says(&self, text: &str) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if String::from_utf8_lossy(&self.log.lock().unwrap()).contains(text) {
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
        String::from_utf8_lossy(&self.log.lock().unwrap()).into_owned()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // Where something else has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address(lines: &mut impl BufRead) -> SocketAddr {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let (_, address) = line.trim_end().split_once("://").expect("no address");
    address.parse().unwrap()
}

fn gather(mut output: impl Read + Send + 'static, log: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut piece = [0; 4096];
        loop {
            match output.read(&mut piece).unwrap() {
                0 => break,
                count => log.lock().unwrap().extend_from_slice(&piece[..count]),
            }
        }
    })
}
