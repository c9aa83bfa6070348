//! Sequential probability ratio test of two versions, on pairs of games: the generalised likelihood
//! ratio of the pentanomial model (van den Bergh, "Comments on normalized Elo", section 4; Fishtest
//! and fastchess use it). The Elo difference that the pairs show.

use std::str::FromStr;

use anyhow::{Result, bail, ensure};

use crate::settings::Words;

/// Replaces a count of zero, so that every score remains possible.
const UNSEEN: f64 = 1e-3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    pub elo0: f64,
    pub elo1: f64,
    /// Probability of accepting the alternative if the null is true.
    pub alpha: f64,
    /// Probability of accepting the null if the alternative is true.
    pub beta: f64,
    pub model: EloModel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EloModel {
    Logistic,
    /// Normalized Elo: the number of games needed does not depend on the draw rate or the book.
    Normalized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Undecided,
    /// The null hypothesis is accepted: not better by `elo1`.
    Rejected,
    /// The alternative is accepted: better than `elo0`.
    Accepted,
}

impl Sprt {
    /// Log-likelihood ratios at which the test ends.
    pub fn bounds(&self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// Log-likelihood ratio of `elo1` to `elo0`.
    fn log_likelihood_ratio(&self, counts: &Pentanomial) -> f64 {
        if counts.pairs() == 0 {
            return 0.0;
        }
        let counts = counts.0.map(|count| if count == 0 { UNSEEN } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let found = counts.map(|count| count / total);
        let likeliest = |elo: f64| match self.model {
            EloModel::Logistic => likeliest_with_mean(found, expected_score(elo)),
            // The deviation is that of a pair, and normalized Elo is in deviations of one game.
            EloModel::Normalized => {
                likeliest_with_deviations(found, elo / NORMALIZED * std::f64::consts::SQRT_2)
            }
        };
        let (null, alternative) = (likeliest(self.elo0), likeliest(self.elo1));
        let ratio = |i: usize| found[i] * (alternative[i] / null[i]).ln();
        total * (0..found.len()).map(ratio).sum::<f64>()
    }

    pub fn summary(&self, counts: &Pentanomial) -> String {
        let [lower, upper] = self.bounds();
        let verdict = match self.verdict(counts) {
            Verdict::Undecided => "undecided",
            Verdict::Rejected => "not better",
            Verdict::Accepted => "better",
        };
        format!(
            "SPRT [{}, {}]: {verdict}, LLR {:.2} ({lower:.2}, {upper:.2}) after {} pairs {:?}",
            self.elo0,
            self.elo1,
            self.log_likelihood_ratio(counts),
            counts.pairs(),
            counts.0
        )
    }

    pub fn verdict(&self, counts: &Pentanomial) -> Verdict {
        let ratio = self.log_likelihood_ratio(counts);
        match self.bounds() {
            [lower, _] if ratio <= lower => Verdict::Rejected,
            [_, upper] if ratio >= upper => Verdict::Accepted,
            _ => Verdict::Undecided,
        }
    }
}

/// Reads `elo0=0,elo1=5,alpha=0.05,beta=0.05,model=normalized`; elo0 and elo1 are required.
impl FromStr for Sprt {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = Words::split_at_commas(text)?;
        let (elo0, elo1): (f64, f64) = (words.require("elo0")?, words.require("elo1")?);
        let alpha: f64 = words.take("alpha")?.unwrap_or(0.05);
        let beta: f64 = words.take("beta")?.unwrap_or(0.05);
        let model = match words.take_text("model").as_deref() {
            None | Some("normalized") => EloModel::Normalized,
            Some("logistic") => EloModel::Logistic,
            Some(other) => bail!("model '{other}': expected logistic or normalized"),
        };
        words.all_taken()?;
        ensure!(elo0.is_finite() && elo1.is_finite(), "elo0 and elo1 have to be finite");
        ensure!(elo0 < elo1, "elo0 {elo0} has to be less than elo1 {elo1}");
        let rate = |rate: f64| rate > 0.0 && rate < 0.5;
        ensure!(rate(alpha) && rate(beta), "alpha and beta have to be between 0 and 0.5");
        Ok(Self { elo0, elo1, alpha, beta, model })
    }
}

/// The maximum-likelihood distribution with mean score `mean`: each observed probability divided by
/// `1 + x (score - mean)`.
fn likeliest_with_mean(found: [f64; 5], mean: f64) -> [f64; 5] {
    tilted(found, SCORES.map(|score| score - mean))
}

/// The maximum-likelihood distribution whose mean is `deviations` standard deviations from 1/2. The
/// constraint is not linear; it is replaced by its tangent until that converges, in small steps
/// from a mean of 1/2, where both agree.
fn likeliest_with_deviations(found: [f64; 5], deviations: f64) -> [f64; 5] {
    const STEPS: usize = 16;
    const ROUNDS: usize = 20;
    let mut likeliest = likeliest_with_mean(found, 0.5);
    for step in 1..=STEPS {
        let aim = deviations * step as f64 / STEPS as f64;
        for _ in 0..ROUNDS {
            let gains = tangent(likeliest, aim);
            let reachable = gains.iter().any(|&gain| gain > 0.0) && gains.iter().any(|&g| g < 0.0);
            if !reachable {
                return likeliest;
            }
            likeliest = tilted(found, gains);
        }
    }
    likeliest
}

/// The contribution of each score to `mean - 1/2 - deviations * standard deviation`, linearised at
/// `distribution`.
fn tangent(distribution: [f64; 5], deviations: f64) -> [f64; 5] {
    let (mean, variance) = moments(distribution);
    let deviation = variance.sqrt();
    SCORES.map(|score| {
        let distance = (mean - score) / deviation;
        score - 0.5 - deviations * deviation * (1.0 + distance.powi(2)) / 2.0
    })
}

/// Mean and variance of a distribution of scores.
fn moments(distribution: [f64; 5]) -> (f64, f64) {
    let expected = |values: [f64; 5]| -> f64 {
        distribution.iter().zip(values).map(|(p, value)| p * value).sum()
    };
    let mean = expected(SCORES);
    (mean, expected(SCORES.map(|score| (score - mean).powi(2))))
}

/// `found / (1 + x gains)` with the x for which the mean of `gains` is zero. The mean decreases
/// with x, so bisection finds the root.
fn tilted(found: [f64; 5], gains: [f64; 5]) -> [f64; 5] {
    let largest = gains.into_iter().fold(f64::MIN, f64::max);
    let smallest = gains.into_iter().fold(f64::MAX, f64::min);
    // The open interval in which all denominators are positive.
    let (mut low, mut high) = (-1.0 / largest, -1.0 / smallest);
    for _ in 0..200 {
        let x = f64::midpoint(low, high);
        let mean: f64 = (0..5).map(|i| found[i] * gains[i] / (1.0 + x * gains[i])).sum();
        if mean > 0.0 {
            low = x;
        } else {
            high = x;
        }
    }
    let x = f64::midpoint(low, high);
    std::array::from_fn(|i| found[i] / (1.0 + x * gains[i]))
}

/// The possible scores of a pair: 0, 0.5, 1, 1.5 and 2 points, divided by 2.
const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Half-width of a 95% interval in standard errors.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Normalized Elo of one standard deviation of a game's score.
const NORMALIZED: f64 = 800.0 / std::f64::consts::LN_10;

/// Number of pairs by the first player's points: 0, 0.5, 1, 1.5, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial(pub [u64; 5]);

/// A value with the half-width of its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithError {
    pub value: f64,
    pub error: f64,
}

