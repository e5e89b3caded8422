//! The program itself: what it prints, how it ends.

#![cfg(unix)]

use core::net::SocketAddr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use stomp_proto::ClientConfig;

use crate::support::Peer;

fn broker(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stomp-broker"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[tokio::test]
async fn it_says_where_it_listens_and_ends_in_order_when_told_to() {
    for signal in ["-TERM", "-INT"] {
        let mut child = broker(&["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let (tcp, ws) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(ws.starts_with("listening on ws://127.0.0.1:"), "{ws}");
        let address: SocketAddr = tcp.strip_prefix("listening on tcp://").unwrap().parse().unwrap();
        let mut config = ClientConfig::new("h").login("alice");
        config = config.passcode("not to be logged");
        let mut peer = Peer::connect(address, config).await;
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(peer.error().await.0, "broker is shutting down");
        assert!(peer.next().await.is_none());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(log.contains("shutting down") && !log.contains("not to be logged"), "{log}");
    }
}

#[tokio::test]
async fn it_says_so_when_its_port_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = broker(&["--tcp", &address]).wait_with_output().unwrap();
    let log = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success());
    assert!(log.contains(&format!("cannot listen on {address}: the port is taken")), "{log}");
}

#[tokio::test]
async fn it_says_so_when_its_rabbitmq_is_not_to_be_had() {
    for (uri, expected) in [
        ("amqp://guest:secret@127.0.0.1:1/%2f", "no AMQP on 127.0.0.1:1: "),
        ("amqps://guest:secret@127.0.0.1:1/%2f", "AMQP over TLS is not built in"),
        ("http://guest:secret@127.0.0.1:1/", "not an AMQP URI"),
    ] {
        let ended = broker(&["--tcp", "127.0.0.1:0", "--amqp", uri]).wait_with_output().unwrap();
        let log = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && ended.stdout.is_empty());
        assert!(log.contains(expected) && !log.contains("secret"), "{log}");
    }
}
