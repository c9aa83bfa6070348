//! The effects of several techniques in Elo, estimated from matches in which every player switches
//! off a different subset: a designed experiment. Every game carries information about every
//! technique that only one side has, so a thousand games estimate a dozen techniques as precisely
//! as twelve separate matches of five hundred games each.

use std::collections::BTreeSet;
use std::f64::consts::LN_10;

use anyhow::{Context, Result, ensure};
use nalgebra::{DMatrix, DVector};

use crate::games::{GameRecord, Name};
use crate::settings::RecordedSettings;

/// Maximum number of Newton steps; convergence takes a handful.
const STEPS: usize = 50;

/// 95% of a normal distribution lies within this many standard deviations.
const DEVIATIONS: f64 = 1.96;

#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The technique's name as in `without=`; for a parameter, its word as in `set=`.
    pub name: String,
    /// Effect in Elo, with each of the other techniques present as often as absent.
    pub elo: f64,
    /// Half-width of the 95% interval.
    pub error: f64,
}

/// The effects of all techniques that some players have and others lack, largest first. A game's
/// expected score is the logistic function of the sum of the techniques that one side has and the
/// other lacks, and of the first move's advantage. Errors come from the sandwich estimator, because
/// draws make the variance of scores smaller than that of wins and losses alone. Fails if the games
/// cannot separate the techniques.
pub fn effects(games: &[GameRecord]) -> Result<Vec<Effect>> {
    let players = |game: &GameRecord| -> Result<[BTreeSet<String>; 2]> {
        Ok([marks(&game.white)?, marks(&game.black)?])
    };
    let marks: Vec<[BTreeSet<String>; 2]> = games.iter().map(players).collect::<Result<_>>()?;
    let names: Vec<&String> =
        marks.iter().flatten().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    // The last column is the first move's advantage.
    let columns = names.len() + 1;
    let rows = DMatrix::from_fn(games.len(), columns, |game, column| {
        let Some(name) = names.get(column) else { return 1.0 };
        let [white, black] = marks[game].each_ref().map(|marks| f64::from(marks.contains(*name)));
        // A technique left out is a mark of its absence; a parameter that is set is a mark of its
        // presence.
        if name.starts_with(SET) { white - black } else { black - white }
    });
    let half_points = games.iter().map(|game| game.outcome.white_half_points() as f64 / 2.0);
    let scores = DVector::from_iterator(games.len(), half_points);
    let (values, covariance) = logistic_regression(&rows, &scores)
        .context("the players differ too little to tell their techniques apart")?;
    let elo = 400.0 / LN_10;
    let mut effects: Vec<Effect> = names
        .into_iter()
        .enumerate()
        .map(|(column, name)| Effect {
            name: name.trim_start_matches(SET).to_owned(),
            elo: elo * values[column],
            error: elo * DEVIATIONS * covariance[(column, column)].sqrt(),
        })
        .collect();
    effects.sort_by(|a, b| b.elo.total_cmp(&a.elo));
    Ok(effects)
}

/// Prefix of the mark of a parameter that is set.
const SET: &str = "set ";

/// Marks of the techniques that a player leaves out and of the parameters that are set.
fn marks(player: &Name) -> Result<BTreeSet<String>> {
    let RecordedSettings { without, set, .. } = RecordedSettings::read(&player.settings)?;
    Ok(without.into_iter().chain(set.iter().map(|name| format!("{SET}{name}"))).collect())
}

/// Fits the coefficients, and returns them with their covariance.
fn logistic_regression(
    rows: &DMatrix<f64>,
    scores: &DVector<f64>,
) -> Result<(DVector<f64>, DMatrix<f64>)> {
    ensure!(rows.nrows() > rows.ncols(), "{} games", rows.nrows());
    let scaled = |factors: &DVector<f64>| {
        DMatrix::from_fn(rows.nrows(), rows.ncols(), |i, j| rows[(i, j)] * factors[i])
    };
    let mut values = DVector::zeros(rows.ncols());
    for _ in 0..STEPS {
        let expected = (rows * &values).map(|logit| 1.0 / (1.0 + (-logit).exp()));
        let slopes = expected.map(|p| p * (1.0 - p));
        let curvature =
            (rows.transpose() * scaled(&slopes)).cholesky().context("no unique solution")?;
        let errors = scores - &expected;
        let step = curvature.solve(&(rows.transpose() * &errors));
        values += &step;
        if step.amax() < 1e-10 {
            let spread = scaled(&errors.map(|error| error * error));
            let inverse = curvature.inverse();
            let covariance = &inverse * (rows.transpose() * spread) * &inverse;
            return Ok((values, covariance));
        }
    }
    anyhow::bail!("no solution: a side has won every game")
}

#[cfg(test)]
mod tests {
    use azimuth_chess::pgn::Outcome;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn player(without: &[&str]) -> Name {
        let words = match without {
            [] => "planner=selective".to_owned(),
            names => format!("planner=selective without='{}'", names.join(",")),
        };
        Name { settings: words, ..Name::default() }
    }

    /// Games between players that switch off any of three techniques, worth 60, 0 and -30 Elo.
    /// About half of the games between equal players are drawn.
    fn games(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<GameRecord> {
        let worth = [("a", 60.0), ("b", 0.0), ("c", -30.0)];
        let mut games = Vec::new();
        for _ in 0..count {
            let mut side = || {
                let left_out: Vec<(&str, f64)> =
                    worth.into_iter().filter(|_| random.random()).collect();
                let names: Vec<&str> = left_out.iter().map(|(name, _)| *name).collect();
                (player(&names), -left_out.iter().map(|(_, elo)| elo).sum::<f64>())
            };
            let ((white, strong), (black, other)) = (side(), side());
            let p = 1.0 / (1.0 + 10f64.powf((other - strong - 20.0) / 400.0));
            // Half of the weaker side's points come from draws.
            let draw = p.min(1.0 - p);
            let outcome = match random.random::<f64>() {
                throw if throw < p - draw / 2.0 => Outcome::WhiteWins,
                throw if throw < p + draw / 2.0 => Outcome::Draw,
                _ => Outcome::BlackWins,
            };
            games.push(GameRecord::between(white, black, outcome));
        }
        games
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() -> Result<()> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut held, mut all) = (0, 0);
        for _ in 0..60 {
            let games = games(600, &mut random);
            let found = effects(&games)?;
            for (name, truth) in [("a", 60.0), ("b", 0.0), ("c", -30.0)] {
                let effect = found.iter().find(|effect| effect.name == name).context(name)?;
                held += usize::from((effect.elo - truth).abs() <= effect.error);
                all += 1;
            }
            assert!(found.is_sorted_by(|a, b| a.elo >= b.elo));
        }
        assert!((160..=178).contains(&held), "{held} of {all}");
        Ok(())
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let pair = ["a", "b"];
        let games = [Outcome::WhiteWins, Outcome::BlackWins, Outcome::Draw]
            .map(|outcome| GameRecord::between(player(&pair), player(&[]), outcome));
        let games: Vec<GameRecord> = games.iter().cycle().take(30).cloned().collect();
        let error = effects(&games).expect_err("a and b always go together");
        assert!(error.to_string().contains("too little to tell"), "{error:#}");
    }
}
