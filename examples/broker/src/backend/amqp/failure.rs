//! What went wrong with AMQP, in the words of an ERROR.

use lapin::{Error, ErrorKind};
use stomp_proto::server::Failure;
use tracing::info;

/// The connection to the broker is gone, and nobody knows why.
pub(super) fn gone() -> Failure {
    Failure::new("broker is unavailable")
}

/// What RabbitMQ refused, as its STOMP plugin says it: `NOT_FOUND - no exchange 'x'` is the body of
/// an ERROR `not_found`.
pub(super) fn failure(error: &Error) -> Failure {
    info!(%error, "AMQP");
    let ErrorKind::ProtocolError(error) = error.kind() else { return gone() };
    let text = error.get_message().as_str();
    match text.split_once(" - ") {
        Some((name, _)) => Failure::new(name.to_ascii_lowercase()).explanation(text),
        None => Failure::new("broker error").explanation(text),
    }
}

/// Nobody is let in. The text of RabbitMQ has the name of the user, which is not told.
pub(super) fn refused(error: &Error) -> Failure {
    let ErrorKind::ProtocolError(_) = error.kind() else {
        info!(%error, "AMQP");
        return gone();
    };
    Failure::new("Bad CONNECT").explanation("access refused\n")
}
