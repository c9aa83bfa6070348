//! How long to think: a move's share of the clock.

use std::time::Duration;

use cozy_chess::Color;

use super::command::Go;

/// Moves that a clock without `movestogo` is spread over.
const EXPECTED_MOVES: u32 = 30;

/// No move takes more than this part of the clock.
const LARGEST_SHARE: u32 = 4;

/// Time for this move, `overhead` already kept back; `None` where no clock runs.
pub fn budget(go: &Go, side: Color, overhead: Duration) -> Option<Duration> {
    let own = match side {
        Color::White => 0,
        Color::Black => 1,
    };
    if let Some(time) = go.move_time {
        return Some(time.saturating_sub(overhead));
    }
    let clock = go.time[own]?.saturating_sub(overhead);
    let moves = go.moves_to_go.unwrap_or(EXPECTED_MOVES).clamp(1, EXPECTED_MOVES);
    let share = clock / moves + go.increment[own] * 3 / 4;
    let largest = if moves == 1 { clock } else { clock / LARGEST_SHARE };
    Some(share.min(largest))
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
                    let budget = budget(&go, Color::White, overhead).expect("a clock");
                    let left = Duration::from_millis(milliseconds).saturating_sub(overhead);
                    assert!(budget <= left, "{milliseconds} {increment} {moves:?}: {budget:?}");
                }
            }
        }
    }

    #[test]
    fn movetime_counts_before_clocks_and_no_clock_is_no_limit() {
        let go = Go { move_time: Some(Duration::from_millis(50)), ..clock(1000, 0, None) };
        let overhead = Duration::from_millis(20);
        assert_eq!(budget(&go, Color::Black, overhead), Some(Duration::from_millis(30)));
        assert_eq!(budget(&Go::default(), Color::White, overhead), None);
    }
}
