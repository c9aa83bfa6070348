//! Several dataset files as one, read in place.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result};
use cozy_chess::Color;

use super::file::dataset_file::DatasetFile;
use super::file::family_code::EncodedFamily;
use super::label::Label;
use super::packed::PackedPosition;
use super::split::Split;

/// A sequence of dataset files. Positions and families are numbered in each split, from 0, across
/// all files. Positions that occur in several files are not merged.
#[derive(Clone)]
pub struct Datasets {
    files: Vec<Arc<DatasetFile>>,
    /// For each split: the first position and family of each file, and the totals.
    starts: [Vec<Start>; Split::NUM],
}

#[derive(Clone, Copy, Default)]
struct Start {
    position: u32,
    family: u32,
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

    /// Calls `visit` with the positions `range` of a split and the indices of their families.
    pub fn positions(
        &self,
        split: Split,
        range: Range<usize>,
        mut visit: impl FnMut(PackedPosition, u32),
    ) -> Result<()> {
        let starts = &self.starts[split as usize];
        let mut next = range.start;
        while next < range.end {
            let file = starts.partition_point(|start| start.position as usize <= next) - 1;
            let (start, end) = (starts[file], starts[file + 1].position as usize);
            let first = start.position as usize;
            let here = next - first..range.end.min(end) - first;
            self.files[file].positions(split, here, |position, family| {
                visit(position, start.family + family);
            })?;
            next = end;
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use azimuth_chess::position::legal_moves;
    use cozy_chess::Board;

    use super::super::family::{Family, FamilyLabels};
    use super::super::file::description::Description;
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

    fn all(data: &Datasets, range: Range<usize>) -> Result<Vec<(Label, u32)>> {
        let mut found = Vec::new();
        data.positions(Split::Training, range, |position, family| {
            found.push((position.label(), family));
        })?;
        Ok(found)
    }

    #[test]
    fn files_are_read_as_one() -> Result<()> {
        let data = Datasets::new(vec![file(&[3, 2])?, file(&[])?, file(&[1, 4])?])?;
        assert_eq!(data.len(Split::Training), 10);
        assert_eq!(data.len(Split::HeldOut), 0);
        let label = Label::Centipawns;
        let expected = [(0, 0), (1, 0), (2, 0), (10, 1), (11, 1)].into_iter();
        let expected = expected.chain([(0, 2), (10, 3), (11, 3), (12, 3), (13, 3)]);
        let expected: Vec<_> = expected.map(|(value, family)| (label(value), family)).collect();
        for range in [0..10, 4..6, 5..5, 6..10, 9..10] {
            assert_eq!(all(&data, range.clone())?, expected[range.clone()], "{range:?}");
        }
        let mut labels = Vec::new();
        data.labels(Split::Training, |index, label, _| labels.push((index, label)));
        let in_order: Vec<_> = expected.iter().map(|(label, _)| *label).enumerate().collect();
        assert_eq!(labels, in_order);
        let mut families = Vec::new();
        data.families(Split::Training, 1, |family, number| {
            families.push((family.len(), number));
            Ok(())
        })?;
        assert_eq!(families, [(3, 0), (2, 1), (1, 2), (4, 3)]);
        Ok(())
    }
}
