//! `azimuth serve`, and connections as its page makes them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket, client};

use crate::{binary, wait};

/// Longest wait for an event or an end.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// `azimuth serve`; it ends when dropped.
pub struct Server {
    process: Child,
    /// `http://127.0.0.1:PORT/TOKEN/`
    pub page: String,
    /// `127.0.0.1:PORT`
    pub host: String,
}

impl Server {
    /// Starts it with these arguments, on any free port.
    pub fn start(arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(binary("azimuth")?);
        command.args(["serve", "--no-open", "--port", "0"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let page = line.trim().strip_prefix("The board is at ").context("no address")?.to_owned();
        let host = page.split('/').nth(2).context("no host")?.to_owned();
        Ok(Self { process, page, host })
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The random part of the address.
    pub fn token(&self) -> &str {
        self.page.split('/').nth(3).unwrap_or_default()
    }

    /// Sends a request, and returns the status and the whole answer.
    pub fn ask(&self, path: &str, headers: &[(&str, &str)]) -> Result<(u16, String)> {
        self.send("GET", path, headers, &[])
    }

    /// Sends a request with a body, and returns the status and the whole answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(u16, String)> {
        let mut stream = self.begin(method, path, headers, body.len())?;
        // A server that refuses the body closes the connection before its end.
        let sent = stream.write_all(body);
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        if answer.is_empty() {
            sent?;
            read?;
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).context("no status")?.parse()?;
        Ok((status, answer))
    }

    /// The games that the server reads in a file, in JSON.
    pub fn games(&self, name: &str, bytes: &[u8]) -> Result<Value> {
        let path = format!("/{}/games/{name}", self.token());
        let origin = format!("http://{}", self.host);
        let headers =
            [("Host", self.host.as_str()), ("Origin", &origin), ("Accept-Encoding", "gzip")];
        let (status, answer) = self.send("POST", &path, &headers, bytes)?;
        ensure!(status == 200, "{answer}");
        let json = answer.split_once("\r\n\r\n").context("no body")?.1;
        Ok(serde_json::from_str::<Value>(json)?["games"].take())
    }

    /// Begins to send a file of `length` bytes.
    pub fn begin_to_send(&self, length: usize) -> Result<TcpStream> {
        let (path, origin) =
            (format!("/{}/games/a.pgn", self.token()), format!("http://{}", self.host));
        self.begin("POST", &path, &[("Host", &self.host), ("Origin", &origin)], length)
    }

    /// Sends the head of a request with a body of `length` bytes.
    fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> Result<TcpStream> {
        let mut stream = self.stream()?;
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let lines = format!("{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        write!(stream, "{method} {path} HTTP/1.1\r\n{lines}")?;
        Ok(stream)
    }

    fn stream(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.address()?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// The address of its socket.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.host.parse()?)
    }

    /// Opens a WebSocket as the page does.
    pub fn connect(&self) -> Result<Page> {
        let address = format!("ws://{}/{}/socket", self.host, self.token());
        let mut request = address.into_client_request()?;
        let origin = format!("http://{}", self.host);
        request.headers_mut().insert("Origin", origin.parse()?);
        let (socket, _) = client(request, self.stream()?)?;
        let mut page = Page { socket, welcome: Value::Null };
        page.welcome = page.event()?;
        ensure!(page.welcome["type"] == "welcome");
        Ok(page)
    }

    /// Sends Ctrl-C, and returns the exit status and the time that it took.
    pub fn interrupt(&mut self) -> Result<(ExitStatus, Duration)> {
        let began = Instant::now();
        Command::new("kill").args(["-INT", &self.process.id().to_string()]).status()?;
        let status = wait(&mut self.process, PATIENCE)?.context("the server does not end")?;
        Ok((status, began.elapsed()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection of a page.
pub struct Page {
    /// The WebSocket.
    pub socket: WebSocket<TcpStream>,
    /// The first event.
    pub welcome: Value,
}

impl Page {
    /// Sends a message.
    pub fn say(&mut self, message: &Value) -> Result<()> {
        Ok(self.socket.send(Message::text(message.to_string()))?)
    }

    /// Starts a task at the starting position.
    pub fn run(&mut self, id: u32, task: &Value) -> Result<()> {
        self.run_at(id, "startpos", &[], task)
    }

    /// Starts a task after moves from a position.
    pub fn run_at(&mut self, id: u32, fen: &str, moves: &[&str], task: &Value) -> Result<()> {
        self.say(&json!({"type": "run", "id": id, "fen": fen, "moves": moves, "task": task}))
    }

    /// The next event.
    pub fn event(&mut self) -> Result<Value> {
        loop {
            if let Message::Text(text) = self.socket.read()? {
                return Ok(serde_json::from_str(&text)?);
            }
        }
    }

    /// The next event of a type.
    pub fn next(&mut self, kind: &str) -> Result<Value> {
        loop {
            let event = self.event()?;
            ensure!(event["type"] != "error" || kind == "error", "{event}");
            if event["type"] == kind {
                return Ok(event);
            }
        }
    }
}

/// The task of analysing until it is stopped.
pub fn analysis() -> Value {
    json!({"name": "analyse", "lines": 1, "milliseconds": null})
}
