//! What a RabbitMQ brings with it. `tests/interop/run`, a part of `.ci/run`, starts one and tells them all,
//! and the other stories too.

use lapin::options::{BasicPublishOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Connection, ConnectionProperties};
use stomp_broker::Config;
use stomp_broker::backend::Amqp;
use stomp_proto::client::{
    AckMode, AckRequest, EndTransaction, Event, SendRequest, SubscribeRequest,
};
use stomp_proto::{Client, ClientConfig, CloseReason};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::support::{self, Peer, Running, body, is_redelivered, start_on, within};

fn uri() -> String {
    std::env::var("STOMP_BROKER_AMQP").unwrap()
}

/// On the RabbitMQ, or not at all: in memory most of this would say nothing.
async fn start() -> Running {
    uri();
    support::start().await
}

async fn amqp() -> Connection {
    let uri = uri();
    within(Connection::connect(&uri, ConnectionProperties::default())).await.unwrap()
}

/// How a login ends.
async fn log_in(broker: &Running, login: &str, passcode: &str) -> (String, String, bool) {
    let config = ClientConfig::new("/").login(login).passcode(passcode);
    let client = Client::new(config, Instant::now()).unwrap();
    Peer::new(broker.tcp, client).await.unwrap().error().await
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn two_brokers_on_one_rabbitmq_are_one_service() {
    let (one, two) = (start().await, start().await);
    let (mut sender, mut receiver) = (one.client().await, two.client().await);
    let request = SubscribeRequest::new("/queue/a").ack(AckMode::ClientIndividual);
    receiver.subscribe(request.clone()).await;
    sender.send("/queue/a", "over there").await;
    let message = receiver.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("over there", false));
    receiver.nack(&message);
    let message = receiver.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("over there", true));
    receiver.disconnect().await;
    // What was left open goes to whoever comes next, on whichever broker.
    sender.subscribe(request).await;
    let message = sender.message().await;
    assert!(is_redelivered(&message));
    sender.ack(&message);
    sender.disconnect().await;
    let mut last = two.client().await;
    last.subscribe(SubscribeRequest::new("/queue/a")).await;
    last.quiet().await;
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn headers_become_properties_and_come_back() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    let sent = [
        ("content-type", "text/x"),
        ("content-encoding", "none"),
        ("correlation-id", "c"),
        ("expiration", "60000"),
        ("amqp-message-id", "m"),
        ("type", "t"),
        ("user-id", "guest"),
        ("app-id", "stories"),
        ("reply-to", "/queue/answers"),
        ("persistent", "true"),
        ("priority", "3"),
        ("timestamp", "1700000000"),
        ("a", "x:y\n"),
        ("b", "first"),
    ];
    let request = SendRequest::new("/queue/a").body(vec![0, 255, 10]);
    let request = sent.iter().fold(request, |request, (name, value)| request.header(name, value));
    peer.client.send(&request.header("b", "second")).unwrap();
    let message = peer.message().await;
    assert_eq!(message.body(), &[0, 255, 10][..]);
    for (name, value) in sent {
        assert_eq!(message.headers().get(name).as_deref(), Some(value), "{name}");
    }
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn what_other_clients_of_rabbitmq_put_into_a_header_table_is_told_as_text() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    let connection = amqp().await;
    let channel = within(connection.create_channel()).await.unwrap();
    let mut table = FieldTable::default();
    for (name, value) in [
        ("boolean", AMQPValue::Boolean(true)),
        ("integer", AMQPValue::LongInt(-5)),
        ("long", AMQPValue::LongLongInt(1 << 40)),
        ("double", AMQPValue::Double(0.5)),
        ("time", AMQPValue::Timestamp(7)),
        ("text", AMQPValue::LongString(vec![b'a', 0xff].into())),
        ("nothing", AMQPValue::Void),
    ] {
        table.insert(name.into(), value);
    }
    let (options, properties) = (BasicPublishOptions::default(), BasicProperties::default());
    let properties = properties.with_headers(table);
    let published = channel.basic_publish("".into(), "a".into(), options, b"", properties);
    within(published).await.unwrap();
    let message = peer.message().await;
    for (name, value) in [
        ("boolean", Some("true")),
        ("integer", Some("-5")),
        ("long", Some("1099511627776")),
        ("double", Some("0.5")),
        ("time", Some("7")),
        ("text", Some("a\u{fffd}")),
        ("nothing", None),
    ] {
        assert_eq!(message.headers().get(name).as_deref(), value, "{name}");
    }
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn what_rabbitmq_refuses_is_told_in_its_words() {
    let broker = start().await;
    let none = "NOT_FOUND - no exchange 'none' in vhost '/'";
    for (destination, message, explanation) in [
        ("/exchange/none/k", "not_found", none),
        ("/amq/queue/none", "not_found", "NOT_FOUND - no queue 'none' in vhost '/'"),
    ] {
        let mut peer = broker.client().await;
        let receipt = peer.client.next_receipt();
        peer.client.subscribe(&SubscribeRequest::new(destination).receipt(receipt)).unwrap();
        assert_eq!(peer.error().await, (message.into(), explanation.into(), true));
    }
    let mut peer = broker.client().await;
    let receipt = peer.client.next_receipt();
    peer.client.send(&SendRequest::new("/exchange/none/k").receipt(receipt)).unwrap();
    assert_eq!(peer.error().await, ("not_found".into(), none.into(), true));

    let mut peer = broker.client().await;
    peer.send("/queue/there", "").await;
    let mut peer = broker.client().await;
    let request = SendRequest::new("/queue/there").header("auto-delete", "true");
    peer.client.send(&request).unwrap();
    let (message, explanation, _) = peer.error().await;
    assert_eq!(message, "precondition_failed");
    assert!(explanation.starts_with("PRECONDITION_FAILED - inequivalent arg"), "{explanation}");
}

