//! Self-play of the selective search, to collect the leaves of its searches: the positions whose
//! scores determine its moves.

use std::collections::HashSet;

use anyhow::{Context, Result};
use azimuth::inference::{Evaluator, Worker};
use azimuth::search::{Control, Limits, Planner, Resources, Selective, SelectiveSettings};
use azimuth_chess::position::{Position, board_after};
use cozy_chess::Board;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::labeller::Labeller;
use super::lead;
use super::options::LabelOptions;
use super::walk::{CACHE, Walk};
use crate::data::family::{Family, Game};

/// Tables for a few thousand nodes, which are cleared before every walk.
const RESOURCES: Resources = Resources { hash_mb: 1, threads: 1 };

/// Walks that play the selective search's moves.
pub struct LeafWalker {
    planner: Selective,
    /// Ranks the moves of leads.
    evaluator: Evaluator,
}

impl LeafWalker {
    /// A walker whose search uses the encoder of `worker`.
    pub fn new(worker: &Worker) -> Result<Self> {
        let planner = Selective::new(worker, SelectiveSettings::default(), RESOURCES)?;
        Ok(Self { planner, evaluator: Evaluator::new(worker, CACHE)? })
    }

    /// Searches `position`, plays the best move, and returns the sampled leaves and the last
    /// position of the principal variation.
    fn step(&mut self, position: &mut Position, nodes: u64) -> Result<Vec<Board>> {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut control = Control::without_signals(limits);
        let best = self.planner.search(position, &mut control, &mut |_| ())?;
        let mut leaves = self.planner.take_leaves();
        leaves.push(best.pv.iter().fold(position.board().clone(), |b, &mv| board_after(&b, mv)));
        position.play(*best.pv.first().context("the search found no move")?);
        Ok(leaves)
    }
}

impl Walk for LeafWalker {
    fn walk(
        &mut self,
        starts: &[String],
        options: &LabelOptions,
        engine: &mut Labeller,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Game> {
        // A walk must not depend on earlier walks.
        self.planner.new_game();
        self.planner.sample_leaves(options.leaf_every);
        let mut position = Position::from_fen(&starts[rng.random_range(0..starts.len())])?;
        lead::play(&mut self.evaluator, &mut position, options.lead, rng)?;
        let (mut families, mut seen) = (Vec::new(), HashSet::new());
        for _ in 0..options.plies {
            if !position.has_legal_move() {
                break;
            }
            for leaf in self.step(&mut position, options.nodes)? {
                if leaf.generate_moves(|_| true) && seen.insert(leaf.hash()) {
                    let label = engine.value(&leaf)?;
                    families.push(Family::own(leaf, label));
                }
            }
        }
        Ok(Game::new(families))
    }
}
