//! The tree of kept moves, with the value of each, and the mates that it proves.

use std::collections::HashMap;

use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use cozy_chess::{Board, Move};

use crate::value::Value;

pub const ROOT: usize = 0;

/// A position that the beam kept.
pub struct BeamNode {
    pub parent: usize,
    /// The move that led here; meaningless for the root.
    pub mv: Move,
    /// Plies from the root.
    pub ply: u32,
    /// The position's score, or its exact result, for its side to move.
    pub value: Value,
    /// Whether the value is certain: a finished game, a tablebase result or a decisive verified
    /// value.
    pub exact: bool,
    /// The position; `None` until the node is expanded.
    pub board: Option<Board>,
    /// The kept children, in the order of the beam's choice.
    pub children: std::ops::Range<usize>,
    /// All other children, if they have been requested.
    pub rest: std::ops::Range<usize>,
    /// Whether every legal move is among the children and the rest.
    pub complete: bool,
    pub best: usize,
    /// The line that verified the score, to a quiet position; empty for an unverified score.
    pub tail: Vec<Move>,
}

/// A child before the beam keeps or drops it.
pub struct Candidate {
    pub mv: Move,
    pub value: Value,
    pub exact: bool,
    /// The line that leads to the value.
    pub tail: Vec<Move>,
}

impl Candidate {
    pub fn new(mv: Move, value: Value, exact: bool) -> Self {
        Self { mv, value, exact, tail: Vec::new() }
    }
}

/// Bytes reserved for a tree; pages use memory only once they are written. Allocators map a block
/// of this size separately and return it to the system in full; smaller blocks would stay with the
/// process in fragments.
const RESERVED: usize = 40 << 20;

/// The kept positions; siblings are adjacent.
pub struct Tree {
    root: Board,
    pub nodes: Vec<BeamNode>,
}

impl Tree {
    pub fn new(root: &Board) -> Self {
        let mut nodes = Vec::new();
        // If the system refuses the memory, the tree grows with its nodes.
        let _ = nodes.try_reserve_exact(RESERVED / size_of::<BeamNode>());
        let mut tree = Self { root: root.clone(), nodes };
        tree.clear();
        tree
    }

    /// Removes all nodes except the root.
    pub fn clear(&mut self) {
        self.nodes.clear();
        // No move leads to the root, and its move and value are never used.
        let king = self.root.king(self.root.side_to_move());
        let mv = Move { from: king, to: king, promotion: None };
        self.push(ROOT, 0, Candidate::new(mv, Value::DRAW, false));
    }

    fn push(&mut self, parent: usize, ply: u32, candidate: Candidate) {
        self.nodes.push(BeamNode {
            parent,
            mv: candidate.mv,
            ply,
            value: candidate.value,
            exact: candidate.exact,
            board: None,
            children: 0..0,
            rest: 0..0,
            complete: false,
            best: 0,
            tail: candidate.tail,
        });
    }

    /// Expands a node, whose legal moves are `candidates`, the best first. Keeps the first `width` or,
    /// if it has been expanded before, all others.
    pub fn expand(&mut self, node: usize, board: Board, candidates: Vec<Candidate>, width: usize) {
        let first = self.nodes.len();
        let BeamNode { ply, board: expanded, children, .. } = &self.nodes[node];
        let (ply, moves) = (ply + 1, candidates.len());
        let kept: Vec<Move> = children.clone().map(|child| self.nodes[child].mv).collect();
        let taken = if expanded.is_none() { width } else { usize::MAX };
        let others = candidates.into_iter().filter(|candidate| !kept.contains(&candidate.mv));
        for candidate in others.take(taken) {
            self.push(node, ply, candidate);
        }
        let pushed = first..self.nodes.len();
        let node = &mut self.nodes[node];
        node.complete = kept.len() + pushed.len() == moves;
        if node.board.replace(board).is_none() {
            node.best = first;
            node.children = pushed;
        } else {
            node.rest = pushed;
        }
    }

