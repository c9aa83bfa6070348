//! Monte Carlo tree search without random games (seed document 004, section 2.3.3): the network's
//! value replaces the rollout, and its policy guides the selection.

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_search::{Value, terminal_value};
use cozy_chess::Move;

/// The prediction for a position.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// Every legal move and its probability; the probabilities sum to 1.
    pub policy: Vec<(Move, f32)>,
    /// The value for the side to move, in [-1, 1].
    pub value: f32,
}

/// The weight of exploration (the document's).
const EXPLORATION: f32 = 1.0;

/// A simulation in each tree: selection, expansion by the assessments of the leaves, which `assess`
/// gives in one batch, and backpropagation.
pub fn simulate(
    trees: &mut [Tree],
    assess: impl FnOnce(&[&Position]) -> Result<Vec<Assessment>>,
) -> Result<()> {
    let leaves: Vec<Leaf> = trees.iter_mut().map(Tree::select).collect();
    let open = leaves.iter().filter(|leaf| leaf.end.is_none());
    let open: Vec<&Position> = open.map(|leaf| &leaf.position).collect();
    let assessed = if open.is_empty() { Vec::new() } else { assess(&open)? };
    let mut assessed = assessed.iter();
    for (tree, leaf) in trees.iter_mut().zip(&leaves) {
        match leaf.end {
            Some(value) => tree.back_up(leaf, value),
            None => tree.expand(leaf, assessed.next().context("no assessment")?),
        }
    }
    Ok(())
}

pub struct Tree {
    root: Position,
    /// The root is the first.
    nodes: Vec<TreeNode>,
}

struct TreeNode {
    /// Empty until the node is expanded.
    edges: Vec<Edge>,
    visits: u32,
    /// The value for the side to move if the game is over.
    end: Option<f32>,
}

struct Edge {
    mv: Move,
    prior: f32,
    visits: u32,
    /// Sum of the backed-up values, from the point of view of the side that moves.
    total: f32,
    child: Option<usize>,
}

/// The end of a selection: a position that a network must evaluate, or one in which the game is
/// over.
struct Leaf {
    /// Nodes and the edges taken from them.
    path: Vec<(usize, usize)>,
    node: usize,
    position: Position,
    /// The value for the side to move if the game is over.
    end: Option<f32>,
}

impl Tree {
    /// A tree with a root in which the game is not over.
    pub fn new(root: &Position) -> Self {
        let node = TreeNode { edges: Vec::new(), visits: 0, end: None };
        Self { root: root.clone(), nodes: vec![node] }
    }

    pub fn simulations(&self) -> u32 {
        self.nodes[0].visits
    }

    /// Keeps only these of the root's moves, once it is expanded.
    pub fn keep(&mut self, moves: &[Move]) {
        self.nodes[0].edges.retain(|edge| moves.contains(&edge.mv));
    }

    /// Selection: follows the best edges from the root to a node that is not expanded or is
    /// terminal.
    fn select(&mut self) -> Leaf {
        let (mut position, mut node, mut path) = (self.root.clone(), 0, Vec::new());
        while let Some(edge) = self.nodes[node].best_edge() {
            path.push((node, edge));
            position.play(self.nodes[node].edges[edge].mv);
            node = match self.nodes[node].edges[edge].child {
                Some(child) => child,
                None => self.add_child(node, edge, &position, path.len() as u32),
            };
        }
        let end = self.nodes[node].end;
        Leaf { path, node, position, end }
    }

    fn add_child(&mut self, node: usize, edge: usize, position: &Position, ply: u32) -> usize {
        let end = terminal_value(position.board(), ply, position.history());
        let end = end.map(|value| match value {
            Value::DRAW => 0.0,
            value => (2.0 * value.win_probability() - 1.0).signum(),
        });
        let child = self.nodes.len();
        self.nodes.push(TreeNode { edges: Vec::new(), visits: 0, end });
        self.nodes[node].edges[edge].child = Some(child);
        child
    }

    /// Expansion and backpropagation of a leaf that is not terminal.
    fn expand(&mut self, leaf: &Leaf, assessment: &Assessment) {
        let edge = |&(mv, prior)| Edge { mv, prior, visits: 0, total: 0.0, child: None };
        self.nodes[leaf.node].edges = assessment.policy.iter().map(edge).collect();
        self.back_up(leaf, assessment.value);
    }

    /// Backpropagation. `value` is from the point of view of the side to move at the leaf; its sign
    /// changes at every edge.
    fn back_up(&mut self, leaf: &Leaf, mut value: f32) {
        self.nodes[leaf.node].visits += 1;
        for &(node, edge) in leaf.path.iter().rev() {
            value = -value;
            self.nodes[node].visits += 1;
            let edge = &mut self.nodes[node].edges[edge];
            edge.visits += 1;
            edge.total += value;
        }
    }

