//! Tables of speed, suites, accuracy, chances and held-out metrics, and the plot of speed.

use std::fmt::Write;

use anyhow::{Context, Result};
use azimuth_search::names::name_of;
use plotters::prelude::SeriesLabelPosition;

use crate::accuracy::AccuracyResults;
use crate::plot::{Axes, Series, draw, grouped};
use crate::speed::{EncoderSpeed, Machine, SpeedResults};
use crate::suite::{Rate, SuiteResults, TimedSuite};
use crate::wdl::Fit;

/// The first two lines of a Markdown table. ` | ` separates the titles of its columns.
pub fn header(titles: &str) -> String {
    let rule = "|---".repeat(titles.split(" | ").count());
    format!("| {titles} |\n{rule}|\n")
}

/// Speed of each encoder at its fastest batch size.
pub fn encoders(runs: &[SpeedResults]) -> String {
    let mut text =
        header("encoder | device | limit, GFLOP/s | MFLOP | batch | positions/s | of the limit");
    for run in runs {
        let Machine { device, precision, limit, .. } = &run.machine;
        for speed in fastest(&run.encoders) {
            let _ = writeln!(
                text,
                "| {} | {device} {precision} | {:.1} | {:.3} | {} | {} | {:.1}% |",
                speed.encoder,
                limit / 1e9,
                speed.operations / 1e6,
                grouped(speed.batch as u64),
                grouped(speed.positions_per_second.round() as u64),
                speed.of_limit * 100.0
            );
        }
    }
    text
}

fn fastest(speeds: &[EncoderSpeed]) -> Vec<&EncoderSpeed> {
    let mut best: Vec<&EncoderSpeed> = Vec::new();
    for speed in speeds {
        match best.iter_mut().find(|known| known.encoder == speed.encoder) {
            Some(known) if known.positions_per_second < speed.positions_per_second => {
                *known = speed;
            }
            Some(_) => {}
            None => best.push(speed),
        }
    }
    best
}

/// Speed of each encoder at its fastest batch size, in the fastest precision of its device, and time
/// per move of the beam in a game.
pub fn speed_summary(runs: &[SpeedResults]) -> String {
    let mut text = header("encoder | device | positions/s | a move of the beam, depth 6");
    for run in runs.iter().filter(|run| run.machine.precision != "f32" || run.machine.threads == 1)
    {
        for speed in fastest(&run.encoders) {
            let searched = run.searches.iter().find(|search| search.encoder == speed.encoder);
            let game = searched.and_then(|search| search.game.as_ref());
            let game = game.filter(|game| game.depth == 6);
            let _ = writeln!(
                text,
                "| {} | {} {} | {} | {} |",
                speed.encoder,
                run.machine.device,
                run.machine.precision,
                grouped(speed.positions_per_second.round() as u64),
                game.map_or(String::new(), |game| format!("{:.1} ms", game.milliseconds)),
            );
        }
    }
    text
}

/// Time per move at the greatest depth, on single positions and in a game.
pub fn searches(runs: &[SpeedResults]) -> String {
    let mut text = header(
        "encoder | device | depth | ms a move | scored | scored/s | of the encoder alone \
         | in a game: ms a move | not scored again",
    );
    for run in runs {
        let Machine { device, precision, .. } = &run.machine;
        for search in &run.searches {
            let Some(depth) = search.depths.last() else { continue };
            let _ = write!(
                text,
                "| {} | {device} {precision} | {} | {:.2} | {} | {} | {:.0}% |",
                search.encoder,
                depth.depth,
                depth.milliseconds,
                grouped(depth.scored.round() as u64),
                grouped(depth.scored_per_second.round() as u64),
                depth.of_encoder * 100.0
            );
            let game = search.game.as_ref().filter(|game| game.depth == depth.depth);
            let _ = match game {
                Some(game) => {
                    writeln!(text, " {:.2} | {:.1}% |", game.milliseconds, game.hits * 100.0)
                }
                None => writeln!(text, " | |"),
            };
        }
    }
    text
}

