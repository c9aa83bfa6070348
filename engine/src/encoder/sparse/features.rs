//! What the sparse encoder sees: every piece on its square, with whether it is attacked, defended,
//! or attacked by something cheaper.
//!
//! A feature's row is `state * 768 + (theirs * 6 + piece) * 64 + square`, seen once by the side to
//! move and once by the other side, each with its own first rank at the bottom.

use cozy_chess::{
    BitBoard, Board, Color, Piece, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// Own and their pieces times squares.
pub const PIECE_SQUARES: usize = 2 * Piece::NUM * 64;

/// What a piece's square has to do with the attacks on it:
///
/// | state | attacked | defended |
/// |---|---|---|
/// | 0, 1 | no | no, yes |
/// | 2, 3 | yes | no, yes |
/// | 4, 5 | by a cheaper piece | no, yes |
/// | 6 | more than once | once |
/// | 7 | more than once, by a cheaper piece too | once |
pub const STATES: usize = 8;

/// Rows of the embedding table.
pub const FEATURES: usize = STATES * PIECE_SQUARES;

/// Most pieces on a legal board.
pub const MAX_PIECES: usize = 32;

/// The pieces of a position and whose move it is: all that the features depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Pieces by colour.
    pub colors: [BitBoard; Color::NUM],
    /// Pieces by kind.
    pub pieces: [BitBoard; Piece::NUM],
    /// Whose move it is.
    pub side_to_move: Color,
}

impl Placement {
    /// The placement on `board`.
    pub fn of(board: &Board) -> Self {
        Self {
            colors: Color::ALL.map(|color| board.colors(color)),
            pieces: Piece::ALL.map(|piece| board.pieces(piece)),
            side_to_move: board.side_to_move(),
        }
    }

    /// The same position with the a-file and the h-file exchanged, and so on.
    pub fn mirrored(self) -> Self {
        Self {
            colors: self.colors.map(BitBoard::flip_files),
            pieces: self.pieces.map(BitBoard::flip_files),
            side_to_move: self.side_to_move,
        }
    }
}

/// The active rows of one position, from both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    own: [u16; MAX_PIECES],
    other: [u16; MAX_PIECES],
    len: u8,
}

impl Features {
    /// The features of a legal position.
    pub fn of(placement: &Placement) -> Self {
        let attacks = Color::ALL.map(|color| Attacks::of(placement, color));
        let mut features = Self { own: [0; MAX_PIECES], other: [0; MAX_PIECES], len: 0 };
        let flip = if placement.side_to_move == Color::White { 0 } else { 56 };
        for color in Color::ALL {
            let theirs = usize::from(color != placement.side_to_move);
            let (own, enemy) = (&attacks[color as usize], &attacks[!color as usize]);
            for piece in Piece::ALL {
                let threatened = enemy.by_cheaper_than(piece);
                let own_base = (theirs * Piece::NUM + piece as usize) * 64;
                let other_base = ((1 - theirs) * Piece::NUM + piece as usize) * 64;
                for square in placement.pieces[piece as usize] & placement.colors[color as usize] {
                    let attacked =
                        usize::from(enemy.any.has(square)) + usize::from(threatened.has(square));
                    let defended = own.any.has(square);
                    let outnumbered = defended && enemy.twice.has(square) && !own.twice.has(square);
                    let state = match outnumbered {
                        true => 5 + attacked,
                        false => 2 * attacked + usize::from(defended),
                    };
                    let seen = square as usize ^ flip;
                    features.push(
                        state * PIECE_SQUARES + own_base + seen,
                        state * PIECE_SQUARES + other_base + (seen ^ 56),
                    );
                }
            }
        }
        features
    }

    fn push(&mut self, own: usize, other: usize) {
        let slot = usize::from(self.len);
        if slot < MAX_PIECES {
            self.own[slot] = own as u16;
            self.other[slot] = other as u16;
            self.len += 1;
        }
    }

    /// Rows seen by the side to move.
    pub fn own(&self) -> &[u16] {
        &self.own[..usize::from(self.len)]
    }

    /// Rows seen by the other side.
    pub fn other(&self) -> &[u16] {
        &self.other[..usize::from(self.len)]
    }
}

/// Squares that one side attacks, its own pieces' squares included, by the price of the attacker.
#[derive(Default)]
struct Attacks {
    pawn: BitBoard,
    /// By a pawn, knight or bishop.
    minor: BitBoard,
    /// By anything cheaper than a queen.
    rook: BitBoard,
    any: BitBoard,
    /// By two pieces or more.
    twice: BitBoard,
}

impl Attacks {
    fn of(placement: &Placement, color: Color) -> Self {
        let ours = placement.colors[color as usize];
        let occupied = placement.colors[0] | placement.colors[1];
        let [pawns, knights, bishops, rooks, queens, kings] =
            placement.pieces.map(|pieces| pieces & ours);
        let mut all = Self::default();
        // From the cheapest to the dearest, so that the union so far is what a price asks for.
        pawns.into_iter().for_each(|square| all.add(get_pawn_attacks(square, color)));
        all.pawn = all.any;
        knights.into_iter().for_each(|square| all.add(get_knight_moves(square)));
        bishops.into_iter().for_each(|square| all.add(get_bishop_moves(square, occupied)));
        all.minor = all.any;
        rooks.into_iter().for_each(|square| all.add(get_rook_moves(square, occupied)));
        all.rook = all.any;
        for square in queens {
            all.add(get_bishop_moves(square, occupied) | get_rook_moves(square, occupied));
        }
        kings.into_iter().for_each(|square| all.add(get_king_moves(square)));
        all
    }

    fn add(&mut self, attacks: BitBoard) {
        self.twice |= self.any & attacks;
        self.any |= attacks;
    }

    fn by_cheaper_than(&self, piece: Piece) -> BitBoard {
        match piece {
            Piece::Pawn | Piece::King => BitBoard::EMPTY,
            Piece::Knight | Piece::Bishop => self.pawn,
            Piece::Rook => self.minor,
            Piece::Queen => self.rook,
        }
    }
}
