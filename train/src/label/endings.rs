//! Random positions with few pieces. In half of them one side is likely to have most of the pieces.
//! Games between equal players rarely reach such endings, but searches do after exchanges.

use std::sync::Arc;

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_search::Tablebases;
use cozy_chess::Piece::{self, Bishop, King, Knight, Pawn, Queen, Rook};
use cozy_chess::{Board, BoardBuilder, Color, Square};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::labeller::Labeller;
use super::walk::{FIFTY_MOVES, Task, Walk};
use crate::data::family::{Family, Game};
use crate::data::packed::Label;

/// Number of pieces on the board, including kings.
const PIECES: std::ops::RangeInclusive<usize> = 3..=8;

/// Pieces besides the kings, in proportion to their frequency.
const KINDS: [Piece; 8] = [Pawn, Pawn, Pawn, Knight, Bishop, Rook, Rook, Queen];

/// Probabilities that a piece other than a king is White's. Each position draws one of them.
const SHARES: [f64; 4] = [0.1, 0.5, 0.5, 0.9];

/// Centipawns of a tablebase win, less the second value for every ply to the next capture or pawn
/// move, so that shorter wins score higher.
const WON: i32 = 2_500;
const WON_PER_PLY: i32 = 10;

pub struct EndingSampler {
    /// Label the positions that they contain; the engine labels the others.
    pub tablebases: Option<Arc<Tablebases>>,
}

impl EndingSampler {
    fn label(&self, board: &Board, engine: &mut Labeller) -> Result<Label> {
        match self.tablebases.as_ref().and_then(|tables| tables.distance_to_zeroing(board)) {
            Some(plies) => Ok(label_of_distance(plies).seen_by(board.side_to_move())),
            None => engine.value(board),
        }
    }
}

impl Walk for EndingSampler {
    fn walk(&mut self, Task { options, engine, rng, .. }: &mut Task<'_>) -> Result<Game> {
        let families = (0..options.plies).map(|_| {
            let board = ending(rng);
            let label = self.label(&board, engine)?;
            Ok(Family::own(board, label))
        });
        Ok(Game::new(families.collect::<Result<_>>()?))
    }
}

/// The label of a distance to zeroing, from the side to move's point of view.
fn label_of_distance(plies: i32) -> Label {
    let in_time = 1..=i32::from(FIFTY_MOVES);
    Label::Centipawns(match plies.abs() {
        distance if in_time.contains(&distance) => plies.signum() * (WON - WON_PER_PLY * distance),
        // A draw, or a win that the fifty-move rule prevents.
        _ => 0,
    })
}

/// A random legal position in which the game is not over.
fn ending(rng: &mut Xoshiro256PlusPlus) -> Board {
    loop {
        // The builder accepts adjacent kings, and `Position` rejects them.
        if let Ok(board) = draw(rng).build()
            && let Ok(position) = Position::from_fen(&board.to_string())
            && position.has_legal_move()
        {
            return board;
        }
    }
}

fn draw(rng: &mut Xoshiro256PlusPlus) -> BoardBuilder {
    let mut builder = BoardBuilder::empty();
    let share = *SHARES.choose(rng).unwrap_or(&0.5);
    let kings = [(King, Color::White), (King, Color::Black)];
    let others = (kings.len()..rng.random_range(PIECES)).map(|_| {
        let color = if rng.random_bool(share) { Color::White } else { Color::Black };
        (*KINDS.choose(rng).unwrap_or(&Pawn), color)
    });
    let pieces: Vec<_> = kings.into_iter().chain(others).collect();
    for piece in pieces {
        // A pawn on the first or last rank makes the board illegal: `ending` draws again.
        let square = Square::index(rng.random_range(0..64));
        *builder.square_mut(square) = Some(piece);
    }
    builder.side_to_move = if rng.random() { Color::White } else { Color::Black };
    builder
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn endings_are_of_all_kinds() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let boards: Vec<Board> = (0..2_000).map(|_| ending(&mut rng)).collect();
        let pieces =
            |count: u32| boards.iter().filter(|board| board.occupied().len() == count).count();
        assert!((3..=8).all(|count| pieces(count) > 100) && pieces(2) + pieces(9) < 500);
        let is_bare = |board: &&Board| Color::ALL.iter().any(|&c| board.colors(c).len() == 1);
        assert!((300..1_500).contains(&boards.iter().filter(is_bare).count()));
    }

    #[test]
    fn wins_are_certain_and_nearer_ones_better() {
        let p = |plies| label_of_distance(plies).win_probability();
        assert!(p(100) > 0.99 && p(1) > p(20) && p(20) > p(100) && p(-100) < 0.01);
        assert_eq!([p(0), p(101), p(-120)], [0.5; 3]);
    }
}
