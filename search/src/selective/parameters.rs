//! The settings of the selective search: its techniques, which can be switched off to measure their
//! effect, and its numbers, in plies and centipawns. Those that a match can set are parameters; the
//! constants limit the depths and moves that a technique applies to.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use anyhow::{Context, Error, Result, anyhow, ensure};
use clap::ValueEnum;

use crate::names::{name_of, names_of};

/// Settings of the selective search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveSettings {
    /// Maximum depth in plies if the limits name none; 6 by default.
    pub depth: u32,
    /// The techniques that it uses.
    pub parts: Parts,
    /// The margins, reductions and bonuses.
    pub parameters: SearchParameters,
}

impl Default for SelectiveSettings {
    fn default() -> Self {
        Self { depth: 6, parts: Parts::default(), parameters: SearchParameters::default() }
    }
}

/// A technique of the selective search. A match can leave it out.
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

/// Aspiration windows: the depth from which the window is narrow, and the distance of its bounds
/// from the score, in centipawns, beyond which it is opened completely.
pub const ASPIRATION_MIN_DEPTH: i32 = 4;
pub const ASPIRATION_MAX_DELTA: i32 = 600;

/// Maximum depth at which the transposition table causes only expected cutoffs.
pub const EXPECTED_CUTOFF_MAX_DEPTH: i32 = 5;

/// Maximum depth of reverse futility pruning.
pub const REVERSE_FUTILITY_MAX_DEPTH: i32 = 8;

/// Maximum depth of razoring.
pub const RAZORING_MAX_DEPTH: i32 = 2;

/// Minimum depth of null move pruning.
pub const NULL_MOVE_MIN_DEPTH: i32 = 3;

/// Minimum depth of internal iterative reduction, for nodes without a table move.
pub const IIR_MIN_DEPTH: i32 = 4;

/// Maximum reduced depth of futility pruning.
pub const FUTILITY_MAX_DEPTH: i32 = 7;

/// Maximum depth of SEE pruning.
pub const SEE_PRUNING_MAX_DEPTH: i32 = 8;

/// ProbCut: minimum depth, and plies by which its searches are reduced.
pub const PROBCUT_MIN_DEPTH: i32 = 5;
pub const PROBCUT_REDUCTION: i32 = 4;

/// Minimum depth of singular extensions.
pub const SINGULAR_MIN_DEPTH: i32 = 7;

/// Quiescence search: maximum number of captures searched in a position; promotions are always
/// searched.
pub const QUIESCENCE_MAX_MOVES: i32 = 3;

/// Value of a pawn in centipawns.
pub const PAWN_VALUE: i32 = 100;

/// One ply in the units of late move reductions.
pub const LMR_ONE_PLY: i32 = 1024;

