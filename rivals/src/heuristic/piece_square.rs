//! Piece-square tables for the opening and the endgame. The document asks for such tables but gives
//! none. These follow three ideas: pieces belong in the centre, pawns advance, and the king
//! shelters behind its pawns until the endgame.

use cozy_chess::{Piece, Square};

/// Values in centipawns.
#[derive(Clone, Copy)]
pub struct Stages {
    /// With all pieces on the board.
    pub opening: i32,
    /// With only kings and pawns left.
    pub endgame: i32,
}

/// The value of a piece on a square, seen from its own side (a1 is in its own corner).
pub fn value(piece: Piece, square: Square) -> Stages {
    let (file, rank) = (square.file() as i32, square.rank() as i32);
    let centre = centrality(file) + centrality(rank);
    let (opening, endgame) = match piece {
        Piece::Pawn => {
            (4 * (rank - 1) + 3 * centrality(file) * i32::from(rank < 5), 6 * (rank - 1))
        }
        Piece::Knight => (7 * centre, 6 * centre),
        Piece::Bishop => (4 * centre, 3 * centre),
        Piece::Rook => (2 * centrality(file) + 15 * i32::from(rank == 6), 5 * i32::from(rank == 6)),
        Piece::Queen => (centre, 3 * centre),
        Piece::King => (-6 * centrality(file) - 18 * rank.min(3), 8 * centre),
    };
    Stages { opening, endgame }
}

/// The centrality of a file or rank, from -3 at the edge to 3 in the centre.
fn centrality(line: i32) -> i32 {
    3 - 2 * (line.min(7 - line) - 3).abs()
}