    /// The board at a node, computed from the nearest ancestor with a board.
    pub fn board(&self, node: usize) -> Board {
        if node == ROOT {
            return self.root.clone();
        }
        let node = &self.nodes[node];
        node.board.clone().unwrap_or_else(|| board_after(&self.board(node.parent), node.mv))
    }

    /// The best line from a node: at most `length` plies of kept moves, then the verified line of
    /// the last one.
    pub fn principal_variation(&self, from: usize, length: u32) -> Vec<Move> {
        let mut line = Vec::new();
        let mut node = &self.nodes[from];
        while !node.children.is_empty() && !node.exact && line.len() < length as usize {
            node = &self.nodes[node.best];
            line.push(node.mv);
        }
        line.extend_from_slice(&node.tail);
        line
    }

    /// The mating moves of the tree against every defence, if the root's side to move mates in
    /// `plies` plies.
    pub fn proven_mates(&self, plies: u32) -> ProvenMates {
        let mut mates = ProvenMates::default();
        self.mating(ROOT, plies, &mut mates);
        mates
    }

    fn mating(&self, node: usize, plies: u32, mates: &mut ProvenMates) -> bool {
        let BeamNode { board: Some(board), .. } = &self.nodes[node] else { return false };
        let mut children = self.all_children(node);
        let Some(child) = children.find(|&child| plies > 0 && self.mated(child, plies - 1, mates))
        else {
            return false;
        };
        mates.add(repetition_key(board), self.nodes[child].mv, plies);
        true
    }

    fn mated(&self, node: usize, plies: u32, mates: &mut ProvenMates) -> bool {
        let BeamNode { value, exact, complete, .. } = &self.nodes[node];
        if *exact {
            return value.is_mated();
        }
        *complete
            && plies > 0
            && self.all_children(node).all(|child| self.mating(child, plies - 1, mates))
    }

    fn all_children(&self, node: usize) -> impl Iterator<Item = usize> + use<> {
        let BeamNode { children, rest, .. } = &self.nodes[node];
        children.clone().chain(rest.clone())
    }
}

/// Positions in which the side to move mates by force: its move, and the maximum number of plies
/// until mate. They are kept between moves, so that an announced mate is played to its end even if
/// later searches get little time.
#[derive(Default)]
pub struct ProvenMates(HashMap<u64, (Move, u32)>);

impl ProvenMates {
    fn add(&mut self, key: u64, mv: Move, plies: u32) {
        let known = self.0.entry(key).or_insert((mv, plies));
        if plies < known.1 {
            *known = (mv, plies);
        }
    }

    /// The mate of `root` against the longest defence; `None` if none is known, or if the 50-move
    /// rule or a repetition may prevent it.
    pub fn line(&self, root: &Position) -> Option<(Value, Vec<Move>)> {
        let (_, plies) = self.get(root)?;
        let in_time = u32::from(root.halfmove_clock()) + plies <= 100;
        let repeats = |key| self.0.get(key).is_some_and(|&(_, other)| other < plies);
        if !in_time || root.history().iter().any(repeats) {
            return None;
        }
        let mut position = root.clone();
        let mut line = Vec::new();
        while let Some((mv, left)) = self.get(&position) {
            line.push(mv);
            position.play(mv);
            let replies = legal_moves(position.board()).into_iter();
            let known =
                replies.filter_map(|reply| Some((reply, self.get(&position.after(reply))?.1)));
            let longest = known.max_by_key(|&(_, plies)| plies);
            // Each pair of moves reduces the distance to mate.
            let Some((reply, _)) = longest.filter(|&(_, plies)| plies < left) else { break };
            line.push(reply);
            position.play(reply);
        }
        Some((-Value::mated_in(plies), line))
    }

    fn get(&self, position: &Position) -> Option<(Move, u32)> {
        let &(mv, plies) = self.0.get(&repetition_key(position.board()))?;
        position.board().is_legal(mv).then_some((mv, plies))
    }
}
