//! Why a step is not carried out, in the words of RabbitMQ.

use stomp_proto::server::Failure;

/// There is no such exchange or queue.
pub(super) fn not_found(what: &str, name: &str) -> Failure {
    let explanation = format!("NOT_FOUND - no {what} '{name}' in vhost '/'");
    Failure::new("not_found").explanation(explanation)
}

/// A name that AMQP could not carry.
pub(super) fn too_long() -> Failure {
    let explanation = "a name or property is longer than the 255 octets of AMQP\n";
    Failure::new("Processing error").explanation(explanation)
}

/// The queue is of one session, and not of this one; or it is not, and this one wants it to be.
pub(super) fn locked(queue: &str) -> Failure {
    let explanation = format!(
        "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '{queue}' in vhost '/'. It could \
         be originally declared on another connection or the exclusive property value does not match \
         that of the original declaration."
    );
    Failure::new("resource_locked").explanation(explanation)
}

/// The queue is there with another value of a property.
pub(super) struct Inequivalent {
    pub(super) property: &'static str,
    pub(super) wanted: bool,
    pub(super) current: bool,
}

impl Inequivalent {
    pub(super) fn of(self, queue: &str) -> Failure {
        let Self { property, wanted, current } = self;
        let explanation = format!(
            "PRECONDITION_FAILED - inequivalent arg '{property}' for queue '{queue}' in vhost '/': \
             received '{wanted}' but current is '{current}'"
        );
        Failure::new("precondition_failed").explanation(explanation)
    }
}

/// There are as many as there may be.
pub(super) fn too_many(what: &str) -> Failure {
    Failure::new("resource_error").explanation(format!("too many {what}\n"))
}

/// There would be no room for it if there was nothing else.
pub(super) fn too_much() -> Failure {
    Failure::new("resource_error").explanation("more than there can ever be room for\n")
}
