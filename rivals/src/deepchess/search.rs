//! Minimax with alpha-beta pruning (seed document 003, section 1) in which a network compares
//! positions. White maximises and Black minimises. The depth is the same for all lines, and there
//! is no quiescence search.

use std::cmp::Ordering;

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after, legal_moves, repetition_key};
use azimuth_search::{
    Control, Deepening, Planner, Report, RootMoves, Value, deepen, terminal_value,
};
use candle_core::{D, Tensor};
use candle_nn::ops::softmax;
use cozy_chess::{Board, Color, Move, Piece};

use super::DeepChessNetwork;
use crate::planners::DEFAULT_DEPTH;

/// Number of positions that the network takes at a time. It is faster on several positions
/// together, but after a cutoff the search discards the rest of them.
const AT_ONCE: usize = 8;

/// Upper bound on the depth in plies; no search reaches it.
const DEEPEST: u32 = 64;

/// The position at the end of a line, from White's point of view.
#[derive(Clone)]
enum Leaf {
    /// Mate, or the score of a network that scores positions.
    Value(Value),
    /// The code of a position (1 x the code's length), for a network that compares positions. That
    /// of the starting position replaces a draw, because the network has no absolute scale.
    Code(Tensor),
}

pub struct Comparing {
    network: DeepChessNetwork,
    draw: Leaf,
}

impl Comparing {
    pub fn new(network: DeepChessNetwork) -> Result<Self> {
        let draw = match network.is_scoring {
            true => Leaf::Value(Value::DRAW),
            false => Leaf::Code(network.codes([&Board::startpos()].into_iter())?),
        };
        Ok(Self { network, draw })
    }

    /// The leaves of `children`, which follow `parent` by a move.
    fn leaves(&self, parent: &Board, children: &[&Board]) -> Result<Vec<Leaf>> {
        if children.is_empty() {
            return Ok(Vec::new());
        }
        let codes = self.network.codes(children.iter().copied())?;
        if let Leaf::Code(_) = self.draw {
            return (0..children.len())
                .map(|place| Ok(Leaf::Code(codes.narrow(0, place, 1)?)))
                .collect();
        }
        let current = self.network.codes([parent].into_iter())?.broadcast_as(codes.shape())?;
        let scores = self.network.scores(&current, &codes)?.to_vec1()?.into_iter();
        Ok(scores.map(|score| Leaf::Value(Value::estimate(score))).collect())
    }

    /// The leaf of a game that is over, with the `value` of the side to move.
    fn end(&self, value: Value, side_to_move: Color) -> Leaf {
        match value {
            Value::DRAW => self.draw.clone(),
            _ if side_to_move == Color::White => Leaf::Value(value),
            _ => Leaf::Value(-value),
        }
    }

    /// Whether `a` is better than `b` for `side`.
    fn is_better(&self, a: &Leaf, b: &Leaf, side: Color) -> Result<bool> {
        let order = match (a, b) {
            (Leaf::Value(a), Leaf::Value(b)) => a.order(*b),
            (Leaf::Value(mate), Leaf::Code(_)) => mate.order(Value::DRAW),
            (Leaf::Code(_), Leaf::Value(mate)) => Value::DRAW.order(*mate),
            (Leaf::Code(a), Leaf::Code(b)) => self.compare(a, b)?.total_cmp(&0.0),
        };
        let wanted = if side == Color::White { Ordering::Greater } else { Ordering::Less };
        Ok(order == wanted)
    }

    /// The value for White of a position, compared with another one, in [-1, 1]. It comes from the
    /// probability that the first is better, averaged over both orders of the pair.
    fn compare(&self, a: &Tensor, b: &Tensor) -> Result<f32> {
        let [one, other] = [[a, b], [b, a]].map(|pair| Tensor::cat(&pair, 0));
        let logits = self.network.compare(&one?, &other?)?;
        let chances = softmax(&logits, D::Minus1)?.to_vec2::<f32>()?;
        Ok(chances[0][0] + chances[1][1] - 1.0)
    }

    /// The value of a leaf for `side`.
    fn value(&self, leaf: &Leaf, side: Color) -> Result<Value> {
        let of_white = match (leaf, &self.draw) {
            (Leaf::Value(value), _) => *value,
            (Leaf::Code(code), Leaf::Code(draw)) => Value::estimate(self.compare(code, draw)?),
            (Leaf::Code(_), Leaf::Value(draw)) => *draw,
        };
        Ok(if side == Color::White { of_white } else { -of_white })
    }
}

