//! How alpha-beta compares positions: a [`Judge`] represents each as a [`Leaf`]. The result of a
//! node.

use std::cmp::Ordering;

use anyhow::Result;
use azimuth_search::Value;
use cozy_chess::{Board, Color, Move};

/// The representation of a position that is compared, from White's point of view: its value, or a
/// code.
pub trait Leaf: Clone + Send {
    /// The order of two positions: `Greater` if this one is better for White.
    fn compare(&self, other: &Self) -> Result<Ordering>;

    /// The order of the position and a draw: `Greater` if the position is better for White.
    fn compare_with_draw(&self) -> Result<Ordering>;

    /// White's expected score, in [-1, 1].
    fn value(&self) -> Result<f32>;
}

/// The value of a position to White, in [-1, 1]; 0 is a draw.
impl Leaf for f32 {
    fn compare(&self, other: &f32) -> Result<Ordering> {
        Ok(self.total_cmp(other))
    }

    fn compare_with_draw(&self) -> Result<Ordering> {
        Ok(self.total_cmp(&0.0))
    }

    fn value(&self) -> Result<f32> {
        Ok(*self)
    }
}

/// Represents positions.
pub trait Judge: Send {
    /// The representation.
    type Leaf: Leaf;

    /// Number of positions to represent at a time. A network is faster on several positions
    /// together, but after a cutoff the search discards the rest of them.
    fn at_once(&self) -> usize {
        1
    }

    /// The search enters `board`, a child of `_from`. `None` means that `board` is the root.
    fn enter(&mut self, _from: Option<&Board>, _board: &Board) {}

    /// The search leaves the board that it entered last.
    fn leave(&mut self) {}

    /// The representations of `children`: moves of `parent`, the board entered last, with the
    /// positions after them. The game is not over in any of these positions.
    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<Self::Leaf>>;

    /// The representation of a single position, in which the game is not over.
    fn leaf(&mut self, board: &Board) -> Result<Self::Leaf>;
}

/// The result of a node.
#[derive(Clone, Debug)]
pub enum Worth<L> {
    /// The exact value of a game that is over, from White's point of view.
    Certain(Value),
    /// The position at the end of a line.
    Leaf(L),
}

impl<L: Leaf> Worth<L> {
    /// The result of a game that is over. `value` is that of the side to move.
    pub fn certain(value: Value, side_to_move: Color) -> Self {
        Self::Certain(if side_to_move == Color::White { value } else { -value })
    }

    /// The order of two results: `Greater` if `self` is better for White.
    fn compare(&self, other: &Self) -> Result<Ordering> {
        let beside_leaf = |value: &Value, leaf: &L| match value.order(Value::DRAW) {
            Ordering::Equal => Ok(leaf.compare_with_draw()?.reverse()),
            decided => Ok::<_, anyhow::Error>(decided),
        };
        Ok(match (self, other) {
            (Self::Certain(a), Self::Certain(b)) => a.order(*b),
            (Self::Leaf(a), Self::Leaf(b)) => a.compare(b)?,
            (Self::Certain(value), Self::Leaf(leaf)) => beside_leaf(value, leaf)?,
            (Self::Leaf(leaf), Self::Certain(value)) => beside_leaf(value, leaf)?.reverse(),
        })
    }

    /// Whether this result is better than `other` for `side`.
    pub fn is_better(&self, other: &Self, side: Color) -> Result<bool> {
        let wanted = if side == Color::White { Ordering::Greater } else { Ordering::Less };
        Ok(self.compare(other)? == wanted)
    }

    /// The value from the point of view of `side`.
    pub fn value(&self, side: Color) -> Result<Value> {
        let of_white = match self {
            Self::Certain(value) => *value,
            Self::Leaf(leaf) => Value::estimate(leaf.value()?),
        };
        Ok(if side == Color::White { of_white } else { -of_white })
    }
}
