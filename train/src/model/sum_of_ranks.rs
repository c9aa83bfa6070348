//! The sum of the gradients of all ranks.

use anyhow::{Context, Result};
use candle_core::backprop::GradStore;
use candle_core::{DType, Tensor, Var};

use super::Model;
use crate::loss::LossValues;
use crate::ranks::{Ranks, sum_parts};

/// Number of losses in [`LossValues`].
const LOSSES: usize = 3;

/// The sum of the gradients and losses of all parts of all ranks; `parts` has those of this rank.
pub fn sum_of_ranks(
    model: &dyn Model,
    parts: &[(GradStore, LossValues)],
    ranks: &dyn Ranks,
) -> Result<(GradStore, LossValues)> {
    let variables: Vec<&Var> = model.optimizer().variables().collect();
    let length = variables.iter().map(|variable| variable.elem_count()).sum::<usize>() + LOSSES;
    let parts = parts.iter().map(|part| Ok(flat(part, &variables)?.to_vec1()?));
    let sum = sum_parts(ranks, &parts.collect::<Result<Vec<_>>>()?, length)?;
    model.sum_rows(ranks)?;
    apart(&Tensor::from_vec(sum, length, model.readout().bias().device())?, &variables)
}

/// The gradients of all variables one after another, and then the losses, in f32.
fn flat((gradients, values): &(GradStore, LossValues), variables: &[&Var]) -> Result<Tensor> {
    let mut all = Vec::new();
    for variable in variables {
        let gradient = gradients.get(variable).context("a parameter has no gradient")?;
        all.push(gradient.flatten_all()?.to_dtype(DType::F32)?);
    }
    for loss in [&values.total, &values.contrastive, &values.regression] {
        all.push(loss.detach().flatten_all()?);
    }
    Ok(Tensor::cat(&all, 0)?)
}

/// The inverse of [`flat`].
fn apart(all: &Tensor, variables: &[&Var]) -> Result<(GradStore, LossValues)> {
    // candle makes a store only by a backward pass.
    let mut gradients = all.zeros_like()?.sum_all()?.backward()?;
    let mut first = 0;
    for variable in variables {
        let count = variable.elem_count();
        gradients.insert(variable, all.narrow(0, first, count)?.reshape(variable.shape())?);
        first += count;
    }
    let loss = |index: usize| all.get(first + index);
    let values = LossValues { total: loss(0)?, contrastive: loss(1)?, regression: loss(2)? };
    Ok((gradients, values))
}
