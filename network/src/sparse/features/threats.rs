//! Threats on the whole board: the best exchanges and the checks of both sides.

use azimuth_chess::placement::Placement;
use cozy_chess::{Color, get_king_moves};

use super::attacks::Attacks;

/// Number of values of each member of a pair.
pub const STEPS: usize = 8;

/// Number of pairs that describe a position.
pub const PAIRS: usize = 3;

/// The two best exchanges of each side.
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
    pub fn pairs(&self, placement: &Placement, attacks: &Attacks) -> [usize; PAIRS] {
        let (us, them) = (placement.side_to_move, !placement.side_to_move);
        let (ours, theirs) = (self.0[us as usize], self.0[them as usize]);
        let checks = |color| checks(placement, attacks, color);
        [
            (gain_step(ours[0]), gain_step(theirs[0])),
            (gain_step(theirs[0]), gain_step(theirs[1])),
            (checks(us), checks(them)),
        ]
        .map(|(first, second)| first * STEPS + second)
    }
}

/// Step of a gain in pawns: nothing, 1, 2, 3, 4, up to 6, up to 9, more (a check).
fn gain_step(gain: i32) -> usize {
    match gain {
        ..=0 => 0,
        1..=4 => gain as usize,
        5..=6 => 5,
        7..=9 => 6,
        _ => STEPS - 1,
    }
}

/// Step of the number of checks that `color` can give from squares that the other side does not
/// attack: none, 1, 2, more; and the same four if the other king has no free square.
fn checks(placement: &Placement, attacks: &Attacks, color: Color) -> usize {
    let [ours, theirs] = [color, !color].map(|color| placement.colors[color as usize]);
    let king = placement.king(!color);
    let shunned = attacks.by(!color).any | ours;
    let checks = attacks.by(color).checks(king, ours | theirs, shunned).min(3) as usize;
    let shut_in = (get_king_moves(king) & !theirs & !attacks.by(color).any).is_empty();
    checks + if shut_in { STEPS / 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!([best, next], [5 * STEPS + 6, 6 * STEPS + 3]);
        // White has one check, and Black's king can still move to f8 and h8; Black has no check.
        assert_eq!(checks, STEPS);
    }
}
