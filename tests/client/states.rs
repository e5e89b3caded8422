//! The table of client states: every frame, call, end and deadline in every state.

use stomp_proto::client::{
    AckMode, AckToken, SendRequest, SubscribeRequest, SubscriptionId, Transaction,
};
use stomp_proto::{CloseReason, Command, Frame, ProtocolError, Session, UsageError};

use crate::harness::{App, NOTHING, V1_2, config, message, receipt};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Connecting,
    Connected,
    Disconnecting,
    Closed,
}

const STATES: [State; 4] =
    [State::Connecting, State::Connected, State::Disconnecting, State::Closed];

/// The receipt of DISCONNECT in `State::Disconnecting`; receipt 1 is owed from `Connected` on.
const LAST: &str = "2";

/// A session in some state, with tokens of it where there are any.
struct Scene {
    app: App,
    subscription: SubscriptionId,
    token: AckToken,
    transaction: Transaction,
}

impl State {
    fn app(self) -> App {
        if self == Self::Connecting {
            return App::new(config());
        }
        self.scene().app
    }

    /// From `Connected` on there is a subscription with a message to acknowledge, a transaction and
    /// a receipt that is owed.
    fn scene(self) -> Scene {
        let mut app = App::connected(V1_2);
        let subscription = app.subscribe("0", AckMode::Client);
        let token = app.token(message("0", "m"));
        let transaction = app.client.begin().unwrap();
        let receipt = app.client.next_receipt();
        app.client.send(&SendRequest::new("/q").receipt(receipt)).unwrap();
        app.written();
        match self {
            Self::Connecting => {
                // The tokens of another session will do: they are not looked at.
                app = App::new(config());
            }
            Self::Connected => {}
            Self::Disconnecting => assert_eq!(app.disconnect(), LAST),
            Self::Closed => {
                assert_eq!(app.hears("ERROR\nmessage:x\n\n\0"), ["CLOSED by an ERROR"]);
            }
        }
        Scene { app, subscription, token, transaction }
    }

    /// What ends the session in that state as the frame of that command does where it has no place.
    fn unexpected(self, command: Command) -> Vec<String> {
        match self {
            Self::Closed => vec![],
            _ => vec![format!("CLOSED protocol error: unexpected {command}")],
        }
    }
}

#[test]
fn connected_answers_connect_and_nothing_else() {
    for state in STATES {
        let expected = match state {
            State::Connecting => vec!["CONNECTED 1.2".to_owned()],
            _ => state.unexpected(Command::Connected),
        };
        assert_eq!(state.app().hears("CONNECTED\nversion:1.2\n\n\0"), expected, "{state:?}");
    }
}

#[test]
fn a_message_is_one_from_connected_to_the_last_receipt() {
    for state in STATES {
        let expected = match state {
            State::Connecting => state.unexpected(Command::Message),
            State::Connected | State::Disconnecting => vec!["MESSAGE m".to_owned()],
            State::Closed => vec![],
        };
        assert_eq!(state.app().hears(message("0", "m")), expected, "{state:?}");
    }
}

#[test]
fn a_receipt_is_one_from_connected_on_and_the_last_one_ends_the_session() {
    for state in STATES {
        for (id, words) in
            [("1", "RECEIPT 1"), ("x", "RECEIPT x, unknown"), (LAST, "RECEIPT 2, unknown")]
        {
            let expected = match state {
                State::Connecting => state.unexpected(Command::Receipt),
                State::Disconnecting if id == LAST => vec!["CLOSED disconnected".to_owned()],
                State::Connected | State::Disconnecting => vec![words.to_owned()],
                State::Closed => vec![],
            };
            assert_eq!(state.app().hears(receipt(id)), expected, "{state:?}, {id}");
        }
    }
}

#[test]
fn an_error_ends_the_session_in_every_state() {
    for state in STATES {
        let expected: &[&str] = match state {
            State::Closed => &[],
            _ => &["CLOSED by an ERROR"],
        };
        assert_eq!(state.app().hears("ERROR\nmessage:x\n\n\0"), expected, "{state:?}");
    }
}

#[test]
fn a_client_command_from_the_broker_ends_the_session() {
    let commands = Command::ALL.into_iter().filter(|it| it.sender() == stomp_proto::Role::Client);
    for command in commands {
        for state in STATES {
            let octets = format!("{command}\ndestination:/q\n\n\0");
            let mut app = state.app();
            assert_eq!(app.hears(&octets), state.unexpected(command), "{state:?}");
            if state == State::Connected {
                let reason = State::Connected.app().ends(&octets);
                let error = ProtocolError::UnexpectedFrame(command);
                assert_eq!(reason, CloseReason::Protocol(error));
            }
        }
    }
}

