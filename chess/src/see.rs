//! Static exchange evaluation (SEE): the material gain of a capture after all recaptures on its
//! square.

use cozy_chess::{
    BitBoard, Color, Move, Piece, Square, get_between_rays, get_bishop_moves, get_bishop_rays,
    get_king_moves, get_knight_moves, get_line_rays, get_pawn_attacks, get_rook_moves,
    get_rook_rays,
};

use crate::placement::Placement;

/// Piece values in pawns; a king is worth more than everything else.
const PIECE_VALUES: [i32; Piece::NUM] = [1, 3, 3, 5, 9, 100];

/// Value, in pawns, of the piece on a square, 0 if there is none.
#[inline]
pub fn piece_value(piece: Option<Piece>) -> i32 {
    piece.map_or(0, |piece| PIECE_VALUES[piece as usize])
}

/// The exchanges of one position, in pawns: a pawn is 1, a knight or bishop 3, a rook 5, a queen 9,
/// and a king 100.
///
/// ```
/// use azimuth_chess::placement::Placement;
/// use azimuth_chess::position::Position;
/// use azimuth_chess::see::StaticExchange;
/// use cozy_chess::{Color, Piece, Square};
///
/// // The pawn on d5 is defended by a pawn: the knight that captures it is lost.
/// let position = Position::from_fen("4k3/8/2p5/3p4/8/2N5/8/4K3 w - - 0 1")?;
/// let placement = Placement::of(position.board());
/// let exchange = StaticExchange::new(&placement);
/// assert_eq!(exchange.see_of_move(position.parse_move("c3d5")?), 1 - 3);
/// assert_eq!(exchange.see_of_move(position.parse_move("c3e4")?), -3);
/// assert_eq!(exchange.see_on(Square::D5, Piece::Pawn, Color::Black), Some(1 - 3));
/// // No black piece attacks c3.
/// assert_eq!(exchange.see_on(Square::C3, Piece::Knight, Color::White), None);
/// # Ok::<(), anyhow::Error>(())
/// ```
pub struct StaticExchange<'a> {
    placement: &'a Placement,
    kings: [Square; Color::NUM],
    /// Pinned pieces of both sides: they may not leave the line to their king.
    pub pinned: BitBoard,
    diagonals: BitBoard,
    lines: BitBoard,
}

impl<'a> StaticExchange<'a> {
    /// Prepares a position.
    #[inline]
    pub fn new(placement: &'a Placement) -> Self {
        let [_, _, bishops, rooks, queens, _] = placement.pieces;
        let (diagonals, lines) = (bishops | queens, rooks | queens);
        let occupied = placement.colors[0] | placement.colors[1];
        let kings = Color::ALL.map(|color| placement.king(color));
        let mut pinned = BitBoard::EMPTY;
        for color in Color::ALL {
            let king = kings[color as usize];
            let towards = get_bishop_rays(king) & diagonals | get_rook_rays(king) & lines;
            for slider in towards & placement.colors[!color as usize] {
                let between = get_between_rays(king, slider) & occupied;
                if between.len() == 1 {
                    pinned |= between & placement.colors[color as usize];
                }
            }
        }
        Self { placement, kings, pinned, diagonals, lines }
    }

    /// Gain, in pawns, of the side other than `owner` from captures on `square`, starting with its
    /// least valuable piece. Both sides stop capturing when it does not pay. `None` if that side
    /// attacks nothing there.
    #[inline]
    pub fn see_on(&self, square: Square, victim: Piece, owner: Color) -> Option<i32> {
        self.swap_off(self.occupied(), square, victim, owner)
    }

    /// Gain, in pawns, of a legal move of the side to move after all captures on its target square.
    /// Pins are those before the move.
    pub fn see_of_move(&self, mv: Move) -> i32 {
        let Placement { colors, pieces, side_to_move } = self.placement;
        let on = |square: Square| {
            Piece::ALL.into_iter().find(|&piece| pieces[piece as usize].has(square))
        };
        // Castling is encoded as the king's move to its own rook's square.
        if colors[*side_to_move as usize].has(mv.to) {
            return 0;
        }
        let mover = on(mv.from);
        let arrived = mv.promotion.or(mover).unwrap_or(Piece::Pawn);
        let mut occupied = (self.occupied() ^ mv.from.bitboard()) | mv.to.bitboard();
        let captured = match on(mv.to) {
            // Only an en-passant capture moves a pawn to an empty square of another file.
            None if mover == Some(Piece::Pawn) && mv.from.file() != mv.to.file() => {
                occupied ^= Square::new(mv.to.file(), mv.from.rank()).bitboard();
                1
            }
            victim => piece_value(victim),
        };
        let promoted = mv.promotion.map_or(0, |piece| piece_value(Some(piece)) - 1);
        let answer = self.swap_off(occupied, mv.to, arrived, *side_to_move);
        captured + promoted - answer.map_or(0, |gain| gain.max(0))
    }

    #[inline]
    fn occupied(&self) -> BitBoard {
        self.placement.colors[0] | self.placement.colors[1]
    }

