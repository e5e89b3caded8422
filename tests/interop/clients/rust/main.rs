//! Our client against a broker of others: a session goes through each feature and says so.
//!
//! `tests/interop/run` starts it; the environment says where the broker is.

extern crate alloc;

#[path = "../../../../examples/client/driver.rs"]
mod driver;
mod peer;
mod story;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::env;
use std::io::{self, Write};

use stomp_proto::Version;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Where the broker is and what it is like.
#[derive(Clone, Debug)]
struct Setting {
    address: String,
    version: Version,
    queue: String,
    /// NACK brings a message back in `RabbitMQ`, and to a queue of dead letters in `ActiveMQ`.
    is_activemq: bool,
    /// How long there is nothing but heart-beats.
    silence: Duration,
}

fn main() -> Outcome<()> {
    let version = env::var("STOMP_VERSION")?;
    let setting = Setting {
        address: format!("127.0.0.1:{}", env::var("STOMP_PORT")?),
        version: Version::parse(&version).ok_or("STOMP_VERSION is no version")?,
        queue: env::var("STOMP_QUEUE")?,
        is_activemq: env::var("STOMP_BROKER")? == "activemq",
        silence: Duration::from_secs(env::var("STOMP_SILENCE")?.parse()?),
    };
    say(format_args!("peer stomp-proto {}", env!("CARGO_PKG_VERSION")))?;
    story::play(&setting)
}

/// A feature passed.
fn ok(feature: &str) -> Outcome<()> {
    say(format_args!("ok {feature}"))
}

/// There is no such feature here.
fn lacks(feature: &str, reason: &str) -> Outcome<()> {
    say(format_args!("not {feature}: {reason}"))
}

fn say(line: fmt::Arguments<'_>) -> Outcome<()> {
    writeln!(io::stdout(), "{line}").map_err(Into::into)
}
