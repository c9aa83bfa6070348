//! The losses: supervised contrastive (paper, section 3.3; Khosla et al. 2020, equation 2) and
//! auxiliary ones, which predict the win probability from the embedding; the threshold within which
//! positions are positives.

use azimuth_network::fused::numerics::exp_of_negative;
use candle_core::{Result, Tensor};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

use crate::cpu::change_in_place;

/// The losses of a run and their weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// The distance in labels within which positions are positives of each other.
    #[serde(rename = "margin")]
    pub threshold: PositiveThreshold,
    pub temperature: f32,
    /// Weight of the contrastive loss (the paper: 1).
    pub contrastive: f32,
    /// Weight of the regression of the win probability by a logistic unit (the paper: 0).
    pub regression: f32,
    /// Weight of the regression of the win probability by the cosine itself (the paper: 0).
    pub cosine: f32,
}

/// Two positions are positives if their win probabilities differ by less than a threshold (paper,
/// section 3.3). The threshold may be smaller near equality: most games are decided there, and a
/// constant threshold would make all positions of that range similar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositiveThreshold {
    /// The threshold for decided positions.
    pub delta: f32,
    /// The threshold at equality, at most `delta`. In between, it grows linearly with `|2p - 1|`.
    pub delta_equal: f32,
}

impl PositiveThreshold {
    /// The coordinate of `p` on a scale on which positives are less than 1 apart: the integral of
    /// `1 / threshold` from equality to `p`.
    pub fn coordinate(self, p: f32) -> f32 {
        let distance = 2.0 * p - 1.0;
        let growth = self.delta - self.delta_equal;
        if growth <= 0.0 {
            return distance / (2.0 * self.delta);
        }
        let coordinate = (growth / self.delta_equal * distance.abs()).ln_1p() / (2.0 * growth);
        coordinate.copysign(distance)
    }
}

/// The result of [`Losses::of`].
pub struct LossValues {
    /// The weighted sum, which is minimised.
    pub total: Tensor,
    /// The contrastive loss, unweighted.
    pub contrastive: Tensor,
    /// The squared error of the regression, unweighted.
    pub regression: Tensor,
}

impl LossValues {
    pub fn scaled(self, factor: f64) -> Result<Self> {
        let Self { total, contrastive, regression } = self;
        Ok(Self {
            total: (total * factor)?,
            contrastive: (contrastive * factor)?,
            regression: (regression * factor)?,
        })
    }

    /// The sums with `others`, detached from the gradient graph.
    pub fn add(&self, others: &Self) -> Result<Self> {
        let sum = |a: &Tensor, b: &Tensor| a.detach() + b.detach();
        Ok(Self {
            total: sum(&self.total, &others.total)?,
            contrastive: sum(&self.contrastive, &others.contrastive)?,
            regression: sum(&self.regression, &others.regression)?,
        })
    }
}

impl Losses {
    /// All losses of a batch of unit embeddings (n x D), whose labels are the win probabilities
    /// `labels` (n) in the encoder's perspective, with the read-out `direction` and `bias`. The
    /// position with index i belongs to the contrast with index i modulo `contrasts`.
    pub fn of(
        &self,
        z: &Tensor,
        labels: &[f32],
        contrasts: usize,
        direction: &Tensor,
        bias: &Tensor,
    ) -> Result<LossValues> {
        let coordinates: Vec<f32> = labels.iter().map(|&p| self.threshold.coordinate(p)).collect();
        let contrastive = if z.device().is_cpu() && contrasts == 1 {
            fused(z, &coordinates, self.temperature)?
        } else {
            composed(z, &coordinates, contrasts, self.temperature)?
        };
        let p = Tensor::from_slice(labels, z.dim(0)?, z.device())?;
        let along = |direction: &Tensor| z.matmul(&direction.unsqueeze(1)?)?.squeeze(1);
        let logits = along(direction)?;
        let read = candle_nn::ops::sigmoid(&logits.broadcast_add(bias)?)?;
        let regression = (read - &p)?.sqr()?.mean_all()?;
        let mut total = ((&contrastive * f64::from(self.contrastive))?
            + (&regression * f64::from(self.regression))?)?;
        if self.cosine > 0.0 {
            let unit = direction.broadcast_div(&direction.sqr()?.sum_all()?.sqrt()?)?;
            let error = (((along(&unit)? + 1.0)? * 0.5)? - p)?.sqr()?.mean_all()?;
            total = (total + (error * f64::from(self.cosine))?)?;
        }
        Ok(LossValues { total, contrastive, regression })
    }
}

