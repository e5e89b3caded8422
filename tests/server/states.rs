//! The table of server states: every frame, call and end of the stream in every state.

use stomp_proto::server::{Accept, ConnectReply, Delivery, Failure, Reply};
use stomp_proto::{Command, Session, UsageError};

use crate::harness::{Broker, NOTHING, V1_2, error, error_for, limited, ms, receipt, refused};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    AwaitConnect,
    Answering,
    Connected,
    /// After DISCONNECT, before it was confirmed.
    Closing,
    /// After an ERROR that is still to be written; the event was handed out.
    Closed,
}

const STATES: [State; 5] =
    [State::AwaitConnect, State::Answering, State::Connected, State::Closing, State::Closed];

const CONNECT: &str = "CONNECT\naccept-version:1.2\nhost:h\n\n\0";

impl State {
    /// A session in that state. From `Connected` on it has the subscription `#0`, delivery 7 of it
    /// open, and the transaction `t`.
    fn broker(self) -> Broker {
        if self == Self::AwaitConnect {
            return Broker::new(stomp_proto::ServerConfig::default());
        }
        if self == Self::Answering {
            let mut broker = Self::AwaitConnect.broker();
            broker.feed(CONNECT);
            assert_eq!(broker.told(), ["CONNECT 1.2"]);
            return broker;
        }
        let mut broker = Broker::connected(V1_2);
        let subscription = broker.subscribe("0", "client-individual");
        let delivery = Delivery::builder("/q").message_id("m").ack_id("a").body("x").build();
        broker.send(subscription, &delivery, 7);
        broker.feed("BEGIN\ntransaction:t\n\n\0");
        assert_eq!(broker.told(), NOTHING);
        if self == Self::Closing {
            broker.feed("DISCONNECT\nreceipt:bye\n\n\0");
            assert_eq!(broker.told(), ["DISCONNECT"]);
        }
        if self == Self::Closed {
            broker.server.fail(None::<Reply>, &Failure::new("enough")).unwrap();
            assert_eq!(broker.told(), ["CLOSED Failed [7]"]);
        }
        broker
    }

    /// What is still to be written in that state.
    fn unwritten(self) -> Vec<String> {
        if self == Self::Closed { vec![error("enough")] } else { vec![] }
    }
}

/// A frame of every command that is sound by itself.
fn frame(command: Command) -> String {
    let headers = match command {
        Command::Connect | Command::Stomp => "accept-version:1.2\nhost:h\n",
        Command::Connected => "version:1.2\n",
        Command::Send => "destination:/q\nreceipt:r\n",
        Command::Subscribe => "id:1\ndestination:/q\nreceipt:r\n",
        Command::Unsubscribe => "id:0\nreceipt:r\n",
        Command::Ack | Command::Nack => "id:a\nreceipt:r\n",
        Command::Begin => "transaction:new\nreceipt:r\n",
        Command::Commit | Command::Abort => "transaction:t\nreceipt:r\n",
        Command::Disconnect => "receipt:r\n",
        Command::Message => "subscription:0\nmessage-id:1\ndestination:/q\n",
        Command::Receipt => "receipt-id:r\n",
        Command::Error => "message:m\n",
    };
    format!("{command}\n{headers}\n\0")
}

/// The event of a frame on a connected session; what is written; whether it is over.
fn when_connected(command: Command) -> (String, Option<String>, bool) {
    let event = match command {
        Command::Send => "SEND /q \"\"",
        Command::Subscribe => "SUBSCRIBE #1 /q auto",
        Command::Unsubscribe => "UNSUBSCRIBE #0",
        Command::Ack => "ACK #0 [7]",
        Command::Nack => "NACK #0 [7]",
        Command::Commit => "COMMIT t: ",
        Command::Disconnect => "DISCONNECT",
        // The session sees to these alone.
        Command::Begin | Command::Abort => return (String::new(), Some(receipt("r")), false),
        Command::Connect | Command::Stomp => {
            let told = format!("CLOSED Protocol(UnexpectedFrame({command:?})) [7]");
            return (told, Some(error("already connected")), true);
        }
        Command::Connected | Command::Message | Command::Receipt | Command::Error => {
            let told = format!("CLOSED Protocol(UnexpectedFrame({command:?})) [7]");
            return (told, Some(error(&format!("unexpected {command}"))), true);
        }
    };
    (event.to_owned(), None, false)
}

#[test]
fn nothing_but_connect_or_stomp_opens_a_session() {
    for command in Command::ALL {
        let mut broker = State::AwaitConnect.broker();
        broker.feed(frame(command));
        if matches!(command, Command::Connect | Command::Stomp) {
            assert_eq!(broker.told(), [format!("{command} 1.2")]);
            assert_eq!(broker.written(), NOTHING);
            assert!(!broker.server.wants_read(), "it waits for the answer");
        } else {
            let closed = format!("CLOSED Protocol(NotConnected({command:?})) []");
            assert_eq!(broker.told(), [closed]);
            assert_eq!(broker.written(), [error("not connected")]);
            assert!(broker.server.wants_shutdown());
        }
    }
}

