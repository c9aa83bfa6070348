//! The networks of DeepChess.

use candle_core::{D, Device, Module, Result, Tensor};
use candle_nn::VarBuilder;
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use super::bits::{BITS, bits};
use crate::network::{Linear, linear};

/// Layer sizes of the networks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepChessConfig {
    /// Neurons of each encoder layer after the 773 inputs. The output of the last layer is the
    /// code.
    pub encoder: Vec<usize>,
    /// Neurons of each hidden layer of the comparator, between the two codes and its outputs.
    pub comparator: Vec<usize>,
    /// Whether the comparator takes the current and the next position and gives a score, as the
    /// document draws it. If not, it takes any two positions and predicts which one is better.
    #[serde(default)]
    pub score: bool,
}

/// The encoder and the comparator.
pub struct DeepChessNetwork {
    encoder: Vec<Linear>,
    comparator: Vec<Linear>,
    device: Device,
}

impl DeepChessNetwork {
    /// Networks with the parameters `encoder.N` and `comparator.N`.
    pub fn new(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let code = config.encoder.last().copied().unwrap_or(BITS);
        let outputs = if config.score { 1 } else { 2 };
        let comparator = config.comparator.iter().copied().chain([outputs]);
        Ok(Self {
            encoder: stack(BITS, config.encoder.iter().copied(), &vb.pp("encoder"))?,
            comparator: stack(2 * code, comparator, &vb.pp("comparator"))?,
            device: vb.device().clone(),
        })
    }

    /// Number of encoder layers.
    pub fn depth(&self) -> usize {
        self.encoder.len()
    }

    /// The output of the first `layers` encoder layers on boards.
    pub fn encode<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
        layers: usize,
    ) -> Result<Tensor> {
        let layers = self.encoder[..layers].iter();
        layers.fold(bits(boards, &self.device), |hidden, layer| layer.forward(&hidden?)?.relu())
    }

    /// The output of one encoder layer on the output of the layer before it.
    pub fn layer(&self, layer: usize, hidden: &Tensor) -> Result<Tensor> {
        self.encoder[layer].forward(hidden)?.relu()
    }

    /// The codes of boards.
    pub fn codes<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        self.encode(boards, self.encoder.len())
    }

    /// The values for White, in [-1, 1], of the positions with the codes `next` (pairs x code).
    /// Each follows by a move from the position with the code in the same row of `current`.
    pub fn scores(&self, current: &Tensor, next: &Tensor) -> Result<Tensor> {
        self.outputs(current, next)?.squeeze(D::Minus1)?.tanh()
    }

    /// Logits (pairs x 2) that the first and that the second position is better for White.
    pub fn compare(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
        self.outputs(first, second)
    }

    fn outputs(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
        let mut hidden = Tensor::cat(&[first, second], D::Minus1)?;
        for (place, layer) in self.comparator.iter().enumerate() {
            hidden = layer.forward(&hidden)?;
            if place + 1 < self.comparator.len() {
                hidden = hidden.relu()?;
            }
        }
        Ok(hidden)
    }
}

/// Layers with the given numbers of neurons. The parameters of each are named by its index.
fn stack(
    inputs: usize,
    neurons: impl Iterator<Item = usize>,
    vb: &VarBuilder<'_>,
) -> Result<Vec<Linear>> {
    let mut before = inputs;
    let layer =
        |(place, after)| linear(std::mem::replace(&mut before, after), after, &vb.pp(place));
    neurons.enumerate().map(layer).collect()
}
