//! Which moves were good elsewhere in the tree: those tend to be good here.

use cozy_chess::{Board, Color, Move, Piece, Square};

/// Largest sum of any one statistic.
const LIMIT: i32 = 16_384;

/// A piece and the square that it went to.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    piece: Piece,
    to: Square,
}

impl Moved {
    /// The piece that `mv` moves on `board`.
    pub(super) fn by(board: &Board, mv: Move) -> Self {
        Self { piece: board.piece_on(mv.from).unwrap_or(Piece::King), to: mv.to }
    }

    fn index(self) -> usize {
        self.piece as usize * Square::NUM + self.to as usize
    }
}

const MOVED: usize = Piece::NUM * Square::NUM;
const VICTIMS: usize = Piece::NUM + 1;

/// Successes less failures of moves, the latest counting most.
pub(super) struct History {
    /// By side, origin and target.
    quiet: Vec<i16>,
    /// By what moved before, and what moves now.
    reply: Vec<i16>,
    /// By what captures, where, and what is captured.
    capture: Vec<i16>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            quiet: vec![0; Color::NUM * Square::NUM * Square::NUM],
            reply: vec![0; 2 * MOVED * MOVED],
            capture: vec![0; MOVED * VICTIMS],
        }
    }

    pub(super) fn clear(&mut self) {
        for part in [&mut self.quiet, &mut self.reply, &mut self.capture] {
            part.fill(0);
        }
    }

    /// How good a quiet move has been, after the last move and the one before.
    pub(super) fn of_quiet(&self, board: &Board, mv: Move, before: &[Option<Moved>; 2]) -> i32 {
        let replies = self.replies(board, mv, before);
        let replies: i32 = replies.map(|place| place.map_or(0, |at| self.reply[at].into())).sum();
        i32::from(self.quiet[quiet(board, mv)]) + replies
    }

    /// How good a capture or promotion has been.
    pub(super) fn of_capture(&self, board: &Board, mv: Move) -> i32 {
        self.capture[capture(board, mv)].into()
    }

    /// Counts a quiet move as a success (`bonus` > 0) or failure.
    pub(super) fn learn_quiet(
        &mut self,
        board: &Board,
        mv: Move,
        before: &[Option<Moved>; 2],
        bonus: i32,
    ) {
        add(&mut self.quiet[quiet(board, mv)], bonus);
        let places: Vec<usize> = self.replies(board, mv, before).flatten().collect();
        places.into_iter().for_each(|place| add(&mut self.reply[place], bonus));
    }

    /// Counts a capture or promotion as a success or failure.
    pub(super) fn learn_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        add(&mut self.capture[capture(board, mv)], bonus);
    }

    fn replies(
        &self,
        board: &Board,
        mv: Move,
        before: &[Option<Moved>; 2],
    ) -> impl Iterator<Item = Option<usize>> + use<> {
        let now = Moved::by(board, mv).index();
        let before = *before;
        before.into_iter().enumerate().map(move |(distance, moved)| {
            moved.map(|moved| (distance * MOVED + moved.index()) * MOVED + now)
        })
    }
}

fn quiet(board: &Board, mv: Move) -> usize {
    (board.side_to_move() as usize * Square::NUM + mv.from as usize) * Square::NUM + mv.to as usize
}

fn capture(board: &Board, mv: Move) -> usize {
    let victim = board.piece_on(mv.to).map_or(Piece::NUM, |piece| piece as usize);
    Moved::by(board, mv).index() * VICTIMS + victim
}

/// Moves a statistic towards its limit, the less the nearer it is.
fn add(sum: &mut i16, bonus: i32) {
    let value = i32::from(*sum);
    *sum = (value + bonus - value * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successes_rise_and_stay_within_the_limit() {
        let board = Board::default();
        let (e4, d4) = ("e2e4".parse().expect("a move"), "d2d4".parse().expect("a move"));
        let mut history = History::new();
        let before = [Some(Moved { piece: Piece::Pawn, to: Square::E5 }), None];
        for _ in 0..1000 {
            history.learn_quiet(&board, e4, &before, 1500);
        }
        history.learn_quiet(&board, d4, &before, -500);
        assert!((30_000..=2 * LIMIT).contains(&history.of_quiet(&board, e4, &before)));
        assert_eq!(history.of_quiet(&board, d4, &before), -1000);
        assert_eq!(history.of_quiet(&board, d4, &[None, None]), -500);
        history.clear();
        assert_eq!(history.of_quiet(&board, e4, &before), 0);
    }
}
