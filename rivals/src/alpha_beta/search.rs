//! The recursive search, its move ordering, and its memory of results.

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_search::{Control, terminal_value};
use cozy_chess::{Board, Color, Move, Piece};

use super::evaluation::{Judge, Leaf, Worth};

/// The result of a node and its principal variation.
pub type Found<L> = (Worth<L>, Vec<Move>);

/// A search of one root.
pub struct Search<'a, J: Judge> {
    judge: &'a mut J,
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

    /// The best of `moves` at the root, searched `depth` plies deep (at least 1). If a limit stops
    /// the search, the best of those that were searched, or `None` if there are none.
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
        window: [Option<Worth<J::Leaf>>; 2],
    ) -> Result<Option<Found<J::Leaf>>> {
        let key = repetition_key(board);
        // Not at the root, where `moves` may lack some legal moves.
        let known = self.memory.get(key).filter(|known| ply > 0 && board.is_legal(known.best));
        let known = known.cloned();
        if let Some(known) = &known
            && known.depth >= depth
            && known.decides(board.side_to_move(), &window)?
        {
            return Ok(Some((known.worth.clone(), vec![known.best])));
        }
        let best_before = self.line_before.get(ply as usize).copied();
        order_moves(board, &mut moves, best_before.or(known.map(|known| known.best)));
        let mut best = Best::new(window, board.side_to_move());
        self.keys.push(key);
        let complete = match depth {
            0 | 1 => self.search_leaves(board, &moves, ply, &mut best),
            _ => self.search_children(board, &moves, depth, ply, &mut best),
        };
        self.keys.pop();
        let complete = complete?;
        let Best { found, bound, .. } = best;
        match found {
            // The root searches the best move of the previous iteration first, so its result is
            // usable even if a limit stopped the search.
            Some(found) if complete || ply == 0 => {
                if let (true, Some(&best)) = (ply > 0, found.1.first()) {
                    let worth = found.0.clone();
                    self.memory.set(key, Remembered { worth, bound, best, depth });
                }
                Ok(Some(found))
            }
            _ => Ok(None),
        }
    }

    /// Adds the positions after `moves` to `best`. They are judged a few at a time, until one of
    /// them ends the node. Returns whether the search is complete.
    fn search_leaves(
        &mut self,
        board: &Board,
        moves: &[Move],
        ply: u32,
        best: &mut Best<J::Leaf>,
    ) -> Result<bool> {
        for moves in moves.chunks(self.judge.at_once().max(1)) {
            let children: Vec<_> = moves.iter().map(|&mv| (mv, board_after(board, mv))).collect();
            self.nodes += children.len() as u64;
            let over = |(_, child): &(Move, Board)| terminal_value(child, ply + 1, &self.keys);
            let ends: Vec<_> = children.iter().map(over).collect();
            let open = children.iter().zip(&ends).filter(|(_, end)| end.is_none());
            let open: Vec<_> = open.map(|(child, _)| child.clone()).collect();
            let mut leaves = match open.is_empty() {
                true => Vec::new(),
                false => self.judge.leaves(board, &open)?,
            }
            .into_iter();
            for ((mv, child), end) in children.iter().zip(ends) {
                let worth = match end {
                    Some(value) => Worth::certain(value, child.side_to_move()),
                    None => Worth::Leaf(leaves.next().context("the judge left out a position")?),
                };
                if best.add((worth, vec![*mv]))? {
                    return Ok(true);
                }
            }
        }
        Ok(true)
    }

    /// Adds the positions after `moves`, each searched `depth` - 1 plies deep, to `best`, until one
    /// of them ends the node. Returns whether the search is complete; a limit can stop it.
    fn search_children(
        &mut self,
        board: &Board,
        moves: &[Move],
        depth: u32,
        ply: u32,
        best: &mut Best<J::Leaf>,
    ) -> Result<bool> {
        for (index, &mv) in moves.iter().enumerate() {
            if self.interruptible && self.control.should_stop(self.nodes) {
                return Ok(false);
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
                    let window = best.window.clone();
                    let found = self.best_of(&child, moves, depth - 1, ply + 1, window);
                    self.judge.leave();
                    let Some(found) = found? else { return Ok(false) };
                    found
                }
            };
            let (worth, mut line) = found;
            line.insert(0, mv);
            if best.add((worth, line))? {
                return Ok(true);
            }
        }
        Ok(true)
    }
}

