//! The initial parameters of a run: candle's distributions, sampled with the run's seed, since
//! candle's CPU generator cannot be seeded.

use candle_core::{DType, Device, Result, Shape, Tensor, Var, bail};
use candle_nn::init::NormalOrUniform;
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder, VarMap};
use rand::distr::Distribution;
use rand::{SeedableRng, distr};
use rand_distr::Normal;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A builder that creates parameters on `device` and stores them in `parameters`. A parameter's
/// initial value depends only on `seed` and its name, not on the order of creation.
pub fn first_parameters(parameters: &VarMap, seed: u64, device: &Device) -> VarBuilder<'static> {
    let seeded = Seeded { parameters: parameters.clone(), seed };
    VarBuilder::from_backend(Box::new(seeded), DType::F32, device.clone())
}

struct Seeded {
    parameters: VarMap,
    seed: u64,
}

impl Seeded {
    /// `count` numbers for the parameter `name`, distributed as `init` says.
    fn draw(&self, count: usize, shape: &Shape, name: &str, init: Init) -> Result<Vec<f32>> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ hash(name));
        let mut uniform = |low: f64, high: f64| -> Result<Vec<f32>> {
            let range = distr::Uniform::new(low, high).map_err(candle_core::Error::wrap)?;
            Ok((0..count).map(|_| range.sample(&mut rng) as f32).collect())
        };
        match init {
            Init::Const(value) => Ok(vec![value as f32; count]),
            Init::Uniform { lo, up } => uniform(lo, up),
            Init::Kaiming { dist: NormalOrUniform::Uniform, fan, non_linearity } => {
                let bound = non_linearity.gain() * (3.0 / fan.for_shape(shape) as f64).sqrt();
                uniform(-bound, bound)
            }
            Init::Kaiming { dist: NormalOrUniform::Normal, fan, non_linearity } => {
                let deviation = non_linearity.gain() / (fan.for_shape(shape) as f64).sqrt();
                normal(0.0, deviation, count, &mut rng)
            }
            Init::Randn { mean, stdev } => normal(mean, stdev, count, &mut rng),
        }
    }
}

fn normal(
    mean: f64,
    deviation: f64,
    count: usize,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Vec<f32>> {
    let normal = Normal::new(mean, deviation).map_err(candle_core::Error::wrap)?;
    Ok((0..count).map(|_| normal.sample(rng) as f32).collect())
}

/// FNV-1a, a hash that does not change between releases of the standard library.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl SimpleBackend for Seeded {
    fn get(
        &self,
        shape: Shape,
        name: &str,
        init: Init,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        if !self.contains_tensor(name) {
            let values = self.draw(shape.elem_count(), &shape, name, init)?;
            let tensor = Tensor::from_vec(values, &shape, device)?.to_dtype(dtype)?;
            let mut parameters = self.parameters.data().lock().map_err(poisoned)?;
            parameters.insert(name.to_owned(), Var::from_tensor(&tensor)?);
        }
        self.parameters.get(shape, name, init, dtype, device)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        bail!("parameter '{name}': a first parameter needs a shape")
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.parameters.data().lock().is_ok_and(|parameters| parameters.contains_key(name))
    }
}

fn poisoned<T>(_: std::sync::PoisonError<T>) -> candle_core::Error {
    candle_core::Error::Msg("parameters are lost: another thread panicked".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, name: &str, init: Init) -> Vec<f32> {
        let vb = first_parameters(&VarMap::new(), seed, &Device::Cpu);
        let tensor = vb.get_with_hints((64, 50), name, init).expect("a parameter");
        tensor.flatten_all().and_then(|flat| flat.to_vec1()).expect("numbers")
    }

    #[test]
    fn a_seed_and_a_name_say_all() {
        let init = Init::Randn { mean: 0.0, stdev: 1.0 };
        let first = drawn(1, "a", init);
        assert_eq!(first, drawn(1, "a", init));
        assert_ne!(first, drawn(2, "a", init));
        assert_ne!(first, drawn(1, "b", init));
    }

    #[test]
    fn numbers_are_distributed_as_asked() {
        // 3,200 numbers: means are within 4 standard errors, and deviations within 6%.
        let check = |init: Init, mean: f64, deviation: f64| {
            let values: Vec<f64> = drawn(1, "a", init).into_iter().map(f64::from).collect();
            let count = values.len() as f64;
            let found = values.iter().sum::<f64>() / count;
            let square = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count;
            assert!((found - mean).abs() <= 4.0 * deviation / count.sqrt(), "{init:?}: {found}");
            assert!((square.sqrt() - deviation).abs() <= 0.06 * deviation, "{init:?}: {square}");
        };
        assert!(drawn(1, "a", Init::Const(0.3)).iter().all(|&value| value == 0.3));
        check(Init::Uniform { lo: -1.0, up: 3.0 }, 1.0, 4.0 / 12_f64.sqrt());
        check(Init::Randn { mean: 2.0, stdev: 0.5 }, 2.0, 0.5);
        // ReLU's gain over 50 inputs.
        check(candle_nn::init::DEFAULT_KAIMING_UNIFORM, 0.0, 0.2);
        check(candle_nn::init::DEFAULT_KAIMING_NORMAL, 0.0, 0.2);
    }
}
