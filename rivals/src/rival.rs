//! The eight rivals by name: how to train each, and how to build its planner.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use azimuth_search::Planner;
use azimuth_search::names::name_of;
use clap::ValueEnum;

use crate::play::Play;
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
    /// Trains the rival and writes its weights.
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

    /// The planner that uses the weights in `path`, or the shipped weights if `None`. Fails if
    /// `play` remembers positions and this rival has no alpha-beta search.
    pub fn planner(self, path: Option<&Path>, play: &Play) -> Result<Box<dyn Planner>> {
        ensure!(
            play.remembered == 0 || self.has_alpha_beta(),
            "{}: --remember: it has no alpha-beta search",
            name_of(&self)
        );
        let weights = self.weights(path)?;
        let Some(weights) = &weights else { return Ok(heuristic::planner(play)) };
        match self {
            Self::Heuristic => Ok(heuristic::planner(play)),
            Self::DeepChess => deepchess::planner(weights, play),
            Self::QLearning => qlearning::planner(weights, &play.device),
            Self::Diffusion => diffusion::planner(weights, &play.device),
            Self::Policy => policy::planner(weights, &play.device),
            Self::TwoHead => twohead::planner(weights, &play.device),
            Self::Value => value::planner(weights, play),
            Self::Nnue => nnue::planner(weights, play),
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

    /// The weights file included in the program.
    fn shipped(self) -> Option<&'static [u8]> {
        // Statics, because the contents of constants are copied into each function that inlines
        // this one.
        static DEEPCHESS: &[u8] = include_bytes!("../weights/deepchess.safetensors");
        static QLEARNING: &[u8] = include_bytes!("../weights/qlearning.safetensors");
        static DIFFUSION: &[u8] = include_bytes!("../weights/diffusion.safetensors");
        static POLICY: &[u8] = include_bytes!("../weights/policy.safetensors");
        static TWOHEAD: &[u8] = include_bytes!("../weights/twohead.safetensors");
        static VALUE: &[u8] = include_bytes!("../weights/value.safetensors");
        static NNUE: &[u8] = include_bytes!("../weights/nnue.safetensors");
        Some(match self {
            Self::Heuristic => return None,
            Self::DeepChess => DEEPCHESS,
            Self::QLearning => QLEARNING,
            Self::Diffusion => DIFFUSION,
            Self::Policy => POLICY,
            Self::TwoHead => TWOHEAD,
            Self::Value => VALUE,
            Self::Nnue => NNUE,
        })
    }

    fn has_alpha_beta(self) -> bool {
        matches!(self, Self::DeepChess | Self::Heuristic | Self::Value | Self::Nnue)
    }

    /// Whether the rival predicts only a move and no value of a position.
    pub fn is_policy(self) -> bool {
        matches!(self, Self::Policy | Self::Diffusion)
    }
}
