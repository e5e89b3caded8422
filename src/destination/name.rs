//! The header names that RabbitMQ adds to those of the protocol.

use crate::frame::name::CONTENT_TYPE;

/// `auto-delete`: whether a queue goes with its last consumer.
pub const AUTO_DELETE: &str = "auto-delete";
/// `durable`: whether a queue outlives the broker; in UNSUBSCRIBE, whether it is deleted.
pub const DURABLE: &str = "durable";
/// `exclusive`: whether a queue is of one connection and goes with it.
pub const EXCLUSIVE: &str = "exclusive";
/// `persistent`: the same as [`DURABLE`]; in SEND and MESSAGE also the delivery mode.
pub const PERSISTENT: &str = "persistent";
/// `prefetch-count`: how many unacknowledged messages may be under way.
pub const PREFETCH_COUNT: &str = "prefetch-count";
/// `x-queue-name`: the name of the queue behind a subscription to an exchange or topic.
pub const X_QUEUE_NAME: &str = "x-queue-name";
/// `x-queue-type`: `classic`, `quorum` or `stream`.
pub const X_QUEUE_TYPE: &str = "x-queue-type";

/// `x-priority`: the priority of a consumer.
pub const X_PRIORITY: &str = "x-priority";
/// `x-stream-filter`: the filter values of a stream that a consumer wants.
pub const X_STREAM_FILTER: &str = "x-stream-filter";
/// `x-stream-match-unfiltered`: whether a consumer wants messages without a filter value as well.
pub const X_STREAM_MATCH_UNFILTERED: &str = "x-stream-match-unfiltered";
/// `x-stream-offset`: where in a stream a consumer starts.
pub const X_STREAM_OFFSET: &str = "x-stream-offset";

/// `amqp-message-id`: the AMQP property `message-id`.
pub const AMQP_MESSAGE_ID: &str = "amqp-message-id";
/// `app-id`: the AMQP property.
pub const APP_ID: &str = "app-id";
/// `content-encoding`: the AMQP property.
pub const CONTENT_ENCODING: &str = "content-encoding";
/// `correlation-id`: the AMQP property.
pub const CORRELATION_ID: &str = "correlation-id";
/// `expiration`: the AMQP property.
pub const EXPIRATION: &str = "expiration";
/// `priority`: the AMQP property.
pub const PRIORITY: &str = "priority";
/// `reply-to`: the AMQP property, or a temporary queue.
pub const REPLY_TO: &str = "reply-to";
/// `timestamp`: the AMQP property.
pub const TIMESTAMP: &str = "timestamp";
/// `type`: the AMQP property.
pub const TYPE: &str = "type";
/// `user-id`: the AMQP property.
pub const USER_ID: &str = "user-id";

/// `redelivered`, in MESSAGE: whether the message was delivered before.
pub const REDELIVERED: &str = "redelivered";

/// The headers of SEND that become AMQP properties, and come back as these headers in MESSAGE
/// (`persistent` as `true` if the delivery mode is 2, else not at all; `reply-to` through
/// [`message_reply_to`](super::message_reply_to)).
pub const PROPERTIES: [&str; 12] = [
    CONTENT_TYPE,
    CONTENT_ENCODING,
    PERSISTENT,
    PRIORITY,
    CORRELATION_ID,
    REPLY_TO,
    EXPIRATION,
    AMQP_MESSAGE_ID,
    TIMESTAMP,
    TYPE,
    USER_ID,
    APP_ID,
];