/// Supervised contrastive loss of unit embeddings `z` (n x D): the mean over all samples of
/// `-1/|P(i)| Σ_p log(exp(z_i·z_p / T) / Σ_{a≠i} exp(z_i·z_a / T))`. The positives P(i) are the
/// samples within the threshold; a sample without positives adds 0. One pass over the similarities
/// computes the loss and its gradient, on the CPU.
fn fused(z: &Tensor, coordinates: &[f32], temperature: f32) -> Result<Tensor> {
    let embeddings = z.detach();
    let slopes = embeddings.matmul(&embeddings.t()?)?;
    let mut loss = 0.0;
    change_in_place(&slopes, |values| loss = contrast(values, coordinates, temperature))?;
    with_gradient(z, &Tensor::new(loss, z.device())?, &slopes.matmul(&embeddings)?)
}

/// Gives a scalar a gradient with respect to `z`, by a term that has this gradient and the value 0.
fn with_gradient(z: &Tensor, scalar: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    let along = (z * gradient)?.sum_all()?;
    scalar + (&along - along.detach())?
}

/// 1 if two positions that are `distance` thresholds apart are positives, otherwise 0.
#[inline(always)]
fn attraction(distance: f32) -> f32 {
    if distance.abs() < 1.0 { 1.0 } else { 0.0 }
}

const LANES: usize = 16;

/// Replaces the similarities (n x n) by the loss's gradients with respect to them, and returns the
/// loss. The similarity of i and j occurs in the terms of both with the same weight, so each
/// gradient is the sum of the two.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn contrast(similarities: &mut [f32], coordinates: &[f32], temperature: f32) -> f32 {
    let n = coordinates.len();
    let sharpness = 1.0 / temperature;
    let mut loss = 0.0f64;
    // For each anchor, 1 / its mass and 1 / its number of positives; 0 if it has no positives.
    let (mut shares, mut pulls) = (vec![0.0f32; n], vec![0.0f32; n]);
    let mut others = coordinates.to_vec();
    for (anchor, row) in similarities.chunks_exact_mut(n).enumerate() {
        let own = coordinates[anchor];
        // The anchor forms no pair with itself: infinite distance and zero weight.
        others[anchor] = f32::INFINITY;
        row[anchor] = f32::NEG_INFINITY;
        let (mut mass, mut positives, mut pulled) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let mut visit = |lane: usize, similarity: &mut f32, coordinate: f32| {
            // Similarities of unit vectors are at most 1, so no maximum is needed to keep exp in
            // range.
            let logit = (*similarity - 1.0) * sharpness;
            let positive = attraction(coordinate - own);
            *similarity = exp_of_negative(logit);
            mass[lane] += *similarity;
            positives[lane] += positive;
            pulled[lane] += if positive > 0.0 { positive * logit } else { 0.0 };
        };
        let (blocks, rest) = row.as_chunks_mut::<LANES>();
        let (coordinate_blocks, coordinate_rest) = others.as_chunks::<LANES>();
        for (block, coordinates) in blocks.iter_mut().zip(coordinate_blocks) {
            for lane in 0..LANES {
                visit(lane, &mut block[lane], coordinates[lane]);
            }
        }
        for (lane, (similarity, &coordinate)) in rest.iter_mut().zip(coordinate_rest).enumerate() {
            visit(lane, similarity, coordinate);
        }
        others[anchor] = own;
        let positives: f32 = positives.iter().sum();
        if positives > 0.0 {
            let mass: f32 = mass.iter().sum();
            loss += f64::from(mass.ln() - pulled.iter().sum::<f32>() / positives);
            shares[anchor] = 1.0 / mass;
            pulls[anchor] = 1.0 / positives;
        }
    }
    let scale = sharpness / n as f32;
    for (anchor, row) in similarities.chunks_exact_mut(n).enumerate() {
        let (own, share, pull) = (coordinates[anchor], shares[anchor], pulls[anchor]);
        let others = coordinates.iter().zip(shares.iter().zip(&pulls));
        for (slope, (&coordinate, (&other_share, &other_pull))) in row.iter_mut().zip(others) {
            let pull = attraction(coordinate - own) * (pull + other_pull);
            *slope = scale * (*slope * (share + other_share) - pull);
        }
        row[anchor] = 0.0;
    }
    (loss / n as f64) as f32
}

