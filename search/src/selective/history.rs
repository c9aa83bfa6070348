//! The tables of what a thread learns from the nodes it has searched. Move histories: moves that were
//! good elsewhere in the tree tend to be good here. Correction history: corrects the static
//! evaluation by the search scores of similar positions.

use cozy_chess::{BitBoard, Board, Color, Move, Piece, Square};

use super::parameters::SearchParameters;
use super::score::Score;
use crate::large_memory::{self, prefetch};

/// A move that the search has made.
#[derive(Clone, Copy)]
pub struct MadeMove {
    pub mv: Move,
    pub piece_to: PieceTo,
    /// Neither a capture nor a promotion.
    pub is_quiet: bool,
}

/// A piece and the square that it went to.
#[derive(Clone, Copy)]
pub struct PieceTo {
    piece: Piece,
    to: Square,
}

impl PieceTo {
    pub fn new(piece: Piece, to: Square) -> Self {
        Self { piece, to }
    }

    /// The piece that `mv` moves on `board`.
    pub fn of(board: &Board, mv: Move) -> Self {
        Self::new(board.piece_on(mv.from).unwrap_or(Piece::King), mv.to)
    }

    fn index(self) -> usize {
        self.piece as usize * Square::NUM + self.to as usize
    }
}

/// Number of pieces with their target squares.
const PIECE_TOS: usize = Piece::NUM * Square::NUM;

/// Numbers of plies back whose moves index the continuation history.
pub const CONTINUATION_PLIES: [usize; 3] = [1, 2, 4];

/// The moves that led to a position, at the distances in [`CONTINUATION_PLIES`].
pub type PreviousMoves = [Option<PieceTo>; CONTINUATION_PLIES.len()];

/// The attributes of a position that, with the move, index the histories of quiet moves.
#[derive(Clone, Copy, Default)]
pub struct QuietContext {
    /// The moves before.
    pub previous: PreviousMoves,
    /// Squares that the other side attacks.
    pub threats: BitBoard,
    /// A hash of both sides' pawns; `None` if pawn history is off.
    pub pawns: Option<usize>,
}

/// Largest value of any one statistic of the move histories.
const MAX_HISTORY: i32 = 16_384;

/// Number of pawn-structure slots in the pawn history; a power of two.
const PAWN_STRUCTURES: usize = 1 << 9;

/// Number of captured pieces, and none for a promotion.
const VICTIMS: usize = Piece::NUM + 1;

/// Statistics of the moves: positive for cutoffs, negative for failures; recent results weigh most.
pub struct History {
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

impl History {
    /// Empty tables; `None` if the system refuses the memory.
    pub fn new() -> Option<Self> {
        Some(Self {
            quiet: large_memory::zeroed(4 * Color::NUM * Square::NUM * Square::NUM)?,
            pawns: large_memory::zeroed(PAWN_STRUCTURES * Color::NUM * PIECE_TOS)?,
            continuation: large_memory::zeroed(2 * PIECE_TOS * PIECE_TOS)?,
            capture: large_memory::zeroed(PIECE_TOS * VICTIMS)?,
        })
    }

    pub fn clear(&mut self) {
        for part in [&mut self.quiet, &mut self.continuation, &mut self.pawns, &mut self.capture] {
            part.fill(0);
        }
    }

    /// The histories of the quiet moves of `side` in one position.
    pub fn of_quiets(&self, side: Color, context: &QuietContext) -> QuietHistories<'_> {
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
    pub fn update_butterfly(&mut self, quiet: QuietMove, bonus: i32) {
        let place = butterfly_index(quiet.side, quiet.mv, quiet.context.threats);
        add_with_gravity(&mut self.quiet[place], bonus, MAX_HISTORY);
    }

    /// The history score of a capture of `victim`, or of a promotion without a capture.
    pub fn of_capture(&self, capturer: PieceTo, victim: Option<Piece>) -> i32 {
        self.capture[capture_index(capturer, victim)].into()
    }

    /// Records a quiet move as a success (`bonus` > 0) or failure in all its histories.
    pub fn update_quiet(&mut self, quiet: QuietMove, bonus: i32) {
        self.update_butterfly(quiet, bonus);
        let QuietMove { side, piece_to, context, .. } = quiet;
        let now = piece_to.index();
        for (index, before) in context.previous.into_iter().enumerate() {
            if let Some(before) = before {
                let table = continuation_table(index) * PIECE_TOS + before.index();
                let place = table * PIECE_TOS + now;
                add_with_gravity(&mut self.continuation[place], bonus, MAX_HISTORY);
            }
        }
        if let Some(structure) = context.pawns {
            let table = structure % PAWN_STRUCTURES * Color::NUM + side as usize;
            add_with_gravity(&mut self.pawns[table * PIECE_TOS + now], bonus, MAX_HISTORY);
        }
    }