    fn swap_off(
        &self,
        mut occupied: BitBoard,
        square: Square,
        victim: Piece,
        owner: Color,
    ) -> Option<i32> {
        let Placement { pieces, colors, .. } = self.placement;
        let pawns = pieces[Piece::Pawn as usize];
        let steps = get_pawn_attacks(square, Color::Black) & pawns & colors[0]
            | get_pawn_attacks(square, Color::White) & pawns & colors[1]
            | get_knight_moves(square) & pieces[Piece::Knight as usize]
            | get_king_moves(square) & pieces[Piece::King as usize];
        // Sliders that attack the square if nothing is between.
        let diagonals = get_bishop_rays(square) & self.diagonals;
        let lines = get_rook_rays(square) & self.lines;
        let sliders = |occupied: BitBoard| {
            // The tables of slider moves are large; skip the lookup if there is no slider.
            let diagonals = match diagonals.is_empty() {
                true => diagonals,
                false => get_bishop_moves(square, occupied) & diagonals,
            };
            let lines = match lines.is_empty() {
                true => lines,
                false => get_rook_moves(square, occupied) & lines,
            };
            diagonals | lines
        };
        let mut attackers = (steps | sliders(occupied)) & occupied;
        let mut hidden = (diagonals | lines) & occupied & !attackers;
        let theirs = attackers & colors[!owner as usize];
        if theirs.is_empty() {
            return None;
        }
        let mut on_square = PIECE_VALUES[victim as usize];
        let cheapest = |among: BitBoard| {
            Piece::ALL.into_iter().find(|&piece| !(among & pieces[piece as usize]).is_empty())
        };
        let alone = theirs.len() == 1 && hidden.is_empty();
        if alone && (attackers & self.pinned).is_empty() {
            // The usual case: one piece captures, and is recaptured if anything defends.
            let capturer = cheapest(theirs)?;
            let defended = attackers != theirs;
            return match (defended, capturer) {
                (false, _) => Some(on_square),
                (true, Piece::King) => None,
                (true, _) => Some(on_square - PIECE_VALUES[capturer as usize]),
            };
        }
        let mut gains = [0; 32];
        let mut captures = 0;
        let mut side = !owner;
        while captures < gains.len() {
            let able = attackers & colors[side as usize];
            let ours = self.able_to_capture(able, side, square);
            let Some(piece) = cheapest(ours) else { break };
            let theirs = attackers & colors[!side as usize];
            // A king may not capture a defended piece.
            if piece == Piece::King && !theirs.is_empty() {
                break;
            }
            gains[captures] = on_square - if captures == 0 { 0 } else { gains[captures - 1] };
            captures += 1;
            let from = ours & pieces[piece as usize];
            let from = from.next_square().map_or(BitBoard::EMPTY, Square::bitboard);
            occupied ^= from;
            attackers &= !from;
            // Pieces behind the capturer now attack. No piece captures after a king.
            if !hidden.is_empty() && piece != Piece::King {
                let revealed = sliders(occupied) & hidden;
                attackers |= revealed;
                hidden &= !revealed;
            }
            on_square = PIECE_VALUES[piece as usize];
            side = !side;
        }
        for last in (1..captures).rev() {
            gains[last - 1] = -gains[last].max(-gains[last - 1]);
        }
        (captures > 0).then_some(gains[0])
    }

    /// The `attackers` that may legally move to `square`.
    fn able_to_capture(&self, attackers: BitBoard, side: Color, square: Square) -> BitBoard {
        if (attackers & self.pinned).is_empty() {
            return attackers;
        }
        let king = self.kings[side as usize];
        let held = (attackers & self.pinned)
            .into_iter()
            .filter(|&from| !get_line_rays(king, from).has(square))
            .map(Square::bitboard);
        attackers & !held.fold(BitBoard::EMPTY, |all, one| all | one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_count_x_rays_kings_and_the_right_to_stop() {
        // FEN, square, and the other side's gain from captures there.
        for (fen, square, gain) in [
            ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", Square::D5, 1),
            ("4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1", Square::D5, 0),
            ("4k3/8/2p5/3p4/8/2N5/8/4K3 w - - 0 1", Square::D5, -2),
            ("4k3/8/2p5/3q4/8/2N5/8/4K3 w - - 0 1", Square::D5, 6),
            ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", Square::D5, 1),
            ("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1", Square::D5, -4),
            ("4k3/4b3/8/3pp3/8/5N2/8/4K3 w - - 0 1", Square::E5, 1),
            // The knight on f6, which seems to defend d5, is pinned.
            ("3k4/8/5n2/3p2B1/8/2N5/8/4K3 w - - 0 1", Square::D5, 1),
            // The defender recaptures: first the king, then the rook behind the attacker.
            ("8/8/3k4/3p4/8/8/8/3RK3 w - - 0 1", Square::D5, -4),
            ("4k3/8/8/3p4/8/8/3R4/3r3K w - - 0 1", Square::D5, -4),
            // The king may not recapture a piece that the other king defends.
            ("8/8/3k4/3p4/4K3/8/8/3R4 w - - 0 1", Square::D5, 1),
        ] {
            let board: cozy_chess::Board = fen.parse().expect("valid");
            let (piece, color) = (board.piece_on(square), board.color_on(square));
            let (piece, color) = (piece.expect("a piece"), color.expect("a piece"));
            let placement = Placement::of(&board);
            let found = StaticExchange::new(&placement).see_on(square, piece, color);
            assert_eq!(found, Some(gain), "{fen}");
        }
        // After an en-passant capture, the rooks see through the square of the captured pawn.
        for (fen, gain) in [
            ("3r2k1/8/8/3pP3/8/8/8/3R2K1 w - d6 0 1", 1),
            ("6k1/8/8/3pP3/8/8/6K1/3r4 w - d6 0 1", 0),
        ] {
            let board: cozy_chess::Board = fen.parse().expect("valid");
            let placement = Placement::of(&board);
            let capture = Move { from: Square::E5, to: Square::D6, promotion: None };
            assert_eq!(StaticExchange::new(&placement).see_of_move(capture), gain, "{fen}");
        }
        let guarded: cozy_chess::Board = "8/8/2p5/3p4/4K3/8/8/7k w - - 0 1".parse().expect("valid");
        let placement = Placement::of(&guarded);
        let found = StaticExchange::new(&placement).see_on(Square::D5, Piece::Pawn, Color::Black);
        assert_eq!(found, None, "a king may not capture what is defended");
    }
}