/// The same as [`fused`] with candle's operations, for any device and several contrasts: only
/// positions of the same contrast are compared.
fn composed(z: &Tensor, coordinates: &[f32], contrasts: usize, temperature: f32) -> Result<Tensor> {
    let ((all, dim), device) = (z.dims2()?, z.device());
    let n = all / contrasts;
    // One matrix for each contrast: contrasts x n x width.
    let apart = |rows: &Tensor, width: usize| {
        rows.reshape((n, contrasts, width))?.transpose(0, 1)?.contiguous()
    };
    let embeddings = apart(&z.detach(), dim)?;
    let logits = ((embeddings.matmul(&embeddings.t()?)? - 1.0)? / f64::from(temperature))?;
    let not_self = (1.0 - Tensor::eye(n, logits.dtype(), device)?)?;
    let not_self = not_self.broadcast_as(logits.shape())?;
    let coordinates = apart(&Tensor::from_slice(coordinates, (all, 1), device)?, 1)?;
    let distances = coordinates.broadcast_sub(&coordinates.t()?)?.abs()?;
    let positive = (distances.lt(1f32)?.to_dtype(logits.dtype())? * &not_self)?;
    let similar = (logits.exp()? * not_self)?;
    let (mass, count) = (similar.sum_keepdim(2)?, positive.sum_keepdim(2)?);
    // An anchor without positives contributes nothing.
    let active = count.gt(0f32)?.to_dtype(logits.dtype())?;
    let pulls = (&active / (count + (1.0 - &active)?)?)?;
    let pulled = ((&logits * &positive)?.sum_keepdim(2)? * &pulls)?;
    let loss = ((mass.log()? * &active)? - pulled)?.mean_all()?;
    let shares = (active / mass)?;
    let both = |anchors: &Tensor| anchors.broadcast_add(&anchors.t()?);
    let slopes = ((similar * both(&shares)?)? - (positive * both(&pulls)?)?)?;
    let gradient = (slopes.matmul(&embeddings)? / (f64::from(temperature) * all as f64))?;
    let gradient = gradient.transpose(0, 1)?.reshape((all, dim))?;
    with_gradient(z, &loss, &gradient)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn batch(n: usize) -> (Vec<f32>, Vec<f32>) {
        let labels = (0..n).map(|i| (i * 37 % 101) as f32 / 100.0).collect();
        let mut z: Vec<f32> = (0..n * 8).map(|i| ((i * i) as f32 * 0.37).sin()).collect();
        for row in z.chunks_exact_mut(8) {
            let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            row.iter_mut().for_each(|x| *x /= length);
        }
        (z, labels)
    }

    #[test]
    fn loss_and_gradient_equal_numpys() -> anyhow::Result<()> {
        #[derive(serde::Deserialize)]
        struct Fixture {
            n: usize,
            d: usize,
            delta: f32,
            temperature: f32,
            z: Vec<f32>,
            p: Vec<f32>,
            loss: f32,
            gradient: Vec<f32>,
        }
        let fixture: Fixture = serde_json::from_str(include_str!("testdata/contrastive.json"))?;
        let Fixture { n, d, delta, temperature, ref z, ref p, .. } = fixture;
        let z = Var::from_slice(z, (n, d), &Device::Cpu)?;
        let coordinates: Vec<f32> = p.iter().map(|p| p / delta).collect();
        for loss in
            [fused(&z, &coordinates, temperature)?, composed(&z, &coordinates, 1, temperature)?]
        {
            assert!((loss.to_scalar::<f32>()? - fixture.loss).abs() < 1e-5);
            let gradients = loss.backward()?;
            let gradient = gradients.get(&z).expect("tracked").flatten_all()?.to_vec1::<f32>()?;
            for (found, expected) in gradient.iter().zip(&fixture.gradient) {
                assert!((found - expected).abs() < 1e-4, "{found}, NumPy {expected}");
            }
        }
        Ok(())
    }

    #[test]
    fn contrasts_side_by_side_are_as_each_by_itself() -> Result<()> {
        let (z, labels) = batch(66);
        let coordinates: Vec<f32> = labels.iter().map(|p| p / 0.05).collect();
        let z = Var::from_slice(&z, (66, 8), &Device::Cpu)?;
        let together = composed(&z, &coordinates, 3, 0.07)?;
        let mut sum = 0.0;
        let gradients = together.backward()?;
        let found = gradients.get(&z).expect("tracked");
        for contrast in 0..3u32 {
            let places: Vec<u32> = (contrast..66).step_by(3).collect();
            let mine: Vec<f32> = places.iter().map(|&place| coordinates[place as usize]).collect();
            let places = Tensor::new(places, &Device::Cpu)?;
            let part = Var::from_tensor(&z.index_select(&places, 0)?)?;
            let loss = (fused(&part, &mine, 0.07)? / 3.0)?;
            sum += loss.to_scalar::<f32>()?;
            let gradients = loss.backward()?;
            let expected = gradients.get(&part).expect("tracked");
            let difference = (found.index_select(&places, 0)? - expected)?.abs()?.max_all()?;
            assert!(difference.to_scalar::<f32>()? < 1e-5, "{difference}");
        }
        assert!((together.to_scalar::<f32>()? - sum).abs() < 1e-5);
        Ok(())
    }

    #[test]
    fn gradients_match_finite_differences() -> Result<()> {
        let (z, labels) = batch(12);
        let losses = Losses {
            threshold: PositiveThreshold { delta: 0.2, delta_equal: 0.1 },
            temperature: 0.5,
            contrastive: 1.0,
            regression: 1.0,
            cosine: 1.0,
        };
        let direction: Vec<f32> = (0..8).map(|i| (i as f32).cos()).collect();
        let direction = Tensor::new(direction, &Device::Cpu)?;
        let bias = Tensor::new(&[0.1f32], &Device::Cpu)?;
        let found = |z: &Tensor| losses.of(z, &labels, 1, &direction, &bias);
        let loss = |z: &[f32]| -> Result<f64> {
            let z = Tensor::from_slice(z, (12, 8), &Device::Cpu)?;
            Ok(f64::from(found(&z)?.total.to_scalar::<f32>()?))
        };
        let variable = Var::from_slice(&z, (12, 8), &Device::Cpu)?;
        let gradients = found(&variable)?.total.backward()?;
        let gradient =
            gradients.get(&variable).expect("tracked").flatten_all()?.to_vec1::<f32>()?;
        for index in (0..z.len()).step_by(7) {
            let (mut above, mut below) = (z.clone(), z.clone());
            above[index] += 5e-3;
            below[index] -= 5e-3;
            let slope = (loss(&above)? - loss(&below)?) / 1e-2;
            assert!((slope - f64::from(gradient[index])).abs() < 4e-3, "{index}: {slope}");
        }
        Ok(())
    }

    #[test]
    fn a_sample_without_positives_adds_nothing() -> Result<()> {
        let z = Tensor::new(&[[1f32, 0.0], [0.0, 1.0]], &Device::Cpu)?;
        let coordinates = [0.0, 16.0];
        for loss in [fused(&z, &coordinates, 0.07)?, composed(&z, &coordinates, 1, 0.07)?] {
            assert_eq!(loss.to_scalar::<f32>()?, 0.0);
        }
        Ok(())
    }

    #[test]
    fn coordinates_are_as_far_apart_as_thresholds_say() {
        let constant = PositiveThreshold { delta: 0.05, delta_equal: 0.05 };
        assert!((constant.coordinate(0.75) - constant.coordinate(0.7) - 1.0).abs() < 1e-4);
        let narrow = PositiveThreshold { delta: 0.05, delta_equal: 0.01 };
        let slope = |p: f32| (narrow.coordinate(p + 1e-3) - narrow.coordinate(p - 1e-3)) / 2e-3;
        assert!((slope(0.5) - 100.0).abs() < 2.0, "{}", slope(0.5));
        assert!((slope(0.75) - 1.0 / 0.03).abs() < 0.5, "{}", slope(0.75));
        assert!((narrow.coordinate(0.3) + narrow.coordinate(0.7)).abs() < 1e-4);
    }
}
