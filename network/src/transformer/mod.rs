//! The paper's encoder (section 3.2): a post-norm transformer over 77 tokens and a CLS token,
//! projected and scaled to unit length.
//!
//! Layers are PyTorch's `nn.TransformerEncoderLayer` in its default form. Parameters have the names
//! of the authors' published code, so that a checkpoint converts key by key.

mod network;

use anyhow::{Result, ensure};
use azimuth_chess::tokens;
use serde::{Deserialize, Serialize};

use crate::parameters::{Init, ParameterSpec, linear};
pub use network::{Dropout, Trace, Transformer, sequences_of, token_ids};

/// Length of a sequence: the tokens and CLS.
pub const LENGTH: usize = tokens::LEN + 1;

/// Name of a layer's parameter.
fn layer_name(layer: usize, part: &str) -> String {
    format!("transformer.layers.{layer}.{part}")
}

/// Sizes of a transformer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformerConfig {
    /// Encoder layers (the paper's L).
    pub layers: usize,
    /// Width of a token (H).
    pub hidden: usize,
    /// Attention heads (N).
    pub heads: usize,
    /// Width of the feed-forward layer.
    pub mlp: usize,
    /// Dimension of the embedding (D).
    pub embedding_dim: usize,
}

impl TransformerConfig {
    /// The mini of the authors' follow-up (arXiv 2511.09477), 0.8M parameters.
    pub fn mini() -> Self {
        Self { layers: 6, hidden: 128, heads: 8, mlp: 256, embedding_dim: 128 }
    }

    /// The paper's small.
    pub fn small() -> Self {
        Self { layers: 6, hidden: 512, heads: 16, mlp: 512, embedding_dim: 512 }
    }

    /// The paper's base.
    pub fn base() -> Self {
        Self { layers: 6, hidden: 1024, heads: 16, mlp: 1024, embedding_dim: 1024 }
    }

    /// Checks that the sizes are valid.
    pub fn check(&self) -> Result<()> {
        let sizes = [self.layers, self.hidden, self.heads, self.mlp, self.embedding_dim];
        ensure!(sizes.iter().all(|size| (1..=1 << 16).contains(size)), "a size is out of range");
        ensure!(
            self.hidden.is_multiple_of(self.heads),
            "hidden width {} is not a multiple of the {} heads",
            self.hidden,
            self.heads
        );
        Ok(())
    }

    /// Every parameter, with PyTorch's initial distribution.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let hidden = self.hidden;
        let mut specs = vec![
            ParameterSpec::new(
                "embedding.weight",
                &[tokens::VOCABULARY, hidden],
                Init::Normal(1.0),
            ),
            ParameterSpec::new("cls_token", &[1, 1, hidden], Init::Normal(1.0)),
            ParameterSpec::new("positional_encoding", &[1, LENGTH, hidden], Init::Normal(1.0)),
        ];
        for layer in 0..self.layers {
            let name = |part: &str| layer_name(layer, part);
            // Xavier uniform over the packed (3H, H) matrix, as in nn.MultiheadAttention.
            let xavier = (6.0 / (4 * hidden) as f32).sqrt();
            let [out_weight, mut out_bias] = linear(&name("self_attn.out_proj"), hidden, hidden);
            out_bias.init = Init::Constant(0.0);
            specs.extend([
                ParameterSpec::new(
                    name("self_attn.in_proj_weight"),
                    &[3 * hidden, hidden],
                    Init::Uniform(xavier),
                ),
                ParameterSpec::new(
                    name("self_attn.in_proj_bias"),
                    &[3 * hidden],
                    Init::Constant(0.0),
                ),
                out_weight,
                out_bias,
            ]);
            specs.extend(linear(&name("linear1"), hidden, self.mlp));
            specs.extend(linear(&name("linear2"), self.mlp, hidden));
            for norm in ["norm1", "norm2"] {
                let weight = name(&format!("{norm}.weight"));
                specs.push(ParameterSpec::new(weight, &[hidden], Init::Constant(1.0)));
                let bias = name(&format!("{norm}.bias"));
                specs.push(ParameterSpec::new(bias, &[hidden], Init::Constant(0.0)));
            }
        }
        specs.extend(linear("projection", hidden, self.embedding_dim));
        specs
    }
}

#[cfg(test)]
mod tests {
    use azimuth_chess::tokens::Tokens;
    use candle_core::{DType, Device, safetensors};

    use super::*;
    use crate::fused::Operations;
    use crate::parameters::Parameters;

    /// Written by `tests/python/make_transformer_fixture.py` with PyTorch.
    const FIXTURE: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/transformer.safetensors");

    const CONFIG: TransformerConfig =
        TransformerConfig { layers: 2, hidden: 16, heads: 4, mlp: 24, embedding_dim: 12 };

    fn largest_difference(dtype: DType, operations: Operations) -> Result<f32> {
        let tensors = safetensors::load(FIXTURE, &Device::Cpu)?;
        let tokens: Vec<Vec<u32>> = tensors["test.tokens"].to_dtype(DType::U32)?.to_vec2()?;
        let tokens = tokens.iter().map(|ids| std::array::from_fn(|place| ids[place] as u8));
        let ids = token_ids(&tokens.collect::<Vec<Tokens>>(), &Device::Cpu)?;
        let expected = tensors["test.embeddings"].clone();
        let parameters = Parameters::new(tensors).to(&Device::Cpu, dtype)?;
        let embeddings = Transformer::new(&CONFIG, &parameters)?.with(operations).forward(&ids)?;
        Ok((embeddings - expected)?.abs()?.max_all()?.to_scalar()?)
    }

    #[test]
    fn embeddings_equal_pytorchs() -> Result<()> {
        // No operation is fused in 64 bits.
        for (dtype, operations) in [
            (DType::F32, Operations::Fused),
            (DType::F32, Operations::Composed),
            (DType::F64, Operations::Fused),
        ] {
            let difference = largest_difference(dtype, operations)?;
            assert!(difference < 1e-5, "{dtype:?}, {operations:?}: differs by {difference}");
        }
        Ok(())
    }

    #[test]
    fn sizes_are_the_papers() {
        for (config, millions) in [
            (TransformerConfig::mini(), 0.8),
            (TransformerConfig::small(), 9.8),
            (TransformerConfig::base(), 39.0),
        ] {
            let count: usize =
                config.parameters().iter().map(|spec| spec.shape.iter().product::<usize>()).sum();
            let found = count as f64 / 1e6;
            assert!((found - millions).abs() < 0.05 * millions, "{config:?}: {found}M");
        }
    }
}
