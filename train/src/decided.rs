//! Accuracy on decided positions: the shares of won, drawn and lost positions with a matching win
//! probability.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Shares, 0 to 1, of decided positions that are predicted as such; `None` if there are no
/// positions of the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
            let of_kind =
                predictions.iter().zip(labels).filter(|(_, label)| labelled.contains(label));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_counted_by_itself_and_none_where_it_is_absent() {
        let labels = [1.0, 0.995, 0.9, 0.5, 0.495, 0.5, 0.5];
        let predictions = [0.96, 0.95, 0.1, 0.35, 0.66, 0.5, 0.65];
        let expected = Decided { won: Some(0.5), drawn: Some(0.75), lost: None };
        assert_eq!(Decided::of(&predictions, &labels), expected);
        assert_eq!(Decided::of(&[0.049, 0.05], &[0.0, 0.0]).lost, Some(0.5));
    }
}
