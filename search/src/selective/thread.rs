//! One thread of a search: its own data, the data shared by all threads, the operations on moves,
//! tables and static evaluations, and the search stack. [`SearchTables`] keeps the data between
//! searches.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use anyhow::{Error, Result, ensure};
use azimuth_chess::check_squares::attacked_squares;
use azimuth_chess::position::{Position, repetition_key};
use cozy_chess::{BitBoard, Board, Move};

use super::history::{
    CONTINUATION_PLIES, CorrectionHistory, CorrectionPlaces, History, MadeMove, PieceTo,
    PreviousMoves, QuietContext, pawn_key,
};
use super::move_picker::ScoredMove;
use super::parameters::{LateMoveTable, Part, Parts, SearchParameters, SelectiveSettings};
use super::score::{DRAW, Score, corrected, of_estimate, plies_to_mate};
use super::transposition_table::{Entry, TranspositionTable};
use crate::control::{Control, CurrentMove, Handicap, blurred};
use crate::explanation::SearchedMove;
use crate::inference::{Evaluator, Notice};
use crate::tablebase::Tablebases;
use crate::value::Bound;

/// The memory that an alpha-beta search keeps between searches: the transposition table, and an
/// evaluator with histories for each thread.
pub struct SearchTables {
    settings: SelectiveSettings,
    late_moves: LateMoveTable,
    table: TranspositionTable,
    pub threads: Vec<ThreadData>,
}

impl SearchTables {
    /// Creates a transposition table of `table_mb` megabytes, and histories for each evaluator's
    /// thread. If memory for all threads is missing, there are fewer, and `notice` says so. Fails
    /// if memory for the first thread or for the transposition table is missing.
    pub fn new(
        evaluators: Vec<Evaluator>,
        settings: SelectiveSettings,
        table_mb: usize,
        notice: &Notice,
    ) -> Result<Self> {
        let table = TranspositionTable::new(table_mb.max(1))?;
        let wanted = evaluators.len();
        let threads: Vec<ThreadData> = evaluators.into_iter().map_while(ThreadData::new).collect();
        ensure!(!threads.is_empty(), "no memory for the histories of a search");
        if threads.len() < wanted {
            notice(&format!("memory for {} of {wanted} threads only", threads.len()));
        }
        Ok(Self { settings, late_moves: LateMoveTable::new(&settings.parameters), table, threads })
    }

    /// Starts a search from `root` that probes `tablebases`. Returns the state shared by its
    /// threads, and each thread's own data.
    pub fn begin_search<'a>(
        &'a mut self,
        root: &'a Position,
        tablebases: Option<&'a Tablebases>,
    ) -> (Shared<'a>, &'a mut [ThreadData]) {
        self.table.begin_search();
        let shared = Shared {
            root,
            handicap: None,
            table: &self.table,
            tablebases,
            parts: self.settings.parts,
            parameters: self.settings.parameters,
            late_moves: &self.late_moves,
            stop: false.into(),
            nodes: 0.into(),
            tbhits: 0.into(),
        };
        (shared, &mut self.threads)
    }

    /// The transposition table and the first thread's evaluator.
    pub(super) fn table_and_evaluator(&mut self) -> Option<(&TranspositionTable, &mut Evaluator)> {
        Some((&self.table, &mut self.threads.first_mut()?.evaluator))
    }

    /// Clears the transposition table and all histories and caches.
    pub fn clear(&mut self) {
        self.table.clear();
        self.threads.iter_mut().for_each(ThreadData::clear);
    }
}

/// The data that a thread keeps between searches.
pub struct ThreadData {
    pub(super) evaluator: Evaluator,
    pub(super) history: History,
    pub(super) correction: CorrectionHistory,
    /// Samples leaves, if asked to.
    pub(super) leaves: Option<LeafSampler>,
}

impl ThreadData {
    /// An evaluator with empty histories; `None` if the system refuses the memory.
    pub(super) fn new(evaluator: Evaluator) -> Option<Self> {
        let (history, correction) = (History::new()?, CorrectionHistory::new()?);
        Some(Self { evaluator, history, correction, leaves: None })
    }

    /// Clears the cache and the histories.
    pub(super) fn clear(&mut self) {
        self.evaluator.clear_cache();
        self.history.clear();
        self.correction.clear();
    }
}

