//! Subscriptions that the broker opens of its own accord, for replies.

use stomp_proto::server::{Delivery, Event, ServerConfig};
use stomp_proto::{Bound, Limit, UsageError};

use crate::harness::{Broker, V1_0, V1_1, V1_2, limited};

#[test]
fn a_message_comes_by_it_at_once_and_the_client_may_end_it() {
    for (version, raw) in [(V1_0, "/r/a:1"), (V1_1, "/r/a\\c1"), (V1_2, "/r/a\\c1")] {
        let mut broker = Broker::connected(version);
        let opened = broker.server.open_subscription("/r/a:1").unwrap();
        assert_eq!(broker.server.subscription_name(opened).as_deref(), Some("/r/a:1"));
        let reply = Delivery::builder("/r").body("x").build();
        let delivered = broker.server.deliver(opened, &reply, 7).unwrap();
        assert_eq!(delivered.settled, Some(7), "nobody acknowledges it");
        let message = format!(
            "MESSAGE\nsubscription:{raw}\nmessage-id:1\ndestination:/r\ncontent-length:1\n\nx\0"
        );
        assert_eq!(broker.written(), [message]);
        let again = broker.server.open_subscription("/r/a:1");
        assert_eq!(again, Err(UsageError::DuplicateSubscription));
        broker.feed(format!("UNSUBSCRIBE\nid:{raw}\n\n\0"));
        let Some(Event::Unsubscribe { frame, reply }) = broker.event() else {
            panic!("no UNSUBSCRIBE")
        };
        assert_eq!(frame.subscription(), opened);
        broker.server.confirm(reply).unwrap();
        assert_eq!(broker.server.subscription_name(opened), None);
        assert!(broker.server.open_subscription("/r/a:1").unwrap() > opened, "another one");
    }
}

#[test]
fn it_is_refused_where_no_message_can_come_by_it() {
    let mut broker = Broker::new(ServerConfig::default());
    assert_eq!(broker.server.open_subscription("r"), Err(UsageError::NotConnected));

    let mut broker = Broker::connected(V1_0);
    let error = broker.server.open_subscription("a\nb").unwrap_err();
    let words = "header \"subscription\" of MESSAGE cannot be written on STOMP 1.0";
    assert_eq!(error.to_string(), words);
    assert_eq!(core::error::Error::source(&error).unwrap().to_string(), words);
    assert!(broker.server.open_subscription("a").is_ok(), "nothing has changed");

    let mut broker = Broker::connected_with(limited(|it| it.max_subscriptions = 1), V1_2);
    broker.subscribe("0", "auto");
    let limit = Limit { what: Bound::Subscriptions, most: 1 };
    assert_eq!(broker.server.open_subscription("r"), Err(UsageError::LimitExceeded(limit)));
}
