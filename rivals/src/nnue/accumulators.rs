//! The first layer's sums for both sides, updated incrementally: a move changes few features. A
//! king move changes all features of its own side, whose sums are then computed from scratch.

use cozy_chess::{Board, Color};

use super::features::{KINDS_OF_A_SIDE, View, active};
use super::quantised::QuantisedNnue;

/// White's and Black's sums.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulators([Vec<i16>; Color::NUM]);

impl Accumulators {
    /// The sums of a board, computed from scratch.
    pub fn of(board: &Board, network: &QuantisedNnue) -> Self {
        Self(Color::ALL.map(|side| fresh(board, side, network)))
    }

    /// The sums of `after`, updated from those of `before` in `self`.
    pub fn after(&self, before: &Board, after: &Board, network: &QuantisedNnue) -> Self {
        let sums = |side: Color| {
            if before.king(side) != after.king(side) {
                return fresh(after, side, network);
            }
            let mut sums = self.0[side as usize].clone();
            let view = View::of(after, side);
            for color in Color::ALL {
                for (kind, piece) in KINDS_OF_A_SIDE.into_iter().enumerate() {
                    let [old, new] = [before, after].map(|b| b.colored_pieces(color, piece));
                    for square in old - new {
                        network.subtract(view.feature(color, kind, square), &mut sums);
                    }
                    for square in new - old {
                        network.add(view.feature(color, kind, square), &mut sums);
                    }
                }
            }
            sums
        };
        Self(Color::ALL.map(sums))
    }

    /// White's win probability on `board`, whose sums these are.
    pub fn win_probability(&self, board: &Board, network: &QuantisedNnue) -> f32 {
        let own = board.side_to_move();
        let p = network.win_probability(&self.0[own as usize], &self.0[!own as usize]);
        if own == Color::White { p } else { 1.0 - p }
    }
}

fn fresh(board: &Board, side: Color, network: &QuantisedNnue) -> Vec<i16> {
    let mut sums = network.empty_sums();
    active(board, side, |feature| network.add(feature, &mut sums));
    sums
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use azimuth_chess::position::{board_after, legal_moves};
    use candle_core::{DType, Device};
    use candle_nn::{VarBuilder, VarMap, ops::sigmoid};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::model::{NnueConfig, NnueNetwork};
    use super::super::quantised::quantise;
    use super::*;
    use crate::weights::{Metadata, RivalWeights};

    /// A small untrained network, in floats and in integers.
    fn networks() -> Result<(NnueNetwork, QuantisedNnue)> {
        let config = NnueConfig { half: 16, first: 8, second: 8 };
        let parameters = VarMap::new();
        let vb = VarBuilder::from_varmap(&parameters, DType::F32, &Device::Cpu);
        let network = NnueNetwork::new(config, &vb)?;
        let metadata = Metadata {
            rival: "nnue".to_owned(),
            config: serde_json::to_value(config)?,
            training: serde_json::Value::Null,
            metrics: serde_json::Value::Null,
        };
        let tensors = parameters
            .data()
            .lock()
            .expect("one thread")
            .iter()
            .map(|(name, var)| (name.clone(), var.as_tensor().clone()))
            .collect();
        Ok((network, QuantisedNnue::new(&quantise(RivalWeights { metadata, tensors })?)?))
    }

    #[test]
    fn updated_sums_equal_fresh_ones_and_integers_are_near_the_floats() -> Result<()> {
        let (floats, integers) = networks()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        // Enough moves to include castling, promotions and captures en passant.
        for game in 0..30 {
            let mut board = match game % 2 {
                0 => Board::startpos(),
                _ => "r3k2r/1P3ppp/8/2pPp3/8/8/p5PP/R3K2R w KQkq c6 0 1".parse().expect("valid"),
            };
            let mut sums = Accumulators::of(&board, &integers);
            for _ in 0..60 {
                let moves = legal_moves(&board);
                if moves.is_empty() {
                    break;
                }
                let after = board_after(&board, moves[rng.random_range(0..moves.len())]);
                sums = sums.after(&board, &after, &integers);
                assert_eq!(sums, Accumulators::of(&after, &integers), "{board}, {after}");
                board = after;
            }
            let own = sigmoid(&floats.logits([&board].into_iter())?)?.to_vec1::<f32>()?[0];
            let white = if board.side_to_move() == Color::White { own } else { 1.0 - own };
            let found = sums.win_probability(&board, &integers);
            assert!((found - white).abs() < 0.01, "{found} {white}");
        }
        Ok(())
    }
}
