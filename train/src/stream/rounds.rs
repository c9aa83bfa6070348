//! Rounds of shards, which background threads label ahead of the training, and the recipe of each
//! kind of shard.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use crossbeam_channel::{Receiver, Sender, unbounded};

use super::folder::{Folder, Place, shards};
use super::options::{RoundOptions, StreamFor};
use crate::config::Config;
use crate::data::dataset::{Datasets, TrainingPositions};
use crate::data::file::dataset_file::DatasetFile;
use crate::data::sampler::{Sampler, split_mix};
use crate::label::{LabelOptions, Shard, Starts, Talk, WalkKind, label_from, warn_of_noise};

/// A round, which is trained on and then deleted.
pub struct Round {
    /// Samples batches from all shards together.
    pub sampler: Sampler,
    /// Number of steps of all passes.
    pub steps: u64,
}

/// The options of the labelling, and the positions at which walks start. The starts are read once,
/// because reading millions of positions for every shard takes a tenth of the time of labelling.
pub struct Labelling {
    options: RoundOptions,
    starts: Starts,
}

impl Labelling {
    /// Reads the starts, and warns of noisy labels. Fails, with the file and the line, if a start is
    /// not a position.
    pub fn read(options: &RoundOptions) -> Result<Self> {
        if options.engine.is_some() {
            warn_of_noise(options.depth);
        }
        Ok(Self { options: options.clone(), starts: Starts::read(&options.fens)? })
    }
}

/// Makes the rounds of a stream or a branch. A round depends only on the options, the seed and its
/// index.
pub struct RoundMaker {
    /// The folder of the stream or branch.
    pub folder: Arc<Folder>,
    /// The labelling.
    pub labelling: Labelling,
    /// The configuration of the run.
    pub config: Config,
    /// Seed of all rounds. It differs between a branch and its stream, so that they see different
    /// positions.
    pub seed: u64,
    /// Whether the parts of a step are joined into one, for a device.
    pub together: bool,
}

/// The rounds of a run in order. With n threads in the background, each thread makes every n-th
/// round, and the threads together are at most n rounds ahead of the training.
pub struct Rounds {
    threads: Vec<RoundThread>,
    /// The round that the training takes next.
    next: u64,
    /// The first round that has not been requested from a thread.
    unasked: u64,
    /// Number of steps of the run that the requested rounds do not cover.
    missing: i64,
    /// Approximate number of steps in a round.
    expected: i64,
}

/// A thread that makes rounds.
struct RoundThread {
    thread: JoinHandle<()>,
    wanted: Sender<u64>,
    made: Receiver<Result<Round>>,
}

impl Rounds {
    /// Makes rounds from `place` on, until they have `steps` more steps.
    pub fn start(maker: RoundMaker, place: Place, steps: u64) -> Self {
        let RoundOptions { labellers, passes, round, .. } = maker.labelling.options;
        let steps_of_a_round = round.saturating_mul(passes) / maker.config.sampling.anchors as u64;
        let maker = Arc::new(maker);
        let mut rounds = Self {
            threads: (0..labellers).map(|_| RoundThread::start(maker.clone())).collect(),
            next: place.round,
            unasked: place.round,
            missing: i64::try_from(place.step.saturating_add(steps)).unwrap_or(i64::MAX),
            expected: i64::try_from(steps_of_a_round).unwrap_or(i64::MAX).max(1),
        };
        rounds.ask();
        rounds
    }

    /// Waits for the next round.
    pub fn next(&mut self) -> Result<Round> {
        let round = self.thread_of(self.next).made.recv();
        let round = round.context("a thread that labels ended")??;
        self.missing = self.missing.saturating_add(self.expected - round.steps as i64);
        self.next += 1;
        self.ask();
        Ok(round)
    }

    /// Waits until no thread labels, so that the folder can be removed.
    pub fn finish(self) {
        for RoundThread { thread, wanted, made } in self.threads {
            drop((wanted, made));
            // The message of a panic was already printed.
            let _ = thread.join();
        }
    }

    /// Requests rounds while steps are missing, at most one round ahead for each thread.
    fn ask(&mut self) {
        while self.missing > 0 && self.unasked < self.next + self.threads.len() as u64 {
            // If the thread has ended, `next` reports it.
            let _ = self.thread_of(self.unasked).wanted.send(self.unasked);
            self.missing -= self.expected;
            self.unasked += 1;
        }
    }

    fn thread_of(&self, round: u64) -> &RoundThread {
        &self.threads[(round % self.threads.len() as u64) as usize]
    }
}

impl RoundThread {
    fn start(maker: Arc<RoundMaker>) -> Self {
        let (wanted, numbers) = unbounded::<u64>();
        let (sender, made) = unbounded();
        let thread = thread::spawn(move || {
            for number in numbers {
                if sender.send(maker.make(number)).is_err() {
                    return;
                }
            }
        });
        Self { thread, wanted, made }
    }
}