/// Collects every n-th leaf: positions in which quiescence search stands pat. Their static
/// evaluations are the scores that the search backs up.
pub struct LeafSampler {
    pub every: u64,
    pub seen: u64,
    pub taken: Vec<Board>,
}

/// The data shared by all threads of a search.
pub struct Shared<'a> {
    pub(super) root: &'a Position,
    /// The noise to add to the encoder's scores, if the strength is limited.
    pub(super) handicap: Option<Handicap>,
    pub(super) table: &'a TranspositionTable,
    pub(super) tablebases: Option<&'a Tablebases>,
    pub(super) parts: Parts,
    pub(super) parameters: SearchParameters,
    pub(super) late_moves: &'a LateMoveTable,
    pub(super) stop: AtomicBool,
    pub(super) nodes: AtomicU64,
    pub(super) tbhits: AtomicU64,
}

/// Number of nodes between checks of the limits.
const NODES_BETWEEN_CHECKS: u64 = 32;

/// The state of a thread during one search.
pub struct SearchThread<'a> {
    pub data: &'a mut ThreadData,
    pub shared: &'a Shared<'a>,
    /// The limits; `None` for helper threads, which the main thread stops.
    pub control: Option<&'a mut Control>,
    /// The root moves to search.
    pub root_moves: Vec<Move>,
    pub stack: Vec<StackEntry>,
    /// Repetition keys of the game and of the line, oldest first.
    pub keys: Vec<u64>,
    pub interruptible: bool,
    pub stopped: bool,
    /// The evaluator's error that stopped the search.
    pub error: Option<Error>,
    pub seldepth: usize,
    /// Depth of the iteration, in plies, and its finished lines (MultiPV).
    pub iteration: u32,
    pub finished_lines: usize,
    /// The principal variation of the last iteration.
    pub line_before: Vec<Move>,
    /// The best root move of the iteration; `None` until a move exceeds the window's lower bound.
    pub best: Option<RootLine>,
    /// The results for the root moves in this iteration.
    pub searched: Vec<SearchedMove>,
    /// Nodes spent on each root move.
    root_nodes: Vec<(Move, u64)>,
    pub scored_before: u64,
    pub waited_before: Duration,
    nodes: u64,
    /// The number of `nodes` already added to the shared sum.
    published_nodes: u64,
}

impl<'a> SearchThread<'a> {
    pub fn new(
        data: &'a mut ThreadData,
        shared: &'a Shared<'a>,
        root_moves: Vec<Move>,
        control: Option<&'a mut Control>,
    ) -> Self {
        Self {
            scored_before: data.evaluator.scored(),
            waited_before: data.evaluator.waited(),
            data,
            shared,
            control,
            root_moves,
            stack: (0..MAX_PLY + 2).map(|_| StackEntry::default()).collect(),
            keys: shared.root.history().to_vec(),
            interruptible: false,
            stopped: false,
            error: None,
            seldepth: 0,
            iteration: 0,
            finished_lines: 0,
            line_before: Vec::new(),
            best: None,
            searched: Vec::new(),
            root_nodes: Vec::new(),
            nodes: 0,
            published_nodes: 0,
        }
    }

    pub fn has(&self, part: Part) -> bool {
        self.shared.parts.has(part)
    }