/// The best move so far of a node.
struct Best<L> {
    found: Option<Found<L>>,
    bound: Bound,
    /// The best results so far of White and of Black, here and earlier in the line.
    window: [Option<Worth<L>>; 2],
    side: Color,
}

impl<L: Leaf> Best<L> {
    fn new(window: [Option<Worth<L>>; 2], side: Color) -> Self {
        // Without an earlier result of this side to beat, the best of all moves is exact.
        let bound = if window[side as usize].is_some() { Bound::AtMost } else { Bound::Exact };
        Self { found: None, bound, window, side }
    }

    /// Adds the result of a move. Returns whether it ends the node: the opponent has a better
    /// alternative earlier in the line (a cutoff).
    fn add(&mut self, found: Found<L>) -> Result<bool> {
        let (worth, side) = (found.0.clone(), self.side);
        let is_better = match &self.found {
            None => true,
            Some((best, _)) => worth.is_better(best, side)?,
        };
        if !is_better {
            return Ok(false);
        }
        self.found = Some(found);
        if let Some(limit) = &self.window[!side as usize]
            && !limit.is_better(&worth, side)?
        {
            self.bound = Bound::AtLeast;
            return Ok(true);
        }
        let own = &mut self.window[side as usize];
        let raises = match own {
            Some(own) => worth.is_better(own, side)?,
            None => true,
        };
        if raises {
            *own = Some(worth);
            self.bound = Bound::Exact;
        }
        Ok(false)
    }
}

/// Sorts the moves, the most promising first.
fn order_moves(board: &Board, moves: &mut [Move], best_before: Option<Move>) {
    moves.sort_by_key(|&mv| std::cmp::Reverse((Some(mv) == best_before, mvv_lva(board, mv))));
}

/// The MVV-LVA score: 16 for each rank of the captured piece and of a promotion, less the rank of
/// the moving piece. 0 for other moves.
fn mvv_lva(board: &Board, mv: Move) -> i32 {
    let rank = |piece: Option<Piece>| piece.map_or(0, |piece| piece as i32 + 1);
    let opponents = board.colors(!board.side_to_move());
    let taken = if opponents.has(mv.to) { rank(board.piece_on(mv.to)) } else { 0 };
    let taken = taken + rank(mv.promotion);
    if taken == 0 { 0 } else { 16 * taken - rank(board.piece_on(mv.from)) }
}

/// A fixed number of places for results.
pub struct Memory<L> {
    places: Vec<Option<(u64, Remembered<L>)>>,
}

impl<L> Memory<L> {
    /// A memory of `count` positions; with 0 it remembers nothing.
    pub fn new(count: usize) -> Self {
        Self { places: (0..count).map(|_| None).collect() }
    }

    /// The result of the position with this key; `None` if it is not stored.
    pub fn get(&self, key: u64) -> Option<&Remembered<L>> {
        let (known, result) = self.places.get(self.place(key)?)?.as_ref()?;
        (*known == key).then_some(result)
    }

    /// Remembers a result, except that of a finished game. Such a result can differ between paths:
    /// the distance to mate depends on the ply, and a draw can depend on earlier positions.
    pub fn set(&mut self, key: u64, result: Remembered<L>) {
        if let (Some(place), Worth::Leaf(_)) = (self.place(key), &result.worth) {
            self.places[place] = Some((key, result));
        }
    }

    /// Forgets all results.
    pub fn clear(&mut self) {
        self.places.iter_mut().for_each(|place| *place = None);
    }

    fn place(&self, key: u64) -> Option<usize> {
        (key as usize).checked_rem(self.places.len())
    }
}

/// The result of a node in a [`Memory`].
#[derive(Clone)]
pub struct Remembered<L> {
    pub worth: Worth<L>,
    pub bound: Bound,
    pub best: Move,
    /// The depth in plies to which the node was searched.
    pub depth: u32,
}

impl<L: Leaf> Remembered<L> {
    /// Whether the result makes a search in this window of `side` unnecessary.
    fn decides(&self, side: Color, window: &[Option<Worth<L>>; 2]) -> Result<bool> {
        let [own, limit] = [&window[side as usize], &window[!side as usize]];
        Ok(match (self.bound, own, limit) {
            (Bound::Exact, _, _) => true,
            (Bound::AtLeast, _, Some(limit)) => !limit.is_better(&self.worth, side)?,
            (Bound::AtMost, Some(own), _) => !self.worth.is_better(own, side)?,
            _ => false,
        })
    }
}

