//! Moves as people and programs write them: SAN, long algebraic and coordinate notation, with the
//! marks that may follow a move.

use cozy_chess::{BitBoard, Board, File, Move, Piece, Rank, Square};

/// A move as a text describes it. The board decides whether it is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenMove {
    /// A move of a piece.
    Piece {
        /// The piece; `None` if the text has no letter for it.
        piece: Option<Piece>,
        /// File of the square it leaves, if written.
        file: Option<File>,
        /// Rank of the square it leaves, if written.
        rank: Option<Rank>,
        /// The square it enters.
        to: Square,
        /// The piece to which a pawn promotes.
        promotion: Option<Piece>,
    },
    /// Castling.
    Castling {
        /// Whether it is castling on the queen's side.
        long: bool,
    },
    /// A null move: the side to move passes.
    Null,
}

/// The letters of king, queen, rook, bishop and knight in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(&'static str);

impl Language {
    /// The letters of PGN.
    pub const ENGLISH: Self = Self("KQRBN");

    /// The letters of other languages, in which games are written by people: German, French,
    /// Spanish and Italian, Dutch, Portuguese, Hungarian, Polish, Czech, Finnish and Russian. `H` is
    /// the knight in Hungarian, which moves before the queen, Polish `H`, in most games. `Кр`, the
    /// Russian king, has two letters, which [`transliterated`] replaces.
    pub fn others() -> impl Iterator<Item = Self> {
        let letters = "KDTLS RDTFC RDTAC KDTLP RDTBC KVBFH KHWGS KDVSJ KDTLR KФЛСК";
        letters.split(' ').map(Self)
    }

    fn piece(self, letter: char) -> Option<Piece> {
        const PIECES: [Piece; 5] =
            [Piece::King, Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight];
        self.0.chars().zip(PIECES).find(|&(known, _)| known == letter).map(|(_, piece)| piece)
    }
}

/// Numeric annotation glyphs (NAG) with the marks after a move that mean them, among them all of
/// lichess's. The glyph 0 stands for none: check, mate, capture en passant and offers of a draw say
/// nothing that the move does not.
const MARKS: [(u8, &str); 26] = [
    (0, "e.p. mate ++ ## ep ch + # : , \u{2020} \u{2021}"),
    (1, "!"),
    (2, "?"),
    (3, "!! \u{203c}"),
    (4, "?? \u{2047}"),
    (5, "!? \u{2049}"),
    (6, "?! \u{2048}"),
    (7, "\u{25a1}"),
    (10, "="),
    (13, "~ \u{221e}"),
    (14, "+/= += \u{2a72}"),
    (15, "=/+ =+ \u{2a71}"),
    (16, "+/- \u{b1}"),
    (17, "-/+ \u{2213}"),
    (18, "+-"),
    (19, "-+"),
    (22, "\u{2a00} \u{2299}"),
    (32, "\u{2191}\u{2191} \u{27f3}"),
    (36, "\u{2191}"),
    (40, "\u{2192}"),
    (44, "=\u{221e}"),
    (132, "\u{21c6}"),
    (138, "\u{2295}"),
    (140, "\u{2206} \u{394}"),
    (146, "TN N"),
    (220, "D"),
];

/// The marks at the end of a word: their glyphs. `None` if the text has anything else.
pub fn read_marks(mut text: &str) -> Option<Vec<u8>> {
    let mut glyphs = Vec::new();
    while !text.is_empty() {
        let marks = MARKS
            .iter()
            .flat_map(|(glyph, marks)| marks.split(' ').map(move |mark| (mark, *glyph)));
        let fitting = marks.filter(|(mark, _)| text.starts_with(mark));
        let (mark, glyph) = fitting.max_by_key(|(mark, _)| mark.len())?;
        if glyph > 0 {
            glyphs.push(glyph);
        }
        text = &text[mark.len()..];
    }
    Some(glyphs)
}

/// Reads the move at the start of a word. Returns the move and the rest of the word.
pub fn read_move(word: &str, language: Language) -> Option<(WrittenMove, &str)> {
    if word.starts_with(['-', 'Z', '0', '@', 'O', 'o']) {
        return read_special_move(word);
    }
    let first = word.chars().next()?;
    let (piece, rest) = match language.piece(first) {
        Some(piece) => (Some(piece), &word[first.len_utf8()..]),
        None => match word.strip_prefix('P') {
            Some(rest) => (Some(Piece::Pawn), rest),
            None => (None, word),
        },
    };
    let (from, to, rest) = read_squares(rest)?;
    let (promotion, rest) = match piece {
        None | Some(Piece::Pawn) => read_promotion(to, rest, language),
        Some(_) => (None, rest),
    };
    Some((WrittenMove::Piece { piece, file: from.0, rank: from.1, to, promotion }, rest))
}

