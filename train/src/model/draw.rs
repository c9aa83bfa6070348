//! Initial values of parameters.

use anyhow::Result;
use azimuth_network::parameters::{Init, ParameterSpec};
use candle_core::{Device, Var};
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

/// `count` random values with the distribution `init`.
pub fn draw(init: Init, count: usize, rng: &mut Xoshiro256PlusPlus) -> Result<Vec<f32>> {
    Ok(match init {
        Init::Constant(value) => vec![value; count],
        Init::Normal(deviation) => {
            Normal::new(0.0, deviation)?.sample_iter(rng).take(count).collect()
        }
        Init::Uniform(bound) => {
            Uniform::new_inclusive(-bound, bound)?.sample_iter(rng).take(count).collect()
        }
    })
}

/// A parameter that is optimised as one dense tensor.
pub fn variable(
    spec: &ParameterSpec,
    device: &Device,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Var> {
    let values = draw(spec.init, spec.shape.iter().product(), rng)?;
    Ok(Var::from_vec(values, spec.shape.as_slice(), device)?)
}
