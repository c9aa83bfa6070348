//! The shards of a round.

use std::path::Path;
use std::time::Duration;

use super::options::{RoundOptions, StreamFor};
use crate::label::{LabelOptions, Shard, WalkKind};

/// Time between saves of a shard's labelling progress.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

/// Maximum number of plies that a walk plays before its labels begin.
const LEAD: u32 = 16;

/// The recipe of one kind of shard.
pub struct Recipe {
    /// Its share of a round's positions.
    share: f64,
    /// Approximate number of positions from a walk, measured with Stockfish 16's network.
    yields: f64,
    walk: WalkKind,
    plies: u32,
    /// Nodes of each search (leaves).
    nodes: u64,
    /// Numbers of moves that are labelled in each position: of the best, and of others at random.
    best: usize,
    others: usize,
}

/// Shards for the selective search. Children on walks from many starts teach the encoder to rank
/// moves. Leaves are the positions that decide a search. Endings are rare in both
/// (`train/experiments.md`, "Training data for the selective search").
const SELECTIVE: [Recipe; 5] = [
    moves(0.22, 27.0, 4, 2, 4),
    moves(0.18, 160.0, 24, 2, 4),
    leaves(0.38, 30.0, 300),
    leaves(0.14, 105.0, 1_500),
    ENDINGS,
];

/// Shards for the beam, which scores all moves of its positions: more children of each position.
const BEAM: [Recipe; 3] = [moves(0.62, 75.0, 6, 4, 8), moves(0.30, 287.0, 24, 4, 8), ENDINGS];

const ENDINGS: Recipe = Recipe {
    share: 0.08,
    yields: 64.0,
    walk: WalkKind::Endings,
    plies: 64,
    nodes: 0,
    best: 2,
    others: 4,
};

/// Children of the positions on walks of `plies` plies.
const fn moves(share: f64, yields: f64, plies: u32, best: usize, others: usize) -> Recipe {
    Recipe { share, yields, walk: WalkKind::Beam, plies, nodes: 0, best, others }
}

/// Leaves of searches of `nodes` nodes.
const fn leaves(share: f64, yields: f64, nodes: u64) -> Recipe {
    Recipe { share, yields, walk: WalkKind::Leaves, plies: 1, nodes, best: 2, others: 4 }
}

/// The kinds of shards in a round for `planner`.
pub fn recipes(planner: StreamFor) -> &'static [Recipe] {
    match planner {
        StreamFor::Beam => &BEAM,
        StreamFor::Selective => &SELECTIVE,
    }
}

impl Recipe {
    /// The labelling options for this recipe's shard of a round, written to `out` with the given
    /// seed.
    pub fn work(&self, labels: &RoundOptions, seed: u64, out: &Path) -> LabelOptions {
        let walks_from_starts = self.walk != WalkKind::Endings;
        let walks = (labels.round as f64 * self.share / self.yields).round() as u64;
        LabelOptions {
            engine: labels.engine.clone(),
            network: labels.network.clone(),
            quiescence: labels.quiescence,
            fens: if walks_from_starts { labels.fens.clone() } else { Vec::new() },
            out: out.to_owned(),
            walks: walks.max(1),
            shard: Shard::WHOLE,
            walk: self.walk,
            syzygy: labels.syzygy.clone(),
            nodes: self.nodes,
            leaf_every: 4,
            depth: labels.depth,
            plies: self.plies,
            lead: if walks_from_starts { LEAD } else { 0 },
            width: 3,
            best: self.best,
            others: self.others,
            engines: 1,
            // Walks along the beam use its built-in weights.
            weights: labels.weights.clone().filter(|_| self.walk == WalkKind::Leaves),
            commit_every: COMMIT_EVERY,
            seed,
        }
    }
}
