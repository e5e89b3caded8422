//! The AMQP connection of a session, with the user that its client logs in as.

use alloc::sync::Arc;
use core::mem;
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lapin::runtime::default_runtime;
use lapin::tcp::{AMQPUriTcpExt, AsyncTcpStream};
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
    let attempt = Attempt::default();
    let socket = attempt.0.clone();
    let connection = Connection::connector(
        uri,
        default_runtime()?,
        async move |uri: AMQPUri, runtime| {
            // It has a thread of its own, which nobody can give up from outside.
            let connecting = uri.connect_async(&runtime);
            let stream = timeout(CONNECT_TIMEOUT, connecting).await.map_err(late)??;
            if let AsyncTcpStream::Plain(stream) = &stream {
                Socket::open(&socket, duplicate(stream.get_ref())?)?;
            }
            Ok(stream)
        },
        properties,
    );
    let connection = timeout(CONNECT_TIMEOUT, connection).await.map_err(late)??;
    attempt.succeed();
    Ok(connection)
}

fn late(_: impl Sized) -> io::Error {
    ErrorKind::TimedOut.into()
}

/// A login that is under way. If it is given up, its socket is shut down.
///
/// A connection of lapin that is not answered while it logs in waits for ever: it keeps itself among
/// what it waits for, and a thread and 8 MiB with it. It only ends with its socket.
#[derive(Default)]
struct Attempt(Arc<Mutex<Socket>>);

#[derive(Default)]
enum Socket {
    #[default]
    Unopened,
    Open(TcpStream),
    /// No more use for one.
    Done,
}

impl Socket {
    fn open(socket: &Mutex<Self>, stream: TcpStream) -> io::Result<()> {
        let mut socket = lock(socket);
        if matches!(*socket, Self::Done) {
            return Err(ErrorKind::TimedOut.into());
        }
        *socket = Self::Open(stream);
        Ok(())
    }

    fn take(socket: &Mutex<Self>) -> Self {
        mem::replace(&mut lock(socket), Self::Done)
    }
}

impl Attempt {
    /// From now on the connection looks after itself.
    fn succeed(self) {
        Socket::take(&self.0);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Socket::Open(stream) = Socket::take(&self.0) {
            // What is closed already need not be.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn lock(socket: &Mutex<Socket>) -> MutexGuard<'_, Socket> {
    socket.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same socket once more.
#[cfg(unix)]
fn duplicate(stream: &tokio::net::TcpStream) -> io::Result<TcpStream> {
    use std::os::fd::AsFd;

    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn duplicate(stream: &tokio::net::TcpStream) -> io::Result<TcpStream> {
    use std::os::windows::io::AsSocket;

    Ok(stream.as_socket().try_clone_to_owned()?.into())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;

    use tokio::net::TcpListener;
    use tokio::task::JoinSet;
    use tokio::time::sleep;

    use super::*;

    /// The threads that lapin has.
    fn threads() -> usize {
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        // One may end meanwhile.
        let names =
            tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.filter(|name| name.starts_with("lapin")).count()
    }

    #[tokio::test]
    async fn a_login_that_is_not_answered_leaves_nothing_behind() {
        // The system accepts, and nobody ever says anything.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("amqp://guest:guest@{}/%2f", silent.local_addr().unwrap());
        let uri: AMQPUri = uri.parse().unwrap();
        let mut logins = JoinSet::new();
        for _ in 0..20 {
            let uri = uri.clone();
            logins.spawn(async move { connect(&uri, None).await.map(drop) });
        }
        // And who is gone before that.
        for _ in 0..5 {
            let uri = uri.clone();
            let gone = tokio::spawn(async move { connect(&uri, None).await.map(drop) });
            while threads() == 0 {
                sleep(Duration::from_millis(10)).await;
            }
            gone.abort();
        }
        while let Some(login) = logins.join_next().await {
            let error = login.unwrap().unwrap_err();
            assert!(error.to_string().contains("timed out"), "{error}");
        }
        let gone = async {
            while threads() > 0 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(60), gone).await.expect("threads are left");
    }
}
