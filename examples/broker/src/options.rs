//! The command line.

use clap::{Parser, ValueEnum};
use stomp_broker::backend::{Amqp, MemoryLimits};
use stomp_broker::{Address, Config, Protocol};
use stomp_proto::destination::Scheme;
use stomp_proto::server::Dialect;
use tracing_subscriber::filter::LevelFilter;

/// A STOMP 1.0, 1.1 and 1.2 broker with its queues in memory or in a RabbitMQ.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Options {
    /// Where to listen for STOMP over TCP [default without --ws: 127.0.0.1:61613]
    #[arg(long, value_name = "ADDR")]
    tcp: Option<String>,
    /// Where to listen for STOMP over WebSocket
    #[arg(long, value_name = "ADDR")]
    ws: Option<String>,
    /// The RabbitMQ that has the queues, and whom a client is that does not log in:
    /// amqp://user:password@host:port/vhost [default: queues in memory]
    #[arg(long, value_name = "URI")]
    amqp: Option<String>,
    /// What clients get away with
    #[arg(long, value_enum, default_value_t)]
    dialect: DialectName,
    /// What destinations mean: as in RabbitMQ of today, or as it was first designed
    #[arg(long, value_enum, default_value_t)]
    scheme: SchemeName,
    /// What the messages of queues in memory may take up, in MiB: half of it is for whoever comes first,
    /// the other half is shared out to all queues alike
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: usize,
    /// How much to log: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value_t = LevelFilter::INFO)]
    log: LevelFilter,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum DialectName {
    #[default]
    Lenient,
    Spec,
    Kubemq,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SchemeName {
    #[default]
    Current,
    Original,
}

impl Options {
    pub(crate) fn config(&self) -> Config {
        let dialect = match self.dialect {
            DialectName::Lenient => Dialect::LENIENT,
            DialectName::Spec => Dialect::SPEC,
            DialectName::Kubemq => Dialect::KUBEMQ,
        };
        let scheme = match self.scheme {
            SchemeName::Current => Scheme::Current,
            SchemeName::Original => Scheme::Original,
        };
        Config { dialect, scheme, ..Config::default() }
    }

    /// The RabbitMQ; `None`: queues in memory.
    pub(crate) fn amqp(&self) -> Option<Result<Amqp, String>> {
        self.amqp.as_deref().map(Amqp::new)
    }

    /// Bounds on the queues in memory.
    pub(crate) fn memory(&self) -> MemoryLimits {
        MemoryLimits { max_len: self.memory.saturating_mul(1 << 20), ..MemoryLimits::default() }
    }

    pub(crate) fn log(&self) -> LevelFilter {
        self.log
    }

    pub(crate) fn addresses(&self) -> Vec<Address> {
        let default = "127.0.0.1:61613".to_owned();
        let tcp = self.tcp.clone().or_else(|| self.ws.is_none().then_some(default));
        let address = |protocol, address| Address { protocol, address };
        let tcp = tcp.map(|it| address(Protocol::Tcp, it));
        let ws = self.ws.clone().map(|it| address(Protocol::WebSocket, it));
        tcp.into_iter().chain(ws).collect()
    }
}
