//! Quiescence search in batches, for an encoder on another thread or a device: each ply of captures
//! of all positions is one batch. A side may stand pat on its static value. In check all its moves
//! are searched.
//!
//! A sequential search can prune with the values of earlier captures. This one knows only the
//! static values on the line to a position: if alpha is at least beta there, its captures are not
//! searched. This pruning is sound: all values are those of the full minimax.

use std::iter::successors;
use std::ops::Range;

use anyhow::Result;
use azimuth_chess::placement::Placement;
use azimuth_chess::position::{board_after, legal_moves, repetition_key};
use azimuth_chess::see::StaticExchange;
use cozy_chess::{Board, Move, Piece};

use crate::inference::{Evaluator, Lookup};
use crate::selective::{Part, SelectiveSettings, is_quiet};
use crate::value::{Value, keys_before_children};

/// Maximum number of plies of a line. The side to move at its end stands pat, even in check.
const MAX_PLIES: u32 = 8;

/// Number of positions below a start at which its lines end. Most starts have fewer than five; the
/// limit bounds the work in positions with many captures.
const MAX_POSITIONS: usize = 64;

/// The captures to search, and the limits of the search.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Minimum static exchange value of a capture, in pawns.
    pub least_gain: i32,
    pub max_plies: u32,
    /// Number of positions below a start at which its lines end; the ply that reaches it is the
    /// last.
    pub max_positions: usize,
}

impl Rules {
    /// The rules for the settings of a selective search; `None` if quiescence search is off.
    pub fn of(SelectiveSettings { parts, parameters, .. }: &SelectiveSettings) -> Option<Self> {
        let least_gain = match parts.has(Part::SeePruning) {
            true => parameters.quiescence_least_gain,
            false => i32::MIN,
        };
        let (max_plies, max_positions) = (MAX_PLIES, MAX_POSITIONS);
        parts.has(Part::Quiescence).then_some(Self { least_gain, max_plies, max_positions })
    }
}

/// A position to evaluate, in which the game is not over.
pub struct Start<'k> {
    pub board: Board,
    /// Plies from the root.
    pub ply: u32,
    /// The static value for the side to move.
    pub value: Value,
    /// The keys of the earlier positions, as for [`crate::value::terminal_value`].
    pub keys: &'k [u64],
}

/// The value of a start for its side to move, and the line of captures that leads to it.
pub type Resolved = (Value, Vec<Move>);

/// The search trees of several positions.
pub struct BatchedQuiescence<'k> {
    rules: Rules,
    starts: Vec<Lines<'k>>,
    /// The starts, then the positions of each ply; siblings are adjacent.
    nodes: Vec<QuiescenceNode>,
    /// The nodes of the last ply.
    frontier: Range<usize>,
    /// Number of plies below the starts.
    plies: u32,
}

/// The lines from one start.
struct Lines<'k> {
    keys: &'k [u64],
    positions: usize,
    end: bool,
}

struct QuiescenceNode {
    board: Board,
    /// Index of the parent and the move from it; `None` for a start.
    before: Option<(usize, Move)>,
    start: usize,
    /// Plies from the root.
    ply: u32,
    /// The best known value for the side to move; the minimum in check until a move has a value.
    value: Value,
    /// Whether the value is certain: a finished game or a tablebase result.
    exact: bool,
    /// Alpha and beta for the side to move, from the static values on the line.
    window: (Value, Value),
    children: Range<usize>,
    /// The best child, if it is better than standing pat.
    best: Option<usize>,
}

impl<'k> BatchedQuiescence<'k> {
    pub fn new(rules: Rules, starts: impl IntoIterator<Item = Start<'k>>) -> Self {
        let (mut all, mut nodes) = (Vec::new(), Vec::new());
        for Start { board, ply, value, keys } in starts {
            let mut node = QuiescenceNode::new(board, None, all.len(), ply);
            if !node.in_check() {
                node.stand_pat(value);
            }
            all.push(Lines { keys, positions: 0, end: false });
            nodes.push(node);
        }
        let frontier = 0..nodes.len();
        Self { rules, starts: all, nodes, frontier, plies: 0 }
    }

