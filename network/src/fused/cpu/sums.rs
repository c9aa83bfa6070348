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
    let mut gradients = gradient.flatten_all()?.to_vec1::<f32>()?;
    with_values([activations], |[found]| kernels::activation_gradients(found, &mut gradients))?;
    kernels::sum_columns(&gradients, &mut bias);
    kernels::add_to_rows(bags, &gradients, &mut table);
    Ok((Tensor::from_vec(table, (rows, width), device)?, Tensor::from_vec(bias, width, device)?))
}