/// A message that RabbitMQ took is never named as the one that failed: it would be sent again.
#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn an_error_does_not_name_another_request_than_that_which_failed() {
    let broker = start().await;
    for _ in 0..20 {
        let mut peer = broker.client().await;
        let sound = peer.client.next_receipt();
        let request = SendRequest::new("/queue/a").header("persistent", "true").receipt(sound);
        peer.client.send(&request).unwrap();
        let wrong = peer.client.next_receipt();
        peer.client.send(&SendRequest::new("/exchange/none/k").receipt(wrong)).unwrap();
        loop {
            match peer.event().await {
                Event::Receipt(receipt) => assert_eq!(receipt, sound),
                Event::Closed(CloseReason::Error { receipt, .. }) => {
                    break assert!(receipt.is_none_or(|named| named == wrong));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn names_that_amqp_cannot_write_are_refused() {
    let broker = start().await;
    let long = "x".repeat(256);
    for (destination, header) in [(&*format!("/queue/{long}"), "a"), ("/queue/a", &*long)] {
        let mut peer = broker.client().await;
        let receipt = peer.client.next_receipt();
        let request = SendRequest::new(destination).header(header, "1").receipt(receipt);
        peer.client.send(&request).unwrap();
        let explanation = "a name or property is longer than the 255 octets of AMQP\n";
        assert_eq!(peer.error().await, ("Processing error".into(), explanation.into(), true));
    }
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn a_client_is_whoever_rabbitmq_lets_it_be() {
    let broker = start().await;
    let (message, explanation, _) = log_in(&broker, "guest", "wrong").await;
    assert_eq!((&*message, &*explanation), ("Bad CONNECT", "access refused\n"));
    let (message, _, _) = log_in(&broker, "nobody", "guest").await;
    assert_eq!(message, "Bad CONNECT");
    let config = ClientConfig::new("/").login("guest").passcode("guest");
    Peer::connect(broker.tcp, config).await.disconnect().await;
}

/// Nothing of a transaction is done if a part of it cannot be, and what it acknowledged goes back.
#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn a_commit_that_rabbitmq_refuses_does_nothing() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.send("/queue/a", "open").await;
    peer.client.subscribe(&SubscribeRequest::new("/queue/a").ack(AckMode::Client)).unwrap();
    let message = peer.message().await;
    let transaction = peer.client.begin().unwrap();
    let (there, none) = ("/queue/there", "/exchange/none/k");
    peer.client.send(&SendRequest::new(there).transaction(&transaction).body("no")).unwrap();
    peer.client.send(&SendRequest::new(none).transaction(&transaction)).unwrap();
    let token = message.token().unwrap();
    peer.client.ack(AckRequest::new(&token).transaction(&transaction)).unwrap();
    let receipt = peer.client.next_receipt();
    peer.client.commit(EndTransaction::new(transaction).receipt(receipt)).unwrap();
    assert_eq!(peer.error().await.0, "not_found");
    let mut other = broker.client().await;
    other.subscribe(SubscribeRequest::new(there)).await;
    other.client.subscribe(&SubscribeRequest::new("/queue/a")).unwrap();
    let message = other.message().await;
    assert_eq!((&*body(&message), is_redelivered(&message)), ("open", true));
    other.quiet().await;
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn a_queue_that_is_deleted_under_a_consumer_ends_its_session() {
    let broker = start().await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a").id("mine")).await;
    let channel = within(amqp().await.create_channel()).await.unwrap();
    within(channel.queue_delete("a".into(), QueueDeleteOptions::default())).await.unwrap();
    let (message, explanation, _) = peer.error().await;
    assert_eq!(message, "Server cancelled subscription");
    assert!(explanation.contains("id='mine'"), "{explanation}");
}

#[tokio::test]
#[ignore = "needs a RabbitMQ"]
async fn a_session_ends_when_rabbitmq_is_gone() {
    let target = uri();
    let (credentials, place) = target.rsplit_once('@').unwrap();
    let (address, vhost) = place.split_once('/').unwrap();
    let (listener, address) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), address.to_owned());
    let near = listener.local_addr().unwrap();
    let wire = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(address).await.unwrap();
        let _ = copy_bidirectional(&mut client, &mut server).await;
    });
    let cut = Amqp::new(&format!("{credentials}@{near}/{vhost}")).unwrap();
    let broker = start_on(Config::default(), cut).await;
    let mut peer = broker.client().await;
    peer.subscribe(SubscribeRequest::new("/queue/a")).await;
    wire.abort();
    assert_eq!(peer.error().await.0, "broker is unavailable");
    // And nobody comes in any more.
    let (message, _, _) = log_in(&broker, "guest", "guest").await;
    assert_eq!(message, "broker is unavailable");
}
