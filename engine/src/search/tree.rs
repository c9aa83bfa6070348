//! The tree of kept moves: which lines the beam follows, what each is worth, and which positions
//! must be expanded before the root's choice is settled.

use cozy_chess::{Board, Move};

use super::Value;

/// Index of the root.
pub(super) const ROOT: usize = 0;

/// A position that the beam kept.
pub(super) struct Node {
    pub(super) parent: usize,
    /// The move that led here; meaningless at the root.
    pub(super) mv: Move,
    /// Plies from the root.
    pub(super) ply: u32,
    /// Its own score, or its exact result, for its side to move.
    pub(super) value: Value,
    /// Whether the game is over here.
    pub(super) exact: bool,
    /// Where it was expanded.
    pub(super) board: Option<Board>,
    /// The kept children, best first for this node's side to move.
    pub(super) children: std::ops::Range<usize>,
    /// The child of the best line, set by [`Tree::minimax`].
    best: usize,
}

/// A child before the cut.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) mv: Move,
    pub(super) value: Value,
    pub(super) exact: bool,
}

/// The kept positions; children of one node are neighbours.
pub(super) struct Tree {
    root: Board,
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn new(root: &Board) -> Self {
        // No move led to the root, and nothing reads its move or its own value.
        let mv = Move {
            from: root.king(root.side_to_move()),
            to: root.king(root.side_to_move()),
            promotion: None,
        };
        let node = Node {
            parent: ROOT,
            mv,
            ply: 0,
            value: Value::DRAW,
            exact: false,
            board: None,
            children: 0..0,
            best: 0,
        };
        Self { root: root.clone(), nodes: vec![node] }
    }

    /// Keeps the `width` candidates that are best for the side to move at `parent`.
    pub(super) fn keep(&mut self, parent: usize, mut candidates: Vec<Candidate>, width: usize) {
        // A child's value is its own side's: the lowest is best here. The sort is stable, so equal
        // moves stay in the order of generation and every run chooses alike.
        candidates.sort_by(|a, b| a.value.order(b.value));
        let first = self.nodes.len();
        let ply = self.nodes[parent].ply + 1;
        for candidate in candidates.into_iter().take(width) {
            self.nodes.push(Node {
                parent,
                mv: candidate.mv,
                ply,
                value: candidate.value,
                exact: candidate.exact,
                board: None,
                children: 0..0,
                best: 0,
            });
        }
        self.nodes[parent].children = first..self.nodes.len();
        self.nodes[parent].best = first;
    }

    /// The board at a node, played from the nearest ancestor that has one.
    pub(super) fn board(&self, node: usize) -> Board {
        if node == ROOT {
            return self.root.clone();
        }
        let node = &self.nodes[node];
        node.board.clone().unwrap_or_else(|| {
            let mut board = self.board(node.parent);
            board.play_unchecked(node.mv);
            board
        })
    }

    /// Minimax over the kept moves to `depth` plies below `node`, by alpha-beta. Nodes that had to
    /// be expanded for an exact answer are put into `missing`, at most `room` of them, and stand in
    /// with their own score; the answer is exact where none was missing.
    pub(super) fn minimax(
        &mut self,
        node: usize,
        depth: u32,
        (mut alpha, beta): (Value, Value),
        missing: &mut Vec<usize>,
        room: usize,
    ) -> Value {
        let Node { value, exact, children, board, .. } = &self.nodes[node];
        if *exact || depth == 0 {
            return *value;
        }
        if board.is_none() {
            if missing.len() < room {
                missing.push(node);
            }
            return *value;
        }
        if children.is_empty() {
            // All its children lost their places to others (global beam).
            return *value;
        }
        let mut best = Value::MIN;
        for child in children.clone() {
            let value = -self.minimax(child, depth - 1, (-beta, -alpha), missing, room);
            if value > best {
                best = value;
                self.nodes[node].best = child;
            }
            if best > alpha {
                alpha = best;
            }
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// The best line, at most `depth` plies of it.
    pub(super) fn principal_variation(&self, depth: u32) -> Vec<Move> {
        let mut line = Vec::new();
        let mut node = &self.nodes[ROOT];
        while !node.children.is_empty() && !node.exact && line.len() < depth as usize {
            node = &self.nodes[node.best];
            line.push(node.mv);
        }
        line
    }
}
