//! The paper's encoder (section 3.2): a post-norm transformer over 77 tokens and a CLS token,
//! projected and scaled to unit length; its sizes and parameters, the network, and its gradient.
//!
//! Layers are PyTorch's `nn.TransformerEncoderLayer` in its default form. Parameters have the names
//! of the authors' published code, so that a checkpoint converts key by key.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use azimuth_chess::tokens::{self, Tokens};
use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::Linear;
use serde::{Deserialize, Serialize};

use crate::fused::{self, AddNorm, Attention, DropoutMask, Gelu, Operations, Residual};
use crate::normalize::normalize;
use crate::parameters::{Init, ParameterSpec, Parameters, linear};

/// Length of a sequence: the tokens and CLS.
pub const LENGTH: usize = tokens::LEN + 1;

/// Id of CLS, the first token of every sequence: the row after those of the vocabulary.
const CLS: u8 = tokens::VOCABULARY as u8;

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
        let normal =
            |name: &str, shape: &[usize]| ParameterSpec::new(name, shape, Init::Normal(1.0));
        let mut specs = vec![
            normal("embedding.weight", &[tokens::VOCABULARY, hidden]),
            normal("cls_token", &[1, 1, hidden]),
            normal("positional_encoding", &[1, LENGTH, hidden]),
        ];
        for layer in 0..self.layers {
            let name = |part: &str| layer_name(layer, part);
            let constant = |part: &str, size: usize, value: f32| {
                ParameterSpec::new(name(part), &[size], Init::Constant(value))
            };
            // Xavier uniform over the packed (3H, H) matrix, as in nn.MultiheadAttention.
            let xavier = Init::Uniform((6.0 / (4 * hidden) as f32).sqrt());
            let in_weight = name("self_attn.in_proj_weight");
            let [out_weight, _] = linear(&name("self_attn.out_proj"), hidden, hidden);
            specs.extend([
                ParameterSpec::new(in_weight, &[3 * hidden, hidden], xavier),
                constant("self_attn.in_proj_bias", 3 * hidden, 0.0),
                out_weight,
                constant("self_attn.out_proj.bias", hidden, 0.0),
            ]);
            specs.extend(linear(&name("linear1"), hidden, self.mlp));
            specs.extend(linear(&name("linear2"), self.mlp, hidden));
            for norm in ["norm1", "norm2"] {
                specs.push(constant(&format!("{norm}.weight"), hidden, 1.0));
                specs.push(constant(&format!("{norm}.bias"), hidden, 0.0));
            }
        }
        specs.extend(linear("projection", hidden, self.embedding_dim));
        specs
    }
}

/// Dropout of a training step. It drops the same values on every device.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    rate: f32,
    seed: u64,
}

/// The places of a layer where values are dropped, as in PyTorch.
#[derive(Clone, Copy)]
enum Site {
    Weights,
    Attended,
    Widened,
    Narrowed,
}

impl Dropout {
    /// Drops nothing.
    pub const NONE: Self = Self { rate: 0.0, seed: 0 };

    /// Drops values with probability `rate`, in [0, 1).
    pub fn new(rate: f32, seed: u64) -> Self {
        Self { rate, seed }
    }

