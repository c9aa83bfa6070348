//! The move picker: the legal moves of a position, most promising first. Most nodes end with the
//! table move or a capture, so quiet moves are generated and scored only when they are reached.

use azimuth_chess::position::is_capture;
use azimuth_chess::see::{StaticExchange, piece_value};
use cozy_chess::{BitBoard, Board, Move, Piece, Rank, Square, get_king_moves};

use super::history::{History, PieceTo, QuietContext, QuietHistories};
use super::parameters::SearchParameters;

/// Base scores for move ordering, highest first: transposition table move, captures and promotions
/// that lose no material, killers, quiet moves, losing captures.
const TABLE_MOVE: i32 = 1 << 30;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
const BAD_CAPTURE: i32 = -(1 << 24);

/// Weight of a pawn's worth of captured material, relative to the capture history.
const VICTIM_WEIGHT: i32 = 4096;

/// A move with its ordering score.
#[derive(Clone, Copy, Debug)]
pub struct ScoredMove {
    pub mv: Move,
    /// The piece that moves.
    pub piece: Piece,
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
    fn quiet(mv: Move, piece: Piece, history: i32) -> Self {
        Self { mv, piece, is_quiet: true, history, score: history, may_lose: false }
    }

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
    /// A quiet move, scored by its history.
    fn quiet(&self, board: &Board, piece: Piece, mv: Move) -> ScoredMove {
        let histories = |history: &History| {
            let histories = history.of_quiets(board.side_to_move(), &self.context);
            histories.of(piece, mv, self.parameters)
        };
        ScoredMove::quiet(mv, piece, self.history.map_or(0, histories))
    }

