//! The result of a node of the search: an exact value if the game is over, otherwise that of its
//! best leaf.

use std::cmp::Ordering;

use anyhow::Result;
use azimuth::search::Value;
use cozy_chess::Color;

use super::judge::Judge;

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
