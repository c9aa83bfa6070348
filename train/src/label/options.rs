//! Command-line options of labelling, and the shard of the work that a command does.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

/// Positions to label, the labeller and its depth.
#[derive(Args)]
pub struct LabelOptions {
    /// UCI engine that labels; it must support MultiPV.
    #[arg(long, required_unless_present = "network")]
    pub engine: Option<PathBuf>,
    /// Label with this Stockfish network (`.nnue`, as written by Stockfish's `export_net`), without
    /// a search or with `--quiescence`; `data --filter quiet` keeps the positions for which a
    /// static evaluation is accurate.
    #[arg(long, conflicts_with_all = ["engine", "depth"])]
    pub network: Option<PathBuf>,
    /// Label with the value of quiescence search, with the network as its evaluation: where a
    /// capture wins material, the static evaluation is wrong.
    #[arg(long, requires = "network")]
    pub quiescence: bool,
    /// Files of FENs or EPD, one per line, at which walks start (also compressed); not used by
    /// `--walk endings`.
    #[arg(long, num_args = 1..)]
    pub fens: Vec<PathBuf>,
    /// Dataset to write (.azd); the same command resumes an interrupted run.
    #[arg(long)]
    pub out: PathBuf,
    /// Number of walks, each from a randomly drawn start; total of all shards.
    #[arg(long)]
    pub walks: u64,
    /// Run only shard I of N of the walks; `data --merge` joins the shards.
    #[arg(long, default_value = "1/1")]
    pub shard: Shard,
    /// How a walk chooses the next position.
    #[arg(long, value_enum, default_value_t = WalkKind::Beam)]
    pub walk: WalkKind,
    /// Folders of Syzygy tables, which label the positions that they contain (`--walk endings`).
    #[arg(long)]
    pub syzygy: Option<String>,
    /// Nodes of each search (`--walk leaves` and `--walk search`).
    #[arg(long, default_value_t = 1_500)]
    pub nodes: u64,
    /// Sample one of every N leaves (`--walk leaves`).
    #[arg(long, default_value_t = 64)]
    pub leaf_every: u64,
    /// Search depth of the engine, in plies. Labels of siblings are noisier at depths 2 to 5 than at
    /// depth 1.
    #[arg(long, default_value_t = 1)]
    pub depth: u32,
    /// Maximum number of positions in a walk.
    #[arg(long, default_value_t = 6)]
    pub plies: u32,
    /// Number of moves from which the next position is drawn: moves kept by the beam, or the
    /// engine's best moves.
    #[arg(long, default_value_t = 3)]
    pub width: usize,
    /// Maximum number of plies that a walk plays before its labels begin, so that walks from the
    /// same start differ. Each ply is the best of six random moves (not for endings).
    #[arg(long, default_value_t = 0)]
    pub lead: u32,
    /// Number of the engine's best moves whose labels are kept in each position. On a beam walk, a
    /// network scores only four times this number of moves: those that the walk's encoder ranks
    /// first.
    #[arg(long, default_value_t = 6)]
    pub best: usize,
    /// Number of other moves, drawn at random, whose labels are kept in each position.
    #[arg(long, default_value_t = 6)]
    pub others: usize,
    /// Number of engine processes or copies of the network, one per thread.
    #[arg(long, default_value_t = 1)]
    pub engines: u64,
    /// Weights of the beam or selective search that makes the walks [default: the default weights
    /// of that search].
    #[arg(long)]
    pub weights: Option<PathBuf>,
    /// Time between saves of the progress; work since the last save is repeated after a kill.
    #[arg(long, default_value = "2s", value_parser = humantime::parse_duration)]
    pub commit_every: Duration,
    /// Random seed of starts and walks.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How a walk continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WalkKind {
    /// A move that a beam search keeps: the walk visits positions that the search has to rank.
    Beam,
    /// The move of the selective search. Labels go to leaves of its tree, where quiescence search
    /// stands pat, and to the last positions of its principal variations; each gets a separate
    /// search.
    Leaves,
    /// The move of the selective search; one of eight moves is a random one instead. Only the
    /// search's move is labelled: examples for a policy.
    Search,
    /// No moves: random positions with few pieces, labelled from Syzygy tables or by a separate
    /// search.
    Endings,
    /// One of the engine's best moves within half a pawn, until the game is decided: self-play
    /// games of the engine.
    Engine,
}

/// Shard `number` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// The parts of `0..parts` in this shard. They are consecutive, so that the shards in order
    /// make up all parts in order.
    pub fn of(self, parts: u64) -> Range<u64> {
        let end =
            |number: u64| (u128::from(parts) * u128::from(number) / u128::from(self.count)) as u64;
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').and_then(|(number, count)| {
            Some(Self { number: number.parse().ok()?, count: count.parse().ok()? })
        });
        let valid = numbers.filter(|shard| (1..=shard.count).contains(&shard.number));
        valid.with_context(|| format!("'{text}': expected I/N, I from 1 to N"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_parts_in_order() -> Result<()> {
        for parts in [0, 1, 5, 100] {
            for count in 1..7u64 {
                let mut next = 0;
                for number in 1..=count {
                    let share = Shard { number, count }.of(parts);
                    assert_eq!(share.start, next);
                    next = share.end;
                }
                assert_eq!(next, parts);
            }
        }
        assert_eq!("2/3".parse::<Shard>()?.to_string(), "2/3");
        for bad in ["", "1", "0/2", "3/2", "a/b", "1/0", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        Ok(())
    }
}