#[test]
fn whatever_follows_connect_waits_for_its_answer() {
    for command in Command::ALL {
        let mut broker = State::Answering.broker();
        broker.feed(frame(command));
        assert_eq!(broker.told(), NOTHING, "{command}");
        assert_eq!(broker.written(), NOTHING);
        assert!(!broker.server.wants_read());
        broker.accept(&Accept::new("s1"));
        assert!(broker.server.wants_read());
        // Only now is it judged, as on any connected session.
        let (told, is_unknown) = match command {
            Command::Unsubscribe => ("CLOSED Protocol(UnknownSubscription) []".to_owned(), true),
            Command::Ack | Command::Nack => {
                ("CLOSED Protocol(UnknownDelivery) []".to_owned(), true)
            }
            Command::Commit | Command::Abort => {
                ("CLOSED Protocol(UnknownTransaction) []".to_owned(), true)
            }
            Command::Subscribe => ("SUBSCRIBE #0 /q auto".to_owned(), false),
            _ => {
                let (told, _, is_over) = when_connected(command);
                (told.replace("[7]", "[]"), is_over)
            }
        };
        let all: Vec<_> = Some(told).filter(|told| !told.is_empty()).into_iter().collect();
        assert_eq!(broker.told(), all, "{command}");
        assert_eq!(broker.written().len(), 1 + usize::from(is_unknown || is_receipted(command)));
    }
}

fn is_receipted(command: Command) -> bool {
    command == Command::Begin
}

#[test]
fn a_connected_session_does_what_each_frame_asks_for() {
    for command in Command::ALL {
        let mut broker = State::Connected.broker();
        broker.feed(frame(command));
        let (told, written, is_over) = when_connected(command);
        let all: Vec<_> = Some(told).filter(|told| !told.is_empty()).into_iter().collect();
        assert_eq!(broker.told(), all, "{command}");
        assert_eq!(broker.written(), written.into_iter().collect::<Vec<_>>(), "{command}");
        assert_eq!(broker.server.wants_shutdown(), is_over);
        if !is_over && !matches!(command, Command::Begin | Command::Abort) {
            broker.confirm();
            assert_eq!(broker.written(), [receipt("r")], "{command}");
        }
    }
}

#[test]
fn what_follows_disconnect_or_the_end_is_not_read() {
    for state in [State::Closing, State::Closed] {
        for command in Command::ALL {
            let mut broker = state.broker();
            broker.feed(frame(command));
            broker.feed("no frame at all");
            assert_eq!(broker.told(), NOTHING, "{state:?} {command}");
            assert_eq!(broker.written(), state.unwritten(), "{state:?} {command}");
        }
    }
}

#[test]
fn the_end_of_the_stream_ends_every_state() {
    for state in STATES {
        let mut broker = state.broker();
        broker.server.handle_eof();
        let told = broker.told();
        match state {
            State::AwaitConnect | State::Answering => assert_eq!(told, ["CLOSED Eof []"]),
            State::Connected => assert_eq!(told, ["CLOSED Eof [7]"]),
            State::Closing => assert_eq!(told, ["CLOSED Disconnected [7]"]),
            State::Closed => assert_eq!(told, NOTHING),
        }
        assert_eq!(broker.written(), state.unwritten(), "{state:?}");
        assert!(broker.server.is_finished(), "{state:?}");
        assert_eq!(broker.deadline(), None);
    }
}

#[test]
fn buffered_frames_come_before_the_end_of_the_stream() {
    for lost in [false, true] {
        let mut broker = State::Connected.broker();
        broker.feed("SEND\ndestination:/a\n\n1\0SEND\ndestination:/b\n\n2\0");
        if lost {
            broker.server.handle_lost();
        } else {
            broker.server.handle_eof();
        }
        assert!(!broker.server.wants_read());
        assert_eq!(broker.next().as_deref(), Some("SEND /a \"1\""));
        assert_eq!(broker.next().as_deref(), Some("SEND /b \"2\""));
        let closed = if lost { "CLOSED Lost [7]" } else { "CLOSED Eof [7]" };
        assert_eq!(broker.told(), [closed]);
    }
}

#[test]
fn a_dead_transport_ends_every_state_and_drops_what_was_to_be_written() {
    for state in STATES {
        let mut broker = state.broker();
        broker.server.handle_lost();
        assert_eq!(broker.written(), NOTHING, "{state:?}");
        match state {
            State::AwaitConnect | State::Answering => assert_eq!(broker.told(), ["CLOSED Lost []"]),
            State::Connected | State::Closing => assert_eq!(broker.told(), ["CLOSED Lost [7]"]),
            State::Closed => assert_eq!(broker.told(), NOTHING),
        }
        assert!(broker.server.is_finished() && !broker.server.wants_shutdown(), "{state:?}");
    }
}

