//! Embedding-guided beam search (paper, section 3.4): every legal child is scored, the best few for
//! the side to move are kept and expanded, and values come back by minimax over what was kept.

use anyhow::Result;
use cozy_chess::{Board, Move};

use super::tree::{Candidate, ROOT, Tree};
use super::{Control, Planner, Report, Value};
use crate::inference::{Evaluator, Lookup};
use crate::position::{Position, insufficient_material, repetition_key};

/// Legal moves of a typical position, to turn positions a batch into expansions a batch.
const TYPICAL_MOVES: usize = 32;

/// How the places of the beam are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamMode {
    /// `width` children of every kept node (the authors' published code).
    Tree,
    /// `width` nodes a ply in all (another reading of the paper).
    Global,
}

/// Shape of the beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeamSettings {
    /// Moves kept at a node, or nodes kept a ply.
    pub width: usize,
    /// Plies, where the limits name none.
    pub depth: u32,
    /// Tree or global.
    pub mode: BeamMode,
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self { width: 3, depth: 6, mode: BeamMode::Tree }
    }
}

/// The paper's planner.
pub struct Beam {
    evaluator: Evaluator,
    settings: BeamSettings,
}

impl Beam {
    /// A planner with its own score cache.
    pub fn new(evaluator: Evaluator, settings: BeamSettings) -> Self {
        Self { evaluator, settings }
    }
}

impl Planner for Beam {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let depth = control.limits().depth.unwrap_or(self.settings.depth).max(1);
        let mut search = Search::new(&mut self.evaluator, self.settings, root);
        let mut last = search.iterate(1, control, false)?;
        while let Some(finished) = last.take() {
            report(&finished);
            let next = finished.depth + 1;
            let forced = search.tree.nodes[ROOT].children.len() == 1 && control.on_the_clock();
            if finished.depth >= depth || forced {
                return Ok(finished);
            }
            last = search.iterate(next, control, true)?;
            if last.is_none() {
                return Ok(finished);
            }
        }
        unreachable!("the first iteration is not interrupted")
    }

    fn new_game(&mut self) {
        self.evaluator.clear_cache();
    }
}

/// One search from one root.
struct Search<'a> {
    evaluator: &'a mut Evaluator,
    settings: BeamSettings,
    root: &'a Position,
    tree: Tree,
    /// The nodes of the last ply that still have their places (global beam).
    frontier: Vec<usize>,
    nodes: u64,
    scored_before: u64,
}

impl<'a> Search<'a> {
    fn new(evaluator: &'a mut Evaluator, settings: BeamSettings, root: &'a Position) -> Self {
        let scored_before = evaluator.scored();
        let tree = Tree::new(root.board(), Value::DRAW);
        Self { evaluator, settings, root, tree, frontier: vec![ROOT], nodes: 0, scored_before }
    }

    /// Deepens the tree to `depth` plies; `None` where a limit came first.
    fn iterate(
        &mut self,
        depth: u32,
        control: &mut Control,
        may_stop: bool,
    ) -> Result<Option<Report>> {
        let finished = match self.settings.mode {
            BeamMode::Tree => self.deepen_tree(depth, control, may_stop)?,
            BeamMode::Global => self.deepen_global(control, may_stop)?,
        };
        if !finished {
            return Ok(None);
        }
        let value = self.tree.minimax(ROOT, depth, (Value::MIN, Value::MAX), &mut Vec::new(), 0);
        let deepest = self.tree.nodes.iter().map(|node| node.ply).max();
        Ok(Some(Report {
            depth,
            seldepth: deepest.unwrap_or_default(),
            value,
            nodes: self.nodes,
            scored: self.evaluator.scored() - self.scored_before,
            time: control.elapsed(),
            hashfull: self.evaluator.permille_full(),
            pv: self.tree.principal_variation(depth),
        }))
    }

    /// Expands, a batch at a time, the nodes that alpha-beta over the kept moves comes to, until it
    /// needs no more: the choice is that of the full minimax, for fewer scored positions.
    fn deepen_tree(&mut self, depth: u32, control: &mut Control, may_stop: bool) -> Result<bool> {
        let room = (self.evaluator.recommended_batch() / TYPICAL_MOVES).max(1);
        let mut missing = Vec::new();
        loop {
            missing.clear();
            self.tree.minimax(ROOT, depth, (Value::MIN, Value::MAX), &mut missing, room);
            if missing.is_empty() {
                return Ok(true);
            }
            if may_stop && control.should_stop(self.nodes) {
                return Ok(false);
            }
            self.expand(&missing, control.limits().moves.as_slice())?;
        }
    }

