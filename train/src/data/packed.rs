//! A labelled position in 32 bytes, and its label.

use std::fmt;

use anyhow::{Result, anyhow, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::win_probability::{
    centipawns_of_win_probability, win_probability_of_centipawns,
};
use azimuth_network::Perspective;
use cozy_chess::{BitBoard, Board, BoardBuilder, Color, File, Piece, Rank, Square};

/// Code of a rook that may still castle, in place of a [`Piece`].
const CASTLING_ROOK: u8 = Piece::NUM as u8;

/// Flag of Black's pieces in their codes.
const BLACK: u8 = 8;

/// Value of the en passant file if there is none.
pub const NO_EN_PASSANT: u8 = 8;

/// A position and its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPosition {
    pub(super) occupied: u64,
    /// A code of four bits for each piece, in the order of their squares.
    pub(super) codes: [u8; 16],
    pub(super) label: i16,
    pub(super) fullmove_number: u16,
    pub(super) halfmove_clock: u8,
    pub(super) en_passant: u8,
    pub(super) black_to_move: bool,
}

impl PackedPosition {
    /// Packs a legal position.
    pub fn new(board: &Board, label: Label) -> Self {
        let mut codes = [0; 16];
        for (index, square) in board.occupied().into_iter().enumerate().take(32) {
            codes[index / 2] |= code(board, square) << (index % 2 * 4);
        }
        Self {
            occupied: board.occupied().0,
            codes,
            label: label.bits(),
            fullmove_number: board.fullmove_number(),
            halfmove_clock: board.halfmove_clock(),
            en_passant: board.en_passant().map_or(NO_EN_PASSANT, |file| file as u8),
            black_to_move: board.side_to_move() == Color::Black,
        }
    }

    /// Number of pieces on the board.
    pub fn pieces_on_board(&self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Color {
        if self.black_to_move { Color::Black } else { Color::White }
    }

    /// Its label.
    pub fn label(&self) -> Label {
        Label::from_bits(self.label)
    }

    /// The label as a win probability of `perspective`; a forced mate is exactly 0 or 1.
    pub fn win_probability(&self, perspective: Perspective) -> f32 {
        let white = self.label().win_probability();
        match perspective {
            Perspective::SideToMove if self.black_to_move => 1.0 - white,
            _ => white,
        }
    }

    fn pieces(&self) -> impl Iterator<Item = (Square, Color, u8)> {
        BitBoard(self.occupied).into_iter().enumerate().map(|(index, square)| {
            let code = self.codes[index / 2] >> (index % 2 * 4) & 0xf;
            let color = if code & BLACK == 0 { Color::White } else { Color::Black };
            (square, color, code & !BLACK)
        })
    }

    /// The pieces, for the features.
    pub fn placement(&self) -> Placement {
        let mut placement = Placement {
            colors: [BitBoard::EMPTY; Color::NUM],
            pieces: [BitBoard::EMPTY; Piece::NUM],
            side_to_move: self.side_to_move(),
        };
        for (square, color, kind) in self.pieces() {
            placement.colors[color as usize] |= square.bitboard();
            placement.pieces[piece(kind) as usize] |= square.bitboard();
        }
        placement
    }

    /// Unpacks the board. Fails if it was read from bytes that are not a legal position.
    pub fn board(&self) -> Result<Board> {
        ensure!(self.pieces_on_board() <= 32, "{} pieces on the board", self.pieces_on_board());
        let mut builder = BoardBuilder::empty();
        builder.side_to_move = self.side_to_move();
        builder.halfmove_clock = self.halfmove_clock;
        builder.fullmove_number = self.fullmove_number;
        builder.en_passant = File::try_index(self.en_passant.into())
            .map(|file| Square::new(file, Rank::Sixth.relative_to(self.side_to_move())));
        let placement = self.placement();
        for (square, color, kind) in self.pieces() {
            ensure!(kind <= CASTLING_ROOK, "there is no piece {kind}, as on {square}");
            *builder.square_mut(square) = Some((piece(kind), color));
            if kind == CASTLING_ROOK {
                let ours = placement.colors[color as usize];
                let king = (placement.pieces[Piece::King as usize] & ours).next_square();
                let short = king.is_some_and(|king| king.file() < square.file());
                let rights = builder.castle_rights_mut(color);
                let right = if short { &mut rights.short } else { &mut rights.long };
                *right = Some(square.file());
            }
        }
        builder.build().map_err(|error| anyhow!("a packed position is not legal ({error})"))
    }

    /// The pieces and the rooks that may castle as bytes, equal for equal placements.
    pub fn piece_bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..].copy_from_slice(&self.codes);
        bytes
    }

    /// Bytes that are the same on every machine; their hashes select the held-out games.
    pub fn bytes(&self) -> [u8; 31] {
        let mut bytes = [0; 31];
        bytes[..24].copy_from_slice(&self.piece_bytes());
        bytes[24..26].copy_from_slice(&self.label.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.fullmove_number.to_le_bytes());
        let rest = [self.halfmove_clock, self.en_passant, self.black_to_move.into()];
        bytes[28..].copy_from_slice(&rest);
        bytes
    }
}

fn code(board: &Board, square: Square) -> u8 {
    let color = board.color_on(square).unwrap_or(Color::White);
    let piece = board.piece_on(square).unwrap_or(Piece::Pawn);
    let rights = board.castle_rights(color);
    let castles = piece == Piece::Rook
        && square.rank() == Rank::First.relative_to(color)
        && [rights.short, rights.long].contains(&Some(square.file()));
    let kind = if castles { CASTLING_ROOK } else { piece as u8 };
    if color == Color::Black { kind | BLACK } else { kind }
}

