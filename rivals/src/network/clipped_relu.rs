//! The clipped ReLU, min(max(x, 0), 1), with its gradient. Candle's clamp makes a dozen temporary
//! tensors for it.

use azimuth_network::tensor_slices::{values, with_values};
use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};

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

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

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
}
