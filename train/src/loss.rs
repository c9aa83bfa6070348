//! The losses: supervised contrastive (paper, section 3.3; Khosla et al. 2020, equation 2) and an
//! auxiliary regression of the win probability through the embedding.

use azimuth::encoder::fused::exp_of_negative;
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use multiversion::multiversion;

/// Supervised contrastive loss of unit embeddings `z` (n x D): the mean over all samples of
/// `-1/|P(i)| Σ_p log(exp(z_i·z_p / T) / Σ_{a≠i} exp(z_i·z_a / T))`, where the positives P(i) are the
/// samples whose win probability differs by less than `delta`; a sample without positives adds 0.
///
/// On the CPU the loss and its gradient come from one pass over the similarities.
pub fn supervised_contrastive(
    z: &Tensor,
    labels: &[f32],
    delta: f32,
    temperature: f32,
) -> Result<Tensor> {
    if z.device().is_cpu() {
        fused(z, labels, delta, temperature)
    } else {
        composed(z, labels, delta, temperature)
    }
}

/// Mean squared error of the win probability read off the embeddings by a logistic unit:
/// `(sigmoid(z·direction + bias) - p)²`.
pub fn regression(z: &Tensor, labels: &[f32], direction: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let labels = Tensor::from_slice(labels, labels.len(), z.device())?;
    let logits = z.matmul(&direction.unsqueeze(1)?)?.squeeze(1)?.broadcast_add(bias)?;
    (candle_nn::ops::sigmoid(&logits)? - labels)?.sqr()?.mean_all()
}

fn fused(z: &Tensor, labels: &[f32], delta: f32, temperature: f32) -> Result<Tensor> {
    let n = labels.len();
    let embeddings = z.detach();
    let similarities = embeddings.matmul(&embeddings.t()?)?.flatten_all()?.to_vec1::<f32>()?;
    let mut slopes = similarities;
    let loss = contrast(&mut slopes, labels, delta, temperature);
    let slopes = Tensor::from_vec(slopes, (n, n), z.device())?;
    let gradient = slopes.matmul(&embeddings)?;
    z.apply_op1(Known { loss, gradient })
}

/// A scalar whose gradient was found together with it.
struct Known {
    loss: f32,
    gradient: Tensor,
}

impl CustomOp1 for Known {
    fn name(&self) -> &'static str {
        "supervised-contrastive"
    }

    fn cpu_fwd(&self, _storage: &CpuStorage, _layout: &Layout) -> Result<(CpuStorage, Shape)> {
        Ok((CpuStorage::F32(vec![self.loss]), Shape::from(())))
    }

    fn bwd(&self, _z: &Tensor, _loss: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.gradient.broadcast_mul(gradient)?))
    }
}

const LANES: usize = 16;

/// Turns the similarities (n x n) into the loss's slopes along them and returns the loss. The
/// similarity of i and j stands in the terms of both, and both use the same weight, so each slope is
/// the sum of the two.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn contrast(similarities: &mut [f32], labels: &[f32], delta: f32, temperature: f32) -> f32 {
    let n = labels.len();
    let sharpness = 1.0 / temperature;
    let mut loss = 0.0f64;
    // For each anchor 1 / its mass and 1 / its positives; 0 where it has none and adds nothing.
    let (mut shares, mut pulls) = (vec![0.0f32; n], vec![0.0f32; n]);
    for (anchor, row) in similarities.chunks_exact_mut(n).enumerate() {
        let own = labels[anchor];
        let (mut mass, mut positives, mut attraction) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        // Similarities of unit vectors never pass 1, so no maximum is needed to keep exp in range.
        row[anchor] = f32::NEG_INFINITY;
        for (row, labels) in row.chunks_mut(LANES).zip(labels.chunks(LANES)) {
            for lane in 0..row.len() {
                let logit = (row[lane] - 1.0) * sharpness;
                let weight = exp_of_negative(logit);
                let positive = (labels[lane] - own).abs() < delta && row[lane].is_finite();
                row[lane] = weight;
                mass[lane] += weight;
                positives[lane] += if positive { 1.0 } else { 0.0 };
                attraction[lane] += if positive { logit } else { 0.0 };
            }
        }
        let count: f32 = positives.iter().sum();
        if count > 0.0 {
            let mass: f32 = mass.iter().sum();
            loss += f64::from(mass.ln() - attraction.iter().sum::<f32>() / count);
            shares[anchor] = 1.0 / mass;
            pulls[anchor] = 1.0 / count;
        }
    }
    let scale = sharpness / n as f32;
    for (anchor, row) in similarities.chunks_exact_mut(n).enumerate() {
        let (own, share, pull) = (labels[anchor], shares[anchor], pulls[anchor]);
        let others = labels.iter().zip(shares.iter().zip(&pulls));
        for (slope, (&label, (&other_share, &other_pull))) in row.iter_mut().zip(others) {
            let pull = if (label - own).abs() < delta { pull + other_pull } else { 0.0 };
            *slope = scale * (*slope * (share + other_share) - pull);
        }
        row[anchor] = 0.0;
    }
    (loss / n as f64) as f32
}

