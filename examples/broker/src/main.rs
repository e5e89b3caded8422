//! Runs a broker as the command line says, until SIGINT or SIGTERM.

mod options;

use core::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use stomp_broker::Broker;
use stomp_broker::backend::{Backend, Memory};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    log(options.log());
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn log(level: LevelFilter) {
    let filter = Targets::new()
        // What others have to say beyond that may be anything.
        .with_default(level.min(LevelFilter::INFO))
        .with_target("stomp_broker", level)
        // What lapin calls an error may be a client's, and is logged where it is told.
        .with_target("lapin", LevelFilter::OFF);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    tracing_subscriber::registry().with(lines).with(filter).init();
}

async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    match options.amqp() {
        None => serve(options, Memory::new(options.memory())).await,
        Some(amqp) => {
            let amqp = amqp?;
            amqp.check().await?;
            serve(options, amqp).await
        }
    }
}

async fn serve(options: &Options, backend: impl Backend) -> Result<(), Box<dyn Error>> {
    let shutdown = signals()?;
    let broker = Broker::bind(options.config(), backend, &options.addresses()).await?;
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
