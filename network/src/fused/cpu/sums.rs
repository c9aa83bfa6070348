//! Activated sums of bags, and their gradients.

use candle_core::{Result, Tensor};

use crate::embedding_bag::{Bags, kernels};
use crate::tensor_slices::with_values;

pub fn activated_sums(table: &Tensor, bias: &Tensor, bags: &Bags) -> Result<Tensor> {
    let width = table.dim(1)?;
    let mut sums = vec![0.0; bags.len() * width];
    with_values([table, bias], |[table, bias]| kernels::sum_rows(bags, table, bias, &mut sums))?;
    kernels::activate(&mut sums);
    Tensor::from_vec(sums, (bags.len(), width), table.device())
}

pub fn activated_sums_back(
    activations: &Tensor,
    gradient: &Tensor,
    bags: &Bags,
    rows: usize,
) -> Result<(Tensor, Tensor)> {
    let (width, device) = (activations.dim(1)?, activations.device());
    let (mut table, mut bias) = (vec![0.0; rows * width], vec![0.0; width]);
    let mut slopes = gradient.flatten_all()?.to_vec1::<f32>()?;
    with_values([activations], |[found]| kernels::activation_slopes(found, &mut slopes))?;
    kernels::sum_columns(&slopes, &mut bias);
    kernels::add_to_rows(bags, &slopes, &mut table);
    Ok((Tensor::from_vec(table, (rows, width), device)?, Tensor::from_vec(bias, width, device)?))
}
