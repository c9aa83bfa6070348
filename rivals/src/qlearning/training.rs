//! Training: the weighted squared difference of Q(s, a) and its target, with AdamW. The target
//! is r - gamma max Q'(s', a'), where Q' is a copy of the network that is updated at intervals. In
//! s' the opponent is to move, so its best value is subtracted. (The document adds the maximum, as
//! if one player made all moves.) The transitions come from a replay buffer.

use anyhow::{Result, ensure};
use azimuth_train::metrics::kendall_tau_b;
use azimuth_train::training::Checkpoint;
use candle_core::{DType, Tensor};
use candle_nn::{VarBuilder, VarMap};
use cozy_chess::Color;
use rand::distr::Distribution;
use rand::{Rng, SeedableRng};
use rand_distr::weighted::WeightedTreeIndex;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::model::{QConfig, QNetwork, largest};
use super::self_play::{SelfPlay, Transition};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep, named};

/// The document's sizes and plan; it gives no number of steps.
const DOCUMENT: (QConfig, Plan) = (
    QConfig {
        channels: [128, 256, 512],
        hidden: 1024,
        squares: false,
        attacks: false,
        rewards: false,
    },
    Plan { batch: 512, steps: 500_000, learning_rate: 1e-5, weight_decay: 0.01, clip: Some(1.0) },
);

const SMALL: (QConfig, Plan) = (
    QConfig { channels: [32, 32, 32], hidden: 128, squares: true, attacks: true, rewards: true },
    Plan { batch: 128, steps: 8_000, learning_rate: 1e-3, weight_decay: 0.01, clip: Some(1.0) },
);

/// Capacity of the replay buffer, in transitions.
const BUFFER: usize = 100_000;

/// The discount factor for each move.
const GAMMA: f32 = 0.999;

/// Steps between updates of the target network.
const SYNC_INTERVAL: u64 = 200;

/// The probability of a random move, at the start and at the end.
const EPSILON: (f64, f64) = (1.0, 0.1);

/// The part of the run during which [`EPSILON`] falls from the first to the last value. (The
/// document multiplies it by 0.99999 after each game, which takes 230,000 games; a shorter run
/// needs a faster schedule.)
const EPSILON_PART: f64 = 0.6;

/// Number of transitions from random games that are used for measuring only.
const HELD_OUT: usize = 1_000;

/// Moves played in each game before training starts.
const MOVES_AHEAD: usize = 400;

/// Names of the replay buffer and of the games in a checkpoint.
const REPLAY: &str = "replay";
const GAMES: &str = "games";

/// The name in a checkpoint of a parameter of the target network.
fn in_copy(name: &str) -> String {
    format!("copy.{name}")
}

/// Trains the network and writes its weights.
pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("qlearning", options, DOCUMENT, SMALL)?;
    let network = QNetwork::new(lesson.config, &lesson.vb())?;
    let copy = VarMap::new();
    let vb = VarBuilder::from_varmap(&copy, DType::F32, &lesson.device);
    let mut learner = QLearner {
        target: QNetwork::new(lesson.config, &vb)?,
        held_out: random_transitions(&network)?,
        network,
        parameters: lesson.parameters.clone(),
        copy,
        replay: Replay::new(BUFFER)?,
        games: SelfPlay::new(),
    };
    crate::training::train(options, &lesson, &mut learner)
}

struct QLearner {
    network: QNetwork,
    target: QNetwork,
    parameters: VarMap,
    copy: VarMap,
    replay: Replay<Transition>,
    games: SelfPlay,
    held_out: Vec<Transition>,
}

/// Transitions of games of random moves, the same ones in every run.
fn random_transitions(network: &QNetwork) -> Result<Vec<Transition>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let (mut games, mut found) = (SelfPlay::new(), Vec::new());
    while found.len() < HELD_OUT {
        games.play(network, 1.0, &mut rng, |transition| {
            found.push(transition);
            Ok(())
        })?;
    }
    found.truncate(HELD_OUT);
    Ok(found)
}

impl QLearner {
    fn play(&mut self, epsilon: f64, rng: &mut Xoshiro256PlusPlus) -> Result<()> {
        let replay = &mut self.replay;
        self.games.play(&self.network, epsilon, rng, |transition| replay.push(transition))
    }

    /// Copies the network's parameters into the target network.
    fn sync(&mut self) -> Result<()> {
        for (name, variable) in named(&self.parameters)? {
            self.copy.set_one(name, variable.as_tensor())?;
        }
        Ok(())
    }

    /// The target values of transitions, computed with `network`.
    fn targets(network: &QNetwork, transitions: &[&Transition]) -> Result<Vec<f32>> {
        let afters: Vec<_> = transitions.iter().filter_map(|t| t.after.as_ref()).collect();
        let mut best = network.legal_values(&afters)?.into_iter();
        let mut target = |transition: &&Transition| {
            let next = transition.after.as_ref().and_then(|_| best.next());
            let best = next.and_then(|values| largest(&values)).map_or(0.0, |(_, value)| value);
            transition.reward - GAMMA * best
        };
        Ok(transitions.iter().map(&mut target).collect())
    }

