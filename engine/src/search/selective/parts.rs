//! The techniques that the selective search is made of, each of which can be left out to measure what it
//! brings.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};
use clap::ValueEnum;

use crate::names::{name_of, names_of};

/// A technique of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Quiescence search: leaves are resolved by captures and promotions.
    Quiescence,
    /// Positions that were searched are remembered with their scores and best moves.
    TranspositionTable,
    /// Moves that were good elsewhere come first: killers, butterfly, continuation and capture history.
    History,
    /// Near the leaves only the first quiet moves are searched, and one way out of check.
    LateMovePruning,
    /// Late moves are searched less deep at first.
    LateMoveReductions,
    /// Nodes without a move of the transposition table are searched less deep.
    InternalIterativeReductions,
    /// A side that stands well even if it passes is not searched on.
    NullMovePruning,
    /// Near the leaves a side that stands far above the window is not searched on.
    ReverseFutilityPruning,
    /// Near the leaves a side that stands far below the window is left to quiescence search.
    Razoring,
    /// Near the leaves moves are dropped where the side stands too far below the window, and does not capture enough.
    FutilityPruning,
    /// In quiescence search captures are dropped that win too little to reach the window.
    DeltaPruning,
    /// Moves that lose material on their square are dropped near the leaves.
    SeePruning,
    /// A narrow window around the last iteration's score.
    AspirationWindows,
    /// Moves without which the position would be much worse are searched deeper.
    SingularExtensions,
    /// Near the leaves quiet moves are dropped that were bad elsewhere.
    HistoryPruning,
    /// Moves by which the transposition table cuts a node off count as good, too.
    TableHistory,
    /// Quiet moves count as good or bad by how much better or worse the encoder finds the position after them.
    EvalHistory,
    /// A move that was reduced much is searched deeper where its reply stands worse than thought, and less deep where it
    /// stands far better.
    Hindsight,
    /// A score beyond the window is moved towards it, the more the less deep the search.
    FailHighDamping,
    /// The static evaluation is corrected by what searches found in positions like it.
    CorrectionHistory,
    /// Nodes are cut off where a capture reaches well beyond the window in a search that is less deep.
    #[value(name = "probcut")]
    ProbCut,
    /// Butterfly history tells moves from and to attacked squares apart.
    ThreatHistory,
    /// Quiet moves that were good with the same pawns come first.
    PawnHistory,
    /// Quiet moves are pruned as if they were searched deeper where they were good elsewhere, less deep where bad.
    PruningByHistory,
    /// Near the leaves the transposition table cuts a node off only on the side that was expected.
    ExpectedCutoffs,
    /// In quiescence search only the first few captures are searched.
    QuiescenceMoveLimit,
}

/// Which techniques a search uses: all by default. Read and written as the names of those left out, with
/// commas between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    left_out: u32,
}

impl Parts {
    /// Only these.
    pub fn only(parts: &[Part]) -> Self {
        let left_out = Part::value_variants().iter().filter(|part| !parts.contains(part));
        Self { left_out: left_out.fold(0, |all, part| all | 1 << *part as u32) }
    }

    /// Whether `part` is used.
    pub fn has(self, part: Part) -> bool {
        self.left_out & 1 << part as u32 == 0
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = Part::value_variants().iter().filter(|part| !self.has(**part));
        let names: Vec<String> = left_out.map(name_of).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Parts {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut left_out = 0;
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let part = Part::from_str(name, false).map_err(|_| {
                let names = names_of::<Part>().join(", ");
                anyhow!("'{name}' is no part of the selective search: {names}")
            })?;
            left_out |= 1 << part as u32;
        }
        Ok(Self { left_out })
    }
}
