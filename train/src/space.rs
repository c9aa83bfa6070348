//! Builds a playable space from trained parameters: the directions, the calibration and the
//! metrics.

use std::thread::available_parallelism;

use anyhow::{Result, ensure};
use azimuth_network::axis::{Axis, Direction};
use azimuth_network::calibration::Calibration;
use azimuth_network::parameters::Parameters;
use azimuth_network::weights::Weights;
use azimuth_network::{Architecture, Inputs, Perspective};
use azimuth_search::encoder::Encoder;
use candle_core::{DType, Device};
use serde::Serialize;
use serde_json::Value;

use crate::cpu::side_by_side;
use crate::data::dataset::{Dataset, Datasets, LabelledPositions};
use crate::data::packed::{Label, PackedPosition};
use crate::data::sampler::push_position;
use crate::metrics::Metrics;

/// Maximum number of forced mates, and of positions of all kinds, for computing the directions.
const AXIS_SAMPLE: usize = 200_000;

const KNOTS: usize = 96;

/// Smallest rise of the win probability to the last knot: the calibration is strictly increasing.
const LEAST_RISE: f32 = 1e-6;

const NEWTON_STEPS: usize = 12;

/// Number of embeddings that [`curvature`] adds to one row after another from the cache.
const CURVATURE_BLOCK: usize = 64;

/// Metrics along both stored directions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Along the direction used in play.
    #[serde(flatten)]
    pub plays: Metrics,
    /// Along the paper's direction.
    pub mates: Metrics,
    /// RMS error of the win probability on the calibration games, along the direction used in play.
    pub calibration_rms: f64,
}

/// Embeddings of positions, row by row, without augmentation.
pub fn embed(encoder: &mut dyn Encoder, positions: &[PackedPosition]) -> Result<Vec<f32>> {
    let attributes = encoder.attributes();
    let mut embeddings = Vec::with_capacity(positions.len() * attributes.embedding_dim);
    for chunk in positions.chunks(attributes.recommended_batch) {
        let mut inputs = Inputs::new(attributes.input);
        chunk.iter().try_for_each(|position| push_position(&mut inputs, position, false))?;
        embeddings.extend(encoder.encode(&inputs)?);
    }
    Ok(embeddings)
}

/// Builds a playable space: directions from the training positions, the calibration and the choice
/// between the directions from the calibration games, metrics from `validation`.
pub fn build_space(
    architecture: &Architecture,
    parameters: Parameters,
    data: &Dataset,
    validation: &LabelledPositions,
    device: &Device,
    training: Value,
) -> Result<(Weights, Measured)> {
    // Building the encoder needs some axis; embedding does not use it.
    let mut weights = Weights::without_space(architecture.clone(), parameters)?;
    weights.metadata.training = training;
    let mut encoder = azimuth_search::encoder::build(&weights, device, DType::F32)?;
    let perspective = architecture.perspective();
    let labels = |positions: &[PackedPosition]| labels(positions, perspective);

    let limit = data.sample.min(AXIS_SAMPLE);
    let (white_mean, black_mean) = mate_means(&mut *encoder, &data.all, limit, perspective)?;
    let sample = data.all.spread(limit, |_| true)?;
    let embeddings = embed(&mut *encoder, &sample)?;
    let fitted = fit_direction(&embeddings, &labels(&sample), architecture.embedding_dim());

    let calibration_labels = labels(&data.calibration.positions);
    let calibration_embeddings = embed(&mut *encoder, &data.calibration.positions)?;
    let validation_labels = labels(&validation.positions);
    let validation_embeddings = embed(&mut *encoder, &validation.positions)?;
    let along = |direction: Direction| -> Result<(Axis, Calibration, f64, Metrics)> {
        let axis =
            Axis::new(white_mean.clone(), black_mean.clone(), Some(fitted.clone()), direction)?;
        let cosines = axis.cosines(&calibration_embeddings);
        let calibration = fit_calibration(&cosines, &calibration_labels)?;
        let parents = &data.calibration.parents;
        let calibration_rms = measure(&cosines, &calibration, &calibration_labels, parents).rms;
        let cosines = axis.cosines(&validation_embeddings);
        let metrics = measure(&cosines, &calibration, &validation_labels, &validation.parents);
        Ok((axis, calibration, calibration_rms, metrics))
    };
    let mates = along(Direction::Mates)?;
    let fitted = along(Direction::Fitted)?;
    let mates_metrics = mates.3;
    // Leaves of searches have no siblings, so sibling accuracy cannot choose the direction.
    let (axis, calibration, calibration_rms, plays) =
        if fitted.2 < mates.2 { fitted } else { mates };
    let measured = Measured { plays, mates: mates_metrics, calibration_rms };
    weights.metadata.direction = axis.direction();
    weights.metadata.metrics = serde_json::to_value(measured)?;
    weights.axis = axis;
    weights.calibration = calibration;
    Ok((weights, measured))
}

