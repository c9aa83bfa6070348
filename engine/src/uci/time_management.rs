//! Allocates time to a move.

use std::time::Duration;

use cozy_chess::Color;

use super::command::Go;
use crate::search::TimeLimit;

/// Number of moves that are expected if `movestogo` is missing.
const EXPECTED_MOVES: u32 = 30;

/// A move takes at most this fraction (1/4) of the spare time, and at most 4 times its share.
const LARGEST_SHARE: u32 = 4;

/// Number of move overheads in reserve, so that a short stall of the machine does not lose the
/// game.
const RESERVED_OVERHEADS: u32 = 6;

/// Fraction of a move's share after which no iteration starts. An iteration takes about as long as
/// all before it.
const SOFT_SHARE: f64 = 0.6;

/// At most 1/25 of a `movetime` is reserved, because each move gets a new one. (Stockfish reserves
/// nothing of it.)
const MOVETIME_KEPT_BACK: u32 = 25;

/// Time limits for this move, with `overhead` reserved; `None` if no clock runs.
pub fn budget(go: &Go, side: Color, overhead: Duration) -> Option<TimeLimit> {
    let own = match side {
        Color::White => 0,
        Color::Black => 1,
    };
    if let Some(time) = go.move_time {
        let hard = time - overhead.min(time / MOVETIME_KEPT_BACK);
        return Some(TimeLimit { soft: hard, hard });
    }
    let clock = go.time[own]?;
    let left = clock.saturating_sub(overhead);
    let moves = go.moves_to_go.unwrap_or(EXPECTED_MOVES).clamp(1, EXPECTED_MOVES);
    let (share, largest) = match moves {
        // The time control ends with this move, so all time may be used except a reserve for stalls
        // of the machine.
        1 => {
            let all = left - (overhead * RESERVED_OVERHEADS).min(left / 2);
            (all, all)
        }
        _ => {
            let reserve = overhead * RESERVED_OVERHEADS;
            let spare = clock.saturating_sub(reserve);
            // Stalls have used a part of the reserve: the increment fills it again.
            let filled = if clock < reserve { clock.div_duration_f64(reserve) } else { 1.0 };
            let increment = go.increment[own].mul_f64(filled);
            (spare / moves + increment.mul_f64(0.75), spare / LARGEST_SHARE + increment / 2)
        }
    };
    let hard = largest.min(share * LARGEST_SHARE).min(left);
    Some(TimeLimit { soft: share.min(hard).mul_f64(SOFT_SHARE), hard })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(milliseconds: u64, increment: u64, moves_to_go: Option<u32>) -> Go {
        Go {
            time: [Some(Duration::from_millis(milliseconds)); 2],
            increment: [Duration::from_millis(increment); 2],
            moves_to_go,
            ..Go::default()
        }
    }

    #[test]
    fn a_move_never_takes_the_whole_clock() {
        let overhead = Duration::from_millis(30);
        for milliseconds in [0, 10, 40, 100, 1000, 60_000] {
            for increment in [0, 10, 10_000] {
                for moves in [None, Some(1), Some(2), Some(40)] {
                    let go = clock(milliseconds, increment, moves);
                    let limit = budget(&go, Color::White, overhead).expect("a clock");
                    let left = Duration::from_millis(milliseconds).saturating_sub(overhead);
                    assert!(limit.hard <= left, "{milliseconds} {increment} {moves:?}: {limit:?}");
                    assert!(limit.soft <= limit.hard);
                }
            }
        }
    }

    #[test]
    fn a_clock_with_an_increment_never_runs_down() {
        let (overhead, increment) = (Duration::from_millis(30), Duration::from_millis(10));
        let mut left = Duration::from_secs(1);
        for _ in 0..500 {
            let milliseconds = left.as_millis() as u64;
            let limit = budget(&clock(milliseconds, 10, None), Color::White, overhead);
            // The GUI measures 1 ms more than the engine.
            let used = limit.expect("a clock").hard + Duration::from_millis(1);
            left = (left - used) + increment;
            assert!(left > Duration::from_millis(150), "{left:?}");
        }
    }

    #[test]
    fn the_increment_fills_the_reserve_again() {
        let used = |milliseconds| {
            let limit =
                budget(&clock(milliseconds, 10, None), Color::White, Duration::from_millis(30));
            limit.expect("a clock").hard.as_micros()
        };
        assert_eq!(used(180), 5_000);
        assert_eq!(used(90), 2_500);
        assert_eq!(used(40), 1_111);
    }

    #[test]
    fn the_last_move_before_a_new_clock_leaves_the_reserve() {
        let hard = |milliseconds| {
            let limit =
                budget(&clock(milliseconds, 0, Some(1)), Color::White, Duration::from_millis(30));
            limit.expect("a clock").hard.as_millis()
        };
        assert_eq!(hard(1030), 1000 - 180);
        assert_eq!(hard(130), 50);
        assert_eq!(hard(20), 0);
    }

    #[test]
    fn movetime_counts_before_clocks_and_no_clock_is_no_limit() {
        let of = |milliseconds| Go {
            move_time: Some(Duration::from_millis(milliseconds)),
            ..clock(1000, 0, None)
        };
        let end = |go: &Go, overhead| {
            budget(go, Color::Black, Duration::from_millis(overhead)).map(|limit| limit.hard)
        };
        assert_eq!(end(&of(1000), 30), Some(Duration::from_millis(970)));
        assert_eq!(end(&of(50), 30), Some(Duration::from_millis(48)));
        assert_eq!(end(&of(50), 0), Some(Duration::from_millis(50)));
        assert_eq!(end(&of(0), 30), Some(Duration::ZERO));
        assert_eq!(end(&Go::default(), 20), None);
    }

    #[test]
    fn the_longest_clocks_are_no_trouble() {
        let go = Go { moves_to_go: Some(u32::MAX), ..clock(u64::MAX, u64::MAX, None) };
        assert!(budget(&go, Color::White, Duration::ZERO).is_some());
    }
}
