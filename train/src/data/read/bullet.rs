//! bullet's training data: 32 bytes a position, from the point of view of the side to move, with
//! its centipawns. The format has no castling rights, en passant, move counters or side to move;
//! White is assumed to move.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, anyhow, ensure};
use bulletformat::ChessBoard;
use cozy_chess::{Board, BoardBuilder, Color, Piece, Square};

use super::{Games, Skipped};
use crate::data::family::{Family, Game};
use crate::data::packed::Label;

const RECORD: usize = 32;

/// Flag of the opponent's pieces in their codes.
const OPPONENT: u8 = 8;

pub struct Bullet {
    input: Box<dyn BufRead + Send>,
    taken: u64,
}

impl Bullet {
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { input, taken: 0 }
    }

    fn record_bytes(&mut self) -> Result<Option<[u8; RECORD]>> {
        let name = || format!("position {}: damaged, or the file ends within it", self.taken);
        if self.input.fill_buf().with_context(name)?.is_empty() {
            return Ok(None);
        }
        let mut bytes = [0; RECORD];
        self.input.read_exact(&mut bytes).with_context(name)?;
        self.taken += 1;
        Ok(Some(bytes))
    }
}

impl Games for Bullet {
    fn next(&mut self, _skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        let number = self.taken;
        let Some(bytes) = self.record_bytes()? else { return Ok(None) };
        let family = family(&bytes).with_context(|| format!("position {number}"));
        Ok(Some(family.map(|family| Game::new(vec![family]))))
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_record(&mut self) -> Result<bool> {
        Ok(self.record_bytes()?.is_some())
    }
}

fn family(bytes: &[u8; RECORD]) -> Result<Family> {
    let record = ChessBoard {
        occ: u64::from_le_bytes(std::array::from_fn(|index| bytes[index])),
        pcs: std::array::from_fn(|index| bytes[8 + index]),
        score: i16::from_le_bytes([bytes[24], bytes[25]]),
        ..ChessBoard::default()
    };
    ensure!(record.occ.count_ones() <= 32, "{} pieces", record.occ.count_ones());
    let mut builder = BoardBuilder::empty();
    for (code, square) in record {
        let piece = Piece::try_index(usize::from(code & !OPPONENT));
        let piece = piece.with_context(|| format!("there is no piece {code}"))?;
        let color = if code & OPPONENT == 0 { Color::White } else { Color::Black };
        *builder.square_mut(Square::index(square.into())) = Some((piece, color));
    }
    let board: Board =
        builder.build().map_err(|error| anyhow!("not a legal position ({error})"))?;
    Ok(Family::own(board, Label::from_bits(record.score)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record that the library writes for a line of text.
    fn record(text: &str) -> Vec<u8> {
        let board: ChessBoard = text.parse().expect("valid");
        let (occupied, score) = (board.occ.to_le_bytes(), board.score.to_le_bytes());
        let rest = [board.result, board.ksq, board.opp_ksq, 0, 0, 0];
        [&occupied[..], &board.pcs, &score, &rest].concat()
    }

    #[test]
    fn records_are_seen_from_the_side_to_move() -> Result<()> {
        let white = record("4k3/2p5/8/8/8/8/4P3/R3K3 w - - 0 1 | 120 | 1.0");
        let black = record("4k3/2p5/8/8/8/8/4P3/R3K3 b - - 0 1 | 120 | 1.0");
        let mut bullet = Bullet::new(Box::new(std::io::Cursor::new([white, black].concat())));
        for (fen, centipawns) in [
            ("4k3/2p5/8/8/8/8/4P3/R3K3 w - - 0 1", 120),
            // Sides exchanged and ranks mirrored: Black, who is to move, appears as White.
            ("r3k3/4p3/8/8/8/8/2P5/4K3 w - - 0 1", -120),
        ] {
            let game = bullet.next_game(&mut Skipped::new())?.context("a position")?;
            let board = fen.parse().expect("valid");
            assert_eq!(game.families, [Family::own(board, Label::Centipawns(centipawns))]);
        }
        assert!(bullet.next(&mut Skipped::new())?.is_none());
        assert_eq!(bullet.record(), 2);
        Ok(())
    }
}
