//! The network for play, quantised: 16-bit sums, and layers of 8-bit weights times 7-bit
//! activations. Each table has the largest scale that fits its integer type. A weights file holds
//! the integers and the scales.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, IndexOp, Tensor};

use super::features::FEATURES;
use super::model::NnueConfig;
use crate::weights::RivalWeights;

/// The integer that represents 1 in the activations.
const ONE: f32 = 127.0;

/// Upper bound on the number of addends in a sum: the rows and the bias.
const ADDENDS: f32 = 31.0;

/// The largest scale of the table; a finer one does not improve play.
const FINEST_TABLE: f32 = 1024.0;

/// Names of the layers after the first.
const LAYERS: [&str; 3] = ["first", "second", "value"];

/// Quantises a trained network.
pub fn quantise(weights: RivalWeights) -> Result<RivalWeights> {
    let tensor = |name: String| {
        weights.tensors.get(&name).cloned().with_context(|| format!("'{name}' is missing"))
    };
    let mut integers = HashMap::new();
    let [table, bias] = [tensor("half.weight".to_owned())?, tensor("half.bias".to_owned())?];
    let largest_row = f32::max(largest(&table)?, largest(&bias)?);
    let scale = (f32::from(i16::MAX) / (ADDENDS * largest_row)).min(FINEST_TABLE);
    integers.insert("half.weight".to_owned(), scaled(&table, scale, DType::I16)?);
    integers.insert("half.bias".to_owned(), scaled(&bias, scale, DType::I16)?);
    integers.insert("half.scale".to_owned(), bits(scale)?);
    for name in LAYERS {
        let [weight, bias] = [tensor(format!("{name}.weight"))?, tensor(format!("{name}.bias"))?];
        let scale = f32::from(i8::MAX) / largest(&weight)?;
        integers.insert(format!("{name}.weight"), scaled(&weight, scale, DType::I16)?);
        // A bias is added to products of weights and activations, so it has both their scales.
        integers.insert(format!("{name}.bias"), scaled(&bias, scale * ONE, DType::I32)?);
        integers.insert(format!("{name}.scale"), bits(scale)?);
    }
    Ok(RivalWeights { metadata: weights.metadata, tensors: integers })
}

fn scaled(tensor: &Tensor, scale: f32, dtype: DType) -> Result<Tensor> {
    Ok((tensor * f64::from(scale))?.round()?.to_dtype(DType::I64)?.to_dtype(dtype)?)
}

fn bits(scale: f32) -> Result<Tensor> {
    Ok(Tensor::new(&[scale.to_bits()], &Device::Cpu)?)
}

fn largest(tensor: &Tensor) -> Result<f32> {
    Ok(tensor.abs()?.max_all()?.to_scalar::<f32>()?.max(f32::MIN_POSITIVE))
}

/// The quantised network.
pub struct QuantisedNnue {
    /// Neurons of the first layer for each side.
    pub half: usize,
    table: Vec<i16>,
    bias: Vec<i16>,
    /// The integer that represents 1 in the sums.
    one: f32,
    layers: [Layer; 3],
}

struct Layer {
    inputs: usize,
    weights: Vec<i16>,
    biases: Vec<i32>,
    /// The integer that represents 1 in the products.
    one: f32,
}

impl QuantisedNnue {
    /// Reads the integers. Fails if a tensor is missing or has the wrong shape.
    pub fn new(weights: &RivalWeights) -> Result<Self> {
        let NnueConfig { half, first, second } = weights.config()?;
        let tensor = |name: &str| {
            weights.tensors.get(name).with_context(|| format!("tensor '{name}' is missing"))
        };
        let numbers = |name: &str, count: usize| -> Result<Vec<i64>> {
            let numbers = tensor(name)?.flatten_all()?.to_dtype(DType::I64)?.to_vec1::<i64>()?;
            ensure!(
                numbers.len() == count,
                "'{name}' has {} numbers, expected {count}",
                numbers.len()
            );
            Ok(numbers)
        };
        let short = |name: &str, count: usize| -> Result<Vec<i16>> {
            numbers(name, count)?
                .into_iter()
                .map(|x| i16::try_from(x).with_context(|| format!("'{name}': {x}")))
                .collect()
        };
        let scale = |name: &str| -> Result<f32> {
            let bits = tensor(&format!("{name}.scale"))?.i(0)?.to_scalar::<u32>()?;
            Ok(f32::from_bits(bits))
        };
        let layer = |name: &str, inputs: usize, outputs: usize| -> Result<Layer> {
            let bias = numbers(&format!("{name}.bias"), outputs)?;
            Ok(Layer {
                inputs,
                weights: short(&format!("{name}.weight"), inputs * outputs)?,
                biases: bias.into_iter().map(i32::try_from).collect::<Result<_, _>>()?,
                one: scale(name)? * ONE,
            })
        };
        let [one, two, three] = LAYERS;
        Ok(Self {
            half,
            table: short("half.weight", FEATURES * half)?,
            bias: short("half.bias", half)?,
            one: scale("half")?,
            layers: [
                layer(one, 2 * half, first)?,
                layer(two, first, second)?,
                layer(three, second, 1)?,
            ],
        })
    }

    /// The sums with no active feature: the bias.
    pub fn empty_sums(&self) -> Vec<i16> {
        self.bias.clone()
    }

    /// Adds the row of a feature.
    pub fn add(&self, feature: usize, sums: &mut [i16]) {
        add_row(&self.table[feature * self.half..][..self.half], sums);
    }

    /// Subtracts the row of a feature.
    pub fn subtract(&self, feature: usize, sums: &mut [i16]) {
        subtract_row(&self.table[feature * self.half..][..self.half], sums);
    }

    /// The win probability of the side to move, from its sums and the other side's.
    pub fn win_probability(&self, own: &[i16], other: &[i16]) -> f32 {
        let mut activations = vec![0; 2 * self.half];
        for (sums, activations) in [own, other].into_iter().zip(activations.chunks_mut(self.half)) {
            activate(sums, self.one, activations);
        }
        let [first, second, value] = &self.layers;
        let activations = second.activations(&first.activations(&activations));
        let logit = value.outputs(&activations).next().unwrap_or_default();
        1.0 / (1.0 + (-logit).exp())
    }
}

impl Layer {
    fn outputs(&self, inputs: &[i16]) -> impl Iterator<Item = f32> {
        let rows = self.weights.chunks_exact(self.inputs).zip(&self.biases);
        rows.map(move |(row, &bias)| (dot(row, inputs) + bias) as f32 / self.one)
    }

    fn activations(&self, inputs: &[i16]) -> Vec<i16> {
        self.outputs(inputs).map(activation).collect()
    }
}

/// Clipped ReLU, scaled so that [`ONE`] represents 1, and rounded. (`f32::round` is a function call
/// on processors that lack SSE4.1, for which this program is built.)
#[inline(always)]
fn activation(x: f32) -> i16 {
    (x.clamp(0.0, 1.0) * ONE + 0.5) as i16
}

/// The activations of sums in which `one` represents 1.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn activate(sums: &[i16], one: f32, activations: &mut [i16]) {
    let scale = 1.0 / one;
    for (to, &sum) in activations.iter_mut().zip(sums) {
        *to = activation(f32::from(sum) * scale);
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn add_row(row: &[i16], sums: &mut [i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn subtract_row(row: &[i16], sums: &mut [i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum = sum.wrapping_sub(*value));
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}
