//! The move picker: the legal moves of a position, most promising first. Most nodes end with the
//! table move or a capture, so moves are generated, and quiet moves scored, only when needed.

use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{BitBoard, Board, Move, Piece};

use super::history::{History, QuietContext};
use super::parameters::SearchParameters;

/// Base scores for move ordering, highest first: transposition table move, captures and promotions
/// that lose no material, killers, quiet moves, losing captures.
const TABLE_MOVE: i32 = 1 << 30;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const BAD_CAPTURE: i32 = -(1 << 24);

/// Marks a quiet move without a score; quiet moves follow the captures that lose no material.
const UNSCORED: i32 = KILLER * 4;

/// Weight of a pawn's worth of captured material, relative to the capture history.
const VICTIM_WEIGHT: i32 = 4096;

/// A move with its ordering score.
#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    pub mv: Move,
    /// Neither a capture nor a promotion.
    pub is_quiet: bool,
    /// The move's history score: quiet or capture history.
    pub history: i32,
    /// The ordering score; the highest is picked first.
    score: i32,
    /// Whether its static exchange has yet to be evaluated.
    may_lose: bool,
}

impl ScoredMove {
    /// Whether it is a capture or promotion that loses material on its square.
    pub fn loses_material(&self) -> bool {
        self.score < BAD_CAPTURE / 2
    }
}

/// The data used for move ordering.
pub struct OrderingHints<'a> {
    pub killers: [Option<Move>; 2],
    pub history: Option<&'a History>,
    pub context: QuietContext,
    pub parameters: &'a SearchParameters,
}

impl OrderingHints<'_> {
    /// The history score of a move.
    fn history_of(&self, board: &Board, mv: Move, is_quiet: bool) -> i32 {
        match self.history {
            None => 0,
            Some(history) if !is_quiet => history.of_capture(board, mv),
            Some(history) => {
                let histories = history.of_quiets(board.side_to_move(), &self.context);
                histories.of(board, mv, self.parameters)
            }
        }
    }
}

/// The kinds of moves to pick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All legal moves.
    Any,
    /// Captures and queen promotions only.
    Captures,
}

/// The stage of a picker.
#[derive(PartialEq, Eq)]
enum Stage {
    Nothing,
    /// The table move has been returned.
    TableMove,
    /// All moves are generated, and captures are scored.
    Captures,
    /// Quiet moves are scored, too.
    Quiets,
}

/// The moves of one position.
pub struct MovePicker {
    kind: Kind,
    table_move: Option<Move>,
    stage: Stage,
    moves: Vec<ScoredMove>,
    /// Number of moves picked from the list.
    picked: usize,
}

impl MovePicker {
    /// A picker of moves of a kind, starting with the table move; it reuses `memory` for its list.
    pub fn new(kind: Kind, table_move: Option<Move>, memory: &mut Vec<ScoredMove>) -> Self {
        let mut moves = std::mem::take(memory);
        moves.clear();
        Self { kind, table_move, stage: Stage::Nothing, moves, picked: 0 }
    }

    /// The memory for the next picker.
    pub fn into_memory(self) -> Vec<ScoredMove> {
        self.moves
    }

