//! The recursive search.

use anyhow::Result;
use azimuth::search::{Control, terminal_value};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use cozy_chess::{Board, Color, Move};

use super::judge::Judge;
use super::ordering::order;
use super::worth::Worth;

/// The result of a node and its principal variation.
pub type Found<L> = (Worth<L>, Vec<Move>);

/// A search of one root.
pub struct Search<'a, J: Judge> {
    pub judge: &'a mut J,
    pub control: &'a mut Control,
    /// Number of positions visited.
    pub nodes: u64,
    /// The principal variation of the previous iteration.
    pub line_before: Vec<Move>,
    /// Repetition keys of the positions before the current one.
    keys: Vec<u64>,
    /// Whether limits may stop the search.
    pub interruptible: bool,
}

impl<'a, J: Judge> Search<'a, J> {
    pub fn new(root: &Position, judge: &'a mut J, control: &'a mut Control) -> Self {
        let keys = root.history().to_vec();
        Self { judge, control, nodes: 0, line_before: Vec::new(), keys, interruptible: false }
    }

    /// The best of `moves` at the root, searched `depth` plies deep (at least 1). `None` if a limit
    /// stopped the search.
    pub fn root(
        &mut self,
        board: &Board,
        moves: &[Move],
        depth: u32,
    ) -> Result<Option<Found<J::Leaf>>> {
        self.judge.enter(None, board);
        let found = self.best_of(board, moves.to_vec(), depth, 0, [None, None]);
        self.judge.leave();
        found
    }

    /// The best of `moves` at a node where the game is not over. `window` holds the best results so
    /// far of White and of Black.
    fn best_of(
        &mut self,
        board: &Board,
        mut moves: Vec<Move>,
        depth: u32,
        ply: u32,
        mut window: [Option<Worth<J::Leaf>>; 2],
    ) -> Result<Option<Found<J::Leaf>>> {
        order(board, &mut moves, self.line_before.get(ply as usize).copied());
        self.keys.push(repetition_key(board));
        let found = match depth {
            0 | 1 => self.best_leaf(board, &moves, ply).map(Some),
            _ => self.best_child(board, &moves, depth, ply, &mut window),
        };
        self.keys.pop();
        found
    }

    /// The best of the positions after `moves`, all judged in one batch.
    fn best_leaf(&mut self, board: &Board, moves: &[Move], ply: u32) -> Result<Found<J::Leaf>> {
        let children: Vec<_> = moves.iter().map(|&mv| (mv, board_after(board, mv))).collect();
        self.nodes += children.len() as u64;
        let side = board.side_to_move();
        let over = |(_, child): &(Move, Board)| terminal_value(child, ply + 1, &self.keys);
        let ends: Vec<_> = children.iter().map(over).collect();
        let open = children.iter().zip(&ends).filter(|(_, end)| end.is_none());
        let open: Vec<_> = open.map(|(child, _)| child.clone()).collect();
        let mut leaves = match open.is_empty() {
            true => Vec::new(),
            false => self.judge.leaves(board, &open)?,
        }
        .into_iter();
        let mut best: Option<Found<J::Leaf>> = None;
        for ((mv, _), end) in children.iter().zip(ends) {
            let worth = match (end, end.is_none().then(|| leaves.next()).flatten()) {
                (Some(value), _) => Worth::certain(value, !side),
                (None, Some(leaf)) => Worth::Leaf(leaf),
                (None, None) => continue,
            };
            self.keep_better(&mut best, (worth, vec![*mv]), side)?;
        }
        best.ok_or_else(|| anyhow::anyhow!("no legal move in '{board}'"))
    }

