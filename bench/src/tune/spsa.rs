//! Simultaneous perturbation stochastic approximation (Spall, 1992; gains as in fishtest): all
//! parameters are perturbed up or down at random, the two opposite perturbations play each other,
//! and all parameters move towards the winner. The state of a run is a file.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use azimuth_network::replace_file::replace_file;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    pub name: String,
    pub first: f64,
    pub value: f64,
    /// Size of the perturbation at the end of all iterations.
    pub step: f64,
    /// Smallest and largest allowed value.
    pub range: [f64; 2],
}

impl Tuned {
    fn within(&self, value: f64) -> f64 {
        value.clamp(self.range[0], self.range[1])
    }
}

/// The two opposite perturbations of an iteration: a value for every parameter.
pub struct Perturbed {
    /// The sign, 1 or -1, for every parameter.
    signs: Vec<f64>,
    pub up: Vec<f64>,
    pub down: Vec<f64>,
}

/// Exponent of the decay of the gain.
const ALPHA: f64 = 0.602;

/// Exponent of the decay of the perturbation.
const GAMMA: f64 = 0.101;

/// Stability constant, as a share of all iterations; it damps the first steps.
const STABILITY: f64 = 0.1;

/// The schedule of a run of a given number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub iterations: u64,
    /// Share of its step by which a parameter moves after winning both games of a pair, at the end
    /// of the run.
    pub rate: f64,
}

impl Schedule {
    /// Size of a parameter's perturbation in an iteration, counted from 0.
    fn distance(self, tuned: &Tuned, iteration: u64) -> f64 {
        tuned.step * (self.iterations as f64 / (iteration + 1) as f64).powf(GAMMA)
    }

    /// The change of a parameter per half of the score difference between the two perturbations.
    fn gain(self, tuned: &Tuned, iteration: u64) -> f64 {
        let (all, damped) = (self.iterations as f64, STABILITY * self.iterations as f64);
        let decay = ((damped + all) / (damped + (iteration + 1) as f64)).powf(ALPHA);
        let at_end = self.rate * tuned.step * tuned.step;
        at_end * decay / self.distance(tuned, iteration)
    }

    pub fn perturb(
        self,
        tuned: &[Tuned],
        iteration: u64,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Perturbed {
        let signs: Vec<f64> =
            tuned.iter().map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
        let moved = |way: f64| {
            let numbers = tuned.iter().zip(&signs);
            let place = |(tuned, sign): (&Tuned, &f64)| {
                tuned.within(tuned.value + way * sign * self.distance(tuned, iteration))
            };
            numbers.map(place).collect()
        };
        Perturbed { up: moved(1.0), down: moved(-1.0), signs }
    }

    /// Updates the parameters by the result of an iteration's pair of games: wins of the upward
    /// perturbation minus those of the downward one.
    pub fn follow(self, tuned: &mut [Tuned], iteration: u64, ways: &Perturbed, wins: f64) {
        for (tuned, sign) in tuned.iter_mut().zip(&ways.signs) {
            tuned.value = tuned.within(tuned.value + self.gain(tuned, iteration) * sign * wins);
        }
    }
}

/// Approximate number of points per curve.
const POINTS: u64 = 200;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneState {
    /// The player and the openings; a run continues only with the same ones.
    pub player: String,
    pub book: String,
    pub seed: u64,
    pub schedule: Schedule,
    /// Number of completed iterations, each of two games.
    pub done: u64,
    pub parameters: Vec<Tuned>,
    /// Values at regular intervals, with the number of completed iterations.
    pub history: Vec<(u64, Vec<f64>)>,
}

impl TuneState {
    /// The run in the file, if the file exists; it must have the same initial state as `self`.
    pub fn or_in(self, path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(self);
        }
        let name = || format!("tuning run '{}'", path.display());
        let text = std::fs::read_to_string(path).with_context(name)?;
        let found: Self = serde_json::from_str(&text).with_context(name)?;
        let begin = |state: &Self| {
            let parameters = state.parameters.iter();
            let parameters: Vec<Tuned> =
                parameters.map(|tuned| Tuned { value: tuned.first, ..tuned.clone() }).collect();
            Self { done: 0, history: Vec::new(), parameters, ..state.clone() }
        };
        ensure!(
            begin(&found) == begin(&self),
            "{}: it is of other settings; use those, or another --out",
            name()
        );
        Ok(found)
    }

