//! Drawing the board in a terminal.

use anstyle::{Ansi256Color, Color as Colour, Style};
use cozy_chess::{Board, Color, File, Move, Piece, Rank, Square};

/// Indices in the 256-colour palette: squares, squares of the last move, and pieces.
const LIGHT: u8 = 180;
const DARK: u8 = 137;
const LIGHT_MOVED: u8 = 186;
const DARK_MOVED: u8 = 143;
const INK: u8 = 16;

/// The board with `bottom`'s side at the bottom and the squares of the last move marked.
pub fn drawn(board: &Board, last: Option<Move>, bottom: Color) -> String {
    let mut ranks: Vec<Rank> = Rank::ALL.into();
    let mut files: Vec<File> = File::ALL.into();
    match bottom {
        Color::White => ranks.reverse(),
        Color::Black => files.reverse(),
    }
    let mut text = String::new();
    for rank in ranks {
        text.push_str(&format!("  {rank} "));
        for &file in &files {
            let square = Square::new(file, rank);
            let moved = last.is_some_and(|mv| mv.from == square || mv.to == square);
            let style = style(square, moved);
            text.push_str(&format!("{style} {} {style:#}", glyph(board, square)));
        }
        text.push('\n');
    }
    let names: String = files.iter().map(|file| format!(" {file} ")).collect();
    text.push_str(&format!("    {}\n", names.trim_end()));
    text
}

fn style(square: Square, moved: bool) -> Style {
    let is_dark = (square.file() as usize + square.rank() as usize).is_multiple_of(2);
    let background = match (is_dark, moved) {
        (false, false) => LIGHT,
        (true, false) => DARK,
        (false, true) => LIGHT_MOVED,
        (true, true) => DARK_MOVED,
    };
    let colour = |number| Some(Colour::Ansi256(Ansi256Color(number)));
    Style::new().bg_color(colour(background)).fg_color(colour(INK))
}

/// White's and Black's pieces, in the order of [`Piece`].
const GLYPHS: [[char; Piece::NUM]; Color::NUM] =
    [['♙', '♘', '♗', '♖', '♕', '♔'], ['♟', '♞', '♝', '♜', '♛', '♚']];

fn glyph(board: &Board, square: Square) -> char {
    let found = board.color_on(square).zip(board.piece_on(square));
    found.map_or('·', |(color, piece)| GLYPHS[color as usize][piece as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_move_is_marked() {
        let mv: Move = "e2e4".parse().expect("a move");
        let marked = drawn(&Board::default(), Some(mv), Color::White);
        let count = |number: u8| marked.matches(&format!("48;5;{number}m")).count();
        assert_eq!(count(LIGHT_MOVED) + count(DARK_MOVED), 2);
        assert_eq!((count(LIGHT), count(DARK)), (30, 32));
    }
}
