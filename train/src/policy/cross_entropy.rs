//! The loss of a policy: the cross entropy of the best moves, as an operation of candle.

use std::sync::{Mutex, PoisonError};

use azimuth_network::policy::MOVE_ROWS;
use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{CpuStorage, CustomOp3, Device, Layout, Shape, Tensor};
use multiversion::multiversion;

/// The sum of the cross entropies of some examples, divided by the number `total` of all examples of
/// a step. Its arguments are the activations (examples x 2H), and the weights and biases of moves.
pub struct CrossEntropy {
    rows: Vec<u16>,
    ends: Vec<u32>,
    targets: Vec<u32>,
    total: usize,
    /// The gradient of each logit.
    of_logits: Mutex<Vec<f32>>,
}

impl CrossEntropy {
    /// The loss of examples whose legal moves have `rows`; those of each example end at one of
    /// `ends`, and `targets` are the indices of the best moves.
    pub fn new(rows: Vec<u16>, ends: Vec<u32>, targets: Vec<u32>, total: usize) -> Self {
        Self { rows, ends, targets, total, of_logits: Mutex::default() }
    }
}

impl CustomOp3 for CrossEntropy {
    fn name(&self) -> &'static str {
        "policy-cross-entropy"
    }

    fn cpu_fwd(
        &self,
        active: &CpuStorage,
        active_layout: &Layout,
        weights: &CpuStorage,
        weights_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let active = values(active, active_layout)?;
        let weights = values(weights, weights_layout)?;
        let bias = values(bias, bias_layout)?;
        let width = weights.len() / MOVE_ROWS;
        let mut of_logits = vec![0.0; self.rows.len()];
        let (mut loss, mut start) = (0.0, 0);
        for ((&end, &target), active) in
            self.ends.iter().zip(&self.targets).zip(active.chunks_exact(width))
        {
            let (end, target) = (end as usize, target as usize);
            let logits = &mut of_logits[start..end];
            move_logits(&self.rows[start..end], weights, bias, active, logits);
            let of_target = logits[target - start];
            let largest = logits.iter().copied().fold(f32::MIN, f32::max);
            logits.iter_mut().for_each(|logit| *logit = (*logit - largest).exp());
            let sum: f32 = logits.iter().sum();
            loss += sum.ln() + largest - of_target;
            let scale = 1.0 / sum / self.total as f32;
            logits.iter_mut().for_each(|logit| *logit *= scale);
            logits[target - start] -= 1.0 / self.total as f32;
            start = end;
        }
        *self.of_logits.lock().unwrap_or_else(PoisonError::into_inner) = of_logits;
        Ok((CpuStorage::F32(vec![loss / self.total as f32]), ().into()))
    }

    fn bwd(
        &self,
        active: &Tensor,
        weights: &Tensor,
        bias: &Tensor,
        _: &Tensor,
        _: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        // The loss is the last operation, so its own gradient is 1.
        let of_logits = self.of_logits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_active = vec![0.0; active.elem_count()];
        let mut of_weights = vec![0.0; weights.elem_count()];
        let mut of_bias = vec![0.0; bias.elem_count()];
        let width = weights.dim(1)?;
        with_values([active, weights], |[active, weights]| {
            let mut start = 0;
            let examples = active.chunks_exact(width).zip(of_active.chunks_exact_mut(width));
            for (&end, (active, of_active)) in self.ends.iter().zip(examples) {
                let end = end as usize;
                let range = start..end;
                let (rows, of_logits) = (&self.rows[range.clone()], &of_logits[range]);
                back(rows, of_logits, active, weights, of_active, &mut of_weights);
                for (&row, of_logit) in rows.iter().zip(of_logits) {
                    of_bias[usize::from(row)] += of_logit;
                }
                start = end;
            }
        })?;
        let tensor = |values, like: &Tensor| Tensor::from_vec(values, like.shape(), &Device::Cpu);
        Ok((
            Some(tensor(of_active, active)?),
            Some(tensor(of_weights, weights)?),
            Some(tensor(of_bias, bias)?),
        ))
    }
}

