//! History heuristics: moves that were good elsewhere in the tree tend to be good here.

use cozy_chess::{Board, Color, Move, Piece, Square};

/// Largest value of any one statistic.
const MAX_HISTORY: i32 = 16_384;

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

    fn index(self) -> usize {
        self.piece as usize * Square::NUM + self.to as usize
    }
}

const PIECE_TOS: usize = Piece::NUM * Square::NUM;
const VICTIMS: usize = Piece::NUM + 1;

/// Cutoffs less failures of moves, the latest counting most.
pub(super) struct History {
    /// Butterfly history: by side, origin and target.
    quiet: Vec<i16>,
    /// Continuation history: by the piece and target of one of the two moves before, and of this one.
    continuation: Vec<i16>,
    /// Capture history: by what captures, where, and what is captured.
    capture: Vec<i16>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            quiet: vec![0; Color::NUM * Square::NUM * Square::NUM],
            continuation: vec![0; 2 * PIECE_TOS * PIECE_TOS],
            capture: vec![0; PIECE_TOS * VICTIMS],
        }
    }

    pub(super) fn clear(&mut self) {
        for part in [&mut self.quiet, &mut self.continuation, &mut self.capture] {
            part.fill(0);
        }
    }

    /// How good a quiet move has been, after the last move and the one before.
    pub(super) fn of_quiet(
        &self,
        board: &Board,
        mv: Move,
        previous_moves: &[Option<PieceTo>; 2],
    ) -> i32 {
        let continuations = self.continuations(board, mv, previous_moves);
        let continuations: i32 =
            continuations.map(|place| place.map_or(0, |at| self.continuation[at].into())).sum();
        i32::from(self.quiet[quiet_index(board, mv)]) + continuations
    }

    /// How good a capture or promotion has been.
    pub(super) fn of_capture(&self, board: &Board, mv: Move) -> i32 {
        self.capture[capture_index(board, mv)].into()
    }

    /// Counts a quiet move as a success (`bonus` > 0) or failure.
    pub(super) fn update_quiet(
        &mut self,
        board: &Board,
        mv: Move,
        previous_moves: &[Option<PieceTo>; 2],
        bonus: i32,
    ) {
        add_with_gravity(&mut self.quiet[quiet_index(board, mv)], bonus);
        let places: Vec<usize> = self.continuations(board, mv, previous_moves).flatten().collect();
        places.into_iter().for_each(|place| add_with_gravity(&mut self.continuation[place], bonus));
    }

    /// Counts a capture or promotion as a success or failure.
    pub(super) fn update_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        add_with_gravity(&mut self.capture[capture_index(board, mv)], bonus);
    }

    fn continuations(
        &self,
        board: &Board,
        mv: Move,
        previous_moves: &[Option<PieceTo>; 2],
    ) -> impl Iterator<Item = Option<usize>> + use<> {
        let now = PieceTo::of(board, mv).index();
        let previous_moves = *previous_moves;
        previous_moves.into_iter().enumerate().map(move |(distance, moved)| {
            moved.map(|moved| (distance * PIECE_TOS + moved.index()) * PIECE_TOS + now)
        })
    }
}

fn quiet_index(board: &Board, mv: Move) -> usize {
    (board.side_to_move() as usize * Square::NUM + mv.from as usize) * Square::NUM + mv.to as usize
}

fn capture_index(board: &Board, mv: Move) -> usize {
    let victim = board.piece_on(mv.to).map_or(Piece::NUM, |piece| piece as usize);
    PieceTo::of(board, mv).index() * VICTIMS + victim
}

/// Moves a statistic towards its limit, the less the nearer it is ("history gravity").
fn add_with_gravity(sum: &mut i16, bonus: i32) {
    let value = i32::from(*sum);
    *sum = (value + bonus - value * bonus.abs() / MAX_HISTORY) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_rise_and_stay_within_the_limit() {
        let board = Board::default();
        let (e4, d4) = ("e2e4".parse().expect("a move"), "d2d4".parse().expect("a move"));
        let mut history = History::new();
        let previous_moves = [Some(PieceTo { piece: Piece::Pawn, to: Square::E5 }), None];
        for _ in 0..1000 {
            history.update_quiet(&board, e4, &previous_moves, 1500);
        }
        history.update_quiet(&board, d4, &previous_moves, -500);
        assert!((30_000..=2 * MAX_HISTORY).contains(&history.of_quiet(
            &board,
            e4,
            &previous_moves
        )));
        assert_eq!(history.of_quiet(&board, d4, &previous_moves), -1000);
        assert_eq!(history.of_quiet(&board, d4, &[None, None]), -500);
        history.clear();
        assert_eq!(history.of_quiet(&board, e4, &previous_moves), 0);
    }
}
