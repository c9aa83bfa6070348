//! `azimuth serve`: a board in the browser. A web server on this machine shows one page, and every
//! page has a WebSocket, over which it asks for searches and gets their results.
//!
//! [`crate::tasks`] has the messages and the tasks. A page sends each file of games in a separate
//! request. A page runs one task at a time, on a seat of the `queue`; the number of seats bounds the
//! searches and their memory. `gate` decides which requests are answered.
//!
//! The engine of `--engine` has its own queue, and a page talks with it over a second WebSocket.

mod connection;
mod gate;
mod queue;
mod second_engine;
mod server;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use azimuth_cli::unless_closed;
use azimuth_search::inference::{Backend, ModelSource};
use azimuth_search::{DefaultWeights, Resources};
use clap::Args;
use connection::Shared;
use gate::Gate;
use second_engine::SecondEngine;
use server::serve;

use crate::session::{Allowance, Models, Seat, notice};

/// The port to try first. A browser stores a game by the page's address and port.
const USUAL_PORT: u16 = 8064;

/// The resources of each search if neither the command line nor the page names any.
const USUAL: Resources = Resources { hash_mb: 64, threads: 1 };

/// Largest tables that a page can choose if the command line names no size, in MB.
const LARGEST_HASH: usize = 512;

/// Most searches at a time if the command line names no number.
const MOST_DEFAULT_SEARCHES: usize = 4;

/// Opens a board in the browser: play against the engine, analyse, and see how the space values
/// moves. The page needs no network; other machines cannot reach it unless --listen is given.
/// Ctrl-C ends the server.
#[derive(Args)]
pub struct ServeCommand {
    /// Port to listen on [default: 8064 if it is free, otherwise any free one]
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on. Any other than this machine's own lets other machines use the engine.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Print the page's address, but open no browser.
    #[arg(long)]
    no_open: bool,
    /// Weights file [default: the embedded weights of each search]
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Folders with Syzygy tables of more than four pieces, separated as in PATH.
    #[arg(long)]
    syzygy: Option<String>,
    /// Number of threads of each search, and the most that the page can choose for an analysis
    /// [default: 1, and the number of processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Size of the score cache and transposition table of each search together, in MB, and the
    /// largest that the page can choose for an analysis [default: 64, and 512]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: Option<u32>,
    /// Number of searches at a time; further pages wait for their turn [default: the number of
    /// processors divided by --threads, at most 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    searches: Option<u16>,
    /// Another UCI engine, whose lines the page shows beside those of Azimuth. It has its own
    /// settings, and searches for one page at a time.
    #[arg(long, value_name = "PATH")]
    engine: Option<PathBuf>,
    /// Device that runs the encoder.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    device: Backend,
}

impl ServeCommand {
    /// Serves the page until Ctrl-C. Fails if the weights cannot be read, the address is taken, or
    /// the program of `--engine` is no UCI engine.
    pub fn run(&self, mut output: impl Write) -> Result<()> {
        let listener = self.listener()?;
        let address = listener.local_addr().context("cannot listen")?;
        let second = self.engine.clone().map(SecondEngine::start).transpose()?;
        let weights = self.weights.clone();
        let source = ModelSource { weights, backend: self.device, ..ModelSource::default() };
        let models = Arc::new(Models::open(source, self.syzygy.as_deref())?);
        // Weights that cannot be read are an error at once, and not in each task.
        models.model(DefaultWeights::Selective)?;
        let allowance = self.allowance();
        let seats = (0..self.searches()).map(|_| Seat::new(models.clone(), allowance)).collect();
        let gate = Gate::new(address);
        if !address.ip().is_loopback() {
            notice(&format!(
                "other machines that reach {address} and know the address of the page can use the \
                 engine; the connection is not encrypted"
            ));
        }
        let page = gate.page_address();
        let written = writeln!(output, "The board is at {page}\nCtrl-C ends the server.");
        unless_closed(written.and_then(|()| output.flush()).context("standard output"))?;
        if !self.no_open
            && let Err(error) = open::that_detached(&page)
        {
            notice(&format!("cannot start a browser ({error}); open the address yourself"));
        }
        serve(listener, gate, Shared::new(seats, second, allowance))
    }

    fn listener(&self) -> Result<TcpListener> {
        let bind = |port| TcpListener::bind(SocketAddr::new(self.listen, port));
        let listener = match self.port {
            Some(port) => bind(port),
            None => bind(USUAL_PORT).or_else(|_| bind(0)),
        };
        let port = self.port.map_or(String::new(), |port| format!(", port {port}"));
        let name = || format!("cannot listen on {}{port}; choose another", self.listen);
        listener.with_context(name)
    }

    fn allowance(&self) -> Allowance {
        let named_or = |default: Resources| {
            let hash_mb = self.hash.map_or(default.hash_mb, |hash| hash as usize);
            let threads = self.threads.map_or(default.threads, usize::from);
            Resources { hash_mb, threads }.on_this_machine()
        };
        let most = Resources { hash_mb: LARGEST_HASH, threads: processors() };
        Allowance { usual: named_or(USUAL), most: named_or(most) }
    }

    fn searches(&self) -> usize {
        let threads = self.threads.map_or(USUAL.threads, usize::from);
        let default = (processors() / threads).clamp(1, MOST_DEFAULT_SEARCHES);
        self.searches.map_or(default, usize::from)
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
