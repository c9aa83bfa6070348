//! The data of a run. Dataset files are opened directly; other files are packed into a temporary
//! dataset.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::datasets::Datasets;
use super::file::dataset_file::DatasetFile;
use super::labelled_positions::{LabelledPositions, step};
use super::pack::{PackOptions, pack};
use super::read::csv::View;
use super::read::input::Input;
use super::split::Split;
use super::training_positions::TrainingPositions;

/// A data file, as recorded in the weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Its name without the folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Number of labelled positions.
    pub positions: usize,
}

/// All data of a run, split by game.
pub struct Dataset {
    /// The training set.
    pub train: TrainingPositions,
    /// The positions whose forced mates define the paper's axis: the training set; for a stream
    /// also the datasets of `--mates`.
    pub mates: TrainingPositions,
    /// The set for fitting the calibration.
    pub calibration: LabelledPositions,
    /// The held-out set for metrics.
    pub validation: LabelledPositions,
    /// The files read.
    pub files: Vec<DataFile>,
    /// Approximate number of positions for each of the directions, the calibration and the metrics.
    pub sample: usize,
}

impl Dataset {
    /// Reads all files. The split of a game depends only on its content, not on the other files.
    pub fn read(paths: &[PathBuf], sample: usize) -> Result<Self> {
        let (data, files) = open(paths)?;
        let part = |split| LabelledPositions::read(&data, split, step(data.len(split), sample));
        let (calibration, validation) = (part(Split::Calibration)?, part(Split::HeldOut)?);
        let train = TrainingPositions::new(data);
        let empty = train.len() == 0 || calibration.is_empty() || validation.is_empty();
        ensure!(!empty, "too few games: of a hundred, five are held out, and none were");
        let mates = train.clone();
        Ok(Self { train, mates, calibration, validation, files, sample })
    }
}

/// Reads about `limit` positions from all splits of the files, for measuring on data that was not
/// used in training.
pub fn read_all(paths: &[PathBuf], limit: usize) -> Result<LabelledPositions> {
    read_splits(&open(paths)?.0, &Split::ALL, limit)
}

/// Reads about `limit` positions from some splits.
pub fn read_splits(data: &Datasets, splits: &[Split], limit: usize) -> Result<LabelledPositions> {
    let every = step(splits.iter().map(|&split| data.len(split)).sum(), limit);
    let mut read = LabelledPositions::default();
    for &split in splits {
        read.append(&LabelledPositions::read(data, split, every)?);
    }
    Ok(read)
}

/// Opens the files, packing them into a temporary dataset if they are not all datasets, and
/// describes each.
pub fn open(paths: &[PathBuf]) -> Result<(Datasets, Vec<DataFile>)> {
    let inputs = paths.iter().map(|path| Input::new(path, None, View::default()));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let datasets: Option<Vec<_>> = inputs.iter().map(|input| input.dataset.clone()).collect();
    if let Some(datasets) = datasets {
        let described = inputs.iter().zip(&datasets).map(|(input, dataset)| DataFile {
            name: input.name(),
            sha256: dataset.sha256(),
            positions: Split::ALL.iter().map(|&split| dataset.len(split)).sum(),
        });
        let files = described.collect();
        return Ok((Datasets::new(datasets)?, files));
    }
    let file = packed(&inputs)?;
    let sources = file.description().sources.iter();
    let files = sources.map(|source| DataFile {
        name: source.name.clone(),
        sha256: source.sha256.clone(),
        positions: source.labels as usize,
    });
    let files = files.collect();
    Ok((Datasets::new(vec![file])?, files))
}

/// Packs the inputs into an unnamed temporary file, which disappears when this process ends.
fn packed(inputs: &[Input]) -> Result<Arc<DatasetFile>> {
    let folder = std::env::temp_dir();
    let name = || format!("a folder in '{}'; TMPDIR names another place", folder.display());
    let folder = tempfile::tempdir().with_context(name)?;
    let path = folder.path().join("packed.azd");
    // Nothing can resume from an unnamed file, so progress is not saved.
    let commit_every = Duration::MAX;
    let options = PackOptions { filters: Vec::new(), skip_illegal: false, commit_every };
    pack(inputs, &options, &path)?;
    Ok(Arc::new(DatasetFile::open(&path)?))
}
