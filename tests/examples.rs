//! The examples `tour` and `client`: what they print and how they end.

mod broker;
#[path = "../examples/client/main.rs"]
#[expect(dead_code, reason = "its `main` would need a process of its own")]
mod client;
#[path = "../examples/tour/main.rs"]
#[expect(dead_code, reason = "its `main` would need a process of its own")]
mod tour;

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use broker::threads::{Thread, in_time, join};
use broker::{Broker, FORBIDDEN, Outcome, PASSCODE, Seen};
use bytes::Bytes;
use client::driver;
use stomp_proto::frame::Header;
use stomp_proto::server::Delivery;
use stomp_proto::{CloseReason, Frame};

const QUEUE: &str = "/queue/a";

#[test]
fn the_tour_shows_both_wires() -> Outcome<()> {
    let mut shown = Vec::new();
    tour::run(&mut shown).map_err(|trouble| trouble.to_string())?;
    assert_eq!(String::from_utf8(shown)?, include_str!("data/tour.txt"));
    Ok(())
}

#[test]
fn send_ends_when_the_message_is_confirmed() -> Outcome<()> {
    in_time(|| {
        for versions in ["1.0", "1.0,1.1", "1.2", "1.2,1.1,1.0"] {
            let (address, broker) = serve(Broker::default())?;
            let args = ["--versions", versions, &address, "send", QUEUE, "héllo"];
            assert_eq!(client(&args, b"not this"), silent(0));
            assert_eq!(sent(broker)?, [(QUEUE.into(), "héllo".into())]);
        }
        Ok(())
    })
}

#[test]
fn send_takes_its_body_from_standard_input() -> Outcome<()> {
    in_time(|| {
        let (address, broker) = serve(Broker::default())?;
        assert_eq!(client(&[&address, "send", QUEUE], b"a\0\xff\n"), silent(0));
        assert_eq!(sent(broker)?, [(QUEUE.into(), Bytes::from_static(b"a\0\xff\n"))]);
        Ok(())
    })
}

#[test]
fn connect_says_what_the_command_line_does() -> Outcome<()> {
    in_time(|| {
        let plain = "accept-version:1.0,1.1,1.2 host:127.0.0.1";
        assert_eq!(connect(&[], None)?, plain);
        assert_eq!(connect(&[], Some("of no use"))?, plain);
        let options = ["--login", "alice", "--versions", "1.2,1.1", "--host", "/"];
        let login = "accept-version:1.1,1.2 host:/ login:alice passcode:hush";
        assert_eq!(connect(&options, Some(PASSCODE))?, login);
        let options = ["--heart-beat", "1,2", "--login", "", "--passcode", PASSCODE];
        let login = "accept-version:1.0,1.1,1.2 host:127.0.0.1 login: passcode:hush heart-beat:1,2";
        assert_eq!(connect(&options, Some("second to the option"))?, login);
        Ok(())
    })
}

/// The headers of the CONNECT that these options make.
fn connect(options: &[&str], passcode: Option<&str>) -> Outcome<String> {
    let (address, broker) = serve(Broker::default())?;
    let args = [options, &[&address, "send", QUEUE, ""]].concat();
    assert_eq!(client_in(passcode, &args, b""), silent(0), "{options:?}");
    let connect = join(broker)?.connect.ok_or("no CONNECT")?;
    let headers = connect.headers().iter();
    let headers: Vec<_> =
        headers.map(|header| format!("{}:{}", header.name(), header.value())).collect();
    Ok(headers.join(" "))
}

