//! How alpha-beta compares positions: by a [`Judge`], or by a number, their value to White. The
//! result of a node.

use std::cmp::Ordering;

use anyhow::Result;
use azimuth_search::Value;
use cozy_chess::{Board, Color, Move};

/// Compares positions, from White's point of view.
pub trait Judge: Send {
    /// The representation of a position that is compared: a value, or a code.
    type Leaf: Clone + Send;

    /// Number of positions to judge at a time. A network is faster on several positions together,
    /// but after a cutoff the search discards the rest of them.
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

    /// The order of two positions: `Greater` if `a` is better for White.
    fn compare(&mut self, a: &Self::Leaf, b: &Self::Leaf) -> Result<Ordering>;

    /// The order of a position and a draw: `Greater` if the position is better for White.
    fn compare_with_draw(&mut self, leaf: &Self::Leaf) -> Result<Ordering>;

    /// White's expected score, in [-1, 1].
    fn value(&mut self, leaf: &Self::Leaf) -> Result<f32>;
}

/// The result of a node.
#[derive(Clone, Debug)]
pub enum Worth<L> {
    /// The exact value of a game that is over, from White's point of view.
    Certain(Value),
    /// The position at the end of a line, in the judge's representation.
    Leaf(L),
}

impl<L: Clone + Send> Worth<L> {
    /// The result of a game that is over. `value` is that of the side to move.
    pub fn certain(value: Value, side_to_move: Color) -> Self {
        Self::Certain(if side_to_move == Color::White { value } else { -value })
    }

    /// The order of two results: `Greater` if `self` is better for White.
    pub fn compare(&self, other: &Self, judge: &mut dyn Judge<Leaf = L>) -> Result<Ordering> {
        let beside_leaf = |value: Value, leaf: &L, judge: &mut dyn Judge<Leaf = L>| {
            let decided = value.order(Value::DRAW);
            match decided {
                Ordering::Equal => Ok(judge.compare_with_draw(leaf)?.reverse()),
                _ => Ok::<_, anyhow::Error>(decided),
            }
        };
        Ok(match (self, other) {
            (Self::Certain(a), Self::Certain(b)) => a.order(*b),
            (Self::Leaf(a), Self::Leaf(b)) => judge.compare(a, b)?,
            (Self::Certain(value), Self::Leaf(leaf)) => beside_leaf(*value, leaf, judge)?,
            (Self::Leaf(leaf), Self::Certain(value)) => beside_leaf(*value, leaf, judge)?.reverse(),
        })
    }

    /// Whether this result is better than `other` for `side`.
    pub fn is_better(
        &self,
        other: &Self,
        side: Color,
        judge: &mut dyn Judge<Leaf = L>,
    ) -> Result<bool> {
        let wanted = if side == Color::White { Ordering::Greater } else { Ordering::Less };
        Ok(self.compare(other, judge)? == wanted)
    }

    /// The value from the point of view of `side`, the side to move at the root.
    pub fn value(&self, side: Color, judge: &mut dyn Judge<Leaf = L>) -> Result<Value> {
        let of_white = match self {
            Self::Certain(value) => *value,
            Self::Leaf(leaf) => Value::estimate(judge.value(leaf)?),
        };
        Ok(if side == Color::White { of_white } else { -of_white })
    }
}

/// Estimates the value of positions to White, in [-1, 1]; 0 is a draw.
pub trait Evaluates: Send {
    /// Number of positions to evaluate at a time, as in [`Judge::at_once`].
    fn at_once(&self) -> usize {
        1
    }

    /// The search enters `board`, a child of `_from`. `None` means that `board` is the root.
    fn enter(&mut self, _from: Option<&Board>, _board: &Board) {}

    /// The search leaves the board that it entered last.
    fn leave(&mut self) {}

    /// The values of `children`: moves of `parent`, the board entered last, with the positions
    /// after them. The game is not over in any of these positions.
    fn evaluate_children(&mut self, parent: &Board, children: &[(Move, Board)])
    -> Result<Vec<f32>>;

    /// The value of a single position, in which the game is not over.
    fn evaluate(&mut self, board: &Board) -> Result<f32>;
}

/// The [`Judge`] that compares positions by the values of an [`Evaluates`].
pub struct Evaluation<E>(pub E);

impl<E: Evaluates> Judge for Evaluation<E> {
    type Leaf = f32;

    fn at_once(&self) -> usize {
        self.0.at_once()
    }

    fn enter(&mut self, from: Option<&Board>, board: &Board) {
        self.0.enter(from, board);
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
        self.0.evaluate_children(parent, children)
    }

    fn leaf(&mut self, board: &Board) -> Result<f32> {
        self.0.evaluate(board)
    }

    fn compare(&mut self, a: &f32, b: &f32) -> Result<Ordering> {
        Ok(a.total_cmp(b))
    }

    fn compare_with_draw(&mut self, leaf: &f32) -> Result<Ordering> {
        Ok(leaf.total_cmp(&0.0))
    }

    fn value(&mut self, leaf: &f32) -> Result<f32> {
        Ok(*leaf)
    }
}
