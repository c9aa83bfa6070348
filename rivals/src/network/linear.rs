//! A linear layer with a bias. The gradient of the bias is a matrix product: candle's own sum over
//! rows takes longer than all other gradients of the layer.

use candle_core::{Module, Result, Tensor};
use candle_nn::{Init, VarBuilder, init};

/// Maps rows of inputs to rows of outputs.
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
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

impl Linear {
    /// A layer with `weight` (outputs x inputs) and `bias` (outputs).
    pub fn new(weight: Tensor, bias: Tensor) -> Self {
        Self { weight, bias }
    }

    /// The weight (outputs x inputs).
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// The bias (outputs).
    pub fn bias(&self) -> &Tensor {
        &self.bias
    }
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

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;
    use crate::network::assert_agree;

    #[test]
    fn values_and_gradients_equal_those_of_candles_layer() -> Result<()> {
        let device = &Device::Cpu;
        let x = Var::randn(0f32, 1.0, (2, 3, 5), device)?;
        let weight = Var::randn(0f32, 1.0, (4, 5), device)?;
        let bias = Var::randn(0f32, 1.0, 4, device)?;
        let [w, b] = [&weight, &bias].map(|var| var.as_tensor().clone());
        let found = Linear::new(w.clone(), b.clone()).forward(&x)?;
        let known = candle_nn::Linear::new(w, Some(b)).forward(&x)?;
        assert_agree(&found, &known, &[&x, &weight, &bias], [1e-5; 2])
    }
}
