//! Scales the soft time limit by the search's results. The limit is earlier if the best move is
//! stable and takes almost all nodes, and later if it is new or its score falls.

use cozy_chess::Move;

use super::score::Score;

/// Below this depth the limit is not scaled: the best move still changes at random.
const MIN_DEPTH: u32 = 6;

/// Factor for a new best move, its decrease per iteration that the move remains the best, and the
/// maximum number of iterations that count.
const NEW_BEST_MOVE: f64 = 1.6;
const LESS_BY_STABILITY: f64 = 0.07;
const STABLE_ITERATIONS: u32 = 8;

/// The increase per centipawn that the score has fallen, and the range of the factor.
const MORE_BY_CENTIPAWN: f64 = 0.012;
const FALLING_RANGE: (f64, f64) = (0.85, 1.6);

/// Factors if all nodes, or none, are spent on the best move.
const ALL_NODES: f64 = 0.5;
const NO_NODES: f64 = 1.8;

/// The state of the iterations that the scale depends on.
#[derive(Default)]
pub(super) struct SoftLimit {
    best: Option<Move>,
    stable: u32,
    /// The exponential moving average of the earlier iterations' scores.
    usual: Option<f64>,
    scale: Option<f64>,
}

impl SoftLimit {
    /// The factor of the soft limit; 1 until an iteration of [`MIN_DEPTH`] plies.
    pub(super) fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// Adds an iteration of `depth` plies: its best move and score, and the share of nodes spent on
    /// that move, in [0, 1].
    pub(super) fn take_in(&mut self, depth: u32, best: Move, score: Score, share: f64) {
        self.stable = if self.best == Some(best) { self.stable + 1 } else { 0 };
        self.best = Some(best);
        let score = f64::from(score);
        let usual = self.usual.unwrap_or(score);
        self.usual = Some((usual + score) / 2.0);
        if depth < MIN_DEPTH {
            return;
        }
        let steady =
            NEW_BEST_MOVE - LESS_BY_STABILITY * f64::from(self.stable.min(STABLE_ITERATIONS));
        let (least, most) = FALLING_RANGE;
        let falling = (1.0 + MORE_BY_CENTIPAWN * (usual - score)).clamp(least, most);
        let settled = NO_NODES + (ALL_NODES - NO_NODES) * share.clamp(0.0, 1.0);
        self.scale = Some(steady * falling * settled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_takes_time_and_certainty_saves_it() {
        let [e4, d4]: [Move; 2] = ["e2e4", "d2d4"].map(|mv| mv.parse().expect("a move"));
        let after = |iterations: &[(Move, Score, f64)]| {
            let mut limit = SoftLimit::default();
            for (depth, &(mv, score, share)) in (1..).zip(iterations) {
                limit.take_in(depth, mv, score, share);
            }
            limit.scale()
        };
        let settled = after(&[(e4, 30, 0.95); 12]);
        let open = after(&[(e4, 30, 0.4); 12]);
        let mut changed = [(e4, 30, 0.4); 12];
        changed[11] = (d4, 30, 0.4);
        let mut fallen = changed;
        fallen[11].1 = -10;
        assert_eq!(after(&[(e4, 30, 0.95); 5]), 1.0);
        assert!(settled < 0.6 && settled < open, "{settled} {open}");
        assert!(open < after(&changed) && after(&changed) < after(&fallen));
    }
}
