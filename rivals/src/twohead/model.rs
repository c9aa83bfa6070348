//! The two-headed network.

use anyhow::Result;
use azimuth_chess::position::Position;
use candle_core::{Module, Tensor};
use candle_nn::{VarBuilder, ops::softmax};
use cozy_chess::{Board, Color};

use crate::board::{PLANES, move_index, planes, signs, viewer};
use crate::monte_carlo::{Assessment, PolicyValue};
use crate::network::{PolicyHead, ResidualTower, TowerConfig, ValueHead};

/// Maps positions to logits of moves and values.
pub struct TwoHeadNetwork {
    tower: ResidualTower,
    policy: PolicyHead,
    value: ValueHead,
    oriented: bool,
}

impl TwoHeadNetwork {
    /// A network with the parameters `tower`, `policy` and `value`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        Ok(Self {
            tower: ResidualTower::new(PLANES, config, &vb.pp("tower"))?,
            policy: PolicyHead::new(config.channels, &vb.pp("policy"))?,
            value: ValueHead::new(config.channels, &vb.pp("value"))?,
            oriented: config.oriented,
        })
    }

    /// Whether the moves are those that the side to move sees.
    pub fn oriented(&self) -> bool {
        self.oriented
    }

    /// Logits of all moves (boards x 4672), and the value of each board for White, in [-1, 1].
    pub fn forward<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board> + Clone,
    ) -> candle_core::Result<[Tensor; 2]> {
        let device = self.tower.device();
        let signs = signs(boards.clone(), self.oriented, device)?;
        let boards = self.tower.forward(&planes(boards, self.oriented, device)?)?;
        Ok([self.policy.forward(&boards)?, (self.value.forward(&boards)? * signs)?])
    }
}

impl PolicyValue for &TwoHeadNetwork {
    fn assess(&mut self, positions: &[&Position]) -> Result<Vec<Assessment>> {
        let [logits, values] = self.forward(positions.iter().map(|position| position.board()))?;
        let values = values.to_vec1::<f32>()?;
        let mut found = Vec::with_capacity(positions.len());
        for (place, (position, of_white)) in positions.iter().zip(values).enumerate() {
            let board = position.board();
            let moves = azimuth_chess::position::legal_moves(board);
            let view = viewer(board, self.oriented);
            let numbers = moves.iter().map(|&mv| move_index(board, mv, view) as u32).collect();
            let numbers = Tensor::from_vec(numbers, moves.len(), logits.device())?;
            let of_legal = logits.get(place)?.index_select(&numbers, 0)?;
            let probabilities = softmax(&of_legal, 0)?.to_vec1::<f32>()?;
            let own = board.side_to_move() == Color::White;
            found.push(Assessment {
                policy: moves.into_iter().zip(probabilities).collect(),
                value: if own { of_white } else { -of_white },
            });
        }
        Ok(found)
    }
}

impl PolicyValue for TwoHeadNetwork {
    fn assess(&mut self, positions: &[&Position]) -> Result<Vec<Assessment>> {
        (&*self).assess(positions)
    }
}
