//! Searches of a few plies plus quiescence search, for positions in another planner's tree.

use anyhow::Error;
use cozy_chess::{Board, Move};

use super::history::{MadeMove, PieceTo};
use super::move_picker::is_quiet;
use super::parameters::Part;
use super::score::{Score, of_value, to_value};
use super::search::{LATE_HALFMOVE_CLOCK, Node};
use super::thread::{MAX_PLY, SearchThread, Shared, ThreadData};
use crate::value::{Bound, Value};

/// Number of positions before the parent that are put on the search stack; static evaluations are
/// compared at most this far back.
pub const ANCESTORS: usize = 4;

/// Largest stack index of the children, so that deep positions of the other tree leave room on the
/// search stack.
const DEEPEST_FIRST_PLY: usize = MAX_PLY / 2;

/// A position on the line from the root to the parent, with the move made in it.
pub struct Ancestor {
    pub board: Board,
    pub mv: Move,
}

/// Searches children of one position after another, all with the same tables.
pub struct ShallowSearch<'a> {
    thread: SearchThread<'a>,
    /// The stack index of the children.
    first_ply: usize,
    /// The children's plies from the root, less `first_ply`.
    plies_before: u32,
    line: Vec<Move>,
}

impl<'a> ShallowSearch<'a> {
    /// A searcher without limits.
    pub fn new(data: &'a mut ThreadData, shared: &'a Shared<'a>) -> Self {
        let thread = SearchThread::new(data, shared, Vec::new(), None);
        Self { thread, first_ply: 1, plies_before: 0, line: Vec::new() }
    }

    /// Sets the parent, `ply` plies from the root, whose children are searched next. `keys` are
    /// those of the positions before the children, as for
    /// [`crate::value::terminal_value`]; `line` leads to the parent, the nearest
    /// position first.
    pub fn enter(&mut self, parent: &Board, ply: u32, keys: Vec<u64>, line: &[Ancestor]) {
        let child_ply = ply as usize + 1;
        self.first_ply = child_ply.min(DEEPEST_FIRST_PLY);
        self.plies_before = (child_ply - self.first_ply) as u32;
        let thread = &mut self.thread;
        thread.keys = keys;
        let parent_ply = self.first_ply - 1;
        let known = line.len().min(ANCESTORS).min(parent_ply);
        for (back, Ancestor { board, mv }) in line[..known].iter().enumerate().rev() {
            let ply = parent_ply - 1 - back;
            thread.prepare_evaluation(board, ply);
            thread.evaluate(board, ply, None);
            thread.stack[ply].moved = Some(made_move(board, *mv));
            thread.stack[ply].reduction = 0;
        }
        thread.prepare_evaluation(parent, parent_ply);
        thread.evaluate(parent, parent_ply, None);
        thread.stack[parent_ply].reduction = 0;
        thread.stack[self.first_ply].killers = [None; 2];
        thread.stack[self.first_ply + 1].cutoffs = 0;
    }

    /// The score of the child after `mv`, for its side to move, by a search of `plies` plies (0:
    /// quiescence search only): exact between `alpha` and `beta`, a bound outside.
    pub fn score(
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

    /// Appends the moves of consecutive exact table entries, starting at `board`.
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

    /// Extends the line of `score`, which leads from the child to `end`. A search that takes its
    /// score from a table bound has no moves beyond that point, but the table has them as long as
    /// its entries have the same score.
    pub fn lengthen_line(&mut self, mut end: Board, score: Score) {
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

    /// The line of the last exact score, from the child on, to a quiet position.
    pub fn line(&self) -> &[Move] {
        &self.line
    }

    /// The table move of `board`.
    pub fn table_move(&self, board: &Board) -> Option<Move> {
        self.thread.probe_table(board, 0)?.mv
    }

    /// Whether late move reductions are on.
    pub fn reduces_late_moves(&self) -> bool {
        self.thread.has(Part::LateMoveReductions)
    }

    /// Converts a score to a value that counts plies from the root.
    pub fn value_of(&self, score: Score) -> Value {
        to_value(score).seen_from_before(self.plies_before)
    }

    /// Converts a value that counts plies from the root to a score.
    pub fn score_of(&self, value: Value) -> Score {
        of_value(value, self.plies_before)
    }

    /// The error that stopped the searches, if any; their scores are invalid.
    pub fn take_error(&mut self) -> Option<Error> {
        self.thread.error.take()
    }

    /// Nodes searched so far.
    pub fn nodes(&self) -> u64 {
        self.thread.nodes()
    }

    /// The selective depth so far, in plies from the root.
    pub fn seldepth(&self) -> u32 {
        self.thread.seldepth as u32 + self.plies_before
    }
}

fn made_move(board: &Board, mv: Move) -> MadeMove {
    MadeMove { mv, piece_to: PieceTo::of(board, mv), is_quiet: is_quiet(board, mv) }
}