/// How a result relates to that of a search without pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Exact,
    /// The position is worth at least this to the side to move.
    AtLeast,
    /// The position is worth at most this to the side to move.
    AtMost,
}

#[cfg(test)]
mod tests {
    use azimuth_search::{Limits, Value};

    use super::*;

    /// Gives each position a pseudorandom value and checks that `enter` and `leave` match.
    struct Oracle {
        entered: Vec<Board>,
        at_once: usize,
    }

    impl Oracle {
        fn new(at_once: usize) -> Self {
            Self { entered: Vec::new(), at_once }
        }
    }

    impl Judge for Oracle {
        type Leaf = f32;

        fn at_once(&self) -> usize {
            self.at_once
        }

        fn enter(&mut self, from: Option<&Board>, board: &Board) {
            assert_eq!(from, self.entered.last());
            self.entered.push(board.clone());
        }

        fn leave(&mut self) {
            self.entered.pop();
        }

        fn leaves(&mut self, parent: &Board, children: &[(Move, Board)]) -> Result<Vec<f32>> {
            assert_eq!(self.entered.last(), Some(parent));
            assert!(children.len() <= self.at_once);
            Ok(children.iter().map(|(_, board)| oracle(board)).collect())
        }

        fn leaf(&mut self, board: &Board) -> Result<f32> {
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
            let sizes = [(0, 1), (0, 8), (1000, 1)];
            for (depth, (count, at_once)) in
                (1..=3).flat_map(|depth| sizes.map(|sizes| (depth, sizes)))
            {
                let mut judge = Oracle::new(at_once);
                let mut control = Control::without_signals(Limits::default());
                let mut memory = Memory::new(count);
                let mut search = Search::new(&root, &mut judge, &mut memory, &mut control);
                let found = search.root(root.board(), &legal_moves(root.board()), depth)?;
                let nodes = search.nodes;
                let (worth, line) = found.expect("nothing interrupts it");
                let side = root.board().side_to_move();
                let (expected, all) = minimax(root.board(), depth, 0, &mut Vec::new());
                assert_eq!(worth.value(side)?, expected, "{fen}, {depth}");
                assert!(!line.is_empty() && root.board().is_legal(line[0]));
                // With few replies, eight at a time are all of them.
                let prunes = depth > if at_once == 1 { 1 } else { 2 };
                assert!(!prunes || nodes < all, "{nodes} of {all}");
            }
        }
        Ok(())
    }

    #[test]
    fn an_interrupted_search_has_the_best_of_the_moves_that_were_searched() -> Result<()> {
        let root = Position::default();
        let moves = legal_moves(root.board());
        let found = |nodes: Option<u64>| -> Result<_> {
            let (mut judge, mut memory) = (Oracle::new(1), Memory::new(0));
            let mut control = Control::without_signals(Limits { nodes, ..Limits::default() });
            let mut search = Search::new(&root, &mut judge, &mut memory, &mut control);
            let before = search.root(root.board(), &moves, 2)?.expect("nothing interrupts it").1;
            search.line_before.clone_from(&before);
            search.interruptible = true;
            let found = search.root(root.board(), &moves, 3)?;
            Ok((before, found.map(|(_, line)| line), search.nodes))
        };
        let (_, best, all) = found(None)?;
        let best = best.expect("nothing interrupts it");
        let (before, at_once, few) = found(Some(1))?;
        assert_eq!(at_once, None);
        // One node more than the first root move takes.
        let mut line = None;
        let mut limit = few;
        while line.is_none() {
            limit += 1;
            line = found(Some(limit))?.1;
        }
        assert_eq!(line.map(|line| line[0]), Some(before[0]));
        assert_ne!(best[0], before[0]);
        assert_eq!(found(Some(all))?.1.map(|line| line[0]), Some(best[0]));
        Ok(())
    }

    #[test]
    fn a_remembered_position_is_searched_once() -> Result<()> {
        // Kings that can only walk reach every position by many paths.
        let root = Position::from_fen("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1")?;
        let moves = legal_moves(root.board());
        let mut memory = Memory::new(1 << 16);
        let nodes = |memory: &mut Memory<f32>| -> Result<u64> {
            let (mut judge, limits) = (Oracle::new(1), Limits::default());
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