    /// Mean squared difference of values and targets on the held-out transitions.
    fn held_out_error(&self) -> Result<f64> {
        let transitions: Vec<_> = self.held_out.iter().collect();
        let targets = Self::targets(&self.network, &transitions)?;
        let moves: Vec<_> = transitions.iter().map(|t| t.mv).enumerate().collect();
        let boards: Vec<_> = transitions.iter().map(|t| &t.board).collect();
        let values = self.network.values(&boards, &moves, false)?.to_vec1::<f32>()?;
        let squares =
            values.iter().zip(targets).map(|(value, target)| f64::from(value - target).powi(2));
        Ok(squares.sum::<f64>() / transitions.len() as f64)
    }
}

/// The probability of a random move after `progress` of a run, in [0, 1].
fn epsilon(progress: f64) -> f64 {
    let (first, last) = EPSILON;
    (first * (last / first).powf(progress / EPSILON_PART)).max(last)
}

impl Learner<QConfig> for QLearner {
    fn loss(&mut self, step: &mut TrainingStep<'_, QConfig>) -> Result<Tensor> {
        let TrainingStep { lesson, index, rng } = step;
        let progress = *index as f64 / lesson.plan.steps as f64;
        let ahead = if self.replay.len() == 0 { MOVES_AHEAD } else { 0 };
        for _ in 0..=ahead {
            self.play(epsilon(progress), rng)?;
        }
        ensure!(self.replay.len() > 0, "no game has ended");
        if index.is_multiple_of(SYNC_INTERVAL) || ahead > 0 {
            self.sync()?;
        }
        let drawn = self.replay.draw(lesson.plan.batch, progress, rng);
        let transitions: Vec<_> = drawn.iter().map(|drawn| self.replay.get(drawn.place)).collect();
        let targets = Self::targets(&self.target, &transitions)?;
        let moves: Vec<_> = transitions.iter().map(|t| t.mv).enumerate().collect();
        let boards: Vec<_> = transitions.iter().map(|t| &t.board).collect();
        let values = self.network.values(&boards, &moves, true)?;
        let targets = Tensor::from_vec(targets, drawn.len(), values.device())?;
        let errors = (values - targets)?;
        self.replay.update(&drawn, &errors.to_vec1::<f32>()?)?;
        let weights = drawn.iter().map(|drawn| drawn.weight).collect();
        let weights = Tensor::from_vec(weights, drawn.len(), errors.device())?;
        Ok((weights * errors.sqr()?)?.mean_all()?)
    }

    fn measure(&mut self, lesson: &Lesson<QConfig>) -> Result<Metrics> {
        let held_out = &lesson.studies.held_out;
        let boards: Vec<_> = held_out.iter().map(|study| &study.board).collect();
        let values = self.network.legal_values(&boards)?;
        let (mut lost, mut right, mut found, mut labels) = (0.0, 0.0, Vec::new(), Vec::new());
        for (study, values) in held_out.iter().zip(&values) {
            let sign = if study.board.side_to_move() == Color::White { 1.0 } else { -1.0 };
            let of_labelled = values
                .iter()
                .copied()
                .filter(|(mv, _)| study.moves.iter().any(|(other, _)| other == mv));
            let of_labelled: Vec<_> = of_labelled.collect();
            let (best, p) = study.best();
            if let Some((chosen, _)) = largest(&of_labelled) {
                let of_chosen = study.moves.iter().find(|(mv, _)| *mv == chosen);
                lost += of_chosen.map_or(0.0, |(_, of_chosen)| f64::from(sign * (p - of_chosen)));
                right += f64::from(u8::from(chosen == best));
            }
            if let Some((_, value)) = largest(values) {
                found.push(value * sign);
                labels.push(p);
            }
        }
        let count = boards.len() as f64;
        Ok(vec![
            ("td_error", self.held_out_error()?),
            ("lost_a_move", lost / count),
            ("best_labelled_move", right / count),
            ("tau", kendall_tau_b(&found, &labels)),
            ("games", self.games.episodes as f64),
        ])
    }

    fn save(&self, checkpoint: &mut Checkpoint) -> Result<()> {
        for (name, variable) in named(&self.copy)? {
            checkpoint.insert(&in_copy(&name), variable.as_tensor().clone());
        }
        checkpoint.insert_json(REPLAY, &self.replay.state())?;
        checkpoint.insert_json(GAMES, &self.games)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        for (name, variable) in named(&self.copy)? {
            let value = checkpoint.tensor(&in_copy(&name))?.to_device(variable.device())?;
            variable.set(&value)?;
        }
        self.replay.restore(checkpoint.json(REPLAY)?)?;
        self.games = checkpoint.json(GAMES)?;
        Ok(())
    }
}

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
    use super::*;

    #[test]
    fn epsilon_falls_from_all_moves_to_a_tenth() {
        assert_eq!((epsilon(0.0), epsilon(EPSILON_PART), epsilon(1.0)), (1.0, 0.1, 0.1));
        assert!(epsilon(0.3) > epsilon(0.4));
    }

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
}