    /// Records a capture of `victim`, or a promotion, as a success or failure.
    pub fn update_capture(&mut self, capturer: PieceTo, victim: Option<Piece>, bonus: i32) {
        let place = capture_index(capturer, victim);
        add_with_gravity(&mut self.capture[place], bonus, MAX_HISTORY);
    }
}

/// A table of zeros, in place of one that does not apply.
static NO_HISTORY: [i16; PIECE_TOS] = [0; PIECE_TOS];

/// The tables of one position's quiet moves, most of them indexed by the moved piece and its
/// target.
pub struct QuietHistories<'a> {
    butterfly: &'a [i16],
    continuation: [&'a [i16; PIECE_TOS]; CONTINUATION_PLIES.len()],
    pawns: &'a [i16; PIECE_TOS],
    side: Color,
    threats: BitBoard,
}

impl QuietHistories<'_> {
    /// The history score of the quiet move `mv` by `piece`.
    pub fn of(&self, piece: Piece, mv: Move, parameters: &SearchParameters) -> i32 {
        let place = PieceTo::new(piece, mv.to).index();
        let [last, second, fourth] = self.continuation.map(|table| i32::from(table[place]));
        i32::from(self.butterfly[butterfly_index(self.side, mv, self.threats)])
            + i32::from(self.pawns[place]) * parameters.history_pawns / 16
            + last
            + second
            + fourth * parameters.history_fourth / 16
    }
}

/// A quiet move with its context.
#[derive(Clone, Copy)]
pub struct QuietMove {
    side: Color,
    mv: Move,
    piece_to: PieceTo,
    context: QuietContext,
}

impl QuietMove {
    /// A legal move on `board`, in its context.
    pub fn new(board: &Board, mv: Move, context: QuietContext) -> Self {
        Self { side: board.side_to_move(), mv, piece_to: PieceTo::of(board, mv), context }
    }