/// Metrics of `weights`, whose encoder is `encoder`, along the direction used in play.
pub fn evaluate(
    encoder: &mut dyn Encoder,
    weights: &Weights,
    positions: &LabelledPositions,
) -> Result<Metrics> {
    let embeddings = embed(encoder, &positions.positions)?;
    let labels = labels(&positions.positions, weights.metadata.architecture.perspective());
    let cosines = weights.axis.cosines(&embeddings);
    Ok(measure(&cosines, &weights.calibration, &labels, &positions.parents))
}

/// Fits the calibration of a weights file to its axis on the calibration games of `data`, and
/// measures it on the held-out games. Returns the metrics, and stores them in the metadata.
pub fn calibrate(weights: &mut Weights, data: &Dataset, device: &Device) -> Result<Metrics> {
    let mut encoder = azimuth_search::encoder::build(weights, device, DType::F32)?;
    let positions = &data.calibration.positions;
    let cosines = weights.axis.cosines(&embed(&mut *encoder, positions)?);
    let perspective = weights.metadata.architecture.perspective();
    weights.calibration = fit_calibration(&cosines, &labels(positions, perspective))?;
    let metrics = evaluate(&mut *encoder, weights, &data.validation)?;
    weights.metadata.metrics = serde_json::to_value(metrics)?;
    Ok(metrics)
}

pub fn labels(positions: &[PackedPosition], perspective: Perspective) -> Vec<f32> {
    positions.iter().map(|position| position.win_probability(perspective)).collect()
}

fn measure(cosines: &[f32], calibration: &Calibration, labels: &[f32], parents: &[u32]) -> Metrics {
    let predictions: Vec<f32> = cosines.iter().map(|&c| calibration.win_probability(c)).collect();
    Metrics::of(cosines, &predictions, labels, parents)
}

/// Training positions with forced mates, and their labels. Fails if one side has none.
fn mates(
    data: &Datasets,
    limit: usize,
    perspective: Perspective,
) -> Result<(Vec<PackedPosition>, Vec<f32>)> {
    let mates = data.spread(limit, |label| matches!(label, Label::Mate(_)))?;
    let labels = labels(&mates, perspective);
    let against = labels.iter().filter(|&&label| label < 0.5).count();
    ensure!(
        (1..labels.len()).contains(&against),
        "the data has no forced mates for both sides, between which the paper's axis lies: add games that end in mate, \
         or positions labelled as mates"
    );
    Ok((mates, labels))
}

/// Fails, before a run and not after it, if the data cannot define the mates' axis.
pub fn check_mates(data: &Dataset, architecture: &Architecture) -> Result<()> {
    mates(&data.all, data.sample.min(AXIS_SAMPLE), architecture.perspective()).map(|_| ())
}

