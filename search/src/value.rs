//! The value scale of the search: expected score of the side to move, including exact results;
//! bounds of values; and the values of positions without a search: static and terminal ones.

use std::fmt;
use std::ops::Neg;

use anyhow::Result;
use azimuth_chess::position::{Position, insufficient_material, repetition_key};
use azimuth_chess::win_probability::centipawns_of_win_probability;
use cozy_chess::Board;

use crate::inference::Evaluator;

/// Offset of mates from all other values.
const MATE: f32 = 4.0;

/// Offset of tablebase wins and losses.
const TABLEBASE: f32 = 2.0;

/// Values beyond this are mates.
const MATE_BOUND: f32 = 3.0;

/// Values beyond this are decisive.
const LARGEST_ESTIMATE: f32 = 1.0;

/// The cost of each ply to a mate. A power of two, so that sums are exact.
const PLY: f32 = 1.0 / 1024.0;

/// Centipawns of a tablebase win, less one per ply, as Stockfish reports it.
const TABLEBASE_CENTIPAWNS: i32 = 20_000;

/// The value of a position for its side to move: in [-1, 1], `2p - 1` for a win probability p; 0
/// for a draw; beyond [-1, 1] for decisive results. Tablebase results are beyond all estimates and
/// mates beyond those; shorter ones are further out.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Value(f32);

impl Value {
    /// A certain draw. An estimate is hardly ever exactly 0.
    pub const DRAW: Self = Self(0.0);

    /// The worst estimate: lost, but not certainly.
    pub const LOST: Self = Self(-1.0);

    /// Below every value.
    pub const MIN: Self = Self(-2.0 * MATE);

    /// Above every value.
    pub const MAX: Self = Self(2.0 * MATE);

    /// An estimate, `2p - 1`.
    pub fn estimate(value: f32) -> Self {
        Self(value.clamp(-1.0, 1.0))
    }

    /// Checkmated, `ply` plies from the root.
    pub fn mated_in(ply: u32) -> Self {
        Self(PLY * ply as f32 - MATE)
    }

    /// A tablebase loss, found `ply` plies from the root.
    pub fn tablebase_loss_in(ply: u32) -> Self {
        Self(PLY * ply as f32 - TABLEBASE)
    }

    /// The same value seen from `plies` plies earlier: decisive results are that much further away.
    pub fn seen_from_before(self, plies: u32) -> Self {
        match self.0.abs() > LARGEST_ESTIMATE {
            true => Self(self.0 - self.0.signum() * PLY * plies as f32),
            false => self,
        }
    }

    /// Whether the side to move is being mated by force.
    pub fn is_mated(self) -> bool {
        self.0 < -MATE_BOUND
    }

    /// Plies to a mate by either side; `None` for all other values.
    pub fn plies_to_mate(self) -> Option<u32> {
        (self.0.abs() > MATE_BOUND).then(|| ((MATE - self.0.abs()) / PLY).round() as u32)
    }

    /// Plies to the tablebase position of a tablebase win or loss; `None` for all other values.
    pub fn plies_to_tablebase(self) -> Option<u32> {
        let known = self.0.abs() > LARGEST_ESTIMATE && self.0.abs() <= MATE_BOUND;
        known.then(|| ((TABLEBASE - self.0.abs()) / PLY).round() as u32)
    }

    /// Moves until mate, negative if the side to move is mated; `None` for all other values.
    pub fn moves_to_mate(self) -> Option<i32> {
        let plies = self.plies_to_mate()? as i32;
        Some(if self.0 > 0.0 { (plies + 1) / 2 } else { -(plies / 2) })
    }

    /// Win probability of the side to move, in [0, 1].
    pub fn win_probability(self) -> f32 {
        (self.0.clamp(-1.0, 1.0) + 1.0) / 2.0
    }

    /// UCI centipawns of a value other than a mate: from the win probability, or ±20,000 less the
    /// plies for a tablebase win or loss.
    pub fn centipawns(self) -> i32 {
        let Some(plies) = self.plies_to_tablebase() else {
            return centipawns_of_win_probability(self.win_probability().into());
        };
        let centipawns = TABLEBASE_CENTIPAWNS - plies as i32;
        if self.0 > 0.0 { centipawns } else { -centipawns }
    }

    /// Whether it is decisive: a mate, or a tablebase win or loss.
    pub fn is_decisive(self) -> bool {
        self.0.abs() > LARGEST_ESTIMATE
    }

    /// The total order of values.
    pub fn order(self, other: Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Neg for Value {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

/// In UCI notation: `cp 31` or `mate -2`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.moves_to_mate() {
            Some(moves) => write!(f, "mate {moves}"),
            None => write!(f, "cp {}", self.centipawns()),
        }
    }
}

/// How a score relates to the true score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at most this.
    Upper,
    /// The true score is at least this.
    Lower,
    /// The score is exact.
    #[default]
    Exact,
}

