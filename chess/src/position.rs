//! A board with the history of its game: reads FEN, plays moves, and tracks repetitions and the
//! 50-move rule.

use std::fmt::{self, Display};

use anyhow::{Result, anyhow, ensure};
use cozy_chess::{
    BitBoard, Board, Color, FenParseError, File, Move, Piece, Rank, Square, get_king_moves,
    get_pawn_attacks, util,
};

use crate::text::{printable, shortened};

/// The standard starting position.
pub const STARTPOS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Number of legal moves in a typical position.
pub const TYPICAL_MOVES: usize = 32;

/// Number of fields of a FEN.
const FIELDS: usize = 6;

/// The first character of a file in UTF-8 that Windows programs write.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Maximum length of a FEN that an error quotes, in characters.
const LONGEST_FEN: usize = 120;

/// A position of a game, with the positions before it since the last irreversible move.
///
/// ```
/// use azimuth_chess::position::Position;
///
/// let mut position = Position::from_fen("r3k3/8/8/8/8/8/4P3/4K2R w Kq -")?;
/// assert_eq!(position.fen(false), "r3k3/8/8/8/8/8/4P3/4K2R w Kq - 0 1");
/// for (mv, clock, earlier) in [("e1g1", 1, 1), ("a8b8", 2, 2), ("e2e4", 0, 0)] {
///     position.play(position.parse_move(mv)?);
///     assert_eq!(position.halfmove_clock(), clock);
///     assert_eq!(position.history().len(), earlier);
/// }
/// // Black may not castle any more, and no pawn can capture on e3.
/// assert_eq!(position.fen(false), "1r2k3/8/8/8/4P3/8/8/5RK1 b - - 0 2");
/// assert!(position.parse_move("e8c8").is_err());
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Position {
    board: Board,
    /// Continues beyond 100, where [`Board::halfmove_clock`] stops.
    halfmove_clock: u16,
    /// Keys of the earlier positions that could still repeat, oldest first.
    history: Vec<u64>,
}

impl Default for Position {
    fn default() -> Self {
        Self { board: Board::startpos(), halfmove_clock: 0, history: Vec::new() }
    }
}

impl From<Board> for Position {
    /// The position on a board, without earlier positions that could repeat.
    fn from(board: Board) -> Self {
        Self { halfmove_clock: board.halfmove_clock().into(), board, history: Vec::new() }
    }
}

impl Position {
    /// Reads a FEN as programs write them: missing fields have their defaults (White to move, no
    /// castling, no en passant, `0 1`), castling rights may be in X-FEN or Shredder-FEN, and
    /// operations of EPD may follow, of which `hmvc` and `fmvn` are the counters. Castling rights
    /// without their king or rook are dropped, as is an en-passant square that no pawn just passed.
    pub fn from_fen(fen: &str) -> Result<Self> {
        Ok(Self::read_fen(fen)?.0)
    }