impl Pentanomial {
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Mean and variance of a pair's score, which is in [0, 1].
    fn moments(&self) -> (f64, f64) {
        moments(self.0.map(|count| count as f64 / self.pairs() as f64))
    }

    /// Elo difference of the logistic model, with its error; `None` if every pair was won, every
    /// pair was lost, or there are no pairs.
    pub fn logistic_elo(&self) -> Option<WithError> {
        let (mean, variance) = self.moments();
        (mean > 0.0 && mean < 1.0).then_some(())?;
        let spread = NORMAL_95 * (variance / self.pairs() as f64).sqrt();
        let ends =
            [mean + spread, mean - spread].map(|score| logistic(score.clamp(1e-6, 1.0 - 1e-6)));
        Some(WithError { value: logistic(mean), error: (ends[0] - ends[1]) / 2.0 })
    }

    /// Normalized Elo: the score in standard deviations of one game (van den Bergh, "Normalized
    /// Elo", 2020), with its error; `None` if all pairs have the same score.
    pub fn normalized_elo(&self) -> Option<WithError> {
        let (mean, variance) = self.moments();
        let game_deviation = (2.0 * variance).sqrt();
        (game_deviation > 0.0).then_some(())?;
        let elo = |score: f64| (score - 0.5) / game_deviation * NORMALIZED;
        let spread = NORMAL_95 * (variance / self.pairs() as f64).sqrt();
        Some(WithError { value: elo(mean), error: elo(0.5 + spread) })
    }
}

