//! The opening book of limited strength: a Polyglot book, which `scripts/update-opening-book` makes
//! from a list of popular positions.

use azimuth_chess::position::Position;
use cozy_chess::{File, Move, Rank, Square};
use shakmaty::fen::Fen;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};

/// Entries in the order of their keys, each of 16 bytes: key, move, weight and an unused field, in
/// big-endian order.
static BOOK: &[u8] = include_bytes!("openings.bin");

/// Legal moves of the book with their shares of the games in which people reached `position`.
pub fn moves(position: &Position) -> Vec<(Move, f64)> {
    let (entries, _) = BOOK.as_chunks::<16>();
    let Some(key) = key(position) else { return Vec::new() };
    let key_of = |entry: &[u8; 16]| u64::from_be_bytes(std::array::from_fn(|byte| entry[byte]));
    let first = entries.partition_point(|entry| key_of(entry) < key);
    let found = entries[first..].iter().take_while(|entry| key_of(entry) == key);
    let mut moves: Vec<(Move, f64)> = found
        .map(|entry| {
            let [.., high, low, weight_high, weight_low, _, _, _, _] = *entry;
            let weight = u16::from_be_bytes([weight_high, weight_low]);
            (decoded(u16::from_be_bytes([high, low])), f64::from(weight))
        })
        .filter(|&(mv, _)| position.board().is_legal(mv))
        .collect();
    let all: f64 = moves.iter().map(|(_, weight)| weight).sum();
    moves.iter_mut().for_each(|(_, weight)| *weight /= all);
    moves
}

/// The Polyglot key; `None` in Chess960, which the book does not cover.
fn key(position: &Position) -> Option<u64> {
    let fen: Fen = position.fen(false).parse().ok()?;
    let position: Chess = fen.into_position(CastlingMode::Standard).ok()?;
    Some(position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0)
}

/// A move, with castling as king takes rook. The openings have no promotions.
fn decoded(number: u16) -> Move {
    let square = |shift: u16| {
        let [file, rank] = [number >> shift & 7, number >> (shift + 3) & 7].map(usize::from);
        Square::new(File::index(file), Rank::index(rank))
    };
    Move { from: square(6), to: square(0), promotion: None }
}

#[cfg(test)]
mod tests {
    use anyhow::Result;

    use super::*;

    /// The moves of the book after a line, the most popular first.
    fn after(line: &str) -> Result<Vec<(String, f64)>> {
        let mut position = Position::default();
        for mv in line.split_whitespace() {
            position.play(position.parse_move(mv)?);
        }
        let mut moves = moves(&position);
        moves.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok(moves.into_iter().map(|(mv, share)| (mv.to_string(), share)).collect())
    }

    #[test]
    fn the_book_has_what_people_play() -> Result<()> {
        let first = after("")?;
        assert!(["e2e4", "d2d4"].contains(&first[0].0.as_str()), "{first:?}");
        let shares: f64 = first.iter().map(|(_, share)| share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        let replies = after("e2e4 e7e5 g1f3")?;
        assert_eq!(replies[0].0, "b8c6");
        assert!(replies.iter().all(|(mv, _)| mv != "f7f6"), "{replies:?}");
        // King takes rook.
        let ruy_lopez = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";
        assert!(after(ruy_lopez)?.iter().any(|(mv, _)| mv == "e1h1"));
        Ok(())
    }
}
