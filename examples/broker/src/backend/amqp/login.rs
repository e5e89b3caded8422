//! The AMQP connection of a session, with the user that its client logs in as.

use core::time::Duration;

use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties, Error};
use tokio::time::timeout;

use crate::backend::Login;

/// How long the broker has to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Octets of an AMQP frame: RabbitMQ's own bound.
const FRAME_MAX: u32 = 131_072;

/// Connects as somebody, or as the user of the URI.
pub(super) async fn connect(uri: &AMQPUri, login: Option<Login>) -> Result<Connection, Error> {
    let mut uri = uri.clone();
    if let Some(Login { name, passcode }) = login {
        uri.authority.userinfo.username = name;
        uri.authority.userinfo.password = passcode;
    }
    // Without a bound of its own lapin makes room for 32 of the broker's frames twice, at once.
    uri.query.frame_max.get_or_insert(FRAME_MAX);
    let properties =
        ConnectionProperties::default().with_connection_name(env!("CARGO_PKG_NAME").into());
    match timeout(CONNECT_TIMEOUT, Connection::connect_uri(uri, properties)).await {
        Ok(connection) => connection,
        Err(late) => Err(std::io::Error::from(late).into()),
    }
}