    fn mask(self, layer: usize, site: Site) -> DropoutMask {
        let place = 4 * layer as u64 + site as u64 + 1;
        DropoutMask::new(self.rate, self.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[derive(Clone)]
struct Layer {
    in_weight: Tensor,
    in_bias: Tensor,
    out_weight: Tensor,
    norm1: AddNorm,
    weight1: Tensor,
    bias1: Tensor,
    weight2: Tensor,
    norm2: AddNorm,
}

/// The transformer as a function of its parameters; training and inference share it. Its gradient
/// is written by hand, layer by layer, because candle's differentiation fills and adds a tensor of
/// zeros for every intermediate tensor.
#[derive(Clone)]
pub struct Transformer {
    operations: Operations,
    heads: usize,
    embedding: Tensor,
    cls_token: Tensor,
    positional_encoding: Tensor,
    layers: Vec<Layer>,
    projection: Linear,
}

/// The state that a backward pass needs from the forward pass.
pub struct Trace {
    ids: Tensor,
    dropout: Dropout,
    layers: Vec<LayerTrace>,
    cls: Tensor,
    /// Lengths of the embeddings before they were scaled to 1, (batch, 1).
    lengths: Tensor,
    /// Unit embeddings, (batch x D), f32.
    pub z: Tensor,
}

/// A layer's input and the result of each of its matrix products and operations, (rows, width).
/// After attention the last layer keeps only the rows of CLS.
struct LayerTrace {
    x: Tensor,
    packed: Tensor,
    /// The input's rows that are kept after attention.
    kept: Tensor,
    mixed: Tensor,
    attended: Tensor,
    normed: Tensor,
    wide: Tensor,
    activated: Tensor,
    narrowed: Tensor,
}

impl Transformer {
    /// Builds the network over `parameters`; it sees later changes of their variables.
    pub fn new(config: &TransformerConfig, parameters: &Parameters) -> Result<Self> {
        let layer = |index: usize| -> Result<Layer> {
            let get = |part: &str| parameters.get(&layer_name(index, part));
            let norm = |norm: &str, product: &str| -> Result<AddNorm> {
                Ok(AddNorm {
                    bias: get(&format!("{product}.bias"))?,
                    weight: get(&format!("{norm}.weight"))?,
                    shift: get(&format!("{norm}.bias"))?,
                })
            };
            Ok(Layer {
                in_weight: get("self_attn.in_proj_weight")?,
                in_bias: get("self_attn.in_proj_bias")?,
                out_weight: get("self_attn.out_proj.weight")?,
                norm1: norm("norm1", "self_attn.out_proj")?,
                weight1: get("linear1.weight")?,
                bias1: get("linear1.bias")?,
                weight2: get("linear2.weight")?,
                norm2: norm("norm2", "linear2")?,
            })
        };
        Ok(Self {
            operations: Operations::default(),
            heads: config.heads,
            embedding: parameters.get("embedding.weight")?,
            cls_token: parameters.get("cls_token")?,
            positional_encoding: parameters.get("positional_encoding")?,
            layers: (0..config.layers).map(layer).collect::<Result<_>>()?,
            projection: parameters.linear("projection")?,
        })
    }

    /// The same network with other operations.
    pub fn with(&self, operations: Operations) -> Self {
        Self { operations, ..self.clone() }
    }

    /// Unit embeddings (batch x D, f32) of the sequences `ids` (batch x 78, u8), see [`token_ids`].
    pub fn forward(&self, ids: &Tensor) -> candle_core::Result<Tensor> {
        let cls = self.layers(ids, Dropout::NONE, drop)?;
        Ok(normalize(&self.project(&cls)?)?.1)
    }

    /// Unit embeddings with dropout. Returns the state that [`Self::backward`] needs.
    pub fn forward_traced(&self, ids: &Tensor, dropout: Dropout) -> candle_core::Result<Trace> {
        let mut layers = Vec::with_capacity(self.layers.len());
        let cls = self.layers(ids, dropout, |trace| layers.push(trace))?;
        let (lengths, z) = normalize(&self.project(&cls)?)?;
        Ok(Trace { ids: ids.clone(), dropout, layers, cls, lengths, z })
    }

    /// The CLS row of every sequence after all layers, (batch x H); `keep` receives each layer's
    /// trace.
    fn layers(
        &self,
        ids: &Tensor,
        dropout: Dropout,
        mut keep: impl FnMut(LayerTrace),
    ) -> candle_core::Result<Tensor> {
        let mut x = self.embed(ids)?;
        for index in 0..self.layers.len() {
            let (trace, out) = self.layer(index, x, dropout)?;
            keep(trace);
            x = out;
        }
        Ok(x)
    }

    /// Token embedding plus positional encoding, (batch x 78, H).
    fn embed(&self, ids: &Tensor) -> candle_core::Result<Tensor> {
        let hidden = self.embedding.dim(1)?;
        let table = Tensor::cat(&[&self.embedding, &self.cls_token.reshape((1, hidden))?], 0)?;
        fused::embed(self.operations, ids, &table, &self.positional_encoding.squeeze(0)?)
    }

    /// A layer's result and its trace. The last layer computes only CLS after attention.
    fn layer(
        &self,
        index: usize,
        x: Tensor,
        dropout: Dropout,
    ) -> candle_core::Result<(LayerTrace, Tensor)> {
        let layer = &self.layers[index];
        let mask = |site| dropout.mask(index, site);
        let packed = x.matmul(&layer.in_weight.t()?)?;
        let by_sample = sequences(&packed)?;
        let operations = self.operations;
        let attention = self.attention(layer, &by_sample, mask(Site::Weights));
        let mixed = fused::attention(operations, attention)?.flatten(0, 1)?;
        let (kept, mixed) = match self.is_last(index) {
            true => (cls_rows(&x)?, cls_rows(&mixed)?),
            false => (x.clone(), mixed),
        };
        let attended = mixed.matmul(&layer.out_weight.t()?)?;
        let dropped = mask(Site::Attended);
        let residual = Residual { x: &kept, branch: &attended, norm: &layer.norm1, mask: dropped };
        let normed = fused::add_norm(operations, residual)?;
        let wide = normed.matmul(&layer.weight1.t()?)?;
        let gelu = Gelu { x: &wide, bias: &layer.bias1, mask: mask(Site::Widened) };
        let activated = fused::gelu(operations, gelu)?;
        let narrowed = activated.matmul(&layer.weight2.t()?)?;
        let dropped = mask(Site::Narrowed);
        let residual =
            Residual { x: &normed, branch: &narrowed, norm: &layer.norm2, mask: dropped };
        let out = fused::add_norm(operations, residual)?;
        let trace =
            LayerTrace { x, packed, kept, mixed, attended, normed, wide, activated, narrowed };
        Ok((trace, out))
    }

    fn attention<'a>(
        &self,
        layer: &'a Layer,
        packed: &'a Tensor,
        mask: DropoutMask,
    ) -> Attention<'a> {
        Attention { packed, bias: &layer.in_bias, heads: self.heads, mask }
    }

    fn is_last(&self, layer: usize) -> bool {
        layer + 1 == self.layers.len()
    }

    /// Projection of CLS into the space (batch x D), f32, before normalisation.
    fn project(&self, cls: &Tensor) -> candle_core::Result<Tensor> {
        self.projection.forward(cls)?.to_dtype(DType::F32)
    }

    /// Gradients of every parameter by name, given the gradient of the embeddings (batch x D, f32).
    pub fn backward(
        &self,
        trace: Trace,
        gradient: &Tensor,
    ) -> candle_core::Result<HashMap<String, Tensor>> {
        let mut found = HashMap::new();
        // For z = y / |y|: dy = (dz - z (z · dz)) / |y|.
        let along = (&trace.z * gradient)?.sum_keepdim(D::Minus1)?;
        let slopes = (gradient - trace.z.broadcast_mul(&along)?)?.broadcast_div(&trace.lengths)?;
        let slopes = slopes.to_dtype(trace.cls.dtype())?;
        product_back("projection", &slopes, &trace.cls, &mut found)?;
        let mut slopes = slopes.matmul(self.projection.weight())?;
        let dropout = trace.dropout;
        for (index, trace) in trace.layers.into_iter().enumerate().rev() {
            slopes = self.layer_back(index, &trace, dropout, &slopes, &mut found)?;
        }
        self.embed_back(&trace.ids, &slopes, &mut found)?;
        Ok(found)
    }

    /// The gradient of a layer's input, given the gradient of its result.
    fn layer_back(
        &self,
        index: usize,
        trace: &LayerTrace,
        dropout: Dropout,
        slopes: &Tensor,
        found: &mut HashMap<String, Tensor>,
    ) -> candle_core::Result<Tensor> {
        let LayerTrace { x, packed, kept, mixed, attended, normed, wide, activated, narrowed } =
            trace;
        let layer = &self.layers[index];
        let name = |part: &str| layer_name(index, part);
        let mask = |site| dropout.mask(index, site);

        let dropped = mask(Site::Narrowed);
        let residual = Residual { x: normed, branch: narrowed, norm: &layer.norm2, mask: dropped };
        let norm2 = fused::add_norm_back(residual, slopes)?;
        product_back(&name("linear2"), &norm2.branch, activated, found)?;
        let slopes = norm2.branch.matmul(&layer.weight2)?;
        let gelu = Gelu { x: wide, bias: &layer.bias1, mask: mask(Site::Widened) };
        let slopes = fused::gelu_back(gelu, &slopes)?;
        product_back(&name("linear1"), &slopes, normed, found)?;
        let slopes = (norm2.x + slopes.matmul(&layer.weight1)?)?;

        let dropped = mask(Site::Attended);
        let residual = Residual { x: kept, branch: attended, norm: &layer.norm1, mask: dropped };
        let norm1 = fused::add_norm_back(residual, &slopes)?;
        product_back(&name("self_attn.out_proj"), &norm1.branch, mixed, found)?;
        let slopes = norm1.branch.matmul(&layer.out_weight)?;
        let (direct, slopes) = match self.is_last(index) {
            true => (among_zeros(&norm1.x)?, among_zeros(&slopes)?),
            false => (norm1.x, slopes),
        };
        let by_sample = sequences(packed)?;
        let attention = self.attention(layer, &by_sample, mask(Site::Weights));
        let slopes = fused::attention_back(attention, &sequences(&slopes)?)?.flatten(0, 1)?;
        found.insert(name("self_attn.in_proj_weight"), slopes.t()?.matmul(x)?);
        found.insert(name("self_attn.in_proj_bias"), fused::column_sums(&slopes)?);
        for (norm, slopes) in
            [("norm1", (norm1.weight, norm1.shift)), ("norm2", (norm2.weight, norm2.shift))]
        {
            found.insert(name(&format!("{norm}.weight")), slopes.0);
            found.insert(name(&format!("{norm}.bias")), slopes.1);
        }
        direct + slopes.matmul(&layer.in_weight)?
    }

    /// The gradient of a token's row is the sum of the gradients at its occurrences. It is computed
    /// as a product with a one-hot matrix, because candle sums rows with few threads on a device.
    fn embed_back(
        &self,
        ids: &Tensor,
        slopes: &Tensor,
        found: &mut HashMap<String, Tensor>,
    ) -> candle_core::Result<()> {
        let (rows, hidden) = slopes.dims2()?;
        let all = Tensor::arange(0u8, CLS + 1, ids.device())?.unsqueeze(0)?;
        let present = ids.reshape((rows, 1))?.broadcast_eq(&all)?.to_dtype(slopes.dtype())?;
        let table = present.t()?.matmul(slopes)?;
        let positional = fused::column_sums(&slopes.reshape((rows / LENGTH, LENGTH * hidden))?)?;
        found.insert("embedding.weight".to_owned(), table.narrow(0, 0, tokens::VOCABULARY)?);
        let cls = table.narrow(0, tokens::VOCABULARY, 1)?;
        found.insert("cls_token".to_owned(), cls.reshape((1, 1, hidden))?);
        found.insert("positional_encoding".to_owned(), positional.reshape((1, LENGTH, hidden))?);
        Ok(())
    }
}

/// Reshapes (batch x 78, width) to (batch, 78, width).
fn sequences(rows: &Tensor) -> candle_core::Result<Tensor> {
    let (count, width) = rows.dims2()?;
    rows.reshape((count / LENGTH, LENGTH, width))
}

/// The rows of CLS, (batch, width), of (batch x 78, width).
fn cls_rows(rows: &Tensor) -> candle_core::Result<Tensor> {
    sequences(rows)?.narrow(1, 0, 1)?.squeeze(1)?.contiguous()
}

/// The rows of CLS with rows of zeros for the other tokens, the gradient of [`cls_rows`].
fn among_zeros(cls: &Tensor) -> candle_core::Result<Tensor> {
    let (batch, width) = cls.dims2()?;
    let others = Tensor::zeros((batch, LENGTH - 1, width), cls.dtype(), cls.device())?;
    Tensor::cat(&[&cls.unsqueeze(1)?, &others], 1)?.flatten(0, 1)
}

/// Records the gradients of the weight and bias of `x W' + b`, given the gradient of the result.
fn product_back(
    name: &str,
    slopes: &Tensor,
    x: &Tensor,
    found: &mut HashMap<String, Tensor>,
) -> candle_core::Result<()> {
    found.insert(format!("{name}.weight"), slopes.t()?.matmul(x)?);
    found.insert(format!("{name}.bias"), fused::column_sums(slopes)?);
    Ok(())
}

/// A batch of tokens as a (batch x 78) u8 tensor, CLS first.
pub fn token_ids(batch: &[Tokens], device: &Device) -> candle_core::Result<Tensor> {
    Tensor::from_iter(sequences_of(batch), device)?.reshape((batch.len(), LENGTH))
}

/// The concatenated sequences of a batch, each starting with CLS.
pub fn sequences_of(batch: &[Tokens]) -> impl Iterator<Item = u8> {
    batch.iter().flat_map(|tokens| std::iter::once(CLS).chain(*tokens))
}

#[cfg(test)]
mod tests {
    use candle_core::safetensors;

