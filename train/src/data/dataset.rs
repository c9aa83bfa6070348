//! The data of a run: a sequence of dataset files that is read as one, and the positions that a run
//! takes from it. Files in other formats are packed into a temporary dataset.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cozy_chess::Color;
use serde::{Deserialize, Serialize};

use super::family::Split;
use super::file::DatasetFile;
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
        let part = |split| LabelledPositions::read(&all, &[split], sample);
        let (calibration, validation) = (part(Split::Calibration)?, part(Split::HeldOut)?);
        let is_complete = Split::ALL.iter().all(|&split| all.len(split) > 0);
        ensure!(is_complete, "too few games: of a hundred, five are held out, and none were");
        Ok(Self { all, calibration, validation, files, sample })
    }
}

/// Reads about `limit` positions from all splits of the files.
pub fn read_all(paths: &[PathBuf], limit: usize) -> Result<LabelledPositions> {
    LabelledPositions::read(&open(paths)?.0, &Split::ALL, limit)
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

/// A sequence of dataset files. Positions are numbered in each split, from 0, across all files.
/// Positions that occur in several files are not merged.
#[derive(Clone)]
pub struct Datasets {
    files: Vec<Arc<DatasetFile>>,
    /// For each split: the number of positions before each file, and in all files.
    starts: [Vec<u32>; Split::NUM],
}

impl Datasets {
    /// Fails if there are more positions than 32-bit indices.
    pub fn new(files: Vec<Arc<DatasetFile>>) -> Result<Self> {
        let starts = |split| -> Result<Vec<u32>> {
            let (mut next, mut starts) = (0u32, vec![0]);
            for file in &files {
                let after = u32::try_from(file.len(split)).ok().and_then(|n| next.checked_add(n));
                next = after
                    .context("the datasets have more than 4,294,967,295 positions together")?;
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
        self.starts[split as usize].last().map_or(0, |&end| end as usize)
    }

    /// Fails if a file has become shorter since it was opened.
    pub fn check_lengths(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| file.check_length())
    }

    /// The training position `index`.
    pub fn training_position(&self, index: usize) -> Result<PackedPosition> {
        let split = Split::Training;
        let starts = &self.starts[split as usize];
        let file = starts.partition_point(|&start| start as usize <= index) - 1;
        let here = index - starts[file] as usize;
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
        let passing = || {
            let numbered = self.labels(Split::Training).enumerate();
            numbered.filter(|&(_, (label, _))| pass(label)).map(|(index, _)| index)
        };
        let every = family_step(passing().count(), limit);
        passing().step_by(every).map(|index| self.training_position(index)).collect()
    }

    /// The label and the side to move of every position of a split, in order.
    pub fn labels(&self, split: Split) -> impl Iterator<Item = (Label, Color)> {
        self.files.iter().flat_map(move |file| file.labels(split))
    }

    /// Calls `visit` with every `every`-th family of each file in a split.
    pub fn families(
        &self,
        split: Split,
        every: usize,
        mut visit: impl FnMut(EncodedFamily<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut of_files = self.files.iter().map(|file| file.families(split).step_by(every));
        of_files.try_for_each(|mut families| families.try_for_each(&mut visit))
    }
}

/// Labelled positions with their families. The children of one parent are adjacent.
#[derive(Clone, Default)]
pub struct LabelledPositions {
    /// The positions.
    pub positions: Vec<PackedPosition>,
    /// The number of the family of each position.
    pub parents: Vec<u32>,
}

impl LabelledPositions {
    /// Reads about `limit` positions of some splits, in whole families that are evenly spread.
    pub fn read(data: &Datasets, splits: &[Split], limit: usize) -> Result<Self> {
        let every = family_step(splits.iter().map(|&split| data.len(split)).sum(), limit);
        let mut read = Self::default();
        for &split in splits {
            data.families(split, every, |family| {
                let number = read.parents.last().map_or(0, |last| last + 1);
                family.positions(0..family.len(), |position| read.positions.push(position))?;
                read.parents.resize(read.positions.len(), number);
                Ok(())
            })?;
        }
        Ok(read)
    }

    /// Every `n`-th family, about `limit` positions in total.
    pub fn sample(&self, limit: usize) -> Self {
        let every = family_step(self.positions.len(), limit);
        let mut sample = Self::default();
        let mut first = 0;
        for (index, family) in self.parents.chunk_by(|a, b| a == b).enumerate() {
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
pub(super) mod tests {
    use std::path::Path;

    use azimuth_chess::position::legal_moves;
    use cozy_chess::Board;

    use super::super::family::{Family, FamilyLabels};
    use super::super::file::Description;
    use super::super::file::writer::{Writer, WriterState};
    use super::*;

    /// Writes a dataset of training families with the given numbers of children to `path`. Without
    /// children, the position itself has the label.
    pub fn example(path: &Path, sizes: &[usize]) -> Result<Arc<DatasetFile>> {
        let mut writer = Writer::open(path, WriterState::default())?;
        for (number, &size) in sizes.iter().enumerate() {
            let board = Board::chess960_startpos(number as u32 * 30);
            let label = |index: usize| Label::Centipawns((number * 3 + index * 40) as i32 - 50);
            let children = legal_moves(&board).into_iter().take(size).enumerate();
            let labels = match size {
                0 => FamilyLabels::Own(label(0)),
                _ => FamilyLabels::Children(children.map(|(i, mv)| (mv, label(i))).collect()),
            };
            writer.add(Split::Training, &Family { board, labels })?;
        }
        writer.finish(&Description::new())?;
        Ok(Arc::new(DatasetFile::open(path)?))
    }

    #[test]
    fn files_are_read_as_one() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str, sizes: &[usize]| example(&folder.path().join(name), sizes);
        let files = [file("a.azd", &[3, 2])?, file("b.azd", &[])?, file("c.azd", &[1, 4])?];
        let data = Datasets::new(files.into())?;
        assert_eq!(data.len(Split::Training), 10);
        assert_eq!(data.len(Split::HeldOut), 0);
        let expected = [-50, -10, 30, -47, -7, -50, -47, -7, 33, 73].map(Label::Centipawns);
        for (index, label) in expected.into_iter().enumerate() {
            assert_eq!(data.training_position(index)?.label(), label, "{index}");
        }
        assert!(data.labels(Split::Training).map(|(label, _)| label).eq(expected));
        let mut families = Vec::new();
        data.families(Split::Training, 1, |family| {
            families.push(family.len());
            Ok(())
        })?;
        assert_eq!(families, [3, 2, 1, 4]);
        let parents = LabelledPositions::read(&data, &Split::ALL, usize::MAX)?.parents;
        assert_eq!(parents, [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]);
        Ok(())
    }
}
