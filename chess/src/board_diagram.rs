//! The board as text.

use cozy_chess::{Board, Color, File, Rank, Square};

use crate::position::{Position, repetition_key};

/// The board, its FEN, its key and the pieces that give check, in the layout of Stockfish's `d`.
/// With `chess960` the FEN is in Shredder-FEN.
///
/// ```
/// use azimuth_chess::board_diagram::board_diagram;
/// use azimuth_chess::position::Position;
///
/// let check = Position::from_fen("4k3/8/8/8/8/8/8/K3R3 b - - 0 1")?;
/// let text = board_diagram(&check, false);
/// assert!(text.contains(" | K |   |   |   | R |   |   |   | 1"));
/// assert!(text.ends_with("Checkers: e1"));
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn board_diagram(position: &Position, chess960: bool) -> String {
    let board = position.board();
    let mut lines = vec![" +---+---+---+---+---+---+---+---+".to_owned()];
    for rank in Rank::ALL.into_iter().rev() {
        let row: String =
            File::ALL.iter().map(|&file| format!(" {} |", piece(board, file, rank))).collect();
        lines.push(format!(" |{row} {rank}"));
        lines.push(lines[0].clone());
    }
    lines.push("   a   b   c   d   e   f   g   h".to_owned());
    let checkers: Vec<String> = board.checkers().into_iter().map(|sq| sq.to_string()).collect();
    lines.push(String::new());
    lines.push(format!("Fen: {}", position.fen(chess960)));
    lines.push(format!("Key: {:016X}", repetition_key(board)));
    lines.push(format!("Checkers: {}", checkers.join(" ")).trim_end().to_owned());
    lines.join("\n")
}

fn piece(board: &Board, file: File, rank: Rank) -> char {
    let square = Square::new(file, rank);
    let Some((piece, color)) = board.piece_on(square).zip(board.color_on(square)) else {
        return ' ';
    };
    let letter: char = piece.into();
    if color == Color::White { letter.to_ascii_uppercase() } else { letter }
}
