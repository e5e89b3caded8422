//! One connection: the loop that drives its session.

use core::future;
use core::ops::Range;
use core::time::Duration;

use stomp_proto::server::ServerConfig;
use stomp_proto::{Server, Session};
use tokio::task::{consume_budget, yield_now};
use tokio::time::{Instant, sleep_until};
use tokio::{join, select};

use crate::backend::Channel;
use crate::gateway::Gateway;
use crate::transport::Transport;

/// How long what is under way in the backend may take when the broker ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// Turns of the loop after which a busy connection leaves the others their turn.
const TURNS: u32 = 4;

/// Drives a session until it is over.
///
/// Nothing in here is lost when another branch of the `select!` wins: each waits first, and then acts
/// without waiting.
pub(crate) async fn serve<C: Channel>(
    mut transport: impl Transport,
    config: ServerConfig,
    mut gateway: Gateway<C>,
    shutdown: impl Future<Output = ()>,
) {
    let mut server = Server::new(config, Instant::now());
    let mut shutdown = core::pin::pin!(shutdown);
    // Until when what is under way may take, once the broker ends.
    let mut patience = None;
    let mut turns = 0..TURNS;
    loop {
        rest(&mut turns).await;
        server.handle_timeout(Instant::now());
        // Not polling is back-pressure: soon the session will not want to read.
        while gateway.is_ready() {
            let Some(event) = server.poll_event(Instant::now()) else { break };
            gateway.handle(&mut server, event);
        }
        if server.wants_shutdown() {
            transport.shut_down();
        }
        if gateway.has_ended() || server.is_finished() {
            break;
        }
        let deadline = server.poll_timeout();
        let wanted = gateway.wanted(&mut server);
        select! {
            // What is to be written is gathered before it is written.
            biased;
            notice = gateway.next_notice(wanted), if gateway.is_open() => {
                gateway.act_on(&mut server, notice);
            }
            () = &mut shutdown, if patience.is_none() => {
                patience = Some(Instant::now() + PATIENCE);
                gateway.say_goodbye(&mut server);
            }
            () = sleep(patience), if gateway.is_open() => gateway.give_up(&mut server),
            progress = transport.progress(&mut server) => {
                if progress.is_err() {
                    server.handle_lost();
                }
            }
            () = sleep(deadline) => {}
        }
    }
    // What the client left open is not for it to hold back until it closes its end.
    join!(gateway.close(), see_off(transport, server));
}

/// Writes what is left, and waits for the client to close its end, for as long as the session does.
async fn see_off<T: Send>(mut transport: impl Transport, mut server: Server<Instant, T>) {
    let mut turns = 0..TURNS;
    while !server.is_finished() {
        rest(&mut turns).await;
        let deadline = server.poll_timeout();
        select! {
            progress = transport.progress(&mut server) => {
                if progress.is_err() {
                    server.handle_lost();
                }
            }
            () = sleep(deadline) => {}
        }
        server.handle_timeout(Instant::now());
        // There are no more events, but this is how the session hears of what came.
        while server.poll_event(Instant::now()).is_some() {}
        if server.wants_shutdown() {
            transport.shut_down();
        }
    }
}

/// Leaves the others their turn, once in a while.
///
/// The budget of the runtime is for many more turns than a client can fill with frames. Until it has
/// run out nobody may look whether anything has come for the others.
async fn rest(turns: &mut Range<u32>) {
    if turns.next().is_some() {
        return consume_budget().await;
    }
    *turns = 0..TURNS;
    yield_now().await;
}

/// Until then; for ever, if there is nothing to wait for.
async fn sleep(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => future::pending().await,
    }
}
