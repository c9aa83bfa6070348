//! Monte Carlo tree search without random games (seed document 004, section 2.3.3): the network's
//! value replaces the rollout, and its policy guides the selection.

mod planner;
mod tree;

pub use planner::MonteCarlo;
pub use tree::Tree;

use anyhow::Result;
use azimuth_chess::position::Position;

/// Predicts the policy and value of positions.
pub trait PolicyValue: Send {
    /// For each position, in which the game is not over: the legal moves with their probabilities,
    /// and the value.
    fn assess(&mut self, positions: &[&Position]) -> Result<Vec<Assessment>>;
}

/// The prediction for a position.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// Every legal move and its probability; the probabilities sum to 1.
    pub policy: Vec<(cozy_chess::Move, f32)>,
    /// The value for the side to move, in [-1, 1].
    pub value: f32,
}
