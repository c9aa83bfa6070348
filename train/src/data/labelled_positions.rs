//! Labelled positions in memory, for the calibration and the metrics.

use anyhow::Result;

use super::datasets::Datasets;
use super::packed::PackedPosition;
use super::split::Split;

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
        let every = step(self.positions.len(), limit);
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
pub fn step(positions: usize, limit: usize) -> usize {
    positions.div_ceil(limit.max(1)).max(1)
}
