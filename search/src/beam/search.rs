//! One thread of a beam search from a root; its tree is deepened ply by ply.

use std::iter::{once, successors};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use azimuth_chess::position::{Position, TYPICAL_MOVES, board_after, legal_moves, repetition_key};
use azimuth_network::policy::Policy;
use cozy_chess::{Board, Move};

use super::batched_quiescence::Rules;
use super::settings::BeamSettings;
use super::tree::{Candidate, ROOT, Tree};
use super::verification::{Child, Verifier};
use crate::control::{Control, Report, blurred};
use crate::explanation::{SearchedMove, record_searched};
use crate::inference::{Evaluator, Lookup};
use crate::tablebase::Tablebases;
use crate::value::{self, Bound, Value};

/// Number of kept positions at which a search ends; they take less than 1 GB.
const MAX_NODES: usize = 4_000_000;

/// Number of kept positions from which dropping a tree takes 1 ms or more.
const LARGE_TREE: usize = 100_000;

/// The data shared by the threads of a search, and the number of the thread.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub settings: BeamSettings,
    /// Rules of the batched quiescence search that verifies children, if the encoder runs
    /// elsewhere.
    pub quiescence: Option<Rules>,
    /// The policy head that helps to choose the children to keep.
    pub policy: Option<&'a Policy>,
    pub tablebases: Option<&'a Tablebases>,
    pub root: &'a Position,
    pub root_moves: &'a [Move],
    /// Number of positions searched by all threads.
    pub nodes: &'a AtomicU64,
    /// The thread's number, which is also the index of the kept child that it searches first:
    /// threads start with different ones.
    pub thread: usize,
}

/// The state of a thread during one search.
pub struct BeamSearch<'a> {
    pub evaluator: &'a mut Evaluator,
    pub task: Task<'a>,
    /// Verifies scores by searches, if the encoder runs on the search threads.
    pub verifier: Option<Verifier<'a>>,
    pub control: &'a mut Control,
    pub tree: Tree,
    /// Root moves whose lines this iteration has found.
    searched_lines: Vec<usize>,
    /// Nodes to expand in the next batch.
    to_expand: Vec<usize>,
    interruptible: bool,
    stopped: bool,
    pub seldepth: u32,
    tbhits: u64,
    /// The results for the root moves in this iteration.
    pub searched: Vec<SearchedMove>,
    scored_before: u64,
    waited_before: Duration,
}

/// A node with all its children, before the beam keeps some.
pub struct Expansion {
    node: usize,
    board: Board,
    /// The keys of the positions before the children, as for [`value::terminal_value`].
    pub keys: Vec<u64>,
    /// The children's plies from the root.
    pub ply: u32,
    pub children: Vec<Child>,
}

/// Which children of a node are requested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Children {
    Kept,
    All,
}

impl<'a> BeamSearch<'a> {
    pub fn new(
        evaluator: &'a mut Evaluator,
        task: Task<'a>,
        verifier: Option<Verifier<'a>>,
        control: &'a mut Control,
    ) -> Self {
        Self {
            scored_before: evaluator.scored(),
            waited_before: evaluator.waited(),
            evaluator,
            task,
            verifier,
            control,
            tree: Tree::new(task.root.board()),
            searched_lines: Vec::new(),
            to_expand: Vec::new(),
            interruptible: false,
            stopped: false,
            seldepth: 0,
            tbhits: 0,
            searched: Vec::new(),
        }
    }

    /// Deepens the tree to `depth` plies and returns its lines, best first; `None` if a limit
    /// stopped it.
    pub fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>> {
        self.interruptible = interruptible;
        let reaches_further = self.verifier.as_mut().is_some_and(|verifier| verifier.begin(depth));
        if reaches_further {
            // Verification to a greater depth may keep moves that were dropped before.
            self.tree.clear();
        }
        let mut lines = Vec::new();
        self.searched_lines.clear();
        self.searched.clear();
        for _ in 0..self.multipv() {
            let Some(value) = self.search_line(depth)? else { return Ok(None) };
            if value == Value::MIN {
                // All root moves have a line.
                break;
            }
            self.searched_lines.push(self.tree.nodes[ROOT].best);
            lines.push((value, self.tree.principal_variation(ROOT, depth)));
        }
        Ok(Some(lines.into_iter().map(|(value, pv)| self.report(depth, value, pv)).collect()))
    }