    /// Counts a node. Returns whether the search has to stop.
    pub fn count_node(&mut self, ply: usize) -> bool {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        if self.nodes - self.published_nodes >= NODES_BETWEEN_CHECKS {
            self.publish_nodes();
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

    /// Nodes searched by this thread.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Adds `nodes` to those spent on the root move `mv`.
    pub fn count_root_nodes(&mut self, mv: Move, nodes: u64) {
        match self.root_nodes.iter_mut().find(|(known, _)| *known == mv) {
            Some((_, sum)) => *sum += nodes,
            None => self.root_nodes.push((mv, nodes)),
        }
    }

    /// Announces a root move and its number in this line.
    pub fn begin_root_move(&mut self, mv: Move, number: usize) {
        let (depth, number) = (self.iteration, self.finished_lines + number);
        if let Some(control) = &mut self.control {
            control.begin_root_move(CurrentMove { depth, mv, number });
        }
    }

    /// The share of nodes spent on the root move `mv`, in [0, 1].
    pub fn share_of_nodes(&self, mv: Move) -> f64 {
        let all: u64 = self.root_nodes.iter().map(|(_, nodes)| nodes).sum();
        let of_move = self.root_nodes.iter().find(|(known, _)| *known == mv);
        of_move.map_or(0.0, |(_, nodes)| *nodes as f64 / all.max(1) as f64)
    }

    /// Adds this thread's new nodes to the shared sum.
    pub fn publish_nodes(&mut self) {
        self.shared.nodes.fetch_add(self.nodes - self.published_nodes, Relaxed);
        self.published_nodes = self.nodes;
    }

    /// Records a move, which leads to `child`, and prefetches the child's table and cache entries.
    pub fn make_move(&mut self, board: &Board, ply: usize, scored: ScoredMove, child: &Board) {
        self.shared.table.prefetch(child.hash());
        self.data.evaluator.prefetch(child);
        let ScoredMove { mv, piece, is_quiet, .. } = scored;
        let piece_to = PieceTo::new(piece, mv.to);
        self.stack[ply].moved = Some(MadeMove { mv, piece_to, is_quiet });
        self.keys.push(repetition_key(board));
    }

    /// Records a null move.
    pub fn make_null_move(&mut self, board: &Board, ply: usize) {
        self.stack[ply].moved = None;
        self.keys.push(repetition_key(board));
    }

    /// Takes back the last move or null move.
    pub fn unmake_move(&mut self) {
        self.keys.pop();
    }

    /// Probes the transposition table. An entry with a mate that the 50-move rule may prevent is
    /// not used.
    pub fn probe_table(&self, board: &Board, ply: usize) -> Option<Entry> {
        if !self.has(Part::TranspositionTable) {
            return None;
        }
        let left = 100usize.saturating_sub(board.halfmove_clock().into());
        let entry = self.shared.table.probe(board.hash(), ply)?;
        plies_to_mate(entry.score).is_none_or(|plies| plies <= ply + left).then_some(entry)
    }

    /// The move to search first: that of the table entry; without a table, that of the last
    /// iteration's principal variation.
    pub fn first_move(&self, ply: usize, entry: Option<Entry>) -> Option<Move> {
        if self.has(Part::TranspositionTable) {
            return entry?.mv;
        }
        let mut line = self.stack.iter().zip(&self.line_before).take(ply);
        let follows = line.all(|(made, mv)| made.moved.is_some_and(|made| made.mv == *mv));
        self.line_before.get(ply).copied().filter(|_| follows)
    }

    /// Stores an entry in the transposition table.
    pub fn store_in_table(&self, board: &Board, ply: usize, entry: Entry) {
        if self.has(Part::TranspositionTable) {
            self.shared.table.store(board.hash(), ply, entry);
        }
    }

    /// The moves that led to this ply, at the distances that index the continuation history.
    pub fn previous_moves(&self, ply: usize) -> PreviousMoves {
        let moved = |back: usize| {
            ply.checked_sub(back).and_then(|ply| self.stack[ply].moved).map(|made| made.piece_to)
        };
        let [first, second, third] = CONTINUATION_PLIES;
        [moved(first), moved(second), moved(third)]
    }

    /// The context of the quiet moves' histories at this ply.
    pub fn quiet_context(&self, ply: usize) -> QuietContext {
        let here = &self.stack[ply];
        QuietContext {
            previous: self.previous_moves(ply),
            threats: here.threats,
            pawns: self.has(Part::PawnHistory).then_some(here.pawns),
        }
    }

    /// Stores the context of the quiet moves' histories on the stack.
    pub fn prepare_context(&mut self, board: &Board, ply: usize) {
        let here = &mut self.stack[ply];
        here.pawns = pawn_key(board) as usize;
        if self.shared.parts.has(Part::ThreatHistory) {
            here.threats = attacked_squares(board, !board.side_to_move());
        }
    }

    /// Finds the correction history's slots, so that they arrive from memory while the
    /// transposition table is probed. [`Self::evaluate`] reads them.
    pub fn prepare_evaluation(&mut self, board: &Board, ply: usize) {
        let corrects = board.checkers().is_empty() && self.has(Part::CorrectionHistory);
        self.stack[ply].correction = corrects.then(|| {
            let [last, before, _] = self.previous_moves(ply);
            let places = CorrectionPlaces::of(board, [last, before]);
            self.data.correction.prefetch(&places);
            places
        });
    }

    /// Computes the static evaluation, the encoder's score with correction history, and stores it
    /// on the stack. `None` in check. [`Self::prepare_evaluation`] comes first.
    pub fn evaluate(&mut self, board: &Board, ply: usize, entry: Option<Entry>) -> Option<Score> {
        let encoded = match entry.and_then(|entry| entry.static_eval) {
            _ if !board.checkers().is_empty() => None,
            Some(score) => Some(score),
            None => Some(self.encoded_score(board)),
        };
        let places = self.stack[ply].correction;
        let static_eval = encoded.map(|score| match places {
            Some(places) => {
                let by = self.data.correction.correction(&places, &self.shared.parameters);
                corrected(score, by)
            }
            None => score,
        });
        let here = &mut self.stack[ply];
        (here.encoded, here.static_eval) = (encoded, static_eval);
        static_eval
    }

    /// The encoder's score. If the evaluator fails, the search stops, and its scores are invalid.
    fn encoded_score(&mut self, board: &Board) -> Score {
        match self.data.evaluator.value(board) {
            Ok(value) => of_estimate(match self.shared.handicap {
                Some(handicap) => blurred(value, handicap.noise(board)),
                None => value,
            }),
            Err(error) => {
                self.error.get_or_insert(error);
                self.stopped = true;
                DRAW
            }
        }
    }

    /// The gain of the side to move by the last move: the sum of the static evaluations before and
    /// after it, each for its side to move. `None` if either is missing.
    pub fn gained(&self, ply: usize) -> Option<Score> {
        let [before, now] = [ply - 1, ply].map(|ply| self.stack[ply].static_eval);
        before.zip(now).map(|(before, now)| before + now)
    }

    /// Called when quiescence search stands pat on `board`; samples leaves.
    pub fn stand_pat_on(&mut self, board: &Board) {
        if let Some(leaves) = &mut self.data.leaves {
            leaves.seen += 1;
            if leaves.seen.is_multiple_of(leaves.every) {
                leaves.taken.push(board.clone());
            }
        }
    }

    /// Sets the principal variation to `mv` followed by the next ply's.
    pub fn update_pv(&mut self, ply: usize, mv: Move) {
        let (here, below) = self.stack.split_at_mut(ply + 1);
        let pv = &mut here[ply].pv;
        pv.clear();
        pv.push(mv);
        pv.extend_from_slice(&below[0].pv);
    }
}

/// The score and line of the best root move of an iteration.
#[derive(Clone, Debug)]
pub struct RootLine {
    pub score: Score,
    pub bound: Bound,
    /// The principal variation, starting with the root move.
    pub pv: Vec<Move>,
}

/// Maximum ply of a line.
pub const MAX_PLY: usize = 128;

/// The search stack: a thread's data for one ply of the current line.
#[derive(Default)]
pub struct StackEntry {
    /// The move made here; `None` for a null move.
    pub moved: Option<MadeMove>,
    /// The encoder's score of the position; `None` in check.
    pub encoded: Option<Score>,
    /// The encoder's score plus the correction history's correction.
    pub static_eval: Option<Score>,
    /// The slots of that correction.
    pub correction: Option<CorrectionPlaces>,
    /// Squares that the opponent attacks.
    pub threats: BitBoard,
    /// A hash of the pawns.
    pub pawns: usize,
    /// Reduction of the move made here, in plies.
    pub reduction: i32,
    /// Beta cutoffs at this ply since the node two plies before was entered.
    pub cutoffs: u32,
    /// Quiet moves that caused a cutoff in siblings of this position.
    pub killers: [Option<Move>; 2],
    /// The move excluded by a singular search.
    pub excluded_move: Option<Move>,
    /// Reused memory for the move list.
    pub moves: Vec<ScoredMove>,
    /// Reused memory for the moves that caused no cutoff.
    pub failed: Vec<ScoredMove>,
    /// The principal variation from here on.
    pub pv: Vec<Move>,
}