    use super::*;

    /// Written by `tests/python/make_transformer_fixture.py` with PyTorch.
    const FIXTURE: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/transformer.safetensors");

    /// The sizes of the fixture.
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

    /// Sizes for gradients.
    const SMALL: TransformerConfig =
        TransformerConfig { layers: 2, hidden: 8, heads: 2, mlp: 12, embedding_dim: 5 };

    fn wave(shape: &[usize], step: f32) -> Result<Tensor> {
        Ok((crate::fused::tests::wave(shape, step)? * 0.4)?)
    }

    fn parameters() -> Result<HashMap<String, Tensor>> {
        let named =
            SMALL.parameters().into_iter().enumerate().map(|(index, spec)| {
                Ok((spec.name, wave(&spec.shape, 0.31 + index as f32 * 0.07)?))
            });
        named.collect()
    }

    /// A weighted sum of the embeddings. Its central differences are compared with the gradients.
    fn loss(parameters: &HashMap<String, Tensor>, ids: &Tensor, dropout: Dropout) -> Result<f32> {
        let network = Transformer::new(&SMALL, &Parameters::new(parameters.clone()))?;
        let z = network.forward_traced(ids, dropout)?.z;
        Ok((&z * wave(z.dims(), 0.77)?)?.sum_all()?.to_scalar()?)
    }

