//! Rounds of shards of all recipes. A background thread labels one round ahead of the training.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, ensure};
use crossbeam_channel::{Receiver, bounded};

use super::folder::{Folder, shards};
use super::options::RoundOptions;
use super::place::Place;
use super::recipes::recipes;
use crate::config::Config;
use crate::data::datasets::Datasets;
use crate::data::file::dataset_file::DatasetFile;
use crate::data::mix::mix;
use crate::data::sampler::Sampler;
use crate::data::training_positions::TrainingPositions;
use crate::label::{Talk, label};

/// A round, which is trained on once.
pub struct Round {
    /// Samples batches from all shards together.
    pub sampler: Sampler,
    /// Number of steps in which every position is used once.
    pub steps: u64,
}

/// Makes the rounds of a stream or a branch. A round depends only on the options, the seed and its
/// index.
pub struct Rounds {
    /// The folder of the stream or branch.
    pub folder: Arc<Folder>,
    /// The labeller and the starts.
    pub labels: RoundOptions,
    /// The configuration of the run.
    pub config: Config,
    /// Seed of all rounds. It differs between a branch and its stream, so that they see different
    /// positions.
    pub seed: u64,
}

impl Rounds {
    /// Makes rounds from `place` on, in the background, until they have `steps` more steps.
    pub fn start(self, place: Place, steps: u64) -> Receiver<Result<Round>> {
        // With capacity 0 the thread waits until the training takes a finished round.
        let (sender, receiver) = bounded(0);
        thread::spawn(move || {
            let mut missing = place.step.saturating_add(steps);
            let mut number = place.round;
            while missing > 0 {
                let round = self.make(number);
                let made = round.as_ref().map_or(0, |round| round.steps);
                if sender.send(round).is_err() || made == 0 {
                    return;
                }
                missing = missing.saturating_sub(made);
                number += 1;
            }
        });
        receiver
    }

    fn make(&self, number: u64) -> Result<Round> {
        let (path, seed) = (self.folder.round(number), seed_of(self.seed, number));
        label_round(&path, &self.labels, seed)?;
        let name = || format!("round '{}'", path.display());
        let files = shards(&path)?;
        let files = files.iter().map(|path| Ok(Arc::new(DatasetFile::open(path)?)));
        let data = Datasets::new(files.collect::<Result<_>>()?).with_context(name)?;
        let data = TrainingPositions::new(data);
        let Config { architecture, sampling, losses, .. } = &self.config;
        ensure!(
            data.len() >= sampling.anchors,
            "{}: its {} positions are fewer than a step's --anchors; remove it and give a larger --round",
            name(),
            data.len()
        );
        let threshold = losses.threshold;
        let sampler = Sampler::new(data, architecture.clone(), *sampling, threshold, seed, false)?;
        Ok(Round { steps: sampler.steps_per_epoch(), sampler })
    }
}

/// The seed of a round, different for all rounds and branches.
pub fn seed_of(all: u64, round: u64) -> u64 {
    mix(all ^ mix(round))
}

/// The seed of all rounds of the branch that leaves a stream after `first` steps, different from
/// the stream's.
pub fn seed_of_branch(stream: u64, first: u64) -> u64 {
    seed_of(stream, u64::MAX - first)
}

fn seed_of_shard(round: u64, number: u64) -> u64 {
    mix(round ^ number)
}

/// Labels the shards of a round into a folder, which appears when all of them are complete. Resumes
/// the work of a killed process, and keeps a folder that is complete.
pub fn label_round(path: &Path, labels: &RoundOptions, seed: u64) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
    let name = || format!("folder '{}'", unfinished.display());
    fs::create_dir_all(&unfinished).with_context(name)?;
    for (number, recipe) in (1u64..).zip(recipes(labels.planner)) {
        let out = unfinished.join(format!("{number}.azd"));
        if !out.exists() {
            label(&recipe.work(labels, seed_of_shard(seed, number), &out), Talk::Silent)?;
        }
    }
    fs::rename(&unfinished, path).with_context(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_shard_is_made_twice_by_a_stream_and_its_branches() {
        let mut seeds = HashSet::new();
        let branches = [250, 2_500, 1_000_000].map(|first| seed_of_branch(1, first));
        for all in [&[1][..], &branches].concat() {
            for round in 0..1_000 {
                for shard in 1..=8 {
                    assert!(seeds.insert(seed_of_shard(seed_of(all, round), shard)));
                }
            }
        }
    }
}
