//! The folder of a stream, or of a branch, and the progress in its checkpoint.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use azimuth_network::replace_file::{open_locked, remove_unfinished, replace_file};
use candle_core::{Device, Tensor};

use crate::data::dataset::{Dataset, TrainingPositions, open};
use crate::data::file::dataset_file::DatasetFile;
use crate::training::Checkpoint;

/// Subfolder of pending rounds.
const SHARDS: &str = "shards";

/// Subfolder of the held-out positions.
const HELD_OUT: &str = "held-out";

/// Subfolder of datasets of forced mates.
const MATES: &str = "mates";

/// Approximate number of positions for each of the directions, the calibration and the metrics.
const SAMPLE: usize = 200_000;

/// A folder in which one process works at a time.
pub struct Folder {
    path: PathBuf,
    /// Locked until this process ends.
    _lock: File,
}

impl Folder {
    /// Opens a folder, creating it if necessary. Fails if another process works in it.
    pub fn open(path: &Path) -> Result<Self> {
        let name = || format!("folder '{}'", path.display());
        fs::create_dir_all(path.join(SHARDS)).with_context(name)?;
        let lock = open_locked(&path.join("lock")).with_context(name)?;
        let lock = lock
            .with_context(|| format!("{}: another process works in it; stop that first", name()))?;
        remove_unfinished(&Self::checkpoint_in(path));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoint of the folder at `path`.
    pub fn checkpoint_in(path: &Path) -> PathBuf {
        path.join("stream.checkpoint")
    }

    /// The folder of held-out positions.
    pub fn held_out(&self) -> PathBuf {
        self.path.join(HELD_OUT)
    }

    /// The positions for computing the directions, the calibration and the metrics of the stream at
    /// `path`. The stream was not trained on any of them. The datasets of mates define only the
    /// paper's axis, because a fitted direction that includes them loses Elo
    /// (`train/experiments.md`, "Rows 13 to 20").
    pub fn measured_in(path: &Path) -> Result<Dataset> {
        let held_out = shards(&path.join(HELD_OUT))?;
        let (mates, _) = open(&[held_out.clone(), shards(&path.join(MATES))?].concat())?;
        let mates = TrainingPositions::new(mates);
        Ok(Dataset { mates, ..Dataset::read(&held_out, SAMPLE)? })
    }

    /// Copies datasets of mates into the folder, except those it already has.
    pub fn keep_mates(&self, datasets: &[PathBuf]) -> Result<()> {
        let mates = self.path.join(MATES);
        fs::create_dir_all(&mates).with_context(|| format!("folder '{}'", mates.display()))?;
        for path in datasets {
            let name = || format!("--mates '{}'", path.display());
            let copy = mates.join(path.file_name().with_context(name)?);
            if !copy.exists() {
                DatasetFile::open(path).with_context(name)?;
                replace_file(&copy, &fs::read(path).with_context(name)?)?;
            }
        }
        Ok(())
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.path.join("log.jsonl")
    }

    /// The folder of a round's shards.
    pub fn round(&self, round: u64) -> PathBuf {
        self.path.join(SHARDS).join(round.to_string())
    }

    /// The checkpoint, if there is one.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        Checkpoint::read(&Self::checkpoint_in(&self.path))
    }

    /// The checkpoint, if there is one. Fails if its run has another configuration.
    pub fn checkpoint_of(&self, config: &str) -> Result<Option<Checkpoint>> {
        Checkpoint::of_run(&Self::checkpoint_in(&self.path), config)
    }

    /// Writes a checkpoint of a run at `place`, and removes the rounds before it, which are no
    /// longer needed.
    pub fn write(&self, mut checkpoint: Checkpoint, place: Place) -> Result<()> {
        place.put(&mut checkpoint)?;
        checkpoint.write(&Self::checkpoint_in(&self.path))?;
        let shards = self.path.join(SHARDS);
        let name = || format!("folder '{}'", shards.display());
        for entry in fs::read_dir(&shards).with_context(name)? {
            let entry = entry.with_context(name)?;
            let round = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
            if round.is_some_and(|round| round < place.round) {
                fs::remove_dir_all(entry.path()).with_context(name)?;
            }
        }
        Ok(())
    }

    /// Removes the folder and its contents.
    pub fn remove(&self) -> Result<()> {
        let name = || format!("folder '{}'", self.path.display());
        fs::remove_dir_all(&self.path).with_context(name)
    }
}

/// The shards in a folder, sorted by name.
pub fn shards(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = || format!("folder '{}'", folder.display());
    let entries = fs::read_dir(folder).with_context(name)?;
    let paths = entries.map(|entry| Ok(entry.with_context(name)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "azd"));
    paths.sort();
    Ok(paths)
}

/// The name in a checkpoint of the tensor that holds a [`Place`].
const PLACE: &str = "stream.place";

/// The progress of a stream or a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the round, from 1. A branch numbers its rounds separately.
    pub round: u64,
    /// Number of steps done in the round.
    pub step: u64,
    /// Number of positions seen, including those of the stream before a branch.
    pub positions: u64,
}

impl Place {
    /// The start of a run. Round 0 is held out.
    pub const START: Self = Self { round: 1, step: 0, positions: 0 };

    /// The start of the next round.
    pub fn next_round(self) -> Self {
        Self { round: self.round + 1, step: 0, ..self }
    }

    /// Stores the progress in a checkpoint.
    pub fn put(self, checkpoint: &mut Checkpoint) -> Result<()> {
        let numbers = [self.round, self.step, self.positions].map(|number| number as i64);
        checkpoint.insert(PLACE, Tensor::new(&numbers, &Device::Cpu)?);
        Ok(())
    }

    /// Reads the progress from a checkpoint. Fails if the checkpoint is of another kind of run.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        let numbers: Vec<i64> = checkpoint.tensor(PLACE)?.to_vec1()?;
        ensure!(numbers.len() == 3, "checkpoint: '{PLACE}' has another size");
        let [round, step, positions] = std::array::from_fn(|index| numbers[index] as u64);
        Ok(Self { round, step, positions })
    }
}
