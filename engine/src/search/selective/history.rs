//! History heuristics: moves that were good elsewhere in the tree tend to be good here.

use cozy_chess::{BitBoard, Board, Color, Move, Piece, Square};

use super::parameters::SearchParameters;
use crate::large_memory;

/// Largest value of any one statistic.
const MAX_HISTORY: i32 = 16_384;

#[derive(Clone, Copy)]
pub(super) struct MadeMove {
    pub(super) mv: Move,
    pub(super) piece_to: PieceTo,
    /// Neither a capture nor a promotion.
    pub(super) is_quiet: bool,
}

/// A piece and the square that it went to.
#[derive(Clone, Copy)]
pub(super) struct PieceTo {
    piece: Piece,
    to: Square,
}

impl PieceTo {
    /// The piece that `mv` moves on `board`.
    pub(super) fn of(board: &Board, mv: Move) -> Self {
        Self { piece: board.piece_on(mv.from).unwrap_or(Piece::King), to: mv.to }
    }

    pub(super) fn index(self) -> usize {
        self.piece as usize * Square::NUM + self.to as usize
    }
}

pub(super) const PIECE_TOS: usize = Piece::NUM * Square::NUM;
const VICTIMS: usize = Piece::NUM + 1;

/// Numbers of plies back whose moves index the continuation history.
pub(super) const CONTINUATION_PLIES: [usize; 3] = [1, 2, 4];

/// The moves that led to a position, at the distances in [`CONTINUATION_PLIES`].
pub(super) type PreviousMoves = [Option<PieceTo>; CONTINUATION_PLIES.len()];

/// Number of pawn-structure slots in the pawn history; a power of two.
const PAWN_STRUCTURES: usize = 1 << 9;

/// The attributes of a position that, with the move, index the histories of quiet moves.
#[derive(Clone, Copy, Default)]
pub(super) struct QuietContext {
    /// The moves before.
    pub(super) previous: PreviousMoves,
    /// Squares that the other side attacks.
    pub(super) threats: BitBoard,
    /// A hash of both sides' pawns; `None` if pawn history is off.
    pub(super) pawns: Option<usize>,
}

/// Statistics of the moves: positive for cutoffs, negative for failures; recent results weigh most.
pub(super) struct History {
    /// Butterfly history: indexed by side, origin and target, and by which of the two squares are
    /// attacked.
    quiet: Box<[i16]>,
    /// Continuation history: indexed by the piece and target of a previous move and of this one,
    /// separately for previous moves by the opponent and by the same side.
    continuation: Box<[i16]>,
    /// Pawn history: indexed by pawn structure, side, piece and target.
    pawns: Box<[i16]>,
    /// Capture history: indexed by capturing piece, target and captured piece.
    capture: Box<[i16]>,
}

/// A quiet move with its context.
#[derive(Clone, Copy)]
pub(super) struct QuietMove {
    side: Color,
    mv: Move,
    piece_to: PieceTo,
    context: QuietContext,
}

/// A table of zeros, in place of one that does not apply.
static NO_HISTORY: [i16; PIECE_TOS] = [0; PIECE_TOS];

/// The tables of one position's quiet moves, most of them indexed by the moved piece and its
/// target.
pub(super) struct QuietHistories<'a> {
    butterfly: &'a [i16],
    continuation: [&'a [i16; PIECE_TOS]; CONTINUATION_PLIES.len()],
    pawns: &'a [i16; PIECE_TOS],
    side: Color,
    threats: BitBoard,
}

impl QuietHistories<'_> {
    /// The history score of a quiet move on `board`.
    pub(super) fn of(&self, board: &Board, mv: Move, parameters: &SearchParameters) -> i32 {
        let place = PieceTo::of(board, mv).index();
        let [last, second, fourth] = self.continuation.map(|table| i32::from(table[place]));
        i32::from(self.butterfly[butterfly_index(self.side, mv, self.threats)])
            + i32::from(self.pawns[place]) * parameters.history_pawns / 16
            + last
            + second
            + fourth * parameters.history_fourth / 16
    }
}

fn butterfly_index(side: Color, mv: Move, threats: BitBoard) -> usize {
    let threatened = 2 * usize::from(threats.has(mv.from)) + usize::from(threats.has(mv.to));
    ((threatened * Color::NUM + side as usize) * Square::NUM + mv.from as usize) * Square::NUM
        + mv.to as usize
}

/// The table of the continuation history for the previous move `index`: 0 for the opponent's moves,
/// 1 for those of the same side.
fn continuation_table(index: usize) -> usize {
    1 - CONTINUATION_PLIES[index] % 2
}

impl QuietMove {
    /// A legal move on `board`, in its context.
    pub(super) fn new(board: &Board, mv: Move, context: QuietContext) -> Self {
        Self { side: board.side_to_move(), mv, piece_to: PieceTo::of(board, mv), context }
    }

    /// The move `made` by `side`, in the context of the position before it.
    pub(super) fn made(side: Color, made: MadeMove, context: QuietContext) -> Self {
        Self { side, mv: made.mv, piece_to: made.piece_to, context }
    }

    fn butterfly(&self) -> usize {
        butterfly_index(self.side, self.mv, self.context.threats)
    }

