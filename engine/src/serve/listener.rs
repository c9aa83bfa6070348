//! Bounds the number of connections, and the time in which nothing is answered on one: idle
//! connections must not keep a page out.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Most connections at a time. A page has one for its WebSocket, and a few more while it loads.
const MOST_CONNECTIONS: usize = 512;

/// Time without an answer after which a connection is closed, unless a WebSocket is open on it.
const IDLE: Duration = Duration::from_secs(15);

/// The same for connections that begin while more than half of all are open.
const CROWDED_IDLE: Duration = Duration::from_secs(1);

/// Slowest upload, in bytes per second: what arrives gives its connection more time, at this rate.
const SLOWEST: u32 = 16 << 10;

/// Beginning of the answer that opens a WebSocket.
const SWITCHES: &[u8] = b"HTTP/1.1 101 ";

/// Accepts connections while there is room for them.
pub struct BoundedListener {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

/// A connection. It counts against `MOST_CONNECTIONS` until it ends.
pub struct Connection {
    stream: TcpStream,
    _room: Option<OwnedSemaphorePermit>,
    /// Time without an answer after which it is closed; `None` once a WebSocket is open.
    idle: Option<Duration>,
    deadline: Pin<Box<Sleep>>,
}

impl BoundedListener {
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }
}

impl Listener for BoundedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // The semaphore is never closed.
        let room = self.room.clone().acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let is_crowded = self.room.available_permits() < MOST_CONNECTIONS / 2;
        let idle = if is_crowded { CROWDED_IDLE } else { IDLE };
        let deadline = Box::pin(sleep(idle));
        (Connection { stream, _room: room, idle: Some(idle), deadline }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = (buffer.filled().len() - before) as u32;
        if self.idle.is_some() && count > 0 {
            let deadline = self.deadline.deadline() + Duration::from_secs(1) * count / SLOWEST;
            self.deadline.as_mut().reset(deadline);
        }
        let is_late = self.idle.is_some() && self.deadline.as_mut().poll(context).is_ready();
        if is_late { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { read }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if bytes.starts_with(SWITCHES) {
            self.idle = None;
        }
        if let (Some(idle), Poll::Ready(Ok(_))) = (self.idle, &written) {
            self.deadline.as_mut().reset(Instant::now() + idle);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
