//! Labelled games on disk to batches in memory.

pub mod batches;
pub mod packed;
pub mod pgn;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use packed::PackedPosition;
use pgn::{Game, read_games};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Of a hundred games this many fit the calibration and no parameter.
const CALIBRATION_SHARE: u64 = 1;

/// Of a hundred games this many are for the metrics alone.
const VALIDATION_SHARE: u64 = 4;

/// A data file as the weights remember it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Its name without the folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Labelled positions in it.
    pub positions: usize,
}

/// Labelled positions with their parents: the children of one parent are neighbours.
#[derive(Clone, Default)]
pub struct LabelledPositions {
    /// The positions.
    pub positions: Vec<PackedPosition>,
    /// For each position the number of its parent, unique over all games.
    pub parents: Vec<u32>,
}

impl LabelledPositions {
    /// Reads every game of the files, for measuring on data that no training saw.
    pub fn read_all(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Self::default();
        let mut first_parent = 0;
        for path in paths {
            read_games(path, |game| {
                all.add(&game, first_parent);
                first_parent += parents_in(&game);
            })?;
        }
        Ok(all)
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    fn add(&mut self, game: &Game, first_parent: u32) {
        let mut game = game.clone();
        // Variations within variations stand between a move and its later siblings.
        game.sort_by_key(|labelled| labelled.parent);
        self.positions.extend(game.iter().map(|labelled| labelled.position));
        self.parents.extend(game.iter().map(|labelled| first_parent + labelled.parent));
    }

    fn append(&mut self, other: &Self) {
        let first = self.parents.iter().max().map_or(0, |last| last + 1);
        self.positions.extend_from_slice(&other.positions);
        self.parents.extend(other.parents.iter().map(|parent| first + parent));
    }

    /// Every `n`-th parent's children only, with about `limit` positions in all.
    pub fn sample(&self, limit: usize) -> Self {
        let every = self.positions.len().div_ceil(limit.max(1)).max(1) as u32;
        let mut sample = Self::default();
        for (&position, &parent) in self.positions.iter().zip(&self.parents) {
            if parent.is_multiple_of(every) {
                sample.positions.push(position);
                sample.parents.push(parent);
            }
        }
        sample
    }
}

/// All data of a run, split by game.
#[derive(Default)]
pub struct Dataset {
    /// What the parameters learn from.
    pub train: Arc<LabelledPositions>,
    /// What the calibration is fitted on.
    pub calibration: LabelledPositions,
    /// What the metrics are measured on.
    pub validation: LabelledPositions,
    /// The files read.
    pub files: Vec<DataFile>,
    /// About how many positions the directions, the calibration and the metrics each take.
    pub sample: usize,
}

impl Dataset {
    /// Reads all files, each on a thread of its own. A game's share follows from its content, so
    /// the split is the same whatever else is read.
    pub fn read(paths: &[PathBuf], sample: usize) -> Result<Self> {
        let parts: Vec<Result<Self>> = thread::scope(|scope| {
            let readers: Vec<_> =
                paths.iter().map(|path| scope.spawn(|| Self::read_file(path))).collect();
            let panicked = || Err(anyhow!("a reader of data files failed"));
            readers.into_iter().map(|reader| reader.join().unwrap_or_else(|_| panicked())).collect()
        });
        let mut all = Self { sample, ..Self::default() };
        for part in parts {
            all.append(part?);
        }
        all.calibration = all.calibration.sample(sample);
        all.validation = all.validation.sample(sample);
        let empty = all.train.is_empty() || all.calibration.is_empty() || all.validation.is_empty();
        ensure!(!empty, "too few games: of a hundred, five are held out, and none were");
        Ok(all)
    }

    fn read_file(path: &Path) -> Result<Self> {
        let mut part = Self::default();
        let mut train = LabelledPositions::default();
        let mut first_parent = 0;
        let mut positions = 0;
        let sha256 = read_games(path, |game| {
            positions += game.len();
            match bucket(&game) {
                bucket if bucket < CALIBRATION_SHARE => part.calibration.add(&game, first_parent),
                bucket if bucket < CALIBRATION_SHARE + VALIDATION_SHARE => {
                    part.validation.add(&game, first_parent);
                }
                _ => train.add(&game, first_parent),
            }
            first_parent += parents_in(&game);
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        part.train = Arc::new(train);
        part.files.push(DataFile { name, sha256, positions });
        Ok(part)
    }

    fn append(&mut self, mut other: Self) {
        Arc::make_mut(&mut self.train).append(&other.train);
        self.calibration.append(&other.calibration);
        self.validation.append(&other.validation);
        self.files.append(&mut other.files);
    }
}

/// One more than the highest parent of a game.
fn parents_in(game: &Game) -> u32 {
    game.iter().map(|labelled| labelled.parent + 1).max().unwrap_or(0)
}

/// A number below 100 that depends on the game's positions and labels alone.
fn bucket(game: &Game) -> u64 {
    let mut hash = Sha256::new();
    for labelled in game {
        hash.update(labelled.position.bytes());
    }
    let digest = hash.finalize();
    u64::from_le_bytes(std::array::from_fn(|index| digest[index])) % 100
}