/// The logits of the moves with these `rows`, given the weights ([`MOVE_ROWS`] x 2H) and biases of
/// all moves, and the activations (2H) of a position. H is a multiple of 16.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn move_logits(rows: &[u16], weights: &[f32], bias: &[f32], active: &[f32], logits: &mut [f32]) {
    const LANES: usize = 32;
    for (logit, &row) in logits.iter_mut().zip(rows) {
        let weights = &weights[usize::from(row) * active.len()..][..active.len()];
        let mut sums = [0.0; LANES];
        for (weights, active) in weights.chunks_exact(LANES).zip(active.chunks_exact(LANES)) {
            for lane in 0..LANES {
                sums[lane] += weights[lane] * active[lane];
            }
        }
        *logit = bias[usize::from(row)] + sums.iter().sum::<f32>();
    }
}

/// Adds the gradients of one example, given those of its logits.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn back(
    rows: &[u16],
    of_logits: &[f32],
    active: &[f32],
    weights: &[f32],
    of_active: &mut [f32],
    of_weights: &mut [f32],
) {
    for (&row, &of_logit) in rows.iter().zip(of_logits) {
        // Skips moves whose gradient is negligible.
        if of_logit.abs() < 1e-9 {
            continue;
        }
        let place = usize::from(row) * active.len()..(usize::from(row) + 1) * active.len();
        let (weights, of_weights) = (&weights[place.clone()], &mut of_weights[place]);
        for index in 0..active.len() {
            of_active[index] += of_logit * weights[index];
            of_weights[index] += of_logit * active[index];
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, Result};
    use candle_core::Var;

    use super::*;

    #[test]
    fn the_gradients_are_those_of_candles_operations() -> Result<()> {
        let (rows, width) = ([3u16, 70, 9, 9, 3, 1], 64);
        let (ends, targets) = (vec![4, 6], vec![1, 4]);
        let active = Var::rand(0f32, 1.0, (2, width), &Device::Cpu)?;
        let weights = Var::randn(0f32, 0.2, (MOVE_ROWS, width), &Device::Cpu)?;
        let bias = Var::randn(0f32, 0.2, MOVE_ROWS, &Device::Cpu)?;
        let loss = CrossEntropy::new(rows.to_vec(), ends, targets, 2);
        let loss = active.apply_op3(&weights, &bias, loss)?;

        let of = |example: usize, rows: &[u16], target: usize| -> candle_core::Result<Tensor> {
            let rows: Vec<u32> = rows.iter().map(|&row| row.into()).collect();
            let rows = Tensor::new(rows.as_slice(), &Device::Cpu)?;
            let activations = active.narrow(0, example, 1)?.t()?;
            let products = weights.index_select(&rows, 0)?.matmul(&activations)?.flatten_all()?;
            let logits = (products + bias.index_select(&rows, 0)?)?;
            logits.exp()?.sum_all()?.log()? - logits.get(target)?
        };
        let composed = ((of(0, &rows[..4], 1)? + of(1, &rows[4..], 0)?)? / 2.0)?;
        let (one, other) = (loss.to_scalar::<f32>()?, composed.to_scalar::<f32>()?);
        assert!((one - other).abs() < 1e-4, "{one} {other}");
        let (found, expected) = (loss.backward()?, composed.backward()?);
        for variable in [&active, &weights, &bias] {
            let of = |gradients: &candle_core::backprop::GradStore| {
                gradients.get(variable).cloned().context("no gradient")
            };
            let difference = (of(&found)? - of(&expected)?)?.abs()?.flatten_all()?.max(0)?;
            assert!(difference.to_scalar::<f32>()? < 1e-4);
        }
        Ok(())
    }
}
