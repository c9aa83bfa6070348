//! Embedding-guided beam search (paper, section 3.4): every legal child is scored, the best few for
//! the side to move are kept and expanded, and values come back by minimax over what was kept.

use std::time::Duration;

use anyhow::{Context, Result};
use cozy_chess::{Board, Move};

use super::tree::{Candidate, ROOT, Tree};
use super::{Control, Planner, Report, Value};
use crate::inference::{Evaluator, Lookup};
use crate::position::{Position, insufficient_material, repetition_key};

/// Legal moves of a typical position, to turn positions a batch into expansions a batch.
const TYPICAL_MOVES: usize = 32;

/// Deepest ply of any search.
const MAX_DEPTH: u32 = 128;

/// Kept positions at which a search ends: under a gigabyte.
const MAX_NODES: usize = 4_000_000;

/// How the places of the beam are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamMode {
    /// `width` children of every kept node (the authors' published code).
    Tree,
    /// `width` nodes a ply in all (another reading of the paper).
    Global,
}

impl BeamMode {
    /// As options and settings write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Global => "global",
        }
    }

    /// The mode of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Tree, Self::Global].into_iter().find(|mode| mode.name() == name)
    }
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
        let depth = control.limits().depth.unwrap_or(self.settings.depth).clamp(1, MAX_DEPTH);
        let mut search = Search::new(&mut self.evaluator, self.settings, root);
        let mut best = None;
        for depth in 1..=depth {
            // The first iteration is not interrupted, so that there is a move.
            let Some(finished) = search.iterate(depth, control, best.is_some())? else { break };
            report(&finished);
            best = Some(finished);
            let forced = search.tree.nodes[ROOT].children.len() == 1;
            if forced && control.on_the_clock() {
                break;
            }
        }
        best.context("no iteration finished")
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
    waited_before: Duration,
}

