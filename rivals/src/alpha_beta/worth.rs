//! What a node of the search is worth to White: certain where the game is over, else what its best leaf is.

use std::cmp::Ordering;

use anyhow::Result;
use azimuth::search::Value;
use cozy_chess::Color;

use super::judge::Judge;

/// The worth of a node.
#[derive(Clone, Debug)]
pub enum Worth<L> {
    /// A game that is over, as White sees it.
    Certain(Value),
    /// A position at the end of a line.
    Leaf(L),
}

impl<L: Clone + Send> Worth<L> {
    /// Of a game that is over, `value` being that of the side to move.
    pub fn certain(value: Value, side_to_move: Color) -> Self {
        Self::Certain(if side_to_move == Color::White { value } else { -value })
    }

    /// Which is better for White.
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

    /// Whether it is better than `other` for `side`.
    pub fn is_better(
        &self,
        other: &Self,
        side: Color,
        judge: &mut dyn Judge<Leaf = L>,
    ) -> Result<bool> {
        let wanted = if side == Color::White { Ordering::Greater } else { Ordering::Less };
        Ok(self.compare(other, judge)? == wanted)
    }

    /// As the side to move at the root sees it.
    pub fn value(&self, side: Color, judge: &mut dyn Judge<Leaf = L>) -> Result<Value> {
        let of_white = match self {
            Self::Certain(value) => *value,
            Self::Leaf(leaf) => Value::estimate(judge.value(leaf)?),
        };
        Ok(if side == Color::White { of_white } else { -of_white })
    }
}
