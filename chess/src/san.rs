//! Moves in standard algebraic notation (SAN), the notation of PGN and of chess literature.

use anyhow::{Result, anyhow};
use cozy_chess::{Board, Move, util};

use crate::notation::{Language, read_marks, read_move};
use crate::position::{Position, board_after};

/// A legal move in SAN: `Nbd7`, `exd6`, `O-O`, `e8=Q#`.
///
/// ```
/// use azimuth_chess::position::Position;
/// use azimuth_chess::san::{san_of_line, san_of_move};
///
/// let start = Position::default();
/// let line = ["e2e4", "e7e5", "g1f3"].map(|mv| mv.parse().expect("a move"));
/// assert_eq!(san_of_move(start.board(), line[0]), "e4");
/// assert_eq!(san_of_line(start.board(), &line), ["e4", "e5", "Nf3"]);
/// ```
pub fn san_of_move(board: &Board, mv: Move) -> String {
    util::display_san_move(board, mv).to_string()
}

/// The moves of a line in SAN.
pub fn san_of_line(board: &Board, line: &[Move]) -> Vec<String> {
    let mut board = board.clone();
    let mut sans = Vec::with_capacity(line.len());
    for &mv in line {
        sans.push(san_of_move(&board, mv));
        board = board_after(&board, mv);
    }
    sans
}

/// Reads a legal move in SAN, long algebraic or UCI notation. The sign of check or mate may be
/// missing.
///
/// ```
/// use azimuth_chess::position::Position;
/// use azimuth_chess::san::parse_move;
///
/// let start = Position::default();
/// assert_eq!(parse_move(&start, "Nf3")?, parse_move(&start, "g1f3")?);
/// assert!(parse_move(&start, "Nf4").is_err());
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn parse_move(position: &Position, text: &str) -> Result<Move> {
    let by_notation = || {
        let (written, marks) = read_move(text, Language::ENGLISH)?;
        read_marks(marks)?;
        written.on(position.board())
    };
    by_notation().map_or_else(|| position.parse_move(text), Ok).map_err(|_| {
        anyhow!("move '{text}' is not legal in '{}' (expected Nf3 or g1f3)", position.fen(false))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::legal_moves;

    const FENS: [&str; 5] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
        // Chess960: the rook is on the king's target square.
        "1k6/8/8/8/8/8/8/5KR1 w G - 0 1",
    ];

    #[test]
    fn every_move_is_read_as_it_was_written() -> Result<()> {
        for fen in FENS {
            let position = Position::from_fen(fen)?;
            for mv in legal_moves(position.board()) {
                let san = san_of_move(position.board(), mv);
                assert_eq!(parse_move(&position, &san)?, mv, "{fen}: {san}");
                assert_eq!(parse_move(&position, &mv.to_string())?, mv, "{fen}: {mv}");
            }
        }
        Ok(())
    }
}
