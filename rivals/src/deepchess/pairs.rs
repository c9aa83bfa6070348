//! Pairs of positions of which one is better.

use cozy_chess::Board;
use rand::{Rng, RngExt};

use crate::studies::Study;

/// Smallest difference of the win probabilities in a pair.
const MARGIN: f32 = 0.05;

/// Number of attempts to draw a pair with sufficiently different win probabilities.
const ATTEMPTS: usize = 20;

/// Two positions, and the index of the one that is better for White.
pub struct Pair {
    pub boards: [Board; 2],
    pub better: usize,
}

/// Random pairs, alternately two children of the same position, between which a search chooses, and
/// children of any two positions.
pub fn pairs(studies: &[Study], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
    (0..count).filter_map(|place| pair(studies, place.is_multiple_of(2), rng)).collect()
}

fn pair(studies: &[Study], siblings: bool, rng: &mut impl Rng) -> Option<Pair> {
    let mut study = || &studies[rng.random_range(0..studies.len())];
    let drawn: Vec<[&Study; 2]> = (0..ATTEMPTS)
        .map(|_| {
            let first = study();
            [first, if siblings { first } else { study() }]
        })
        .collect();
    drawn.into_iter().find_map(|studies| {
        let [(first, p), (second, q)] = studies.map(|study| study.child(rng));
        let better = usize::from(q > p);
        ((p - q).abs() >= MARGIN).then_some(Pair { boards: [first, second], better })
    })
}
