//! One thread of a search: what it has of its own, what it shares, and its iterations at the root.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::history::{History, Moved};
use super::margins;
use super::moves::Choice;
use super::node::Node;
use super::parts::{Part, Parts};
use super::score::{INFINITE, Score, is_certain, of_estimate};
use super::table::{Known, Table};
use crate::inference::Evaluator;
use crate::position::{Position, repetition_key};
use crate::search::control::Control;
use crate::search::explanation::SearchedMove;
use crate::search::tablebase::Tablebases;

/// Deepest ply of any line.
pub(super) const MAX_PLY: usize = 128;

/// Positions between two looks at the clock.
const WATCH: u64 = 32;

/// What a thread keeps from search to search.
pub(super) struct Mind {
    pub(super) evaluator: Evaluator,
    pub(super) history: History,
}

impl Mind {
    pub(super) fn new(evaluator: Evaluator) -> Self {
        Self { evaluator, history: History::new() }
    }

    /// Forgets what earlier searches learned.
    pub(super) fn clear(&mut self) {
        self.evaluator.clear_cache();
        self.history.clear();
    }
}

/// What all threads of a search share.
pub(super) struct Shared<'a> {
    pub(super) root: &'a Position,
    pub(super) table: &'a Table,
    pub(super) tables: Option<&'a Tablebases>,
    pub(super) parts: Parts,
    pub(super) stop: AtomicBool,
    pub(super) nodes: AtomicU64,
    pub(super) tbhits: AtomicU64,
}

/// What a thread remembers of each ply of the line that it looks at.
#[derive(Default)]
pub(super) struct Frame {
    /// The move made here; `None` where the side to move passed.
    pub(super) moved: Option<Moved>,
    /// The position's own score; none in check.
    pub(super) own: Option<Score>,
    pub(super) killers: [Option<Move>; 2],
    /// Left out, to see what the position is worth without it.
    pub(super) excluded: Option<Move>,
    /// Memory for the moves.
    pub(super) moves: Vec<Choice>,
    /// Memory for those that did not reach the window's upper end.
    pub(super) failed: Vec<Choice>,
    /// The best line from here on.
    pub(super) line: Vec<Move>,
}

/// The best root move so far, with its line.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) score: Score,
    pub(super) line: Vec<Move>,
}

pub(super) struct Thread<'a> {
    pub(super) mind: &'a mut Mind,
    pub(super) shared: &'a Shared<'a>,
    /// What ends the search; the helpers of the thread that has it are told by that thread.
    pub(super) control: Option<&'a mut Control>,
    /// The moves to choose from.
    pub(super) root_moves: Vec<Move>,
    pub(super) frames: Vec<Frame>,
    /// Repetition keys of the game and of the line, oldest first.
    pub(super) keys: Vec<u64>,
    pub(super) interruptible: bool,
    pub(super) stopped: bool,
    pub(super) seldepth: usize,
    /// The best root move of the iteration, once one is known to be better than the window's lower end.
    pub(super) best: Option<Best>,
    /// The root moves of the iteration.
    pub(super) searched: Vec<SearchedMove>,
    pub(super) scored_before: u64,
    pub(super) waited_before: Duration,
    nodes: u64,
    /// Those that are in the sum of all threads.
    counted: u64,
}

impl<'a> Thread<'a> {
    pub(super) fn new(
        mind: &'a mut Mind,
        shared: &'a Shared<'a>,
        root_moves: Vec<Move>,
        control: Option<&'a mut Control>,
    ) -> Self {
        Self {
            scored_before: mind.evaluator.scored(),
            waited_before: mind.evaluator.waited(),
            mind,
            shared,
            control,
            root_moves,
            frames: (0..MAX_PLY + 2).map(|_| Frame::default()).collect(),
            keys: shared.root.history().to_vec(),
            interruptible: false,
            stopped: false,
            seldepth: 0,
            best: None,
            searched: Vec::new(),
            nodes: 0,
            counted: 0,
        }
    }

    /// Searches the root to `depth` plies, in a window around the score that is expected, widened until
    /// the score lies inside. The outcome is in `best`: where a limit comes first, that of the root
    /// moves looked at by then, if any was better than the window's lower end.
    pub(super) fn iterate(&mut self, depth: i32, expected: Option<Score>) -> Result<()> {
        let narrow = self.has(Part::Aspiration) && depth >= margins::ASPIRATION_DEPTH;
        let mut margin = margins::ASPIRATION;
        let (mut alpha, mut beta) = match expected {
            Some(score) if narrow && !is_certain(score) => (score - margin, score + margin),
            _ => (-INFINITE, INFINITE),
        };
        let board = self.shared.root.board().clone();
        loop {
            self.best = None;
            let root = Node { ply: 0, depth, alpha, beta, cut: false };
            let score = self.search(&board, root)?;
            margin += margin / 2;
            if self.stopped || alpha < score && score < beta {
                return Ok(());
            }
            if score <= alpha {
                (alpha, beta) = (score - margin, (alpha + beta) / 2);
            } else {
                beta = score + margin;
            }
            if margin > margins::WIDEST_ASPIRATION {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    pub(super) fn has(&self, part: Part) -> bool {
        self.shared.parts.has(part)
    }

    /// Counts a position, and says whether a limit has come.
    pub(super) fn visit(&mut self, ply: usize) -> bool {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        if self.nodes - self.counted >= WATCH {
            self.count();
            let shared = self.shared;
            self.stopped |= match &mut self.control {
                Some(control) => {
                    self.interruptible && control.should_stop(shared.nodes.load(Relaxed))
                }
                None => shared.stop.load(Relaxed),
            };
        }
        self.stopped
    }

    /// Adds the positions looked at to the sum of all threads.
    pub(super) fn count(&mut self) {
        self.shared.nodes.fetch_add(self.nodes - self.counted, Relaxed);
        self.counted = self.nodes;
    }

    /// Notes that a move is played, and sees to it that what is known of the position that it leads to is
    /// at hand soon.
    pub(super) fn enter(&mut self, board: &Board, ply: usize, mv: Move, child: &Board) {
        self.shared.table.prefetch(child.hash());
        self.mind.evaluator.prefetch(child);
        self.frames[ply].moved = Some(Moved::by(board, mv));
        self.keys.push(repetition_key(board));
    }

    /// What earlier visits found out about a position.
    pub(super) fn look_up(&self, board: &Board, ply: usize) -> Option<Known> {
        if self.has(Part::Table) { self.shared.table.get(board.hash(), ply) } else { None }
    }

    /// Keeps what this visit found out.
    pub(super) fn keep(&self, board: &Board, ply: usize, known: Known) {
        if self.has(Part::Table) {
            self.shared.table.put(board.hash(), ply, known);
        }
    }

    /// Puts the position's own score into its frame, unless it is in check.
    pub(super) fn score_position(
        &mut self,
        board: &Board,
        ply: usize,
        known: Option<Known>,
    ) -> Result<Option<Score>> {
        let own = match known.and_then(|known| known.own) {
            _ if !board.checkers().is_empty() => None,
            Some(score) => Some(score),
            None => Some(of_estimate(self.mind.evaluator.value(board)?)),
        };
        self.frames[ply].own = own;
        Ok(own)
    }
}