    /// As [`Self::from_fen`]. Also returns the castling rights that were dropped, if any, for
    /// [`dropped_rights_notice`].
    pub fn read_fen(fen: &str) -> Result<(Self, Option<String>)> {
        let quoted = || printable(&shortened(fen, LONGEST_FEN)).into_owned();
        let without_operations = fen.contains(';').then(|| split_operations(fen));
        let text = without_operations.as_ref().map_or(fen, |(text, operations)| {
            let is_operation = |first: char| first.is_alphabetic() || first == ';';
            if operations.is_empty() || operations.starts_with(is_operation) {
                text.as_str()
            } else {
                fen
            }
        });
        let fields: Vec<&str> =
            text.trim_start_matches(BYTE_ORDER_MARK).split_whitespace().collect();
        ensure!(
            (1..=FIELDS).contains(&fields.len()),
            "FEN '{}': expected 1 to 6 fields, found {}",
            quoted(),
            fields.len()
        );
        let field = |place: usize, default| fields.get(place).copied().unwrap_or(default);
        let counter = |place: usize, name: &str, default: u16| match field(place, "") {
            "" => Ok(default),
            text if text.bytes().all(|b| b.is_ascii_digit()) => {
                Ok(text.parse().unwrap_or(u16::MAX))
            }
            text => Err(anyhow!("FEN '{}': the {name} '{text}' is not a number", quoted())),
        };
        let halfmove_clock = counter(4, "half-move clock", 0)?;
        let fullmove_number = counter(5, "full-move number", 1)?.max(1);
        let placement = fields[0];
        let assemble = |castling: &str, en_passant: &str| {
            let side = field(1, "w");
            let clock = halfmove_clock.min(100);
            let text =
                format!("{placement} {side} {castling} {en_passant} {clock} {fullmove_number}");
            Board::from_fen(&text, !castling.contains(['K', 'Q', 'k', 'q']))
        };
        let refused = |error| anyhow!("FEN '{}': {}", quoted(), explain(&error));
        let castling = field(2, "-");
        let is_right =
            |right: char| matches!(right.to_ascii_uppercase(), 'A'..='H' | 'K' | 'Q' | '-');
        ensure!(
            castling.chars().all(is_right),
            "FEN '{}': the castling rights '{}' are none",
            quoted(),
            printable(castling)
        );
        let en_passant = field(3, "-");
        // Most FENs are right as they stand. `KQkq` then mean the rooks in the corners, which are
        // the outermost ones of X-FEN.
        let (board, dropped) = match assemble(castling, en_passant) {
            Ok(board) => (board, None),
            Err(_) => {
                let (castling, dropped) = match castling {
                    "-" => ("-".to_owned(), None),
                    _ => castling_rights(&assemble("-", "-").map_err(refused)?, castling),
                };
                let board = match assemble(&castling, en_passant) {
                    Err(FenParseError::InvalidEnPassant)
                        if en_passant.parse::<Square>().is_ok() =>
                    {
                        assemble(&castling, "-")
                    }
                    other => other,
                };
                (board.map_err(refused)?, dropped)
            }
        };
        // Checks that cozy-chess's FEN parser does not make.
        let [white, black] = [Color::White, Color::Black].map(|color| board.king(color));
        let apart = !get_king_moves(white).has(black);
        ensure!(
            apart && placement.bytes().filter(|&byte| byte == b'/').count() + 1 == Rank::NUM,
            "FEN '{}': {}",
            quoted(),
            explain(&FenParseError::InvalidBoard)
        );
        Ok((Self { board, halfmove_clock, history: Vec::new() }, dropped))
    }

    /// The board; its half-move clock stops at 100.
    #[inline]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The FEN, with an en-passant square only if a capture there is legal. With `chess960` the
    /// castling rights are in Shredder-FEN.
    pub fn fen(&self, chess960: bool) -> String {
        write_fen(&self.board, self.halfmove_clock, chess960)
    }

    /// Half-moves since the last capture or pawn move, at most 65,535. From 100 on the position is
    /// a draw by the 50-move rule.
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Repetition keys of the earlier positions since the last irreversible move, oldest first.
    pub fn history(&self) -> &[u64] {
        &self.history
    }

    /// Reads a move in UCI notation; castling is `e1g1` or, in Chess960's notation, `e1h1`. The
    /// letter of a promotion may be a capital.
    pub fn parse_move(&self, text: &str) -> Result<Move> {
        let illegal = || anyhow!("move '{}' is not legal in '{}'", printable(text), self.board);
        let lower = text.to_ascii_lowercase();
        let mv = util::parse_uci_move(&self.board, &lower).map_err(|_| illegal())?;
        // cozy-chess overlooks what follows a move.
        let is_whole = lower.len() == 4 + usize::from(mv.promotion.is_some());
        ensure!(is_whole && self.board.is_legal(mv), illegal());
        Ok(mv)
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.history.push(repetition_key(&self.board));
        self.board.play_unchecked(mv);
        if self.board.halfmove_clock() == 0 {
            self.halfmove_clock = 0;
            self.history.clear();
        } else {
            self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        }
    }

    /// The position after a legal move.
    pub fn after(&self, mv: Move) -> Self {
        let mut after = self.clone();
        after.play(mv);
        after
    }

    /// The position after a line of legal moves.
    pub fn after_line(&self, line: &[Move]) -> Self {
        let mut after = self.clone();
        line.iter().for_each(|&mv| after.play(mv));
        after
    }

    /// Whether any legal move exists.
    pub fn has_legal_move(&self) -> bool {
        self.board.generate_moves(|_| true)
    }