    fn best_child(
        &mut self,
        board: &Board,
        moves: &[Move],
        depth: u32,
        ply: u32,
        window: &mut [Option<Worth<J::Leaf>>; 2],
    ) -> Result<Option<Found<J::Leaf>>> {
        let side = board.side_to_move();
        let mut best: Option<Found<J::Leaf>> = None;
        for (index, &mv) in moves.iter().enumerate() {
            if self.interruptible && self.control.should_stop(self.nodes) {
                return Ok(None);
            }
            if index > 0 {
                // The move ordering hint is only valid along the principal variation itself.
                self.line_before.truncate(ply as usize);
            }
            let child = board_after(board, mv);
            self.nodes += 1;
            let found = match terminal_value(&child, ply + 1, &self.keys) {
                Some(value) => (Worth::certain(value, child.side_to_move()), Vec::new()),
                None => {
                    self.judge.enter(Some(board), &child);
                    let moves = legal_moves(&child);
                    let found = self.best_of(&child, moves, depth - 1, ply + 1, window.clone());
                    self.judge.leave();
                    let Some(found) = found? else { return Ok(None) };
                    found
                }
            };
            let (worth, mut line) = found;
            line.insert(0, mv);
            if self.keep_better(&mut best, (worth.clone(), line), side)? {
                if let Some(limit) = &window[!side as usize]
                    && !limit.is_better(&worth, side, self.judge)?
                {
                    // The opponent has a better alternative earlier in the line (a cutoff).
                    break;
                }
                let own = &mut window[side as usize];
                let raises = match own {
                    Some(own) => worth.is_better(own, side, self.judge)?,
                    None => true,
                };
                if raises {
                    *own = Some(worth);
                }
            }
        }
        Ok(best)
    }

    /// Keeps the better of `best` and `found` for `side`. Returns whether `found` was better.
    fn keep_better(
        &mut self,
        best: &mut Option<Found<J::Leaf>>,
        found: Found<J::Leaf>,
        side: Color,
    ) -> Result<bool> {
        let better = match best {
            None => true,
            Some((worth, _)) => found.0.is_better(worth, side, self.judge)?,
        };
        if better {
            *best = Some(found);
        }
        Ok(better)
    }
}

#[cfg(test)]
mod tests {
    use azimuth::search::{Limits, Value};

    use super::super::evaluation::{Evaluates, Evaluation};
    use super::*;

    /// Gives each position a pseudorandom value and checks that `enter` and `leave` match.
    #[derive(Default)]
    struct Oracle(Vec<Board>);

    impl Evaluates for Oracle {
        fn enter(&mut self, from: Option<&Board>, board: &Board) {
            assert_eq!(from, self.0.last());
            self.0.push(board.clone());
        }

        fn leave(&mut self) {
            self.0.pop();
        }

        fn evaluate_children(
            &mut self,
            parent: &Board,
            children: &[(Move, Board)],
        ) -> Result<Vec<f32>> {
            assert_eq!(self.0.last(), Some(parent));
            Ok(children.iter().map(|(_, board)| oracle(board)).collect())
        }

        fn evaluate(&mut self, board: &Board) -> Result<f32> {
            Ok(oracle(board))
        }
    }

    fn oracle(board: &Board) -> f32 {
        let mixed = board.hash().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        mixed as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// The document's minimax without pruning, from the side to move's point of view.
    fn minimax(board: &Board, depth: u32, ply: u32, keys: &mut Vec<u64>) -> (Value, u64) {
        let (mut best, mut nodes) = (Value::MIN, 0);
        keys.push(repetition_key(board));
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            nodes += 1;
            let value = match terminal_value(&child, ply + 1, keys) {
                Some(value) => -value,
                None if depth == 1 => {
                    let white = Value::estimate(oracle(&child));
                    if board.side_to_move() == Color::White { white } else { -white }
                }
                None => {
                    let (value, below) = minimax(&child, depth - 1, ply + 1, keys);
                    nodes += below;
                    -value
                }
            };
            if value > best {
                best = value;
            }
        }
        keys.pop();
        (best, nodes)
    }

    #[test]
    fn alpha_beta_equals_plain_minimax() -> Result<()> {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 98 80",
            // Mates, and draws by bare kings.
            "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
            "8/8/8/8/8/1k6/1p6/1K5R b - - 0 1",
        ] {
            let root = Position::from_fen(fen)?;
            for depth in 1..=3 {
                let mut judge = Evaluation(Oracle::default());
                let mut control = Control::without_signals(Limits::default());
                let mut search = Search::new(&root, &mut judge, &mut control);
                let found = search.root(root.board(), &legal_moves(root.board()), depth)?;
                let nodes = search.nodes;
                let (worth, line) = found.expect("nothing interrupts it");
                let side = root.board().side_to_move();
                let (expected, all) = minimax(root.board(), depth, 0, &mut Vec::new());
                assert_eq!(worth.value(side, &mut judge)?, expected, "{fen}, {depth}");
                assert!(!line.is_empty() && root.board().is_legal(line[0]));
                assert!(depth < 3 || nodes < all, "{nodes} of {all}");
            }
        }
        Ok(())
    }
}
