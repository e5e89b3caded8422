//! Every version of the protocol, and what only one of them has.

use core::time::Duration;

use stomp_broker::Config;
use stomp_broker::backend::MemoryLimits;
use stomp_proto::client::{AckMode, SubscribeRequest};
use stomp_proto::server::Dialect;
use stomp_proto::{ClientConfig, HeartBeat, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Peer, start, start_with, talk};

#[tokio::test]
async fn clients_of_all_versions_share_a_queue() {
    let broker = start().await;
    for from in Version::ALL {
        for to in Version::ALL {
            let mut receiver = broker.client_of(to).await;
            let request = SubscribeRequest::new("/queue/a").ack(AckMode::Client);
            let subscription = receiver.subscribe(request).await;
            broker.client_of(from).await.send("/queue/a", "hi").await;
            let message = receiver.message().await;
            assert_eq!(message.subscription(), Some(subscription));
            receiver.ack(&message);
            receiver.disconnect().await;
        }
    }
}

#[tokio::test]
async fn on_1_0_a_subscription_may_have_no_id_and_ends_by_its_destination() {
    let broker = start().await;
    let subscribe = "CONNECT\n\n\0SUBSCRIBE\ndestination:/queue/a\n\n\0\
        SEND\ndestination:/queue/a\n\n1\0";
    let unsubscribe = "UNSUBSCRIBE\ndestination:/queue/a\nreceipt:u\n\n\0\
        SUBSCRIBE\nid:7\ndestination:/queue/a\n\n\0UNSUBSCRIBE\ndestination:/queue/a\n\n\0\
        SEND\ndestination:/queue/a\nreceipt:s\n\n2\0DISCONNECT\nreceipt:d\n\n\0";
    let answers = talk(&broker, &[(subscribe, 2), (unsubscribe, 5)]).await;
    let commands: Vec<_> = answers.iter().map(|it| it.lines().next().unwrap()).collect();
    assert_eq!(commands, ["CONNECTED", "MESSAGE", "RECEIPT", "RECEIPT", "RECEIPT"], "{answers:?}");
    let message =
        "MESSAGE\nmessage-id:1\ndestination:/queue/a\nredelivered:false\ncontent-length:1\n\n1";
    assert_eq!(answers[1], message);
}

#[tokio::test]
async fn a_receipt_of_what_took_effect_comes_before_the_error_of_what_did_not() {
    let broker = start().await;
    let frames = "CONNECT\naccept-version:1.2\nhost:h\n\n\0\
        SEND\ndestination:/queue/a\nreceipt:1\n\n\0SEND\ndestination:/nowhere/a\nreceipt:2\n\n\0";
    let answers = talk(&broker, &[(frames, 3)]).await;
    assert!(answers[1].starts_with("RECEIPT\nreceipt-id:1\n"), "{answers:?}");
    assert!(answers[2].starts_with("ERROR\nreceipt-id:2\nmessage:Unknown destination\n"));
}

/// A backend that takes its time may still have to confirm when the session finds the fault.
#[tokio::test]
async fn queues_in_memory_confirm_before_a_fault_is_found() {
    let broker = start_with(Config::default(), MemoryLimits::default()).await;
    let frames = "CONNECT\naccept-version:1.2\nhost:h\n\n\0\
        SEND\ndestination:/queue/a\nreceipt:1\n\n\0SEND\ndestination:/queue/a\nnonsense\n\n\0";
    let answers = talk(&broker, &[(frames, 3)]).await;
    assert!(answers[1].starts_with("RECEIPT\nreceipt-id:1\n"), "{answers:?}");
    assert!(answers[2].starts_with("ERROR\n"), "{answers:?}");
}

#[tokio::test]
async fn the_dialect_decides_what_passes() {
    let connect = "CONNECT\naccept-version:1.2\n\n\0DISCONNECT\n\n\0";
    for (dialect, answer) in [(Dialect::LENIENT, "CONNECTED"), (Dialect::SPEC, "ERROR")] {
        let config = Config { dialect, ..Config::default() };
        let broker = start_with(config, MemoryLimits::default()).await;
        let answers = talk(&broker, &[(connect, 1)]).await;
        assert!(answers[0].starts_with(answer), "{answers:?}");
    }
}

#[tokio::test]
async fn heart_beats_keep_an_idle_connection_and_a_silent_client_is_cut_off() {
    let heart_beat = HeartBeat { can_send: 200, wants: 200 };
    let config = Config { heart_beat, ..Config::default() };
    let broker = start_with(config, MemoryLimits::default()).await;
    let config = ClientConfig::new("localhost").heart_beat(heart_beat);
    let mut peer = Peer::connect(broker.tcp, config).await;
    let agreed = peer.client.heart_beat();
    let interval = Some(Duration::from_millis(200));
    assert_eq!((agreed.outgoing, agreed.incoming), (interval, interval));
    // More than twice the time after which either end gives the other one up.
    peer.go_on(Duration::from_secs(2)).await;
    peer.send("/queue/a", "alive").await;

    let silent = "CONNECT\naccept-version:1.2\nhost:h\nheart-beat:200,0\n\n\0";
    let answers = timeout(Duration::from_secs(3), talk(&broker, &[(silent, 1)])).await.unwrap();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn a_client_is_answered_the_heart_beats_that_it_asks_for() {
    let broker = start().await;
    for (asked, answered) in [
        ("heart-beat:4000,6000\n", "heart-beat:6000,4000"),
        ("heart-beat:100,0\n", "heart-beat:0,1000"),
        ("", "heart-beat:0,0"),
    ] {
        let frames = format!("CONNECT\naccept-version:1.2\nhost:h\n{asked}\n\0DISCONNECT\n\n\0");
        let answers = talk(&broker, &[(&frames, 1)]).await;
        assert!(answers[0].lines().any(|line| line == answered), "{answers:?}");
    }
}

#[tokio::test]
async fn over_tcp_frames_are_followed_by_a_line_end() {
    let broker = start().await;
    let mut stream = TcpStream::connect(broker.tcp).await.unwrap();
    let frames = "CONNECT\naccept-version:1.2\nhost:h\n\n\0DISCONNECT\nreceipt:bye\n\n\0";
    stream.write_all(frames.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert!(answers.starts_with("CONNECTED\n"), "{answers}");
    assert!(answers.ends_with("\n\n\0\nRECEIPT\nreceipt-id:bye\n\n\0\n"), "{answers}");
}