/// Mean embeddings of the forced mates for and against the encoder's side (paper, section 3.4).
fn mate_means(
    encoder: &mut dyn Encoder,
    data: &Datasets,
    limit: usize,
    perspective: Perspective,
) -> Result<(Vec<f32>, Vec<f32>)> {
    let dim = encoder.attributes().embedding_dim;
    let (mates, labels) = mates(data, limit, perspective)?;
    let embeddings = embed(encoder, &mates)?;
    let mut means = [vec![0.0f64; dim], vec![0.0f64; dim]];
    let mut counts = [0usize; 2];
    for (embedding, label) in embeddings.chunks_exact(dim).zip(labels) {
        let side = usize::from(label < 0.5);
        counts[side] += 1;
        means[side].iter_mut().zip(embedding).for_each(|(sum, &z)| *sum += f64::from(z));
    }
    let [for_side, against] = [0, 1].map(|side| -> Vec<f32> {
        means[side].iter().map(|sum| (sum / counts[side] as f64) as f32).collect()
    });
    Ok((for_side, against))
}

/// Logistic regression of the win probability on the embeddings, by Newton's method; its weights
/// are the direction in which the probability increases.
fn fit_direction(embeddings: &[f32], labels: &[f32], dim: usize) -> Vec<f32> {
    let size = dim + 1;
    let mut weights = vec![0.0f64; size];
    for _ in 0..NEWTON_STEPS {
        let mut gradient = vec![0.0f64; size];
        let mut slopes = Vec::with_capacity(labels.len());
        for (embedding, &label) in embeddings.chunks_exact(dim).zip(labels) {
            let row = || embedding.iter().map(|&z| f64::from(z)).chain([1.0]);
            let logit: f64 = row().zip(&weights).map(|(x, w)| x * w).sum();
            let p = 1.0 / (1.0 + (-logit).exp());
            slopes.push((p * (1.0 - p)).max(1e-6));
            gradient.iter_mut().zip(row()).for_each(|(g, x)| *g += (f64::from(label) - p) * x);
        }
        let mut curvature = curvature(embeddings, &slopes, dim);
        // A small ridge penalty keeps unused directions at 0.
        let ridge = 1e-6 * labels.len() as f64;
        for i in 0..size {
            curvature[i * size + i] += ridge;
            gradient[i] -= ridge * weights[i];
        }
        let step = solve(&mut curvature, gradient);
        weights.iter_mut().zip(step).for_each(|(w, s)| *w += s);
    }
    weights[..dim].iter().map(|&w| w as f32).collect()
}

/// The lower triangle of the sum over all embeddings x of `slope · (x, 1) (x, 1)ᵀ`, (dim + 1)²
/// values. Threads divide the rows among themselves. Each value is summed in the order of the
/// embeddings, so it does not depend on the number of threads.
fn curvature(embeddings: &[f32], slopes: &[f64], dim: usize) -> Vec<f64> {
    let size = dim + 1;
    let mut sums = vec![0.0f64; size * size];
    let threads = available_parallelism().map_or(1, usize::from).min(size);
    let mut shares: Vec<Vec<(usize, &mut [f64])>> = (0..threads).map(|_| Vec::new()).collect();
    for (i, row) in sums.chunks_exact_mut(size).enumerate() {
        shares[i % threads].push((i, &mut row[..=i]));
    }
    side_by_side(shares, |mut share| {
        let mut block = Vec::with_capacity(CURVATURE_BLOCK * size);
        let blocks = embeddings.chunks(CURVATURE_BLOCK * dim).zip(slopes.chunks(CURVATURE_BLOCK));
        for (embeddings, slopes) in blocks {
            block.clear();
            for embedding in embeddings.chunks_exact(dim) {
                block.extend(embedding.iter().map(|&z| f64::from(z)).chain([1.0]));
            }
            for (i, sums) in &mut share {
                for (x, slope) in block.chunks_exact(size).zip(slopes) {
                    let scaled = slope * x[*i];
                    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += scaled * x);
                }
            }
        }
    });
    sums
}

/// Solves `matrix · x = right` by Cholesky decomposition, for a symmetric positive definite matrix.
/// Reads only the lower triangle, and overwrites it.
fn solve(matrix: &mut [f64], mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - dot;
            matrix[i * n + j] =
                if i == j { rest.max(1e-12).sqrt() } else { rest / matrix[j * n + j] };
        }
    }
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * n + i];
    }
    right
}

