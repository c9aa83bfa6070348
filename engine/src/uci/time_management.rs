//! Allocates time to a move, paces the answers of a limited strength about as a person would, and
//! keeps the clock of `nodestime`.

use std::time::Duration;

use azimuth_search::{ExplainedMove, Explanation, Limits, Planner, TimeLimit};
use cozy_chess::Color;

use super::command::Go;

/// Number of moves that are expected if `movestogo` is missing.
const EXPECTED_MOVES: u32 = 30;

/// A move takes at most this fraction (1/4) of the spare time, unless fewer moves are left, and at
/// most 4 times its share.
const LARGEST_SHARE: u32 = 4;

/// Number of move overheads in reserve, so that a short stall of the machine does not lose the
/// game.
const RESERVED_OVERHEADS: u32 = 6;

/// Fraction of a move's share after which no iteration starts. An iteration takes about as long as
/// all before it.
const SOFT_SHARE: f64 = 0.6;

/// Largest soft limit, as a fraction of the hard limit.
const LATEST_SOFT: f64 = 0.9;

/// At most 1/25 of a `movetime` is reserved, because each move gets a new one. (Stockfish reserves
/// nothing of it.)
const MOVETIME_KEPT_BACK: u32 = 25;

/// Time limits for this move, with `overhead` reserved; `None` if no clock runs.
pub fn budget(go: &Go, side: Color, overhead: Duration) -> Option<TimeLimit> {
    let own = side as usize;
    if let Some(time) = go.move_time {
        return Some(TimeLimit::exactly(time - overhead.min(time / MOVETIME_KEPT_BACK)));
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
            let largest = spare / LARGEST_SHARE.min(moves) + increment / 2;
            (spare / moves + increment.mul_f64(0.75), largest)
        }
    };
    let hard = largest.min(share * LARGEST_SHARE).min(left);
    Some(TimeLimit { soft: share.min(hard).mul_f64(SOFT_SHARE), hard })
}

/// The limits on a clock with `percent` of the soft limit; those of `movetime`, which are equal,
/// stay as they are.
pub fn slowed(time: TimeLimit, percent: u32) -> TimeLimit {
    if time.soft == time.hard {
        return time;
    }
    let latest = time.hard.mul_f64(LATEST_SOFT);
    TimeLimit { soft: (time.soft * percent / 100).min(latest), ..time }
}

/// The time limit that paces the answer to `go`: that of the clock, if the strength is limited.
/// `None` if the GUI sets the time or the nodes of the move, or if time is counted in nodes.
pub fn paced(go: &Go, limits: &Limits) -> Option<TimeLimit> {
    let by_clock = go.move_time.is_none() && limits.nodes.is_none();
    let limited = limits.handicap.is_some() && limits.nodes_per_ms.is_none();
    limits.time.filter(|_| by_clock && limited && !limits.infinite)
}

/// Time for an obvious move, and the additional time for the closest choice, as shares of the soft
/// limit.
const OBVIOUS: f64 = 0.25;
const CLOSE: f64 = 1.25;

/// Largest share of the hard limit.
const HARD_LIMIT_SHARE: f64 = 0.5;

/// Random deviation from the time, as a share of it, up or down.
const VARIATION: f64 = 0.25;

/// Time to think about the move that `planner` has just chosen. Without an explanation of the
/// choice, it counts as obvious.
pub fn time_for_choice(planner: &mut dyn Planner, limit: TimeLimit) -> Duration {
    let closeness = planner.explain(1).ok().flatten().map_or(0.0, |it| closeness(&it));
    thinking_time(limit, closeness, rand::random())
}

/// Time to think about a choice of this `closeness`, in [0, 1]. `luck`, in [0, 1], varies it.
fn thinking_time(limit: TimeLimit, closeness: f64, luck: f64) -> Duration {
    let share = (OBVIOUS + CLOSE * closeness) * (1.0 + VARIATION * (2.0 * luck - 1.0));
    limit.soft.mul_f64(share).min(limit.hard.mul_f64(HARD_LIMIT_SHARE))
}

/// Loss of win probability of the second-best move that halves the additional time.
const HALF_CLOSE: f32 = 0.03;

/// How close the choice was, in [0, 1]: 1 if another move is as good, 0 if there is no other. A
/// bound of another move counts as its value.
fn closeness(explanation: &Explanation) -> f64 {
    let win_probability =
        |explained: &ExplainedMove| Some(explained.searched?.value.win_probability());
    let mut found = explanation.moves.iter().map(win_probability);
    let Some(best) = found.next().flatten() else { return 0.0 };
    let second = found.flatten().max_by(f32::total_cmp);
    second.map_or(0.0, |second| (1.0 / (1.0 + (best - second).max(0.0) / HALF_CLOSE)).into())
}

/// The clock of `nodestime`, which counts searched positions instead of time. The GUI's clock
/// initialises it once.
#[derive(Default)]
pub struct NodeClock {
    left: Option<Duration>,
    /// The increment after the current move; `None` for a move without a clock.
    increment: Option<Duration>,
}

impl NodeClock {
    /// Replaces the GUI's clock of the side to move by this one.
    pub fn replace(&mut self, go: &mut Go, side: Color) {
        self.increment = None;
        if let Some(time) = &mut go.time[side as usize] {
            *time = *self.left.get_or_insert(*time);
            self.increment = Some(go.increment[side as usize]);
        }
    }

