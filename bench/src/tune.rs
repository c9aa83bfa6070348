//! `azimuth-bench tune`: tunes the parameters of the selective search in games against itself, by
//! simultaneous perturbation stochastic approximation (Spall, 1992; gains as in fishtest): all
//! parameters are perturbed up or down at random, the two opposite perturbations play each other,
//! and all parameters move towards the winner. The state of a run is a file.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::inference::Worker;
use azimuth_search::{PlannerKind, SearchParameters};
use clap::Args;
use plotters::prelude::SeriesLabelPosition;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::arguments::DeviceArguments;
use crate::elo::book;
use crate::elo::game::{self, Adjudication};
use crate::elo::player::{InProcess, Player, Roster};
use crate::plot::{Axes, Series, draw};
use crate::settings::{InProcessPlayer, Limit, PlayerSettings, file_name};

const PROGRESS: Duration = Duration::from_secs(30);

/// Unless specified otherwise, the step of a parameter is its range divided by this.
const STEPS_IN_RANGE: f64 = 20.0;

/// Tune parameters of the selective search by SPSA: two players with slightly different parameters
/// play a pair of games, and the parameters move towards the winner's.
///
/// The same command continues an interrupted run. The result is printed as a `set=` word for
/// players of `elo`: confirm it there, at a longer time control than the tuning's.
#[derive(Args)]
pub struct Tune {
    /// Player to tune, as in `elo`: its limit, weights, and initial parameters (`set`).
    #[arg(long, value_parser = PlayerSettings::parse, default_value = "planner=selective nodes=3000")]
    player: PlayerSettings,
    /// Parameters to tune, separated by commas [default: all].
    #[arg(long, value_delimiter = ',')]
    parameters: Vec<String>,
    /// Number of pairs of games.
    #[arg(long, default_value_t = 2000)]
    iterations: u64,
    /// Share of a parameter's step (a twentieth of its range) by which it moves after winning both
    /// games of a pair, at the end of the run.
    #[arg(long, default_value_t = 0.02)]
    rate: f64,
    /// Opening book: one EPD or FEN per line, plain or .zip; each iteration uses one opening.
    #[arg(long)]
    book: PathBuf,
    /// Number of pairs played at a time, which start from the same parameters; it affects the
    /// result.
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Seed of the openings and of the perturbations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// State file of the run (JSON), from which it continues; the parameters' curves are plotted
    /// beside it (SVG).
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn run(arguments: &Tune) -> Result<()> {
    let Tune { player, iterations, rate, book, concurrency, seed, out, .. } = arguments;
    ensure!(*iterations > 0, "--iterations 0: expected at least 1");
    ensure!(*concurrency > 0, "--concurrency 0: expected at least 1");
    ensure!(rate.is_finite() && *rate > 0.0, "--rate {rate}: expected more than 0");
    check_output(out, &[book])?;
    let openings = book::openings(book, usize::try_from(*iterations)?, *seed)?;
    let (device, dtype) = arguments.device.open()?;
    let roster = Roster::assemble(vec![player.clone()], &device, dtype)?;
    let (base, worker) =
        roster.in_process(0).context("--player: tune plays in this process only")?;
    ensure!(
        base.planner == PlannerKind::Selective,
        "--player: the numbers are of planner=selective"
    );
    let first = base.planners.selective.parameters;
    let begin = TuneState {
        player: roster.participants[0].name.settings.clone(),
        book: file_name(book),
        seed: *seed,
        schedule: Schedule { iterations: *iterations, rate: *rate },
        done: 0,
        parameters: tuned(&arguments.parameters, &first)?,
        history: Vec::new(),
    };
    let mut state = begin.or_in(out)?;
    state.note();
    let mut told = Instant::now();
    while state.done < *iterations {
        let left = usize::try_from(iterations - state.done)?;
        let pairs = left.min(*concurrency);
        round(&mut state, (base, worker), &player.limit, &openings, pairs)?;
        state.note();
        state.write(out)?;
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            say(format_args!(
                "{} of {iterations} pairs: set={}",
                state.done,
                found(&state, first)?
            ));
        }
    }
    replace_file(&out.with_extension("svg"), curves(&state)?.as_bytes())?;
    for Tuned { name, first, value, .. } in &state.parameters {
        print_line(format_args!("{name}: {first} -> {value:.1}"))?;
    }
    print_line(format_args!("set={}", found(&state, first)?))?;
    Ok(())
}

