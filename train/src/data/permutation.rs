//! A shuffled order computed without storing it.

use super::mix::mix;

/// Number of Feistel rounds; four suffice for a permutation that looks random.
const ROUNDS: u64 = 4;

/// A pseudorandom permutation of `0..len`: a Feistel network over the next power of four, with
/// cycle walking to stay in the range (Black and Rogaway 2002).
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    /// The permutation of `0..len` for `seed`.
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), seed }
    }

    /// The image of `index`, which must be below the length.
    pub fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.scramble(value);
            if value < self.len {
                return value;
            }
        }
    }

    fn scramble(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let mixed = mix(self.seed ^ mix(right | (round << 60)));
            (left, right) = (right, left ^ (mixed & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_taken_once() {
        for len in [1, 2, 3, 7, 64, 1000, 4097] {
            for seed in 0..5 {
                let permutation = Permutation::new(len, seed);
                let mut places: Vec<u64> = (0..len).map(|index| permutation.at(index)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..len), "{len}");
            }
        }
    }

    #[test]
    fn the_order_is_shuffled() {
        let len = 100_000u64;
        let [one, other] = [1, 2].map(|seed| Permutation::new(len, seed));
        // In a random permutation of 100,000 numbers about half of the steps rise, and hardly any
        // images coincide with those of another permutation.
        let rises = (1..len).filter(|&index| one.at(index) > one.at(index - 1)).count();
        assert!((49_500..50_500).contains(&rises), "{rises}");
        assert!((0..len).filter(|&index| one.at(index) == other.at(index)).count() < 20);
        let far = (0..len).map(|index| one.at(index).abs_diff(index) as f64).sum::<f64>();
        assert!((far / len as f64 / (len as f64 / 3.0) - 1.0).abs() < 0.02);
    }
}
