//! The squares that each piece and each side attacks.

use azimuth_chess::placement::Placement;
use cozy_chess::{
    BitBoard, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// The attacks of both sides.
pub struct Attacks {
    /// Squares that the piece on a square attacks; empty if the square is empty.
    pub from: [BitBoard; Square::NUM],
    sides: [Side; Color::NUM],
}

impl Attacks {
    /// The attacks in a position.
    pub fn of(placement: &Placement) -> Self {
        let mut from = [BitBoard::EMPTY; Square::NUM];
        let white = Side::of(placement, Color::White, &mut from);
        let black = Side::of(placement, Color::Black, &mut from);
        Self { from, sides: [white, black] }
    }

    /// The attacks of one side.
    pub fn by(&self, color: Color) -> &Side {
        &self.sides[color as usize]
    }
}

/// Squares that one side attacks, including those of its own pieces, by the value of the attacker.
#[derive(Default)]
pub struct Side {
    /// By a pawn.
    pub pawn: BitBoard,
    /// By a pawn, knight or bishop.
    minor: BitBoard,
    /// By any piece less valuable than a queen, except the king.
    rook: BitBoard,
    /// By any piece.
    pub any: BitBoard,
    /// By two pieces or more.
    pub twice: BitBoard,
    /// By a knight, by a bishop or queen, by a rook or queen.
    moves: [BitBoard; 3],
}

impl Side {
    fn of(placement: &Placement, color: Color, from: &mut [BitBoard; Square::NUM]) -> Self {
        let ours = placement.colors[color as usize];
        let occupied = placement.colors[0] | placement.colors[1];
        let of = |piece: Piece| placement.pieces[piece as usize] & ours;
        let mut all = Self::default();
        let mut add = |all: &mut Self, square: Square, attacks: BitBoard| {
            from[square as usize] = attacks;
            all.twice |= all.any & attacks;
            all.any |= attacks;
        };
        // From the least to the most valuable piece, so that the union so far contains all attacks
        // by less valuable pieces.
        of(Piece::Pawn).into_iter().for_each(|s| add(&mut all, s, get_pawn_attacks(s, color)));
        all.pawn = all.any;
        let mut moves = [BitBoard::EMPTY; 3];
        for square in of(Piece::Knight) {
            moves[0] |= get_knight_moves(square);
            add(&mut all, square, get_knight_moves(square));
        }
        for square in of(Piece::Bishop) {
            let diagonals = get_bishop_moves(square, occupied);
            moves[1] |= diagonals;
            add(&mut all, square, diagonals);
        }
        all.minor = all.any;
        for square in of(Piece::Rook) {
            let lines = get_rook_moves(square, occupied);
            moves[2] |= lines;
            add(&mut all, square, lines);
        }
        all.rook = all.any;
        for square in of(Piece::Queen) {
            let diagonals = get_bishop_moves(square, occupied);
            let lines = get_rook_moves(square, occupied);
            moves[1] |= diagonals;
            moves[2] |= lines;
            add(&mut all, square, diagonals | lines);
        }
        all.moves = moves;
        of(Piece::King).into_iter().for_each(|s| add(&mut all, s, get_king_moves(s)));
        all
    }

    /// Number of moves by which a knight, bishop, rook or queen gives check to the king on `king`,
    /// to squares outside `shunned`. A square counts once for each kind of check (knight, diagonal,
    /// straight).
    pub fn checks(&self, king: Square, occupied: BitBoard, shunned: BitBoard) -> u32 {
        let from = [
            get_knight_moves(king),
            get_bishop_moves(king, occupied),
            get_rook_moves(king, occupied),
        ];
        let ways = self.moves.iter().zip(from);
        ways.map(|(&moves, from)| (moves & from & !shunned).len()).sum()
    }

    /// Squares attacked by a piece less valuable than `piece`.
    pub fn by_cheaper_than(&self, piece: Piece) -> BitBoard {
        match piece {
            Piece::Pawn | Piece::King => BitBoard::EMPTY,
            Piece::Knight | Piece::Bishop => self.pawn,
            Piece::Rook => self.minor,
            Piece::Queen => self.rook,
        }
    }
}
