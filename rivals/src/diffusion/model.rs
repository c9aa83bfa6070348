//! The network: a bidirectional transformer that predicts the original tokens from partly masked
//! ones.

use candle_core::{Device, Module, Result, Tensor};
use candle_nn::{Embedding, Init, VarBuilder, embedding};
use serde::{Deserialize, Serialize};

use super::sequences::{ACTION_TOKENS, STATE, STATE_TOKENS};
use crate::network::{LayerNorm, Linear, attention, linear};

/// Sizes of the network and of its sequences.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffusionConfig {
    /// Number of states in a sequence, and of actions.
    pub horizon: usize,
    /// Number of timesteps of the noise.
    pub timesteps: usize,
    /// Width of the residual stream.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of attention heads in each layer.
    pub heads: usize,
    /// Whether a sequence shows boards and moves from the side that moves first.
    #[serde(default)]
    pub oriented: bool,
}

/// The id of a masked token of a state.
pub const MASKED_STATE: u32 = STATE_TOKENS as u32;

/// The id of a masked action.
pub const MASKED_ACTION: u32 = ACTION_TOKENS as u32;

/// Maps tokens to logits of the original tokens.
pub struct DiffusionNetwork {
    config: DiffusionConfig,
    states: Embedding,
    actions: Embedding,
    places: Tensor,
    layers: Vec<Layer>,
    norm: LayerNorm,
    to_states: Linear,
    to_actions: Linear,
}

struct Layer {
    norms: [LayerNorm; 2],
    packed: Linear,
    mixed: Linear,
    wide: Linear,
    narrow: Linear,
}

impl DiffusionNetwork {
    /// A network with the parameters `states`, `actions`, `places`, `layer.N`, `norm`, `to_states`,
    /// `to_actions`.
    pub fn new(config: DiffusionConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let DiffusionConfig { horizon, width, layers, .. } = config;
        // Positional embeddings start as large as token embeddings, so that masked tokens differ
        // from each other.
        let normal = Init::Randn { mean: 0.0, stdev: 1.0 };
        Ok(Self {
            config,
            states: embedding(STATE_TOKENS + 1, width, vb.pp("states"))?,
            actions: embedding(ACTION_TOKENS + 1, width, vb.pp("actions"))?,
            places: vb.get_with_hints((1, horizon * (STATE + 1), width), "places", normal)?,
            layers: (0..layers)
                .map(|number| Layer::new(width, &vb.pp("layer").pp(number)))
                .collect::<Result<_>>()?,
            norm: LayerNorm::new(width, &vb.pp("norm"))?,
            to_states: linear(width, STATE_TOKENS, &vb.pp("to_states"))?,
            to_actions: linear(width, ACTION_TOKENS, &vb.pp("to_actions"))?,
        })
    }

    /// The sizes.
    pub fn config(&self) -> DiffusionConfig {
        self.config
    }

    /// The device of the parameters.
    pub fn device(&self) -> &Device {
        self.places.device()
    }

    /// Maps `states` (sequences x horizon x 77) and `actions` (sequences x horizon) to logits. The
    /// first result holds the logits of all states but the first (sequences x 77 (horizon - 1) x
    /// 33); it is `None` if the horizon is 1. The second holds the logits of the actions (sequences
    /// x horizon x 4672).
    pub fn forward(&self, states: &Tensor, actions: &Tensor) -> Result<(Option<Tensor>, Tensor)> {
        let (count, horizon) = actions.dims2()?;
        let width = self.config.width;
        let states = self.states.forward(states)?;
        let actions = self.actions.forward(actions)?.unsqueeze(2)?;
        let tokens = Tensor::cat(&[states, actions], 2)?.reshape((count, (), width))?;
        let mut stream = tokens.broadcast_add(&self.places)?;
        for layer in &self.layers {
            stream = layer.forward(&stream, self.config.heads)?;
        }
        let out = self.norm.forward(&stream)?.reshape((count, horizon, STATE + 1, width))?;
        let actions = out.narrow(2, STATE, 1)?.squeeze(2)?.contiguous()?;
        let states = match horizon {
            1 => None,
            _ => {
                let later = out.narrow(1, 1, horizon - 1)?.narrow(2, 0, STATE)?.contiguous()?;
                Some(self.to_states.forward(&later.reshape((count, (), width))?)?)
            }
        };
        Ok((states, self.to_actions.forward(&actions)?))
    }
}

impl Layer {
    fn new(width: usize, vb: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            norms: [
                LayerNorm::new(width, &vb.pp("norm1"))?,
                LayerNorm::new(width, &vb.pp("norm2"))?,
            ],
            packed: linear(width, 3 * width, &vb.pp("packed"))?,
            mixed: linear(width, width, &vb.pp("mixed"))?,
            wide: linear(width, 4 * width, &vb.pp("wide"))?,
            narrow: linear(4 * width, width, &vb.pp("narrow"))?,
        })
    }

    fn forward(&self, stream: &Tensor, heads: usize) -> Result<Tensor> {
        let [before_attention, before_widening] = &self.norms;
        let mixed = attention(&self.packed.forward(&before_attention.forward(stream)?)?, heads)?;
        let stream = (stream + self.mixed.forward(&mixed)?)?;
        let wide = self.wide.forward(&before_widening.forward(&stream)?)?.relu()?;
        stream + self.narrow.forward(&wide)?
    }
}
