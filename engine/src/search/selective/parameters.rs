//! The tunable numbers of the selective search, in plies and centipawns, each under the name of its technique.

use std::sync::LazyLock;

/// Aspiration windows: from this depth on the window reaches this far to both sides of the score of the
/// iteration before, and is opened altogether once it would reach further than the maximum.
pub(super) const ASPIRATION_MIN_DEPTH: i32 = 4;
pub(super) const ASPIRATION_DELTA: i32 = 20;
pub(super) const ASPIRATION_MAX_DELTA: i32 = 600;

/// Reverse futility pruning: up to this depth a node that stands this far above beta for every ply is not
/// searched.
pub(super) const REVERSE_FUTILITY_MAX_DEPTH: i32 = 8;
pub(super) const REVERSE_FUTILITY_MARGIN: i32 = 80;

/// Razoring: up to this depth a node that stands this far below alpha for every ply is left to quiescence
/// search.
pub(super) const RAZORING_MAX_DEPTH: i32 = 2;
pub(super) const RAZORING_MARGIN: i32 = 250;

/// Null move pruning: from this depth on, a ply less deep for every so many centipawns above beta.
pub(super) const NULL_MOVE_MIN_DEPTH: i32 = 3;
pub(super) const NULL_MOVE_EVAL_DIVISOR: i32 = 200;

/// Internal iterative reduction: from this depth on, where the table has no move.
pub(super) const IIR_MIN_DEPTH: i32 = 4;

/// Move ordering by static evaluation: from this depth on the encoder scores all moves in one batch.
pub(super) const STATIC_ORDERING_MIN_DEPTH: i32 = 6;

/// Futility pruning: up to this depth a quiet move is dropped where the static evaluation lies this far below
/// alpha, and so much further for every ply.
pub(super) const FUTILITY_MAX_DEPTH: i32 = 7;
pub(super) const FUTILITY_BASE: i32 = 130;
pub(super) const FUTILITY_MARGIN: i32 = 110;

/// SEE pruning: up to this depth moves that lose material are dropped.
pub(super) const SEE_PRUNING_MAX_DEPTH: i32 = 8;

/// Singular extensions: from this depth on.
pub(super) const SINGULAR_MIN_DEPTH: i32 = 7;

/// Delta pruning: what a capture brings beside its victim, at best.
pub(super) const DELTA_MARGIN: i32 = 200;

/// A pawn's worth of material.
pub(super) const PAWN_VALUE: i32 = 100;

/// Late move reductions: a ply less for every so much of a good history, more for a bad one.
pub(super) const LMR_HISTORY_DIVISOR: i32 = 8192;

/// Late move pruning: quiet moves that are searched at a node of `depth`.
pub(super) fn late_move_count(depth: i32, improving: bool) -> i32 {
    let count = 6 + 2 * depth * depth;
    if improving { count } else { count / 2 }
}

/// 1.0 of a late move reduction.
pub(super) const LMR_ONE_PLY: i32 = 1024;

/// Depths and move counts with reductions of their own.
const LOGARITHMS: usize = 64;

/// Late move reduction of the move number `move_count`, from 1 on, before adjustments, in 1,024ths of a ply.
pub(super) fn late_move_reduction(depth: i32, move_count: i32) -> i32 {
    static TABLE: LazyLock<Vec<i32>> = LazyLock::new(|| {
        let logarithm = |number: usize| (number.max(1) as f64).ln();
        let of = |depth, count| 0.9 + logarithm(depth) * logarithm(count) / 2.3;
        let all = 0..LOGARITHMS * LOGARITHMS;
        all.map(|index| of(index / LOGARITHMS, index % LOGARITHMS))
            .map(|plies| (plies * f64::from(LMR_ONE_PLY)) as i32)
            .collect()
    });
    let within = |number: i32| (number.max(0) as usize).min(LOGARITHMS - 1);
    TABLE[within(depth) * LOGARITHMS + within(move_count)]
}
