//! Viridithas's training data: a position in 32 bytes, then moves, each with the score of the
//! position before it in centipawns from White's point of view, terminated by four zero bytes.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, ensure};
use cozy_chess::{Board, Move, Piece, Square};
use viriformat::chess::chessmove::Move as ViriMove;
use viriformat::dataformat::Game as ViriGame;

use super::{Games, Skipped, catch_panic, skip};
use crate::data::family::{Family, Game, MOST_LABELS_A_GAME};
use crate::data::packed::{Label, NO_EN_PASSANT, PackedPosition};

/// Maximum size of a game in bytes.
const LONGEST: u64 = 32 + 4 * (MOST_LABELS_A_GAME as u64);

pub struct Viriformat {
    input: Box<dyn BufRead + Send>,
    taken: u64,
}

impl Viriformat {
    pub fn new(input: Box<dyn BufRead + Send>) -> Self {
        Self { input, taken: 0 }
    }

    fn read(&mut self) -> Result<Option<ViriGame>> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.taken += 1;
        let mut input = self.input.by_ref().take(LONGEST);
        let read = catch_panic(|| ViriGame::deserialise_from(&mut input, Vec::new()));
        Ok(Some(read?.context("damaged, or the file ends within it")?))
    }
}

impl Games for Viriformat {
    fn next(&mut self, skipped: &mut Skipped) -> Result<Option<Result<Game>>> {
        loop {
            let number = self.taken + 1;
            let name = || format!("game {number}");
            let Some(game) = self.read().with_context(name)? else { return Ok(None) };
            match families(&game, skipped).with_context(name) {
                Ok(families) if families.is_empty() => {}
                families => return Ok(Some(families.map(Game::new))),
            }
        }
    }

    fn record(&self) -> u64 {
        self.taken
    }

    fn skip_record(&mut self) -> Result<bool> {
        Ok(self.read()?.is_some())
    }
}

fn families(game: &ViriGame, skipped: &mut Skipped) -> Result<Vec<Family>> {
    let mut board = start(&game.initial_position.as_bytes())?;
    let mut families = Vec::with_capacity(game.moves.len());
    for (index, (mv, score)) in game.moves.iter().enumerate() {
        let played = moved(*mv);
        let legal = board.is_legal(played);
        ensure!(legal, "move {} ({played}) is not legal in '{board}'", index + 1);
        families.push(Family::own(board.clone(), Label::from_bits(score.get())));
        board.play_unchecked(played);
    }
    if families.is_empty() {
        skip(skipped, "game without moves");
    }
    Ok(families)
}

/// Unpacks the start. Squares, codes and rooks that may castle are as in [`PackedPosition`].
fn start(bytes: &[u8; 32]) -> Result<Board> {
    let en_passant = Square::try_index((bytes[24] & 127).into());
    let mut packed = PackedPosition {
        occupied: u64::from_le_bytes(std::array::from_fn(|index| bytes[index])),
        codes: std::array::from_fn(|index| bytes[8 + index]),
        label: 0,
        fullmove_number: u16::from_le_bytes([bytes[26], bytes[27]]).max(1),
        halfmove_clock: bytes[25].min(100),
        en_passant: en_passant.map_or(NO_EN_PASSANT, |square| square.file() as u8),
        black_to_move: bytes[24] & 128 != 0,
    };
    // The format stores an en passant square even if no pawn can capture there.
    let board = packed.board().or_else(|_| {
        packed.en_passant = NO_EN_PASSANT;
        packed.board()
    });
    board.context("its start")
}

/// The move in cozy-chess's notation, where castling is the king's move to its rook, as in this
/// format.
fn moved(mv: ViriMove) -> Move {
    let square = |square: viriformat::chess::types::Square| Square::index(square.index());
    let promotion = mv.promotion_type().and_then(|piece| Piece::try_index(piece.index()));
    Move { from: square(mv.from()), to: square(mv.to()), promotion }
}

#[cfg(test)]
mod tests {
    use super::*;

    use viriformat::chess::board::Board as ViriBoard;
    use viriformat::chess::chessmove::MoveFlags;
    use viriformat::chess::piece::PieceType;
    use viriformat::chess::types::Square as ViriSquare;

    const START: &str = "rn2k2r/P3pppp/8/8/8/8/5PPP/R3K2R w KQkq - 4 20";

    /// Castling, a king move and a promotion, as written by the library.
    fn example() -> Vec<u8> {
        let mut board = ViriBoard::new();
        board.set_from_fen(START, false).expect("valid");
        let mut game = ViriGame::new(&board);
        let square = |index: u8| ViriSquare::new(index).expect("a square");
        game.add_move(ViriMove::new_with_flags(square(4), square(7), MoveFlags::Castle), 10);
        game.add_move(ViriMove::new(square(60), square(59)), -20);
        game.add_move(ViriMove::new_with_promo(square(48), square(57), PieceType::Knight), 31_990);
        let mut bytes = Vec::new();
        game.serialise_into(&mut bytes).expect("written");
        bytes
    }

    fn open(bytes: Vec<u8>) -> Viriformat {
        Viriformat::new(Box::new(std::io::Cursor::new(bytes)))
    }

    #[test]
    fn games_written_by_the_library_are_read() -> Result<()> {
        let mut viri = open([example(), example()].concat());
        viri.skip_to(1)?;
        let game = viri.next_game(&mut Skipped::new())?.context("a game")?;
        let labels: Vec<Label> =
            game.families.iter().flat_map(Family::positions).map(|(_, label)| label).collect();
        assert_eq!(labels, [Label::Centipawns(10), Label::Centipawns(-20), Label::Mate(true)]);
        let start: Board = START.parse().expect("valid");
        assert_eq!(game.families[0].board, start);
        let last = "rn1k3r/P3pppp/8/8/8/8/5PPP/R4RK1 w - - 6 21";
        assert_eq!(game.families[2].board.to_string(), last);
        assert!(viri.next(&mut Skipped::new())?.is_none());

        let mut illegal = example();
        // To b7 instead of b8.
        let third = illegal.len() - 8;
        illegal[third..third + 2].copy_from_slice(&(48u16 | 49 << 6).to_le_bytes());
        let error = open(illegal).next_game(&mut Skipped::new()).expect_err("no such move");
        assert!(format!("{error:#}").contains("game 1: move 3 (a7b7) is not legal"), "{error:#}");
        Ok(())
    }

    #[test]
    fn no_bytes_panic() {
        let whole = example();
        for index in 0..whole.len() {
            for value in [0, 1, 6, 7, 64, 127, 255] {
                let mut damaged = whole.clone();
                damaged[index] = value;
                let _ = open(damaged).next(&mut Skipped::new());
            }
            let read = open(whole[..index].to_vec()).next_game(&mut Skipped::new());
            assert!(index == 0 || read.is_err(), "{index}");
        }
    }
}