    /// Sets the number of moves kept at each node. If it changes, the tree starts anew; the scores
    /// of the old tree are in the cache.
    pub fn widen(&mut self, width: usize) {
        if width == self.task.settings.width {
            return;
        }
        self.task.settings.width = width;
        discard(std::mem::replace(&mut self.tree, Tree::new(self.task.root.board())));
    }

    /// Ends the search and frees the tree.
    pub fn discard(self) {
        discard(self.tree);
    }

    fn multipv(&self) -> usize {
        self.control.limits().multipv.max(1)
    }

    fn report(&self, depth: u32, value: Value, pv: Vec<Move>) -> Report {
        let mut report = Report { depth, seldepth: self.seldepth, ..Report::of(value, pv) };
        self.add_costs(&mut report);
        report
    }

    /// Adds the costs of the search so far to a report.
    pub fn add_costs(&self, report: &mut Report) {
        report.nodes = self.task.nodes.load(Relaxed);
        report.tbhits = report.tbhits.max(self.tbhits);
        report.scored = self.evaluator.scored() - self.scored_before;
        report.time = self.control.elapsed();
        report.waited = self.evaluator.waited() - self.waited_before;
        report.hashfull = self.evaluator.permille_full();
    }

    /// The value of the best root move without a line, after expanding all nodes that it depends
    /// on; `None` if a limit stopped the search.
    fn search_line(&mut self, depth: u32) -> Result<Option<Value>> {
        loop {
            self.to_expand.clear();
            let value = self.minimax(ROOT, depth, (Value::MIN, Value::MAX))?;
            if self.stopped {
                return Ok(None);
            }
            if self.to_expand.is_empty() {
                return Ok(Some(value));
            }
            if self.must_stop() {
                return Ok(None);
            }
            let nodes = std::mem::take(&mut self.to_expand);
            self.expand(&nodes)?;
            self.to_expand = nodes;
        }
    }

