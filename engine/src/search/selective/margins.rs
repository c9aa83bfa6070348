//! The numbers of the selective search, in plies and centipawns.

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
pub(super) const ORDER_DEPTH: i32 = 3;

/// A quiet move that leads this far below the window is dropped, up to this depth.
pub(super) const QUIET_DEPTH: i32 = 7;
pub(super) const QUIET_BASE: i32 = 90;
pub(super) const QUIET: i32 = 90;

/// Moves that lose material are dropped up to this depth.
pub(super) const EXCHANGE_DEPTH: i32 = 8;

/// From this depth on a move may turn out to be the only one.
pub(super) const SINGULAR_DEPTH: i32 = 7;

/// What a capture brings beside the victim, at best.
pub(super) const CAPTURE: i32 = 200;

/// A pawn's worth of material.
pub(super) const PAWN: i32 = 100;

/// Quiet moves looked at with so many plies to go.
pub(super) fn width(depth: i32, improving: bool) -> i32 {
    let width = 3 + depth * depth;
    if improving { width } else { width / 2 }
}

/// Plies by which the move at `place`, from 1 on, is searched less deep, in 1,024ths.
pub(super) fn reduction(depth: i32, place: i32) -> i32 {
    let logarithm = |number: i32| f64::from(number.max(1)).ln();
    (1024.0 * (0.7 + logarithm(depth) * logarithm(place) / 2.3)) as i32
}