/// The named parameters with their initial values; all parameters if `names` is empty.
fn tuned(names: &[String], begin: &SearchParameters) -> Result<Vec<Tuned>> {
    // Unknown names are reported before the first game.
    names.iter().try_for_each(|name| begin.get(name).map(|_| ()))?;
    let chosen = SearchParameters::all()
        .into_iter()
        .filter(|parameter| names.is_empty() || names.contains(&parameter.name));
    chosen
        .map(|parameter| {
            let first = f64::from(begin.get(&parameter.name)?);
            let range = [*parameter.range.start(), *parameter.range.end()].map(f64::from);
            let step = ((range[1] - range[0]) / STEPS_IN_RANGE).max(1.0);
            Ok(Tuned { name: parameter.name, first, value: first, step, range })
        })
        .collect()
}

/// Wins minus losses of the first player in a pair of games.
fn play([mut one, mut other]: [InProcess; 2], opening: &str) -> Result<f64> {
    let mut half_points = 0;
    for one_is_white in [true, false] {
        let players: [&mut dyn Player; 2] =
            if one_is_white { [&mut one, &mut other] } else { [&mut other, &mut one] };
        let game = game::play(opening, players, &Adjudication::default())?;
        let white = game.outcome.white_half_points();
        half_points += if one_is_white { white } else { 2 - white };
    }
    Ok(half_points as f64 - 2.0)
}