    /// How the rules end the game in this position; `None` if it goes on. A mate takes precedence
    /// over the 50-move rule. A repetition is the third occurrence of the position.
    pub fn ending(&self) -> Option<Ending> {
        let board = &self.board;
        if !self.has_legal_move() {
            let winner = !board.side_to_move();
            let is_check = !board.checkers().is_empty();
            return Some(if is_check { Ending::Checkmate { winner } } else { Ending::Stalemate });
        }
        if insufficient_material(board) {
            return Some(Ending::InsufficientMaterial);
        }
        let key = repetition_key(board);
        if self.history.iter().filter(|&&earlier| earlier == key).count() >= 2 {
            return Some(Ending::Repetition);
        }
        (self.halfmove_clock >= 100).then_some(Ending::FiftyMoves)
    }
}

/// Tells the user that castling rights of a FEN were dropped.
pub fn dropped_rights_notice(rights: &str) -> String {
    format!("the castling rights '{rights}' are dropped, for want of king or rook")
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A side is checkmated.
    Checkmate {
        /// The side that mates.
        winner: Color,
    },
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Neither side can mate.
    InsufficientMaterial,
    /// The position has occurred three times.
    Repetition,
    /// Fifty moves by each side without a capture or a pawn move.
    FiftyMoves,
}

impl Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkmate { winner: Color::White } => "Checkmate: White wins",
            Self::Checkmate { winner: Color::Black } => "Checkmate: Black wins",
            Self::Stalemate => "Draw by stalemate",
            Self::InsufficientMaterial => "Draw: neither side can mate",
            Self::Repetition => "Draw by repetition",
            Self::FiftyMoves => "Draw by the 50-move rule",
        })
    }
}

/// All legal moves, in the order in which they are generated.
pub fn legal_moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::with_capacity(TYPICAL_MOVES);
    board.generate_moves(|piece_moves| {
        moves.extend(piece_moves);
        false
    });
    moves
}

/// Number of legal moves.
pub fn move_count(board: &Board) -> usize {
    let mut count = 0;
    board.generate_moves(|moves| {
        count += moves.len();
        false
    });
    count
}

/// Whether a legal move captures a piece, also en passant.
#[inline]
pub fn is_capture(board: &Board, mv: Move) -> bool {
    let en_passant = mv.from.file() != mv.to.file() && board.pieces(Piece::Pawn).has(mv.from);
    board.colors(!board.side_to_move()).has(mv.to) || en_passant
}

/// The board after a legal move.
#[inline]
pub fn board_after(board: &Board, mv: Move) -> Board {
    let mut after = board.clone();
    after.play_unchecked(mv);
    after
}

/// The FEN of a board in the notation of databases: castling rights as `KQkq`, or by the rooks'
/// files if a king or rook is not on its square of standard chess; an en-passant square only if a
/// capture there is legal.
pub fn fen_of(board: &Board) -> String {
    write_fen(board, board.halfmove_clock().into(), castles_as_in_chess960(board))
}

/// Whether a castling right belongs to a king or a rook that is not on its square of standard
/// chess.
pub fn castles_as_in_chess960(board: &Board) -> bool {
    Color::ALL.into_iter().any(|color| {
        let rights = board.castle_rights(color);
        let rooks = rights.short.is_none_or(|file| file == File::H)
            && rights.long.is_none_or(|file| file == File::A);
        let none = rights.short.is_none() && rights.long.is_none();
        !(none || rooks && board.king(color).file() == File::E)
    })
}

fn write_fen(board: &Board, halfmove_clock: u16, chess960: bool) -> String {
    let text = if chess960 { format!("{board:#}") } else { format!("{board}") };
    let mut fields: Vec<&str> = text.split(' ').collect();
    // The board's clock stops at 100 half-moves.
    let clock = halfmove_clock.to_string();
    fields[4] = &clock;
    if legal_en_passant(board).is_none() {
        fields[3] = "-";
    }
    fields.join(" ")
}

/// A move in UCI notation: castling as the king's two steps, or as king takes rook in Chess960.
///
/// ```
/// use azimuth_chess::position::{Position, uci_move};
///
/// let position = Position::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1")?;
/// let castling = position.parse_move("e1g1")?;
/// assert_eq!(uci_move(position.board(), castling, false), "e1g1");
/// assert_eq!(uci_move(position.board(), castling, true), "e1h1");
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn uci_move(board: &Board, mv: Move, chess960: bool) -> String {
    if chess960 { mv.to_string() } else { util::display_uci_move(board, mv).to_string() }
}

