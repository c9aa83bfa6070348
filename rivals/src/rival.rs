//! The rivals by name: their training, their planners and the weights in this program.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_search::Planner;
use azimuth_search::names::name_of;
use candle_core::Device;
use clap::ValueEnum;

use crate::training::TrainOptions;
use crate::weights::RivalWeights;
use crate::{deepchess, diffusion, heuristic, nnue, policy, qlearning, twohead, value};

/// The rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rival {
    /// Autoencoder and Siamese comparator under alpha-beta.
    #[value(name = "deepchess")]
    DeepChess,
    /// Hand-written evaluation under alpha-beta.
    Heuristic,
    /// Deep Q-learning.
    #[value(name = "qlearning")]
    QLearning,
    /// DiffuSearch: discrete diffusion over states and actions.
    Diffusion,
    /// Residual policy network.
    Policy,
    /// Policy and value heads under Monte Carlo tree search.
    #[value(name = "twohead")]
    TwoHead,
    /// Residual evaluation network under alpha-beta.
    Value,
    /// HalfKP network with incrementally updated sums, under alpha-beta.
    Nnue,
}

impl Rival {
    /// Trains it. Fails for a rival that learns nothing.
    pub fn train(self, options: &TrainOptions) -> Result<()> {
        match self {
            Self::DeepChess => deepchess::train(options),
            Self::Heuristic => bail!("heuristic: it is written by hand, there is nothing to train"),
            Self::QLearning => qlearning::train(options),
            Self::Diffusion => diffusion::train(options),
            Self::Policy => policy::train(options),
            Self::TwoHead => twohead::train(options),
            Self::Value => value::train(options),
            Self::Nnue => nnue::train(options),
        }
    }

    /// The planner that uses the weights in `path`, or the shipped weights if `None`, on `device`.
    /// Its alpha-beta search remembers `remembered` positions. Fails if that is not 0 and it has no
    /// such search.
    pub fn planner(
        self,
        path: Option<&Path>,
        device: &Device,
        remembered: usize,
    ) -> Result<Box<dyn Planner>> {
        ensure!(
            remembered == 0 || matches!(self, Self::Heuristic | Self::Value | Self::Nnue),
            "{}: --remember: only heuristic, value and nnue remember positions",
            name_of(&self)
        );
        let Some(weights) = &self.weights(path)? else { return heuristic::planner(remembered) };
        match self {
            Self::Heuristic => heuristic::planner(remembered),
            Self::DeepChess => deepchess::planner(weights, device),
            Self::QLearning => qlearning::planner(weights, device),
            Self::Diffusion => diffusion::planner(weights, device),
            Self::Policy => policy::planner(weights, device),
            Self::TwoHead => twohead::planner(weights, device),
            Self::Value => value::planner(weights, device, remembered),
            Self::Nnue => nnue::planner(weights, remembered),
        }
    }

    /// The weights in `path`, or the shipped weights if `None`. Returns `None` for a rival without
    /// weights.
    pub fn weights(self, path: Option<&Path>) -> Result<Option<RivalWeights>> {
        let Some(shipped) = self.shipped() else {
            ensure!(path.is_none(), "{}: it is written by hand and has no weights", name_of(&self));
            return Ok(None);
        };
        let weights = match path {
            Some(path) => RivalWeights::read(path, &name_of(&self))?,
            None => RivalWeights::from_bytes(shipped, &name_of(&self))
                .with_context(|| format!("weights of {} in this program", name_of(&self)))?,
        };
        Ok(Some(weights))
    }

    // Not inlined, because the program would then contain the files several times.
    #[inline(never)]
    fn shipped(self) -> Option<&'static [u8]> {
        let file: &[u8] = match self {
            Self::Heuristic => return None,
            Self::DeepChess => include_bytes!("../weights/deepchess.safetensors"),
            Self::QLearning => include_bytes!("../weights/qlearning.safetensors"),
            Self::Diffusion => include_bytes!("../weights/diffusion.safetensors"),
            Self::Policy => include_bytes!("../weights/policy.safetensors"),
            Self::TwoHead => include_bytes!("../weights/twohead.safetensors"),
            Self::Value => include_bytes!("../weights/value.safetensors"),
            Self::Nnue => include_bytes!("../weights/nnue.safetensors"),
        };
        Some(file)
    }
}
