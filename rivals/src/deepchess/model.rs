//! The networks.

use candle_core::{D, Module, Result, Tensor};
use candle_nn::{Linear, VarBuilder, linear};
use cozy_chess::Board;
use serde::{Deserialize, Serialize};

use super::bits::{BITS, bits};

/// Sizes of the networks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepChessConfig {
    /// Neurons of the encoder's layers after the 773 bits; the last is the code.
    pub encoder: Vec<usize>,
    /// Neurons of the comparator's layers after both codes, before its two outputs.
    pub comparator: Vec<usize>,
}

/// The encoder with its decoders, and the comparator.
pub struct DeepChessNetwork {
    encoder: Vec<Linear>,
    comparator: Vec<Linear>,
}

impl DeepChessNetwork {
    /// Networks with the parameters `encoder.N` and `comparator.N`.
    pub fn new(config: &DeepChessConfig, vb: &VarBuilder<'_>) -> Result<Self> {
        let code = config.encoder.last().copied().unwrap_or(BITS);
        let comparator = config.comparator.iter().copied().chain([2]);
        Ok(Self {
            encoder: stack(BITS, config.encoder.iter().copied(), &vb.pp("encoder"))?,
            comparator: stack(2 * code, comparator, &vb.pp("comparator"))?,
        })
    }

    /// Layers of the encoder.
    pub fn depth(&self) -> usize {
        self.encoder.len()
    }

    /// What the first `layers` layers make of boards.
    pub fn encode<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
        layers: usize,
    ) -> Result<Tensor> {
        let layers = self.encoder[..layers].iter();
        layers.fold(bits(boards), |hidden, layer| layer.forward(&hidden?)?.relu())
    }

    /// What one layer makes of the layer before.
    pub fn layer(&self, layer: usize, hidden: &Tensor) -> Result<Tensor> {
        self.encoder[layer].forward(hidden)?.relu()
    }

    /// The codes of boards.
    pub fn codes<'a>(&self, boards: impl ExactSizeIterator<Item = &'a Board>) -> Result<Tensor> {
        self.encode(boards, self.encoder.len())
    }

    /// Logits that the first or the second of two codes is the better for White, pairs x 2.
    pub fn compare(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
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

/// Layers of so many neurons, the parameters of each under its place.
fn stack(
    inputs: usize,
    neurons: impl Iterator<Item = usize>,
    vb: &VarBuilder<'_>,
) -> Result<Vec<Linear>> {
    let mut before = inputs;
    let layer = |(place, after)| linear(std::mem::replace(&mut before, after), after, vb.pp(place));
    neurons.enumerate().map(layer).collect()
}