/// requirements A-001 to A-003
#[test]
fn subscribe_acknowledges_in_the_form_of_version_and_mode() -> Outcome<()> {
    in_time(|| {
        for (versions, named_by) in
            [("1.0", "message-id"), ("1.1", "subscription message-id"), ("1.2", "id")]
        {
            for mode in ["auto", "client", "client-individual"] {
                let (address, broker) = serve(stocked(3))?;
                let args = ["--versions", versions, &address, "subscribe", QUEUE];
                let args = [&args[..], &["--ack", mode, "--count", "2", "--json"]].concat();
                let (status, shown, complaint) = client(&args, b"");
                assert_eq!((status, shown.lines().count(), &*complaint), (0, 2, ""), "{args:?}");
                let seen = join(broker)?;
                assert_eq!(seen.closed, Some(CloseReason::Disconnected));
                let acks = seen.acks.iter().map(|(ack, settled)| (names(ack), *settled));
                let acks: Vec<_> = acks.collect();
                let (acknowledged, open) = if mode == "auto" { (0, 0) } else { (2, 1) };
                assert_eq!(acks, vec![(named_by.to_owned(), 1); acknowledged], "{args:?}");
                assert_eq!(seen.open, open, "{args:?}");
            }
        }
        Ok(())
    })
}

#[test]
fn machines_get_an_object_a_line() -> Outcome<()> {
    in_time(|| {
        let (address, broker) = serve(Broker { stock: vec![odd()], ..Broker::default() })?;
        let args = [&*address, "subscribe", QUEUE, "--json", "--ack", "client", "--count", "1"];
        let line = concat!(
            r#"{"headers":[["subscription","1"],["message-id","m-1"],["ack","t-1"],"#,
            r#"["destination","/queue/a"],["k","a:b\n\"c\""],["k","again"],["content-length","7"]],"#,
            r#""body":"\\xc3\\xa9\\x00\\n\\xff\\\"b"}"#,
            "\n"
        );
        assert_eq!(client(&args, b""), (0, line.into(), String::new()));
        assert_eq!(join(broker)?.open, 0);
        Ok(())
    })
}

#[test]
fn people_get_headers_and_text() -> Outcome<()> {
    in_time(|| {
        let (address, broker) = serve(Broker { stock: vec![odd()], ..Broker::default() })?;
        let args = ["--versions", "1.1", &*address, "subscribe", QUEUE, "--count", "1"];
        let shown = r#"
MESSAGE
    subscription: 1
    message-id: m-1
    destination: /queue/a
    k: a:b\n"c"
    k: again
    content-length: 7

    é\0
    �"b

"#;
        assert_eq!(client(&args, b""), (0, shown.trim_start().into(), String::new()));
        join(broker)?;
        Ok(())
    })
}

#[test]
fn what_was_not_printed_is_not_acknowledged() -> Outcome<()> {
    in_time(|| {
        let complaint = "client: standard output: other error\n";
        for (kind, status, complaint) in
            [(ErrorKind::BrokenPipe, 0, ""), (ErrorKind::Other, 1, complaint)]
        {
            let (address, broker) = serve(stocked(2))?;
            let args = [&*address, "subscribe", QUEUE, "--ack", "client"];
            let end = client_to(&mut Broken(kind), None, &args, b"");
            assert_eq!(end, (status, complaint.into()));
            let seen = join(broker)?;
            assert_eq!((seen.acks.len(), seen.open), (0, 2));
        }
        Ok(())
    })
}

