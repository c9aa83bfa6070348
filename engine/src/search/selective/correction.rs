//! Correction history: corrects the static evaluation by the average difference between search
//! scores and encoder scores in positions with the same pawns, the same pieces or the same last
//! moves.

use cozy_chess::{Board, Color, Piece};

use super::history::{PIECE_TOS, PieceTo, add_with_gravity};
use super::parameters::SearchParameters;
use super::score::Score;
use crate::hash_slot::prefetch;
use crate::large_memory;

/// Slots in one table for each side to move; a power of two.
const PLACES: usize = 1 << 14;

/// Largest value of any one statistic.
const MAX_CORRECTION: i32 = 1024;

/// From this depth on (in plies), a search result has full weight.
const FULL_WEIGHT_DEPTH: i32 = 8;

/// Differences between search scores and encoder scores; recent ones weigh most.
pub(super) struct CorrectionHistory {
    /// By the pawns of both sides.
    pawns: Box<[i16]>,
    /// By the pieces of one side; a table for each side's pieces.
    pieces: Box<[i16]>,
    /// By the last two moves.
    moves: Box<[i16]>,
}

/// The slots of a position in the three tables.
#[derive(Clone, Copy)]
pub(super) struct CorrectionPlaces {
    pawns: usize,
    pieces: [usize; Color::NUM],
    moves: Option<usize>,
}

impl CorrectionPlaces {
    /// The slots for `board`, reached by the last two moves.
    pub(super) fn of(board: &Board, previous_moves: [Option<PieceTo>; 2]) -> Self {
        let side = board.side_to_move() as usize;
        let at =
            |table: usize, key: u64| (table * Color::NUM + side) * PLACES + key as usize % PLACES;
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
pub(super) fn pawn_key(board: &Board) -> u64 {
    let of = |color| (board.pieces(Piece::Pawn) & board.colors(color)).0;
    mixed(mixed(0, of(Color::White)), of(Color::Black)) >> 32
}

/// Mixes `bits` into a hash; its upper half is well mixed.
fn mixed(key: u64, bits: u64) -> u64 {
    (key.rotate_left(23) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl CorrectionHistory {
    /// Empty tables; `None` if the system refuses the memory.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            pawns: large_memory::zeroed(Color::NUM * PLACES)?,
            pieces: large_memory::zeroed(Color::NUM * Color::NUM * PLACES)?,
            moves: large_memory::zeroed(Color::NUM * PIECE_TOS * PIECE_TOS)?,
        })
    }

    pub(super) fn clear(&mut self) {
        for part in [&mut self.pawns, &mut self.pieces, &mut self.moves] {
            part.fill(0);
        }
    }

    /// Fetches the slots into the processor's cache.
    pub(super) fn prefetch(&self, places: &CorrectionPlaces) {
        prefetch(&self.pawns[places.pawns]);
        places.pieces.iter().for_each(|&place| prefetch(&self.pieces[place]));
        if let Some(place) = places.moves {
            prefetch(&self.moves[place]);
        }
    }

    /// Correction to add to the encoder's score, in centipawns.
    pub(super) fn correction(
        &self,
        places: &CorrectionPlaces,
        parameters: &SearchParameters,
    ) -> Score {
        let pawns = i32::from(self.pawns[places.pawns]);
        let pieces: i32 = places.pieces.iter().map(|&place| i32::from(self.pieces[place])).sum();
        let moves = places.moves.map_or(0, |place| i32::from(self.moves[place]));
        (pawns * parameters.correction_pawns
            + pieces * parameters.correction_pieces
            + moves * parameters.correction_moves)
            / MAX_CORRECTION
    }

    /// Records that a search of `depth` plies scored `error` centipawns above the corrected score.
    pub(super) fn update(&mut self, places: &CorrectionPlaces, error: Score, depth: i32) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
