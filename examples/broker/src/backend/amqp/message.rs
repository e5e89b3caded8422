//! A message as STOMP and as AMQP see it.

use alloc::collections::BTreeMap;

use lapin::BasicProperties;
use lapin::message::Delivery as Delivered;
use lapin::types::{AMQPValue, LongString, ShortString};
use stomp_proto::destination::name::{
    AMQP_MESSAGE_ID, APP_ID, CONTENT_ENCODING, CORRELATION_ID, EXPIRATION, PERSISTENT, PRIORITY,
    REDELIVERED, REPLY_TO, TIMESTAMP, TYPE, USER_ID,
};
use stomp_proto::destination::{
    ConsumerTag, DeliveryMode, Properties, message_destination, message_reply_to,
};
use stomp_proto::frame::name::CONTENT_TYPE;
use stomp_proto::server::{Delivery, DeliveryBuilder, Failure};

use super::Token;
use super::step::short;
use crate::backend::Notice;

/// The AMQP property `delivery-mode` of a message that is kept on disk.
const PERSISTENT_MODE: u8 = 2;

type With = fn(BasicProperties, ShortString) -> BasicProperties;

/// The properties and header table of what a client sends.
pub(super) fn properties(sent: &Properties<'_>) -> Result<BasicProperties, Failure> {
    let mut table = BTreeMap::new();
    for header in sent.headers() {
        let value = AMQPValue::LongString(LongString::from(header.value().as_bytes()));
        // Of repeated ones the first counts.
        table.entry(short(&header.name())?).or_insert(value);
    }
    let mut properties = BasicProperties::default().with_headers(table.into());
    if sent.delivery_mode() == DeliveryMode::Persistent {
        properties = properties.with_delivery_mode(PERSISTENT_MODE);
    }
    if let Some(priority) = sent.priority() {
        properties = properties.with_priority(priority);
    }
    if let Some(timestamp) = sent.timestamp() {
        properties = properties.with_timestamp(timestamp);
    }
    let texts: [(_, With); 9] = [
        (sent.content_type(), BasicProperties::with_content_type),
        (sent.content_encoding(), BasicProperties::with_content_encoding),
        (sent.correlation_id(), BasicProperties::with_correlation_id),
        (sent.reply_to().map(Into::into), BasicProperties::with_reply_to),
        (sent.expiration(), BasicProperties::with_expiration),
        (sent.message_id(), BasicProperties::with_message_id),
        (sent.message_type(), BasicProperties::with_type),
        (sent.user_id(), BasicProperties::with_user_id),
        (sent.app_id(), BasicProperties::with_app_id),
    ];
    for (text, with) in texts {
        if let Some(text) = text {
            properties = with(properties, short(&text)?);
        }
    }
    Ok(properties)
}

/// What a subscriber hears of a message.
pub(super) fn notice(consumer: ConsumerTag, delivered: Delivered) -> Notice<Token> {
    let Delivered { delivery_tag, exchange, routing_key, redelivered, properties, data, .. } =
        delivered;
    let destination = message_destination(exchange.as_str(), routing_key.as_str());
    let start = Delivery::builder(destination).header(REDELIVERED, redelivered.to_string());
    let delivery = headers(start, &properties).body(data).build();
    Notice::Message { consumer, delivery, token: Token(delivery_tag) }
}

fn headers(mut builder: DeliveryBuilder, properties: &BasicProperties) -> DeliveryBuilder {
    let texts = [
        (CONTENT_TYPE, properties.content_type()),
        (CONTENT_ENCODING, properties.content_encoding()),
        (CORRELATION_ID, properties.correlation_id()),
        (EXPIRATION, properties.expiration()),
        (AMQP_MESSAGE_ID, properties.message_id()),
        (TYPE, properties.kind()),
        (USER_ID, properties.user_id()),
        (APP_ID, properties.app_id()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            builder = builder.header(name, text.as_str());
        }
    }
    if let Some(to) = properties.reply_to() {
        builder = builder.header(REPLY_TO, message_reply_to(to.as_str()));
    }
    if *properties.delivery_mode() == Some(PERSISTENT_MODE) {
        builder = builder.header(PERSISTENT, "true");
    }
    if let Some(priority) = properties.priority() {
        builder = builder.header(PRIORITY, priority.to_string());
    }
    if let Some(timestamp) = properties.timestamp() {
        builder = builder.header(TIMESTAMP, timestamp.to_string());
    }
    // Whether it comes again is ours to say.
    let table = properties.headers().iter().flatten();
    for (name, value) in table.filter(|(name, _)| name.as_str() != REDELIVERED) {
        if let Some(value) = text(value) {
            builder = builder.header(name.as_str(), value);
        }
    }
    builder
}

/// An entry of the header table, which other clients than ours may have put there, as a header.
fn text(value: &AMQPValue) -> Option<String> {
    Some(match value {
        AMQPValue::Boolean(it) => it.to_string(),
        AMQPValue::ShortShortInt(it) => it.to_string(),
        AMQPValue::ShortShortUInt(it) => it.to_string(),
        AMQPValue::ShortInt(it) => it.to_string(),
        AMQPValue::ShortUInt(it) => it.to_string(),
        AMQPValue::LongInt(it) => it.to_string(),
        AMQPValue::LongUInt(it) => it.to_string(),
        AMQPValue::LongLongInt(it) => it.to_string(),
        AMQPValue::Float(it) => it.to_string(),
        AMQPValue::Double(it) => it.to_string(),
        AMQPValue::Timestamp(it) => it.to_string(),
        AMQPValue::ShortString(it) => it.to_string(),
        AMQPValue::LongString(it) => String::from_utf8_lossy(it.as_bytes()).into_owned(),
        // What has no form as text.
        AMQPValue::DecimalValue(_)
        | AMQPValue::FieldArray(_)
        | AMQPValue::FieldTable(_)
        | AMQPValue::ByteArray(_)
        | AMQPValue::Void => return None,
    })
}
