//! `azimuth-bench tune`: tunes the parameters of the selective search in games against itself.

mod spsa;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use azimuth_cli::{print_line, say};
use azimuth_network::replace_file::{check_output, replace_file};
use azimuth_search::inference::Worker;
use azimuth_search::{PlannerKind, SearchParameters};
use clap::Args;
use plotters::prelude::SeriesLabelPosition;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spsa::{Perturbed, Schedule, TuneState, Tuned};

use crate::device::DeviceArguments;
use crate::elo::book;
use crate::elo::game::{self, Adjudication, Seat};
use crate::elo::player::InProcess;
use crate::elo::roster::Roster;
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
fn play([mut one, mut other]: [InProcess; 2], limit: &Limit, opening: &str) -> Result<f64> {
    let mut half_points = 0;
    for one_is_white in [true, false] {
        let first = Seat { player: &mut one, limit };
        let second = Seat { player: &mut other, limit };
        let seats = if one_is_white { [first, second] } else { [second, first] };
        let game = game::play(opening, seats, &Adjudication::default())?;
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
            games.map(|(pair, opening)| scope.spawn(move || play(pair, limit, opening))).collect();
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