impl<'a> Search<'a> {
    fn new(evaluator: &'a mut Evaluator, settings: BeamSettings, root: &'a Position) -> Self {
        Self {
            scored_before: evaluator.scored(),
            waited_before: evaluator.waited(),
            evaluator,
            settings,
            root,
            tree: Tree::new(root.board()),
            frontier: vec![ROOT],
            nodes: 0,
        }
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
            waited: self.evaluator.waited() - self.waited_before,
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
            let full = self.tree.nodes.len() > MAX_NODES;
            if may_stop && (full || control.should_stop(self.nodes)) {
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
        let mut children: Vec<Vec<(Move, Score)>> = Vec::with_capacity(open.len());
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
                self.evaluator.prefetch(&child);
                let score = match exact_value(&child, ply, &keys) {
                    Some(value) => Score::Exact(value),
                    None => Score::Estimate(self.evaluator.look_up(&child)?),
                };
                found.push((mv, score));
            }
            self.nodes += found.len() as u64;
            self.tree.nodes[node].board = Some(board);
            children.push(found);
        }
        let values = self.evaluator.finish()?;
        for (&node, found) in open.iter().zip(children) {
            let candidates = found.into_iter().map(|(mv, score)| {
                let (value, exact) = match score {
                    Score::Exact(value) => (value, true),
                    Score::Estimate(Lookup::Known(value)) => (Value::estimate(value), false),
                    Score::Estimate(Lookup::Queued(i)) => (Value::estimate(values[i]), false),
                };
                Candidate { mv, value, exact }
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

/// A child's score before the encoder has answered.
enum Score {
    /// The game is over there.
    Exact(Value),
    /// The encoder's, known or on its way.
    Estimate(Lookup),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use candle_core::{DType, Device};

    use super::*;
    use crate::inference::Worker;
    use crate::search::Limits;
    use crate::weights::Weights;

    const FENS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 95 70",
        "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 1",
    ];

    fn evaluator() -> Result<Evaluator> {
        let weights = Arc::new(Weights::embedded()?);
        let worker = Worker::start(weights, &Device::Cpu, DType::F32, Box::new(|_| ()))?;
        Ok(Evaluator::new(&worker, 16))
    }

    fn search(beam: &mut Beam, root: &Position, limits: Limits) -> Result<Report> {
        beam.search(root, &mut Control::without_signals(limits), &mut |_| ())
    }

    /// The paper's search as it is written: every kept node expanded, nothing pruned.
    fn plain_minimax(
        evaluator: &mut Evaluator,
        board: &Board,
        keys: &[u64],
        ply: u32,
        depth: u32,
        width: usize,
    ) -> Result<(Value, Option<Move>)> {
        let keys = [keys, &[repetition_key(board)]].concat();
        let mut children = Vec::new();
        for mv in legal_moves(board) {
            let mut child = board.clone();
            child.play_unchecked(mv);
            let exact = exact_value(&child, ply + 1, &keys);
            let value = match exact {
                Some(value) => value,
                None => Value::estimate(match evaluator.look_up(&child)? {
                    Lookup::Known(value) => value,
                    Lookup::Queued(_) => evaluator.finish()?[0],
                }),
            };
            children.push((value, exact.is_some(), mv, child));
        }
        children.sort_by(|a, b| a.0.order(b.0));
        let (mut best, mut choice) = (Value::MIN, None);
        for (value, exact, mv, child) in children.into_iter().take(width) {
            let value = match exact || depth == 1 {
                true => value,
                false => plain_minimax(evaluator, &child, &keys, ply + 1, depth - 1, width)?.0,
            };
            if -value > best {
                (best, choice) = (-value, Some(mv));
            }
        }
        Ok((best, choice))
    }

    #[test]
    fn pruning_changes_no_choice() -> Result<()> {
        for fen in FENS {
            let root = Position::from_fen(fen)?;
            for (width, depth) in [(3, 4), (2, 6), (5, 3)] {
                let expected =
                    plain_minimax(&mut evaluator()?, root.board(), &[], 0, depth, width)?;
                let settings = BeamSettings { width, depth, mode: BeamMode::Tree };
                let mut beam = Beam::new(evaluator()?, settings);
                let report = search(&mut beam, &root, Limits::default())?;
                assert_eq!((report.value, report.pv.first().copied()), expected, "{fen}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_second_search_scores_nothing_again() -> Result<()> {
        let mut beam = Beam::new(evaluator()?, BeamSettings::default());
        let root = Position::default();
        let first = search(&mut beam, &root, Limits::default())?;
        let second = search(&mut beam, &root, Limits::default())?;
        assert_eq!((first.value, &first.pv), (second.value, &second.pv));
        assert!(first.scored > 1000, "{}", first.scored);
        assert!(second.scored * 50 < first.scored, "{}", second.scored);
        Ok(())
    }

    #[test]
    fn the_global_beam_keeps_its_width_each_ply() -> Result<()> {
        for fen in FENS {
            let root = Position::from_fen(fen)?;
            let settings = BeamSettings { width: 3, depth: 6, mode: BeamMode::Global };
            let report = search(&mut Beam::new(evaluator()?, settings), &root, Limits::default())?;
            assert_eq!(report.depth, 6);
            // One expansion at the root and three a ply after it.
            assert!(report.nodes < 16 * 80, "{fen}: {}", report.nodes);
            let mut position = root.clone();
            for mv in report.pv {
                assert!(position.board().is_legal(mv), "{fen}: {mv}");
                position.play(mv);
            }
        }
        Ok(())
    }

    #[test]
    fn draws_are_exact() -> Result<()> {
        let mut beam = Beam::new(evaluator()?, BeamSettings::default());
        let mut value_of = |fen: &str, played: &str, mv: &str| -> Result<Value> {
            let mut root = Position::from_fen(fen)?;
            for text in played.split_whitespace() {
                root.play(root.parse_move(text)?);
            }
            let moves = vec![root.parse_move(mv)?];
            let limits = Limits { depth: Some(1), moves, ..Limits::default() };
            Ok(search(&mut beam, &root, limits)?.value)
        };
        let stalemate = value_of("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "", "g6f7")?;
        assert_eq!(stalemate, Value::DRAW);
        let fifty = value_of("7k/8/8/8/8/8/R7/K7 w - - 99 80", "", "a2b2")?;
        assert_eq!(fifty, Value::DRAW);
        let bare = value_of("7k/8/8/8/8/8/1p6/K7 w - - 0 1", "", "a1b2")?;
        assert_eq!(bare, Value::DRAW);
        let queen = "7k/8/8/8/8/8/Q7/K7 w - - 0 1";
        let twice = "a2b2 h8g8 b2a2 g8h8";
        assert_ne!(value_of(queen, "a2b2 h8g8 b2a2", "g8h8")?, Value::DRAW);
        let third = value_of(queen, &format!("{twice} a2b2 h8g8 b2a2"), "g8h8")?;
        assert_eq!(third, Value::DRAW);
        Ok(())
    }

    #[test]
    fn mate_comes_before_the_fifty_move_rule_and_in_the_fewest_moves() -> Result<()> {
        let mut beam = Beam::new(evaluator()?, BeamSettings::default());
        let root = Position::from_fen("6k1/5ppp/8/8/8/8/8/K2R4 w - - 99 80")?;
        let report = search(&mut beam, &root, Limits::default())?;
        assert_eq!(report.value.mate_in(), Some(1));
        assert_eq!(report.pv, vec![root.parse_move("d1d8")?]);
        Ok(())
    }
}