/// Reads castling or a null move.
fn read_special_move(word: &str) -> Option<(WrittenMove, &str)> {
    // Castling long comes before short, with which its texts begin.
    let known = [
        ("-- Z0 0000 @@@@", WrittenMove::Null),
        ("O-O-O 0-0-0 o-o-o", WrittenMove::Castling { long: true }),
        ("O-O 0-0 o-o", WrittenMove::Castling { long: false }),
    ];
    known.into_iter().find_map(|(texts, written)| {
        let rest = texts.split(' ').find_map(|text| word.strip_prefix(text))?;
        Some((written, rest))
    })
}

/// File and rank of the square that a piece leaves, as far as they are written.
type Origin = (Option<File>, Option<Rank>);

/// Reads the squares of a move, `e1xe4`, `exd5`, `1e4`, `xe4` or `e4`: file and rank of the first,
/// the second, and the rest of the text.
fn read_squares(text: &str) -> Option<(Origin, Square, &str)> {
    // The shapes, longest first; `s` is the sign of a capture or a hyphen.
    for shape in ["frsfr", "frfr", "fsfr", "ffr", "rsfr", "rfr", "sfr", "fr"] {
        let mut characters = text.chars();
        let (mut files, mut ranks) = ([None; 2], [None; 2]);
        // The last two characters of the shape are the square that the piece enters.
        let before = shape.len() - 2;
        let fits = shape.bytes().enumerate().all(|(place, kind)| {
            let Some(character) = characters.next() else { return false };
            let square = usize::from(place >= before);
            match kind {
                b'f' => File::try_from(character)
                    .is_ok_and(|file| files[square].replace(file).is_none()),
                b'r' => Rank::try_from(character)
                    .is_ok_and(|rank| ranks[square].replace(rank).is_none()),
                _ => matches!(character, 'x' | ':' | '-' | '×'),
            }
        });
        if fits && let (Some(file), Some(rank)) = (files[1], ranks[1]) {
            return Some(((files[0], ranks[0]), Square::new(file, rank), characters.as_str()));
        }
    }
    None
}

/// Reads a promotion, `=Q`, `/Q`, `Q` or `q`, after a move to `to`.
fn read_promotion(to: Square, text: &str, language: Language) -> (Option<Piece>, &str) {
    if !matches!(to.rank(), Rank::First | Rank::Eighth) {
        return (None, text);
    }
    let letter = text.strip_prefix(['=', '/']).unwrap_or(text);
    let Some(first) = letter.chars().next() else { return (None, text) };
    let upper = first.to_ascii_uppercase();
    match language.piece(upper).or_else(|| Language::ENGLISH.piece(upper)) {
        Some(piece) if piece != Piece::King => (Some(piece), &letter[first.len_utf8()..]),
        _ => (None, text),
    }
}

/// A word with letters in place of figurines (♘ and ♞ for the knight) and of the two letters of the
/// Russian king, and hyphens in place of dashes; `None` if there is nothing to replace.
pub fn transliterated(word: &str) -> Option<String> {
    const WHITE_KING: u32 = '♔' as u32;
    let replaced = |character: char| match u32::from(character).checked_sub(WHITE_KING) {
        Some(place @ 0..=11) => ['K', 'Q', 'R', 'B', 'N', 'P'][place as usize % 6],
        _ if matches!(character, '\u{2010}'..='\u{2015}' | '\u{2212}') => '-',
        _ => character,
    };
    if word.is_ascii() {
        return None;
    }
    let letters: String = word.chars().map(replaced).collect();
    let letters = letters.replace("Кр", "K").replace(['\u{fe0e}', '\u{fe0f}'], "");
    (letters != word).then_some(letters)
}

impl WrittenMove {
    /// The only legal move that fits. A null move is none.
    pub fn on(self, board: &Board) -> Option<Move> {
        match self {
            Self::Null => None,
            Self::Castling { long } => castling(board, long),
            Self::Piece { piece, file, rank, to, promotion } => {
                let is_coordinate = piece.is_none() && file.is_some() && rank.is_some();
                let from = match piece {
                    None if is_coordinate => BitBoard::FULL,
                    piece => board.pieces(piece.unwrap_or(Piece::Pawn)),
                };
                let from = from & file.map_or(BitBoard::FULL, File::bitboard);
                let from = from & rank.map_or(BitBoard::FULL, Rank::bitboard);
                // A pawn that captures names its file.
                let is_pawn_push = matches!(piece, None | Some(Piece::Pawn)) && file.is_none();
                let from = if is_pawn_push { from & to.file().bitboard() } else { from };
                let own = board.colors(board.side_to_move());
                if own.has(to) {
                    // cozy-chess writes castling as a move to the square of the own rook.
                    return is_coordinate.then(|| castling_to(board, from, to)).flatten();
                }
                let mut found = None;
                let several = board.generate_moves_for(from, |moves| {
                    if !moves.to.has(to) {
                        return false;
                    }
                    let promotes = moves.piece == Piece::Pawn
                        && matches!(to.rank(), Rank::First | Rank::Eighth);
                    if promotes != promotion.is_some() {
                        return false;
                    }
                    found.replace(Move { from: moves.from, to, promotion }).is_some()
                });
                match found {
                    None if is_coordinate => castling_to(board, from, to),
                    found => found.filter(|_| !several),
                }
            }
        }
    }
}