    fn pawn_place(&self) -> Option<usize> {
        let structure = self.context.pawns? % PAWN_STRUCTURES;
        Some((structure * Color::NUM + self.side as usize) * PIECE_TOS + self.piece_to.index())
    }

    /// Its indices in the continuation history, one for each previous move.
    fn continuations(self) -> [Option<usize>; CONTINUATION_PLIES.len()] {
        let now = self.piece_to.index();
        std::array::from_fn(|index| {
            self.context.previous[index].map(|before| {
                (continuation_table(index) * PIECE_TOS + before.index()) * PIECE_TOS + now
            })
        })
    }
}

impl History {
    /// Empty tables; `None` if the system refuses the memory.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            quiet: large_memory::zeroed(4 * Color::NUM * Square::NUM * Square::NUM)?,
            pawns: large_memory::zeroed(PAWN_STRUCTURES * Color::NUM * PIECE_TOS)?,
            continuation: large_memory::zeroed(2 * PIECE_TOS * PIECE_TOS)?,
            capture: large_memory::zeroed(PIECE_TOS * VICTIMS)?,
        })
    }

    pub(super) fn clear(&mut self) {
        for part in [&mut self.quiet, &mut self.continuation, &mut self.pawns, &mut self.capture] {
            part.fill(0);
        }
    }

    /// The histories of the quiet moves of `side` in one position.
    pub(super) fn of_quiets(&self, side: Color, context: &QuietContext) -> QuietHistories<'_> {
        let (continuation, _) = self.continuation.as_chunks::<PIECE_TOS>();
        let (pawns, _) = self.pawns.as_chunks::<PIECE_TOS>();
        let of_previous = |(index, before): (usize, Option<PieceTo>)| {
            before.map_or(&NO_HISTORY, |before| {
                &continuation[continuation_table(index) * PIECE_TOS + before.index()]
            })
        };
        let [last, second, fourth] = context.previous;
        QuietHistories {
            butterfly: &self.quiet,
            continuation: [(0, last), (1, second), (2, fourth)].map(of_previous),
            pawns: context.pawns.map_or(&NO_HISTORY, |structure| {
                &pawns[structure % PAWN_STRUCTURES * Color::NUM + side as usize]
            }),
            side,
            threats: context.threats,
        }
    }

    /// Records a quiet move as a success or failure in the butterfly history alone.
    pub(super) fn update_butterfly(&mut self, quiet: QuietMove, bonus: i32) {
        add_with_gravity(&mut self.quiet[quiet.butterfly()], bonus, MAX_HISTORY);
    }

    /// The history score of a capture or promotion.
    pub(super) fn of_capture(&self, board: &Board, mv: Move) -> i32 {
        self.capture[capture_index(board, mv)].into()
    }

    /// Records a quiet move as a success (`bonus` > 0) or failure in all its histories.
    pub(super) fn update_quiet(&mut self, quiet: QuietMove, bonus: i32) {
        add_with_gravity(&mut self.quiet[quiet.butterfly()], bonus, MAX_HISTORY);
        for place in quiet.continuations().into_iter().flatten() {
            add_with_gravity(&mut self.continuation[place], bonus, MAX_HISTORY);
        }
        if let Some(place) = quiet.pawn_place() {
            add_with_gravity(&mut self.pawns[place], bonus, MAX_HISTORY);
        }
    }

    /// Records a capture or promotion as a success or failure.
    pub(super) fn update_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        add_with_gravity(&mut self.capture[capture_index(board, mv)], bonus, MAX_HISTORY);
    }
}

fn capture_index(board: &Board, mv: Move) -> usize {
    let victim = board.piece_on(mv.to).map_or(Piece::NUM, |piece| piece as usize);
    PieceTo::of(board, mv).index() * VICTIMS + victim
}

/// Moves a statistic towards its `limit`, by less the nearer it is ("history gravity").
pub(super) fn add_with_gravity(sum: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*sum);
    *sum = (value + bonus - value * bonus.abs() / limit) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_rise_and_stay_within_the_limit() {
        let board = Board::default();
        let (e4, d4) = ("e2e4".parse().expect("a move"), "d2d4".parse().expect("a move"));
        let mut history = History::new().expect("memory");
        let before = [Some(PieceTo { piece: Piece::Pawn, to: Square::E5 }), None, None];
        let quiet = |mv, previous| {
            QuietMove::new(&board, mv, QuietContext { previous, ..QuietContext::default() })
        };
        let parameters = SearchParameters::default();
        for _ in 0..1000 {
            history.update_quiet(quiet(e4, before), 1500);
        }
        history.update_quiet(quiet(d4, before), -500);
        let score = |history: &History, mv, previous| {
            let context = QuietContext { previous, ..QuietContext::default() };
            history.of_quiets(Color::White, &context).of(&board, mv, &parameters)
        };
        let of = |mv, previous| score(&history, mv, previous);
        assert!((30_000..=2 * MAX_HISTORY).contains(&of(e4, before)));
        assert_eq!(of(d4, before), -1000);
        assert_eq!(of(d4, [None; 3]), -500);
        history.clear();
        assert_eq!(score(&history, e4, before), 0);
    }
}
