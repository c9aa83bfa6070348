//! Layer norm with a gradient: on the CPU by the engine's fused operation, on a device by candle's
//! operations.

use azimuth_network::fused::{
    AddNorm, AddNormBack, DropoutMask, LAYER_NORM_EPSILON, add_norm, add_norm_back,
};
use azimuth_network::tensor_slices::values;
use candle_core::{CpuStorage, CustomOp3, Device, Layout, Module, Result, Shape, Tensor};
use candle_nn::{VarBuilder, init, ops};

/// Normalises rows to mean 0 and variance 1, then scales and shifts them.
pub struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
}

impl LayerNorm {
    /// A layer norm with the parameters `weight` and `bias`, initially 1 and 0.
    pub fn new(width: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            weight: vb.get_with_hints(width, "weight", init::ONE)?,
            bias: vb.get_with_hints(width, "bias", init::ZERO)?,
        })
    }
}

impl Module for LayerNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match x.device().is_cpu() {
            true => x.contiguous()?.apply_op3(&self.weight, &self.bias, Normalise),
            // Candle's faster layer norm has no gradient.
            false => ops::layer_norm_slow(x, &self.weight, &self.bias, LAYER_NORM_EPSILON),
        }
    }
}

struct Normalise;

impl Normalise {
    /// The inputs of the engine's operation, which first adds a branch and its bias: here zeros.
    fn operands(x: &Tensor, weight: &Tensor, shift: &Tensor) -> Result<(Tensor, AddNorm)> {
        let (weight, shift) = (weight.clone(), shift.clone());
        Ok((x.zeros_like()?, AddNorm { bias: shift.zeros_like()?, weight, shift }))
    }
}

impl CustomOp3 for Normalise {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        of_x: &Layout,
        weight: &CpuStorage,
        of_weight: &Layout,
        shift: &CpuStorage,
        of_shift: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let tensor = |storage: &CpuStorage, layout: &Layout| {
            Tensor::from_slice(values(storage, layout)?, layout.shape(), &Device::Cpu)
        };
        let x = tensor(x, of_x)?;
        let (branch, parameters) =
            Self::operands(&x, &tensor(weight, of_weight)?, &tensor(shift, of_shift)?)?;
        let normed = add_norm(&x, &branch, &parameters, DropoutMask::NONE)?;
        Ok((CpuStorage::F32(normed.flatten_all()?.to_vec1()?), of_x.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        shift: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (branch, parameters) = Self::operands(x, weight, shift)?;
        let AddNormBack { x, weight, shift, .. } =
            add_norm_back(x, &branch, &parameters, DropoutMask::NONE, gradient)?;
        Ok((Some(x), Some(weight), Some(shift)))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;
    use crate::network::assert_agree;

    #[test]
    fn values_and_gradients_equal_those_of_candles_operations() -> Result<()> {
        let device = &Device::Cpu;
        let x = Var::randn(1f32, 2.0, (2, 3, 8), device)?;
        let [weight, bias] = [Var::randn(1f32, 0.5, 8, device)?, Var::randn(0f32, 1.0, 8, device)?];
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let known = ops::layer_norm_slow(&x, &w, &b, LAYER_NORM_EPSILON)?;
        let found = LayerNorm { weight: w, bias: b }.forward(&x)?;
        assert_agree(&found, &known, &[&x, &weight, &bias], [1e-5; 2])
    }
}