/// The legal castling move to one side.
fn castling(board: &Board, long: bool) -> Option<Move> {
    let side = board.side_to_move();
    let king = board.king(side);
    let rights = board.castle_rights(side);
    let file = if long { rights.long } else { rights.short }?;
    let mv = Move { from: king, to: Square::new(file, king.rank()), promotion: None };
    board.is_legal(mv).then_some(mv)
}

/// Castling in coordinates: from the king's square to that which it enters, or to its rook's.
fn castling_to(board: &Board, from: BitBoard, to: Square) -> Option<Move> {
    let king = board.king(board.side_to_move());
    if !from.has(king) {
        return None;
    }
    [true, false].into_iter().find_map(|long| {
        let mv = castling(board, long)?;
        let enters = Square::new(if long { File::C } else { File::G }, king.rank());
        (to == mv.to || to == enters && king.file() == File::E).then_some(mv)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    fn found(fen: &str, word: &str) -> Option<String> {
        let board: Board = fen.parse().expect("a legal position");
        let (written, rest) = read_move(word, Language::ENGLISH)?;
        read_marks(rest)?;
        written.on(&board).map(|mv| mv.to_string())
    }

    #[test]
    fn every_notation_is_read() {
        let promotion = "3r4/4P3/8/8/8/8/8/k1K5 w - - 0 1";
        let en_passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";
        for (fen, words, expected) in [
            (KIWIPETE, "Nxd7 Ne5xd7 e5xd7 Ne5:d7 e5-d7 Nxd7+ Nxd7++ Nxd7N", "e5d7"),
            (KIWIPETE, "a2-a3 a3 Pa3 a2a3 a3! a3!? a3, a3=", "a2a3"),
            (KIWIPETE, "O-O 0-0 o-o e1g1 e1h1 O-O+ 0-0!!", "e1h1"),
            (KIWIPETE, "O-O-O 0-0-0 e1c1 O-O-O#", "e1a1"),
            (KIWIPETE, "dxe6 d5xe6 d5:e6 de6: d5e6", "d5e6"),
            (promotion, "exd8=Q exd8Q e7xd8=q e7d8q exd8/Q exd8=Q+ exd8Q#", "e7d8q"),
            (promotion, "e8=N e8N e7e8n", "e7e8n"),
            (en_passant, "exd6 exd6e.p. exd6ep e5:d6 e5d6", "e5d6"),
        ] {
            for word in words.split(' ') {
                assert_eq!(found(fen, word).as_deref(), Some(expected), "{word}");
            }
        }
    }

    #[test]
    fn what_is_not_unique_or_not_legal_is_no_move() {
        for word in ["Nb4", "Kh1", "Ke1h1", "e6", "d6x", "Ra1", "xe6", "a2", "Z0", "--", "i4", ""] {
            assert_eq!(found(KIWIPETE, word), None, "{word}");
        }
        let two = "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1";
        assert_eq!(found(two, "Nd2"), None);
        assert_eq!(found(two, "Nbd2").as_deref(), Some("b1d2"));
        assert_eq!(found("3r4/4P3/8/8/8/8/8/k1K5 w - - 0 1", "e8"), None);
        // Chess960: the rook is on the king's target square.
        assert_eq!(found("1k6/8/8/8/8/8/8/5KR1 w G - 0 1", "O-O").as_deref(), Some("f1g1"));
    }

    #[test]
    fn marks_have_their_glyphs() {
        assert_eq!(read_marks("+!?"), Some(vec![5]));
        assert_eq!(read_marks("+-"), Some(vec![18]));
        assert_eq!(read_marks("#"), Some(vec![]));
        assert_eq!(read_marks("N"), Some(vec![146]));
        assert_eq!(read_marks("!=∞⇆"), Some(vec![1, 44, 132]));
        assert_eq!(read_marks("↑↑↑"), Some(vec![32, 36]));
        assert_eq!(read_marks("f3"), None);
    }
}
