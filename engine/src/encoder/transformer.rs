//! The paper's encoder (section 3.2): a post-norm transformer over 77 tokens and a CLS token,
//! projected and scaled to unit length.
//!
//! Layers are PyTorch's `nn.TransformerEncoderLayer` in its default form and parameters carry the
//! names of the authors' published code, so that a checkpoint converts key by key.

use anyhow::{Result, ensure};
use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::{Linear, ops};
use serde::{Deserialize, Serialize};

use super::parameters::{Init, ParameterSpec, Parameters, linear};
use super::{Attributes, Encoder, InputKind, Inputs, Perspective, fused};
use crate::tokens;

const LAYER_NORM_EPS: f64 = 1e-5;

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

    /// Checks that the sizes make a network.
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

    /// Every parameter, with PyTorch's initial distributions.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let hidden = self.hidden;
        let mut specs = vec![
            ParameterSpec::new(
                "embedding.weight",
                &[tokens::VOCABULARY, hidden],
                Init::Normal(1.0),
            ),
            ParameterSpec::new("cls_token", &[1, 1, hidden], Init::Normal(1.0)),
            ParameterSpec::new(
                "positional_encoding",
                &[1, tokens::LEN + 1, hidden],
                Init::Normal(1.0),
            ),
        ];
        for layer in 0..self.layers {
            let name = |part: &str| format!("transformer.layers.{layer}.{part}");
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

/// Drops activations at random when training; see [`Inference`] for no dropout.
pub trait Dropout {
    /// Whether anything is dropped; where nothing is, attention runs as one fused pass on the CPU.
    fn active(&self) -> bool;

    /// `x` with some values set to 0 and the others scaled up.
    fn apply(&mut self, x: Tensor) -> candle_core::Result<Tensor>;
}

/// A forward pass that drops nothing.
pub struct Inference;

impl Dropout for Inference {
    fn active(&self) -> bool {
        false
    }

    fn apply(&mut self, x: Tensor) -> candle_core::Result<Tensor> {
        Ok(x)
    }
}

struct Layer {
    in_proj: Linear,
    out_proj: Linear,
    linear1: Linear,
    linear2: Linear,
    norm1: (Tensor, Tensor),
    norm2: (Tensor, Tensor),
}

/// The transformer as a function of its parameters; training and inference share it.
pub struct Transformer {
    config: TransformerConfig,
    embedding: Tensor,
    cls_token: Tensor,
    positional_encoding: Tensor,
    layers: Vec<Layer>,
    projection: Linear,
}

impl Transformer {
    /// Builds the network over `parameters`; a change of a variable among them is seen at once.
    pub fn new(config: &TransformerConfig, parameters: &Parameters) -> Result<Self> {
        let layer = |index: usize| -> Result<Layer> {
            let name = |part: &str| format!("transformer.layers.{index}.{part}");
            let norm = |part: &str| -> Result<(Tensor, Tensor)> {
                Ok((
                    parameters.get(&name(&format!("{part}.weight")))?,
                    parameters.get(&name(&format!("{part}.bias")))?,
                ))
            };
            Ok(Layer {
                in_proj: Linear::new(
                    parameters.get(&name("self_attn.in_proj_weight"))?,
                    Some(parameters.get(&name("self_attn.in_proj_bias"))?),
                ),
                out_proj: parameters.linear(&name("self_attn.out_proj"))?,
                linear1: parameters.linear(&name("linear1"))?,
                linear2: parameters.linear(&name("linear2"))?,
                norm1: norm("norm1")?,
                norm2: norm("norm2")?,
            })
        };
        Ok(Self {
            config: config.clone(),
            embedding: parameters.get("embedding.weight")?,
            cls_token: parameters.get("cls_token")?,
            positional_encoding: parameters.get("positional_encoding")?,
            layers: (0..config.layers).map(layer).collect::<Result<_>>()?,
            projection: parameters.linear("projection")?,
        })
    }

    /// Unit embeddings (batch x D) of `tokens` (batch x 77, u32).
    pub fn forward(
        &self,
        tokens: &Tensor,
        dropout: &mut impl Dropout,
    ) -> candle_core::Result<Tensor> {
        let (batch, length) = tokens.dims2()?;
        let embedded = self.embedding.embedding(&tokens.flatten_all()?)?.reshape((
            batch,
            length,
            self.config.hidden,
        ))?;
        let cls = self.cls_token.broadcast_as((batch, 1, self.config.hidden))?;
        let mut x = Tensor::cat(&[&cls.contiguous()?, &embedded], 1)?
            .broadcast_add(&self.positional_encoding)?;
        for layer in &self.layers {
            let attended = self.attend(layer, &x, dropout)?;
            let attended = dropout.apply(attended)?;
            x = layer_norm(&(x + attended)?, &layer.norm1.0, &layer.norm1.1)?;
            let widened = gelu(&layer.linear1.forward(&x)?)?;
            let widened = dropout.apply(widened)?;
            let narrowed = dropout.apply(layer.linear2.forward(&widened)?)?;
            x = layer_norm(&(x + narrowed)?, &layer.norm2.0, &layer.norm2.1)?;
        }
        let cls = x.narrow(1, 0, 1)?.squeeze(1)?.contiguous()?;
        normalize(&self.projection.forward(&cls)?)
    }

    fn attend(
        &self,
        layer: &Layer,
        x: &Tensor,
        dropout: &mut impl Dropout,
    ) -> candle_core::Result<Tensor> {
        let (batch, length, hidden) = x.dims3()?;
        let heads = self.config.heads;
        let packed = layer.in_proj.forward(x)?;
        if fuses(x) && !dropout.active() {
            return layer.out_proj.forward(&fused::attention(&packed, heads)?);
        }
        let per_head = hidden / heads;
        // (batch, length, 3H) -> q, k, v of (batch, heads, length, per_head).
        let packed =
            packed.reshape((batch, length, 3, heads, per_head))?.permute((2, 0, 3, 1, 4))?;
        let part = |index: usize| packed.get(index)?.contiguous();
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let scores = (q * (per_head as f64).powf(-0.5))?.matmul(&k.transpose(2, 3)?)?;
        let attention = ops::softmax(&scores, D::Minus1)?;
        let attention = dropout.apply(attention)?;
        let mixed = attention.matmul(&v)?.transpose(1, 2)?.reshape((batch, length, hidden))?;
        layer.out_proj.forward(&mixed)
    }
}

/// Whether the fused operations take `x`.
fn fuses(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32
}

fn gelu(x: &Tensor) -> candle_core::Result<Tensor> {
    if fuses(x) { fused::gelu(x) } else { x.gelu_erf() }
}

fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> candle_core::Result<Tensor> {
    if fuses(x) {
        return fused::layer_norm(x, weight, bias, LAYER_NORM_EPS as f32);
    }
    let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let scaled = centred.broadcast_div(&(variance + LAYER_NORM_EPS)?.sqrt()?)?;
    scaled.broadcast_mul(weight)?.broadcast_add(bias)
}

/// Rows scaled to unit length.
pub(super) fn normalize(x: &Tensor) -> candle_core::Result<Tensor> {
    let norm = (x.sqr()?.sum_keepdim(D::Minus1)? + 1e-12)?.sqrt()?;
    x.broadcast_div(&norm)
}

/// A transformer on a device, ready to encode.
pub struct TransformerEncoder {
    network: Transformer,
    device: Device,
}

impl TransformerEncoder {
    /// Moves `parameters` to `device` in precision `dtype`.
    pub fn new(
        config: &TransformerConfig,
        parameters: &Parameters,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let network = Transformer::new(config, &parameters.to(device, dtype)?)?;
        Ok(Self { network, device: device.clone() })
    }
}

impl Encoder for TransformerEncoder {
    fn attributes(&self) -> Attributes {
        let (recommended_batch, maximum_batch) =
            if self.device.is_cpu() { (32, 256) } else { (1024, 8192) };
        Attributes {
            input: InputKind::Tokens,
            perspective: Perspective::White,
            embedding_dim: self.network.config.embedding_dim,
            recommended_batch,
            maximum_batch,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let Inputs::Tokens(batch) = inputs else {
            unreachable!("the attributes ask for tokens");
        };
        let tokens = token_tensor(batch, &self.device)?;
        let embeddings = self.network.forward(&tokens, &mut Inference)?;
        Ok(embeddings.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
    }
}

/// A batch of tokens as a (batch x 77) u32 tensor.
pub fn token_tensor(batch: &[tokens::Tokens], device: &Device) -> candle_core::Result<Tensor> {
    let ids: Vec<u32> = batch.iter().flatten().map(|&id| u32::from(id)).collect();
    Tensor::from_vec(ids, (batch.len(), tokens::LEN), device)
}
