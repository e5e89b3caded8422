//! Who behaves, while others do not: sends, gets, acknowledges, and is answered each time.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::attack::{Target, said};
use crate::peer::Peer;

pub(crate) struct Bystander {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// What a bystander saw.
pub(crate) struct Seen {
    pub(crate) rounds: usize,
    pub(crate) slowest: Duration,
}

impl Bystander {
    /// One that is connected and subscribed.
    pub(crate) fn start(target: Target) -> Self {
        let mut peer = Peer::login(target.tcp);
        let subscribe = "SUBSCRIBE\nid:mine\ndestination:/queue/bystander\nack:client-individual\n";
        peer.say(format!("{subscribe}receipt:s\n\n\0"));
        assert_eq!(peer.text(), "RECEIPT\nreceipt-id:s\n\n");
        // For newcomers, who are not to depend on names that are free.
        peer.say("SEND\ndestination:/queue/newcomer\nreceipt:n\n\nhello\0");
        assert_eq!(peer.text(), "RECEIPT\nreceipt-id:n\n\n");
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let thread = thread::spawn(move || go_on(peer, &ends));
        Self { is_over, thread }
    }

    /// Lets it finish. The error is how it was harmed.
    pub(crate) fn end(self) -> Result<Seen, String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|panic| said(&*panic))
    }

    /// Connects, subscribes to a topic and to a queue, sends to both, gets all of it, and leaves.
    pub(crate) fn come_and_go(target: Target) {
        let mut peer = Peer::login(target.tcp);
        peer.say("SUBSCRIBE\nid:0\ndestination:/topic/newcomer\nreceipt:0\n\n\0");
        assert_eq!(peer.text(), "RECEIPT\nreceipt-id:0\n\n");
        peer.say("SUBSCRIBE\nid:1\ndestination:/queue/newcomer\nreceipt:1\n\n\0");
        assert_eq!(peer.text(), "RECEIPT\nreceipt-id:1\n\n");
        let message = peer.text();
        assert!(message.starts_with("MESSAGE\n") && message.ends_with("\n\nhello"), "{message}");
        for destination in ["/topic/newcomer", "/queue/newcomer"] {
            peer.say(format!("SEND\ndestination:{destination}\n\nhello\0"));
            let message = peer.text();
            assert!(
                message.starts_with("MESSAGE\n") && message.ends_with("\n\nhello"),
                "{message}"
            );
        }
        leave(peer);
    }
}

fn go_on(mut peer: Peer, is_over: &AtomicBool) -> Seen {
    let mut seen = Seen { rounds: 0, slowest: Duration::ZERO };
    loop {
        // So that a whole round comes after the attack.
        let is_last = is_over.load(Ordering::Relaxed);
        let start = Instant::now();
        round(&mut peer, seen.rounds);
        seen.rounds += 1;
        seen.slowest = seen.slowest.max(start.elapsed());
        if is_last {
            leave(peer);
            return seen;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a number, gets it and no other, and acknowledges it.
fn round(peer: &mut Peer, number: usize) {
    peer.say(format!("SEND\ndestination:/queue/bystander\nreceipt:s-{number}\n\n{number}\0"));
    let mut answers = [peer.text(), peer.text()];
    answers.sort();
    let [message, receipt] = answers;
    assert_eq!(receipt, format!("RECEIPT\nreceipt-id:s-{number}\n\n"));
    assert!(message.starts_with("MESSAGE\nsubscription:mine\n"), "{message}");
    assert!(message.contains("\nredelivered:false\n"), "{message}");
    assert!(message.ends_with(&format!("\n\n{number}")), "{message} is not {number}");
    let id = message.lines().find_map(|line| line.strip_prefix("ack:")).unwrap();
    peer.say(format!("ACK\nid:{id}\nreceipt:a-{number}\n\n\0"));
    assert_eq!(peer.text(), format!("RECEIPT\nreceipt-id:a-{number}\n\n"));
}

fn leave(mut peer: Peer) {
    peer.say("DISCONNECT\nreceipt:bye\n\n\0");
    assert_eq!(peer.rest(), ["RECEIPT\\nreceipt-id:bye\\n\\n"]);
}