    /// Records the values if a point of the curves is due.
    pub fn note(&mut self) {
        let between = (self.schedule.iterations / POINTS).max(1);
        let due = self.history.last().is_none_or(|(last, _)| self.done >= last + between);
        if due {
            let values = self.parameters.iter().map(|tuned| tuned.value).collect();
            self.history.push((self.done, values));
        }
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        replace_file(path, serde_json::to_string(self)?.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn tuned(value: f64, step: f64) -> Tuned {
        Tuned { name: "a-number".to_owned(), first: value, value, step, range: [0.0, 400.0] }
    }

    #[test]
    fn gains_and_distances_end_at_what_was_asked_for() {
        let schedule = Schedule { iterations: 1000, rate: 0.002 };
        let number = tuned(100.0, 20.0);
        assert!((schedule.distance(&number, 999) - 20.0).abs() < 1e-9);
        assert!((schedule.gain(&number, 999) - 0.002 * 20.0).abs() < 1e-9);
        // (1000 / 1)^0.101 and ((100 + 1000) / (100 + 1))^0.602, computed by hand.
        assert!((schedule.distance(&number, 0) / 20.0 - 2.0092).abs() < 1e-3);
        assert!((schedule.gain(&number, 0) / (0.04 * 4.2122 / 2.0092) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn numbers_find_what_wins_most_and_stay_in_their_range() {
        let schedule = Schedule { iterations: 4000, rate: 0.02 };
        let mut numbers = [tuned(300.0, 20.0), tuned(20.0, 5.0)];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        // The nearer the values are to (180, 60), the more games are won.
        let loss = |at: &[f64]| ((at[0] - 180.0) / 40.0).powi(2) + ((at[1] - 60.0) / 10.0).powi(2);
        for iteration in 0..schedule.iterations {
            let ways = schedule.perturb(&numbers, iteration, &mut rng);
            let better = (loss(&ways.down) - loss(&ways.up)).clamp(-1.0, 1.0);
            let wins = [0; 2].map(|_| f64::from(rng.random::<f64>() < 0.5 + better / 2.0));
            schedule.follow(&mut numbers, iteration, &ways, wins[0] + wins[1] - 1.0);
        }
        assert!((numbers[0].value - 180.0).abs() < 15.0, "{}", numbers[0].value);
        assert!((numbers[1].value - 60.0).abs() < 5.0, "{}", numbers[1].value);
        let mut at_end = [tuned(399.0, 20.0)];
        let ways = schedule.perturb(&at_end, 0, &mut rng);
        assert!(ways.up.iter().chain(&ways.down).all(|&value| value <= 400.0));
        schedule.follow(&mut at_end, 0, &ways, 2.0 * ways.signs[0] * 1e9);
        assert_eq!(at_end[0].value, 400.0);
    }

    fn state(player: &str) -> TuneState {
        TuneState {
            player: player.to_owned(),
            book: "book.epd".to_owned(),
            seed: 1,
            schedule: Schedule { iterations: 400, rate: 0.002 },
            done: 0,
            parameters: vec![tuned(10.0, 2.0), tuned(20.0, 2.0)],
            history: Vec::new(),
        }
    }

    #[test]
    fn a_run_goes_on_where_it_was_and_only_as_it_began() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("tune.json");
        let mut run = state("nodes=100").or_in(&path)?;
        run.note();
        run.done = 7;
        run.parameters[1].value = 11.5;
        run.note();
        run.write(&path)?;
        assert_eq!(run.history.len(), 2);
        assert_eq!(state("nodes=100").or_in(&path)?, run);
        let error = state("nodes=200").or_in(&path).expect_err("another player").to_string();
        assert!(error.contains("other settings"), "{error}");
        std::fs::write(&path, "{")?;
        assert!(state("nodes=100").or_in(&path).is_err());
        Ok(())
    }
}