    /// Subtracts the time `used` by the current move and adds its increment.
    pub fn take(&mut self, used: Duration) {
        if let (Some(left), Some(increment)) = (&mut self.left, self.increment) {
            *left = left.saturating_add(increment).saturating_sub(used);
        }
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::{Position, legal_moves};
    use azimuth_search::{Bound, SearchedMove, Value};

    use super::*;

    fn clock(milliseconds: u64, increment: u64, moves_to_go: Option<u32>) -> Go {
        Go {
            time: [Some(Duration::from_millis(milliseconds)); 2],
            increment: [Duration::from_millis(increment); 2],
            moves_to_go,
            ..Go::default()
        }
    }

    const OVERHEAD: Duration = Duration::from_millis(30);

    fn limit(go: &Go) -> TimeLimit {
        budget(go, Color::White, OVERHEAD).expect("a clock")
    }

    #[test]
    fn a_move_never_takes_the_whole_clock() {
        for milliseconds in [0, 10, 40, 100, 1000, 60_000] {
            for increment in [0, 10, 10_000] {
                for moves in [None, Some(1), Some(2), Some(40)] {
                    let limit = limit(&clock(milliseconds, increment, moves));
                    let left = Duration::from_millis(milliseconds).saturating_sub(OVERHEAD);
                    assert!(limit.hard <= left, "{milliseconds} {increment} {moves:?}: {limit:?}");
                    assert!(limit.soft <= limit.hard);
                }
            }
        }
    }

    #[test]
    fn a_clock_with_an_increment_never_runs_down() {
        let mut left = Duration::from_secs(1);
        for _ in 0..500 {
            let limit = limit(&clock(left.as_millis() as u64, 10, None));
            // The GUI measures 1 ms more than the engine.
            let used = limit.hard + Duration::from_millis(1);
            left = (left - used) + Duration::from_millis(10);
            assert!(left > Duration::from_millis(150), "{left:?}");
        }
    }

    #[test]
    fn the_increment_fills_the_reserve_again() {
        let used = |milliseconds| limit(&clock(milliseconds, 10, None)).hard.as_micros();
        assert_eq!(used(180), 5_000);
        assert_eq!(used(90), 2_500);
        assert_eq!(used(40), 1_111);
    }

    #[test]
    fn a_slow_mover_remains_on_the_clock() {
        let usual = limit(&clock(1000, 10, None));
        let [fast, slow] = [50, 1000].map(|percent| slowed(usual, percent));
        assert_eq!(fast.soft, usual.soft / 2);
        assert!(slow.soft > usual.soft && slow.soft < slow.hard);
        let move_time = TimeLimit::exactly(usual.hard);
        assert_eq!(slowed(move_time, 50), move_time);
    }

    #[test]
    fn two_moves_before_a_new_clock_share_it() {
        assert_eq!(limit(&clock(60_180, 0, Some(2))).hard.as_secs(), 30);
    }

    #[test]
    fn the_last_move_before_a_new_clock_leaves_the_reserve() {
        let hard = |milliseconds| limit(&clock(milliseconds, 0, Some(1))).hard.as_millis();
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

    #[test]
    fn a_game_at_the_slowest_pace_never_runs_out_of_time() {
        for (seconds, increment) in [(1, 0), (1, 10), (60, 0), (180, 2000), (5400, 30_000)] {
            let increment = Duration::from_millis(increment);
            let mut left = Duration::from_secs(seconds);
            for mv in 0..300 {
                let go = Go { time: [Some(left); 2], increment: [increment; 2], ..Go::default() };
                let limit = limit(&go);
                let time = thinking_time(limit, 1.0, 1.0);
                assert!(time <= limit.hard && time + OVERHEAD <= left, "{left:?} {mv}");
                left = left - time + increment;
            }
            assert!(left >= Duration::from_millis(100), "{seconds} {increment:?}: {left:?}");
        }
    }

    #[test]
    fn close_choices_take_longer_than_obvious_ones() {
        let explained = |values: &[f32]| {
            let root = Position::default();
            let moves = legal_moves(root.board()).into_iter().zip(values);
            let moves = moves.map(|(mv, &value)| {
                let (value, bound) = (Value::estimate(value), Bound::Upper);
                ExplainedMove {
                    mv,
                    static_value: value,
                    verified: None,
                    searched: Some(SearchedMove { mv, value, bound, depth: 4 }),
                    replies: Vec::new(),
                }
            });
            Explanation { moves: moves.collect(), root }
        };
        let of = |values: &[f32]| closeness(&explained(values));
        assert_eq!([of(&[0.3]), of(&[0.3, 0.3, -0.9])], [0.0, 1.0]);
        // The win probability is half the difference of the values.
        assert!((of(&[0.3, -0.5, 0.24]) - 0.5).abs() < 1e-4);
        let limit = TimeLimit { soft: Duration::from_secs(4), hard: Duration::from_secs(60) };
        let [obvious, close] =
            [of(&[0.3, -0.5]), of(&[0.3, 0.29])].map(|it| thinking_time(limit, it, 0.5));
        assert!(close > 3 * obvious && obvious >= Duration::from_secs(1), "{obvious:?} {close:?}");
    }

    #[test]
    fn the_guis_clock_sets_it_once() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let mut clock = NodeClock::default();
        let left = |clock: &mut NodeClock, time| {
            let mut go = Go { time: [None, time], increment: [second; 2], ..Go::default() };
            clock.replace(&mut go, Color::Black);
            go.time[1]
        };
        assert_eq!(left(&mut clock, None), None);
        assert_eq!(left(&mut clock, Some(minute)), Some(minute));
        clock.take(second * 10);
        assert_eq!(left(&mut clock, Some(second * 59)), Some(second * 51));
        clock.take(minute * 2);
        assert_eq!(left(&mut clock, Some(second * 40)), Some(Duration::ZERO));
    }
}
