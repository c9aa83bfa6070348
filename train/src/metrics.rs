//! Held-out metrics of a space: rank correlations, sibling accuracy, R² and calibration error.

use std::cmp::Ordering;
use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;

/// Quality of the cosines' order and of the predictions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metrics {
    /// Kendall's tau-b of cosine and label; NaN if all labels are equal.
    pub tau: f64,
    /// Spearman's rank correlation of cosine and label; NaN if all labels are equal.
    pub spearman: f64,
    /// Over pairs of children of one parent with |dp| > 0.1, the share in which the better has the
    /// higher cosine; equal cosines count half. NaN if there are no such pairs.
    pub sibling: f64,
    /// R² of the calibrated win probability as a prediction; NaN if all labels are equal.
    pub r2: f64,
    /// Expected calibration error: the mean difference between predicted and actual win probability
    /// over 20 equal bins, weighted by their numbers of positions. NaN without positions.
    pub ece: f64,
    /// Mean of the calibrated win probability minus the label.
    pub bias: f64,
    /// Root mean square of that difference.
    pub rms: f64,
    /// Accuracy on decided positions.
    pub decided: Decided,
    /// Number of positions measured.
    pub positions: usize,
}

impl Metrics {
    /// Measures `cosines` and calibrated `predictions` against `labels`; `parents` groups siblings.
    pub fn of(cosines: &[f32], predictions: &[f32], labels: &[f32], parents: &[u32]) -> Self {
        let errors = || predictions.iter().zip(labels).map(|(p, label)| f64::from(p - label));
        let mean = |sum: f64| sum / labels.len().max(1) as f64;
        Self {
            tau: kendall_tau_b(cosines, labels),
            spearman: pearson(&ranks(cosines), &ranks(labels)),
            sibling: sibling_accuracy(cosines, labels, parents),
            r2: r_squared(predictions, labels),
            ece: calibration_error(predictions, labels),
            bias: mean(errors().sum()),
            rms: mean(errors().map(|error| error * error).sum()).sqrt(),
            decided: Decided::of(predictions, labels),
            positions: labels.len(),
        }
    }
}

/// Shares, 0 to 1, of decided positions that are predicted as such; `None` without such positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Decided {
    /// The share predicted above 0.95, of positions labelled 0.99 or more.
    pub won: Option<f64>,
    /// The share predicted from 0.35 to 0.65, of positions labelled 0.49 to 0.51.
    pub drawn: Option<f64>,
    /// The share predicted below 0.05, of positions labelled 0.01 or less.
    pub lost: Option<f64>,
}

impl Decided {
    /// The shares for `predictions` and `labels`, both win probabilities.
    pub fn of(predictions: &[f32], labels: &[f32]) -> Self {
        let share = |labelled: RangeInclusive<f32>, reads: &dyn Fn(f32) -> bool| {
            let of_kind = predictions.iter().zip(labels).filter(|(_, p)| labelled.contains(p));
            let (right, all) = of_kind.fold((0_u32, 0_u32), |(right, all), (&predicted, _)| {
                (right + u32::from(reads(predicted)), all + 1)
            });
            (all > 0).then(|| f64::from(right) / f64::from(all))
        };
        Self {
            won: share(0.99..=1.0, &|predicted| predicted > 0.95),
            drawn: share(0.49..=0.51, &|predicted| (0.35..=0.65).contains(&predicted)),
            lost: share(0.0..=0.01, &|predicted| predicted < 0.05),
        }
    }
}

/// One line for each metric.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "positions              {:>10}", self.positions)?;
        writeln!(f, "Kendall tau-b          {:>10.4}", self.tau)?;
        writeln!(f, "Spearman               {:>10.4}", self.spearman)?;
        writeln!(f, "sibling accuracy       {:>10.4}", self.sibling)?;
        writeln!(f, "R2                     {:>10.4}", self.r2)?;
        writeln!(f, "calibration error      {:>10.4}", self.ece)?;
        writeln!(f, "error, mean            {:>+10.4}", self.bias)?;
        write!(f, "error, rms             {:>10.4}", self.rms)?;
        let Decided { won, drawn, lost, .. } = self.decided;
        for (kind, share) in
            [("won, above 95%", won), ("drawn, 35% to 65%", drawn), ("lost, below 5%", lost)]
        {
            if let Some(share) = share {
                write!(f, "\n{kind:<22} {:>9.1}%", 100.0 * share)?;
            }
        }
        Ok(())
    }
}

/// Kendall's tau-b in n log n (Knight 1966): the swaps of a merge sort are the discordant pairs.
pub fn kendall_tau_b(x: &[f32], y: &[f32]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]).then(y[a].total_cmp(&y[b])));
    let tied = |same: &dyn Fn(usize, usize) -> bool, order: &[usize]| -> f64 {
        order.chunk_by(|&a, &b| same(a, b)).map(|run| pairs(run.len())).sum()
    };
    let ties_x = tied(&|a, b| x[a] == x[b], &order);
    let ties_both = tied(&|a, b| x[a] == x[b] && y[a] == y[b], &order);
    let mut by_x: Vec<f32> = order.iter().map(|&index| y[index]).collect();
    let discordant = merge_sort(&mut by_x, &mut Vec::with_capacity(y.len()));
    let ties_y: f64 = by_x.chunk_by(|a, b| a == b).map(|run| pairs(run.len())).sum();
    let all = pairs(x.len());
    let concordant_minus_discordant = all - ties_x - ties_y + ties_both - 2.0 * discordant;
    concordant_minus_discordant / ((all - ties_x) * (all - ties_y)).sqrt()
}