    #[test]
    fn the_gradient_is_that_of_the_values() -> Result<()> {
        let board = cozy_chess::Board::default();
        let start = tokens::tokenize(&board, 0);
        let ids = token_ids(&[start, tokens::tokenize(&board, 30)], &Device::Cpu)?;
        let mut parameters = parameters()?;
        for dropout in [Dropout::NONE, Dropout::new(0.2, 11)] {
            let network = Transformer::new(&SMALL, &Parameters::new(parameters.clone()))?;
            let trace = network.forward_traced(&ids, dropout)?;
            let slopes = wave(trace.z.dims(), 0.77)?;
            let found = network.backward(trace, &slopes)?;
            assert_eq!(found.len(), parameters.len());
            for spec in SMALL.parameters() {
                let whole = parameters[&spec.name].clone();
                let gradient = found[&spec.name].clone();
                assert_eq!(gradient.dims(), whole.dims(), "{}", spec.name);
                // In the direction of the gradient, the loss rises by the gradient's length.
                let length = gradient.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>()?;
                let direction = (&gradient / f64::from(length.max(1e-6)))?;
                let mut moved = |by: f64| -> Result<f32> {
                    parameters.insert(spec.name.clone(), (&whole + (&direction * by)?)?);
                    loss(&parameters, &ids, dropout)
                };
                let slope = (moved(1e-2)? - moved(-1e-2)?) / 2e-2;
                let error = (slope - length).abs();
                assert!(error < 0.02 * length + 2e-3, "{}: {slope}, {length}", spec.name);
                parameters.insert(spec.name, whole);
            }
        }
        Ok(())
    }
}