    /// The most promising remaining move.
    pub fn next<'h>(
        &mut self,
        board: &Board,
        exchange: &StaticExchange<'_>,
        hints: impl Fn() -> OrderingHints<'h>,
    ) -> Option<ScoredMove> {
        if self.stage == Stage::Nothing {
            self.stage = Stage::TableMove;
            if let Some(mv) = self.table_move {
                let is_quiet = is_quiet(board, mv);
                if self.is_of_kind(mv, is_quiet) && board.is_legal(mv) {
                    let history = hints().history_of(board, mv, is_quiet);
                    return Some(ScoredMove {
                        mv,
                        is_quiet,
                        history,
                        score: TABLE_MOVE,
                        may_lose: false,
                    });
                }
            }
        }
        if self.stage == Stage::TableMove {
            self.stage = Stage::Captures;
            self.generate(board);
            self.score_captures(board, &hints());
        }
        loop {
            let best = self.best()?;
            if best.may_lose {
                best.may_lose = false;
                if exchange.see_of_move(best.mv) < 0 {
                    best.score += BAD_CAPTURE - GOOD_CAPTURE;
                    continue;
                }
            }
            let best = *best;
            if best.is_quiet && self.stage == Stage::Captures {
                self.stage = Stage::Quiets;
                self.score_quiets(board, &hints());
                continue;
            }
            self.picked += 1;
            return Some(best);
        }
    }

    fn is_of_kind(&self, mv: Move, is_quiet: bool) -> bool {
        let underpromotes = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
        self.kind == Kind::Any || !is_quiet && !underpromotes
    }

    /// Generates the moves except the table move.
    fn generate(&mut self, board: &Board) {
        let theirs = board.colors(!board.side_to_move());
        let targets = if self.kind == Kind::Any { BitBoard::FULL } else { theirs };
        board.generate_moves(|mut piece_moves| {
            // Pawns capture en passant and are promoted on empty squares.
            let is_pawn = piece_moves.piece == Piece::Pawn;
            if !is_pawn {
                piece_moves.to &= targets;
            }
            for mv in piece_moves {
                let is_quiet = if is_pawn { is_quiet(board, mv) } else { !theirs.has(mv.to) };
                if self.table_move != Some(mv) && self.is_of_kind(mv, is_quiet) {
                    let (history, score) = (0, UNSCORED);
                    self.moves.push(ScoredMove { mv, is_quiet, history, score, may_lose: false });
                }
            }
            false
        });
    }

    fn score_captures(&mut self, board: &Board, hints: &OrderingHints<'_>) {
        for scored in self.moves.iter_mut().filter(|scored| !scored.is_quiet) {
            let mv = scored.mv;
            let victim = piece_value(board.piece_on(mv.to)).max(1);
            let won = victim + piece_value(mv.promotion);
            scored.history = hints.history_of(board, mv, false);
            // Capturing a piece of at least equal value loses no material.
            let safe = mv.promotion.is_none() && victim >= piece_value(board.piece_on(mv.from));
            scored.may_lose = !safe;
            scored.score = won * VICTIM_WEIGHT + scored.history + GOOD_CAPTURE;
        }
    }

    fn score_quiets(&mut self, board: &Board, hints: &OrderingHints<'_>) {
        let side = board.side_to_move();
        let histories = hints.history.map(|history| history.of_quiets(side, &hints.context));
        let left = &mut self.moves[self.picked..];
        for scored in left.iter_mut().filter(|scored| scored.is_quiet) {
            let mv = scored.mv;
            scored.history =
                histories.as_ref().map_or(0, |all| all.of(board, mv, hints.parameters));
            let killer = hints.killers.iter().position(|killer| *killer == Some(mv));
            scored.score = killer.map_or(scored.history, |place| KILLER * 2 - place as i32);
        }
    }

    /// The remaining move with the highest score, swapped to the front of the remaining moves.
    fn best(&mut self) -> Option<&mut ScoredMove> {
        let left = &mut self.moves[self.picked..];
        let mut best = 0;
        let mut score = left.first()?.score;
        for (place, scored) in left.iter().enumerate().skip(1) {
            if scored.score > score {
                (best, score) = (place, scored.score);
            }
        }
        left.swap(0, best);
        left.first_mut()
    }
}

/// Whether a legal move is neither a capture nor a promotion.
pub fn is_quiet(board: &Board, mv: Move) -> bool {
    let is_en_passant = mv.from.file() != mv.to.file() && board.pieces(Piece::Pawn).has(mv.from);
    let captures = board.colors(!board.side_to_move()).has(mv.to) || is_en_passant;
    mv.promotion.is_none() && !captures
}

#[cfg(test)]
mod tests {
    use azimuth_chess::bench_positions::BENCH_POSITIONS;
    use azimuth_chess::placement::Placement;
    use azimuth_chess::position::{board_after, legal_moves};

    use super::*;

    /// The bench positions and those after every move.
    fn boards() -> Vec<Board> {
        let roots = BENCH_POSITIONS.iter().map(|fen| fen.parse::<Board>().expect("a position"));
        let with_children = |root: Board| {
            let children: Vec<Board> =
                legal_moves(&root).into_iter().map(|mv| board_after(&root, mv)).collect();
            std::iter::once(root).chain(children)
        };
        roots.flat_map(with_children).collect()
    }

    fn picked(board: &Board, kind: Kind, table_move: Option<Move>) -> Vec<ScoredMove> {
        let (history, parameters) = (History::new().expect("memory"), SearchParameters::default());
        let placement = Placement::of(board);
        let exchange = StaticExchange::new(&placement);
        let mut picker = MovePicker::new(kind, table_move, &mut Vec::new());
        let hints = || OrderingHints {
            killers: [legal_moves(board).last().copied(), None],
            history: Some(&history),
            context: QuietContext::default(),
            parameters: &parameters,
        };
        std::iter::from_fn(|| picker.next(board, &exchange, hints)).collect()
    }

    fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<String> {
        let mut moves: Vec<String> = moves.into_iter().map(|mv| mv.to_string()).collect();
        moves.sort();
        moves
    }

    #[test]
    fn every_move_is_picked_once_and_the_most_promising_first() {
        for board in boards() {
            let legal = legal_moves(&board);
            for table_move in [None, legal.first().copied(), "a1a1".parse().ok()] {
                let picked = picked(&board, Kind::Any, table_move);
                assert_eq!(sorted(picked.iter().map(|scored| scored.mv)), sorted(legal.clone()));
                assert!(picked.is_sorted_by(|before, after| before.score >= after.score));
                if let Some(mv) = table_move.filter(|mv| legal.contains(mv)) {
                    assert_eq!(picked[0].mv, mv);
                }
            }
        }
    }

    #[test]
    fn captures_are_those_among_all_moves() {
        for board in boards() {
            let legal = legal_moves(&board);
            let captures = legal.iter().copied().filter(|&mv| {
                let promotes = mv.promotion.is_none_or(|piece| piece == Piece::Queen);
                promotes && !is_quiet(&board, mv)
            });
            let captures = sorted(captures);
            for table_move in [None, legal.last().copied()] {
                let picked = picked(&board, Kind::Captures, table_move);
                assert_eq!(sorted(picked.into_iter().map(|scored| scored.mv)), captures);
            }
        }
    }
}
