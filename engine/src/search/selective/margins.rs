//! The numbers of the selective search, in plies and centipawns.

use std::sync::LazyLock;

/// From this depth on the window is narrow at first, and this wide to both sides.
pub(super) const ASPIRATION_DEPTH: i32 = 4;
pub(super) const ASPIRATION: i32 = 20;
/// A window wider than this is opened altogether.
pub(super) const WIDEST_ASPIRATION: i32 = 600;

/// A node that is `GOOD` a ply above the window is not searched, up to this depth.
pub(super) const GOOD_DEPTH: i32 = 8;
pub(super) const GOOD: i32 = 80;

/// A node that is `BAD` a ply below the window is resolved by captures, up to this depth.
pub(super) const BAD_DEPTH: i32 = 2;
pub(super) const BAD: i32 = 250;

/// From this depth on a side may pass, and for every step that it is ahead one ply less deep.
pub(super) const NULL_DEPTH: i32 = 3;
pub(super) const NULL_STEP: i32 = 200;

/// From this depth on a position without a known move is searched a ply less deep.
pub(super) const UNKNOWN_DEPTH: i32 = 4;

/// From this depth on all moves are scored before they are ordered.
pub(super) const ORDER_DEPTH: i32 = 6;

/// A quiet move that leads this far below the window is dropped, up to this depth.
pub(super) const QUIET_DEPTH: i32 = 7;
pub(super) const QUIET_BASE: i32 = 130;
pub(super) const QUIET: i32 = 110;

/// Moves that lose material are dropped up to this depth.
pub(super) const EXCHANGE_DEPTH: i32 = 8;

/// From this depth on a move may turn out to be the only one.
pub(super) const SINGULAR_DEPTH: i32 = 7;

/// What a capture brings beside the victim, at best.
pub(super) const CAPTURE: i32 = 200;

/// A pawn's worth of material.
pub(super) const PAWN: i32 = 100;

/// Moves are searched a ply less deep for so much of a bad history, and deeper for a good one.
pub(super) const HISTORY_PLY: i32 = 8192;

/// Quiet moves looked at with so many plies to go.
pub(super) fn width(depth: i32, improving: bool) -> i32 {
    let width = 6 + 2 * depth * depth;
    if improving { width } else { width / 2 }
}

/// 1.0 of a reduction.
pub(super) const PLY: i32 = 1024;

/// Depths and places with reductions of their own.
const LOGARITHMS: usize = 64;

/// Plies by which the move at `place`, from 1 on, is searched less deep, in 1,024ths.
pub(super) fn reduction(depth: i32, place: i32) -> i32 {
    static TABLE: LazyLock<Vec<i32>> = LazyLock::new(|| {
        let logarithm = |number: usize| (number.max(1) as f64).ln();
        let of = |depth, place| 0.9 + logarithm(depth) * logarithm(place) / 2.3;
        let all = 0..LOGARITHMS * LOGARITHMS;
        all.map(|index| of(index / LOGARITHMS, index % LOGARITHMS))
            .map(|plies| (plies * f64::from(PLY)) as i32)
            .collect()
    });
    let within = |number: i32| (number.max(0) as usize).min(LOGARITHMS - 1);
    TABLE[within(depth) * LOGARITHMS + within(place)]
}