    /// Expands the whole frontier and keeps the best `width` of all its children.
    fn deepen_global(&mut self, control: &mut Control, may_stop: bool) -> Result<bool> {
        if may_stop && control.should_stop(self.nodes) {
            return Ok(false);
        }
        let open = std::mem::take(&mut self.frontier);
        self.expand(&open, control.limits().moves.as_slice())?;
        let nodes = &mut self.tree.nodes;
        let mut pool: Vec<usize> =
            open.iter().flat_map(|&node| nodes[node].children.clone()).collect();
        pool.sort_by(|&a, &b| nodes[a].value.order(nodes[b].value));
        pool.truncate(self.settings.width);
        for &node in &open {
            // Children stand best first, so those that stay are the first ones.
            let children = nodes[node].children.clone();
            let kept = children.clone().filter(|child| pool.contains(child)).count();
            nodes[node].children = children.start..children.start + kept;
        }
        pool.retain(|&node| !nodes[node].exact);
        self.frontier = pool;
        Ok(true)
    }

    /// Scores all children of `open` in one go and keeps the best of each.
    fn expand(&mut self, open: &[usize], root_moves: &[Move]) -> Result<()> {
        let mut children: Vec<Vec<(Move, Lookup, Option<Value>)>> = Vec::with_capacity(open.len());
        for &node in open {
            let board = self.tree.board(node);
            let keys = self.keys_before_children(node, &board);
            let ply = self.tree.nodes[node].ply + 1;
            let mut found = Vec::with_capacity(TYPICAL_MOVES);
            for mv in legal_moves(&board) {
                if node == ROOT && !root_moves.is_empty() && !root_moves.contains(&mv) {
                    continue;
                }
                let mut child = board.clone();
                child.play_unchecked(mv);
                let (lookup, exact) = match exact_value(&child, ply, &keys) {
                    Some(value) => (Lookup::Known(0.0), Some(value)),
                    None => (self.evaluator.look_up(&child)?, None),
                };
                found.push((mv, lookup, exact));
            }
            self.nodes += found.len() as u64;
            self.tree.nodes[node].board = Some(board);
            children.push(found);
        }
        let values = self.evaluator.finish()?;
        for (&node, found) in open.iter().zip(children) {
            let candidates = found.into_iter().map(|(mv, lookup, exact)| {
                let value = exact.unwrap_or_else(|| {
                    Value::estimate(match lookup {
                        Lookup::Known(value) => value,
                        Lookup::Queued(index) => values[index],
                    })
                });
                Candidate { mv, value, exact: exact.is_some() }
            });
            self.tree.keep(node, candidates.collect(), self.settings.width);
        }
        Ok(())
    }

    /// Repetition keys of the game, of the line to `node` and of the node itself, oldest first, as
    /// far back as a child can repeat them.
    fn keys_before_children(&self, node: usize, board: &Board) -> Vec<u64> {
        let reach = usize::from(board.halfmove_clock()) + 1;
        let mut keys = vec![repetition_key(board)];
        let mut node = node;
        while node != ROOT && keys.len() < reach {
            node = self.tree.nodes[node].parent;
            keys.push(self.tree.nodes[node].board.as_ref().map_or(0, repetition_key));
        }
        let missing = reach.saturating_sub(keys.len());
        keys.extend(self.root.history().iter().rev().take(missing));
        keys.reverse();
        keys
    }
}

fn legal_moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::with_capacity(TYPICAL_MOVES);
    board.generate_moves(|piece_moves| {
        moves.extend(piece_moves);
        false
    });
    moves
}

/// The value of a finished game: mate, stalemate, the 50-move rule, insufficient material, or a
/// repetition. A position seen since the root counts as drawn when it comes again, an earlier one
/// when it comes a third time. `keys` ends with the position before.
fn exact_value(board: &Board, ply: u32, keys: &[u64]) -> Option<Value> {
    if !board.generate_moves(|_| true) {
        let mated = !board.checkers().is_empty();
        return Some(if mated { Value::mated_at(ply) } else { Value::DRAW });
    }
    let clock = usize::from(board.halfmove_clock());
    if clock >= 100 || insufficient_material(board) {
        return Some(Value::DRAW);
    }
    if clock < 4 {
        return None;
    }
    let key = repetition_key(board);
    // Every second position before has the same side to move; the last of `keys` is 1 ply back.
    let mut repeats = (4..=clock.min(keys.len()))
        .step_by(2)
        .filter(|distance| keys[keys.len() - distance] == key);
    let latest = repeats.next()?;
    (latest <= ply as usize || repeats.next().is_some()).then_some(Value::DRAW)
}