/// A number that a match can set.
struct Parameter {
    /// The name, in words with hyphens.
    name: String,
    default: i32,
    /// The valid values.
    range: RangeInclusive<i32>,
}

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident: $default:literal in $range:expr;)+) => {
        /// The numbers that a match can set. The text form is a comma-separated list of
        /// `name:value`, of those that differ from the defaults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct SearchParameters {
            $($(#[doc = $doc])+ pub $name: i32,)+
        }

        impl Default for SearchParameters {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl SearchParameters {
            /// All parameters with their values.
            fn values(&mut self) -> Vec<(Parameter, &mut i32)> {
                vec![$((
                    Parameter {
                        name: stringify!($name).replace('_', "-"),
                        default: $default,
                        range: $range,
                    },
                    &mut self.$name,
                )),+]
            }
        }
    };
}

parameters! {
    /// Aspiration windows: distance of both bounds from the last iteration's score, in centipawns.
    aspiration_delta: 30 in 5..=80;
    /// Reverse futility pruning: a node is cut off if its static evaluation exceeds beta by this
    /// many centipawns per ply of depth (one ply less if it is improving).
    reverse_futility_margin: 96 in 20..=300;
    /// Razoring: a node is left to quiescence search if its static evaluation is below alpha by
    /// this many centipawns per ply of depth.
    razoring_margin: 165 in 80..=800;
    /// Null move pruning: plies of reduction, in addition to a third of the depth.
    null_move_base: 3 in 2..=6;
    /// Null move pruning: centipawns of the static evaluation above beta that add a ply to the
    /// reduction, up to 3 plies.
    null_move_eval_divisor: 303 in 60..=600;
    /// Futility pruning: a quiet move is pruned if the static evaluation is below alpha by this
    /// many centipawns plus the margin.
    futility_base: 5 in 0..=500;
    /// Futility pruning: centipawns added per ply of reduced depth.
    futility_margin: 34 in 20..=350;
    /// Futility pruning: a capture is pruned if the static evaluation plus its static exchange
    /// value (at least 0) is below alpha by this many centipawns plus the margin.
    capture_futility_base: 227 in 0..=600;
    /// Futility pruning: centipawns added per ply of reduced depth.
    capture_futility_margin: 80 in 20..=350;
    /// History pruning: a quiet move is pruned if its history is below minus this value per ply of
    /// depth.
    history_pruning_margin: 7704 in 1000..=12000;
    /// Pruning by history: the amount of history that changes a quiet move's pruning depth by a
    /// ply.
    pruning_history_divisor: 10626 in 2048..=32768;
    /// ProbCut: centipawns above beta that a capture has to reach.
    probcut_margin: 305 in 60..=500;
    /// Delta pruning: centipawns that a capture can gain at most in addition to its victim.
    delta_margin: 244 in 40..=600;
    /// Quiescence search: minimum static exchange value of a capture, in pawns.
    quiescence_least_gain: 1 in 0..=2;
    /// Late move pruning: number of quiet moves searched at any depth, in hundredths.
    late_move_base: 596 in 100..=1500;
    /// Late move pruning: number of quiet moves added per ply of depth squared, in hundredths. The
    /// sum is halved if the static evaluation is not improving.
    late_move_factor: 203 in 40..=500;
    /// Late move reductions: base reduction, in hundredths of a ply.
    lmr_base: 181 in 0..=250;
    /// Late move reductions: divisor of the product of the logarithms of depth and move count, in
    /// hundredths.
    lmr_divisor: 220 in 120..=450;
    /// Added at expected cut nodes, in 1,024ths of a ply (as are all terms up to `lmr_killer`).
    lmr_cut_node: 1044 in 0..=3072;
    /// Added at expected cut nodes without a table move.
    lmr_no_table_move: 373 in 0..=2048;
    /// Added if the static evaluation is not improving.
    lmr_not_improving: 733 in 0..=2048;
    /// Subtracted on the principal variation.
    lmr_pv: 1350 in 0..=3072;
    /// Subtracted if the position is or was on a principal variation.
    lmr_was_pv: 970 in 0..=2048;
    /// Added if the table move is a capture or promotion.
    lmr_table_capture: 1086 in 0..=2048;
    /// Added if the next ply has had more than 3 beta cutoffs since the parent node was entered.
    lmr_cutoffs: 490 in 0..=2048;
    /// Subtracted for captures and promotions that lose no material.
    lmr_capture: 3022 in 0..=4096;
    /// Subtracted for checks.
    lmr_check: 839 in 0..=3072;
    /// Subtracted for killers.
    lmr_killer: 1193 in 0..=3072;
    /// Late move reductions: the amount of history that changes the reduction by a ply.
    lmr_history_divisor: 12251 in 2048..=32768;
    /// A reduced move that raises alpha is searched again a ply deeper than its full depth if its
    /// score exceeds alpha by this many centipawns.
    lmr_deeper_margin: 36 in 5..=200;
    /// Singular extensions: distance of all other moves' scores below the table's score, in 16ths
    /// of a centipawn per ply of depth.
    singular_margin: 6 in 4..=128;
    /// Singular extensions: further centipawns below it that extend the move by a second ply, off
    /// the principal variation.
    singular_double_margin: 62 in 0..=200;
    /// Hindsight: sum of the static evaluations before and after a reduced move (each for its side
    /// to move), in centipawns, above which the node is searched a ply less deep.
    hindsight_margin: 63 in 20..=400;
    /// Eval history: bonus per centipawn by which a quiet move improves the static evaluation, in
    /// 16ths.
    eval_history: 125 in 0..=1000;
    /// Eval history: largest change of the static evaluation that counts, in centipawns.
    eval_history_maximum: 90 in 10..=200;
    /// Weight of the move four plies back in the continuation history, in 16ths.
    history_fourth: 5 in 0..=32;
    /// Weight of the pawn history, in 16ths.
    history_pawns: 16 in 0..=32;
    /// Bonus of a quiet move that no reply refutes, in percent of a cutoff's bonus.
    history_unrefuted: 47 in 0..=200;
    /// Malus of a quiet move that a reply refutes, in percent of a cutoff's bonus.
    history_refuted: 50 in 0..=200;
    /// History bonus of a cutoff per ply of depth; 50 is subtracted from the product.
    history_bonus: 323 in 30..=500;
    /// Maximum history bonus of a cutoff.
    history_bonus_maximum: 1668 in 300..=5000;
    /// Malus of the moves tried before the one that caused a cutoff, in percent of its bonus.
    history_malus: 87 in 20..=300;
    /// Correction history: maximum correction by the pawns, in centipawns.
    correction_pawns: 53 in 0..=150;
    /// Correction history: maximum correction by the pieces of each side, in centipawns.
    correction_pieces: 49 in 0..=150;
    /// Correction history: maximum correction by the last two moves, in centipawns.
    correction_moves: 61 in 0..=150;
}

impl SearchParameters {
    /// Sets the parameter `name`. Fails if there is no such parameter, or if the value is out of
    /// range.
    fn set(&mut self, name: &str, value: i32) -> Result<()> {
        let found = self.values().into_iter().find(|(parameter, _)| parameter.name == name);
        let (Parameter { range, .. }, place) =
            found.with_context(|| format!("'{name}' is no parameter of the selective search"))?;
        ensure!(
            range.contains(&value),
            "{name} {value}: expected {} to {}",
            range.start(),
            range.end()
        );
        *place = value;
        Ok(())
    }

    /// Late move pruning: number of quiet moves searched at a node of `depth`.
    pub(super) fn late_move_count(&self, depth: i32, improving: bool) -> i32 {
        let count = (self.late_move_base + self.late_move_factor * depth * depth) / 100;
        if improving { count } else { count / 2 }
    }

    /// History bonus of a cutoff at `depth`.
    pub(super) fn history_bonus(&self, depth: i32) -> i32 {
        (self.history_bonus * depth - 50).min(self.history_bonus_maximum)
    }
}

impl fmt::Display for SearchParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = *self;
        let set =
            copy.values().into_iter().filter(|(parameter, value)| **value != parameter.default);
        let set = set.map(|(parameter, value)| format!("{}:{value}", parameter.name));
        f.write_str(&set.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for SearchParameters {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parameters = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, value) =
                word.split_once(':').with_context(|| format!("'{word}': expected name:value"))?;
            let value =
                value.parse().ok().with_context(|| format!("{name} '{value}': not a number"))?;
            parameters.set(name, value)?;
        }
        Ok(parameters)
    }
}

