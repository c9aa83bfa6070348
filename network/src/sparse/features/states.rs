//! The states of pieces, which distinguish pieces of the same kind on the same square; the attacks
//! that they depend on; and the threats on the whole board.

use azimuth_chess::placement::Placement;
use cozy_chess::{
    BitBoard, Color, File, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

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

/// The attacks of both sides.
pub struct Attacks {
    /// Squares that the piece on a square attacks; empty if the square is empty.
    pub from: [BitBoard; Square::NUM],
    sides: [SideAttacks; Color::NUM],
}

impl Attacks {
    /// The attacks in a position.
    pub fn of(placement: &Placement) -> Self {
        let mut from = [BitBoard::EMPTY; Square::NUM];
        let white = SideAttacks::of(placement, Color::White, &mut from);
        let black = SideAttacks::of(placement, Color::Black, &mut from);
        Self { from, sides: [white, black] }
    }

    /// The attacks of one side.
    pub fn by(&self, color: Color) -> &SideAttacks {
        &self.sides[color as usize]
    }
}

/// The squares that one side attacks. Squares with its own pieces count, too.
#[derive(Default)]
pub struct SideAttacks {
    /// By a pawn.
    pub pawn: BitBoard,
    /// By any piece.
    pub any: BitBoard,
    /// By a knight, by a bishop or queen, by a rook or queen.
    moves: [BitBoard; 3],
}

impl SideAttacks {
    fn of(placement: &Placement, color: Color, from: &mut [BitBoard; Square::NUM]) -> Self {
        let ours = placement.colors[color as usize];
        let occupied = placement.colors[0] | placement.colors[1];
        let of = |piece: Piece| placement.pieces[piece as usize] & ours;
        let mut all = Self::default();
        let mut add = |all: &mut Self, square: Square, attacks: BitBoard| {
            from[square as usize] = attacks;
            all.any |= attacks;
        };
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
        for square in of(Piece::Rook) {
            let lines = get_rook_moves(square, occupied);
            moves[2] |= lines;
            add(&mut all, square, lines);
        }
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
    fn checks(&self, king: Square, occupied: BitBoard, shunned: BitBoard) -> u32 {
        let from = [
            get_knight_moves(king),
            get_bishop_moves(king, occupied),
            get_rook_moves(king, occupied),
        ];
        let ways = self.moves.iter().zip(from);
        ways.map(|(&moves, from)| (moves & from & !shunned).len()).sum()
    }
}

/// Number of values of each member of a pair of threats.
pub const THREAT_STEPS: usize = 8;

/// Number of pairs of threats that describe a position.
pub const THREAT_PAIRS: usize = 3;

/// Threats on the whole board: the two best exchanges of each side.
#[derive(Default)]
pub struct Threats([[i32; 2]; Color::NUM]);

impl Threats {
    /// Records an exchange that gains `gain` pawns for `color`.
    pub fn add(&mut self, color: Color, gain: i32) {
        let best = &mut self.0[color as usize];
        if gain > best[0] {
            *best = [gain, best[0]];
        } else if gain > best[1] {
            best[1] = gain;
        }
    }

    /// Pairs of steps, each encoded as one number: the best exchanges of the side to move and of
    /// the other side, the two best of the other side, and the checks of both.
    pub fn pairs(&self, placement: &Placement, attacks: &Attacks) -> [usize; THREAT_PAIRS] {
        let (us, them) = (placement.side_to_move, !placement.side_to_move);
        let (ours, theirs) = (self.0[us as usize], self.0[them as usize]);
        let checks = |color| check_step(placement, attacks, color);
        [
            (gain_step(ours[0]), gain_step(theirs[0])),
            (gain_step(theirs[0]), gain_step(theirs[1])),
            (checks(us), checks(them)),
        ]
        .map(|(first, second)| first * THREAT_STEPS + second)
    }
}

/// Step of a gain in pawns: nothing, 1, 2, 3, 4, up to 6, up to 9, more (a check).
fn gain_step(gain: i32) -> usize {
    match gain {
        ..=0 => 0,
        1..=4 => gain as usize,
        5..=6 => 5,
        7..=9 => 6,
        _ => THREAT_STEPS - 1,
    }
}

/// Step of the number of checks that `color` can give from squares that the other side does not
/// attack: none, 1, 2, more; and the same four if the other king has no free square.
fn check_step(placement: &Placement, attacks: &Attacks, color: Color) -> usize {
    let [ours, theirs] = [color, !color].map(|color| placement.colors[color as usize]);
    let king = placement.king(!color);
    let shunned = attacks.by(!color).any | ours;
    let checks = attacks.by(color).checks(king, ours | theirs, shunned).min(3) as usize;
    let shut_in = (get_king_moves(king) & !theirs & !attacks.by(color).any).is_empty();
    checks + if shut_in { THREAT_STEPS / 2 } else { 0 }
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

    #[test]
    fn the_two_best_and_the_checks_count() {
        // The rook can check on a8, which Black does not attack; b8 to h8 are attacked by the king
        // or out of the rook's reach.
        let board: cozy_chess::Board = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1".parse().expect("valid");
        let placement = Placement::of(&board);
        let attacks = Attacks::of(&placement);
        let mut threats = Threats::default();
        [1, 9, 3].into_iter().for_each(|gain| threats.add(Color::Black, gain));
        threats.add(Color::White, 5);
        let [best, next, checks] = threats.pairs(&placement, &attacks);
        assert_eq!([best, next], [5 * THREAT_STEPS + 6, 6 * THREAT_STEPS + 3]);
        // White has one check, and Black's king can still move to f8 and h8; Black has no check.
        assert_eq!(checks, THREAT_STEPS);
    }
}