    /// The move `made` by `side`, in the context of the position before it.
    pub fn made(side: Color, made: MadeMove, context: QuietContext) -> Self {
        Self { side, mv: made.mv, piece_to: made.piece_to, context }
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

fn capture_index(capturer: PieceTo, victim: Option<Piece>) -> usize {
    capturer.index() * VICTIMS + victim.map_or(Piece::NUM, |piece| piece as usize)
}

/// Moves a statistic towards its `limit`, by less the nearer it is ("history gravity").
fn add_with_gravity(sum: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*sum);
    *sum = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// Slots in one table of the correction history for each side to move; a power of two.
const CORRECTION_PLACES: usize = 1 << 14;

/// Largest value of any one statistic of the correction history.
const MAX_CORRECTION: i32 = 1024;

/// From this depth on (in plies), a search result has full weight.
const FULL_WEIGHT_DEPTH: i32 = 8;

/// Average differences between search scores and encoder scores in positions with the same pawns,
/// the same pieces or the same last moves; recent ones weigh most.
pub struct CorrectionHistory {
    /// By the pawns of both sides.
    pawns: Box<[i16]>,
    /// By the pieces of one side; a table for each side's pieces.
    pieces: Box<[i16]>,
    /// By the last two moves.
    moves: Box<[i16]>,
}

impl CorrectionHistory {
    /// Empty tables; `None` if the system refuses the memory.
    pub fn new() -> Option<Self> {
        Some(Self {
            pawns: large_memory::zeroed(Color::NUM * CORRECTION_PLACES)?,
            pieces: large_memory::zeroed(Color::NUM * Color::NUM * CORRECTION_PLACES)?,
            moves: large_memory::zeroed(Color::NUM * PIECE_TOS * PIECE_TOS)?,
        })
    }

    pub fn clear(&mut self) {
        for part in [&mut self.pawns, &mut self.pieces, &mut self.moves] {
            part.fill(0);
        }
    }

    /// Fetches the slots into the processor's cache.
    pub fn prefetch(&self, places: &CorrectionPlaces) {
        prefetch(&self.pawns[places.pawns]);
        places.pieces.iter().for_each(|&place| prefetch(&self.pieces[place]));
        if let Some(place) = places.moves {
            prefetch(&self.moves[place]);
        }
    }

    /// Correction to add to the encoder's score, in centipawns.
    pub fn correction(&self, places: &CorrectionPlaces, parameters: &SearchParameters) -> Score {
        let pawns = i32::from(self.pawns[places.pawns]);
        let pieces: i32 = places.pieces.iter().map(|&place| i32::from(self.pieces[place])).sum();
        let moves = places.moves.map_or(0, |place| i32::from(self.moves[place]));
        (pawns * parameters.correction_pawns
            + pieces * parameters.correction_pieces
            + moves * parameters.correction_moves)
            / MAX_CORRECTION
    }

    /// Records that a search of `depth` plies scored `error` centipawns above the corrected score.
    pub fn update(&mut self, places: &CorrectionPlaces, error: Score, depth: i32) {
        let most = MAX_CORRECTION / 4;
        let bonus = (error * depth / FULL_WEIGHT_DEPTH).clamp(-most, most);
        let add = |sum: &mut i16| add_with_gravity(sum, bonus, MAX_CORRECTION);
        add(&mut self.pawns[places.pawns]);
        places.pieces.iter().for_each(|&place| add(&mut self.pieces[place]));
        if let Some(place) = places.moves {
            add(&mut self.moves[place]);
        }
    }
}

/// The slots of a position in the three tables.
#[derive(Clone, Copy)]
pub struct CorrectionPlaces {
    pawns: usize,
    pieces: [usize; Color::NUM],
    moves: Option<usize>,
}

impl CorrectionPlaces {
    /// The slots for `board`, reached by the last two moves.
    pub fn of(board: &Board, previous_moves: [Option<PieceTo>; 2]) -> Self {
        let side = board.side_to_move() as usize;
        let at = |table: usize, key: u64| {
            (table * Color::NUM + side) * CORRECTION_PLACES + key as usize % CORRECTION_PLACES
        };
        let colors = Color::ALL.map(|color| board.colors(color));
        let of = |color: usize, piece: Piece| (board.pieces(piece) & colors[color]).0;
        let pieces = |color: usize| {
            Piece::ALL[1..].iter().fold(0, |key, &piece| mixed(key, of(color, piece))) >> 32
        };
        let [last, before] = previous_moves;
        let moves = last
            .zip(before)
            .map(|(last, before)| (side * PIECE_TOS + before.index()) * PIECE_TOS + last.index());
        Self { pawns: at(0, pawn_key(board)), pieces: [at(0, pieces(0)), at(1, pieces(1))], moves }
    }
}

/// A hash of both sides' pawns; its lower half is well mixed.
pub fn pawn_key(board: &Board) -> u64 {
    let of = |color| (board.pieces(Piece::Pawn) & board.colors(color)).0;
    mixed(mixed(0, of(Color::White)), of(Color::Black)) >> 32
}

/// Mixes `bits` into a hash; its upper half is well mixed.
fn mixed(key: u64, bits: u64) -> u64 {
    (key.rotate_left(23) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
            history.of_quiets(Color::White, &context).of(Piece::Pawn, mv, &parameters)
        };
        let of = |mv, previous| score(&history, mv, previous);
        assert!((30_000..=2 * MAX_HISTORY).contains(&of(e4, before)));
        assert_eq!(of(d4, before), -1000);
        assert_eq!(of(d4, [None; 3]), -500);
        history.clear();
        assert_eq!(score(&history, e4, before), 0);
    }

    fn places(fen: &str) -> CorrectionPlaces {
        CorrectionPlaces::of(&fen.parse().expect("a position"), [None, None])
    }

    #[test]
    fn positions_that_share_something_share_a_correction() {
        let [here, same_pawns, other] = [
            "4k3/pp6/8/8/8/8/PP6/4K2R w K - 0 1",
            "4k2r/pp6/8/8/8/8/PP6/4K3 w k - 0 1",
            "3qk3/3p4/8/8/8/8/3P4/3QK3 w - - 0 1",
        ]
        .map(places);
        let parameters = SearchParameters {
            correction_pawns: 40,
            correction_pieces: 30,
            correction_moves: 20,
            ..SearchParameters::default()
        };
        let mut history = CorrectionHistory::new().expect("memory");
        for _ in 0..1000 {
            history.update(&here, 500, 20);
        }
        let of = |history: &CorrectionHistory, places| history.correction(places, &parameters);
        // At most the maxima of the parameters for pawns and both sides' pieces.
        assert!((95..=100).contains(&of(&history, &here)), "{}", of(&history, &here));
        assert!((38..=40).contains(&of(&history, &same_pawns)), "{}", of(&history, &same_pawns));
        assert_eq!(of(&history, &other), 0);
        history.update(&here, -500, 20);
        assert!(of(&history, &here) < 80);
        history.clear();
        assert_eq!(of(&history, &here), 0);
    }
}