/// The same loss from candle's operations, for every device.
fn composed(z: &Tensor, labels: &[f32], delta: f32, temperature: f32) -> Result<Tensor> {
    let n = labels.len();
    let device = z.device();
    let mut positive = vec![0f32; n * n];
    let mut not_self = vec![1f32; n * n];
    let mut active = vec![0f32; n];
    for (anchor, row) in positive.chunks_exact_mut(n).enumerate() {
        not_self[anchor * n + anchor] = 0.0;
        let similar =
            |other: usize| other != anchor && (labels[other] - labels[anchor]).abs() < delta;
        let count = (0..n).filter(|&other| similar(other)).count();
        if count > 0 {
            active[anchor] = 1.0;
            (0..n).filter(|&other| similar(other)).for_each(|o| row[o] = 1.0 / count as f32);
        }
    }
    let positive = Tensor::from_vec(positive, (n, n), device)?;
    let not_self = Tensor::from_vec(not_self, (n, n), device)?;
    let active = Tensor::from_vec(active, n, device)?;
    let logits = ((z.matmul(&z.t()?)? - 1.0)? / f64::from(temperature))?;
    let mass = (logits.exp()? * not_self)?.sum(1)?.log()?;
    let attraction = (&logits * positive)?.sum(1)?;
    ((mass - attraction)? * active)?.mean_all()
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
        for loss in [fused(&z, p, delta, temperature)?, composed(&z, p, delta, temperature)?] {
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
    fn the_fused_pass_equals_the_composed_one() -> Result<()> {
        let (z, labels) = batch(67);
        let z = Var::from_vec(z, (67, 8), &Device::Cpu)?;
        let fused = fused(&z, &labels, 0.05, 0.07)?;
        let composed = composed(&z, &labels, 0.05, 0.07)?;
        let difference = (fused.to_scalar::<f32>()? - composed.to_scalar::<f32>()?).abs();
        assert!(difference < 1e-4, "{difference}");
        let (fused, composed) = (fused.backward()?, composed.backward()?);
        let (Some(fused), Some(composed)) = (fused.get(&z), composed.get(&z)) else {
            panic!("no gradient");
        };
        let difference = (fused - composed)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(difference < 1e-4, "{difference}");
        Ok(())
    }

    #[test]
    fn the_gradient_matches_finite_differences() -> Result<()> {
        let (z, labels) = batch(12);
        let loss = |z: &[f32]| -> Result<f64> {
            let z = Tensor::from_slice(z, (12, 8), &Device::Cpu)?;
            Ok(f64::from(fused(&z, &labels, 0.2, 0.5)?.to_scalar::<f32>()?))
        };
        let variable = Var::from_slice(&z, (12, 8), &Device::Cpu)?;
        let gradients = fused(&variable, &labels, 0.2, 0.5)?.backward()?;
        let gradient =
            gradients.get(&variable).expect("tracked").flatten_all()?.to_vec1::<f32>()?;
        for index in (0..z.len()).step_by(7) {
            let (mut above, mut below) = (z.clone(), z.clone());
            above[index] += 5e-3;
            below[index] -= 5e-3;
            let slope = (loss(&above)? - loss(&below)?) / 1e-2;
            assert!((slope - f64::from(gradient[index])).abs() < 2e-3, "{index}: {slope}");
        }
        Ok(())
    }

    #[test]
    fn a_sample_without_positives_adds_nothing() -> Result<()> {
        let z = Tensor::new(&[[1f32, 0.0], [0.0, 1.0]], &Device::Cpu)?;
        for loss in [fused(&z, &[0.1, 0.9], 0.05, 0.07)?, composed(&z, &[0.1, 0.9], 0.05, 0.07)?] {
            assert_eq!(loss.to_scalar::<f32>()?, 0.0);
        }
        Ok(())
    }
}
