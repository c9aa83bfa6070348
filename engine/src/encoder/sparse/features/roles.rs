//! What a piece does where it stands, in four steps: how many safe squares it reaches; of a pawn
//! whether it is passed and isolated; of a king how many squares around it are attacked.

use cozy_chess::{BitBoard, Color, File, Piece, Square, get_king_moves};

use super::Placement;
use super::attacks::Attacks;

/// Safe squares from which on a knight, bishop, rook or queen is in the next step.
const MOBILITY: [[u32; 3]; 4] = [[2, 4, 6], [3, 6, 9], [4, 7, 10], [6, 11, 16]];

/// Attacked squares around a king from which on it is in the next step.
const KING_DANGER: [u32; 3] = [1, 2, 4];

/// The roles of one side's pieces.
pub struct Roles<'a> {
    attacks: &'a Attacks,
    color: Color,
    /// Squares worth moving to: not held by the own side, not attacked by their pawns.
    free: BitBoard,
    passed: BitBoard,
    isolated: BitBoard,
}

impl<'a> Roles<'a> {
    /// Prepares the side of `color`.
    pub fn new(placement: &Placement, attacks: &'a Attacks, color: Color) -> Self {
        let pawns = placement.pieces[Piece::Pawn as usize];
        let [ours, theirs] = [color, !color].map(|color| pawns & placement.colors[color as usize]);
        let files = ahead(ours, color) | ahead(ours, !color) | ours;
        let ahead_of_theirs = ahead(theirs, !color);
        Self {
            attacks,
            color,
            free: !(placement.colors[color as usize] | attacks.by(!color).pawn),
            passed: ours & !(ahead_of_theirs | beside(ahead_of_theirs)),
            isolated: ours & !beside(files),
        }
    }

    /// The step of the `piece` on `square`, 0 to 3.
    pub fn of(&self, piece: Piece, square: Square) -> usize {
        let steps = |count: u32, steps: [u32; 3]| {
            steps.iter().map(|&least| usize::from(count >= least)).sum::<usize>()
        };
        match piece {
            Piece::Pawn => {
                2 * usize::from(self.passed.has(square)) + usize::from(self.isolated.has(square))
            }
            Piece::King => {
                let attacked = get_king_moves(square) & self.attacks.by(!self.color).any;
                steps(attacked.len(), KING_DANGER)
            }
            _ => {
                let reached = self.attacks.from[square as usize] & self.free;
                steps(reached.len(), MOBILITY[piece as usize - 1])
            }
        }
    }
}

/// Squares in front of `pawns` as `color` sees it.
fn ahead(pawns: BitBoard, color: Color) -> BitBoard {
    let step = |squares: u64, ranks: u32| match color {
        Color::White => squares << (8 * ranks),
        Color::Black => squares >> (8 * ranks),
    };
    let mut filled = step(pawns.0, 1);
    for ranks in [1, 2, 4] {
        filled |= step(filled, ranks);
    }
    BitBoard(filled)
}

/// Squares to the left and right.
fn beside(squares: BitBoard) -> BitBoard {
    BitBoard((squares & !File::H.bitboard()).0 << 1 | (squares & !File::A.bitboard()).0 >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_apart() {
        let board: cozy_chess::Board =
            "4k3/p7/8/1P1p4/6P1/4N3/1q6/3BK3 w - - 0 1".parse().expect("valid");
        let placement = Placement::of(&board);
        let attacks = Attacks::of(&placement);
        let roles = Roles::new(&placement, &attacks, Color::White);
        // The a-pawn guards b5's way; nothing guards g4's, and it is alone.
        assert_eq!(roles.of(Piece::Pawn, Square::B5), 1);
        assert_eq!(roles.of(Piece::Pawn, Square::G4), 3);
        // From e3 c2, f1, d5, f5, g2 are free and c4 is attacked by a pawn.
        assert_eq!(roles.of(Piece::Knight, Square::E3), 2);
        // d2, e2 and f2 are attacked by the queen.
        assert_eq!(roles.of(Piece::King, Square::E1), 2);
        assert_eq!(Roles::new(&placement, &attacks, Color::Black).of(Piece::King, Square::E8), 0);
    }
}