impl Bound {
    /// The bound type of `score`, returned by a search with the window `alpha`..`beta`.
    pub(super) fn of<T: PartialOrd + Copy>(score: T, alpha: T, beta: T) -> Self {
        match score {
            _ if score >= beta => Self::Lower,
            _ if score > alpha => Self::Exact,
            _ => Self::Upper,
        }
    }
}

/// The bound from the other side's view.
impl Neg for Bound {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            Self::Exact => Self::Exact,
        }
    }
}

/// The static evaluation of a position `ply` plies from the root; exact if the game is over.
pub fn static_value(evaluator: &mut Evaluator, position: &Position, ply: u32) -> Result<Value> {
    let board = position.board();
    Ok(match terminal_value(board, ply, position.history()) {
        Some(value) => value,
        None => Value::estimate(evaluator.value(board)?),
    })
}

/// The value of a finished game: mate, stalemate, the 50-move rule, insufficient material, or a
/// repetition. A position that occurred after the root counts as drawn at its second occurrence, an
/// earlier one at its third. `keys` are those of the previous positions, the last one 1 ply back,
/// as far back as the position can repeat them; `ply` counts from the root.
pub fn terminal_value(board: &Board, ply: u32, keys: &[u64]) -> Option<Value> {
    if !board.generate_moves(|_| true) {
        let mated = !board.checkers().is_empty();
        return Some(if mated { Value::mated_in(ply) } else { Value::DRAW });
    }
    is_drawn(board, ply, keys).then_some(Value::DRAW)
}

/// Whether a position is drawn other than by stalemate, with arguments as for [`terminal_value`];
/// at the hundredth half-move, mate takes precedence.
pub fn is_drawn(board: &Board, ply: u32, keys: &[u64]) -> bool {
    let clock = usize::from(board.halfmove_clock());
    if insufficient_material(board) {
        return true;
    }
    if clock >= 100 {
        return board.checkers().is_empty() || board.generate_moves(|_| true);
    }
    if clock < 4 {
        return false;
    }
    let key = repetition_key(board);
    // Only every second position has the same side to move.
    let mut repeats = (4..=clock.min(keys.len()))
        .step_by(2)
        .filter(|distance| keys[keys.len() - distance] == key);
    let latest = repeats.next();
    latest.is_some_and(|latest| latest <= ply as usize || repeats.next().is_some())
}

/// Repetition keys of the positions before the children of `board`, oldest first, as far back as a
/// child can repeat them. `line` has those of the board and of the line to it, latest first, and
/// `game` those before the line, oldest first.
pub fn keys_before_children(
    board: &Board,
    line: impl Iterator<Item = u64>,
    game: &[u64],
) -> Vec<u64> {
    let reach = usize::from(board.halfmove_clock()) + 1;
    let mut keys: Vec<u64> = line.chain(game.iter().rev().copied()).take(reach).collect();
    keys.reverse();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_mates_come_first() {
        let (soon, late) = (-Value::mated_in(1), -Value::mated_in(3));
        assert!(soon > late && late > Value::estimate(1.0));
        assert_eq!((soon.moves_to_mate(), late.moves_to_mate()), (Some(1), Some(2)));
        assert_eq!(Value::mated_in(2).to_string(), "mate -1");
        assert_eq!(Value::mated_in(0).moves_to_mate(), Some(0));
        assert!(Value::mated_in(2) < Value::mated_in(4));
        assert!(Value::mated_in(2) < Value::estimate(-1.0));
        assert_eq!(Value::mated_in(2).seen_from_before(3), Value::mated_in(5));
        assert_eq!((-Value::mated_in(2)).seen_from_before(3), -Value::mated_in(5));
        assert_eq!(Value::estimate(0.5).seen_from_before(3), Value::estimate(0.5));
        assert_eq!((late.plies_to_mate(), Value::DRAW.plies_to_mate()), (Some(3), None));
    }

    #[test]
    fn tablebase_wins_lie_between_estimates_and_mates() {
        let win = -Value::tablebase_loss_in(3);
        assert!(win > Value::estimate(1.0) && win < -Value::mated_in(100));
        assert_eq!((win.moves_to_mate(), win.is_decisive()), (None, true));
        assert_eq!(win.to_string(), "cp 19997");
        assert_eq!(Value::tablebase_loss_in(0).to_string(), "cp -20000");
    }

    #[test]
    fn centipawns_follow_the_win_probability() {
        assert_eq!(Value::DRAW.to_string(), "cp 0");
        // p = 1 / (1 + exp(-0.368208)) is one pawn.
        assert_eq!(Value::estimate(2.0 * 0.591_026 - 1.0).to_string(), "cp 100");
        assert_eq!(Value::estimate(1.0).to_string(), "cp 15000");
    }
}