/// Elo difference at which the expected score is `score`.
pub fn logistic(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// Expected score at a difference of `elo`.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::distr::Distribution;
    use rand::distr::weighted::WeightedIndex;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Final output of fastchess 1.8.2: pairs, Elo and normalized Elo with their errors, the test's
    /// model and elo1 (elo0 was 0), the LLR.
    type Said = ([u64; 5], [f64; 4], EloModel, f64, f64);

    const FASTCHESS: [Said; 6] = [
        ([32, 5, 44, 1, 18], [-56.07, 49.24, -56.19, 48.15], EloModel::Logistic, 10.0, -0.96),
        ([3, 12, 44, 25, 66], [174.26, 39.51, 205.44, 39.32], EloModel::Normalized, 60.0, 19.70),
        ([2, 1, 2, 0, 1], [-88.74, 247.25, -88.73, 196.58], EloModel::Normalized, 10.0, -0.09),
        ([0, 0, 3, 0, 3], [190.85, 238.40, 245.67, 196.58], EloModel::Normalized, 10.0, 0.17),
        ([0, 0, 5, 0, 1], [58.45, 110.45, 109.87, 196.58], EloModel::Normalized, 10.0, 0.10),
        ([0, 1, 2, 1, 2], [120.41, 198.68, 148.15, 196.58], EloModel::Normalized, 10.0, 0.14),
    ];

    #[test]
    fn fastchess_says_the_same() {
        for (counts, [elo, error, normalized, normalized_error], model, elo1, ratio) in FASTCHESS {
            let counts = Pentanomial(counts);
            let ours = counts.logistic_elo().expect("mixed results");
            let ours_normalized = counts.normalized_elo().expect("mixed results");
            let sprt = Sprt { elo0: 0.0, elo1, alpha: 1e-9, beta: 1e-9, model };
            let expected = [elo, error, normalized, normalized_error, ratio];
            let found = [
                ours.value,
                ours.error,
                ours_normalized.value,
                ours_normalized.error,
                sprt.log_likelihood_ratio(&counts),
            ];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 0.0051, "{counts:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn whatever_the_counts_there_is_a_ratio() {
        let won = Pentanomial([0, 0, 0, 0, 6]);
        let lost = Pentanomial([6, 0, 0, 0, 0]);
        for model in [EloModel::Logistic, EloModel::Normalized] {
            for (elo0, elo1) in [(0.0, 5.0), (-5.0, 0.0), (0.0, 100.0), (0.0, 300.0)] {
                let sprt = Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model };
                assert!(sprt.log_likelihood_ratio(&won) > 0.0, "{sprt:?}");
                assert!(sprt.log_likelihood_ratio(&lost) < 0.0, "{sprt:?}");
                let even = sprt.log_likelihood_ratio(&Pentanomial([0, 0, 9, 0, 0]));
                assert!(even.is_finite(), "{sprt:?}");
            }
        }
        assert_eq!(
            Sprt::from_str("elo0=0,elo1=5").expect("valid").bounds().map(|b| (b * 1e4) as i64),
            [-29444, 29444]
        );
    }

    #[test]
    fn tests_decide_wrongly_about_as_often_as_alpha_and_beta_allow() {
        const TESTS: usize = 200;
        let sprt = "elo0=0,elo1=40,alpha=0.05,beta=0.2,model=logistic";
        let sprt: Sprt = sprt.parse().expect("valid");
        // 5% and 20% of the tests, plus or minus about three standard deviations. The last pair
        // passes the bound, so errors are a little rarer.
        let cases = [(0.0, Verdict::Accepted, 1..=20), (40.0, Verdict::Rejected, 16..=56)];
        for (elo, wrong, expected) in cases {
            let truth = likeliest_with_mean([0.1, 0.2, 0.4, 0.2, 0.1], expected_score(elo));
            let pair = WeightedIndex::new(truth).expect("probabilities");
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
            let mut decision = || {
                let mut counts = Pentanomial::default();
                loop {
                    counts.0[pair.sample(&mut rng)] += 1;
                    match sprt.verdict(&counts) {
                        Verdict::Undecided => {}
                        verdict => break verdict,
                    }
                }
            };
            let errors = (0..TESTS).filter(|_| decision() == wrong).count();
            assert!(expected.contains(&errors), "{errors} of {TESTS} at {elo} Elo");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("elo0=0", "elo1 is missing"),
            ("elo0=5,elo1=5", "elo0 5 has to be less than elo1 5"),
            ("elo0=x,elo1=5", "elo0 'x': not a number"),
            ("elo0=0,elo1=5,alpha=0", "between 0 and 0.5"),
            ("elo0=0,elo1=5,model=normal", "expected logistic or normalized"),
            ("elo0=0,elo1=5,gamma=1", "unknown setting 'gamma'"),
        ] {
            let error = text.parse::<Sprt>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
