//! The ideas that the selective search is made of, each of which can be left out to measure what it
//! brings.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};

/// An idea of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Leaves are resolved by captures and promotions.
    Captures,
    /// Positions that were searched are remembered with their scores and best moves.
    Table,
    /// Far from the leaves moves are ordered by the score of the position that they lead to.
    Order,
    /// Moves that were good elsewhere come first.
    History,
    /// Near the leaves only the first moves are looked at.
    Width,
    /// Late moves are searched less deep at first.
    Reductions,
    /// A side that stands well even if it passes is not searched on.
    NullMove,
    /// Near the leaves, scores far from the window end the search or drop a move.
    Futility,
    /// Moves that lose material on their square are dropped near the leaves.
    Exchange,
    /// The window around the last iteration's score.
    Aspiration,
    /// Moves without which the position would be much worse are searched deeper.
    Singular,
}

impl Part {
    /// All of them, with their names.
    pub const ALL: [(Self, &str); 11] = [
        (Self::Captures, "captures"),
        (Self::Table, "table"),
        (Self::Order, "order"),
        (Self::History, "history"),
        (Self::Width, "width"),
        (Self::Reductions, "reductions"),
        (Self::NullMove, "null-move"),
        (Self::Futility, "futility"),
        (Self::Exchange, "exchange"),
        (Self::Aspiration, "aspiration"),
        (Self::Singular, "singular"),
    ];
}

/// Which ideas a search uses: all by default. Read and written as the names of those left out, with
/// commas between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    left_out: u32,
}

impl Parts {
    /// Only these.
    pub fn only(parts: &[Part]) -> Self {
        let left_out = Part::ALL.iter().filter(|(part, _)| !parts.contains(part));
        Self { left_out: left_out.fold(0, |all, (part, _)| all | 1 << *part as u32) }
    }

    /// Whether `part` is used.
    pub fn has(self, part: Part) -> bool {
        self.left_out & 1 << part as u32 == 0
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = Part::ALL.into_iter().filter(|(part, _)| !self.has(*part));
        let names: Vec<&str> = left_out.map(|(_, name)| name).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Parts {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut left_out = 0;
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let known = Part::ALL.into_iter().find(|(_, known)| *known == name);
            let (part, _) = known.ok_or_else(|| {
                let names = Part::ALL.map(|(_, name)| name).join(", ");
                anyhow!("'{name}' is no part of the selective search: {names}")
            })?;
            left_out |= 1 << part as u32;
        }
        Ok(Self { left_out })
    }
}