/// A key that is equal for positions that count as repeated: it includes the en-passant square only
/// if a capture there is legal.
///
/// ```
/// use azimuth_chess::position::{Position, repetition_key};
///
/// let mut position = Position::default();
/// let start = repetition_key(position.board());
/// for mv in ["g1f3", "g8f6", "f3g1", "f6g8"] {
///     position.play(position.parse_move(mv)?);
/// }
/// assert_eq!(repetition_key(position.board()), start);
/// assert_eq!(position.history()[0], start);
/// # Ok::<(), anyhow::Error>(())
/// ```
#[inline]
pub fn repetition_key(board: &Board) -> u64 {
    match legal_en_passant(board) {
        Some(_) => board.hash(),
        None => board.hash_without_ep(),
    }
}

/// Whether the side to move has pieces other than king and pawns; if not, it may be in zugzwang.
#[inline]
pub fn has_non_pawn_material(board: &Board) -> bool {
    let ours = board.colors(board.side_to_move());
    let simple = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    !(ours & !simple).is_empty()
}

/// Whether neither side can ever mate: bare kings, one minor piece, or only bishops of one square
/// colour.
pub fn insufficient_material(board: &Board) -> bool {
    let mating = board.pieces(Piece::Pawn) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    if !mating.is_empty() {
        return false;
    }
    let knights = board.pieces(Piece::Knight);
    let bishops = board.pieces(Piece::Bishop);
    match (knights.len(), bishops.len()) {
        (0, 0 | 1) | (1, 0) => true,
        (0, _) => {
            bishops.is_subset(BitBoard::LIGHT_SQUARES) || bishops.is_subset(BitBoard::DARK_SQUARES)
        }
        _ => false,
    }
}

/// The FEN and the operations of a line of FEN or EPD. The operations `hmvc` and `fmvn` are also the
/// counters of a FEN that has none.
pub fn split_operations(line: &str) -> (String, String) {
    let line = line.trim_start_matches(BYTE_ORDER_MARK);
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_counter = |field: &&&str| {
        let digits = field.trim_end_matches(';').trim_start_matches('-');
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let counters = fields.iter().skip(4).take(2).take_while(is_counter).count();
    let (fen, operations) = fields.split_at(fields.len().min(4 + counters));
    let mut fen: Vec<&str> = fen.iter().map(|field| field.trim_end_matches(';')).collect();
    let rest = operations.join(" ");
    let operand = |wanted: &str| {
        let mut found = operations_of(&rest).filter_map(|operation| operation.split_once(' '));
        found.find(|(code, _)| *code == wanted).map(|(_, operand)| operand)
    };
    let (clock, number) = (operand("hmvc"), operand("fmvn"));
    if counters == 0 && (clock.is_some() || number.is_some()) {
        fen.extend([clock.unwrap_or("0"), number.unwrap_or("1")]);
    }
    (fen.join(" "), rest)
}

/// The operations of an EPD line, each with its operands, without the semicolons that end them. A
/// semicolon in a string does not end an operation.
pub fn operations_of(operations: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let ends = move |character: char| {
        quoted ^= character == '"';
        character == ';' && !quoted
    };
    operations.split(ends).map(str::trim).filter(|operation| !operation.is_empty())
}

/// The castling rights in Shredder-FEN, which fits both standard chess and Chess960, and those that
/// are dropped. `KQkq` mean the outermost rooks, as in X-FEN. A side whose king is not on the e-file
/// and that lacks a rook for one right has castled: it has no rights.
fn castling_rights(board: &Board, castling: &str) -> (String, Option<String>) {
    let (mut rights, mut dropped) = (String::new(), String::new());
    for color in Color::ALL {
        let is_white = color == Color::White;
        let own = castling
            .chars()
            .filter(|right| *right != '-' && right.is_ascii_uppercase() == is_white);
        let found: Vec<(char, Option<char>)> =
            own.map(|right| (right, rook_of(board, color, right))).collect();
        let king_left = board.king(color) != Square::E1.relative_to(color);
        let has_castled = king_left && found.iter().any(|(_, rook)| rook.is_none());
        for (right, rook) in found {
            match rook.filter(|rook| !has_castled && !rights.contains(*rook)) {
                Some(rook) => rights.push(rook),
                None => dropped.push(right),
            }
        }
    }
    let rights = if rights.is_empty() { "-".to_owned() } else { rights };
    (rights, (!dropped.is_empty()).then_some(dropped))
}

/// The file of the rook of a castling right, as a letter in the case of the right; `None` without
/// the king or the rook.
fn rook_of(board: &Board, color: Color, right: char) -> Option<char> {
    let (king, rank) = (board.king(color), Rank::First.relative_to(color));
    let rooks = board.colored_pieces(color, Piece::Rook) & rank.bitboard();
    let mut files = rooks.into_iter().map(Square::file).filter(|_| king.rank() == rank);
    let letter = char::from(match right.to_ascii_uppercase() {
        'K' => files.max().filter(|&file| file > king.file())?,
        'Q' => files.min().filter(|&file| file < king.file())?,
        letter => files.find(|&file| char::from(file).eq_ignore_ascii_case(&letter))?,
    });
    Some(if color == Color::White { letter.to_ascii_uppercase() } else { letter })
}

fn explain(error: &FenParseError) -> &'static str {
    match error {
        FenParseError::InvalidBoard => {
            "not a legal board (8 rows of 8, one king a side, not side by side, at most 16 pieces and \
             8 pawns a side, no pawn on the first or last rank, the side not to move not in check)"
        }
        FenParseError::InvalidSideToMove => "the side to move must be w or b",
        FenParseError::InvalidCastlingRights => {
            "castling rights without the king and rook for them"
        }
        FenParseError::InvalidEnPassant => "the en-passant square is not one",
        _ => "the counters are not numbers in range",
    }
}