#[test]
fn octets_that_are_no_frame_end_the_session() {
    for state in STATES {
        let told = state.app().hears("BOGUS\n\n\0");
        let ended = told.iter().any(|it| it.starts_with("CLOSED protocol error: unknown command"));
        assert_eq!(ended, state != State::Closed, "{told:?}");
        assert_eq!(told.len(), usize::from(ended));
    }
}

#[test]
fn the_end_of_the_brokers_stream_ends_the_session_and_in_good_order_after_disconnect() {
    for state in STATES {
        let mut app = state.app();
        app.client.handle_eof();
        let expected: &[&str] = match state {
            State::Connecting | State::Connected => &["CLOSED peer closed the connection"],
            State::Disconnecting => &["CLOSED disconnected"],
            State::Closed => &[],
        };
        assert_eq!(app.told(), expected, "{state:?}");
        assert!(app.client.is_finished());
    }
}

#[test]
fn what_came_before_the_end_of_the_stream_is_told_and_half_a_frame_is_an_error() {
    for state in [State::Connected, State::Disconnecting] {
        let mut app = state.app();
        app.feed(message("0", "1") + "MESSA");
        app.client.handle_eof();
        let told = app.told();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], "MESSAGE 1");
        assert!(told[1].starts_with("CLOSED protocol error: stream ended inside a frame"));
    }
}

#[test]
fn a_transport_that_died_ends_the_session() {
    for state in STATES {
        let mut app = state.app();
        app.client.handle_lost();
        let expected: &[&str] = match state {
            State::Closed => &[],
            _ => &["CLOSED connection was lost"],
        };
        assert_eq!(app.told(), expected, "{state:?}");
        assert!(app.client.is_finished() && !app.client.wants_shutdown());
    }
}

#[test]
fn each_state_has_its_deadline() {
    for state in STATES {
        let mut app = state.app();
        let (deadline, told): (Option<u64>, &[&str]) = match state {
            State::Connecting => (Some(10_000), &["CLOSED peer did not answer in time"]),
            // No heart-beats were agreed on.
            State::Connected => (None, &[]),
            State::Disconnecting => (Some(5000), &["CLOSED peer did not answer in time"]),
            // For the broker to end its stream.
            State::Closed => (Some(5000), &[]),
        };
        assert_eq!(app.deadline(), deadline.map(u128::from), "{state:?}");
        app.at(deadline.map_or(0, |deadline| deadline - 1));
        assert_eq!(app.told(), NOTHING);
        assert!(!app.client.is_finished());
        app.at(20_000);
        assert_eq!(app.told(), told, "{state:?}");
        assert_eq!(app.client.is_finished(), state == State::Closed);
    }
}

#[test]
fn requests_are_taken_in_connected_alone() {
    for state in STATES {
        let Scene { mut app, subscription, token, transaction } = state.scene();
        let expected = match state {
            State::Connecting | State::Disconnecting => UsageError::NotConnected,
            State::Closed => UsageError::Closed,
            State::Connected => continue,
        };
        let refused = Some(expected);
        let client = &mut app.client;
        assert_eq!(client.send(&SendRequest::new("/q")).err(), refused);
        assert_eq!(client.subscribe(&SubscribeRequest::new("/q")).err(), refused);
        assert_eq!(client.unsubscribe(subscription).err(), refused);
        assert_eq!(client.ack(&token).err(), refused);
        assert_eq!(client.nack(&token).err(), refused);
        assert_eq!(client.begin().err(), refused);
        let error = client.commit(transaction).unwrap_err();
        assert_eq!(Some(error.error), refused);
        let error = client.abort(error.token).unwrap_err();
        assert_eq!(Some(error.error), refused);
        assert_eq!(client.send_frame(&Frame::builder(Command::Send).build()).err(), refused);
        assert_eq!(client.disconnect(app.now).err(), refused);
        assert_eq!(app.written(), NOTHING, "{state:?}");
    }
    let Scene { mut app, subscription, token, transaction } = State::Connected.scene();
    app.client.send(&SendRequest::new("/q")).unwrap();
    app.client.subscribe(&SubscribeRequest::new("/q")).unwrap();
    app.client.unsubscribe(subscription).unwrap();
    app.client.ack(&token).unwrap();
    app.client.nack(&token).unwrap();
    let second = app.client.begin().unwrap();
    app.client.commit(transaction).unwrap();
    app.client.abort(second).unwrap();
    app.client.send_frame(&Frame::builder(Command::Send).build()).unwrap();
    app.client.disconnect(app.now).unwrap();
    let commands: Vec<_> =
        app.written().iter().map(|it| it.lines().next().unwrap().to_owned()).collect();
    assert_eq!(
        commands,
        [
            "SEND",
            "SUBSCRIBE",
            "UNSUBSCRIBE",
            "ACK",
            "NACK",
            "BEGIN",
            "COMMIT",
            "ABORT",
            "SEND",
            "DISCONNECT"
        ]
    );
}