/// Number of depths and of move counts in the [`LateMoveTable`]; larger ones use the last slot.
const LOGARITHMS: usize = 64;

/// Late move reductions before adjustments, precomputed for every depth and move count.
pub struct LateMoveTable(Vec<i32>);

impl LateMoveTable {
    /// The table of `lmr_base` plus the product of the logarithms of depth and move count divided
    /// by `lmr_divisor`.
    pub fn new(parameters: &SearchParameters) -> Self {
        let [base, divisor] =
            [parameters.lmr_base, parameters.lmr_divisor].map(|n| f64::from(n) / 100.0);
        let logarithm = |number: usize| (number.max(1) as f64).ln();
        let of = |depth, count| base + logarithm(depth) * logarithm(count) / divisor;
        let all = 0..LOGARITHMS * LOGARITHMS;
        let plies = all.map(|index| of(index / LOGARITHMS, index % LOGARITHMS));
        Self(plies.map(|plies| (plies * f64::from(LMR_ONE_PLY)) as i32).collect())
    }

    /// The reduction of a move, in 1,024ths of a ply; `move_count` starts at 1.
    pub fn reduction(&self, depth: i32, move_count: i32) -> i32 {
        let within = |number: i32| (number.max(0) as usize).min(LOGARITHMS - 1);
        self.0[within(depth) * LOGARITHMS + within(move_count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_back_and_wrong_ones_named() -> Result<()> {
        let text = "reverse-futility-margin:140,lmr-base:75";
        let parameters: SearchParameters = text.parse()?;
        assert_eq!((parameters.reverse_futility_margin, parameters.lmr_base), (140, 75));
        assert_eq!(parameters.to_string(), text);
        assert_eq!(SearchParameters::default().to_string(), "");
        for (text, part) in [
            ("margin:3", "'margin' is no parameter"),
            ("lmr-base:x", "lmr-base 'x': not a number"),
            ("lmr-base:9999", "lmr-base 9999: expected 0 to 250"),
            ("lmr-base", "expected name:value"),
        ] {
            let error = text.parse::<SearchParameters>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
        for (parameter, _) in SearchParameters::default().values() {
            assert!(parameter.range.contains(&parameter.default), "{}", parameter.name);
        }
        Ok(())
    }
}
