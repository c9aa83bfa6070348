//! Games between weights, played by `azimuth-bench elo`: only games measure how an evaluation
//! performs with a search.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

/// Games to play after training.
#[derive(Args)]
pub struct GameOptions {
    /// Number of games of the selective search with each run's weights against the built-in ones,
    /// an even number; needs `azimuth-bench` in the same folder as this program.
    #[arg(long, default_value_t = 0)]
    games: u32,
    /// Openings: EPD or FEN, one per line, plain or zipped.
    #[arg(long)]
    book: Option<PathBuf>,
    /// Weights of the opponent [default: the built-in weights].
    #[arg(long)]
    against: Option<PathBuf>,
    /// Nodes per move for both sides, so that neither clock nor speed affects the result.
    #[arg(long, default_value_t = 3_000)]
    nodes: u64,
}

/// Result of the games from the new weights' point of view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchResult {
    wins: u64,
    losses: u64,
    draws: u64,
    /// Elo difference and the half-width of its 95% interval; none if unbounded.
    elo: Option<[f64; 2]>,
}

impl GameOptions {
    /// Checks that the games can be played, before training starts.
    pub fn check(&self) -> Result<()> {
        if self.games > 0 {
            ensure!(
                self.games.is_multiple_of(2),
                "--games {}: expected an even number",
                self.games
            );
            ensure!(self.book.is_some(), "--games needs --book, the openings");
            bench()?;
        }
        Ok(())
    }

    /// The options in words; empty without games.
    pub fn words(&self) -> String {
        let Self { games, book, against, nodes } = self;
        let path = |name: &str, path: &Option<PathBuf>| {
            path.as_ref().map(|path| format!(" {name} {}", path.display())).unwrap_or_default()
        };
        match games {
            0 => String::new(),
            _ => format!(
                "{games}{}{} --nodes {nodes}",
                path("--book", book),
                path("--against", against)
            ),
        }
    }

    /// Plays the games of `weights` and writes their PGN next to them; `None` if none were
    /// requested.
    pub fn play(&self, name: &str, weights: &Path) -> Result<Option<MatchResult>> {
        let (Some(book), true) = (&self.book, self.games > 0) else { return Ok(None) };
        let json = weights.with_extension("games.json");
        let player = |name: &str, weights: Option<&Path>| -> Result<String> {
            let words = format!("planner=selective nodes={} name={name}", self.nodes);
            let Some(path) = weights else { return Ok(words) };
            let path = path.to_string_lossy();
            Ok(format!("{words} weights={}", shlex::try_quote(&path)?))
        };
        let output = Command::new(bench()?)
            .args(["elo", "--games", &self.games.to_string(), "--player"])
            .arg(player(name, Some(weights))?)
            .arg("--against")
            .arg(player("opponent", self.against.as_deref())?)
            .arg("--book")
            .arg(book)
            .arg("--concurrency")
            .arg(std::thread::available_parallelism().map_or(1, usize::from).to_string())
            .arg("--pgn")
            .arg(weights.with_extension("pgn"))
            .arg("--json")
            .arg(&json)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "run '{name}': {}",
            said.lines().last().unwrap_or("no games")
        );
        let results: Vec<MatchResult> = serde_json::from_slice(&std::fs::read(&json)?)?;
        std::fs::remove_file(&json)?;
        let result = results.into_iter().next().context("the match has no result")?;
        eprintln!("run '{name}': {result} Elo in {} games", self.games);
        Ok(Some(result))
    }
}

/// `+12 ± 34`.
impl fmt::Display for MatchResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.elo {
            Some([elo, error]) => write!(f, "{elo:+.0} ± {error:.0}"),
            None => write!(f, "+{} -{} ={}", self.wins, self.losses, self.draws),
        }
    }
}

/// `azimuth-bench` beside this program.
fn bench() -> Result<PathBuf> {
    let bench = std::env::current_exe()?
        .with_file_name(format!("azimuth-bench{}", std::env::consts::EXE_SUFFIX));
    ensure!(bench.is_file(), "--games: '{}' is missing; build the workspace", bench.display());
    Ok(bench)
}
