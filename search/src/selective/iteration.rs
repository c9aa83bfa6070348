//! The iterations of the main thread, each with one or more lines (MultiPV), and the helper threads
//! that search in parallel (Lazy SMP). Aspiration windows and the scale of the soft time limit.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;
use cozy_chess::Move;

use super::parameters::{ASPIRATION_MAX_DELTA, ASPIRATION_MIN_DEPTH, Part};
use super::score::{INFINITE, Score, is_decisive, to_value};
use super::search::Node;
use super::thread::{MAX_PLY, RootLine, SearchThread};
use crate::control::{Control, Report};
use crate::explanation::{SearchedMove, record_searched};
use crate::iterative_deepening::{Deepening, RootMoves};

/// The main thread's search, which checks the limits and reports.
pub struct MainSearch<'a> {
    thread: SearchThread<'a>,
    root_moves: &'a RootMoves<'a>,
    /// Maximum depth in plies if the limits name none.
    default_depth: u32,
    depth: u32,
    /// The scores of the last iteration's lines.
    expected: Vec<Score>,
    soft_limit: SoftLimit,
    /// The latest result for every root move searched so far.
    pub searched: Vec<SearchedMove>,
}

impl<'a> MainSearch<'a> {
    pub fn new(
        thread: SearchThread<'a>,
        root_moves: &'a RootMoves<'a>,
        default_depth: u32,
    ) -> Self {
        Self {
            thread,
            root_moves,
            default_depth,
            depth: 0,
            expected: Vec::new(),
            soft_limit: SoftLimit::default(),
            searched: Vec::new(),
        }
    }

    fn multipv(&self) -> usize {
        let asked = self.thread.control.as_deref().map_or(1, |control| control.limits().multipv);
        asked.clamp(1, self.root_moves.moves.len().max(1))
    }

    /// The lines of one iteration, each with a different root move; fewer if a limit is reached.
    fn search_lines(&mut self, depth: u32) -> Vec<RootLine> {
        let mut lines: Vec<RootLine> = Vec::new();
        let multipv = self.multipv();
        let thread = &mut self.thread;
        thread.root_moves.clone_from(&self.root_moves.moves);
        thread.searched.clear();
        thread.iteration = depth;
        for index in 0..multipv {
            thread.finished_lines = index;
            thread.aspiration_search(depth as i32, self.expected.get(index).copied());
            let Some(best) = thread.best.take() else { break };
            thread.root_moves.retain(|mv| best.pv.first() != Some(mv));
            lines.push(best);
            if thread.stopped {
                break;
            }
        }
        lines.sort_by_key(|line| -line.score);
        lines
    }

    /// Scales the soft limit by the best of the `lines` after an iteration.
    fn move_soft_limit(&mut self, depth: u32, lines: &[RootLine]) {
        let Some((score, &mv)) =
            lines.first().and_then(|line| Some((line.score, line.pv.first()?)))
        else {
            return;
        };
        self.soft_limit.take_in(depth, mv, score, self.thread.share_of_nodes(mv));
        if let Some(control) = self.thread.control.as_deref_mut() {
            control.scale_soft_limit(self.soft_limit.scale());
        }
    }

    fn report(&mut self, depth: u32, line: RootLine) -> Report {
        let RootLine { score, bound, pv } = line;
        let mut report = Report { depth, bound, ..Report::of(to_value(score), pv) };
        self.add_costs(&mut report);
        report
    }
}

