//! Sums over the parts of a batch that several ranks computed. The order of the additions is that
//! of the parts, as in a single process, so that the sums are the same to the last bit.
//!
//! Each rank adds up one share of the values and sends the sums to the others. If every rank has
//! one part, a rank sends 2 (N - 1) / N times the size of a gradient, as in a ring all-reduce. That
//! would add each share in another order.

use std::ops::{DerefMut, Range};

use anyhow::Result;
use azimuth_network::embedding_bag::RowGradients;

use super::Ranks;

/// The sum of the vectors of all ranks, each of `length` values. `parts` holds the vectors of this
/// rank. Adds them in the order of the ranks, and for each rank in the order of its parts.
pub fn sum_parts(ranks: &dyn Ranks, parts: &[Vec<f32>], length: usize) -> Result<Vec<f32>> {
    let count = ranks.count();
    let share = |rank: usize| length * rank / count..length * (rank + 1) / count;
    let message = |range: Range<usize>| {
        let own = parts.iter().flat_map(|part| &part[range.clone()]);
        own.map(|value| value.to_bits()).collect()
    };
    let received = ranks.exchange((0..count).map(|rank| message(share(rank))).collect())?;
    let mut sums: Option<Vec<f32>> = None;
    let width = share(ranks.rank()).len();
    for part in received.iter().flat_map(|message| message.chunks_exact(width.max(1))) {
        let part: &[f32] = bytemuck::cast_slice(part);
        match &mut sums {
            None => sums = Some(part.to_vec()),
            Some(sums) => sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value),
        }
    }
    let sums = ranks.gather(bytemuck::cast_vec(sums.unwrap_or_default()))?;
    Ok(bytemuck::cast_vec(sums.concat()))
}

/// Adds the gradients of all parts of all ranks into the first of this rank's `parts`, and clears
/// the others. A part is a table of rows of `width` values. Sends only rows that have a gradient.
pub fn sum_rows(
    ranks: &dyn Ranks,
    parts: &mut [impl DerefMut<Target = RowGradients>],
    width: usize,
) -> Result<()> {
    let rows: usize = parts.iter().map(|part| part.rows().len()).sum();
    let space = rows.div_ceil(ranks.count()) * (1 + width);
    // Each rank adds up about the same number of rows, so an eighth more space is enough.
    let mut to: Vec<_> = (0..ranks.count()).map(|_| Vec::with_capacity(space * 9 / 8)).collect();
    for part in &mut *parts {
        part.drain(|row, gradient| push(&mut to[row % ranks.count()], row, gradient));
    }
    let received = ranks.exchange(to)?;
    let Some(sums) = parts.first_mut() else { return Ok(()) };
    received.iter().for_each(|message| add(message, width, sums));

    let mut own = Vec::with_capacity(sums.rows().len() * (1 + width));
    for row in sums.rows().iter().map(|&row| row as usize) {
        push(&mut own, row, &sums.values()[row * width..][..width]);
    }
    for (rank, message) in ranks.gather(own)?.iter().enumerate() {
        if rank != ranks.rank() {
            add(message, width, sums);
        }
    }
    Ok(())
}

/// Adds a row's index and its gradient to a message.
fn push(message: &mut Vec<u32>, row: usize, gradient: &[f32]) {
    message.push(row as u32);
    message.extend_from_slice(bytemuck::cast_slice(gradient));
}

/// Adds the rows of a message to `sums`, in their order.
fn add(message: &[u32], width: usize, sums: &mut RowGradients) {
    for row in message.chunks_exact(1 + width) {
        sums.add(row[0] as usize, bytemuck::cast_slice(&row[1..]));
    }
}