impl Planner for Comparing {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let root_moves = RootMoves::new(root, control.limits(), None);
        let mut search = Search {
            judge: self,
            control,
            root: root.board(),
            moves: &root_moves.moves,
            depth: 0,
            nodes: 0,
            line_before: Vec::new(),
            keys: root.history().to_vec(),
            interruptible: false,
        };
        deepen(&mut search, &root_moves, report)
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        let board = position.board();
        if let Some(value) = terminal_value(board, 0, position.history()) {
            return Ok(value);
        }
        // The position has no predecessor; for a network that scores, it follows itself.
        let leaves = self.leaves(board, &[board])?;
        self.value(leaves.first().context("the network says nothing")?, board.side_to_move())
    }
}

/// The result of a node and its principal variation.
type Found = (Leaf, Vec<Move>);

/// A search of one root, with its iterations.
struct Search<'a> {
    judge: &'a Comparing,
    control: &'a mut Control,
    root: &'a Board,
    moves: &'a [Move],
    depth: u32,
    nodes: u64,
    /// The principal variation of the previous iteration, as far as the current line follows it.
    line_before: Vec<Move>,
    /// Repetition keys of the positions before the current one.
    keys: Vec<u64>,
    /// Whether limits may stop the search.
    interruptible: bool,
}

impl Search<'_> {
    /// The best of `moves` at a node where the game is not over, searched `depth` plies deep (at
    /// least 1). `window` holds the best results so far of White and of Black. If a limit stops the
    /// search, `None`, or at the root the best of the moves that were searched.
    fn best_of(
        &mut self,
        board: &Board,
        mut moves: Vec<Move>,
        depth: u32,
        ply: u32,
        mut window: [Option<Leaf>; 2],
    ) -> Result<Option<Found>> {
        let (judge, side) = (self.judge, board.side_to_move());
        let best_before = self.line_before.get(ply as usize).copied();
        moves.sort_by_key(|&mv| std::cmp::Reverse((Some(mv) == best_before, mvv_lva(board, mv))));
        self.keys.push(repetition_key(board));
        let (mut best, mut complete): (Option<Found>, bool) = (None, true);
        'moves: for moves in moves.chunks(if depth == 1 { AT_ONCE } else { 1 }) {
            let found = match moves {
                &[mv] if depth > 1 => self.below(board, mv, depth, ply, &window)?,
                _ => Some(self.leaves(board, moves, ply)?),
            };
            let Some(found) = found else {
                complete = false;
                break;
            };
            for (&mv, (leaf, mut line)) in moves.iter().zip(found) {
                let exceeds = |other: &Leaf| judge.is_better(&leaf, other, side);
                if !best.as_ref().map_or(Ok(true), |(best, _)| exceeds(best))? {
                    continue;
                }
                line.insert(0, mv);
                // The opponent may have a better alternative earlier in the line.
                let limit = window[!side as usize].as_ref();
                let cuts = match limit {
                    Some(limit) => !judge.is_better(limit, &leaf, side)?,
                    None => false,
                };
                if window[side as usize].as_ref().map_or(Ok(true), exceeds)? {
                    window[side as usize] = Some(leaf.clone());
                }
                best = Some((leaf, line));
                if cuts {
                    break 'moves;
                }
            }
            // Only the first move was on the line of the previous iteration.
            self.line_before.truncate(ply as usize);
        }
        self.keys.pop();
        // The root searches the best move of the previous iteration first, so its result is usable
        // even if a limit stopped the search.
        Ok(best.filter(|_| complete || ply == 0))
    }

    /// The results of the positions after `moves` at the last ply.
    fn leaves(&mut self, board: &Board, moves: &[Move], ply: u32) -> Result<Vec<Found>> {
        self.nodes += moves.len() as u64;
        let children: Vec<Board> = moves.iter().map(|&mv| board_after(board, mv)).collect();
        let end = |child| terminal_value(child, ply + 1, &self.keys);
        let ends: Vec<Option<Value>> = children.iter().map(end).collect();
        let open = children.iter().zip(&ends).filter(|(_, end)| end.is_none());
        let open: Vec<&Board> = open.map(|(child, _)| child).collect();
        let mut leaves = self.judge.leaves(board, &open)?.into_iter();
        let found = ends.into_iter().map(|end| {
            let leaf = match end {
                Some(value) => self.judge.end(value, !board.side_to_move()),
                None => leaves.next().context("the network left out a position")?,
            };
            Ok((leaf, Vec::new()))
        });
        found.collect()
    }

    /// The result of the position after a move, searched `depth` - 1 plies deep; `None` if a limit
    /// stopped the search.
    fn below(
        &mut self,
        board: &Board,
        mv: Move,
        depth: u32,
        ply: u32,
        window: &[Option<Leaf>; 2],
    ) -> Result<Option<Vec<Found>>> {
        if self.interruptible && self.control.should_stop(self.nodes) {
            return Ok(None);
        }
        self.nodes += 1;
        let child = board_after(board, mv);
        let found = match terminal_value(&child, ply + 1, &self.keys) {
            Some(value) => Some((self.judge.end(value, child.side_to_move()), Vec::new())),
            None => {
                self.best_of(&child, legal_moves(&child), depth - 1, ply + 1, window.clone())?
            }
        };
        Ok(found.map(|found| vec![found]))
    }
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

