//! The program itself: what it prints, how it ends.

#![cfg(unix)]

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use stomp_proto::ClientConfig;

use crate::program::Program;
use crate::support::Peer;

#[tokio::test]
async fn it_says_where_it_listens_and_ends_in_order_when_told_to() {
    for signal in ["-TERM", "-INT"] {
        let program = Program::start(&["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0"]);
        let (address, ws) = (program.listens("tcp"), program.listens("ws"));
        assert!(ws.ip().is_loopback());
        let mut config = ClientConfig::new("h").login("alice");
        config = config.passcode("not to be logged");
        let mut peer = Peer::connect(address, config).await;
        let killed = Command::new("kill").args([signal, &program.id()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(peer.error().await.0, "broker is shutting down");
        assert!(peer.next().await.is_none());
        let ended = program.ended();
        assert!(ended.status.success());
        let log = ended.log;
        assert!(log.contains("shutting down") && !log.contains("not to be logged"), "{log}");
    }
}

#[tokio::test]
async fn it_says_so_when_its_port_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Program::start(&["--tcp", &address]).ended();
    let log = ended.log;
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
        let ended = Program::start(&["--tcp", "127.0.0.1:0", "--amqp", uri]).ended();
        let log = ended.log;
        assert!(!ended.status.success() && ended.lines.is_empty());
        assert!(log.contains(expected) && !log.contains("secret"), "{log}");
    }
}

#[tokio::test]
async fn it_does_not_wait_for_ever_for_a_rabbitmq_that_falls_silent() {
    let address = falling_silent();
    let uri = format!("amqp://guest:secret@{address}/%2f");
    let ended = Program::start(&["--tcp", "127.0.0.1:0", "--amqp", &uri]).ended();
    assert!(!ended.status.success() && ended.lines.is_empty());
    let expected = format!("no AMQP on {address}: it does not answer");
    assert!(ended.log.contains(&expected), "{}", ended.log);
}

/// Where somebody lets in who comes over AMQP, and says nothing from then on.
fn falling_silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // AMQP 0-9-1, 4.2.2: the protocol header.
        stream.read_exact(&mut [0; 8]).unwrap();
        // connection.start of 0-9 without properties, and start-ok.
        write_method(&mut stream, b"\0\x0a\0\x0a\0\x09\0\0\0\0\0\0\0\x05PLAIN\0\0\0\x05en_US");
        read_frame(&mut stream);
        // connection.tune: any number of channels, frames of 128 KiB, no heart-beats.
        write_method(&mut stream, b"\0\x0a\0\x1e\0\0\0\x02\0\0\0\0");
        // tune-ok and open.
        read_frame(&mut stream);
        read_frame(&mut stream);
        // connection.open-ok.
        write_method(&mut stream, b"\0\x0a\0\x29\0");
        // Until the other end is gone, in whatever way.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    address
}

/// A method frame on channel 0.
fn write_method(stream: &mut TcpStream, method: &[u8]) {
    let mut frame = vec![1, 0, 0];
    frame.extend(u32::try_from(method.len()).unwrap().to_be_bytes());
    frame.extend(method);
    frame.push(0xce);
    stream.write_all(&frame).unwrap();
}

fn read_frame(stream: &mut TcpStream) {
    let mut head = [0; 7];
    stream.read_exact(&mut head).unwrap();
    let len = u32::from_be_bytes(head[3..].try_into().unwrap());
    stream.read_exact(&mut vec![0; len as usize + 1]).unwrap();
}
