//! Prioritised replay (the document's section 3b; Schaul et al. 2016): what was predicted worst is drawn most, with the
//! probability p^alpha / sum of p^alpha, p being the error, never below 1e-5; what is drawn more often counts less, by
//! (N P)^-beta over the largest such weight.

use anyhow::Result;
use rand::Rng;
use rand::distr::Distribution;
use rand_distr::weighted::WeightedTreeIndex;

/// How much the priority counts.
const ALPHA: f32 = 0.6;

/// How much the weights make up for it, at first; 1 in the end.
const BETA: f64 = 0.4;

/// No priority is less.
const LEAST_PRIORITY: f32 = 1e-5;

/// So many items, the oldest first to go, each with a priority.
pub struct Replay<T> {
    items: Vec<T>,
    /// Priorities to the power of alpha.
    shares: WeightedTreeIndex<f32>,
    capacity: usize,
    /// Where the next one goes once it is full.
    oldest: usize,
    largest: f32,
}

/// An item that was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Its place.
    pub place: usize,
    /// What it counts in the loss, at most 1.
    pub weight: f32,
}

impl<T> Replay<T> {
    /// An empty buffer for `capacity` items.
    pub fn new(capacity: usize) -> Result<Self> {
        let shares = WeightedTreeIndex::new([] as [f32; 0])?;
        Ok(Self { items: Vec::new(), shares, capacity, oldest: 0, largest: 1.0 })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The item in a place.
    pub fn get(&self, place: usize) -> &T {
        &self.items[place]
    }

    /// Puts an item in, with the largest priority so far, so that it is seen soon.
    pub fn push(&mut self, item: T) -> Result<()> {
        let share = self.largest.powf(ALPHA);
        if self.items.len() < self.capacity {
            self.items.push(item);
            self.shares.push(share)?;
        } else {
            self.items[self.oldest] = item;
            self.shares.update(self.oldest, share)?;
            self.oldest = (self.oldest + 1) % self.capacity;
        }
        Ok(())
    }

    /// Draws `count` items, with weights as they are after `progress` of the run, in [0, 1].
    pub fn draw(&self, count: usize, progress: f64, rng: &mut impl Rng) -> Vec<Drawn> {
        let beta = BETA + (1.0 - BETA) * progress;
        let all: f64 = (0..self.len()).map(|place| f64::from(self.shares.get(place))).sum();
        let weight = |place: usize| {
            let chance = f64::from(self.shares.get(place)) / all;
            (self.len() as f64 * chance).powf(-beta)
        };
        let places: Vec<usize> = (0..count).map(|_| self.shares.sample(rng)).collect();
        let largest = places.iter().map(|&place| weight(place)).fold(f64::MIN_POSITIVE, f64::max);
        let drawn = |place| Drawn { place, weight: (weight(place) / largest) as f32 };
        places.into_iter().map(drawn).collect()
    }

    /// Gives items the priorities of the errors that were found.
    pub fn update(&mut self, drawn: &[Drawn], errors: &[f32]) -> Result<()> {
        for (drawn, error) in drawn.iter().zip(errors) {
            let priority = error.abs().max(LEAST_PRIORITY);
            self.largest = self.largest.max(priority);
            self.shares.update(drawn.place, priority.powf(ALPHA))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn items_are_drawn_as_often_as_the_formula_says() -> Result<()> {
        let mut replay = Replay::new(4)?;
        for item in 0..6 {
            replay.push(item)?;
        }
        // The two oldest went.
        assert_eq!((0..4).map(|place| *replay.get(place)).collect::<Vec<_>>(), [4, 5, 2, 3]);
        let all: Vec<Drawn> = (0..4).map(|place| Drawn { place, weight: 1.0 }).collect();
        let errors = [1.0, -0.5, 0.1, 0.0];
        replay.update(&all, &errors)?;
        let shares = errors.map(|error: f32| f64::from(error.abs().max(1e-5)).powf(0.6));
        let sum: f64 = shares.iter().sum();

        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let count = 100_000;
        let drawn = replay.draw(count, 0.5, &mut rng);
        let largest_weight = drawn
            .iter()
            .map(|drawn| (4.0 * shares[drawn.place] / sum).powf(-0.7))
            .fold(0.0, f64::max);
        for (place, share) in shares.into_iter().enumerate() {
            let chance = share / sum;
            let found = drawn.iter().filter(|drawn| drawn.place == place).count() as f64;
            let deviation = (count as f64 * chance * (1.0 - chance)).sqrt();
            assert!(
                (found - count as f64 * chance).abs() < 4.0 * deviation + 1.0,
                "{place}: {found}"
            );
            // Beta is 0.7 halfway.
            let weight = (4.0 * chance).powf(-0.7) / largest_weight;
            let of_place = drawn.iter().find(|drawn| drawn.place == place);
            assert!(of_place.is_none_or(|drawn| (f64::from(drawn.weight) - weight).abs() < 1e-4));
        }
        Ok(())
    }
}
