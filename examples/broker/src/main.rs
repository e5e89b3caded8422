//! Runs a broker as the command line says, until SIGINT or SIGTERM.

mod options;

use core::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use stomp_broker::Broker;
use stomp_broker::backend::{Memory, MemoryLimits};

use options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let shutdown = signals()?;
    let memory = Memory::new(MemoryLimits::default());
    let broker = Broker::bind(options.config(), memory, &options.addresses()).await?;
    for (protocol, address) in broker.addresses() {
        writeln!(io::stdout(), "listening on {protocol}://{address}")?;
    }
    broker.run(shutdown).await;
    Ok(())
}

/// The first SIGINT or SIGTERM.
#[cfg(unix)]
fn signals() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a signal handler the system ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            core::future::pending().await
        }
    })
}
