//! The soft time limit moves with what the search finds: a best move that has long been the same, and that almost all
//! nodes went to, needs no more thought; one that is new, or whose score falls, needs more.

use cozy_chess::Move;

use super::score::Score;

/// Before this depth the best move still changes for no reason.
const MIN_DEPTH: u32 = 6;

/// The limit is this many times as late for a new best move, and less for every iteration that it has been the same,
/// as many as count.
const NEW_BEST_MOVE: f64 = 1.6;
const LESS_BY_STABILITY: f64 = 0.07;
const STABLE_ITERATIONS: u32 = 8;

/// What every centipawn adds that the score has fallen, and what a falling or rising score changes at most.
const MORE_BY_CENTIPAWN: f64 = 0.012;
const FALLING_RANGE: (f64, f64) = (0.85, 1.6);

/// Where all nodes went to the best move, and where none did.
const ALL_NODES: f64 = 0.5;
const NO_NODES: f64 = 1.8;

/// The iterations so far, as far as they matter to the clock.
#[derive(Default)]
pub(super) struct SoftLimit {
    best: Option<Move>,
    stable: u32,
    /// The score of the iterations before, the latest counting most.
    usual: Option<f64>,
    scale: Option<f64>,
}

impl SoftLimit {
    /// What the limit is multiplied by.
    pub(super) fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// Takes in an iteration of `depth` plies: its best move and score, and the share of its nodes that went to that
    /// move, in [0, 1].
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
