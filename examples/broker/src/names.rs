//! Names for the queues and sessions that nobody named.

use core::hash::BuildHasher;
use std::hash::RandomState;

use stomp_proto::destination::Unnamed;

/// A name for a queue that a plan needs one for.
pub(crate) fn queue(unnamed: Unnamed<'_>) -> String {
    match unnamed {
        Unnamed::Subscription => format!("stomp-subscription-{}", unguessable()),
        // Quoted, so that no other three parts make the same name.
        Unnamed::Durable { exchange, key, id } => {
            format!("stomp-durable-{exchange:?}-{key:?}-{id:?}")
        }
        Unnamed::TempQueue(_) => format!("stomp.gen-{}", unguessable()),
    }
}

/// A name for a session.
pub(crate) fn session() -> String {
    format!("session-{}", unguessable())
}

/// 128 bits that nobody can guess, in hexadecimal.
///
/// They are what a keyed hash makes of two numbers, under keys of the operating system's randomness
/// that differ in every call.
fn unguessable() -> String {
    let keys = RandomState::new();
    format!("{:016x}{:016x}", keys.hash_one(0), keys.hash_one(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durable_name_follows_from_its_parts_and_no_other_is_drawn_twice() {
        let durable = |exchange, key, id| queue(Unnamed::Durable { exchange, key, id });
        assert_eq!(durable("amq.topic", "a", "b"), durable("amq.topic", "a", "b"));
        assert_ne!(durable("amq.topic", "a-b", "c"), durable("amq.topic", "a", "b-c"));
        assert_ne!(durable("x", "\"-\"", "c"), durable("x", "", "\"-c"));
        assert_ne!(queue(Unnamed::Subscription), queue(Unnamed::Subscription));
        assert_ne!(queue(Unnamed::TempQueue("a")), queue(Unnamed::TempQueue("a")));
        assert_ne!(session(), session());
    }
}
