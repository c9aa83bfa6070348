//! The numbers of the selective search, in plies and centipawns, each under the name of its technique. Those that games
//! can tune (`azimuth-bench tune`) are settings of the search; the others say where a technique begins or ends.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use anyhow::{Context, Error, Result, ensure};

/// Aspiration windows: from this depth on the window is narrow, and is opened altogether once it would reach further
/// than the maximum.
pub(super) const ASPIRATION_MIN_DEPTH: i32 = 4;
pub(super) const ASPIRATION_MAX_DELTA: i32 = 600;

/// Up to this depth the transposition table cuts off only where that was expected.
pub(super) const EXPECTED_CUTOFF_MAX_DEPTH: i32 = 5;

/// Up to this depth there is reverse futility pruning.
pub(super) const REVERSE_FUTILITY_MAX_DEPTH: i32 = 8;

/// Up to this depth there is razoring.
pub(super) const RAZORING_MAX_DEPTH: i32 = 2;

/// Null move pruning: from this depth on.
pub(super) const NULL_MOVE_MIN_DEPTH: i32 = 3;

/// Internal iterative reduction: from this depth on, where the table has no move.
pub(super) const IIR_MIN_DEPTH: i32 = 4;

/// Up to this depth there is futility pruning.
pub(super) const FUTILITY_MAX_DEPTH: i32 = 7;

/// SEE pruning: up to this depth moves that lose material are dropped.
pub(super) const SEE_PRUNING_MAX_DEPTH: i32 = 8;

/// ProbCut: from this depth on, by searches so many plies less deep.
pub(super) const PROBCUT_MIN_DEPTH: i32 = 5;
pub(super) const PROBCUT_REDUCTION: i32 = 4;

/// Singular extensions: from this depth on.
pub(super) const SINGULAR_MIN_DEPTH: i32 = 7;

/// Quiescence search: so many captures of a position are searched.
pub(super) const QUIESCENCE_MAX_MOVES: i32 = 3;

/// A pawn's worth of material.
pub(super) const PAWN_VALUE: i32 = 100;

/// A ply, in the units of late move reductions.
pub(super) const LMR_ONE_PLY: i32 = 1024;

