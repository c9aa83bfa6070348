//! Layers with gradients that are faster on the CPU than candle's: a linear layer, clipped ReLU,
//! layer norm and attention.

use azimuth_network::fused::{
    self, AddNorm, AddNormBack, DropoutMask, LAYER_NORM_EPSILON, add_norm, add_norm_back,
};
use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{
    CpuStorage, CustomOp1, CustomOp3, D, DType, Device, Layout, Module, Result, Shape, Tensor,
};
use candle_nn::ops::{layer_norm_slow, softmax};
use candle_nn::{Init, VarBuilder, init};

/// Maps rows of inputs to rows of outputs. The gradient of the bias is a matrix product: candle's
/// own sum over rows takes longer than all other gradients of the layer.
pub struct Linear {
    /// Outputs x inputs.
    pub weight: Tensor,
    /// Outputs.
    pub bias: Tensor,
}

/// A layer with the parameters `weight` (outputs x inputs) and `bias` (outputs), initialised as
/// candle does.
pub fn linear(inputs: usize, outputs: usize, vb: &VarBuilder<'_>) -> Result<Linear> {
    let bound = 1.0 / (inputs as f64).sqrt();
    Ok(Linear {
        weight: vb.get_with_hints((outputs, inputs), "weight", init::DEFAULT_KAIMING_NORMAL)?,
        bias: vb.get_with_hints(outputs, "bias", Init::Uniform { lo: -bound, up: bound })?,
    })
}

impl Module for Linear {
    /// Maps .. x inputs to .. x outputs.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (outputs, inputs) = self.weight.dims2()?;
        let mut shape = x.dims().to_vec();
        shape.pop();
        let rows = shape.iter().product::<usize>();
        shape.push(outputs);
        let product = x.reshape((rows, inputs))?.matmul(&self.weight.t()?)?;
        let ones = Tensor::ones((rows, 1), x.dtype(), x.device())?;
        (product + ones.matmul(&self.bias.unsqueeze(0)?)?)?.reshape(shape)
    }
}

/// Clips each value to [0, 1].
pub fn clipped_relu(x: &Tensor) -> Result<Tensor> {
    match x.device().is_cpu() {
        true => x.contiguous()?.apply_op1(ClippedRelu),
        false => x.clamp(0f32, 1f32),
    }
}

struct ClippedRelu;

impl CustomOp1 for ClippedRelu {
    fn name(&self) -> &'static str {
        "clipped-relu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let clipped = values(x, layout)?.iter().map(|x| x.clamp(0.0, 1.0)).collect();
        Ok((CpuStorage::F32(clipped), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let of_x = with_values([x, gradient], |[x, gradient]| -> Vec<f32> {
            let of_value = |(&x, &of_output)| if 0.0 < x && x < 1.0 { of_output } else { 0.0 };
            x.iter().zip(gradient).map(of_value).collect()
        })?;
        Tensor::from_vec(of_x, x.shape(), &Device::Cpu).map(Some)
    }
}

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
            false => layer_norm_slow(x, &self.weight, &self.bias, LAYER_NORM_EPSILON),
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

/// Softmax attention with `heads` heads: maps `packed` (batch x length x 3 width), which holds
/// queries, keys and values, to batch x length x width.
pub fn attention(packed: &Tensor, heads: usize) -> Result<Tensor> {
    match packed.device().is_cpu() {
        true => packed.contiguous()?.apply_op1(Attention { heads }),
        false => composed_attention(packed, heads),
    }
}

/// The same by candle's operations, for a device.
fn composed_attention(packed: &Tensor, heads: usize) -> Result<Tensor> {
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

    use super::super::assert_agree;
    use super::*;

    #[test]
    fn values_and_gradients_equal_those_of_candles_layer() -> Result<()> {
        let device = &Device::Cpu;
        let x = Var::randn(0f32, 1.0, (2, 3, 5), device)?;
        let weight = Var::randn(0f32, 1.0, (4, 5), device)?;
        let bias = Var::randn(0f32, 1.0, 4, device)?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = Linear { weight: w.clone(), bias: b.clone() }.forward(&x)?;
        let known = candle_nn::Linear::new(w, Some(b)).forward(&x)?;
        assert_agree(&found, &known, &[&x, &weight, &bias], [1e-5; 2])
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_clamp() -> Result<()> {
        let x = Var::new(&[[-0.5f32, 0.25], [0.75, 1.5]], &Device::Cpu)?;
        let gradient = Tensor::new(&[[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
        let all = [clipped_relu(&x)?, x.clamp(0f32, 1f32)?];
        for out in all {
            assert_eq!(out.to_vec2::<f32>()?, [[0.0, 0.25], [0.75, 1.0]]);
            let gradients = (out * &gradient)?.sum_all()?.backward()?;
            let found = gradients.get(&x).expect("tracked").to_vec2::<f32>()?;
            assert_eq!(found, [[0.0, 2.0], [3.0, 0.0]]);
        }
        Ok(())
    }

    #[test]
    fn values_and_gradients_equal_those_of_candles_layer_norm() -> Result<()> {
        let device = &Device::Cpu;
        let x = Var::randn(1f32, 2.0, (2, 3, 8), device)?;
        let [weight, bias] = [Var::randn(1f32, 0.5, 8, device)?, Var::randn(0f32, 1.0, 8, device)?];
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let known = layer_norm_slow(&x, &w, &b, LAYER_NORM_EPSILON)?;
        let found = LayerNorm { weight: w, bias: b }.forward(&x)?;
        assert_agree(&found, &known, &[&x, &weight, &bias], [1e-5; 2])
    }

    #[test]
    fn a_device_computes_the_same_attention_and_gradients() -> Result<()> {
        let packed = Var::randn(0f32, 1.0, (2, 5, 3 * 8), &Device::Cpu)?;
        let [found, known] = [attention(&packed, 2)?, composed_attention(&packed, 2)?];
        assert_agree(&found, &known, &[&packed], [1e-4; 2])
    }
}
