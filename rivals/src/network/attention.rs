//! Attention with a gradient: on the CPU by the engine's fused operation, on a device by candle's.

use azimuth_network::fused;
use azimuth_network::fused::DropoutMask;
use azimuth_network::tensor_slices::values;
use candle_core::{CpuStorage, CustomOp1, D, DType, Device, Layout, Result, Shape, Tensor};
use candle_nn::ops::softmax;

/// Softmax attention with `heads` heads: maps `packed` (batch x length x 3 width), which holds
/// queries, keys and values, to batch x length x width.
pub fn attention(packed: &Tensor, heads: usize) -> Result<Tensor> {
    match packed.device().is_cpu() {
        true => packed.contiguous()?.apply_op1(Attention { heads }),
        false => composed(packed, heads),
    }
}

/// The same by candle's operations, for a device.
fn composed(packed: &Tensor, heads: usize) -> Result<Tensor> {
    let (count, length, width) = packed.dims3()?;
    let head = width / 3 / heads;
    let packed = packed.reshape((count, length, 3, heads, head))?;
    let part = |part: usize| packed.narrow(2, part, 1)?.squeeze(2)?.transpose(1, 2)?.contiguous();
    let scores = (part(0)?.matmul(&part(1)?.t()?)? / (head as f64).sqrt())?;
    let mixed = softmax(&scores, D::Minus1)?.matmul(&part(2)?)?;
    mixed.transpose(1, 2)?.reshape((count, length, width / 3))
}

struct Attention {
    heads: usize,
}

impl Attention {
    /// A zero bias for the engine's operation: the queries, keys and values already include theirs.
    fn no_bias(packed: &Tensor) -> Result<Tensor> {
        Tensor::zeros(packed.dim(2)?, DType::F32, &Device::Cpu)
    }
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, packed: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let packed = Tensor::from_slice(values(packed, layout)?, layout.shape(), &Device::Cpu)?;
        let bias = Self::no_bias(&packed)?;
        let mixed = fused::attention(&packed, &bias, self.heads, DropoutMask::NONE)?;
        Ok((CpuStorage::F32(mixed.flatten_all()?.to_vec1()?), mixed.shape().clone()))
    }

    fn bwd(&self, packed: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let bias = Self::no_bias(packed)?;
        fused::attention_back(packed, &bias, self.heads, DropoutMask::NONE, gradient).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;
    use crate::network::assert_agree;

    #[test]
    fn a_device_computes_the_same_values_and_gradients() -> Result<()> {
        let packed = Var::randn(0f32, 1.0, (2, 5, 3 * 8), &Device::Cpu)?;
        let [found, known] = [attention(&packed, 2)?, composed(&packed, 2)?];
        assert_agree(&found, &known, &[&packed], [1e-4; 2])
    }
}
