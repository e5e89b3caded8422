//! Both ends over loopback TCP, on blocking sockets and real threads.

mod broker;
#[path = "../examples/client/driver.rs"]
mod driver;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use broker::threads::{Thread, in_time, join};
use broker::{Broker, FORBIDDEN, Outcome, Seen, patient};
use bytes::{Buf, Bytes};
use driver::Driver;
use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, Event, SendRequest, SubscribeRequest,
};
use stomp_proto::codec::DecodeErrorKind;
use stomp_proto::{
    Client, ClientConfig, CloseReason, ProtocolError, Server, ServerConfig, Session,
};

const QUEUE: &str = "/queue/a";

/// Megabytes that are more than sockets hold for a peer that does not read.
const MEGABYTES: u8 = 48;

/// A driver that wrote as long as it takes would hang here, and so would the one at the other end.
#[test]
fn both_ends_write_megabytes_at_the_same_time() -> Outcome<()> {
    in_time(|| {
        let (socket, broker) = connect(Broker::default())?;
        let mut driver = Driver::new(client()?, socket)?;
        let mut received = 0;
        while let Some(event) = driver.next_event() {
            match event {
                Event::Connected(_) => {
                    driver.session().subscribe(&SubscribeRequest::new(QUEUE))?;
                    send_megabytes(driver.session())?;
                }
                Event::Message(message) => {
                    assert!(message.body() == &megabyte(received), "message {received}");
                    received += 1;
                    if received == MEGABYTES {
                        driver.session().disconnect(Instant::now())?;
                    }
                }
                Event::Closed(reason) => assert_eq!(reason, CloseReason::Disconnected),
                other => return Err(format!("unexpected {other:?}").into()),
            }
        }
        let seen = join(broker)?;
        assert_eq!((received, seen.sent.len()), (MEGABYTES, MEGABYTES.into()));
        assert_eq!(seen.closed, Some(CloseReason::Disconnected));
        Ok(())
    })
}

#[test]
fn the_receipt_of_disconnect_comes_behind_all_that_was_to_be_written() -> Outcome<()> {
    in_time(|| {
        let (socket, broker) = connect(Broker::default())?;
        let mut driver = Driver::new(client()?, socket)?;
        let mut received = 0;
        while let Some(event) = driver.next_event() {
            match event {
                Event::Connected(_) => {
                    driver.session().subscribe(&SubscribeRequest::new(QUEUE))?;
                    send_megabytes(driver.session())?;
                    driver.session().disconnect(Instant::now())?;
                }
                Event::Message(_) => received += 1,
                Event::Closed(reason) => {
                    assert_eq!((reason, received), (CloseReason::Disconnected, MEGABYTES));
                }
                other => return Err(format!("unexpected {other:?}").into()),
            }
        }
        assert_eq!(join(broker)?.closed, Some(CloseReason::Disconnected));
        Ok(())
    })
}

/// A server whose outbox is full reads no further frame, and goes on when it has been written.
#[test]
fn a_full_outbox_holds_nothing_up_for_good() -> Outcome<()> {
    in_time(|| {
        let (mut near, far) = sockets()?;
        let broker = thread::spawn(move || {
            let mut config = ServerConfig::default();
            config.limits = patient();
            config.limits.max_outbox_len = 0;
            let mut driver = Driver::new(Server::new(config, Instant::now()), far)?;
            let mut broker = Broker::default();
            while let Some(event) = driver.next_event() {
                broker.handle(event, driver.session())?;
            }
            Ok(broker.seen)
        });
        near.write_all(
            b"CONNECT\naccept-version:1.2\nhost:h\n\n\0\
            SUBSCRIBE\nid:0\ndestination:/queue/a\nreceipt:1\n\n\0\
            SEND\ndestination:/queue/a\nreceipt:2\n\nhi\0\
            DISCONNECT\nreceipt:3\n\n\0",
        )?;
        let mut answer = String::new();
        near.read_to_string(&mut answer)?;
        drop(near);
        let commands: Vec<_> =
            answer.split_terminator('\0').filter_map(|it| it.lines().next()).collect();
        assert_eq!(commands, ["CONNECTED", "RECEIPT", "MESSAGE", "RECEIPT", "RECEIPT"]);
        assert_eq!(join(broker)?.closed, Some(CloseReason::Disconnected));
        Ok(())
    })
}