fn pairs(n: usize) -> f64 {
    n as f64 * (n as f64 - 1.0) / 2.0
}

/// Sorts the values and counts the pairs that were in descending order.
fn merge_sort(values: &mut [f32], scratch: &mut Vec<f32>) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let mut swaps = merge_sort(left, scratch) + merge_sort(right, scratch);
    scratch.clear();
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if right[r] < left[l] {
            swaps += (left.len() - l) as f64;
            scratch.push(right[r]);
            r += 1;
        } else {
            scratch.push(left[l]);
            l += 1;
        }
    }
    scratch.extend_from_slice(&left[l..]);
    scratch.extend_from_slice(&right[r..]);
    values.copy_from_slice(scratch);
    swaps
}

/// Ranks from 0; equal values get their mean rank.
fn ranks(values: &[f32]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (run.len() as f64 - 1.0) / 2.0;
        run.iter().for_each(|&index| ranks[index] = rank);
        first += run.len();
    }
    ranks
}

fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    xy / (xx * yy).sqrt()
}

/// Smallest difference of win probability at which siblings are compared.
const SIBLING_MARGIN: f32 = 0.1;

fn sibling_accuracy(cosines: &[f32], labels: &[f32], parents: &[u32]) -> f64 {
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|&index| parents[index]);
    let (mut right, mut compared) = (0.0, 0.0);
    for children in order.chunk_by(|&a, &b| parents[a] == parents[b]) {
        for (index, &a) in children.iter().enumerate() {
            for &b in &children[index + 1..] {
                if (labels[a] - labels[b]).abs() > SIBLING_MARGIN {
                    let better = labels[a].total_cmp(&labels[b]);
                    right += match cosines[a].total_cmp(&cosines[b]) {
                        Ordering::Equal => 0.5,
                        order if order == better => 1.0,
                        _ => 0.0,
                    };
                    compared += 1.0;
                }
            }
        }
    }
    right / compared
}

fn r_squared(predictions: &[f32], labels: &[f32]) -> f64 {
    let mean = labels.iter().map(|&p| f64::from(p)).sum::<f64>() / labels.len() as f64;
    let (mut unexplained, mut total) = (0.0, 0.0);
    for (&prediction, &label) in predictions.iter().zip(labels) {
        unexplained += f64::from(prediction - label).powi(2);
        total += (f64::from(label) - mean).powi(2);
    }
    // Without the condition, R² could be infinite, and JSON would not give that value back.
    if total > 0.0 { 1.0 - unexplained / total } else { f64::NAN }
}

/// Number of bins of predicted win probability for the calibration error.
const CALIBRATION_BINS: usize = 20;

fn calibration_error(predictions: &[f32], labels: &[f32]) -> f64 {
    let mut bins = [(0.0, 0.0); CALIBRATION_BINS];
    for (&prediction, &label) in predictions.iter().zip(labels) {
        let bin = ((prediction * CALIBRATION_BINS as f32) as usize).min(CALIBRATION_BINS - 1);
        bins[bin].0 += f64::from(prediction);
        bins[bin].1 += f64::from(label);
    }
    bins.iter().map(|(predicted, found)| (predicted - found).abs()).sum::<f64>()
        / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_b_counts_ties_as_scipy_does() {
        // The results of scipy.stats.kendalltau and spearmanr for the same numbers.
        let x = [12.0, 2.0, 1.0, 12.0, 2.0];
        let y = [1.0, 4.0, 7.0, 1.0, 0.0];
        assert!((kendall_tau_b(&x, &y) - -0.471_404_520_791_031_7).abs() < 1e-12);
        assert!((pearson(&ranks(&x), &ranks(&y)) - -0.5).abs() < 0.1);
        let rising: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let falling: Vec<f32> = rising.iter().map(|x| -x).collect();
        assert_eq!(kendall_tau_b(&rising, &rising), 1.0);
        assert_eq!(kendall_tau_b(&rising, &falling), -1.0);
    }

    #[test]
    fn siblings_are_compared_within_one_parent_and_beyond_the_margin() {
        let labels = [0.2, 0.5, 0.55, 0.9];
        assert_eq!(sibling_accuracy(&[0.1, 0.3, 0.2, 0.0], &labels, &[1, 1, 1, 2]), 1.0);
        assert_eq!(sibling_accuracy(&[0.4, 0.3, 0.4, 0.0], &labels, &[1, 1, 1, 2]), 0.25);
    }

    #[test]
    fn perfect_predictions_have_no_error() {
        let labels = [0.1, 0.5, 0.9];
        assert_eq!(r_squared(&labels, &labels), 1.0);
        assert_eq!(calibration_error(&labels, &labels), 0.0);
        assert!((calibration_error(&[0.2, 0.6, 0.8], &labels) - 0.1).abs() < 1e-6);
    }

    #[test]
    fn every_kind_is_counted_by_itself_and_none_where_it_is_absent() {
        let labels = [1.0, 0.995, 0.9, 0.5, 0.495, 0.5, 0.5];
        let predictions = [0.96, 0.95, 0.1, 0.35, 0.66, 0.5, 0.65];
        let expected = Decided { won: Some(0.5), drawn: Some(0.75), lost: None };
        assert_eq!(Decided::of(&predictions, &labels), expected);
        assert_eq!(Decided::of(&[0.049, 0.05], &[0.0, 0.0]).lost, Some(0.5));
    }
}
