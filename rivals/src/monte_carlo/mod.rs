//! Monte Carlo tree search without random games (seed document 004, section 2.3.3): a network's value stands for the
//! rest of the game, and its policy for what is worth a look.

mod planner;
mod tree;

pub use planner::MonteCarlo;
pub use tree::Tree;

use anyhow::Result;
use azimuth_chess::position::Position;

/// What a network says of positions that are not over.
pub trait PolicyValue: Send {
    /// For each position the legal moves with their probabilities, and its value for the side to move in [-1, 1].
    fn assess(&mut self, positions: &[&Position]) -> Result<Vec<Assessment>>;
}

/// What a network says of a position.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// Every legal move and its probability; they add up to 1.
    pub policy: Vec<(cozy_chess::Move, f32)>,
    /// The value for the side to move, in [-1, 1].
    pub value: f32,
}
