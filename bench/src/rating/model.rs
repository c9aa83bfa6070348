//! Ratings by a Bayesian logistic model with draws and the first move's advantage: that of BayesElo
//! (Coulom, "Bayesian Elo Rating", 2005-2010), with known ratings for some players.
//!
//! With x = rating of White - rating of Black + advantage and F(x) = 1 / (1 + 10^(-x / 400)):
//! P(White wins) = F(x - draw), P(Black wins) = F(-x - draw), a draw otherwise. Advantage and draw
//! are fitted with the ratings. The prior is BayesElo's: one virtual drawn game per player, spread
//! over its opponents. Ratings are the most likely ones. An interval is that of the player's
//! marginal posterior, the other parameters integrated out by Laplace's approximation at every
//! point; it need not be symmetric.

use anyhow::{Context, Result, bail, ensure};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::{Results, Standings};

/// `ln 10 / 400`: natural-logarithm units per Elo.
const UNIT: f64 = std::f64::consts::LN_10 / 400.0;

/// Number of virtual draws added to each player's games.
const PRIOR_DRAWS: f64 = 1.0;

/// Standard deviation, in Elo, of the weak normal priors about 0 of advantage and draw, which keep
/// them finite where the games do not: BayesElo has fixed values for them there.
const PARAMETER_DEVIATION: f64 = 300.0;

/// Precision, in Elo^-2, of the prior that the mean rating is 0 if no player's rating is known.
const CENTRE: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    pub elo: f64,
    pub low: f64,
    pub high: f64,
    pub known: bool,
}

