//! The folder of a stream, or of a branch.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use azimuth_network::replace_file::{remove_unfinished, replace_file};

use super::place::Place;
use crate::data::dataset::{Dataset, open};
use crate::data::file::dataset_file::DatasetFile;
use crate::data::training_positions::TrainingPositions;
use crate::training::Checkpoint;

/// Rounds that wait.
const SHARDS: &str = "shards";

/// The held-out positions.
const HELD_OUT: &str = "held-out";

/// Datasets of forced mates.
const MATES: &str = "mates";

/// Positions that the directions, the calibration and the metrics each take, about.
const SAMPLE: usize = 200_000;

/// A folder in which one process at a time works.
pub struct Folder {
    path: PathBuf,
    /// Locked until this process ends.
    _lock: File,
}

impl Folder {
    /// Opens a folder, made where there is none. Fails where another process works in it.
    pub fn open(path: &Path) -> Result<Self> {
        let name = || format!("folder '{}'", path.display());
        fs::create_dir_all(path.join(SHARDS)).with_context(name)?;
        let lock = File::create(path.join("lock")).with_context(name)?;
        match lock.try_lock() {
            Ok(()) => {
                remove_unfinished(&Self::checkpoint_in(path));
                Ok(Self { path: path.to_owned(), _lock: lock })
            }
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another process works in it; stop that first", name())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(name),
        }
    }

    /// The checkpoint of the folder at `path`.
    pub fn checkpoint_in(path: &Path) -> PathBuf {
        path.join("stream.checkpoint")
    }

    /// The folder of held-out positions.
    pub fn held_out(&self) -> PathBuf {
        self.path.join(HELD_OUT)
    }

    /// The positions from which the directions, the calibration and the metrics of the stream at `path` are computed. It was
    /// trained on none of them. Mates serve the directions alone, because a search found them.
    pub fn measured_in(path: &Path) -> Result<Dataset> {
        let held_out = shards(&path.join(HELD_OUT))?;
        let (directions, _) = open(&[held_out.clone(), shards(&path.join(MATES))?].concat())?;
        let train = TrainingPositions::new(directions);
        Ok(Dataset { train, ..Dataset::read(&held_out, SAMPLE)? })
    }

    /// Copies datasets of mates, but for those that it has.
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

    /// Where the shards of a round lie.
    pub fn round(&self, round: u64) -> PathBuf {
        self.path.join(SHARDS).join(round.to_string())
    }

    /// The checkpoint, where there is one.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        Checkpoint::read(&Self::checkpoint_in(&self.path))
    }

    /// The same. Fails where it belongs to a run of another configuration.
    pub fn checkpoint_of(&self, config: &str) -> Result<Option<Checkpoint>> {
        Checkpoint::of_run(&Self::checkpoint_in(&self.path), config)
    }

    /// Writes a checkpoint of a run that is at `place`, after which the rounds before it are no longer needed.
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

    /// Removes the folder with all that is in it.
    pub fn remove(&self) -> Result<()> {
        let name = || format!("folder '{}'", self.path.display());
        fs::remove_dir_all(&self.path).with_context(name)
    }
}

/// The shards in a folder, in the order of their names.
pub fn shards(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = || format!("folder '{}'", folder.display());
    let entries = fs::read_dir(folder).with_context(name)?;
    let paths = entries.map(|entry| Ok(entry.with_context(name)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "azd"));
    paths.sort();
    Ok(paths)
}
