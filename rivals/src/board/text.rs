//! Boards and moves as text, without loss.

use anyhow::{Result, anyhow, ensure};
use cozy_chess::{Board, Move};

/// A board as Shredder-FEN, from which [`board_of`] makes the same board.
pub fn text_of(board: &Board) -> String {
    format!("{board:#}")
}

/// The inverse of [`text_of`].
pub fn board_of(text: &str) -> Result<Board> {
    Board::from_fen(text, true).map_err(|error| anyhow!("'{text}': {error}"))
}

/// Parses a move in cozy-chess notation, and checks that it is legal on `board`.
pub fn move_of(text: &str, board: &Board) -> Result<Move> {
    let mv: Move = text.parse().map_err(|error| anyhow!("move '{text}': {error}"))?;
    ensure!(board.is_legal(mv), "move '{text}' is not legal in '{board}'");
    Ok(mv)
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::{board_after, legal_moves};

    use super::*;

    #[test]
    fn boards_and_moves_come_back() -> Result<()> {
        let after_a_push = "rnbqkbnr/1ppppppp/8/p7/4P3/8/PPPP1PPP/RNBQKBNR w HAha a6 0 2";
        for board in [
            Board::startpos(),
            Board::chess960_startpos(17),
            board_of(after_a_push)?,
            board_of("r3k2r/1P3ppp/8/2pPp3/8/8/p5PP/R3K2R w HAha c6 0 77")?,
        ] {
            assert_eq!(board_of(&text_of(&board))?, board);
            for mv in legal_moves(&board) {
                assert_eq!(move_of(&mv.to_string(), &board)?, mv);
                let after = board_after(&board, mv);
                assert_eq!(board_of(&text_of(&after))?, after, "{board} {mv}");
            }
        }
        assert!(board_of("8/8/8/8/8/8/8/8 w - - 0 1").is_err());
        assert!(move_of("e2e5", &Board::startpos()).is_err());
        Ok(())
    }
}
