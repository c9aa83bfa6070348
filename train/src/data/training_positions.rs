//! The training positions, read from the mapped files when they are drawn.

use std::ops::Range;

use anyhow::Result;
use cozy_chess::Color;

use super::datasets::Datasets;
use super::label::Label;
use super::packed::PackedPosition;
use super::split::Split;

/// The training split of datasets, with indices from 0.
#[derive(Clone)]
pub struct TrainingPositions(Datasets);

impl TrainingPositions {
    /// The training split of `data`.
    pub fn new(data: Datasets) -> Self {
        Self(data)
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.0.len(Split::Training)
    }

    /// Fails if a file has become shorter since it was opened.
    pub fn check_lengths(&self) -> Result<()> {
        self.0.check_lengths()
    }

    /// Calls `visit` with the positions `range` and the indices of their families.
    pub fn read(&self, range: Range<usize>, visit: impl FnMut(PackedPosition, u32)) -> Result<()> {
        self.0.positions(Split::Training, range, visit)
    }

    /// Calls `visit` with the index, label and side to move of every position, in order.
    pub fn labels(&self, visit: impl FnMut(usize, Label, Color)) {
        self.0.labels(Split::Training, visit);
    }

    /// At most `limit` of the positions whose label passes `pass`, evenly spread.
    pub fn spread(
        &self,
        limit: usize,
        pass: impl Fn(Label) -> bool,
    ) -> Result<Vec<PackedPosition>> {
        let mut passing = 0usize;
        self.labels(|_, label, _| passing += usize::from(pass(label)));
        let every = passing.div_ceil(limit).max(1);
        let (mut seen, mut chosen) = (0usize, Vec::new());
        self.labels(|index, label, _| {
            if pass(label) {
                if seen.is_multiple_of(every) {
                    chosen.push(index);
                }
                seen += 1;
            }
        });
        let mut positions = Vec::with_capacity(chosen.len());
        for index in chosen {
            self.read(index..index + 1, |position, _| positions.push(position))?;
        }
        Ok(positions)
    }
}
