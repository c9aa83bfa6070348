//! Paces the answers of a limited strength on a clock about as a person would.

use std::time::Duration;

use crate::search::{ExplainedMove, Explanation, Limits, TimeLimit};

use super::command::Go;

/// Time for an obvious move, and the additional time for the closest choice, as shares of the soft
/// limit.
const OBVIOUS: f64 = 0.25;
const CLOSE: f64 = 1.25;

/// Largest share of the hard limit.
const LARGEST_SHARE: f64 = 0.5;

/// Random deviation from the time, as a share of it, up or down.
const VARIATION: f64 = 0.25;

/// Loss of win probability of the second-best move that halves the additional time.
const HALF_CLOSE: f32 = 0.03;

/// The time limit that paces the answer to `go`: that of the clock, if the strength is limited.
/// `None` if the GUI sets the time or the nodes of the move, or if time is counted in nodes.
pub fn paced(go: &Go, limits: &Limits) -> Option<TimeLimit> {
    let by_clock = go.move_time.is_none() && limits.nodes.is_none();
    let limited = limits.handicap.is_some() && limits.nodes_per_ms.is_none();
    limits.time.filter(|_| by_clock && limited && !limits.infinite)
}

/// Time to think about a choice of this `closeness`, in [0, 1]. `luck`, in [0, 1], varies it.
pub fn thinking_time(limit: TimeLimit, closeness: f64, luck: f64) -> Duration {
    let share = (OBVIOUS + CLOSE * closeness) * (1.0 + VARIATION * (2.0 * luck - 1.0));
    limit.soft.mul_f64(share).min(limit.hard.mul_f64(LARGEST_SHARE))
}

/// How close the choice was, in [0, 1]: 1 if another move is as good, 0 if there is no other. A
/// bound of another move counts as its value.
pub fn closeness(explanation: &Explanation) -> f64 {
    let win_probability =
        |explained: &ExplainedMove| Some(explained.searched?.value.win_probability());
    let mut found = explanation.moves.iter().map(win_probability);
    let Some(best) = found.next().flatten() else { return 0.0 };
    let second = found.flatten().max_by(f32::total_cmp);
    second.map_or(0.0, |second| (1.0 / (1.0 + (best - second).max(0.0) / HALF_CLOSE)).into())
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::{Position, legal_moves};
    use cozy_chess::Color;

    use super::super::time_management::budget;
    use super::*;
    use crate::search::{Bound, Handicap, SearchedMove, Value};

    fn limited(limits: Limits) -> Limits {
        Limits { handicap: Some(Handicap::default()), ..limits }
    }

    #[test]
    fn only_a_limited_strength_on_a_clock_is_paced() {
        let second = Duration::from_secs(1);
        let time = Some(TimeLimit { soft: second / 2, hard: second });
        let go = Go::default();
        let of = |go: &Go, limits| paced(go, &limits);
        let clock = Limits { time, ..Limits::default() };
        assert_eq!(of(&go, limited(clock.clone())), time);
        assert_eq!(of(&go, limited(Limits::default())), None);
        assert_eq!(of(&go, clock.clone()), None);
        let fixed = Go { move_time: Some(second), ..Go::default() };
        assert_eq!(of(&fixed, limited(clock.clone())), None);
        assert_eq!(of(&go, limited(Limits { nodes: Some(9), ..clock.clone() })), None);
        let counted = Limits { nodes_per_ms: 100.try_into().ok(), ..clock };
        assert_eq!(of(&go, limited(counted)), None);
    }

    #[test]
    fn a_game_at_the_slowest_pace_never_runs_out_of_time() {
        let overhead = Duration::from_millis(30);
        for (seconds, increment) in [(1, 0), (1, 10), (60, 0), (180, 2000), (5400, 30_000)] {
            let increment = Duration::from_millis(increment);
            let mut left = Duration::from_secs(seconds);
            for mv in 0..300 {
                let go = Go { time: [Some(left); 2], increment: [increment; 2], ..Go::default() };
                let limit = budget(&go, Color::White, overhead).expect("a clock");
                let time = thinking_time(limit, 1.0, 1.0);
                assert!(time <= limit.hard && time + overhead <= left, "{left:?} {mv}");
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
}
