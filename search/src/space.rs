//! The space that a model maps positions to, and the value of a point in it.

use azimuth_network::Perspective;
use azimuth_network::axis::Axis;
use azimuth_network::calibration::Calibration;
use azimuth_network::weights::Weights;
use cozy_chess::Color;

/// The advantage axis of a space, and the calibration of cosines with it.
#[derive(Clone, Debug)]
pub struct Space {
    /// The axis, which points from lost to won.
    pub axis: Axis,
    /// Cosine to win probability, both in the space's perspective.
    pub calibration: Calibration,
    /// The side whose win the axis points to.
    pub perspective: Perspective,
}

impl Space {
    /// The space of `weights`.
    pub fn of(weights: &Weights) -> Self {
        Self {
            axis: weights.axis.clone(),
            calibration: weights.calibration.clone(),
            perspective: weights.metadata.architecture.perspective(),
        }
    }

    /// The value of a position for the side to move, in [-1, 1]: `2p - 1` for a win probability p.
    /// `cosine` is that of its embedding with the axis.
    pub fn value(&self, cosine: f32, side_to_move: Color) -> f32 {
        let p = self.calibration.win_probability(cosine);
        if self.is_seen_by_opponent(side_to_move) { 1.0 - 2.0 * p } else { 2.0 * p - 1.0 }
    }

    /// The cosine from the side to move's view: larger is better.
    pub fn cosine_for_side_to_move(&self, cosine: f32, side_to_move: Color) -> f32 {
        if self.is_seen_by_opponent(side_to_move) { -cosine } else { cosine }
    }

    /// The cosine from White's view.
    pub fn cosine_for_white(&self, cosine: f32, side_to_move: Color) -> f32 {
        let for_black = side_to_move == Color::Black;
        if self.perspective == Perspective::SideToMove && for_black { -cosine } else { cosine }
    }

    fn is_seen_by_opponent(&self, side_to_move: Color) -> bool {
        self.perspective == Perspective::White && side_to_move == Color::Black
    }
}