/// A number that can be tuned.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As it is written, in words with hyphens.
    pub name: String,
    /// What the search uses where nothing else is said.
    pub default: i32,
    /// What it may be set to.
    pub range: RangeInclusive<i32>,
}

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident: $default:literal in $range:expr;)+) => {
        /// The tunable numbers. Read and written as `name:value`, of those that are not the usual ones, with commas
        /// between.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Parameters {
            $($(#[doc = $doc])+ pub $name: i32,)+
        }

        impl Default for Parameters {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Parameters {
            /// All of them.
            pub fn all() -> Vec<Parameter> {
                vec![$(Parameter {
                    name: stringify!($name).replace('_', "-"),
                    default: $default,
                    range: $range,
                }),+]
            }

            fn place(&mut self, name: &str) -> Option<&mut i32> {
                match name.replace('-', "_").as_str() {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

parameters! {
    /// Aspiration windows reach this far to both sides of the score of the iteration before.
    aspiration_delta: 30 in 5..=80;
    /// A node that stands this far above beta for every ply is not searched.
    reverse_futility_margin: 96 in 20..=300;
    /// A node that stands this far below alpha for every ply is left to quiescence search.
    razoring_margin: 165 in 80..=800;
    /// The null move's search is this many plies less deep,
    null_move_base: 3 in 2..=6;
    /// and a ply more for every so much above beta.
    null_move_eval_divisor: 303 in 60..=600;
    /// A quiet move is dropped where the static evaluation lies this far below alpha,
    futility_base: 5 in 0..=500;
    /// and so much further for every ply.
    futility_margin: 34 in 20..=350;
    /// A capture is dropped where the static evaluation and the victim lie this far below alpha,
    capture_futility_base: 227 in 0..=600;
    /// and so much further for every ply.
    capture_futility_margin: 80 in 20..=350;
    /// A quiet move is dropped whose history is this bad for every ply.
    history_pruning_margin: 7704 in 1000..=12000;
    /// Pruning by history: a quiet move counts as searched a ply deeper for every so much of a good history.
    pruning_history_divisor: 10626 in 2048..=32768;
    /// ProbCut: how far beyond beta a capture has to reach.
    probcut_margin: 305 in 60..=500;
    /// Delta pruning: what a capture brings beside its victim, at best.
    delta_margin: 244 in 40..=600;
    /// Quiescence search: what a capture has to win on its square, in pawns.
    quiescence_least_gain: 1 in 0..=2;
    /// Late move pruning: so many quiet moves are searched at any depth, in hundredths,
    late_move_base: 596 in 100..=1500;
    /// and so many more for every ply squared.
    late_move_factor: 203 in 40..=500;
    /// Late move reductions: what every late move is reduced by, in hundredths of a ply,
    lmr_base: 181 in 0..=250;
    /// and what the product of the logarithms of depth and move count is divided by, in hundredths.
    lmr_divisor: 220 in 120..=450;
    /// More where the node is expected to be cut off, in 1,024ths of a ply,
    lmr_cut_node: 1044 in 0..=3072;
    /// more yet where the table has no move for it,
    lmr_no_table_move: 373 in 0..=2048;
    /// and where the static evaluation has not risen;
    lmr_not_improving: 733 in 0..=2048;
    /// less on the principal variation,
    lmr_pv: 1350 in 0..=3072;
    /// less where the position has been on it,
    lmr_was_pv: 970 in 0..=2048;
    /// more where the table's move is a capture,
    lmr_table_capture: 1086 in 0..=2048;
    /// and where more than three of the replies to the moves before were cut off;
    lmr_cutoffs: 490 in 0..=2048;
    /// less of captures that lose nothing,
    lmr_capture: 3022 in 0..=4096;
    /// of checks,
    lmr_check: 839 in 0..=3072;
    /// of killers,
    lmr_killer: 1193 in 0..=3072;
    /// and a ply less for every so much of a good history, more for a bad one.
    lmr_history_divisor: 12251 in 2048..=32768;
    /// A late move is searched a ply deeper than it would have been where it turns out this far above alpha.
    lmr_deeper_margin: 36 in 5..=200;
    /// Singular extensions: how far all other moves stay below the table's score, in 16ths of a centipawn for every
    /// ply.
    singular_margin: 6 in 4..=128;
    /// Another ply where they stay this much further below it, off the principal variation.
    singular_double_margin: 62 in 0..=200;
    /// Hindsight: a node stands far better than thought where both sides' evaluations add up to this.
    hindsight_margin: 63 in 20..=400;
    /// Eval history: what a quiet move gains for every centipawn by which it bettered the position, in 16ths,
    eval_history: 125 in 0..=1000;
    /// and centipawns at most.
    eval_history_maximum: 90 in 10..=200;
    /// What the fourth move before counts in continuation history, in 16ths.
    history_fourth: 5 in 0..=32;
    /// What pawn history counts, in 16ths.
    history_pawns: 16 in 0..=32;
    /// What a quiet move gains that no reply refutes, in hundredths of what a cutoff counts.
    history_unrefuted: 47 in 0..=200;
    /// What it loses where one does.
    history_refuted: 50 in 0..=200;
    /// What a cutoff counts in the histories for every ply,
    history_bonus: 323 in 30..=500;
    /// and at most.
    history_bonus_maximum: 1668 in 300..=5000;
    /// What a move tried before it loses by it, in hundredths of that.
    history_malus: 87 in 20..=300;
    /// Correction history: centipawns at most by the pawns,
    correction_pawns: 53 in 0..=150;
    /// by the pieces of each side,
    correction_pieces: 49 in 0..=150;
    /// and by the last two moves.
    correction_moves: 61 in 0..=150;
}

impl Parameters {
    /// The value under `name`.
    pub fn get(&self, name: &str) -> Result<i32> {
        let (Parameter { name, .. }, mut copy) = (Self::checked(name)?, *self);
        copy.place(&name).map(|value| *value).with_context(|| unknown(&name))
    }

    /// Sets the value under `name`. Fails where there is none, or where it may not be so large or so small.
    pub fn set(&mut self, name: &str, value: i32) -> Result<()> {
        let Parameter { name, range, .. } = Self::checked(name)?;
        ensure!(
            range.contains(&value),
            "{name} {value}: expected {} to {}",
            range.start(),
            range.end()
        );
        if let Some(place) = self.place(&name) {
            *place = value;
        }
        Ok(())
    }

    fn checked(name: &str) -> Result<Parameter> {
        let mut all = Self::all().into_iter();
        all.find(|parameter| parameter.name == name).with_context(|| unknown(name))
    }

    /// Late move pruning: quiet moves that are searched at a node of `depth`.
    pub(super) fn late_move_count(&self, depth: i32, improving: bool) -> i32 {
        let count = (self.late_move_base + self.late_move_factor * depth * depth) / 100;
        if improving { count } else { count / 2 }
    }

    /// What a cutoff of a search this deep counts in the histories.
    pub(super) fn history_bonus(&self, depth: i32) -> i32 {
        (self.history_bonus * depth - 50).min(self.history_bonus_maximum)
    }
}

fn unknown(name: &str) -> String {
    format!("'{name}' is no parameter of the selective search")
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = Self::all().into_iter().filter_map(|parameter| {
            let value = self.get(&parameter.name).ok()?;
            (value != parameter.default).then(|| format!("{}:{value}", parameter.name))
        });
        write!(f, "{}", set.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Parameters {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_back_and_wrong_ones_named() -> Result<()> {
        let text = "reverse-futility-margin:140,lmr-base:75";
        let parameters: Parameters = text.parse()?;
        assert_eq!((parameters.reverse_futility_margin, parameters.lmr_base), (140, 75));
        assert_eq!(parameters.to_string(), text);
        assert_eq!(Parameters::default().to_string(), "");
        for (text, part) in [
            ("margin:3", "'margin' is no parameter"),
            ("lmr-base:x", "lmr-base 'x': not a number"),
            ("lmr-base:9999", "lmr-base 9999: expected 0 to 250"),
            ("lmr-base", "expected name:value"),
        ] {
            let error = text.parse::<Parameters>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
        for parameter in Parameters::all() {
            assert!(parameter.range.contains(&parameter.default), "{}", parameter.name);
        }
        Ok(())
    }
}
