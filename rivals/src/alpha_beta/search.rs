//! The recursive search.

use anyhow::Result;
use azimuth::search::{Control, terminal_value};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use cozy_chess::{Board, Color, Move};

use super::judge::Judge;
use super::memory::{Bound, Memory, Remembered};
use super::ordering::order;
use super::worth::Worth;

/// The result of a node and its principal variation.
pub type Found<L> = (Worth<L>, Vec<Move>);

/// A search of one root.
pub struct Search<'a, J: Judge> {
    pub judge: &'a mut J,
    memory: &'a mut Memory<J::Leaf>,
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
    pub fn new(
        root: &Position,
        judge: &'a mut J,
        memory: &'a mut Memory<J::Leaf>,
        control: &'a mut Control,
    ) -> Self {
        let keys = root.history().to_vec();
        let line_before = Vec::new();
        Self { judge, memory, control, nodes: 0, line_before, keys, interruptible: false }
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
        let key = repetition_key(board);
        // At the root some moves may be left out.
        let known = self.memory.get(key).filter(|known| ply > 0 && board.is_legal(known.best));
        let known = known.cloned();
        if let Some(known) = &known
            && known.depth >= depth
            && self.decides(known, board.side_to_move(), &window)?
        {
            return Ok(Some((known.worth.clone(), vec![known.best])));
        }
        let best_before = self.line_before.get(ply as usize).copied();
        order(board, &mut moves, best_before.or(known.map(|known| known.best)));
        self.keys.push(key);
        let found = match depth {
            0 | 1 => self.best_leaf(board, &moves, ply).map(|found| Some((found, Bound::Exact))),
            _ => self.best_child(board, &moves, depth, ply, &mut window),
        };
        self.keys.pop();
        let Some((found, bound)) = found? else { return Ok(None) };
        if let (true, Some(&best)) = (ply > 0, found.1.first()) {
            let worth = found.0.clone();
            self.memory.set(key, Remembered { worth, bound, best, depth });
        }
        Ok(Some(found))
    }

    /// Whether a known result makes a search in this window unnecessary.
    fn decides(
        &mut self,
        known: &Remembered<J::Leaf>,
        side: Color,
        window: &[Option<Worth<J::Leaf>>; 2],
    ) -> Result<bool> {
        let [own, limit] = [&window[side as usize], &window[!side as usize]];
        Ok(match (known.bound, own, limit) {
            (Bound::Exact, _, _) => true,
            (Bound::AtLeast, _, Some(limit)) => !limit.is_better(&known.worth, side, self.judge)?,
            (Bound::AtMost, Some(own), _) => !known.worth.is_better(own, side, self.judge)?,
            _ => false,
        })
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

    /// The best of the positions after `moves`, each searched `depth` - 1 plies deep.
    fn best_child(
        &mut self,
        board: &Board,
        moves: &[Move],
        depth: u32,
        ply: u32,
        window: &mut [Option<Worth<J::Leaf>>; 2],
    ) -> Result<Option<(Found<J::Leaf>, Bound)>> {
        let side = board.side_to_move();
        let mut best: Option<Found<J::Leaf>> = None;
        // If this side has no earlier result to beat, all moves together give the exact result.
        let mut bound = if window[side as usize].is_some() { Bound::AtMost } else { Bound::Exact };
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
                    bound = Bound::AtLeast;
                    break;
                }
                let own = &mut window[side as usize];
                let raises = match own {
                    Some(own) => worth.is_better(own, side, self.judge)?,
                    None => true,
                };
                if raises {
                    *own = Some(worth);
                    bound = Bound::Exact;
                }
            }
        }
        Ok(best.map(|best| (best, bound)))
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
            // Less than the positions of a search, so that some are forgotten.
            let sizes = [0, 1000];
            for (depth, count) in (1..=3).flat_map(|depth| sizes.map(|count| (depth, count))) {
                let mut judge = Evaluation(Oracle::default());
                let mut control = Control::without_signals(Limits::default());
                let mut memory = Memory::new(count);
                let mut search = Search::new(&root, &mut judge, &mut memory, &mut control);
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

    #[test]
    fn a_remembered_position_is_searched_once() -> Result<()> {
        // Kings that can only walk reach every position by many paths.
        let root = Position::from_fen("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")?;
        let moves = legal_moves(root.board());
        let mut memory = Memory::new(1 << 16);
        let nodes = |memory: &mut Memory<f32>| -> Result<u64> {
            let (mut judge, limits) = (Evaluation(Oracle::default()), Limits::default());
            let mut control = Control::without_signals(limits);
            let mut search = Search::new(&root, &mut judge, memory, &mut control);
            search.root(root.board(), &moves, 7)?;
            Ok(search.nodes)
        };
        let (without, with) = (nodes(&mut Memory::new(0))?, nodes(&mut memory)?);
        assert!(2 * with < without, "{with} of {without}");
        // The second search finds the children of the root.
        let again = nodes(&mut memory)?;
        assert!(again <= 2 * moves.len() as u64, "{again}");
        memory.clear();
        assert_eq!(nodes(&mut memory)?, with);
        Ok(())
    }
}