/// A strictly increasing map from cosine to win probability: isotonic regression of means over
/// equal numbers of positions, with pooled blocks.
fn fit_calibration(cosines: &[f32], labels: &[f32]) -> Result<Calibration> {
    let mut pairs: Vec<(f32, f32)> = cosines.iter().copied().zip(labels.iter().copied()).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // (sum of cosines, sum of labels, positions) of blocks with increasing means.
    let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
    for chunk in pairs.chunks(pairs.len().div_ceil(KNOTS).max(1)) {
        let sum = |value: &dyn Fn(&(f32, f32)) -> f32| -> f64 {
            chunk.iter().map(|pair| f64::from(value(pair))).sum()
        };
        let mut block = (sum(&|pair| pair.0), sum(&|pair| pair.1), chunk.len() as f64);
        while let Some(last) = blocks.pop_if(|last| last.1 / last.2 >= block.1 / block.2) {
            block = (block.0 + last.0, block.1 + last.1, block.2 + last.2);
        }
        blocks.push(block);
    }
    let (mut knots, mut values) = (Vec::new(), Vec::new());
    let mut add = |cosine: f32, p: f32| {
        let p = p.clamp(0.0, 1.0);
        if knots.last().is_none_or(|&last| cosine > last + 1e-5)
            && values.last().is_none_or(|&last| p > last)
        {
            knots.push(cosine);
            values.push(p);
        }
    };
    // The end points extend to cosines of ± 1, so that extreme cosines keep their order. Blocks of
    // mates leave room for them.
    let room = 2.0 * LEAST_RISE;
    let mean = |label: f64, count: f64| ((label / count) as f32).clamp(room, 1.0 - room);
    add(-1.0, 0.5 * mean(blocks[0].1, blocks[0].2));
    for (cosine, label, count) in &blocks {
        add((cosine / count) as f32, mean(*label, *count));
    }
    let highest = blocks.last().map_or(1.0, |block| mean(block.1, block.2));
    add(1.0, (0.5 + 0.5 * highest).max(highest + LEAST_RISE));
    Calibration::new(knots, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_recovers_a_known_map() -> Result<()> {
        let cosines: Vec<f32> = (0..20_000).map(|i| i as f32 / 10_000.0 - 1.0).collect();
        let truth = |c: f32| 1.0 / (1.0 + (-4.0 * c).exp());
        let noise = |i: usize| if i.is_multiple_of(2) { 0.015f32 } else { -0.015 };
        let labels = cosines.iter().enumerate().map(|(i, &c)| truth(c) + noise(i));
        let labels: Vec<f32> = labels.collect();
        let calibration = fit_calibration(&cosines, &labels)?;
        for cosine in [-0.8, -0.3, 0.0, 0.1, 0.7] {
            assert!((calibration.win_probability(cosine) - truth(cosine)).abs() < 0.01);
        }
        assert!(calibration.win_probability(0.999) < calibration.win_probability(0.9999));
        Ok(())
    }

    #[test]
    fn the_fitted_direction_is_the_one_that_made_the_labels() {
        let direction = [0.6f32, -0.8, 0.0];
        let embeddings: Vec<f32> =
            (0..3000).map(|i| ((i * 7919 % 1000) as f32 / 500.0 - 1.0) * 0.9).collect();
        let labels = embeddings.chunks_exact(3).map(|z| {
            let logit: f32 = z.iter().zip(direction).map(|(z, d)| 3.0 * z * d).sum();
            1.0 / (1.0 + (-logit).exp())
        });
        let labels: Vec<f32> = labels.collect();
        let fitted = fit_direction(&embeddings, &labels, 3);
        for (fitted, made) in fitted.iter().zip(direction) {
            assert!((fitted / 3.0 - made).abs() < 0.02, "{fitted}");
        }
    }
}
