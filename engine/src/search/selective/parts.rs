//! The techniques of the selective search. Each can be switched off to measure its effect.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};
use clap::ValueEnum;

use crate::names::{name_of, names_of};

/// A technique of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Quiescence search: captures and promotions are searched at the leaves.
    Quiescence,
    /// Searched positions are stored with their scores and best moves.
    TranspositionTable,
    /// Moves are ordered by their success elsewhere in the tree: killers, butterfly, continuation
    /// and capture history.
    History,
    /// Near the leaves only the first quiet moves are searched. In quiescence search, quiet and
    /// losing evasions of a check are skipped once an evasion avoids a certain loss.
    LateMovePruning,
    /// Moves late in the move order are first searched with reduced depth.
    LateMoveReductions,
    /// Nodes without a transposition table move are searched with reduced depth.
    InternalIterativeReductions,
    /// A node is cut off if a search of reduced depth reaches beta even after the side to move
    /// passes.
    NullMovePruning,
    /// Near the leaves a node is cut off if its static evaluation is far above beta.
    ReverseFutilityPruning,
    /// Near the leaves a node whose static evaluation is far below alpha is left to quiescence
    /// search.
    Razoring,
    /// Near the leaves moves are pruned if the static evaluation, plus the material that a capture
    /// wins, is far below alpha.
    FutilityPruning,
    /// In quiescence search captures are pruned if they win too little material to reach alpha.
    DeltaPruning,
    /// Near the leaves, moves that lose material by static exchange evaluation are pruned; in
    /// quiescence search, captures that gain too little by it.
    SeePruning,
    /// An iteration starts with a narrow window around the score of the last one.
    AspirationWindows,
    /// A table move is searched deeper if all other moves are much worse.
    SingularExtensions,
    /// Near the leaves quiet moves with a bad history are pruned.
    HistoryPruning,
    /// A quiet table move gets a history bonus if its table score causes a beta cutoff.
    TableHistory,
    /// Quiet moves get a history bonus or malus for the change of the static evaluation that they
    /// cause.
    EvalHistory,
    /// After a large reduction, a node is searched a ply deeper if the side to move has gained
    /// nothing by the last move, and a ply less deep if it has gained much.
    Hindsight,
    /// A score above beta is averaged with beta; the score has the weight `depth`, beta the weight
    /// 1.
    FailHighDamping,
    /// The static evaluation is corrected by the search scores of similar positions.
    CorrectionHistory,
    /// A node is cut off if a capture exceeds beta by a margin in a search of reduced depth.
    #[value(name = "probcut")]
    ProbCut,
    /// Butterfly history distinguishes moves from and to attacked squares.
    ThreatHistory,
    /// Quiet moves are also ordered by their success with the same pawn structure.
    PawnHistory,
    /// Pruning uses a larger depth for quiet moves with a good history and a smaller one for those
    /// with a bad history.
    PruningByHistory,
    /// Near the leaves the transposition table causes a cutoff only in the expected direction: high
    /// at cut nodes, low elsewhere.
    ExpectedCutoffs,
    /// In quiescence search only the first few captures are searched.
    QuiescenceMoveLimit,
}

/// The techniques that a search uses; by default, all. The text form is a comma-separated list of
/// the names of those that are switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    left_out: u32,
}

impl Parts {
    /// Uses only these techniques.
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
