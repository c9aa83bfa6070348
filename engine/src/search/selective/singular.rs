//! Singular extensions: a table move is searched deeper if all other moves are much worse.

use cozy_chess::{Board, Move};

use super::node::{Node, NodeInfo};
use super::parameters::SINGULAR_MIN_DEPTH;
use super::parts::Part;
use super::score::{Score, is_decisive};
use super::stack::MAX_PLY;
use super::thread::SearchThread;
use crate::search::bound::Bound;

/// The result of a search without the table move.
pub(super) enum Singularity {
    /// Plies by which the table move is extended; may be negative.
    Extension(i32),
    /// Another move reaches beta, too, so the node is cut off with this score (multi-cut).
    MultiCut(Score),
}

impl SearchThread<'_> {
    /// Tests whether `mv` is a singular table move: all other moves, searched to half the depth,
    /// score clearly below the table's score.
    pub(super) fn singularity(
        &mut self,
        board: &Board,
        node: Node,
        info: &NodeInfo,
        mv: Move,
    ) -> Singularity {
        let Node { ply, depth, beta, .. } = node;
        let worth_trying = self.has(Part::SingularExtensions)
            && ply > 0
            && ply < MAX_PLY / 2
            && depth >= SINGULAR_MIN_DEPTH
            && self.stack[ply].excluded_move.is_none();
        let Some(entry) = info.entry.filter(|entry| {
            worth_trying
                && entry.mv == Some(mv)
                && entry.depth >= depth - 3
                && entry.bound != Bound::Upper
                && !is_decisive(entry.score)
        }) else {
            return Singularity::Extension(0);
        };
        let singular_beta = entry.score - self.shared.parameters.singular_margin * depth / 16;
        self.stack[ply].excluded_move = Some(mv);
        let score = self.search(board, node.in_zero_window(singular_beta, (depth - 1) / 2));
        self.stack[ply].excluded_move = None;
        match score {
            _ if self.stopped => Singularity::Extension(0),
            _ if score < singular_beta => {
                let far = score < singular_beta - self.shared.parameters.singular_double_margin;
                Singularity::Extension(1 + i32::from(far && !node.is_pv()))
            }
            _ if singular_beta >= beta => Singularity::MultiCut(singular_beta),
            _ if entry.score >= beta => Singularity::Extension(-1),
            _ => Singularity::Extension(0),
        }
    }
}