impl Deepening for Search<'_> {
    fn next_depth(&mut self) -> Option<u32> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(self.depth)
    }

    fn may_begin(&self, depth: u32) -> bool {
        self.control.may_begin(depth, DEFAULT_DEPTH)
    }

    fn iterate(&mut self, depth: u32, interruptible: bool) -> Result<Option<Vec<Report>>> {
        self.interruptible = interruptible;
        let mut left = self.moves.to_vec();
        let mut lines = Vec::new();
        while !left.is_empty() && lines.len() < self.control.limits().multipv.max(1) {
            let found = self.best_of(self.root, left.clone(), depth, 0, [None, None])?;
            let Some((leaf, line)) = found else { return Ok(None) };
            left.retain(|mv| Some(mv) != line.first());
            let value = self.judge.value(&leaf, self.root.side_to_move())?;
            let mut report = Report { depth, ..Report::of(value, line) };
            self.add_costs(&mut report);
            lines.push(report);
        }
        self.line_before = lines.first().map_or_else(Vec::new, |best| best.pv.clone());
        Ok(Some(lines))
    }

    fn is_settled(&self, lines: &[Report]) -> bool {
        // A mate within the searched depth is the shortest, so deeper iterations cannot improve it.
        let plies = lines.first().and_then(|line| line.value.plies_to_mate());
        plies.is_some_and(|plies| plies <= self.depth)
    }

    fn on_the_clock(&self) -> bool {
        self.control.on_the_clock()
    }

    fn add_costs(&mut self, report: &mut Report) {
        report.seldepth = report.pv.len() as u32;
        report.nodes = self.nodes;
        report.scored = self.nodes;
        report.time = self.control.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use azimuth_search::Limits;
    use candle_core::Device;
    use candle_nn::VarMap;

    use super::super::DeepChessConfig;
    use super::*;
    use crate::weights::first_parameters;

    /// An untrained network that scores positions: its leaves have a value without a comparison.
    fn judge() -> Result<Comparing> {
        let config = DeepChessConfig { encoder: vec![8], comparator: vec![8], score: true };
        let vb = first_parameters(&VarMap::new(), 1, &Device::Cpu);
        Comparing::new(DeepChessNetwork::new(&config, &vb)?)
    }

    /// The document's minimax without pruning, from the side to move's point of view.
    fn minimax(
        judge: &Comparing,
        board: &Board,
        depth: u32,
        keys: &[u64],
        ply: u32,
    ) -> Result<f32> {
        let keys = [keys, &[repetition_key(board)]].concat();
        let side = board.side_to_move();
        let mut best = -1.0;
        for mv in legal_moves(board) {
            let child = board_after(board, mv);
            let value = match terminal_value(&child, ply + 1, &keys) {
                Some(value) => 1.0 - 2.0 * value.win_probability(),
                None if depth == 1 => {
                    let leaves = judge.leaves(board, &[&child])?;
                    2.0 * judge.value(&leaves[0], side)?.win_probability() - 1.0
                }
                None => -minimax(judge, &child, depth - 1, &keys, ply + 1)?,
            };
            best = f32::max(best, value);
        }
        Ok(best)
    }

    #[test]
    fn alpha_beta_equals_plain_minimax() -> Result<()> {
        let mut judge = judge()?;
        for (fen, depth) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 2),
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1", 2),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 98 80", 3),
            // Mates, and draws by bare kings.
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 2),
            ("8/8/8/8/8/1k6/1p6/1K5R b - - 0 1", 3),
        ] {
            let root = Position::from_fen(fen)?;
            let expected = minimax(&judge, root.board(), depth, &[], 0)?;
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let mut control = Control::without_signals(limits);
            let report = judge.search(&root, &mut control, &mut |_| ())?;
            let found = 2.0 * report.value.win_probability() - 1.0;
            assert!((found - expected).abs() < 1e-4, "{fen}: {found} {expected}");
            assert!(root.board().is_legal(report.pv[0]));
        }
        Ok(())
    }
}
