//! Pairs of positions of which one is better. Each position is in several pairs, because computing
//! its code costs more than a comparison.

use azimuth_chess::position::board_after;
use cozy_chess::Board;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use crate::studies::Study;

/// Smallest difference of the win probabilities in a pair.
const MARGIN: f32 = 0.05;

/// Number of children of one position.
const SIBLINGS: usize = 4;

/// Attempts, per wanted pair, to draw a pair with sufficiently different win probabilities.
const ATTEMPTS: usize = 20;

/// Positions, and pairs of their indices.
#[derive(Default)]
pub struct Pairs {
    /// The positions.
    pub boards: Vec<Board>,
    /// White's win probability in each position.
    p: Vec<f32>,
    /// The positions of each pair.
    pub pairs: Vec<[u32; 2]>,
}

impl Pairs {
    /// Draws `count` pairs, or fewer if too few positions differ. In half of the pairs both
    /// positions are children of the same position, as when a search chooses. The other pairs are
    /// any two of these children.
    pub fn draw(studies: &[Study], count: usize, rng: &mut impl Rng) -> Self {
        let mut found = Self::default();
        for _ in 0..count {
            if found.pairs.len() >= count / 2 {
                break;
            }
            let Some(study) = studies.choose(rng) else { break };
            found.add_children(study, rng);
        }
        found.pairs.truncate(count / 2);
        for _ in 0..count * ATTEMPTS {
            if found.pairs.len() >= count || found.boards.is_empty() {
                break;
            }
            found.add([0; 2].map(|_| rng.random_range(0..found.boards.len())));
        }
        found
    }

    /// For each pair, 0 if its first position is better for White, 1 if its second position is.
    pub fn better(&self) -> Vec<u32> {
        let p = |place: u32| self.p[place as usize];
        self.pairs.iter().map(|&[first, second]| (p(second) > p(first)).into()).collect()
    }

    fn add_children(&mut self, study: &Study, rng: &mut impl Rng) {
        let first = self.boards.len();
        for &(mv, p) in study.moves.sample(rng, SIBLINGS) {
            self.boards.push(board_after(&study.board, mv));
            self.p.push(p);
        }
        for one in first..self.boards.len() {
            for other in one + 1..self.boards.len() {
                self.add([one, other]);
            }
        }
    }

    /// Adds a pair if its positions differ enough.
    fn add(&mut self, [first, second]: [usize; 2]) {
        if (self.p[first] - self.p[second]).abs() >= MARGIN {
            self.pairs.push([first as u32, second as u32]);
        }
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::legal_moves;
    use cozy_chess::Move;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn pairs_differ_and_name_the_better_position() {
        let board = Board::startpos();
        let moves: Vec<(Move, f32)> =
            legal_moves(&board).into_iter().zip([0.5, 0.52, 0.6, 0.9]).collect();
        let studies = [Study { board, moves }];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let pairs = Pairs::draw(&studies, 40, &mut rng);
        assert_eq!(pairs.pairs.len(), 40);
        assert!(pairs.boards.len() < 40);
        for (&[first, second], better) in pairs.pairs.iter().zip(pairs.better()) {
            let [p, q] = [first, second].map(|place| pairs.p[place as usize]);
            assert!((p - q).abs() >= MARGIN && better == u32::from(q > p));
        }
        // No two of these differ.
        let [Study { board, moves }] = studies;
        let alike = [Study { board, moves: moves[..2].to_vec() }];
        assert!(Pairs::draw(&alike, 4, &mut rng).pairs.is_empty());
    }
}
