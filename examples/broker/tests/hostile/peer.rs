//! A connection: raw octets out, raw octets in.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Instant;

use crate::attack::caught;

/// Who the attackers say they are, and what nobody may ever see again.
pub(crate) const MARKS: [&str; 2] = ["markedlogin", "markedpasscode"];
/// The same, of those that look like a command.
pub(crate) const CAPITALS: [&str; 2] = ["MARKEDLOGIN", "MARKEDPASSCODE"];
/// How long anything may take that is to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long nothing may be taken until it counts as not being taken any more.
const STALL: Duration = Duration::from_secs(5);
/// How often another connection is answered in that time.
const PAUSES: u32 = 5;
const PIECE: usize = 64 << 10;

pub(crate) struct Peer {
    stream: TcpStream,
    /// What came, and how much of it was taken as frames.
    inbox: Vec<u8>,
    taken: usize,
    /// The last frame that came before the end.
    last: Option<Vec<u8>>,
}

/// What became of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flood {
    /// All of it was taken.
    Taken,
    /// The connection was closed meanwhile.
    Cut,
    /// Nothing more was taken after so many octets.
    Stalled(usize),
}

impl Peer {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, inbox: Vec::new(), taken: 0, last: None }
    }

    /// One that is connected, on STOMP 1.2.
    pub(crate) fn login(address: SocketAddr) -> Self {
        Self::login_on(address, "1.2")
    }

    pub(crate) fn login_on(address: SocketAddr, version: &str) -> Self {
        let mut peer = Self::open(address);
        peer.say(connect(version));
        let connected = peer.text();
        assert!(connected.starts_with("CONNECTED\n"), "{connected}");
        peer
    }

    /// Writes what is taken for sure.
    pub(crate) fn say(&mut self, octets: impl AsRef<[u8]>) {
        self.stream.write_all(octets.as_ref()).expect("not taken");
    }

    /// Writes as much of it as is taken.
    pub(crate) fn flood(&mut self, octets: &[u8]) -> Flood {
        self.stream.set_write_timeout(Some(STALL)).unwrap();
        let flood = self.write_on(octets, |_| true);
        self.stream.set_write_timeout(Some(PATIENCE)).unwrap();
        flood
    }

    /// The same, and what is not taken is not for want of time: meanwhile another connection is answered
    /// again and again.
    pub(crate) fn flood_beside(&mut self, other: &mut Self, octets: &[u8]) -> Flood {
        self.stream.set_write_timeout(Some(STALL / PAUSES)).unwrap();
        let (mut rest, mut pauses) = (octets.len(), 0);
        let flood = self.write_on(octets, |left| {
            pauses = if left < rest { 1 } else { pauses + 1 };
            rest = left;
            assert_eq!(other.sync(), [""; 0]);
            pauses == PAUSES
        });
        self.stream.set_write_timeout(Some(PATIENCE)).unwrap();
        flood
    }

    /// Writes until so much is left that `gives_up`.
    fn write_on(&mut self, octets: &[u8], mut gives_up: impl FnMut(usize) -> bool) -> Flood {
        let mut rest = octets;
        while !rest.is_empty() {
            match self.stream.write(&rest[..rest.len().min(PIECE)]) {
                Ok(count) => rest = &rest[count..],
                Err(error) if is_timeout(error.kind()) => {
                    if gives_up(rest.len()) {
                        return Flood::Stalled(octets.len() - rest.len());
                    }
                }
                Err(_) => return Flood::Cut,
            }
        }
        Flood::Taken
    }

    /// Writes what will be taken if it reads.
    pub(crate) fn say_meanwhile(&mut self, octets: Vec<u8>, read: impl FnOnce(&mut Self)) {
        let mut writer = self.stream.try_clone().unwrap();
        let writing = thread::spawn(move || writer.write_all(&octets));
        read(self);
        writing.join().unwrap().expect("not taken");
    }

    /// Writes a piece over and over, for as long as the connection lasts, and reads meanwhile.
    pub(crate) fn flood_on(&mut self, piece: &[u8]) -> String {
        let mut writer = self.stream.try_clone().unwrap();
        thread::scope(|scope| {
            let flood = scope.spawn(move || {
                let start = Instant::now();
                while start.elapsed() < PATIENCE {
                    if let Err(error) = writer.write_all(piece) {
                        return error.kind();
                    }
                    // To leave the machine to others.
                    thread::sleep(Duration::from_millis(2));
                }
                ErrorKind::TimedOut
            });
            let ending = caught(|| self.ending());
            if ending.is_err() {
                // Or the writer would be waited for.
                self.stream.shutdown(Shutdown::Both).unwrap();
            }
            let error = flood.join().unwrap();
            let ending = ending.unwrap_or_else(|error| panic!("{error}"));
            assert!(!is_timeout(error), "neither taken nor cut off");
            format!("{ending}; cut off")
        })
    }

    /// The next frame, which must come: head and body, without what ends it.
    pub(crate) fn frame(&mut self) -> Vec<u8> {
        loop {
            if let Some(frame) = self.take_frame() {
                return frame;
            }
            assert_ne!(self.read().expect("no frame"), 0, "the stream has ended");
        }
    }

    pub(crate) fn text(&mut self) -> String {
        String::from_utf8(self.frame()).unwrap()
    }

    /// Asks for a RECEIPT, and waits for it; what comes before it.
    pub(crate) fn sync(&mut self) -> Vec<String> {
        self.say("BEGIN\ntransaction:sync\n\n\0ABORT\ntransaction:sync\nreceipt:sync\n\n\0");
        let frames = core::iter::from_fn(|| {
            let frame = self.frame();
            (frame != b"RECEIPT\nreceipt-id:sync\n\n").then(|| frame.escape_ascii().to_string())
        });
        frames.collect()
    }

    /// What the stream ends with.
    pub(crate) fn ending(&mut self) -> String {
        self.read_on().expect("neither answered nor cut off")
    }

    /// What the stream has ended with by now; `None`: it goes on.
    pub(crate) fn ending_by_now(&mut self) -> Option<String> {
        self.stream.set_nonblocking(true).unwrap();
        let ending = self.read_on();
        self.stream.set_nonblocking(false).unwrap();
        ending
    }

    /// Reads for as long as anything comes. What the stream has ended with, if it has.
    fn read_on(&mut self) -> Option<String> {
        loop {
            while let Some(frame) = self.take_frame() {
                self.last = Some(frame);
            }
            match self.read() {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if is_timeout(error) => return None,
                Err(_) => return Some("reset".into()),
            }
        }
        Some(match self.last.as_deref().map(String::from_utf8_lossy) {
            Some(frame) if frame.starts_with("ERROR\n") => format!("ERROR {}", message(&frame)),
            _ => "end of stream".into(),
        })
    }

    /// All frames until the stream ends.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let mut frames = Vec::new();
        loop {
            while let Some(frame) = self.take_frame() {
                frames.push(frame.escape_ascii().to_string());
            }
            if self.read().expect("the stream does not end in order") == 0 {
                return frames;
            }
        }
    }

    /// How many frames come until the stream ends in any way.
    pub(crate) fn rest_or_reset(&mut self) -> usize {
        let mut frames = 0;
        loop {
            while self.take_frame().is_some() {
                frames += 1;
            }
            match self.read() {
                Ok(1..) => {}
                Err(error) if is_timeout(error) => panic!("neither answered nor cut off"),
                Ok(_) | Err(_) => return frames,
            }
        }
    }

    /// Waits until something has come, and leaves it there.
    pub(crate) fn await_answer(&self) {
        assert_ne!(self.stream.peek(&mut [0]).expect("no answer"), 0, "the stream has ended");
    }

    /// So many octets, which must come.
    pub(crate) fn octets(&mut self, count: usize) -> Vec<u8> {
        while self.inbox.len() - self.taken < count {
            assert_ne!(self.read().expect("too few octets"), 0, "the stream has ended");
        }
        self.taken += count;
        self.inbox[self.taken - count..self.taken].to_vec()
    }

    /// Ends our stream.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    fn read(&mut self) -> Result<usize, ErrorKind> {
        self.inbox.drain(..self.taken);
        self.taken = 0;
        let from = self.inbox.len();
        let mut piece = [0; 16 << 10];
        let count = self.stream.read(&mut piece).map_err(|error| error.kind())?;
        self.inbox.extend_from_slice(&piece[..count]);
        check(&self.inbox[from.saturating_sub(MARKS[1].len())..]);
        Ok(count)
    }

    /// By the lengths that are said in there, with nothing of the crate that is looked at.
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        let octets = &self.inbox[self.taken..];
        let start = octets.iter().position(|octet| *octet != b'\n')?;
        let octets = &octets[start..];
        let head = octets.windows(2).position(|two| two == b"\n\n")? + 2;
        let lines = String::from_utf8_lossy(&octets[..head]);
        let length = lines.lines().find_map(|line| line.strip_prefix("content-length:"));
        let end = match length {
            Some(length) => head + length.parse::<usize>().unwrap(),
            None => head + octets[head..].iter().position(|octet| *octet == 0)?,
        };
        assert_eq!(*octets.get(end)?, 0, "{lines}");
        let frame = octets[..end].to_vec();
        self.taken += start + end + 1;
        Some(frame)
    }
}

/// CONNECT with credentials.
pub(crate) fn connect(version: &str) -> String {
    let [login, passcode] = MARKS;
    format!("CONNECT\naccept-version:{version}\nhost:h\nlogin:{login}\npasscode:{passcode}\n\n\0")
}

/// No answer may hold a credential.
pub(crate) fn check(answer: &[u8]) {
    for mark in MARKS.into_iter().chain(CAPITALS) {
        let is_shown = answer.windows(mark.len()).any(|octets| octets == mark.as_bytes());
        assert!(!is_shown, "a credential is in {}", answer.escape_ascii());
    }
}

pub(crate) fn message(error: &str) -> &str {
    error.lines().find_map(|line| line.strip_prefix("message:")).unwrap_or_default()
}

fn is_timeout(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
