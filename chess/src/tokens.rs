//! A position as the 77 tokens of ChessBench (Ruoss et al. 2024, "Amortized Planning with
//! Large-Scale Transformers"), computed directly from the board.
//!
//! Layout: side to move (1), squares a8..h8 down to a1..h1 (64), castling padded with `.` (4),
//! en-passant square or `..` (2), half-move clock (3 digits), full-move number (3 digits).

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

use crate::placement::Placement;
use crate::position::legal_en_passant;

/// Number of tokens of a position.
pub const LEN: usize = 77;

/// Number of rows in the published embedding table. Only the first 33 are used.
pub const VOCABULARY: usize = 77;

/// The tokens of one position.
pub type Tokens = [u8; LEN];

/// Both counters have three digits and stop at this value.
const COUNTER_LIMIT: u16 = 999;

const WHITE_TO_MOVE: u8 = 29;
const BLACK_TO_MOVE: u8 = 30;
const EMPTY: u8 = 32;
/// Ids of p n b r q k. Black's bishop shares its id with the b-file and with "Black to move".
const BLACK_PIECES: [u8; Piece::NUM] = [18, 19, 30, 20, 22, 21];
/// Ids of P N B R Q K.
const WHITE_PIECES: [u8; Piece::NUM] = [23, 25, 24, 26, 27, 28];
const FILES: [u8; 8] = [10, 30, 12, 13, 14, 15, 16, 17];

/// Tokens of `board`, each from 0 to 32. The half-move clock is a separate argument, because a
/// `Board` stops counting at 100. Both counters stop at 999.
///
/// ```
/// use azimuth_chess::placement::Placement;
/// use azimuth_chess::position::Position;
/// use azimuth_chess::tokens::{LEN, placement, tokenize};
///
/// let fen = "r1bq1rk1/pp3ppp/2n1pn2/2bp4/2P5/P1N1PN2/1P3PPP/R1BQKB1R b KQ - 120 75";
/// let position = Position::from_fen(fen)?;
/// let tokens = tokenize(position.board(), position.halfmove_clock());
/// assert_eq!(tokens.len(), LEN);
/// assert_eq!(tokens[71..77], [1, 2, 0, 0, 7, 5]);
/// assert_eq!(placement(&tokens), Placement::of(position.board()));
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn tokenize(board: &Board, halfmove_clock: u16) -> Tokens {
    let mut tokens = [EMPTY; LEN];
    tokens[0] = match board.side_to_move() {
        Color::White => WHITE_TO_MOVE,
        Color::Black => BLACK_TO_MOVE,
    };
    for piece in Piece::ALL {
        for (color, ids) in [(Color::White, WHITE_PIECES), (Color::Black, BLACK_PIECES)] {
            for square in board.colored_pieces(color, piece) {
                tokens[1 + (square as usize ^ 56)] = ids[piece as usize];
            }
        }
    }
    write_castling(board, &mut tokens[65..69]);
    if let Some(square) = legal_en_passant(board) {
        tokens[69] = FILES[square.file() as usize];
        tokens[70] = square.rank() as u8 + 1;
    }
    write_counter(halfmove_clock, &mut tokens[71..74]);
    write_counter(board.fullmove_number(), &mut tokens[74..77]);
    tokens
}

/// The placement that the tokens encode.
pub fn placement(tokens: &Tokens) -> Placement {
    let side_to_move = if tokens[0] == WHITE_TO_MOVE { Color::White } else { Color::Black };
    let mut colors = [BitBoard::EMPTY; Color::NUM];
    let mut pieces = [BitBoard::EMPTY; Piece::NUM];
    for (color, ids) in [(Color::White, WHITE_PIECES), (Color::Black, BLACK_PIECES)] {
        for square in Square::ALL {
            let token = tokens[1 + (square as usize ^ 56)];
            if let Some(piece) = ids.iter().position(|&id| id == token) {
                colors[color as usize] |= square.bitboard();
                pieces[piece] |= square.bitboard();
            }
        }
    }
    Placement { colors, pieces, side_to_move }
}

fn write_castling(board: &Board, tokens: &mut [u8]) {
    let white = board.castle_rights(Color::White);
    let black = board.castle_rights(Color::Black);
    let rights = [
        (white.short, WHITE_PIECES[Piece::King as usize]),
        (white.long, WHITE_PIECES[Piece::Queen as usize]),
        (black.short, BLACK_PIECES[Piece::King as usize]),
        (black.long, BLACK_PIECES[Piece::Queen as usize]),
    ];
    let mut held = rights.iter().filter(|(rook, _)| rook.is_some()).map(|&(_, id)| id).peekable();
    if held.peek().is_none() {
        tokens[0] = 31;
    }
    tokens.iter_mut().zip(held).for_each(|(token, id)| *token = id);
}

fn write_counter(count: u16, tokens: &mut [u8]) {
    let count = count.min(COUNTER_LIMIT);
    tokens[0] = (count / 100) as u8;
    tokens[1] = (count / 10 % 10) as u8;
    tokens[2] = (count % 10) as u8;
}