impl RoundMaker {
    fn make(&self, number: u64) -> Result<Round> {
        let (path, seed) = (self.folder.round(number), seed_of(self.seed, number));
        label_round(&path, &self.labelling, seed)?;
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
        let sampler =
            Sampler::new(data, architecture.clone(), *sampling, threshold, seed, self.together)?;
        Ok(Round { steps: sampler.steps_per_epoch() * self.labelling.options.passes, sampler })
    }
}

/// The seed of a round, different for all rounds and branches.
pub fn seed_of(all: u64, round: u64) -> u64 {
    split_mix(all ^ split_mix(round))
}

/// The seed of all rounds of the branch that leaves a stream after `first` steps, different from
/// the stream's.
pub fn seed_of_branch(stream: u64, first: u64) -> u64 {
    seed_of(stream, u64::MAX - first)
}

fn seed_of_shard(round: u64, number: u64) -> u64 {
    split_mix(round ^ number)
}

/// Labels the shards of a round. The folder `path` appears only when all shards are complete.
/// Resumes the work of a killed process. Does nothing if the folder exists.
pub fn label_round(path: &Path, labelling: &Labelling, seed: u64) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
    let name = || format!("folder '{}'", unfinished.display());
    fs::create_dir_all(&unfinished).with_context(name)?;
    let Labelling { options, starts } = labelling;
    let no_starts = Starts::read(&[])?;
    for (number, recipe) in (1u64..).zip(recipes(options.planner)) {
        let out = unfinished.join(format!("{number}.azd"));
        if !out.exists() {
            let work = recipe.work(options, seed_of_shard(seed, number), &out);
            let starts = if work.fens.is_empty() { &no_starts } else { starts };
            label_from(starts, &work, Talk::Silent)?;
        }
    }
    fs::rename(&unfinished, path).with_context(name)
}

/// The recipe of one kind of shard.
pub struct Recipe {
    /// Its share of a round's positions.
    share: f64,
    /// Approximate number of positions from a walk, measured with Stockfish 16's network.
    yields: f64,
    walk: WalkKind,
    plies: u32,
    /// Nodes of each search (leaves).
    nodes: u64,
    /// Numbers of moves that are labelled in each position: of the best, and of others at random.
    best: usize,
    others: usize,
}

/// Shards for the selective search. Children on walks from many starts teach the encoder to rank
/// moves. Leaves are the positions that decide a search. Endings are rare in both
/// (`train/experiments.md`, "Training data for the selective search").
const SELECTIVE: [Recipe; 5] = [
    moves(0.22, 27.0, 4, 2, 4),
    moves(0.18, 160.0, 24, 2, 4),
    leaves(0.38, 30.0, 300),
    leaves(0.14, 105.0, 1_500),
    ENDINGS,
];

/// Shards for the beam, which scores all moves of its positions: more children of each position.
const BEAM: [Recipe; 3] = [moves(0.62, 75.0, 6, 4, 8), moves(0.30, 287.0, 24, 4, 8), ENDINGS];

const ENDINGS: Recipe = Recipe {
    share: 0.08,
    yields: 64.0,
    walk: WalkKind::Endings,
    plies: 64,
    nodes: 0,
    best: 2,
    others: 4,
};

/// Children of the positions on walks of `plies` plies.
const fn moves(share: f64, yields: f64, plies: u32, best: usize, others: usize) -> Recipe {
    Recipe { share, yields, walk: WalkKind::Beam, plies, nodes: 0, best, others }
}

/// Leaves of searches of `nodes` nodes.
const fn leaves(share: f64, yields: f64, nodes: u64) -> Recipe {
    Recipe { share, yields, walk: WalkKind::Leaves, plies: 1, nodes, best: 2, others: 4 }
}

/// The kinds of shards in a round for `planner`.
pub fn recipes(planner: StreamFor) -> &'static [Recipe] {
    match planner {
        StreamFor::Beam => &BEAM,
        StreamFor::Selective => &SELECTIVE,
    }
}

/// Time between saves of a shard's labelling progress.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

/// Maximum number of plies that a walk plays before its labels begin.
const LEAD: u32 = 16;

impl Recipe {
    /// The labelling options for this recipe's shard of a round, written to `out` with the given
    /// seed.
    pub fn work(&self, labels: &RoundOptions, seed: u64, out: &Path) -> LabelOptions {
        let walks_from_starts = self.walk != WalkKind::Endings;
        let walks = (labels.round as f64 * self.share / self.yields).round() as u64;
        LabelOptions {
            engine: labels.engine.clone(),
            network: labels.network.clone(),
            quiescence: labels.quiescence,
            fens: if walks_from_starts { labels.fens.clone() } else { Vec::new() },
            out: out.to_owned(),
            walks: walks.max(1),
            shard: Shard::WHOLE,
            walk: self.walk,
            syzygy: labels.syzygy.clone(),
            nodes: self.nodes,
            leaf_every: 4,
            depth: labels.depth,
            plies: self.plies,
            lead: if walks_from_starts { LEAD } else { 0 },
            width: 3,
            best: self.best,
            others: self.others,
            engines: 1,
            // Walks along the beam use its default weights.
            weights: labels.weights.clone().filter(|_| self.walk == WalkKind::Leaves),
            commit_every: COMMIT_EVERY,
            seed,
        }
    }
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