    /// Adds the next ply: every capture at the last one that may change a value, and every evasion
    /// of a check. `exact` returns a certain value, if any, given a position, its plies from the
    /// root, and the keys before it. Returns the number of positions added, which [`Self::score`]
    /// has to score next; 0 at the end.
    pub fn deepen(&mut self, mut exact: impl FnMut(&Board, u32, &[u64]) -> Option<Value>) -> usize {
        let first = self.nodes.len();
        for place in self.frontier.clone() {
            let node = &self.nodes[place];
            let (alpha, beta) = node.window;
            if node.exact || alpha >= beta || self.starts[node.start].end {
                continue;
            }
            let (start, ply) = (node.start, node.ply + 1);
            let moves = self.moves(node);
            let keys = self.keys_before_children(place);
            let first = self.nodes.len();
            for mv in moves {
                let child = board_after(&self.nodes[place].board, mv);
                let value = exact(&child, ply, &keys);
                let mut child = QuiescenceNode::new(child, Some((place, mv)), start, ply);
                child.window = (-beta, -alpha);
                if let Some(value) = value {
                    (child.value, child.exact) = (value, true);
                }
                self.nodes.push(child);
            }
            let children = first..self.nodes.len();
            self.starts[start].positions += children.len();
            self.nodes[place].children = children;
        }
        self.frontier = first..self.nodes.len();
        self.plies += 1;
        let Rules { max_plies, max_positions, .. } = self.rules;
        for lines in &mut self.starts {
            lines.end = self.plies >= max_plies || lines.positions >= max_positions;
        }
        self.frontier.len()
    }

    /// Scores the ply that [`Self::deepen`] added, in one batch.
    pub fn score(&mut self, evaluator: &mut Evaluator) -> Result<()> {
        let mut asked = Vec::<(usize, Lookup)>::new();
        for place in self.frontier.clone() {
            let node = &self.nodes[place];
            if !node.exact && (!node.in_check() || self.starts[node.start].end) {
                asked.push((place, evaluator.look_up(&node.board)?));
            }
        }
        let values = evaluator.finish()?;
        for (place, lookup) in asked {
            self.nodes[place].stand_pat(Value::estimate(lookup.value(&values)));
        }
        Ok(())
    }

    /// The selective depth, in plies from the root.
    pub fn seldepth(&self) -> u32 {
        self.nodes.iter().map(|node| node.ply).max().unwrap_or(0)
    }

    /// The results of the starts, in their order.
    pub fn resolved(mut self) -> Vec<Resolved> {
        // Children follow their parents in `nodes`.
        for place in (0..self.nodes.len()).rev() {
            let (mut value, mut best) = (self.nodes[place].value, None);
            for child in self.nodes[place].children.clone() {
                let reached = -self.nodes[child].value;
                if reached > value {
                    (value, best) = (reached, Some(child));
                }
            }
            let node = &mut self.nodes[place];
            (node.value, node.best) = (value, best);
        }
        let resolved = |start: &QuiescenceNode| (start.value, self.line(start));
        self.nodes.iter().take(self.starts.len()).map(resolved).collect()
    }

    fn line(&self, start: &QuiescenceNode) -> Vec<Move> {
        let next = |node: &&QuiescenceNode| node.best.map(|child| &self.nodes[child]);
        let nodes = successors(next(&start), next);
        nodes.filter_map(|node| node.before).map(|(_, mv)| mv).collect()
    }

    /// All moves in check; otherwise the captures and queen promotions that gain enough.
    fn moves(&self, node: &QuiescenceNode) -> Vec<Move> {
        let board = &node.board;
        let mut moves = legal_moves(board);
        if node.in_check() {
            return moves;
        }
        moves.retain(|&mv| {
            let underpromotes = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
            !underpromotes && !is_quiet(board, mv)
        });
        // Most nodes are quiet, and preparing exchanges takes time.
        if !moves.is_empty() {
            let placement = Placement::of(board);
            let exchange = StaticExchange::new(&placement);
            moves.retain(|&mv| exchange.see_of_move(mv) >= self.rules.least_gain);
        }
        moves
    }

    fn keys_before_children(&self, place: usize) -> Vec<u64> {
        let node = &self.nodes[place];
        let before = |node: &&QuiescenceNode| node.before.map(|(place, _)| &self.nodes[place]);
        let line = successors(Some(node), before).map(|node| repetition_key(&node.board));
        keys_before_children(&node.board, line, self.starts[node.start].keys)
    }
}

impl QuiescenceNode {
    fn new(board: Board, before: Option<(usize, Move)>, start: usize, ply: u32) -> Self {
        Self {
            board,
            before,
            start,
            ply,
            value: Value::MIN,
            exact: false,
            window: (Value::MIN, Value::MAX),
            children: 0..0,
            best: None,
        }
    }

    fn in_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    fn stand_pat(&mut self, value: Value) {
        self.value = value;
        if value > self.window.0 {
            self.window.0 = value;
        }
    }
}
