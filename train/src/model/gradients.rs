//! The gradients of a step, computed in parts.

use anyhow::{Context, Result};
use candle_core::backprop::GradStore;

use super::Model;
use crate::data::sampler::{Batch, BatchPart};
use crate::loss::{BatchLabels, LossValues, Losses};
use crate::side_by_side::side_by_side;

/// The gradients and losses of a step, averaged over its parts, which are computed in parallel.
/// Dropout depends only on `seed`.
pub fn gradients(
    model: &dyn Model,
    batch: Batch,
    losses: &Losses,
    seed: u64,
) -> Result<(GradStore, LossValues)> {
    model.prepare(&batch)?;
    let parts = batch.len();
    let work = |place, part| part_gradients(model, place, part, losses, parts, seed);
    let mut found = side_by_side(batch, work).into_iter();
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

/// Computes one of `parts` parts of [`gradients`].
fn part_gradients(
    model: &dyn Model,
    place: usize,
    part: BatchPart,
    losses: &Losses,
    parts: usize,
    seed: u64,
) -> Result<(GradStore, LossValues)> {
    let BatchPart { inputs, labels, parents, contrasts } = part;
    let labels = BatchLabels { win_probabilities: &labels, parents: &parents, contrasts };
    let embedded = model.forward(place, inputs, seed)?;
    let readout = model.readout();
    let found = losses.of(&embedded.z, &labels, readout.direction(), readout.bias())?;
    let found = found.scaled(1.0 / parts as f64)?;
    Ok((embedded.backward(&found.total)?, found))
}