#[test]
fn an_error_is_one_line_whatever_is_in_it() -> Outcome<()> {
    in_time(|| {
        let (address, broker) = serve(Broker::default())?;
        let complaint = r#"broker reported "access refused": not for you:\nleave"#;
        assert_eq!(client(&[&address, "send", FORBIDDEN, "x"], b""), failed(1, complaint));
        assert_eq!(join(broker)?.closed, Some(CloseReason::Failed));

        let (address, broker) = serve(Broker::default())?;
        let args = ["--login", "alice", "--passcode", "wrong", &*address, "subscribe", QUEUE];
        assert_eq!(client(&args, b""), failed(1, r#"broker reported "access refused""#));
        assert_eq!(join(broker)?.closed, Some(CloseReason::Failed));
        Ok(())
    })
}

#[test]
fn a_session_that_fails_is_one_line() -> Outcome<()> {
    const CONNECTED: &str = "CONNECTED\nversion:1.2\nheart-beat:1,0\n\n\0";
    const CASES: [(&str, &str); 6] = [
        ("", "peer closed the connection"),
        (CONNECTED, "peer closed the connection"),
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "protocol error: unknown command at octet 0"),
        (
            "CONNECTED\nversion:9\n\n\0",
            r#"protocol error: broker chose version "9", which was not offered"#,
        ),
        ("RECEIPT\nreceipt-id:1\n\n\0", "protocol error: unexpected RECEIPT"),
        ("ERROR\nmessage:no\\nway\n\n\x1b[2J\0", r#"broker reported "no\nway": \u{1b}[2J"#),
    ];
    in_time(|| {
        for (octets, complaint) in CASES {
            let (address, broker) = recite(octets, Then::End)?;
            assert_eq!(client(&[&address, "send", QUEUE, "x"], b""), failed(1, complaint));
            join(broker)?;
        }
        let (address, broker) = recite(CONNECTED, Then::Silence)?;
        let args = ["--heart-beat", "0,1", &*address, "subscribe", QUEUE];
        assert_eq!(client(&args, b""), failed(1, "peer fell silent"));
        join(broker)?;
        Ok(())
    })
}

#[test]
fn messages_are_printed_until_the_broker_ends() -> Outcome<()> {
    const SESSION: &str = "CONNECTED\nversion:1.1\n\n\0\
        MESSAGE\nsubscription:1\nmessage-id:7\ndestination:/queue/a\n\nhi\0\n";
    in_time(|| {
        let (address, broker) = recite(SESSION, Then::End)?;
        let line = r#"{"headers":[["subscription","1"],["message-id","7"],["destination","/queue/a"]],"body":"hi"}"#;
        let complaint = "client: peer closed the connection\n";
        let end = (1, format!("{line}\n"), complaint.into());
        assert_eq!(client(&[&address, "subscribe", QUEUE, "--json"], b""), end);
        join(broker)?;
        Ok(())
    })
}

#[test]
fn a_broker_that_cannot_be_reached_is_one_line() -> Outcome<()> {
    in_time(|| {
        // A port that is taken, and that nobody listens on.
        let listener = listen()?;
        let taken = TcpStream::connect(listener.local_addr()?)?.local_addr()?.to_string();
        let (status, shown, complaint) = client(&[&taken, "send", QUEUE, "x"], b"");
        assert_eq!((status, &*shown, complaint.lines().count()), (1, "", 1));
        assert!(complaint.starts_with(&format!("client: {taken}: ")), "{complaint}");
        Ok(())
    })
}

#[test]
fn a_command_line_that_makes_no_sense_is_one_line() {
    let cases = [
        ("", "no ADDR given, see --help"),
        ("h:1", "no send or subscribe given, see --help"),
        ("h:1 send", "no DESTINATION given, see --help"),
        ("h send /q", r#""h" is not HOST:PORT"#),
        (":1 send /q", r#"":1" is not HOST:PORT"#),
        ("h:65536 send /q", r#""h:65536" is not HOST:PORT"#),
        ("h:1 receive /q", r#""receive" is neither send nor subscribe"#),
        ("h:1 send /q x y", r#"unexpected argument "y""#),
        ("h:1 subscribe /q x", r#"unexpected argument "x""#),
        ("h:1 send /q --loud", "invalid option '--loud'"),
        ("h:1 send /q --lo\nud", r"invalid option '--lo\nud'"),
        ("h:1 send /q --host", "missing argument for option '--host'"),
        ("h:1 send /q --json", "--ack, --count and --json are for subscribe"),
        ("h:1 send /q --json=1", r#"unexpected argument for option '--json': "1""#),
        ("h:1 send /q --login a", "--login without --passcode or STOMP_PASSCODE"),
        ("h:1 send /q --passcode p", "--passcode without --login"),
        ("--count 0", r#"cannot parse argument "0": number would be zero for non-zero type"#),
        ("--ack none", r#"cannot parse argument "none": not auto, client or client-individual"#),
        ("--versions 1.3", r#"cannot parse argument "1.3": not a list of 1.0, 1.1 and 1.2"#),
        ("--versions 1.2,", r#"cannot parse argument "1.2,": not a list of 1.0, 1.1 and 1.2"#),
        ("--heart-beat 5", r#"cannot parse argument "5": not OUT,IN in milliseconds"#),
    ];
    for (args, complaint) in cases {
        let args: Vec<_> = args.split(' ').filter(|arg| !arg.is_empty()).collect();
        assert_eq!(client(&args, b""), failed(2, complaint), "{args:?}");
    }
}

#[test]
fn what_the_session_refuses_is_the_command_line() -> Outcome<()> {
    in_time(|| {
        let (address, broker) = serve(Broker::default())?;
        let args = ["--versions", "1.0", &*address, "send", "/queue/a\n", "x"];
        let complaint = r#"header "destination" of SEND cannot be written on STOMP 1.0"#;
        assert_eq!(client(&args, b""), failed(2, complaint));
        join(broker)?;
        Ok(())
    })
}

#[test]
fn help_is_no_failure() {
    let (status, shown, complaint) = client(&["h:1", "--help"], b"");
    assert_eq!((status, &*complaint), (0, ""));
    assert!(shown.contains("Usage: client [OPTIONS] ADDR send DESTINATION [BODY]"), "{shown}");
}

/// Runs the example: its exit status, standard output and standard error.
fn client(args: &[&str], stdin: &[u8]) -> (u8, String, String) {
    client_in(None, args, stdin)
}

fn client_in(passcode: Option<&str>, args: &[&str], stdin: &[u8]) -> (u8, String, String) {
    let mut out = Vec::new();
    let (status, complaint) = client_to(&mut out, passcode, args, stdin);
    (status, String::from_utf8_lossy(&out).into(), complaint)
}

fn client_to(
    out: &mut dyn Write,
    passcode: Option<&str>,
    args: &[&str],
    mut stdin: &[u8],
) -> (u8, String) {
    match client::run(args, passcode.map(Into::into), &mut stdin, out) {
        Ok(()) => (0, String::new()),
        Err(failure) => (failure.status, format!("client: {failure}\n")),
    }
}

/// How it ends when there is nothing to say.
fn silent(status: u8) -> (u8, String, String) {
    (status, String::new(), String::new())
}

fn failed(status: u8, complaint: &str) -> (u8, String, String) {
    (status, String::new(), format!("client: {complaint}\n"))
}

/// The address of a broker that serves one client.
fn serve(broker: Broker) -> Outcome<(String, Thread<Seen>)> {
    let listener = listen()?;
    let address = listener.local_addr()?.to_string();
    let serve = move || broker.serve(listener.accept()?.0);
    Ok((address, thread::spawn(serve)))
}

/// What a peer that recites does when it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    Silence,
}

/// The address of a peer that answers CONNECT with these octets, whatever it says.
fn recite(octets: &'static str, then: Then) -> Outcome<(String, Thread<()>)> {
    let listener = listen()?;
    let address = listener.local_addr()?.to_string();
    let recite = move || {
        let (mut socket, _) = listener.accept()?;
        BufReader::new(&socket).read_until(0, &mut Vec::new())?;
        socket.write_all(octets.as_bytes())?;
        if then == Then::End {
            socket.shutdown(Shutdown::Write)?;
        }
        // A client that drops what it did not read resets the connection.
        let _: io::Result<u64> = io::copy(&mut socket, &mut io::sink());
        Ok(())
    };
    Ok((address, thread::spawn(recite)))
}

fn listen() -> io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
}

fn sent(broker: Thread<Seen>) -> Outcome<Vec<(String, Bytes)>> {
    Ok(join(broker)?.sent)
}

/// A broker with that many messages for each subscription.
fn stocked(count: usize) -> Broker {
    Broker { stock: vec![Delivery::builder(QUEUE).body("x").build(); count], ..Broker::default() }
}

/// A message that takes some care to print.
fn odd() -> Delivery {
    Delivery::builder(QUEUE)
        .message_id("m-1")
        .ack_id("t-1")
        .header("k", "a:b\n\"c\"")
        .header("k", "again")
        .body(&b"\xc3\xa9\0\n\xff\"b"[..])
        .build()
}

/// The names of the headers of a frame.
fn names(frame: &Frame) -> String {
    let names: Vec<_> = frame.headers().iter().map(Header::name).collect();
    names.join(" ")
}

/// An output that fails in one way.
struct Broken(ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}