fn piece(kind: u8) -> Piece {
    Piece::try_index(kind.into()).unwrap_or(Piece::Rook)
}

/// Stored labels from this value on, with either sign, are forced mates.
const MATE: i16 = 31_000;

/// Larger centipawn values are stored as this one; their win probability rounds to 0 or 1.
const MOST_CENTIPAWNS: i32 = 30_000;

/// The label of a position, from White's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Centipawns.
    Centipawns(i32),
    /// A forced mate; `true` if White mates.
    Mate(bool),
}

impl Label {
    /// The label of White's win probability, to the nearest centipawn (within 0.0005). Exactly 0
    /// and 1 are forced mates. `None` outside of [0, 1].
    pub fn of_win_probability(p: f64) -> Option<Self> {
        match p {
            1.0 => Some(Self::Mate(true)),
            0.0 => Some(Self::Mate(false)),
            p if p > 0.0 && p < 1.0 => Some(Self::Centipawns(centipawns_of_win_probability(p))),
            _ => None,
        }
    }

    /// Parses `#3` or `#-3` (a mate) or centipawns, from White's point of view. pandas writes whole
    /// numbers as `3.0` in a column that has gaps.
    pub fn parse_centipawns(text: &str) -> Option<Self> {
        if let Some(moves) = text.strip_prefix('#') {
            let is_whole = moves.parse().is_ok_and(|moves: f64| moves.fract() == 0.0);
            // `#-0`: White is mated.
            return is_whole.then_some(Self::Mate(!moves.starts_with('-')));
        }
        let centipawns = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        Some(Self::Centipawns(centipawns.round() as i32))
    }

    /// Converts a label between White's point of view and that of `color`, in either direction.
    pub fn seen_by(self, color: Color) -> Self {
        match (self, color) {
            (label, Color::White) => label,
            (Self::Centipawns(value), Color::Black) => Self::Centipawns(value.saturating_neg()),
            (Self::Mate(white), Color::Black) => Self::Mate(!white),
        }
    }

    /// The win probability of White, in [0, 1]; a forced mate is exactly 0 or 1.
    pub fn win_probability(self) -> f32 {
        match self {
            Self::Mate(true) => 1.0,
            Self::Mate(false) => 0.0,
            Self::Centipawns(value) => win_probability_of_centipawns(value.into()) as f32,
        }
    }

    /// A 16-bit encoding that preserves the order of labels.
    pub fn bits(self) -> i16 {
        match self {
            Self::Centipawns(value) => value.clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS) as i16,
            Self::Mate(true) => MATE,
            Self::Mate(false) => -MATE,
        }
    }

    /// Decodes a label from [`Self::bits`].
    pub fn from_bits(bits: i16) -> Self {
        match bits {
            MATE.. => Self::Mate(true),
            value if value <= -MATE => Self::Mate(false),
            value => Self::Centipawns(value.into()),
        }
    }
}

/// Centipawns, or `#1` and `#-1` for a forced mate, as [`Label::parse_centipawns`] reads it.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Centipawns(value) => value.fmt(f),
            Self::Mate(true) => f.pad("#1"),
            Self::Mate(false) => f.pad("#-1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_loses_nothing() {
        assert!(size_of::<PackedPosition>() <= 32);
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w Kq d6 0 7",
            "8/8/8/8/8/2k5/8/2K5 b - - 99 65535",
        ] {
            let board: Board = fen.parse().expect("valid");
            let packed = PackedPosition::new(&board, Label::Centipawns(12));
            assert_eq!(packed.board().ok(), Some(board));
        }
        for number in 0..960 {
            let board = Board::chess960_startpos(number);
            assert_eq!(PackedPosition::new(&board, Label::Mate(false)).board().ok(), Some(board));
        }
    }

    #[test]
    fn labels_follow_the_perspective() {
        let black: Board = "k7/8/8/8/8/8/8/K6R b - - 0 1".parse().expect("valid");
        let mate = PackedPosition::new(&black, Label::Mate(true));
        assert_eq!(mate.win_probability(Perspective::White), 1.0);
        assert_eq!(mate.win_probability(Perspective::SideToMove), 0.0);
        let better = PackedPosition::new(&black, Label::Centipawns(100));
        assert!((better.win_probability(Perspective::White) - 0.591_026).abs() < 1e-6);
    }

    #[test]
    fn bits_keep_what_labels_say() {
        for label in [Label::Mate(true), Label::Mate(false), Label::Centipawns(-312)] {
            assert_eq!(Label::from_bits(label.bits()), label);
            assert_eq!(Label::parse_centipawns(&label.to_string()), Some(label));
            assert_eq!(label.seen_by(Color::Black).seen_by(Color::Black), label);
        }
        let far = Label::Centipawns(i32::MIN);
        assert_eq!(Label::from_bits(far.bits()), Label::Centipawns(-MOST_CENTIPAWNS));
        assert_eq!(Label::parse_centipawns("#-0"), Some(Label::Mate(false)));
        assert_eq!(Label::parse_centipawns("#5.0"), Some(Label::Mate(true)));
        assert_eq!(Label::parse_centipawns("-12.6"), Some(Label::Centipawns(-13)));
        for text in ["", "inf", "e4", "nan", "#", "#1.5", "#inf", "#nan"] {
            assert_eq!(Label::parse_centipawns(text), None, "{text}");
        }
    }
}