#[test]
fn a_session_is_the_same_in_single_octets() -> Outcome<()> {
    in_time(|| {
        let (mut near, mut far) = sockets()?;
        let broker = thread::spawn(move || -> Outcome<Seen> {
            let mut broker = Broker::default();
            trickle(&mut broker::server(), &mut far, |event, server| broker.handle(event, server))?;
            Ok(broker.seen)
        });
        let mut told = Vec::new();
        trickle(&mut client()?, &mut near, |event, client| {
            told.push(tell(&event));
            act(event, client)
        })?;
        assert_eq!(
            told,
            [
                "connected on 1.2",
                "message a\\x00\\n\\xff",
                "receipt 1",
                "receipt 2",
                "disconnected"
            ]
        );
        let seen = join(broker)?;
        let sent: Vec<_> = seen.sent.iter().map(|(to, body)| (&**to, &body[..])).collect();
        assert_eq!(sent, [(QUEUE, &b"a\0\n\xff"[..]), ("/queue/b", b"answer")]);
        assert_eq!((seen.acks.len(), seen.open), (1, 0));
        Ok(())
    })
}

/// Asks for a message, sends it, and answers it in a transaction.
fn act(event: Event, client: &mut Client<Instant>) -> Outcome<()> {
    match event {
        Event::Connected(_) => {
            client.subscribe(&SubscribeRequest::new(QUEUE).ack(AckMode::ClientIndividual))?;
            let receipt = client.next_receipt();
            client.send(&SendRequest::new(QUEUE).body(&b"a\0\n\xff"[..]).receipt(receipt))?;
        }
        Event::Message(message) => {
            let transaction = client.begin()?;
            client.send(&SendRequest::new("/queue/b").body("answer").transaction(&transaction))?;
            let token = message.token().ok_or("nothing to acknowledge")?;
            client.ack(AckRequest::new(&token).transaction(&transaction))?;
            let receipt = client.next_receipt();
            client.commit(EndTransaction::new(transaction).receipt(receipt))?;
        }
        Event::Receipt(receipt) if receipt.to_string() == "2" => {
            client.disconnect(Instant::now())?;
        }
        _ => {}
    }
    Ok(())
}

fn tell(event: &Event) -> String {
    match event {
        Event::Connected(connected) => format!("connected on {}", connected.version()),
        Event::Message(message) => format!("message {}", message.body().escape_ascii()),
        Event::Receipt(receipt) => format!("receipt {receipt}"),
        Event::UnknownReceipt(receipt) => format!("unknown receipt {receipt}"),
        Event::Closed(reason) => reason.to_string(),
    }
}

/// STOMP 1.2, "Connection Lingering": a socket that is closed with input unread takes back what was
/// written last.
#[test]
fn an_error_arrives_although_the_rest_of_the_input_is_not_read() -> Outcome<()> {
    in_time(|| {
        let (mut socket, broker) = connect(Broker::default())?;
        socket.write_all(b"CONNECT\naccept-version:1.2\nhost:h\n\n\0BOGUS\n\n\0")?;
        for number in 0..MEGABYTES {
            socket.write_all(&megabyte(number))?;
        }
        socket.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        let (_, error) = answer.split_once('\0').ok_or("no CONNECTED")?;
        assert_eq!(error, "ERROR\nmessage:unknown command\n\n\0");
        let Some(CloseReason::Protocol(ProtocolError::Decode(error))) = join(broker)?.closed else {
            return Err("the broker did not mind".into());
        };
        assert_eq!(error.kind, DecodeErrorKind::UnknownCommand);
        Ok(())
    })
}

#[test]
fn an_error_reaches_a_client_that_has_much_to_write() -> Outcome<()> {
    in_time(|| {
        let (socket, broker) = connect(Broker::default())?;
        let mut driver = Driver::new(client()?, socket)?;
        let receipt = driver.session().next_receipt();
        let mut closed = None;
        while let Some(event) = driver.next_event() {
            match event {
                Event::Connected(_) => {
                    driver.session().send(&SendRequest::new(FORBIDDEN).receipt(receipt))?;
                    send_megabytes(driver.session())?;
                }
                Event::Closed(reason) => closed = Some(reason),
                other => return Err(format!("unexpected {other:?}").into()),
            }
        }
        let Some(CloseReason::Error { frame, receipt: of }) = closed else {
            return Err(format!("closed: {closed:?}").into());
        };
        assert_eq!(
            (frame.header("message").as_deref(), of),
            (Some("access refused"), Some(receipt))
        );
        assert_eq!(join(broker)?.closed, Some(CloseReason::Failed));
        Ok(())
    })
}

