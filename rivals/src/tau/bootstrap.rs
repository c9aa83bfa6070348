//! Kendall's tau-b with a confidence interval by bootstrap.

use azimuth_train::metrics::kendall_tau_b;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Number of samples.
const SAMPLES: usize = 1_000;

/// A 95% interval: the percentiles 2.5 and 97.5 of the samples (Efron 1979).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// Kendall's tau-b of `values` and `labels`, and its interval over samples of as many pairs, drawn
/// with replacement. The same data give the same interval.
pub fn interval(values: &[f32], labels: &[f32]) -> (f64, Interval) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut taus: Vec<f64> =
        (0..SAMPLES).map(|_| tau_of_sample(values, labels, &mut rng)).collect();
    taus.sort_by(f64::total_cmp);
    let percentile = |share: f64| taus[(share * (SAMPLES - 1) as f64).round() as usize];
    let interval = Interval { low: percentile(0.025), high: percentile(0.975) };
    (kendall_tau_b(values, labels), interval)
}

fn tau_of_sample(values: &[f32], labels: &[f32], rng: &mut Xoshiro256PlusPlus) -> f64 {
    let drawn = (0..labels.len()).map(|_| rng.random_range(0..labels.len()));
    let (values, labels): (Vec<f32>, Vec<f32>) = drawn.map(|i| (values[i], labels[i])).unzip();
    kendall_tau_b(&values, &labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_contains_tau_and_shrinks_with_more_positions() {
        let noisy = |count: u32| {
            let labels: Vec<f32> = (0..count).map(|i| i as f32).collect();
            let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            let values: Vec<f32> = (0..count).map(|i| i as f32 + 300.0 * noise(i)).collect();
            interval(&values, &labels)
        };
        let (few, wide) = noisy(100);
        let (many, narrow) = noisy(1_000);
        assert!(wide.low < few && few < wide.high, "{few} {wide:?}");
        assert!(narrow.low < many && many < narrow.high, "{many} {narrow:?}");
        assert!(narrow.high - narrow.low < (wide.high - wide.low) / 2.0, "{narrow:?} {wide:?}");
    }

    #[test]
    fn a_perfect_order_has_no_uncertainty() {
        let labels: Vec<f32> = (0..500).map(|i| i as f32).collect();
        let (tau, Interval { low, high }) = interval(&labels, &labels);
        assert_eq!(tau, 1.0);
        assert!(low > 0.999 && high > 0.999, "{low} {high}");
    }
}
