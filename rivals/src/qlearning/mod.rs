//! Deep Q-learning (seed document 003, section 3): a convolutional network predicts the value of a
//! move in a position. It learns from self-play, with a replay buffer that favours transitions with
//! large errors.
//!
//! The network has three convolutions with batch norm, then dense layers over their planes and the
//! numbers of the board and the move. The planes are the same for all moves of a board, so they are
//! computed once. The network does not learn to distinguish moves from a move's two numbers alone.
//! With `squares`, the dense layer also gets the convolutions' outputs on the move's two squares.

mod training;

use anyhow::{Context, Result};
use azimuth_chess::check_squares::attacked_squares;
use azimuth_chess::position::{Position, board_after, legal_moves, move_count, repetition_key};
use azimuth_search::{Planner, Value};
use candle_core::{D, Device, Module, ModuleT, Tensor};
use candle_nn::{
    BatchNorm, BatchNormConfig, Linear, VarBuilder, batch_norm, linear, linear_no_bias,
};
use cozy_chess::{BitBoard, Board, Color, GameStatus, Move, Piece, Square, get_king_moves};
use serde::{Deserialize, Serialize};

use crate::board::{bit, castling};
use crate::network::BoardConvolution;
use crate::planners::{MoveRanking, RanksMoves};
use crate::weights::RivalWeights;
pub use training::train;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QConfig {
    pub channels: [usize; 3],
    pub hidden: usize,
    /// Whether the dense layer gets the convolutions' outputs on the squares of a move.
    pub squares: bool,
    /// Whether the inputs include the squares that each side attacks.
    #[serde(default)]
    pub attacks: bool,
    /// Whether the network predicts only what follows a move, and the move's reward is added.
    #[serde(default)]
    pub rewards: bool,
}

pub struct QNetwork {
    config: QConfig,
    blocks: Vec<(BoardConvolution, BatchNorm)>,
    /// The part of the dense layer that is the same for all moves of a board.
    of_board: Linear,
    of_action: Linear,
    value: Linear,
}

impl QNetwork {
    /// A network with the parameters `block.N`, `of_board`, `of_action` (both of one dense layer)
    /// and `value`.
    pub fn new(config: QConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let QConfig { channels, hidden, squares, .. } = config;
        let inputs = std::iter::once(PLANES).chain(channels);
        let block = |(number, (inputs, outputs)): (usize, (usize, usize))| {
            let vb = vb.pp("block").pp(number);
            let norm = batch_norm(outputs, BatchNormConfig::default(), vb.pp("norm"))?;
            Ok((BoardConvolution::new(inputs, outputs, vb.pp("convolution"))?, norm))
        };
        let dense = Square::NUM * channels[2] + STATE;
        let action = ACTION + if squares { 2 * channels[2] } else { 0 };
        let blocks = inputs.zip(channels).enumerate().map(block);
        Ok(Self {
            config,
            blocks: blocks.collect::<candle_core::Result<_>>()?,
            of_board: linear(dense, hidden, vb.pp("of_board"))?,
            of_action: linear_no_bias(action, hidden, vb.pp("of_action"))?,
            value: linear(hidden, 1, vb.pp("value"))?,
        })
    }

    /// The values of `moves` for the side that moves, in their order. Each move has the index of
    /// its board in `boards`. With `train`, batch norm uses the statistics of the batch.
    pub fn values(
        &self,
        boards: &[&Board],
        moves: &[(usize, Move)],
        train: bool,
    ) -> candle_core::Result<Tensor> {
        let device = self.value.weight().device();
        let [mut planes, numbers] = states(boards.iter().copied(), self.config.attacks, device)?;
        for (convolution, norm) in &self.blocks {
            planes = convolution.forward(&planes)?;
            let (count, squares, channels) = planes.dims3()?;
            let rows = norm.forward_t(&planes.reshape((count * squares, channels))?, train)?;
            planes = rows.relu()?.reshape((count, squares, channels))?;
        }
        let board = Tensor::cat(&[planes.flatten_from(1)?, numbers], 1)?;
        let board = self.of_board.forward(&board)?;
        let numbers = |number: fn(&(usize, Move)) -> usize| {
            let numbers = moves.iter().map(|mv| number(mv) as u32).collect();
            Tensor::from_vec(numbers, moves.len(), device)
        };
        let mut action = actions(moves.iter().map(|&(_, mv)| mv), device)?;
        if self.config.squares {
            let rows = planes.flatten_to(1)?;
            let from = numbers(|(place, mv)| place * Square::NUM + mv.from as usize)?;
            let to = numbers(|(place, mv)| place * Square::NUM + mv.to as usize)?;
            let [from, to] = [rows.index_select(&from, 0)?, rows.index_select(&to, 0)?];
            action = Tensor::cat(&[action, from, to], 1)?;
        }
        let board = board.index_select(&numbers(|(place, _)| *place)?, 0)?;
        let hidden = (board + self.of_action.forward(&action)?)?.relu()?;
        let values = self.value.forward(&hidden)?.squeeze(D::Minus1)?;
        if !self.config.rewards {
            return Ok(values);
        }
        let rewards = moves.iter().map(|&(place, mv)| reward(boards[place], mv));
        values + Tensor::from_iter(rewards, device)?
    }