/// Runs several iterations concurrently, from the same parameters. The players differ from `base`
/// in the tuned parameters alone.
fn round(
    state: &mut TuneState,
    (base, worker): (&InProcessPlayer, &Worker),
    limit: &Limit,
    openings: &[String],
    pairs: usize,
) -> Result<()> {
    let first = state.done;
    let ways: Vec<_> = (first..first + pairs as u64)
        .map(|iteration| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(state.seed ^ iteration.rotate_left(32));
            state.schedule.perturb(&state.parameters, iteration, &mut rng)
        })
        .collect();
    let player = |values: &[f64]| -> Result<InProcess> {
        let mut settings = base.clone();
        let parameters = &mut settings.planners.selective.parameters;
        *parameters = with_values(*parameters, &state.parameters, values)?;
        InProcess::new(worker, &settings, limit.clone())
    };
    let pair = |ways: &Perturbed| -> Result<[InProcess; 2]> {
        Ok([player(&ways.up)?, player(&ways.down)?])
    };
    let pairs = ways.iter().map(pair).collect::<Result<Vec<_>>>()?;
    let openings = openings.iter().skip(usize::try_from(first)?);
    let wins: Vec<Result<f64>> = thread::scope(|scope| {
        let games = pairs.into_iter().zip(openings);
        let games: Vec<_> =
            games.map(|(pair, opening)| scope.spawn(move || play(pair, opening))).collect();
        let ended = games.into_iter().map(|game| game.join());
        ended.map(|wins| wins.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    for (ways, wins) in ways.iter().zip(wins) {
        state.schedule.follow(&mut state.parameters, state.done, ways, wins?);
        state.done += 1;
    }
    Ok(())
}

/// The parameters of `begin`, with `values` for those that are tuned.
fn with_values(
    begin: SearchParameters,
    tuned: &[Tuned],
    values: &[f64],
) -> Result<SearchParameters> {
    let mut parameters = begin;
    for (tuned, value) in tuned.iter().zip(values) {
        parameters.set(&tuned.name, value.round() as i32)?;
    }
    Ok(parameters)
}

/// The tuned parameters and the other settings of `begin`, as a player's `set`.
fn found(state: &TuneState, begin: SearchParameters) -> Result<SearchParameters> {
    let values: Vec<f64> = state.parameters.iter().map(|tuned| tuned.value).collect();
    with_values(begin, &state.parameters, &values)
}

/// The curve of every parameter: its distance from the initial value, in steps.
fn curves(state: &TuneState) -> Result<String> {
    let line = |(place, tuned): (usize, &Tuned)| {
        let points = state.history.iter();
        let at = |(done, values): &(u64, Vec<f64>)| {
            (*done as f64, (values[place] - tuned.first) / tuned.step)
        };
        Series::new(&tuned.name, points.map(at).collect())
    };
    let series: Vec<Series> = state.parameters.iter().enumerate().map(line).collect();
    let title = format!("SPSA, {} pairs of games: {}", state.done, state.player);
    let axes = Axes {
        title: &title,
        x: "pairs of games",
        y: "steps from where it began",
        logarithmic: false,
        legend: SeriesLabelPosition::UpperLeft,
    };
    draw(&axes, &series)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tuned {
    name: String,
    first: f64,
    value: f64,
    /// Size of the perturbation at the end of all iterations.
    step: f64,
    /// Smallest and largest allowed value.
    range: [f64; 2],
}

impl Tuned {
    fn within(&self, value: f64) -> f64 {
        value.clamp(self.range[0], self.range[1])
    }
}

/// The two opposite perturbations of an iteration: a value for every parameter.
struct Perturbed {
    /// The sign, 1 or -1, for every parameter.
    signs: Vec<f64>,
    up: Vec<f64>,
    down: Vec<f64>,
}

/// Exponent of the decay of the gain.
const ALPHA: f64 = 0.602;

/// Exponent of the decay of the perturbation.
const GAMMA: f64 = 0.101;

/// Stability constant, as a share of all iterations; it damps the first steps.
const STABILITY: f64 = 0.1;

/// The schedule of a run of a given number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Schedule {
    iterations: u64,
    /// Share of its step by which a parameter moves after winning both games of a pair, at the end
    /// of the run.
    rate: f64,
}

impl Schedule {
    /// Size of a parameter's perturbation in an iteration, counted from 0.
    fn distance(self, tuned: &Tuned, iteration: u64) -> f64 {
        tuned.step * (self.iterations as f64 / (iteration + 1) as f64).powf(GAMMA)
    }

    /// The change of a parameter per half of the score difference between the two perturbations.
    fn gain(self, tuned: &Tuned, iteration: u64) -> f64 {
        let (all, damped) = (self.iterations as f64, STABILITY * self.iterations as f64);
        let decay = ((damped + all) / (damped + (iteration + 1) as f64)).powf(ALPHA);
        let at_end = self.rate * tuned.step * tuned.step;
        at_end * decay / self.distance(tuned, iteration)
    }

    fn perturb(self, tuned: &[Tuned], iteration: u64, rng: &mut Xoshiro256PlusPlus) -> Perturbed {
        let signs: Vec<f64> =
            tuned.iter().map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
        let moved = |way: f64| {
            let numbers = tuned.iter().zip(&signs);
            let place = |(tuned, sign): (&Tuned, &f64)| {
                tuned.within(tuned.value + way * sign * self.distance(tuned, iteration))
            };
            numbers.map(place).collect()
        };
        Perturbed { up: moved(1.0), down: moved(-1.0), signs }
    }

    /// Updates the parameters by the result of an iteration's pair of games: wins of the upward
    /// perturbation minus those of the downward one.
    fn follow(self, tuned: &mut [Tuned], iteration: u64, ways: &Perturbed, wins: f64) {
        for (tuned, sign) in tuned.iter_mut().zip(&ways.signs) {
            tuned.value = tuned.within(tuned.value + self.gain(tuned, iteration) * sign * wins);
        }
    }
}

/// Approximate number of points per curve.
const POINTS: u64 = 200;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TuneState {
    /// The player and the openings; a run continues only with the same ones.
    player: String,
    book: String,
    seed: u64,
    schedule: Schedule,
    /// Number of completed iterations, each of two games.
    done: u64,
    parameters: Vec<Tuned>,
    /// Values at regular intervals, with the number of completed iterations.
    history: Vec<(u64, Vec<f64>)>,
}

impl TuneState {
    /// The run in the file, if the file exists; it must have the same initial state as `self`.
    fn or_in(self, path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(self);
        }
        let name = || format!("tuning run '{}'", path.display());
        let text = std::fs::read_to_string(path).with_context(name)?;
        let found: Self = serde_json::from_str(&text).with_context(name)?;
        let begin = |state: &Self| {
            let parameters = state.parameters.iter();
            let parameters: Vec<Tuned> =
                parameters.map(|tuned| Tuned { value: tuned.first, ..tuned.clone() }).collect();
            Self { done: 0, history: Vec::new(), parameters, ..state.clone() }
        };
        ensure!(
            begin(&found) == begin(&self),
            "{}: it is of other settings; use those, or another --out",
            name()
        );
        Ok(found)
    }

    /// Records the values if a point of the curves is due.
    fn note(&mut self) {
        let between = (self.schedule.iterations / POINTS).max(1);
        let due = self.history.last().is_none_or(|(last, _)| self.done >= last + between);
        if due {
            let values = self.parameters.iter().map(|tuned| tuned.value).collect();
            self.history.push((self.done, values));
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        replace_file(path, serde_json::to_string(self)?.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, step: f64) -> Tuned {
        Tuned { name: "a-number".to_owned(), first: value, value, step, range: [0.0, 400.0] }
    }

    #[test]
    fn gains_and_distances_end_at_what_was_asked_for() {
        let schedule = Schedule { iterations: 1000, rate: 0.002 };
        let number = number(100.0, 20.0);
        assert!((schedule.distance(&number, 999) - 20.0).abs() < 1e-9);
        assert!((schedule.gain(&number, 999) - 0.002 * 20.0).abs() < 1e-9);
        // (1000 / 1)^0.101 and ((100 + 1000) / (100 + 1))^0.602, computed by hand.
        assert!((schedule.distance(&number, 0) / 20.0 - 2.0092).abs() < 1e-3);
        assert!((schedule.gain(&number, 0) / (0.04 * 4.2122 / 2.0092) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn numbers_find_what_wins_most_and_stay_in_their_range() {
        let schedule = Schedule { iterations: 4000, rate: 0.02 };
        let mut numbers = [number(300.0, 20.0), number(20.0, 5.0)];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        // The nearer the values are to (180, 60), the more games are won.
        let loss = |at: &[f64]| ((at[0] - 180.0) / 40.0).powi(2) + ((at[1] - 60.0) / 10.0).powi(2);
        for iteration in 0..schedule.iterations {
            let ways = schedule.perturb(&numbers, iteration, &mut rng);
            let better = (loss(&ways.down) - loss(&ways.up)).clamp(-1.0, 1.0);
            let wins = [0; 2].map(|_| f64::from(rng.random::<f64>() < 0.5 + better / 2.0));
            schedule.follow(&mut numbers, iteration, &ways, wins[0] + wins[1] - 1.0);
        }
        assert!((numbers[0].value - 180.0).abs() < 15.0, "{}", numbers[0].value);
        assert!((numbers[1].value - 60.0).abs() < 5.0, "{}", numbers[1].value);
        let mut at_end = [number(399.0, 20.0)];
        let ways = schedule.perturb(&at_end, 0, &mut rng);
        assert!(ways.up.iter().chain(&ways.down).all(|&value| value <= 400.0));
        schedule.follow(&mut at_end, 0, &ways, 2.0 * ways.signs[0] * 1e9);
        assert_eq!(at_end[0].value, 400.0);
    }

    fn state(player: &str) -> TuneState {
        TuneState {
            player: player.to_owned(),
            book: "book.epd".to_owned(),
            seed: 1,
            schedule: Schedule { iterations: 400, rate: 0.002 },
            done: 0,
            parameters: vec![number(10.0, 2.0), number(20.0, 2.0)],
            history: Vec::new(),
        }
    }

    #[test]
    fn a_run_goes_on_where_it_was_and_only_as_it_began() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("tune.json");
        let mut run = state("nodes=100").or_in(&path)?;
        run.note();
        run.done = 7;
        run.parameters[1].value = 11.5;
        run.note();
        run.write(&path)?;
        assert_eq!(run.history.len(), 2);
        assert_eq!(state("nodes=100").or_in(&path)?, run);
        let error = state("nodes=200").or_in(&path).expect_err("another player").to_string();
        assert!(error.contains("other settings"), "{error}");
        std::fs::write(&path, "{")?;
        assert!(state("nodes=100").or_in(&path).is_err());
        Ok(())
    }
}
