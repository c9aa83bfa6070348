//! The shards of a round.

use std::path::Path;
use std::time::Duration;

use super::options::RoundOptions;
use crate::label::{LabelOptions, Shard, WalkKind};

/// Time between saves of a shard's labelling progress.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

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
}

/// The shards of a round. Moves of many starts tell apart good and bad moves, leaves are the positions that decide a
/// search, endings hardly ever come up in either (`train/README.md`, "Training data for the selective search").
pub const RECIPES: [Recipe; 5] = [
    Recipe { share: 0.25, yields: 27.0, walk: WalkKind::Beam, plies: 4, nodes: 0 },
    Recipe { share: 0.25, yields: 160.0, walk: WalkKind::Beam, plies: 24, nodes: 0 },
    Recipe { share: 0.30, yields: 196.0, walk: WalkKind::Leaves, plies: 8, nodes: 300 },
    Recipe { share: 0.12, yields: 625.0, walk: WalkKind::Leaves, plies: 8, nodes: 1_500 },
    Recipe { share: 0.08, yields: 64.0, walk: WalkKind::Endings, plies: 64, nodes: 0 },
];

impl Recipe {
    /// The labelling options for this recipe's shard of a round, written to `out` with the given
    /// seed.
    pub fn work(&self, labels: &RoundOptions, seed: u64, out: &Path) -> LabelOptions {
        let walks_from_starts = self.walk != WalkKind::Endings;
        let walks = (labels.round as f64 * self.share / self.yields).round() as u64;
        LabelOptions {
            engine: labels.engine.clone(),
            network: labels.network.clone(),
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
            width: 3,
            best: 2,
            others: 4,
            engines: 1,
            // Walks along the beam use its built-in weights.
            weights: labels.weights.clone().filter(|_| self.walk == WalkKind::Leaves),
            commit_every: COMMIT_EVERY,
            seed,
        }
    }
}