/// The en-passant square, if a capture on it is legal (the rule of python-chess and lichess).
pub fn legal_en_passant(board: &Board) -> Option<Square> {
    let us = board.side_to_move();
    let to = Square::new(board.en_passant()?, Rank::Sixth.relative_to(us));
    let pawns = get_pawn_attacks(to, !us) & board.colored_pieces(us, Piece::Pawn);
    pawns.into_iter().any(|from| board.is_legal(Move { from, to, promotion: None })).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_begin_after_the_move_counters() {
        let four = "8/5k2/8/8/3R4/8/4K3/8 b - -";
        for (counters, operations) in
            [("", ""), (" 3 40", ""), (" 3", "id \"a\";"), ("", "1-0"), ("", "x 3;")]
        {
            let fen = format!("{four}{counters}");
            let divided = split_operations(&format!("{fen} {operations}"));
            assert_eq!(divided, (fen, operations.to_owned()));
        }
        for (rest, counters) in [
            ("hmvc 3; fmvn 40;", "3 40"),
            ("fmvn 9; id \"x\";", "0 9"),
            ("hmvc x;", "x 1"),
            ("3 40; bm Kf6;", "3 40"),
            ("3 40; hmvc 5;", "3 40"),
            ("hmvc 2; c0 \"the fmvn field\";", "2 1"),
        ] {
            let (fen, _) = split_operations(&format!("\u{feff}{four} {rest}"));
            assert_eq!(fen, format!("{four} {counters}"));
        }
    }

    #[test]
    fn castling_rights_that_cannot_be_are_dropped() -> Result<()> {
        for (fen, rights, expected) in [
            // White has castled by hand, on either side.
            ("rnbqkbnr/pppppppp/8/8/8/5BN1/PPPPPPPP/RNBQ1RK1 b HQkq - 0 1", "kq", Some("HQ")),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1RK1 b KQkq - 0 1", "kq", Some("KQ")),
            ("r3kbnr/pppppppp/8/8/8/8/PPPPPPPP/2KR3R w KQkq - 0 1", "kq", Some("KQ")),
            ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "K", Some("Qkq")),
            ("4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "K", Some("K")),
            ("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1", "GBgb", None),
        ] {
            let (position, dropped) = Position::read_fen(fen)?;
            let chess960 = castles_as_in_chess960(position.board());
            assert_eq!(position.fen(chess960).split(' ').nth(2), Some(rights), "{fen}");
            assert_eq!(dropped.as_deref(), expected, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn castling_rights_are_the_same_in_every_notation() -> Result<()> {
        for (placement, x_fen, shredder_fen) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R", "KQkq", "HAha"),
            ("r4k1r/8/8/8/8/8/8/4K3", "qk", "ah"),
            ("4k3/8/8/8/8/8/8/RR2K1RR", "KQ", "HA"),
            ("4k3/8/8/8/8/8/8/1R2K1R1", "KQ", "GB"),
        ] {
            let read = |rights: &str| Position::read_fen(&format!("{placement} w {rights} - 0 1"));
            let [(position, none), (same, no_more)] = [read(x_fen)?, read(shredder_fen)?];
            assert_eq!(position.board(), same.board(), "{placement}");
            assert_eq!((none, no_more), (None, None), "{placement}");
        }
        Ok(())
    }

    #[test]
    fn fens_are_read_as_programs_write_them() -> Result<()> {
        for (fen, expected) in [
            ("4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            ("4k3/8/8/8/8/8/8/4K2R b K", "4k3/8/8/8/8/8/8/4K2R b K - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 w - - bm Kd2; id \"x y\";", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 3 9 ; bm Kd2;", "4k3/8/8/8/8/8/8/4K3 w - - 3 9"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 3 9;", "4k3/8/8/8/8/8/8/4K3 w - - 3 9"),
            ("4k3/8/8/8/8/8/8/4K3 b - - fmvn 9; hmvc 3;", "4k3/8/8/8/8/8/8/4K3 b - - 3 9"),
            ("\u{feff}4k3/8/8/8/8/8/8/4K3 w - - 3 9", "4k3/8/8/8/8/8/8/4K3 w - - 3 9"),
            // An en-passant square with no pawn behind it is dropped.
            ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            // X-FEN's K means the outermost rook, on any file.
            ("4k3/8/8/8/8/8/8/RK1R2R1 w KQ - 7 9", "4k3/8/8/8/8/8/8/RK1R2R1 w GA - 7 9"),
        ] {
            assert_eq!(fen_of(Position::from_fen(fen)?.board()), expected, "{fen}");
        }
        let late = Position::from_fen("8/8/8/8/8/2k5/8/2K5 b - - 1200 70000")?;
        assert_eq!((late.halfmove_clock(), late.board().fullmove_number()), (1200, u16::MAX));
        Ok(())
    }

    #[test]
    fn fens_are_written_as_they_are_read() -> Result<()> {
        for (fen, chess960) in [
            (STARTPOS, false),
            ("rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2", false),
            ("8/8/8/8/8/2k5/8/2K5 b - - 1200 700", false),
            ("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1", true),
        ] {
            assert_eq!(Position::from_fen(fen)?.fen(chess960), fen);
        }
        // `fen_of` chooses the notation of the castling rights by the board.
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 100 1",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        ] {
            assert_eq!(fen_of(Position::from_fen(fen)?.board()), fen);
        }
        let nothing_to_capture = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
        let written = fen_of(Position::from_fen(nothing_to_capture)?.board());
        assert_eq!(written, nothing_to_capture.replace("e3", "-"));
        Ok(())
    }

    #[test]
    fn nothing_follows_a_move() -> Result<()> {
        let position = Position::from_fen("8/4P3/8/8/8/2k5/8/2K5 w - - 0 1")?;
        assert_eq!(position.parse_move("e7e8Q")?.to_string(), "e7e8q");
        for text in ["c1d1k", "c1d1é", "e7e8qq"] {
            assert!(position.parse_move(text).is_err(), "{text}");
        }
        Ok(())
    }

    #[test]
    fn bad_fens_are_explained() {
        for (fen, part) in [
            ("", "expected 1 to 6 fields, found 0"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves", "expected 1 to 6 fields, found 7"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "not a legal board"),
            ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", "not a legal board"),
            ("4k3/8/8/8/8/8/4K3 w - - 0 1", "not a legal board"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move"),
            ("4k3/8/8/8/8/8/8/4K3 w X - 0 1", "the castling rights 'X'"),
            ("4k3/8/8/8/8/8/8/4K3 w - z9 0 1", "en-passant"),
            ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "half-move clock 'x' is not a number"),
        ] {
            let error = Position::from_fen(fen).expect_err(fen).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn bishops_of_one_colour_cannot_mate() {
        for (fen, insufficient) in [
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", true),
            ("4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", true),
            ("2b1k3/8/8/8/8/8/8/2B1K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/8/4KNN1 w - - 0 1", false),
            ("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", false),
        ] {
            let board: Board = fen.parse().expect("valid");
            assert_eq!(insufficient_material(&board), insufficient, "{fen}");
        }
    }
}