/// Win probability lost by moves, according to the judge.
pub fn accuracies(runs: &[AccuracyResults]) -> String {
    let mut text = String::new();
    for run in runs {
        let _ = writeln!(text, "{}, judged by {}:\n\n{run}", run.source, run.judge);
    }
    text
}

pub fn suites(suites: &[SuiteResults]) -> String {
    let depths = suites.iter().flat_map(|suite| suite.depths.iter().map(|rate| rate.depth)).max();
    let depths: Vec<u32> = (1..=depths.unwrap_or(0)).collect();
    let titles: String = depths.iter().map(|depth| format!(" | depth {depth}")).collect();
    let mut text = header(&format!("suite | planner | problems{titles}"));
    for suite in suites {
        let problems = suite.depths.first().map_or(0, |rate| rate.rate.problems);
        let _ = write!(text, "| {} | {} | {} |", suite.suite, suite.planner, grouped(problems));
        for depth in &depths {
            let rate = suite.depths.iter().find(|rate| rate.depth == *depth);
            let cell = rate.map_or(String::new(), |rate| solved(&rate.rate));
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text
}

pub fn timed_suites(suites: &[TimedSuite]) -> String {
    let mut text = header("suite | problems | planner | ms a move | solved");
    for TimedSuite { suite, planner, milliseconds, rate } in suites {
        let (problems, solved) = (grouped(rate.problems), solved(rate));
        let _ = writeln!(text, "| {suite} | {problems} | {planner} | {milliseconds} | {solved} |");
    }
    text
}

fn solved(rate: &Rate) -> String {
    let share = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
    let points = rate.points.map_or(String::new(), |[points, most]| {
        format!(" ({:.1}% of points)", share(points, most))
    });
    format!("{:.1}%{points}", share(rate.solved, rate.problems))
}

/// Held-out metrics of weights, in the format of `azimuth-train eval --json`.
pub fn metrics(weights: &[String], metrics: &[serde_json::Value]) -> Result<String> {
    let mut text = header(
        "weights | positions | Kendall tau-b | Spearman | sibling accuracy | R² \
         | calibration error",
    );
    for (weights, value) in weights.iter().zip(metrics) {
        let number = |key: &str| {
            let number = value[key].as_f64();
            number.with_context(|| format!("metrics of '{weights}': '{key}' is missing"))
        };
        let _ = write!(text, "| {weights} | {} |", grouped(number("positions")? as u64));
        for key in ["tau", "spearman", "sibling", "r2", "ece"] {
            let _ = write!(text, " {:.4} |", number(key)?);
        }
        text.push('\n');
    }
    Ok(text)
}

/// How well the chances to win, draw and lose fit the games: one row for each planner.
pub fn chances(fits: &[Fit]) -> String {
    let mut text = header(
        "planner | games | scores | log loss, constant draws | log loss, fitted \
         | Brier score, constant draws | Brier score, fitted",
    );
    for Fit { planner, games, held_out, quality, before, .. } in fits {
        let _ = writeln!(
            text,
            "| {} | {games} | {} | {:.4} | {:.4} | {:.4} | {:.4} |",
            name_of(planner),
            grouped(held_out.len() as u64),
            before.log_loss,
            quality.log_loss,
            before.brier,
            quality.brier
        );
    }
    text
}

/// Positions per second by batch size; both axes are logarithmic.
pub fn speed_by_batch(runs: &[SpeedResults]) -> Result<String> {
    let mut series: Vec<Series> = Vec::new();
    for run in runs {
        for speed in &run.encoders {
            let machine = &run.machine;
            let name = format!("{}, {} {}", speed.encoder, machine.device, machine.precision);
            let point = ((speed.batch as f64).log10(), speed.positions_per_second.log10());
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series::new(&name, vec![point])),
            }
        }
    }
    let axes = Axes {
        title: "Encoder alone: positions/s by batch",
        x: "batch",
        y: "positions/s",
        logarithmic: true,
        legend: SeriesLabelPosition::MiddleRight,
    };
    draw(&axes, &series)
}
