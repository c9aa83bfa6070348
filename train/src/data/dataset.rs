//! The data of a run: a sequence of dataset files that is read as one, and the positions that a run
//! takes from it. Files in other formats are packed into a temporary dataset.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cozy_chess::Color;
use serde::{Deserialize, Serialize};

use super::family::Split;
use super::file::dataset_file::{DatasetFile, Start};
use super::file::family_code::EncodedFamily;
use super::pack::{PackOptions, pack};
use super::packed::{Label, PackedPosition};
use super::read::input::Input;
use super::read::position_lines::View;

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
    /// All sets, of which a run trains on the training set.
    pub all: Datasets,
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
        let (all, files) = open(paths)?;
        let part =
            |split| LabelledPositions::read(&all, split, family_step(all.len(split), sample));
        let (calibration, validation) = (part(Split::Calibration)?, part(Split::HeldOut)?);
        let none_for_training = all.len(Split::Training) == 0;
        let empty = none_for_training || calibration.is_empty() || validation.is_empty();
        ensure!(!empty, "too few games: of a hundred, five are held out, and none were");
        Ok(Self { all, calibration, validation, files, sample })
    }
}

/// Reads about `limit` positions from all splits of the files.
pub fn read_all(paths: &[PathBuf], limit: usize) -> Result<LabelledPositions> {
    read_splits(&open(paths)?.0, &Split::ALL, limit)
}

/// Reads about `limit` positions from some splits.
pub fn read_splits(data: &Datasets, splits: &[Split], limit: usize) -> Result<LabelledPositions> {
    let every = family_step(splits.iter().map(|&split| data.len(split)).sum(), limit);
    let mut read = LabelledPositions::default();
    for &split in splits {
        read.append(&LabelledPositions::read(data, split, every)?);
    }
    Ok(read)
}