    /// The root moves with their visits and mean values for the side to move, most visited first.
    pub fn root_moves(&self) -> Vec<(Move, u32, f32)> {
        let mut moves: Vec<_> =
            self.nodes[0].edges.iter().map(|edge| (edge.mv, edge.visits, edge.value())).collect();
        moves.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.total_cmp(&a.2)));
        moves
    }

    /// The most visited line that starts with a root move.
    pub fn line(&self, first: Move) -> Vec<Move> {
        let mut line = vec![first];
        let edge = self.nodes[0].edges.iter().find(|edge| edge.mv == first);
        let mut next = edge.and_then(|edge| edge.child);
        while let Some(node) = next {
            let most = self.nodes[node].edges.iter().max_by_key(|edge| edge.visits);
            let Some(edge) = most.filter(|edge| edge.visits > 0) else { break };
            line.push(edge.mv);
            next = edge.child;
        }
        line
    }
}

impl TreeNode {
    /// The edge with the highest upper confidence bound: its mean value plus
    /// E = c p v_parent / (1 + v_edge).
    fn best_edge(&self) -> Option<usize> {
        let bound = |edge: &Edge| {
            let exploration = EXPLORATION * edge.prior * self.visits as f32;
            edge.value() + exploration / (1 + edge.visits) as f32
        };
        let bounds = self.edges.iter().map(bound).enumerate();
        let best = bounds.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(index, _)| index)
    }
}

impl Edge {
    /// The mean value; 0 before the first visit.
    fn value(&self) -> f32 {
        if self.visits == 0 { 0.0 } else { self.total / self.visits as f32 }
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_mut;

    use super::*;

    /// An assessment with the same value for every position and uniform probabilities.
    fn assess(position: &Position, value: f32) -> Assessment {
        let moves = azimuth_chess::position::legal_moves(position.board());
        let even = 1.0 / moves.len() as f32;
        Assessment { policy: moves.into_iter().map(|mv| (mv, even)).collect(), value }
    }

    #[test]
    fn visits_and_signs_on_a_tree_worked_out_by_hand() -> anyhow::Result<()> {
        // White has two king moves, one of which ends the game.
        let root = Position::from_fen("7k/8/8/8/8/8/p7/K7 w - - 0 1")?;
        let moves = azimuth_chess::position::legal_moves(root.board());
        assert_eq!(moves.len(), 2, "Kxa2 and Kb2");
        let taken = moves.iter().position(|mv| mv.to == cozy_chess::Square::A2).expect("Kxa2");
        let other = 1 - taken;
        let mut tree = Tree::new(&root);
        // 1: the root itself.
        let leaf = tree.select();
        assert!(leaf.path.is_empty() && leaf.end.is_none());
        let mut policy = assess(&root, 0.5);
        policy.policy[taken].1 = 0.25;
        policy.policy[other].1 = 0.75;
        tree.expand(&leaf, &policy);
        // 2: E is 0.25 x 1 / 1 and 0.75 x 1 / 1: the other move. It is worth 0.5 to Black, so -0.5
        // to White.
        let leaf = tree.select();
        assert_eq!(leaf.path, [(0, other)]);
        let answer = assess(&leaf.position, 0.5);
        tree.expand(&leaf, &answer);
        // 3: 0.25 x 2 = 0.5 against -0.5 + 0.75 x 2 / 2 = 0.25: the capture, a draw by bare kings.
        let leaf = tree.select();
        assert_eq!((leaf.path.as_slice(), leaf.end), (&[(0, taken)][..], Some(0.0)));
        tree.back_up(&leaf, 0.0);
        // 4: 0 + 0.25 x 3 / 2 = 0.375 against -0.5 + 0.75 x 3 / 2 = 0.625: the other move, and on
        // to a reply.
        let leaf = tree.select();
        assert_eq!((leaf.path.len(), leaf.path[0]), (2, (0, other)));
        let answer = assess(&leaf.position, -1.0);
        tree.expand(&leaf, &answer);
        // The reply was worth -1 to White, which is to move after it: 1 to Black, -1 to White at
        // the root.
        assert_eq!(tree.simulations(), 4);
        let found = tree.root_moves();
        assert_eq!(found[0], (moves[other], 2, (-0.5 - 1.0) / 2.0));
        assert_eq!(found[1], (moves[taken], 1, 0.0));
        assert_eq!(tree.line(moves[other]).len(), 2);
        Ok(())
    }

    #[test]
    fn a_mate_is_worth_one_to_who_gives_it() -> anyhow::Result<()> {
        let root = Position::from_fen("6k1/5ppp/8/8/8/8/8/3R2K1 w - - 0 1")?;
        let mut tree = Tree::new(&root);
        let equal =
            |leaves: &[&Position]| Ok(leaves.iter().map(|leaf| assess(leaf, 0.0)).collect());
        for _ in 0..400 {
            simulate(from_mut(&mut tree), equal)?;
        }
        let best = tree.root_moves()[0];
        assert_eq!((best.0.to_string().as_str(), best.2), ("d1d8", 1.0));
        Ok(())
    }
}
