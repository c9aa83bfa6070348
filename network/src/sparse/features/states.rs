//! The states of pieces, which distinguish pieces of the same kind on the same square.

use azimuth_chess::placement::Placement;
use cozy_chess::{BitBoard, Color, File, Piece, Square, get_king_moves};

use super::attacks::Attacks;

/// The state of a piece by the attacks on its square:
///
/// | state | attacked | defended |
/// |---|---|---|
/// | 0, 1 | no | no, yes |
/// | 2, 3 | yes | no, yes |
/// | 4, 5 | by a cheaper piece | no, yes |
/// | 6 | more than once | once |
/// | 7 | more than once, by a cheaper piece too | once |
pub fn attack_state(attacks: &Attacks, piece: Piece, square: Square, color: Color) -> usize {
    let (own, enemy) = (attacks.by(color), attacks.by(!color));
    let threatened = enemy.by_cheaper_than(piece).has(square);
    let attacked = usize::from(enemy.any.has(square)) + usize::from(threatened);
    let defended = own.any.has(square);
    match defended && enemy.twice.has(square) && !own.twice.has(square) {
        true => 5 + attacked,
        false => 2 * attacked + usize::from(defended),
    }
}

/// The states of a piece, mainly by the gain of captures on its square:
///
/// | state | knight, bishop, rook, queen |
/// |---|---|
/// | 0, 1 | cannot be captured; not defended, defended |
/// | 2, 3, 4 | captures lose more than 2 pawns' worth, up to 2, come out even |
/// | 5 to 10 | captures win 1, 2, 3, up to 5, up to 8, more |
/// | 11, 12 | cannot be captured, at most two safe squares to go to; not defended, defended |
/// | 13, 14 | captures win nothing, but pinned to the king; not defended, defended |
///
/// | state | pawn |
/// |---|---|
/// | 0, 1 | cannot be captured; not defended, defended |
/// | 2, 3, 4 | captures lose, come out even, win |
/// | 5 to 9 | the same, passed |
/// | 10 to 14 | the same, passed and nothing in its way |
///
/// | state | king |
/// |---|---|
/// | 0 to 4 | number of attacked squares around it, at most 4, if three or more squares are free |
/// | 5 to 9, 10 to 14 | the same, if one or two are free, if none is free |
/// | 15 | in check |
pub struct ExchangeStates<'a> {
    attacks: &'a Attacks,
    color: Color,
    ours: BitBoard,
    /// Squares worth moving to: not occupied by the own side, not attacked by enemy pawns.
    safe: BitBoard,
    passed: BitBoard,
    /// Passed pawns with nothing in their way.
    free: BitBoard,
    pinned: BitBoard,
}

impl<'a> ExchangeStates<'a> {
    /// Prepares the states for the side `color`.
    pub fn new(
        placement: &Placement,
        attacks: &'a Attacks,
        pinned: BitBoard,
        color: Color,
    ) -> Self {
        let [ours, theirs] = [color, !color].map(|color| placement.colors[color as usize]);
        let pawns = placement.pieces[Piece::Pawn as usize];
        let guarded = ahead(pawns & theirs, !color);
        let passed = pawns & ours & !(guarded | beside(guarded));
        Self {
            attacks,
            color,
            ours,
            safe: !(ours | attacks.by(!color).pawn),
            passed,
            free: passed & !ahead(ours | theirs, !color),
            pinned,
        }
    }

    /// The state of the `piece` on `square`. `gain` is the other side's gain from captures there,
    /// in pawns; `None` if it cannot capture.
    pub fn of(&self, piece: Piece, square: Square, gain: Option<i32>) -> usize {
        let defended = usize::from(self.attacks.by(self.color).any.has(square));
        match piece {
            Piece::Pawn => {
                let state = gain.map_or(defended, |gain| (3 + gain.clamp(-1, 1)) as usize);
                state + 5 * self.freedom(square)
            }
            Piece::King => self.king(square),
            _ if self.pinned.has(square) && gain.is_none_or(|gain| gain <= 0) => 13 + defended,
            _ => match gain {
                None if self.restricted(piece, square) => 11 + defended,
                None => defended,
                Some(..-2) => 2,
                Some(..0) => 3,
                Some(gain @ 0..=3) => 4 + gain as usize,
                Some(4..=5) => 8,
                Some(6..=8) => 9,
                Some(_) => 10,
            },
        }
    }

    fn king(&self, square: Square) -> usize {
        let attacked = self.attacks.by(!self.color).any;
        if attacked.has(square) {
            return 15;
        }
        let around = get_king_moves(square);
        let shut_in = match (around & !self.ours & !attacked).len() {
            0 => 2,
            1..=2 => 1,
            _ => 0,
        };
        (around & attacked).len().min(4) as usize + 5 * shut_in
    }

    /// 0 for pawns that are not passed, 1 for passed pawns, 2 for passed pawns with a free way.
    fn freedom(&self, square: Square) -> usize {
        usize::from(self.passed.has(square)) + usize::from(self.free.has(square))
    }

    /// Whether a knight, bishop or rook has at most two safe squares to move to.
    fn restricted(&self, piece: Piece, square: Square) -> bool {
        let reached = self.attacks.from[square as usize] & self.safe;
        piece != Piece::Queen && without_first(without_first(reached)).is_empty()
    }
}

/// The squares except the first.
fn without_first(squares: BitBoard) -> BitBoard {
    BitBoard(squares.0 & squares.0.wrapping_sub(1))
}

/// Squares in front of `pieces` as `color` sees it.
fn ahead(pieces: BitBoard, color: Color) -> BitBoard {
    let step = |squares: u64, ranks: u32| match color {
        Color::White => squares << (8 * ranks),
        Color::Black => squares >> (8 * ranks),
    };
    let mut filled = step(pieces.0, 1);
    for ranks in [1, 2, 4] {
        filled |= step(filled, ranks);
    }
    BitBoard(filled)
}

/// Squares to the left and right of `squares`.
fn beside(squares: BitBoard) -> BitBoard {
    BitBoard((squares & !File::H.bitboard()).0 << 1 | (squares & !File::A.bitboard()).0 >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pawns_pass_kings_are_shut_in_and_pieces_restricted() {
        let board: cozy_chess::Board =
            "4k3/p7/8/1P1p4/6P1/8/1q6/B2K4 w - - 0 1".parse().expect("valid");
        let placement = Placement::of(&board);
        let attacks = Attacks::of(&placement);
        let states = |color| ExchangeStates::new(&placement, &attacks, Square::A1.into(), color);
        let white = states(Color::White);
        // b5 is not passed because of the a-pawn, and the queen wins it; g4 is passed and its way
        // is free.
        assert_eq!(white.of(Piece::Pawn, Square::B5, Some(1)), 4);
        assert_eq!(white.of(Piece::Pawn, Square::G4, None), 10);
        // c1, c2, d2 and e2 are attacked, only e1 is free.
        assert_eq!(white.of(Piece::King, Square::D1, None), 9);
        assert_eq!(white.of(Piece::Bishop, Square::A1, None), 13);
        assert_eq!(white.of(Piece::Bishop, Square::A1, Some(3)), 7);
        assert_eq!(white.of(Piece::Rook, Square::C1, Some(3)), 7);
        // No piece is on a8, so a bishop there attacks no square and is restricted.
        assert_eq!(white.of(Piece::Bishop, Square::A8, None), 11);
        assert_eq!(states(Color::Black).of(Piece::King, Square::E8, None), 0);
    }
}