/// Opens and describes the files; packs them temporarily if they are not all datasets.
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
    let file = packed_temporarily(&inputs)?;
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
fn packed_temporarily(inputs: &[Input]) -> Result<Arc<DatasetFile>> {
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

/// A sequence of dataset files. Positions and families are numbered in each split, from 0, across
/// all files. Positions that occur in several files are not merged.
#[derive(Clone)]
pub struct Datasets {
    files: Vec<Arc<DatasetFile>>,
    /// For each split: the first position and family of each file, and the totals.
    starts: [Vec<Start>; Split::NUM],
}

impl Datasets {
    /// Fails if there are more positions than 32-bit indices.
    pub fn new(files: Vec<Arc<DatasetFile>>) -> Result<Self> {
        let starts = |split| -> Result<Vec<Start>> {
            let (mut next, mut starts) = (Start::default(), vec![Start::default()]);
            for file in &files {
                let after = |number: u32, more: usize| {
                    let more = u32::try_from(more).ok();
                    more.and_then(|more| number.checked_add(more))
                        .context("the datasets have more than 4,294,967,295 positions together")
                };
                next = Start {
                    position: after(next.position, file.len(split))?,
                    family: after(next.family, file.families_in(split))?,
                };
                starts.push(next);
            }
            Ok(starts)
        };
        let [training, calibration, held_out] = Split::ALL.map(starts);
        let starts = [training?, calibration?, held_out?];
        Ok(Self { files, starts })
    }

    /// Number of positions in a split.
    pub fn len(&self, split: Split) -> usize {
        self.starts[split as usize].last().map_or(0, |end| end.position as usize)
    }

    /// Fails if a file has become shorter since it was opened.
    pub fn check_lengths(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| file.check_length())
    }

    /// The training position `index`.
    pub fn training_position(&self, index: usize) -> Result<PackedPosition> {
        let split = Split::Training;
        let starts = &self.starts[split as usize];
        let file = starts.partition_point(|start| start.position as usize <= index) - 1;
        let here = index - starts[file].position as usize;
        let mut found = None;
        self.files[file].positions(split, here..here + 1, |position, _| found = Some(position))?;
        found.with_context(|| format!("the datasets have no position {index}"))
    }

    /// At most `limit` of the training positions whose label passes `pass`, evenly spread.
    pub fn spread(
        &self,
        limit: usize,
        pass: impl Fn(Label) -> bool,
    ) -> Result<Vec<PackedPosition>> {
        let mut passing = 0usize;
        self.labels(Split::Training, |_, label, _| passing += usize::from(pass(label)));
        let every = passing.div_ceil(limit).max(1);
        let (mut seen, mut chosen) = (0usize, Vec::new());
        self.labels(Split::Training, |index, label, _| {
            if pass(label) {
                if seen.is_multiple_of(every) {
                    chosen.push(index);
                }
                seen += 1;
            }
        });
        chosen.into_iter().map(|index| self.training_position(index)).collect()
    }

    /// Calls `visit` with the index, label and side to move of every position of a split, in order.
    pub fn labels(&self, split: Split, mut visit: impl FnMut(usize, Label, Color)) {
        for (file, start) in self.files.iter().zip(&self.starts[split as usize]) {
            let first = start.position as usize;
            file.labels(split, |index, label, side| visit(first + index, label, side));
        }
    }

    /// Calls `visit` with every `every`-th family of each file in a split, and its index.
    pub fn families(
        &self,
        split: Split,
        every: usize,
        mut visit: impl FnMut(EncodedFamily<'_>, u32) -> Result<()>,
    ) -> Result<()> {
        for (file, start) in self.files.iter().zip(&self.starts[split as usize]) {
            file.families(split, every, |family, number| visit(family, start.family + number))?;
        }
        Ok(())
    }
}

/// Labelled positions with their families. The children of one parent are adjacent.
#[derive(Clone, Default)]
pub struct LabelledPositions {
    /// The positions.
    pub positions: Vec<PackedPosition>,
    /// The family index of each position.
    pub parents: Vec<u32>,
}

impl LabelledPositions {
    /// Reads every `every`-th family of a split.
    pub fn read(data: &Datasets, split: Split, every: usize) -> Result<Self> {
        let mut read = Self::default();
        data.families(split, every, |family, number| {
            family.positions(0..family.len(), |position| read.positions.push(position))?;
            read.parents.resize(read.positions.len(), number);
            Ok(())
        })?;
        Ok(read)
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Appends other positions, with new family indices.
    pub fn append(&mut self, other: &Self) {
        let first = self.parents.iter().max().map_or(0, |last| last + 1);
        self.positions.extend_from_slice(&other.positions);
        self.parents.extend(other.parents.iter().map(|parent| first + parent));
    }

    /// Every `n`-th family, about `limit` positions in total.
    pub fn sample(&self, limit: usize) -> Self {
        let every = family_step(self.positions.len(), limit);
        let mut sample = Self::default();
        let families = self.parents.chunk_by(|a, b| a == b);
        let mut first = 0;
        for (index, family) in families.enumerate() {
            let end = first + family.len();
            if index.is_multiple_of(every) {
                sample.positions.extend_from_slice(&self.positions[first..end]);
                sample.parents.extend_from_slice(family);
            }
            first = end;
        }
        sample
    }
}

/// The step between families that selects about `limit` of `positions`.
pub fn family_step(positions: usize, limit: usize) -> usize {
    positions.div_ceil(limit.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use azimuth_chess::position::legal_moves;
    use cozy_chess::Board;

    use super::super::family::{Family, FamilyLabels};
    use super::super::file::dataset_file::Description;
    use super::super::file::writer::{Writer, WriterState};
    use super::*;

    /// A dataset of families with the given numbers of children.
    fn file(sizes: &[usize]) -> Result<Arc<DatasetFile>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("data.azd");
        let mut writer = Writer::open(&path, WriterState::default())?;
        for (number, &size) in sizes.iter().enumerate() {
            let board = Board::chess960_startpos(number as u32 * 30);
            let moves = legal_moves(&board).into_iter().take(size).enumerate();
            let label = |index: usize| Label::Centipawns((number * 10 + index) as i32);
            let children = moves.map(|(index, mv)| (mv, label(index))).collect();
            let family = Family { board, labels: FamilyLabels::Children(children) };
            writer.add(Split::Training, &family)?;
        }
        writer.finish(&Description::new())?;
        Ok(Arc::new(DatasetFile::open(&path)?))
    }

    #[test]
    fn files_are_read_as_one() -> Result<()> {
        let data = Datasets::new(vec![file(&[3, 2])?, file(&[])?, file(&[1, 4])?])?;
        assert_eq!(data.len(Split::Training), 10);
        assert_eq!(data.len(Split::HeldOut), 0);
        let expected = [0, 1, 2, 10, 11, 0, 10, 11, 12, 13].map(Label::Centipawns);
        for (index, label) in expected.into_iter().enumerate() {
            assert_eq!(data.training_position(index)?.label(), label, "{index}");
        }
        let mut labels = Vec::new();
        data.labels(Split::Training, |index, label, _| labels.push((index, label)));
        assert!(labels.into_iter().eq(expected.into_iter().enumerate()));
        let mut families = Vec::new();
        data.families(Split::Training, 1, |family, number| {
            families.push((family.len(), number));
            Ok(())
        })?;
        assert_eq!(families, [(3, 0), (2, 1), (1, 2), (4, 3)]);
        Ok(())
    }
}