    /// The values of all legal moves of each position. If the network adds the rewards of moves,
    /// this also adds the reward for repeating a position.
    pub fn values_of(&self, positions: &[&Position]) -> candle_core::Result<Vec<Vec<(Move, f32)>>> {
        let boards: Vec<_> = positions.iter().map(|position| position.board()).collect();
        let mut values = self.legal_values(&boards)?;
        if self.config.rewards {
            for (position, values) in positions.iter().zip(&mut values) {
                values.iter_mut().for_each(|(mv, value)| *value += repetition(position, *mv));
            }
        }
        Ok(values)
    }

    pub fn legal_values(&self, boards: &[&Board]) -> candle_core::Result<Vec<Vec<(Move, f32)>>> {
        let legal: Vec<Vec<Move>> = boards.iter().map(|board| legal_moves(board)).collect();
        let all = legal.iter().enumerate();
        let all: Vec<_> =
            all.flat_map(|(place, moves)| moves.iter().map(move |&mv| (place, mv))).collect();
        if all.is_empty() {
            return Ok(legal.iter().map(|_| Vec::new()).collect());
        }
        let mut values = self.values(boards, &all, false)?.to_vec1::<f32>()?.into_iter();
        let of = |moves: Vec<Move>| moves.into_iter().zip(values.by_ref()).collect();
        Ok(legal.into_iter().map(of).collect())
    }
}

/// The move with the largest value; `None` if there are no moves.
pub fn largest<'a>(values: impl IntoIterator<Item = &'a (Move, f32)>) -> Option<&'a (Move, f32)> {
    values.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = QNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for QNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<(Vec<(Move, Value)>, u64)> {
        let mut values = self.values_of(&[root])?.pop().unwrap_or_default();
        let nodes = values.len() as u64;
        values.retain(|(mv, _)| moves.contains(mv));
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        let moves = values.into_iter().map(|(mv, value)| (mv, Value::estimate(value)));
        Ok((moves.collect(), nodes))
    }

    fn value(&mut self, position: &Position) -> Result<Value> {
        let values = self.values_of(&[position])?;
        let best = values.first().and_then(largest).context("no legal move")?;
        Ok(Value::estimate(best.1))
    }
}

pub const PLANES: usize = 14;

/// Numbers of a board beside the planes.
pub const STATE: usize = 7;

const ACTION: usize = 2;

/// The first of the two planes of attacked squares, White's and Black's.
const ATTACKED: usize = 2 * Piece::NUM;

/// Divisor of the move number.
const LONG_GAME: f32 = 100.0;

/// The inputs of boards on a device: planes (boards x 64 x 14) and numbers (boards x 7). The last
/// two planes stay empty without `attacks`.
pub fn states<'a>(
    boards: impl ExactSizeIterator<Item = &'a Board>,
    attacks: bool,
    device: &Device,
) -> candle_core::Result<[Tensor; 2]> {
    let count = boards.len();
    let mut planes = vec![0f32; count * Square::NUM * PLANES];
    let mut numbers = Vec::with_capacity(count * STATE);
    for (board, planes) in boards.zip(planes.chunks_exact_mut(Square::NUM * PLANES)) {
        for color in [Color::White, Color::Black] {
            for piece in Piece::ALL {
                let plane = color as usize * Piece::NUM + piece as usize;
                for square in board.colored_pieces(color, piece) {
                    planes[square as usize * PLANES + plane] = 1.0;
                }
            }
            if attacks {
                for square in attacked_squares(board, color) {
                    planes[square as usize * PLANES + ATTACKED + color as usize] = 1.0;
                }
            }
        }
        numbers.extend(castling(board, Color::White));
        numbers.extend([
            bit(board.side_to_move() == Color::White),
            bit(!board.checkers().is_empty()),
            f32::from(board.fullmove_number()) / LONG_GAME,
        ]);
    }
    Ok([
        Tensor::from_vec(planes, (count, Square::NUM, PLANES), device)?,
        Tensor::from_vec(numbers, (count, STATE), device)?,
    ])
}

/// The inputs of moves on a device (moves x 2).
pub fn actions(
    moves: impl ExactSizeIterator<Item = Move>,
    device: &Device,
) -> candle_core::Result<Tensor> {
    let count = moves.len();
    let numbers = moves.flat_map(|mv| [mv.from, mv.to]).map(|square| square as usize as f32 / 63.0);
    Tensor::from_vec(numbers.collect(), (count, ACTION), device)
}

/// For a pawn, knight, bishop, rook, queen, king.
const MATERIAL: [f32; Piece::NUM] = [0.1, 0.3, 0.3, 0.5, 0.9, 0.0];

/// For each own piece on the four central squares.
const CENTRE: f32 = 0.01;

