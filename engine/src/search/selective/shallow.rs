//! Searches of a few plies, with quiescence search at their leaves, of positions in another planner's tree.

use anyhow::Error;
use cozy_chess::{Board, Move};

use super::history::{MadeMove, PieceTo};
use super::move_picker::is_quiet;
use super::node::Node;
use super::parts::Part;
use super::score::{Score, of_value, to_value};
use super::search::LATE_HALFMOVE_CLOCK;
use super::stack::MAX_PLY;
use super::thread::{SearchThread, Shared, ThreadData};
use crate::search::bound::Bound;
use crate::search::value::Value;

/// Positions of the line to the parent that the search stack holds: as far back as a static evaluation is compared.
pub(in crate::search) const ANCESTORS: usize = 4;

/// Deeper in the other tree the search stack begins here, so that it never ends.
const DEEPEST_FIRST_PLY: usize = MAX_PLY / 2;

/// A position on the way from the root to the parent, and the move made there.
pub(in crate::search) struct Ancestor {
    pub(in crate::search) board: Board,
    pub(in crate::search) mv: Move,
}

/// Searches the children of one position after the other, all with the same tables.
pub(in crate::search) struct ShallowSearch<'a> {
    thread: SearchThread<'a>,
    /// Where the stack holds the children.
    first_ply: usize,
    /// Their plies from the root less `first_ply`.
    plies_before: u32,
    line: Vec<Move>,
}

impl<'a> ShallowSearch<'a> {
    /// Searches by a thread that has no limits.
    pub(in crate::search) fn new(data: &'a mut ThreadData, shared: &'a Shared<'a>) -> Self {
        let thread = SearchThread::new(data, shared, Vec::new(), None);
        Self { thread, first_ply: 1, plies_before: 0, line: Vec::new() }
    }

    /// Goes to a position, `ply` plies from the root, whose children are searched next. `keys` are those that
    /// [`crate::search::terminal::terminal_value`] wants of the children; `line` leads to it, the nearest position first.
    pub(in crate::search) fn enter(
        &mut self,
        parent: &Board,
        ply: u32,
        keys: Vec<u64>,
        line: &[Ancestor],
    ) {
        let child_ply = ply as usize + 1;
        self.first_ply = child_ply.min(DEEPEST_FIRST_PLY);
        self.plies_before = (child_ply - self.first_ply) as u32;
        let thread = &mut self.thread;
        thread.keys = keys;
        let parent_ply = self.first_ply - 1;
        let known = line.len().min(ANCESTORS).min(parent_ply);
        for (back, Ancestor { board, mv }) in line[..known].iter().enumerate().rev() {
            let ply = parent_ply - 1 - back;
            thread.evaluate(board, ply, None);
            thread.stack[ply].moved = Some(made_move(board, *mv));
            thread.stack[ply].reduction = 0;
        }
        thread.evaluate(parent, parent_ply, None);
        thread.stack[parent_ply].reduction = 0;
        thread.stack[self.first_ply].killers = [None; 2];
        thread.stack[self.first_ply + 1].cutoffs = 0;
    }

    /// The score of the child after `mv`, for its side to move, by a search of `plies` plies (0: quiescence search alone):
    /// exact between `alpha` and `beta`, a bound outside.
    pub(in crate::search) fn score(
        &mut self,
        parent: &Board,
        mv: Move,
        child: &Board,
        (alpha, beta): (Score, Score),
        plies: u32,
    ) -> Score {
        let (ply, depth) = (self.first_ply, plies as i32);
        let node = Node { ply, depth, alpha, beta, cut_node: beta - alpha == 1 };
        self.line.clear();
        let known = self.thread.probe_table(child, ply);
        if let Some(entry) = known
            && entry.depth >= depth
            && node.is_cut_by(&entry)
            && child.halfmove_clock() < LATE_HALFMOVE_CLOCK
        {
            self.follow_table(child.clone());
            return entry.score;
        }
        self.thread.stack[ply - 1].moved = Some(made_move(parent, mv));
        let score = self.thread.search(child, node);
        self.line.extend_from_slice(&self.thread.stack[ply].pv);
        score
    }

    /// The moves of exact entries from `board` on.
    fn follow_table(&mut self, mut board: Board) {
        for _ in 0..MAX_PLY {
            let entry = self.thread.probe_table(&board, 0);
            let exact = entry.filter(|entry| entry.bound == Bound::Exact);
            let Some(mv) = exact.and_then(|entry| entry.mv) else { break };
            if !board.is_legal(mv) {
                break;
            }
            self.line.push(mv);
            board.play_unchecked(mv);
        }
    }

    /// Lengthens the line behind `score`, which led from the child to `end`: a search that takes its score from a bound in
    /// the table knows no moves behind it, but the table does, as long as its entries have the same score.
    pub(in crate::search) fn lengthen_line(&mut self, mut end: Board, score: Score) {
        let mut sign = if self.line.len().is_multiple_of(2) { 1 } else { -1 };
        let mut seen = Vec::new();
        while self.first_ply + self.line.len() < MAX_PLY && !seen.contains(&end.hash()) {
            seen.push(end.hash());
            let entry = self.thread.probe_table(&end, self.first_ply + self.line.len());
            let same = entry.filter(|entry| entry.score == sign * score);
            let Some(mv) = same.and_then(|entry| entry.mv) else { break };
            if !end.is_legal(mv) {
                break;
            }
            self.line.push(mv);
            end.play_unchecked(mv);
            sign = -sign;
        }
    }

    /// The line behind the last score that was exact, from the child on, to a quiet position.
    pub(in crate::search) fn line(&self) -> &[Move] {
        &self.line
    }

    /// The best move that the table knows of `board`.
    pub(in crate::search) fn table_move(&self, board: &Board) -> Option<Move> {
        self.thread.probe_table(board, 0)?.mv
    }

    /// Whether late moves are searched less deep at first.
    pub(in crate::search) fn reduces_late_moves(&self) -> bool {
        self.thread.has(Part::LateMoveReductions)
    }

    /// A score here as a value.
    pub(in crate::search) fn value_of(&self, score: Score) -> Value {
        to_value(score).seen_from_before(self.plies_before)
    }

    /// A value as a score here.
    pub(in crate::search) fn score_of(&self, value: Value) -> Score {
        of_value(value, self.plies_before)
    }

    /// The error that ended the searches; their scores count for nothing.
    pub(in crate::search) fn take_error(&mut self) -> Option<Error> {
        self.thread.error.take()
    }

    /// Nodes so far.
    pub(in crate::search) fn nodes(&self) -> u64 {
        self.thread.nodes()
    }

    /// The deepest ply so far, from the root.
    pub(in crate::search) fn seldepth(&self) -> u32 {
        self.thread.seldepth as u32 + self.plies_before
    }
}

fn made_move(board: &Board, mv: Move) -> MadeMove {
    MadeMove { mv, piece_to: PieceTo::of(board, mv), is_quiet: is_quiet(board, mv) }
}
