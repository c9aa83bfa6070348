//! The gradients of a step, computed in parts.

use anyhow::{Context, Result};
use candle_core::backprop::GradStore;

use super::Model;
use super::sum_of_ranks::sum_of_ranks;
use crate::data::mix::mix;
use crate::data::sampler::{Batch, BatchPart};
use crate::loss::{BatchLabels, LossValues, Losses};
use crate::ranks::Ranks;
use crate::side_by_side::side_by_side;

/// The gradients and losses of a step, averaged over the parts of all ranks. The parts of this rank
/// are computed in parallel. Dropout depends only on `seed` and on the place of a part.
pub fn gradients(
    model: &dyn Model,
    batch: Batch,
    losses: &Losses,
    seed: u64,
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    model.prepare(&batch)?;
    let work = |_, part| part_gradients(model, part, losses, seed);
    let found = side_by_side(batch.parts, work);
    if ranks.count() > 1 {
        return sum_of_ranks(model, &found.into_iter().collect::<Result<Vec<_>>>()?, ranks);
    }
    let mut found = found.into_iter();
    let (mut gradients, mut values) = found.next().context("a batch of nothing")??;
    for part in found {
        let (more, others) = part?;
        for variable in model.optimizer().variables() {
            if let Some(gradient) = more.get(variable) {
                let sum = match gradients.get(variable) {
                    Some(first) => (first + gradient)?,
                    None => gradient.clone(),
                };
                gradients.insert(variable, sum);
            }
        }
        values = values.add(&others)?;
    }
    Ok((gradients, values))
}

/// Computes one part of [`gradients`].
fn part_gradients(
    model: &dyn Model,
    part: BatchPart,
    losses: &Losses,
    seed: u64,
) -> Result<(GradStore, LossValues)> {
    let BatchPart { place, weight, inputs, labels, contrasts } = part;
    let labels = BatchLabels { win_probabilities: &labels, contrasts };
    let embedded = model.forward(place, inputs, seed ^ mix(place as u64))?;
    let readout = model.readout();
    let found = losses.of(&embedded.z, &labels, readout.direction(), readout.bias())?;
    let found = found.scaled(weight)?;
    Ok((embedded.backward(&found.total)?, found))
}
