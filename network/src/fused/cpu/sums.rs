//! Feature sums with their activations, and the way back.

use candle_core::{Result, Tensor};

use super::super::bags::Bags;
use crate::tensor_slices::with_values;

/// Calls `visit` with the number of each bag and its rows.
fn each_bag(bags: &Bags, mut visit: impl FnMut(usize, &[u32])) -> Result<()> {
    let rows = bags.rows.to_vec1::<u32>()?;
    let mut first = 0;
    for (number, end) in bags.ends.to_vec1::<u32>()?.into_iter().enumerate() {
        visit(number, &rows[first..end as usize]);
        first = end as usize;
    }
    Ok(())
}

pub fn activated_sums(table: &Tensor, bias: &Tensor, bags: &Bags) -> Result<Tensor> {
    let width = table.dim(1)?;
    let mut sums = vec![0.0; bags.len() * width];
    with_values([table, bias], |[table, bias]| {
        each_bag(bags, |bag, rows| {
            let sum = &mut sums[bag * width..][..width];
            sum.copy_from_slice(bias);
            rows.iter().for_each(|&row| add(sum, &table[row as usize * width..][..width]));
            sum.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0).powi(2));
        })
    })??;
    Tensor::from_vec(sums, (bags.len(), width), table.device())
}

pub fn activated_sums_back(
    activations: &Tensor,
    gradient: &Tensor,
    bags: &Bags,
    rows: usize,
) -> Result<(Tensor, Tensor)> {
    let width = activations.dim(1)?;
    let (mut table, mut bias) = (vec![0.0; rows * width], vec![0.0; width]);
    with_values([activations, gradient], |[activations, gradient]| {
        each_bag(bags, |bag, rows| {
            let along = |(&a, &slope): (&f32, &f32)| {
                if a < 1.0 { 2.0 * a.sqrt() * slope } else { 0.0 }
            };
            let range = bag * width..(bag + 1) * width;
            let slopes: Vec<f32> =
                activations[range.clone()].iter().zip(&gradient[range]).map(along).collect();
            add(&mut bias, &slopes);
            rows.iter().for_each(|&row| add(&mut table[row as usize * width..][..width], &slopes));
        })
    })??;
    let device = activations.device();
    Ok((Tensor::from_vec(table, (rows, width), device)?, Tensor::from_vec(bias, width, device)?))
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