    /// Minimax over the kept moves to `depth` plies below `node`, by alpha-beta: it makes the
    /// choice of the full minimax with fewer scored positions. A node counts as mated only after
    /// all its moves, not only the kept ones, have been searched. Nodes that are not expanded yet
    /// have their static evaluation until they are.
    fn minimax(
        &mut self,
        node: usize,
        depth: u32,
        (mut alpha, beta): (Value, Value),
    ) -> Result<Value> {
        let static_value = self.tree.nodes[node].value;
        if self.tree.nodes[node].exact || depth == 0 {
            return Ok(static_value);
        }
        if depth == 1 && self.may_end_at(node) {
            return Ok(self.value_at_horizon(node, (alpha, beta))?.unwrap_or(static_value));
        }
        if !self.ensure_children(node, Children::Kept)? {
            return Ok(static_value);
        }
        let mut best = Value::MIN;
        for wanted in [Children::Kept, Children::All] {
            if wanted == Children::All && (best == Value::MIN || !best.is_mated()) {
                break;
            }
            if !self.ensure_children(node, wanted)? {
                return Ok(Value::LOST);
            }
            let children = match wanted {
                Children::Kept => self.tree.nodes[node].children.clone(),
                Children::All => self.tree.nodes[node].rest.clone(),
            };
            for child in self.order_of(node, children) {
                if self.searched_lines.contains(&child) {
                    continue;
                }
                let value = -self.minimax(child, depth - 1, (-beta, -alpha))?;
                if self.stopped {
                    return Ok(static_value);
                }
                if node == ROOT {
                    let (mv, bound) = (self.tree.nodes[child].mv, Bound::of(value, alpha, beta));
                    record_searched(&mut self.searched, SearchedMove { mv, value, bound, depth });
                }
                if value > best {
                    best = value;
                    self.tree.nodes[node].best = child;
                }
                if best > alpha {
                    alpha = best;
                }
                if alpha >= beta {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    /// Whether the children of `node` are leaves that are not stored in the tree.
    fn may_end_at(&self, node: usize) -> bool {
        self.verifier.is_some() && node != ROOT && self.tree.nodes[node].board.is_none()
    }

    /// The order in which a node's children are searched; each thread starts with a different one.
    /// If scores are verified, the best child of the last iteration comes first.
    fn order_of(&self, node: usize, children: Range<usize>) -> Vec<usize> {
        let first = children.start + self.task.thread % children.len().max(1);
        let mut order: Vec<usize> = (first..children.end).chain(children.start..first).collect();
        if self.verifier.is_some() {
            let best = self.tree.nodes[node].best;
            order.sort_by_key(|&child| child != best);
        }
        order
    }

    /// Whether these children are in the tree. If not, expands the node at once or, if the encoder
    /// runs elsewhere, in the next batch.
    fn ensure_children(&mut self, node: usize, wanted: Children) -> Result<bool> {
        let known = &self.tree.nodes[node];
        let there = match wanted {
            Children::Kept => known.board.is_some(),
            Children::All => known.complete,
        };
        if there {
            return Ok(true);
        }
        if !self.evaluator.answers_at_once() {
            let room = (self.evaluator.recommended_batch() / TYPICAL_MOVES).max(1);
            if self.to_expand.len() < room {
                self.to_expand.push(node);
            }
            return Ok(false);
        }
        if self.must_stop() {
            return Ok(false);
        }
        self.expand(&[node])?;
        Ok(!self.stopped)
    }

    pub fn must_stop(&mut self) -> bool {
        let full = self.tree.nodes.len() > MAX_NODES;
        if full {
            self.control.end_by("the beam's tree is full");
        }
        self.stopped |=
            self.interruptible && (full || self.control.should_stop(self.task.nodes.load(Relaxed)));
        self.stopped
    }

    /// Scores all children of `open` in one batch and keeps the best of each node or, if a node has
    /// been expanded before, the others.
    fn expand(&mut self, open: &[usize]) -> Result<()> {
        let handicap = self.control.limits().handicap;
        let mut expanded = Vec::with_capacity(open.len());
        // The scores of the children without an exact value, and the noise to add to each.
        let mut asked = Vec::<(Lookup, f32)>::new();
        for &node in open {
            let board = self.tree.board(node);
            let keys = self.keys_before_children(node, &board);
            let ply = self.tree.nodes[node].ply + 1;
            let moves =
                if node == ROOT { self.task.root_moves.to_vec() } else { legal_moves(&board) };
            let mut boards = Vec::with_capacity(moves.len());
            for &mv in &moves {
                let child = board_after(&board, mv);
                self.evaluator.prefetch(&child);
                boards.push(child);
            }
            let mut children = Vec::with_capacity(moves.len());
            for (mv, board) in moves.into_iter().zip(boards) {
                let exact = self.exact_value(&board, ply, &keys);
                if exact.is_none() {
                    let noise = handicap.map_or(0.0, |handicap| handicap.noise(&board));
                    asked.push((self.evaluator.look_up(&board)?, noise));
                }
                let value = exact.unwrap_or(Value::DRAW);
                let candidate = Candidate::new(mv, value, exact.is_some());
                children.push(Child { board, candidate });
            }
            self.task.nodes.fetch_add(children.len() as u64, Relaxed);
            self.seldepth = self.seldepth.max(ply);
            expanded.push(Expansion { node, board, keys, ply, children });
        }
        let values = self.evaluator.finish()?;
        for (candidate, (lookup, noise)) in estimates(&mut expanded).zip(asked) {
            candidate.value = Value::estimate(blurred(lookup.value(&values), noise));
        }
        if let Some(rules) = self.task.quiescence
            && !self.verify_in_batches(&mut expanded, rules)?
        {
            return Ok(());
        }
        for Expansion { node, board, keys, children, .. } in expanded {
            let lines = if node == ROOT { self.multipv() } else { 1 };
            let width = self.task.settings.width.max(lines);
            let mut candidates = if self.verifier.is_some() {
                let asked_before = self.tree.nodes[node].board.is_some();
                let width = if asked_before { usize::MAX } else { width };
                match self.verify(node, &board, keys, children, width)? {
                    Some(candidates) => candidates,
                    None => return Ok(()),
                }
            } else {
                children.into_iter().map(|child| child.candidate).collect()
            };
            sort_candidates(&mut candidates, &board, self.task.policy);
            self.tree.expand(node, board, candidates, width);
        }
        Ok(())
    }

    pub fn exact_value(&mut self, board: &Board, ply: u32, keys: &[u64]) -> Option<Value> {
        value::terminal_value(board, ply, keys).or_else(|| {
            let value = self.task.tablebases?.value(board, ply)?;
            self.tbhits += 1;
            Some(value)
        })
    }

    pub fn keys_before_children(&self, node: usize, board: &Board) -> Vec<u64> {
        let nodes = &self.tree.nodes;
        let path = successors(Some(node), |&node| (node != ROOT).then(|| nodes[node].parent));
        let before = path.skip(1).map(|node| nodes[node].board.as_ref().map_or(0, repetition_key));
        let line = once(repetition_key(board)).chain(before);
        value::keys_before_children(board, line, self.task.root.history())
    }
}

/// The rank of a child is the logit of its win probability times this weight, plus the policy's
/// logit.
const VALUE_WEIGHT: f32 = 8.0;

/// Win probabilities are at least this far from 0 and 1, so that their logits are finite.
const LEAST_CHANCE: f32 = 1e-4;

/// The rank of a move among the moves of a position, given the win probability that the encoder
/// expects after it, for the side that moves, and the policy's logit. The beam keeps the moves of the
/// highest ranks.
pub fn rank_with_policy(chance: f32, logit: f32) -> f32 {
    let chance = chance.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE);
    VALUE_WEIGHT * (chance / (1.0 - chance)).ln() + logit
}

/// Sorts the children of `board`, those that the beam keeps first. The sort is stable: equal moves
/// stay in the order of generation, and the choice is reproducible.
fn sort_candidates(candidates: &mut Vec<Candidate>, board: &Board, policy: Option<&Policy>) {
    // A child's value is for its own side to move, so the lowest is best here.
    let by_value = |a: &Candidate, b: &Candidate| a.value.order(b.value);
    let Some(policy) = policy else { return candidates.sort_by(by_value) };
    let moves: Vec<Move> = candidates.iter().map(|candidate| candidate.mv).collect();
    let rank = |value: Value, logit: f32| match value.is_decisive() {
        true => f32::INFINITY.copysign(if value < Value::DRAW { 1.0 } else { -1.0 }),
        false => rank_with_policy((-value).win_probability(), logit),
    };
    let ranked = candidates.drain(..).zip(policy.logits(board, &moves));
    let mut ranked: Vec<_> =
        ranked.map(|(candidate, logit)| (rank(candidate.value, logit), candidate)).collect();
    ranked.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(by_value(a, b)));
    candidates.extend(ranked.into_iter().map(|(_, candidate)| candidate));
}

/// The children whose values are not exact.
pub fn estimates(expanded: &mut [Expansion]) -> impl Iterator<Item = &mut Candidate> {
    let children = expanded.iter_mut().flat_map(|expansion| &mut expansion.children);
    children.map(|child| &mut child.candidate).filter(|candidate| !candidate.exact)
}

/// Drops a large tree in another thread, because freeing its memory would delay the answer.
fn discard(tree: Tree) {
    if tree.nodes.len() > LARGE_TREE {
        // If no thread can start, the tree is dropped here.
        let _ = thread::Builder::new().spawn(move || drop(tree));
    }
}