impl Rating {
    /// The interval in words.
    pub fn interval(&self) -> String {
        match self.known {
            true => "known".to_owned(),
            false => format!("{:.0} to {:.0}", self.low, self.high),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Ratings {
    /// In the order of the players.
    pub players: Vec<Rating>,
    /// The first move's advantage, in Elo.
    pub advantage: f64,
    /// The draw parameter, in Elo: two equal players draw `(10^(d/400) - 1) / (10^(d/400) + 1)` of
    /// their games.
    pub draw: f64,
}

impl Ratings {
    /// Rates all players. Fails if a player's games do not connect it to all others: the rating
    /// difference is then undetermined.
    pub fn of(standings: &Standings) -> Result<Self> {
        let known: Vec<Option<f64>> = standings.players.iter().map(|player| player.elo).collect();
        let games = standings.games.iter();
        let mut games: Vec<Games> =
            games.map(|(&players, results)| Games::of(players, results)).collect();
        ensure!(!games.is_empty(), "no games to rate");
        if let Some(apart) = apart(&games, &known) {
            let name = &standings.players[apart].name;
            let others = if known.iter().any(Option::is_some) { "known ratings" } else { "others" };
            bail!("player '{name}' cannot be rated: no games connect it with the {others}");
        }
        add_prior(&mut games, known.len());

        // The scale of the ratings depends on the draw parameter that is fitted with them.
        let mut scale = 1.0;
        let mut point = None;
        for _ in 0..SCALINGS {
            let mut found = Model::new(&games, &known, scale).most_likely(point)?;
            let free = found.len() - 2;
            let next = scale_of(found[free + 1].min(LARGEST_DRAW));
            found.rows_mut(0, free).scale_mut(scale / next);
            (point, scale) = (Some(found), next);
        }
        let model = Model::new(&games, &known, scale);
        let point = model.most_likely(point)?;
        let players = (0..known.len())
            .map(|player| match known[player] {
                Some(elo) => Ok(Rating { elo, low: elo, high: elo, known: true }),
                None => model.interval(&point, player),
            })
            .collect::<Result<_>>()?;
        let (advantage, draw) = (point[point.len() - 2], point[point.len() - 1]);
        Ok(Self { players, advantage, draw })
    }
}

/// Number of rounds in which ratings and scale are fitted to each other; the scale changes by parts
/// in a thousand.
const SCALINGS: usize = 8;

/// Draw parameter, in Elo, beyond which the scale is constant: nine in eleven games between equal
/// players are drawn, and with hardly any decisive games there is no slope to preserve.
const LARGEST_DRAW: f64 = 400.0;

/// BayesElo's scale: the model's ratings times this factor have, between equal players, the slope
/// of the usual Elo formula.
fn scale_of(draw: f64) -> f64 {
    let x = 10f64.powf(-draw / 400.0);
    4.0 * x / (1.0 + x).powi(2)
}

/// Results between two players; fractions are allowed.
#[derive(Clone, Copy)]
struct Games {
    white: usize,
    black: usize,
    wins: f64,
    draws: f64,
    losses: f64,
}

impl Games {
    fn of((white, black): (usize, usize), results: &Results) -> Self {
        let [wins, draws, losses] =
            [results.wins, results.draws, results.losses].map(|count| count as f64);
        Self { white, black, wins, draws, losses }
    }

    fn total(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

/// A player not connected by games to a known rating (or, if none is known, to the first player).
fn apart(games: &[Games], known: &[Option<f64>]) -> Option<usize> {
    let mut reached: Vec<bool> = known.iter().map(Option::is_some).collect();
    if !reached.contains(&true) {
        reached[0] = true;
    }
    loop {
        let before = reached.clone();
        for game in games {
            let either = reached[game.white] || reached[game.black];
            reached[game.white] = either;
            reached[game.black] = either;
        }
        if reached == before {
            return reached.iter().position(|reached| !reached);
        }
    }
}

/// Adds every player's virtual draws: half with each colour, distributed over its opponents like
/// its games.
fn add_prior(games: &mut Vec<Games>, players: usize) {
    let real = games.clone();
    for player in 0..players {
        let own = || real.iter().filter(|game| game.white == player || game.black == player);
        let total: f64 = own().map(Games::total).sum();
        for game in own() {
            let draws = PRIOR_DRAWS / 2.0 * game.total() / total;
            let drawn = Games { wins: 0.0, draws, losses: 0.0, ..*game };
            games.push(drawn);
            games.push(Games { white: game.black, black: game.white, ..drawn });
        }
    }
}

/// The posterior as a function of the free parameters: ratings that are not fixed, then advantage
/// and draw.
struct Model<'a> {
    games: &'a [Games],
    /// The ratings that are fixed, in the model's units.
    fixed: Vec<Option<f64>>,
    /// Elo per unit of the model's ratings.
    scale: f64,
    /// Whether the mean rating has a prior, because no rating is known.
    is_centred: bool,
}

/// Value, gradient and negated second derivatives of the logarithm of the posterior.
struct Shape {
    value: f64,
    gradient: DVector<f64>,
    information: DMatrix<f64>,
}

impl<'a> Model<'a> {
    fn new(games: &'a [Games], known: &[Option<f64>], scale: f64) -> Self {
        let fixed = known.iter().map(|elo| elo.map(|elo| elo / scale)).collect();
        Self { games, fixed, scale, is_centred: known.iter().all(Option::is_none) }
    }

    /// Index of each player's rating among the free parameters.
    fn places(&self) -> Vec<Option<usize>> {
        let mut next = 0..;
        self.fixed.iter().map(|fixed| if fixed.is_none() { next.next() } else { None }).collect()
    }

    fn ratings(&self, point: &DVector<f64>) -> Vec<f64> {
        let mut free = point.iter().copied();
        self.fixed.iter().filter_map(|fixed| fixed.or_else(|| free.next())).collect()
    }

    fn start(&self) -> DVector<f64> {
        let fixed: Vec<f64> = self.fixed.iter().flatten().copied().collect();
        let mean = fixed.iter().sum::<f64>() / fixed.len().max(1) as f64;
        let free = self.fixed.len() - fixed.len();
        let mut point = DVector::from_element(free + 2, mean);
        (point[free], point[free + 1]) = (0.0, 50.0);
        point
    }

    fn shape(&self, point: &DVector<f64>) -> Shape {
        let (size, places, ratings) = (point.len(), self.places(), self.ratings(point));
        let (advantage, draw) = (size - 2, size - 1);
        let mut value = 0.0;
        let mut gradient = DVector::zeros(size);
        let mut information = DMatrix::zeros(size, size);
        for game in self.games {
            let x = ratings[game.white] - ratings[game.black] + point[advantage];
            let term = Term::of(game, x, point[draw]);
            value += term.value;
            // Derivatives of x by the free parameters.
            let of_x =
                [(places[game.white], 1.0), (places[game.black], -1.0), (Some(advantage), 1.0)];
            let of_x: Vec<(usize, f64)> =
                of_x.into_iter().filter_map(|(place, slope)| Some((place?, slope))).collect();
            for &(i, slope) in &of_x {
                gradient[i] += slope * term.x;
                information[(i, draw)] -= slope * term.x_draw;
                information[(draw, i)] -= slope * term.x_draw;
                for &(j, other) in &of_x {
                    information[(i, j)] -= slope * other * term.x_x;
                }
            }
            gradient[draw] += term.draw;
            information[(draw, draw)] -= term.draw_draw;
        }
        for parameter in [advantage, draw] {
            let precision = PARAMETER_DEVIATION.powi(-2);
            value -= precision * point[parameter].powi(2) / 2.0;
            gradient[parameter] -= precision * point[parameter];
            information[(parameter, parameter)] += precision;
        }
        if self.is_centred {
            let count = ratings.len() as f64;
            let mean = ratings.iter().sum::<f64>() / count;
            value -= CENTRE * mean * mean / 2.0;
            for i in places.iter().flatten() {
                gradient[*i] -= CENTRE * mean / count;
                for j in places.iter().flatten() {
                    information[(*i, *j)] += CENTRE / (count * count);
                }
            }
        }
        Shape { value, gradient, information }
    }

    /// The maximum of the posterior, by Newton's method. The posterior is log-concave, so steps
    /// that overshoot are halved.
    fn most_likely(&self, start: Option<DVector<f64>>) -> Result<DVector<f64>> {
        const STEPS: usize = 200;
        const CLOSE: f64 = 1e-6;
        /// In Elo. Where the posterior is flat, Newton's step is too long.
        const LONGEST: f64 = 200.0;
        let mut point = start.unwrap_or_else(|| self.start());
        let mut shape = self.shape(&point);
        for _ in 0..STEPS {
            let step = step(&shape)?;
            let mut size = (LONGEST / step.amax()).min(1.0);
            let (next, found) = loop {
                let mut next = &point + &step * size;
                let draw = next.len() - 1;
                next[draw] = next[draw].max(point[draw] / 4.0);
                let found = self.shape(&next);
                if found.value >= shape.value {
                    break (next, found);
                }
                if (&next - &point).amax() < CLOSE {
                    // No further increase is possible in floating point.
                    return Ok(point);
                }
                size /= 2.0;
            };
            let moved = (&next - &point).amax();
            (point, shape) = (next, found);
            if moved < CLOSE {
                return Ok(point);
            }
        }
        bail!("the ratings do not settle")
    }

    /// A free player's rating with the 95% interval of its marginal posterior, in Elo.
    fn interval(&self, point: &DVector<f64>, player: usize) -> Result<Rating> {
        /// Points of the grid on each side, and how far it reaches, in standard deviations.
        const POINTS: i32 = 40;
        const REACH: f64 = 7.0;
        let place = self.places()[player].context("the player is not free")?;
        let covariance = factor(self.shape(point).information)?.inverse();
        let (middle, deviation) = (point[place], covariance[(place, place)].sqrt());
        let at = |step: i32| middle + f64::from(step) * deviation * REACH / f64::from(POINTS);
        let mut densities = Vec::new();
        for side in [-1, 1] {
            let mut rest = Some(point.clone().remove_row(place));
            for step in 0..=POINTS {
                let mut fixed = self.fixed.clone();
                fixed[player] = Some(at(side * step));
                let model = Model { fixed, ..*self };
                let found = model.most_likely(rest)?;
                let shape = model.shape(&found);
                let volume = factor(shape.information)?.ln_determinant();
                densities.push((at(side * step), shape.value - volume / 2.0));
                rest = Some(found);
            }
        }
        densities.sort_by(|a, b| a.0.total_cmp(&b.0));
        densities.dedup_by(|a, b| a.0 == b.0);
        let [low, high] = [0.025, 0.975].map(|share| quantile(&densities, share) * self.scale);
        Ok(Rating { elo: middle * self.scale, low, high, known: false })
    }
}

/// Newton's step, limited in length where the posterior is flat.
fn step(shape: &Shape) -> Result<DVector<f64>> {
    const DAMPINGS: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-5];
    let size = shape.gradient.len();
    let damped = DAMPINGS.iter().find_map(|&damping| {
        Cholesky::new(&shape.information + DMatrix::identity(size, size) * damping)
    });
    Ok(damped.context("the games do not determine the ratings")?.solve(&shape.gradient))
}

fn factor(information: DMatrix<f64>) -> Result<Cholesky<f64, Dyn>> {
    Cholesky::new(information).context("the games do not determine the ratings")
}

/// The point below which `share` of the mass lies, for log densities on an increasing grid.
fn quantile(densities: &[(f64, f64)], share: f64) -> f64 {
    let highest = densities.iter().map(|point| point.1).fold(f64::MIN, f64::max);
    let density = |i: usize| (densities[i].1 - highest).exp();
    let mass = |i: usize| {
        (densities[i + 1].0 - densities[i].0) * f64::midpoint(density(i), density(i + 1))
    };
    let total: f64 = (0..densities.len() - 1).map(mass).sum();
    let mut below = 0.0;
    for i in 0..densities.len() - 1 {
        let part = mass(i) / total;
        if below + part >= share {
            let within = (share - below) / part;
            return densities[i].0 + within * (densities[i + 1].0 - densities[i].0);
        }
        below += part;
    }
    densities[densities.len() - 1].0
}

/// Logarithm of the likelihood of some games, with its derivatives by x and by the draw parameter.
struct Term {
    value: f64,
    x: f64,
    draw: f64,
    x_x: f64,
    x_draw: f64,
    draw_draw: f64,
}

impl Term {
    /// A draw's likelihood is that of a win times that of a loss times `10^(2 draw / 400) - 1`, so
    /// it counts as both.
    fn of(games: &Games, x: f64, draw: f64) -> Self {
        let wins = games.wins + games.draws;
        let losses = games.losses + games.draws;
        let (win, loss) = (Logistic::at(x - draw), Logistic::at(-x - draw));
        // Of 10^(2 draw / 400) - 1.
        let exponent = 2.0 * UNIT * draw;
        let gap = -(-exponent).exp_m1();
        let slope = 2.0 * UNIT / gap;
        let bend = -slope * slope * (-exponent).exp();
        Self {
            value: wins * win.value + losses * loss.value + games.draws * (exponent + gap.ln()),
            x: wins * win.slope - losses * loss.slope,
            draw: -wins * win.slope - losses * loss.slope + games.draws * slope,
            x_x: wins * win.bend + losses * loss.bend,
            x_draw: -wins * win.bend + losses * loss.bend,
            draw_draw: wins * win.bend + losses * loss.bend + games.draws * bend,
        }
    }
}

/// `ln F(x)` with its first and second derivative.
struct Logistic {
    value: f64,
    slope: f64,
    bend: f64,
}

impl Logistic {
    fn at(x: f64) -> Self {
        let exponent = UNIT * x;
        let against = 1.0 / (1.0 + exponent.exp());
        Self {
            // ln(1 + e^-y) without overflow.
            value: -(-exponent).max(0.0) - (-exponent.abs()).exp().ln_1p(),
            slope: UNIT * against,
            bend: -UNIT * UNIT * against * (1.0 - against),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::Player;
    use super::*;
    use crate::games::read_file;

    type Pairings = BTreeMap<(usize, usize), Results>;

    fn rated(elos: &[Option<f64>], games: Pairings) -> Result<Ratings> {
        let players = elos.iter().enumerate();
        let players = players.map(|(i, &elo)| Player { name: format!("p{i}"), elo });
        Ratings::of(&Standings::with(players.collect(), games))
    }

    fn counted(games: &[((usize, usize), [u64; 3])]) -> Pairings {
        let results = |[wins, draws, losses]: [u64; 3]| Results { wins, draws, losses };
        games.iter().map(|&(pairing, counts)| (pairing, results(counts))).collect()
    }

    /// Simulates games with the model.
    fn simulate(
        rng: &mut Xoshiro256PlusPlus,
        elos: &[f64],
        [advantage, draw]: [f64; 2],
        pairings: &[(usize, usize)],
        games: usize,
    ) -> Pairings {
        let scale = scale_of(draw);
        let mut all = BTreeMap::new();
        for &(white, black) in pairings {
            let x = (elos[white] - elos[black]) / scale + advantage;
            let (win, loss) =
                (Logistic::at(x - draw).value.exp(), Logistic::at(-x - draw).value.exp());
            let mut results = Results::default();
            for _ in 0..games {
                match rng.random::<f64>() {
                    luck if luck < win => results.wins += 1,
                    luck if luck < win + loss => results.losses += 1,
                    _ => results.draws += 1,
                }
            }
            all.insert((white, black), results);
        }
        all
    }

    /// Gauntlets of 100 to 400 games against two known opponents, as in the strength tables: the
    /// interval covers the true rating in 95 of 100, and is no wider than necessary.
    #[test]
    fn simulated_ratings_are_recovered_at_the_stated_rate() -> Result<()> {
        const MATCHES: usize = 400;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (truth, parameters, games) in
            [(1620.0, [-20.0, 30.0], 50), (1200.0, [0.0, 20.0], 100), (1900.0, [35.0, 97.0], 50)]
        {
            let elos = [truth, 1500.0, 1700.0];
            let pairings = [(0, 1), (1, 0), (0, 2), (2, 0)];
            let (mut covered, mut sum) = (0, 0.0);
            for _ in 0..MATCHES {
                let games = simulate(&mut rng, &elos, parameters, &pairings, games);
                let rating = rated(&[None, Some(1500.0), Some(1700.0)], games)?.players[0];
                covered += usize::from(rating.low <= truth && truth <= rating.high);
                sum += rating.elo - truth;
                assert!(rating.low < rating.elo && rating.elo < rating.high);
            }
            // Expected: 380 of 400, with a standard deviation of 4.4.
            assert!((366..=394).contains(&covered), "{truth}: {covered} of {MATCHES}");
            let bias = sum / MATCHES as f64;
            assert!(bias.abs() < 25.0, "{truth}: {bias}");
        }
        Ok(())
    }

    #[test]
    fn large_matches_give_every_parameter_back() -> Result<()> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let elos = [-120.0, 0.0, 40.0, 80.0];
        let pairings: Vec<(usize, usize)> =
            (0..4).flat_map(|a| (0..4).filter(move |&b| a != b).map(move |b| (a, b))).collect();
        let games = simulate(&mut rng, &elos, [32.8, 97.3], &pairings, 20_000);
        let ratings = rated(&[None; 4], games)?;
        for (rating, truth) in ratings.players.iter().zip(elos) {
            assert!((rating.elo - truth).abs() < 4.0, "{rating:?} {truth}");
        }
        assert!((ratings.advantage - 32.8).abs() < 2.0, "{}", ratings.advantage);
        assert!((ratings.draw - 97.3).abs() < 2.0, "{}", ratings.draw);
        Ok(())
    }

    /// fastchess 1.8.2 played these games and reports Elo -56.07 +/- 49.24 (by pairs).
    #[test]
    fn fastchess_rates_its_games_the_same() -> Result<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/check-fastchess.pgn.zst");
        let mut standings = Standings::of(&read_file(&path)?);
        let names = ["azimuth", "Stockfish-1700"];
        let pairs = standings.pairs(names);
        assert_eq!(pairs.0, [32, 5, 44, 1, 18]);
        let by_pairs = pairs.logistic_elo().context("mixed results")?;
        assert!((by_pairs.value + 56.07).abs() < 0.005 && (by_pairs.error - 49.24).abs() < 0.005);

        let [azimuth, stockfish] = names.map(|name| standings.find(name).expect("it played"));
        standings.players[stockfish].elo = Some(1700.0);
        let rating = Ratings::of(&standings)?.players[azimuth];
        // Two virtual draws in 202 games reduce the difference by one part in a hundred.
        assert!((rating.elo - 1700.0 + 56.07).abs() < 1.5, "{rating:?}");
        let error = (rating.high - rating.low) / 2.0;
        assert!((error - 49.24).abs() < 3.0, "{rating:?}");
        Ok(())
    }

    #[test]
    fn who_never_met_cannot_be_compared() {
        let games = counted(&[((0, 1), [3, 1, 2]), ((2, 3), [1, 1, 1])]);
        let apart = rated(&[None, Some(1500.0), None, None], games);
        let error = apart.expect_err("apart").to_string();
        assert!(error.contains("player 'p2' cannot be rated"), "{error}");
        let empty = rated(&[], counted(&[])).expect_err("empty").to_string();
        assert_eq!(empty, "no games to rate");
    }

    #[test]
    fn whitewashes_have_ratings_too() -> Result<()> {
        for counts in [[50, 0, 0], [0, 0, 50], [0, 50, 0]] {
            let games = counted(&[((0, 1), counts), ((1, 0), [counts[2], counts[1], counts[0]])]);
            let rating = rated(&[None, Some(1500.0)], games)?.players[0];
            assert!(rating.elo.is_finite() && rating.low < rating.high, "{rating:?}");
        }
        Ok(())
    }
}
