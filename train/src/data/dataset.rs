//! All data of a run: opened where it is dataset files, packed into one where it is anything else.

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

/// All data of a run, split by game.
pub struct Dataset {
    /// What the parameters learn from.
    pub train: TrainingPositions,
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
    /// Reads all files. A game's part follows from its content, so it is the same whatever else is read.
    pub fn read(paths: &[PathBuf], sample: usize) -> Result<Self> {
        let (data, files) = open(paths)?;
        let part = |split| LabelledPositions::read(&data, split, step(data.len(split), sample));
        let (calibration, validation) = (part(Split::Calibration)?, part(Split::HeldOut)?);
        let train = TrainingPositions::new(data);
        let empty = train.len() == 0 || calibration.is_empty() || validation.is_empty();
        ensure!(!empty, "too few games: of a hundred, five are held out, and none were");
        Ok(Self { train, calibration, validation, files, sample })
    }
}

/// Reads about `limit` positions of the files, of all parts, for measuring on data that no training saw.
pub fn read_all(paths: &[PathBuf], limit: usize) -> Result<LabelledPositions> {
    let (data, _) = open(paths)?;
    let every = step(Split::ALL.iter().map(|&split| data.len(split)).sum(), limit);
    let mut read = LabelledPositions::default();
    for split in Split::ALL {
        read.append(&LabelledPositions::read(&data, split, every)?);
    }
    Ok(read)
}

/// Opens the files, packed into one that has no name where they are not datasets, and says what each holds.
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

/// Packs the inputs into a file without a name: it is gone when this process ends.
fn packed(inputs: &[Input]) -> Result<Arc<DatasetFile>> {
    let folder = std::env::temp_dir();
    let name = || format!("a folder in '{}'; TMPDIR names another place", folder.display());
    let folder = tempfile::tempdir().with_context(name)?;
    let path = folder.path().join("packed.azd");
    // Nobody goes on with a file that has no name.
    let commit_every = Duration::MAX;
    let options = PackOptions { filters: Vec::new(), skip_illegal: false, commit_every };
    pack(inputs, &options, &path)?;
    Ok(Arc::new(DatasetFile::open(&path)?))
}