/// For each own piece adjacent to the king.
const KING_SAFETY: f32 = 0.005;

/// For each legal reply of the opponent.
const MOBILITY_PENALTY: f32 = 0.003;

const REPETITION_PENALTY: f32 = 0.1;

const MATE: f32 = 1.0;

/// The reward of the side that plays `mv`, except for repeating a position ([`repetition`]).
pub fn reward(board: &Board, mv: Move) -> f32 {
    let (own, after) = (board.side_to_move(), board_after(board, mv));
    let gained = |count: fn(&Board, Color) -> f32| count(&after, own) - count(board, own);
    let end = match after.status() {
        GameStatus::Won => MATE,
        // A stalemate gives away the lead.
        GameStatus::Drawn => material(&after, !own) - material(&after, own),
        GameStatus::Ongoing => -MOBILITY_PENALTY * move_count(&after) as f32,
    };
    gained(|board, own| material(board, own) - material(board, !own))
        + CENTRE * gained(centre)
        + KING_SAFETY * gained(king_safety)
        + end
}

/// The reward for repeating a position with `mv`; 0 if it does not.
pub fn repetition(before: &Position, mv: Move) -> f32 {
    let key = repetition_key(&board_after(before.board(), mv));
    if before.history().contains(&key) { -REPETITION_PENALTY } else { 0.0 }
}

fn material(board: &Board, side: Color) -> f32 {
    let of =
        |piece: Piece| MATERIAL[piece as usize] * board.colored_pieces(side, piece).len() as f32;
    Piece::ALL.into_iter().map(of).sum()
}

fn centre(board: &Board, side: Color) -> f32 {
    let middle = [Square::D4, Square::E4, Square::D5, Square::E5];
    let middle = middle.into_iter().fold(BitBoard::EMPTY, |all, square| all | square.bitboard());
    (board.colors(side) & middle).len() as f32
}

fn king_safety(board: &Board, side: Color) -> f32 {
    (board.colors(side) & get_king_moves(board.king(side))).len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_worked_out_by_hand() -> Result<()> {
        assert_eq!(PLANES * Square::NUM + STATE, 903);
        let board: Board = "r3k3/8/8/8/8/8/4r3/4K2R w Kq - 0 25".parse().expect("valid");
        let set = |attacks: bool, square: Square| -> Result<Vec<usize>> {
            let [planes, numbers] = states([&board].into_iter(), attacks, &Device::Cpu)?;
            assert_eq!(numbers.to_vec2::<f32>()?, [[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.25]]);
            let planes = planes.to_vec3::<f32>()?.remove(0);
            Ok((0..PLANES).filter(|&plane| planes[square as usize][plane] == 1.0).collect())
        };
        assert_eq!(set(false, Square::E1)?, [5]);
        assert_eq!(set(false, Square::E2)?, [9]);
        assert_eq!(set(false, Square::D4)?, [0; 0]);
        // e1: defended by the rook on h1, attacked by that on e2, which the king attacks.
        assert_eq!(set(true, Square::E1)?, [5, 12, 13]);
        assert_eq!(set(true, Square::E2)?, [9, 12]);
        assert_eq!(set(true, Square::D8)?, [13]);
        assert_eq!(set(true, Square::D4)?, [0; 0]);
        let mv = "a1h8".parse().expect("a move");
        assert_eq!(actions([mv].into_iter(), &Device::Cpu)?.to_vec2::<f32>()?, [[0.0, 1.0]]);
        Ok(())
    }

    #[test]
    fn the_terms_are_those_worked_out_by_hand() -> anyhow::Result<()> {
        let of = |fen: &str, mv: &str| -> anyhow::Result<f32> {
            let position = Position::from_fen(fen)?;
            let mv = position.parse_move(mv)?;
            Ok(reward(position.board(), mv) + repetition(&position, mv))
        };
        let close = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}");
        // A knight captures a pawn in the centre, which it enters; Black's king has 3 replies.
        close(of("7k/8/8/4p3/8/5N2/8/K7 w - - 0 1", "f3e5")?, 0.1 + 0.01 - 0.009);
        // The king leaves its pawn; Black's king has 3 replies.
        close(of("7k/8/8/8/8/8/P7/1K6 w - - 0 1", "b1c1")?, -0.005 - 0.009);
        let mut position = Position::from_fen("7k/8/8/8/8/8/P7/1K6 w - - 0 1")?;
        for mv in ["b1c1", "h8g8", "c1b1"] {
            position.play(position.parse_move(mv)?);
        }
        // White has four king moves and two pawn moves.
        let mv = position.parse_move("g8h8")?;
        close(reward(position.board(), mv), -0.018);
        close(repetition(&position, mv), -0.1);
        // Mate on the back rank; the rook leaves nobody behind.
        close(of("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8")?, 1.0);
        // A stalemate gives away a queen.
        close(of("k7/8/8/1Q6/8/8/8/K7 w - - 0 1", "b5b6")?, -0.9);
        Ok(())
    }
}
