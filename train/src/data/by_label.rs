//! An index of positions by label, for drawing positions of similar label.

use std::ops::Range;

use anyhow::{Context, Result};
use azimuth_network::Perspective;
use cozy_chess::Color;
use memmap2::MmapMut;

use super::label::Label;
use super::training_positions::TrainingPositions;
use crate::positive_threshold::PositiveThreshold;

/// Number of distinct stored labels.
const LABELS: usize = 1 << 16;

/// Indices of positions sorted by label, in an unnamed temporary file. It takes 4 bytes a position,
/// which the kernel keeps in memory while there is room.
pub struct ByLabel {
    numbers: MmapMut,
    /// The offset of each label's positions, and the total count.
    starts: Vec<u32>,
    /// The coordinate of each label ([`PositiveThreshold::coordinate`]), ascending.
    coordinates: Vec<f32>,
    perspective: Perspective,
}

impl ByLabel {
    /// Sorts the positions by their labels from the point of view of `perspective`.
    pub fn new(
        positions: &TrainingPositions,
        perspective: Perspective,
        threshold: PositiveThreshold,
    ) -> Result<Self> {
        let mut starts = vec![0u32; LABELS + 1];
        positions.labels(|_, label, side| starts[rank(label, side, perspective) + 1] += 1);
        for index in 0..LABELS {
            starts[index + 1] += starts[index];
        }
        let file = tempfile::tempfile().context("a temporary file; TMPDIR names another place")?;
        let bytes = positions.len() as u64 * size_of::<u32>() as u64;
        file.set_len(bytes).context("a temporary file; TMPDIR names another place")?;
        // SAFETY: the file has no name, so no other process changes it.
        let mut numbers = unsafe { MmapMut::map_mut(&file)? };
        let places: &mut [u32] = bytemuck::cast_slice_mut(&mut numbers);
        let mut next = starts.clone();
        positions.labels(|index, label, side| {
            let place = &mut next[rank(label, side, perspective)];
            places[*place as usize] = index as u32;
            *place += 1;
        });
        let coordinates =
            (0..LABELS).map(|rank| threshold.coordinate(label_of(rank).win_probability()));
        Ok(Self { numbers, starts, coordinates: coordinates.collect(), perspective })
    }

    /// The slots of the positions whose labels differ from `label` by less than the threshold.
    /// `side` is the side to move in the position with `label`.
    pub fn similar(&self, label: Label, side: Color) -> Range<usize> {
        let place = self.coordinates[rank(label, side, self.perspective)];
        let first = self.coordinates.partition_point(|&other| other <= place - 1.0);
        let end = self.coordinates.partition_point(|&other| other < place + 1.0);
        self.starts[first] as usize..self.starts[end] as usize
    }

    /// The index of the position in the slot `place`.
    pub fn position(&self, place: usize) -> usize {
        bytemuck::cast_slice::<u8, u32>(&self.numbers)[place] as usize
    }
}

/// The rank of a label among all stored labels, from the point of view of `perspective`.
fn rank(label: Label, side: Color, perspective: Perspective) -> usize {
    let seen = match perspective {
        Perspective::SideToMove => label.seen_by(side),
        Perspective::White => label,
    };
    (i32::from(seen.bits()) - i32::from(i16::MIN)) as usize
}

fn label_of(rank: usize) -> Label {
    Label::from_bits((rank as i32 + i32::from(i16::MIN)) as i16)
}
