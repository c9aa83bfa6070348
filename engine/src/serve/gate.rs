//! Decides which connections are accepted and which requests are answered.
//!
//! The number of connections is bounded, and the time in which nothing is answered on one: idle
//! connections must not keep a page out. Another page in the same browser must not be able to use
//! the engine. Such a page does not know the token, and its `Origin` is another. A name that
//! resolves to this machine (DNS rebinding) is not a valid `Host`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use axum::serve::Listener;
use azimuth_network::checksum::hex;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Number of random bytes of the token.
const TOKEN_BYTES: usize = 16;

/// The port of HTTP, which browsers leave out of `Host` and `Origin`.
const HTTP_PORT: u16 = 80;

/// Knows the address of the server and the token.
pub struct Gate {
    address: SocketAddr,
    token: String,
}

impl Gate {
    /// A gate with a new random token.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, token: hex(&rand::random::<[u8; TOKEN_BYTES]>()) }
    }

    /// The address of the page, with the token.
    pub fn page_address(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}/{}/", SocketAddr::new(ip, self.address.port()), self.token)
    }

    /// Checks a request for `path`. With `needs_origin`, for WebSockets and files, the `Origin`
    /// header is required; browsers always send it. The error is the text of the answer.
    pub fn check(
        &self,
        headers: &HeaderMap,
        path: &str,
        needs_origin: bool,
    ) -> Result<(), &'static str> {
        let host = only(headers, &HOST).filter(|host| self.is_own(host));
        let host = host.ok_or("this name is not that of the server\n")?;
        let is_own = match headers.contains_key(ORIGIN) {
            true => only(headers, &ORIGIN).and_then(|it| it.strip_prefix("http://")) == Some(host),
            false => !needs_origin,
        };
        if !is_own {
            return Err("another page asked\n");
        }
        let given = path.strip_prefix('/').and_then(|path| path.split('/').next());
        // Comparing digests takes the same time however many characters are right.
        let is_right =
            given.is_some_and(|given| Sha256::digest(given) == Sha256::digest(&self.token));
        let why = "the address is incomplete; take the one that azimuth serve prints\n";
        if is_right { Ok(()) } else { Err(why) }
    }

    /// Whether `host` names this server: an IP address (or `localhost`) and the port. Other names
    /// are refused, because anybody can make a name resolve to this machine. On loopback, the IP
    /// address must be a loopback one.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            // The last colon of `[::1]` is part of the IP address.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(HTTP_PORT)),
        };
        let ip = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let allowed = match ip.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || !self.address.ip().is_loopback(),
            Err(_) => name == "localhost",
        };
        allowed && port == Some(self.address.port())
    }
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_none() { first.to_str().ok() } else { None }
}

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

#[cfg(test)]
mod tests {
    use anyhow::Result;

    use super::*;

    #[test]
    fn other_machines_use_an_ip_address_and_no_name() -> Result<()> {
        let gate = Gate::new("0.0.0.0:4000".parse()?);
        assert!(gate.page_address().starts_with("http://127.0.0.1:4000/"));
        for (host, allowed) in [
            ("10.0.0.1:4000", true),
            ("[fe80::1]:4000", true),
            ("localhost:4000", true),
            ("evil.example:4000", false),
            ("10.0.0.1:80", false),
        ] {
            assert_eq!(gate.is_own(host), allowed, "{host}");
        }
        Ok(())
    }

    #[test]
    fn only_port_80_may_be_missing() -> Result<()> {
        let hosts = ["127.0.0.1", "localhost", "[::1]"];
        for (address, allowed) in [("127.0.0.1:80", true), ("[::1]:80", true), ("[::1]:1", false)] {
            let gate = Gate::new(address.parse()?);
            for host in hosts {
                assert_eq!(gate.is_own(host), allowed, "{host} at {address}");
            }
            for host in ["evil.example", "10.0.0.1", "[fe80::1]", "::1", "[::1", "localhost:", ""] {
                assert!(!gate.is_own(host), "{host} at {address}");
            }
        }
        let gate = Gate::new("127.0.0.1:80".parse()?);
        assert!(gate.is_own("[::1]:80") && !gate.is_own("[::1]:81"));
        let mut headers = HeaderMap::new();
        headers.append("host", "localhost".parse()?);
        headers.append("origin", "http://localhost".parse()?);
        assert_eq!(gate.check(&headers, &format!("/{}/socket", gate.token), true), Ok(()));
        Ok(())
    }

    #[test]
    fn tokens_differ() -> Result<()> {
        let [one, other] = [Gate::new("[::1]:1".parse()?), Gate::new("[::1]:1".parse()?)];
        assert_ne!(one.token, other.token);
        assert_eq!(one.token.len(), 2 * TOKEN_BYTES);
        assert!(one.page_address().starts_with("http://[::1]:1/"));
        Ok(())
    }
}
