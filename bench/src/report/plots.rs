//! Plots as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::strength::{PAPER, grouped};
use crate::rating::Rating;
use crate::speed::results::SpeedResults;

const SIZE: (u32, u32) = (720, 440);

const COLOURS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 95, 14), RGBColor(44, 140, 60), RGBColor(120, 80, 160)];

/// A named line of points, with intervals where they are known.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    intervals: Vec<(f64, [f64; 2])>,
}

/// Elo by depth with 95% intervals, beside the paper's.
pub fn elo_by_depth(ratings: &[(u32, Rating)]) -> Result<String> {
    let mut series = vec![Series {
        name: "Azimuth, sparse encoder".to_owned(),
        points: ratings.iter().map(|(depth, rating)| ((*depth).into(), rating.elo)).collect(),
        intervals: ratings
            .iter()
            .map(|(depth, rating)| ((*depth).into(), [rating.low, rating.high]))
            .collect(),
    }];
    for (size, name) in ["paper, small", "paper, base"].into_iter().enumerate() {
        let points = PAPER.iter().map(|(depth, elos)| ((*depth).into(), elos[size])).collect();
        series.push(Series { name: name.to_owned(), points, intervals: Vec::new() });
    }
    let axes = Axes {
        title: "Elo by depth, width 3 (Stockfish 16's UCI_Elo, 50 ms a move)",
        x: "depth, plies",
        y: "Elo",
        logarithmic: false,
        legend: SeriesLabelPosition::LowerRight,
    };
    draw(&axes, &series)
}

/// Positions a second by batch size; both axes are logarithmic.
pub fn speed_by_batch(runs: &[SpeedResults]) -> Result<String> {
    let mut series: Vec<Series> = Vec::new();
    for run in runs {
        for speed in &run.encoders {
            let machine = &run.machine;
            let name = format!("{}, {} {}", speed.encoder, machine.device, machine.precision);
            let point = ((speed.batch as f64).log10(), speed.positions_per_second.log10());
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name, points: vec![point], intervals: Vec::new() }),
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

struct Axes<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    /// Values are powers of ten.
    logarithmic: bool,
    legend: SeriesLabelPosition,
}

fn draw(axes: &Axes<'_>, series: &[Series]) -> Result<String> {
    let mut text = String::new();
    draw_on(&SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), axes, series)
        .map_err(|error| anyhow!("plot '{}': {error}", axes.title))?;
    Ok(text)
}

fn draw_on(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    axes: &Axes<'_>,
    series: &[Series],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let ends = series.iter().flat_map(|series| series.intervals.iter().flat_map(|(_, ends)| *ends));
    let (left, right) = range(points().map(|point| point.0), 0.04);
    let (low, high) = range(points().map(|point| point.1).chain(ends), 0.06);
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(axes.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(left..right, low..high)?;
    let format = |value: &f64| match axes.logarithmic {
        true if (value - value.round()).abs() < 1e-6 => grouped(10f64.powf(*value).round() as u64),
        true => String::new(),
        false => format!("{value:.0}"),
    };
    chart
        .configure_mesh()
        .x_desc(axes.x)
        .y_desc(axes.y)
        .x_labels(7)
        .x_label_formatter(&format)
        .y_label_formatter(&format)
        .light_line_style(WHITE)
        .draw()?;
    for (number, line) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)))?
            .label(line.name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(line.points.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
        chart.draw_series(line.intervals.iter().map(|&(x, [from, to])| {
            PathElement::new([(x, from), (x, to)], colour.stroke_width(1))
        }))?;
    }
    chart
        .configure_series_labels()
        .position(axes.legend.clone())
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}

/// The values' range and some room on both sides.
fn range(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * room).max(1e-3);
    (low - room, high + room)
}