impl Deepening for MainSearch<'_> {
    fn next_depth(&mut self) -> Option<u32> {
        self.depth += 1;
        (self.depth <= MAX_PLY as u32).then_some(self.depth)
    }

    fn may_begin(&self, depth: u32) -> bool {
        let control = self.thread.control.as_deref();
        control.is_none_or(|control| control.may_begin(depth, self.default_depth))
    }

    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>> {
        self.thread.interruptible = interruptible;
        let lines = self.search_lines(depth);
        if let Some(error) = self.thread.error.take() {
            return Err(error);
        }
        self.expected = lines.iter().map(|line| line.score).collect();
        self.thread.line_before = lines.first().map_or_else(Vec::new, |line| line.pv.clone());
        self.move_soft_limit(depth, &lines);
        let complete = lines.len() == self.multipv();
        let reports = lines.into_iter().map(|line| self.report(depth, line)).collect();
        // Report only complete sets of lines from one iteration.
        if self.thread.stopped && !complete {
            return Ok(None);
        }
        for &found in &self.thread.searched {
            record_searched(&mut self.searched, found);
        }
        Ok(Some(reports))
    }

    fn is_settled(&self, lines: &[Report]) -> bool {
        let is_mate =
            |line: &Report| line.value.plies_to_mate().is_some_and(|plies| plies <= line.depth);
        self.thread.stopped || lines.iter().all(is_mate)
    }

    fn on_the_clock(&self) -> bool {
        self.thread.control.as_deref().is_some_and(Control::on_the_clock)
    }

    fn add_costs(&mut self, report: &mut Report) {
        let thread = &mut self.thread;
        thread.publish_nodes();
        let (shared, evaluator) = (thread.shared, &thread.data.evaluator);
        report.nodes = shared.nodes.load(Relaxed);
        report.tbhits = report.tbhits.max(shared.tbhits.load(Relaxed));
        report.seldepth = thread.seldepth as u32;
        report.scored = evaluator.scored() - thread.scored_before;
        report.waited = evaluator.waited() - thread.waited_before;
        report.time = thread.control.as_deref().map_or(report.time, Control::elapsed);
        report.hashfull = shared.table.permille_full();
    }
}

/// Runs a helper thread until the main thread stops it. Helpers contribute through the
/// transposition table. Every second one starts one ply deeper, so that not all threads search the
/// same iteration.
pub fn help(mut thread: SearchThread<'_>, number: usize) {
    let mut expected = None;
    let first_depth = 1 + number as i32 % 2;
    for depth in first_depth..=MAX_PLY as i32 {
        thread.aspiration_search(depth, expected);
        // The main thread meets and reports the same evaluator error.
        if thread.stopped {
            break;
        }
        expected = thread.best.as_ref().map(|best| best.score);
    }
    thread.publish_nodes();
}

impl SearchThread<'_> {
    /// Searches the root to `depth` plies, in a window around the expected score, which is widened
    /// until it contains the score. `best` holds the result; if a limit stops the search, the best
    /// root move so far that exceeded the window's lower bound, if any. A new move that exceeded the
    /// upper bound of an earlier window counts, too, as the first line; that line is short.
    fn aspiration_search(&mut self, depth: i32, expected: Option<Score>) {
        let narrow = self.has(Part::AspirationWindows) && depth >= ASPIRATION_MIN_DEPTH;
        let mut delta = self.shared.parameters.aspiration_delta;
        let (mut alpha, mut beta) = match expected {
            Some(score) if narrow && !is_decisive(score) => (score - delta, score + delta),
            _ => (-INFINITE, INFINITE),
        };
        let board = self.shared.root.board().clone();
        let mut failed_high = None;
        loop {
            self.best = None;
            let root = Node { ply: 0, depth, alpha, beta, cut_node: false };
            let score = self.search(&board, root);
            delta += delta / 2;
            if self.stopped || alpha < score && score < beta {
                let is_new = |line: &RootLine| line.pv.first() != self.line_before.first();
                let failed_high = failed_high.filter(|it| self.finished_lines == 0 && is_new(it));
                self.best = self.best.take().or(failed_high);
                return;
            }
            if score <= alpha {
                failed_high = None;
                (alpha, beta) = (score - delta, (alpha + beta) / 2);
            } else {
                failed_high = self.best.take();
                beta = score + delta;
            }
            if delta > ASPIRATION_MAX_DELTA {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }
}

/// Below this depth the soft limit is not scaled: the best move still changes at random.
const SOFT_LIMIT_MIN_DEPTH: u32 = 6;

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

/// Scales the soft time limit by the results of the iterations. The limit is earlier if the best
/// move is stable and takes almost all nodes, and later if it is new or its score falls.
#[derive(Default)]
struct SoftLimit {
    best: Option<Move>,
    stable: u32,
    /// The exponential moving average of the earlier iterations' scores.
    usual: Option<f64>,
    scale: Option<f64>,
}

impl SoftLimit {
    /// The factor of the soft limit; 1 until an iteration of [`SOFT_LIMIT_MIN_DEPTH`] plies.
    fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// Adds an iteration of `depth` plies: its best move and score, and the share of nodes spent on
    /// that move, in [0, 1].
    fn take_in(&mut self, depth: u32, best: Move, score: Score, share: f64) {
        self.stable = if self.best == Some(best) { self.stable + 1 } else { 0 };
        self.best = Some(best);
        let score = f64::from(score);
        let usual = self.usual.unwrap_or(score);
        self.usual = Some((usual + score) / 2.0);
        if depth < SOFT_LIMIT_MIN_DEPTH {
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