#[test]
fn only_a_session_that_waits_for_connect_or_for_the_end_has_a_deadline() {
    for (state, deadline, told) in [
        (State::AwaitConnect, Some(10_000), Some("CLOSED TimedOut []")),
        (State::Answering, None, None),
        (State::Connected, None, None),
        (State::Closing, None, None),
        (State::Closed, Some(5_000), None),
    ] {
        let mut broker = state.broker();
        assert_eq!(broker.deadline(), deadline, "{state:?}");
        broker.at(3_600_000);
        assert_eq!(broker.told(), told.into_iter().collect::<Vec<_>>(), "{state:?}");
        assert_eq!(broker.written(), NOTHING, "{state:?}: the linger is over, nobody reads");
    }
}

#[test]
fn lingering_has_its_own_deadline() {
    let mut broker = Broker::new(limited(|limits| limits.connect_timeout = ms(300)));
    broker.at(299);
    assert_eq!((broker.told(), broker.deadline()), (vec![], Some(300)));
    broker.at(300);
    assert_eq!(broker.told(), ["CLOSED TimedOut []"]);
    assert_eq!(broker.deadline(), Some(5_300));
    assert!(broker.server.wants_shutdown() && !broker.server.is_finished());
    broker.at(5_300);
    assert!(broker.server.is_finished());
    assert_eq!(broker.deadline(), None);
}

/// Replies of other sessions, so that each call can be made in each state.
fn strange_replies() -> (ConnectReply, Reply) {
    let connect = State::Answering.broker().connect.take().unwrap();
    let mut other = State::Connected.broker();
    other.feed("SEND\ndestination:/q\nreceipt:r\n\n\0");
    assert_eq!(other.told(), ["SEND /q \"\""]);
    (connect, other.replies.remove(0))
}

#[test]
fn each_call_is_answered_by_the_state() {
    use UsageError::{Closed, NotConnected};
    for state in STATES {
        let delivery = Delivery::builder("/q").body("x").build();
        let (connect, reply) = strange_replies();
        let mut broker = state.broker();
        let accepted = broker.server.accept(connect, &Accept::new("s")).map_err(|no| no.error);
        let expected = match state {
            State::Answering => Ok(()),
            State::AwaitConnect | State::Connected | State::Closing => Err(NotConnected),
            State::Closed => Err(Closed),
        };
        assert_eq!(accepted, expected, "accept, {state:?}");

        let mut broker = state.broker();
        let confirmed = broker.server.confirm(reply).map_err(|no| no.error);
        let expected = match state {
            State::AwaitConnect | State::Answering => Err(NotConnected),
            State::Connected | State::Closing => Ok(()),
            State::Closed => Err(Closed),
        };
        assert_eq!(confirmed, expected, "confirm, {state:?}");
        let written = if confirmed.is_ok() { vec![receipt("r")] } else { state.unwritten() };
        assert_eq!(broker.written(), written, "confirm, {state:?}");

        let mut broker = state.broker();
        let known = State::Connected.broker().subscriptions[0];
        let delivered = broker.server.deliver(known, &delivery, 8);
        match state {
            State::Connected => assert!(delivered.is_ok()),
            State::AwaitConnect | State::Answering => {
                assert_eq!(refused(delivered, 8), NotConnected, "{state:?}");
            }
            State::Closing | State::Closed => {
                assert_eq!(refused(delivered, 8), Closed, "{state:?}");
            }
        }

        let mut broker = state.broker();
        let taken: Vec<_> = broker.server.release(known).iter().map(|open| open.value).collect();
        let expected =
            if matches!(state, State::Connected | State::Closing) { vec![7] } else { vec![] };
        assert_eq!(taken, expected, "release, {state:?}");
    }
}

#[test]
fn fail_ends_every_state_but_the_last() {
    for state in STATES {
        let mut broker = state.broker();
        let (_, reply) = strange_replies();
        let failed = broker.server.fail(reply, &Failure::new("no"));
        let (written, told) = match state {
            State::Closed => {
                assert_eq!(failed, Err(UsageError::Closed));
                (state.unwritten(), vec![])
            }
            State::AwaitConnect | State::Answering => {
                (vec![error_for("r", "no")], vec!["CLOSED Failed []"])
            }
            State::Connected | State::Closing => {
                (vec![error_for("r", "no")], vec!["CLOSED Failed [7]"])
            }
        };
        assert_eq!(broker.told(), told, "{state:?}");
        assert_eq!(broker.written(), written, "{state:?}");
        assert!(broker.server.wants_shutdown());
    }
}
