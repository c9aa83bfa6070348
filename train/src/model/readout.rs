//! The read-out of the auxiliary regression, which predicts the win probability from an embedding
//! during training.

use anyhow::Result;
use azimuth_network::parameters::{Init, ParameterSpec};
use candle_core::{Device, Tensor, Var};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draw::variable;
use crate::beginning::{Beginning, READOUT_LENGTH};

/// A direction (D) and a bias.
pub struct Readout {
    direction: Var,
    bias: Var,
}

impl Readout {
    /// A random direction for embeddings of dimension `dim`.
    pub fn new(dim: usize, device: &Device, rng: &mut Xoshiro256PlusPlus) -> Result<Self> {
        let spread = READOUT_LENGTH / (dim as f32).sqrt();
        let mut drawn =
            |name, size, init| variable(&ParameterSpec::new(name, &[size], init), device, rng);
        Ok(Self {
            direction: drawn("readout.direction", dim, Init::Normal(spread))?,
            bias: drawn("readout.bias", 1, Init::Constant(0.0))?,
        })
    }

    /// Its variables with their names in a checkpoint.
    pub fn variables(&self) -> [(String, Var); 2] {
        [("readout.direction", &self.direction), ("readout.bias", &self.bias)]
            .map(|(name, variable)| (name.to_owned(), variable.clone()))
    }

    /// Sets the read-out to that of a weights file.
    pub fn begin(&self, beginning: &Beginning) -> Result<()> {
        let device = self.bias.device();
        let readout = &beginning.readout;
        self.direction.set(&Tensor::from_slice(readout, readout.len(), device)?)?;
        Ok(self.bias.set(&Tensor::new(&[beginning.readout_bias], device)?)?)
    }

    /// The direction.
    pub fn direction(&self) -> &Tensor {
        &self.direction
    }

    /// The bias.
    pub fn bias(&self) -> &Tensor {
        &self.bias
    }
}