    /// A capture or promotion, scored by the material that it wins at once and by its history.
    fn capture(&self, board: &Board, piece: Piece, mv: Move) -> ScoredMove {
        let captured = board.piece_on(mv.to);
        let history =
            self.history.map_or(0, |all| all.of_capture(PieceTo::new(piece, mv.to), captured));
        let victim = piece_value(captured).max(1);
        let won = victim + piece_value(mv.promotion);
        // Capturing a piece of at least equal value loses no material.
        let may_lose = mv.promotion.is_some() || victim < piece_value(Some(piece));
        let score = won * VICTIM_WEIGHT + history + GOOD_CAPTURE;
        ScoredMove { mv, piece, is_quiet: false, history, score, may_lose }
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

/// The moves that a picker returns next.
#[derive(Clone, Copy)]
enum Stage {
    TableMove,
    /// Captures are still to be generated.
    NewCaptures,
    Captures,
    Killers,
    Quiets,
    LosingCaptures,
}

/// The moves of one position.
pub struct MovePicker {
    kind: Kind,
    table_move: Option<Move>,
    /// The killers that are legal quiet moves, from their stage on, with their pieces.
    killers: [Option<(Piece, Move)>; 2],
    stage: Stage,
    /// The losing captures found so far, best first; from `picked` on, the moves of the stage.
    moves: Vec<ScoredMove>,
    losing: usize,
    /// Number of moves of the stage that have been returned.
    picked: usize,
}

impl MovePicker {
    /// A picker of moves of a kind, starting with the table move; it reuses `memory` for its list.
    pub fn new(kind: Kind, table_move: Option<Move>, memory: &mut Vec<ScoredMove>) -> Self {
        let mut moves = std::mem::take(memory);
        moves.clear();
        let stage = Stage::TableMove;
        Self { kind, table_move, killers: [None; 2], stage, moves, losing: 0, picked: 0 }
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
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::NewCaptures;
                    let table_move = self.table_move.and_then(|mv| self.legal(board, mv));
                    if let Some((piece, mv)) = table_move {
                        let scored = match is_quiet(board, mv) {
                            true => hints().quiet(board, piece, mv),
                            false => hints().capture(board, piece, mv),
                        };
                        return Some(ScoredMove { score: TABLE_MOVE, may_lose: false, ..scored });
                    }
                }
                Stage::NewCaptures => {
                    self.stage = Stage::Captures;
                    self.generate_captures(board, &hints());
                }
                Stage::Captures => match self.best() {
                    Some(mut best) => {
                        if best.may_lose && exchange.see_of_move(best.mv) < 0 {
                            best.score += BAD_CAPTURE - GOOD_CAPTURE;
                            self.moves[self.losing] = best;
                            self.losing += 1;
                        } else {
                            return Some(best);
                        }
                    }
                    None if self.kind == Kind::Captures => self.begin(Stage::LosingCaptures),
                    None => {
                        self.begin(Stage::Killers);
                        let other =
                            |mv: &Move| self.table_move != Some(*mv) && is_quiet(board, *mv);
                        let killers = hints().killers.map(|killer| killer.filter(other));
                        self.killers = killers.map(|killer| self.legal(board, killer?));
                    }
                },
                Stage::Killers => match self.killers.get(self.picked).copied() {
                    Some(killer) => {
                        self.picked += 1;
                        if let Some((piece, mv)) = killer {
                            let score = KILLER * 2 - self.picked as i32;
                            return Some(ScoredMove { score, ..hints().quiet(board, piece, mv) });
                        }
                    }
                    None => {
                        self.begin(Stage::Quiets);
                        self.generate_quiets(board, &hints());
                    }
                },
                Stage::Quiets => match self.best() {
                    Some(best) => return Some(best),
                    None => self.begin(Stage::LosingCaptures),
                },
                Stage::LosingCaptures => {
                    let losing = self.moves[..self.losing].get(self.picked).copied();
                    self.picked += 1;
                    return losing;
                }
            }
        }
    }

    /// Leaves out all remaining quiet moves.
    pub fn skip_quiets(&mut self) {
        self.kind = Kind::Captures;
        if matches!(self.stage, Stage::Killers | Stage::Quiets) {
            self.begin(Stage::LosingCaptures);
        }
    }

    /// Leaves out the remaining quiet moves that do not meet a condition, once they are generated.
    pub fn retain_quiets(&mut self, keep: impl Fn(Move) -> bool) {
        if matches!(self.stage, Stage::Quiets) {
            let mut kept = self.picked;
            for place in self.picked..self.moves.len() {
                if keep(self.moves[place].mv) {
                    self.moves[kept] = self.moves[place];
                    kept += 1;
                }
            }
            self.moves.truncate(kept);
        }
    }

    /// A move with its piece, if it is legal and of the picker's kind.
    fn legal(&self, board: &Board, mv: Move) -> Option<(Piece, Move)> {
        let underpromotes = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
        let is_of_kind = self.kind == Kind::Any || !underpromotes && !is_quiet(board, mv);
        let piece = board.piece_on(mv.from)?;
        (is_of_kind && board.is_legal(mv)).then_some((piece, mv))
    }

    fn generate_captures(&mut self, board: &Board, hints: &OrderingHints<'_>) {
        let side = board.side_to_move();
        let theirs = board.colors(!side);
        let pawn_targets = theirs | pawn_captures_and_promotions(board);
        // The generator tests the safety of every square that the king may go to.
        let king = board.king(side);
        let king_captures = !(get_king_moves(king) & theirs).is_empty();
        let pieces = if king_captures { BitBoard::FULL } else { !king.bitboard() };
        board.generate_moves_for(pieces, |mut piece_moves| {
            let piece = piece_moves.piece;
            piece_moves.to &= if piece == Piece::Pawn { pawn_targets } else { theirs };
            for mv in piece_moves {
                let underpromotes = mv.promotion.is_some_and(|piece| piece != Piece::Queen);
                let is_of_kind = self.kind == Kind::Any || !underpromotes;
                if self.table_move != Some(mv) && is_of_kind {
                    self.moves.push(hints.capture(board, piece, mv));
                }
            }
            false
        });
    }

    /// Generates the quiet moves other than the killers behind the losing captures.
    fn generate_quiets(&mut self, board: &Board, hints: &OrderingHints<'_>) {
        self.moves.truncate(self.losing);
        self.picked = self.losing;
        let side = board.side_to_move();
        let histories = hints.history.map(|history| history.of_quiets(side, &hints.context));
        let others = !board.colors(!side);
        let pawn_targets = others & !pawn_captures_and_promotions(board);
        board.generate_moves(|mut piece_moves| {
            let piece = piece_moves.piece;
            piece_moves.to &= if piece == Piece::Pawn { pawn_targets } else { others };
            for mv in piece_moves {
                if self.table_move == Some(mv) || self.killers.contains(&Some((piece, mv))) {
                    continue;
                }
                let score = |all: &QuietHistories<'_>| all.of(piece, mv, hints.parameters);
                let history = histories.as_ref().map_or(0, score);
                self.moves.push(ScoredMove::quiet(mv, piece, history));
            }
            false
        });
    }

    fn begin(&mut self, stage: Stage) {
        self.stage = stage;
        self.picked = 0;
    }

    /// Takes the remaining move with the highest score.
    fn best(&mut self) -> Option<ScoredMove> {
        let left = &mut self.moves[self.picked..];
        let mut best = 0;
        let mut score = left.first()?.score;
        for (place, scored) in left.iter().enumerate().skip(1) {
            if scored.score > score {
                (best, score) = (place, scored.score);
            }
        }
        left.swap(0, best);
        self.picked += 1;
        Some(left[0])
    }
}

/// The squares on which pawns capture en passant or are promoted.
fn pawn_captures_and_promotions(board: &Board) -> BitBoard {
    let side = board.side_to_move();
    let en_passant = board.en_passant().map_or(BitBoard::EMPTY, |file| {
        Square::new(file, Rank::Sixth.relative_to(side)).bitboard()
    });
    en_passant | Rank::Eighth.relative_to(side).bitboard()
}

/// Whether a legal move is neither a capture nor a promotion.
pub fn is_quiet(board: &Board, mv: Move) -> bool {
    mv.promotion.is_none() && !is_capture(board, mv)
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