#[test]
fn a_broker_that_is_gone_is_a_lost_connection() -> Outcome<()> {
    in_time(|| {
        let (near, far) = sockets()?;
        let mut driver = Driver::new(client()?, near)?;
        let broker = thread::spawn(move || Ok(far.peek(&mut [0])?));
        let told: Vec<_> = core::iter::from_fn(|| driver.next_event()).collect();
        let told: Vec<_> = told.iter().map(tell).collect();
        // It left CONNECT unread.
        assert_eq!(join(broker)?, 1);
        assert_eq!(told, ["connection was lost"]);
        assert!(driver.error().is_some());
        Ok(())
    })
}

/// Other systems may throw away what was not read before the connection was reset.
#[cfg(target_os = "linux")]
#[test]
fn the_last_words_of_a_broker_that_is_gone_are_heard() -> Outcome<()> {
    in_time(|| {
        let (near, mut far) = sockets()?;
        // What waits for an acknowledgement would go down with the connection.
        far.set_nodelay(true)?;
        let mut driver = Driver::new(client()?, near)?;
        let receipt = driver.session().next_receipt();
        let (go_on, is_time) = mpsc::channel();
        let (is_gone, gone) = mpsc::channel();
        let broker = thread::spawn(move || {
            BufReader::new(&far).read_until(0, &mut Vec::new())?;
            far.write_all(b"CONNECTED\nversion:1.2\n\n\0")?;
            far.peek(&mut [0])?;
            far.write_all(b"RECEIPT\nreceipt-id:1\n\n\0")?;
            is_time.recv()?;
            far.write_all(b"ERROR\nmessage:enough\n\n\0")?;
            // With input unread, which resets the connection.
            drop(far);
            Ok(is_gone.send(())?)
        });
        let mut told = Vec::new();
        while let Some(event) = driver.next_event() {
            told.push(tell(&event));
            match event {
                Event::Connected(_) => {
                    driver.session().send(&SendRequest::new(QUEUE).receipt(receipt))?;
                }
                Event::Receipt(_) => {
                    go_on.send(())?;
                    gone.recv()?;
                    driver.session().send(&SendRequest::new(QUEUE).body("to nobody"))?;
                }
                _ => {}
            }
        }
        join(broker)?;
        let error = "broker reported \"enough\"";
        assert_eq!(told, ["connected on 1.2", "receipt 1", error]);
        assert!(driver.error().is_some(), "it was writing that failed");
        Ok(())
    })
}

/// Drives a session in the plainest way, one octet a time.
fn trickle<S: Session<Instant = Instant>>(
    session: &mut S,
    socket: &mut TcpStream,
    mut handle: impl FnMut(S::Event, &mut S) -> Outcome<()>,
) -> Outcome<()> {
    let (mut octet, mut is_open) = ([0], true);
    loop {
        while let Some(event) = session.poll_event(Instant::now()) {
            handle(event, session)?;
        }
        while session.outbox().has_remaining() {
            session.outbox().write_to(socket)?;
        }
        if session.is_finished() {
            return Ok(());
        }
        if is_open && session.wants_shutdown() {
            socket.shutdown(Shutdown::Write)?;
            is_open = false;
        }
        match socket.read(&mut octet)? {
            0 => session.handle_eof(),
            _ => session.receive(&octet),
        }
    }
}

fn client() -> Outcome<Client<Instant>> {
    let config = ClientConfig::new("localhost").limits(patient());
    Ok(Client::new(config, Instant::now())?)
}

fn send_megabytes(client: &mut Client<Instant>) -> Outcome<()> {
    for number in 0..MEGABYTES {
        client.send(&SendRequest::new(QUEUE).body(megabyte(number)))?;
    }
    Ok(())
}

fn megabyte(number: u8) -> Bytes {
    vec![number; 1 << 20].into()
}

/// A socket to a broker, which has a thread of its own.
fn connect(broker: Broker) -> Outcome<(TcpStream, Thread<Seen>)> {
    let (near, far) = sockets()?;
    Ok((near, thread::spawn(move || broker.serve(far))))
}

/// Both ends of a connection.
fn sockets() -> Outcome<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    Ok((near, far))
}
