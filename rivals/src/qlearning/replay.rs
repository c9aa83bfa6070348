//! Prioritised replay (the document's section 3b; Schaul et al. 2016). An item is drawn with
//! probability P = p^alpha / sum of p^alpha, where the priority p is its prediction error, at least
//! 1e-5. To correct for this, its weight in the loss is (N P)^-beta, divided by the largest weight.

use anyhow::{Result, ensure};
use rand::Rng;
use rand::distr::Distribution;
use rand_distr::weighted::WeightedTreeIndex;
use serde::{Deserialize, Serialize};

/// The exponent of the priority.
const ALPHA: f32 = 0.6;

/// The initial exponent of the weights; it rises to 1 at the end.
const BETA: f64 = 0.4;

/// The smallest priority.
const LEAST_PRIORITY: f32 = 1e-5;

/// The share of an item of priority 1. Shares are integers, so that sums do not depend on the order
/// of updates. With floats they would drift, and a resumed run would draw different items.
const UNIT: f32 = (1u64 << 32) as f32;

/// A buffer of prioritised items that replaces the oldest first.
pub struct Replay<T> {
    items: Vec<T>,
    /// Priorities to the power of alpha, times [`UNIT`].
    shares: WeightedTreeIndex<u64>,
    capacity: usize,
    /// The index that the next item overwrites once the buffer is full.
    oldest: usize,
    largest: f32,
}

/// A [`Replay`] in a checkpoint.
#[derive(Serialize, Deserialize)]
pub struct ReplayState<T> {
    items: Vec<T>,
    shares: Vec<u64>,
    oldest: usize,
    /// A double, which JSON restores exactly.
    largest: f64,
}

/// A drawn item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Its index in the buffer.
    pub place: usize,
    /// Its weight in the loss, at most 1.
    pub weight: f32,
}

impl<T> Replay<T> {
    /// An empty buffer for `capacity` items.
    pub fn new(capacity: usize) -> Result<Self> {
        let shares = WeightedTreeIndex::new([] as [u64; 0])?;
        Ok(Self { items: Vec::new(), shares, capacity, oldest: 0, largest: 1.0 })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The item at an index.
    pub fn get(&self, place: usize) -> &T {
        &self.items[place]
    }

    /// Adds an item, with the largest priority so far so that it is drawn soon.
    pub fn push(&mut self, item: T) -> Result<()> {
        let share = share_of(self.largest);
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

    /// Draws `count` items; the exponent of their weights depends on `progress`, the completed part
    /// of the run in [0, 1].
    pub fn draw(&self, count: usize, progress: f64, rng: &mut impl Rng) -> Vec<Drawn> {
        let beta = BETA + (1.0 - BETA) * progress;
        let all = (0..self.len()).map(|place| self.shares.get(place)).sum::<u64>() as f64;
        let weight = |place: usize| {
            let chance = self.shares.get(place) as f64 / all;
            (self.len() as f64 * chance).powf(-beta)
        };
        let places: Vec<usize> = (0..count).map(|_| self.shares.sample(rng)).collect();
        let largest = places.iter().map(|&place| weight(place)).fold(f64::MIN_POSITIVE, f64::max);
        let drawn = |place| Drawn { place, weight: (weight(place) / largest) as f32 };
        places.into_iter().map(drawn).collect()
    }

    /// Sets the priorities of drawn items to their new errors.
    pub fn update(&mut self, drawn: &[Drawn], errors: &[f32]) -> Result<()> {
        for (drawn, error) in drawn.iter().zip(errors) {
            let priority = error.abs().max(LEAST_PRIORITY);
            self.largest = self.largest.max(priority);
            self.shares.update(drawn.place, share_of(priority))?;
        }
        Ok(())
    }
}

impl<T: Clone> Replay<T> {
    /// The state to store in a checkpoint.
    pub fn state(&self) -> ReplayState<T> {
        ReplayState {
            items: self.items.clone(),
            shares: (0..self.len()).map(|place| self.shares.get(place)).collect(),
            oldest: self.oldest,
            largest: self.largest.into(),
        }
    }

    /// Restores a state from [`Self::state`].
    pub fn restore(&mut self, state: ReplayState<T>) -> Result<()> {
        let ReplayState { items, shares, oldest, largest } = state;
        ensure!(
            items.len() == shares.len()
                && items.len() <= self.capacity
                && oldest < self.capacity
                && largest > 0.0,
            "checkpoint: a replay of {} items and {} priorities",
            items.len(),
            shares.len()
        );
        self.shares = WeightedTreeIndex::new(shares)?;
        (self.items, self.oldest, self.largest) = (items, oldest, largest as f32);
        Ok(())
    }
}

/// The integer weight with which an item of this priority is drawn.
fn share_of(priority: f32) -> u64 {
    (priority.powf(ALPHA) * UNIT) as u64
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn items_are_drawn_as_often_as_the_formula_says() -> Result<()> {
        let mut replay = Replay::new(4)?;
        for item in 0..6 {
            replay.push(item)?;
        }
        // The two oldest items were overwritten.
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

    #[test]
    fn a_replay_that_comes_back_draws_the_same_items() -> Result<()> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut replay = Replay::new(50)?;
        let learn = |replay: &mut Replay<u32>, rng: &mut Xoshiro256PlusPlus| -> Result<_> {
            let drawn = replay.draw(8, 0.5, rng);
            let errors: Vec<f32> = (0..8).map(|_| rng.random::<f32>() * 3.0).collect();
            replay.update(&drawn, &errors)?;
            Ok(drawn)
        };
        for item in 0..70 {
            replay.push(item)?;
            learn(&mut replay, &mut rng)?;
        }
        let text = serde_json::to_string(&replay.state())?;
        let mut other = Replay::new(50)?;
        other.restore(serde_json::from_str(&text)?)?;
        let mut other_rng = rng.clone();
        for item in 0..30 {
            replay.push(item)?;
            other.push(item)?;
            let drawn = [learn(&mut replay, &mut rng)?, learn(&mut other, &mut other_rng)?];
            assert_eq!(drawn[0], drawn[1]);
            let items = drawn.map(|drawn| drawn.into_iter().map(|d| *replay.get(d.place)));
            let [first, second] = items;
            assert!(first.eq(second));
        }
        assert!(Replay::<u32>::new(10)?.restore(serde_json::from_str(&text)?).is_err());
        Ok(())
    }
}
