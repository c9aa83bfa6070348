//! Aspiration windows: an iteration begins with a narrow window around the score of the one before.

use super::node::Node;
use super::parameters::{ASPIRATION_MAX_DELTA, ASPIRATION_MIN_DEPTH};
use super::parts::Part;
use super::score::{INFINITE, Score, is_decisive};
use super::thread::SearchThread;

impl SearchThread<'_> {
    /// Searches the root to `depth` plies, in a window around the expected score, which is widened
    /// until it contains the score. `best` holds the result; if a limit stops the search, the best
    /// root move so far that exceeded the window's lower bound, if any.
    pub(super) fn aspiration_search(&mut self, depth: i32, expected: Option<Score>) {
        let narrow = self.has(Part::AspirationWindows) && depth >= ASPIRATION_MIN_DEPTH;
        let mut delta = self.shared.parameters.aspiration_delta;
        let (mut alpha, mut beta) = match expected {
            Some(score) if narrow && !is_decisive(score) => (score - delta, score + delta),
            _ => (-INFINITE, INFINITE),
        };
        let board = self.shared.root.board().clone();
        loop {
            self.best = None;
            let root = Node { ply: 0, depth, alpha, beta, cut_node: false };
            let score = self.search(&board, root);
            delta += delta / 2;
            if self.stopped || alpha < score && score < beta {
                return;
            }
            if score <= alpha {
                (alpha, beta) = (score - delta, (alpha + beta) / 2);
            } else {
                beta = score + delta;
            }
            if delta > ASPIRATION_MAX_DELTA {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }
}
