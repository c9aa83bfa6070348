//! Charts as SVG: the curves of training runs, which `azimuth-train plot` compares, and charts of
//! lines, bands and points for maps.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use azimuth_network::replace_file::replace_file;
use clap::Args;
use plotters::coord::Shift;
use plotters::prelude::*;
use serde_json::Value;

/// Plot the logs of training runs (OUT.jsonl) as curves for comparison.
#[derive(Args)]
pub struct PlotOptions {
    /// Logs of the runs (.jsonl).
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// SVG file to write.
    #[arg(long, short)]
    out: PathBuf,
}

/// The curves: path of the value in a log line, and title.
const CURVES: [([&str; 2], &str); 6] = [
    (["held_out", "rms"], "held-out error, rms of win probability"),
    (["held_out", "tau"], "held-out Kendall tau"),
    (["held_out", "sibling"], "held-out sibling accuracy"),
    (["run", "regression"], "regression loss"),
    (["run", "contrastive"], "contrastive loss"),
    (["run", "positions_per_second"], "positions/s"),
];

const COLUMNS: usize = 3;
const SIZE: (u32, u32) = (1140, 640);

/// Largest number of points of a curve that are marked.
const MOST_MARKED: usize = 60;

/// Height of a legend row, in pixels.
const LEGEND_ROW: u32 = 22;

/// A run's name and the points (step, value) of each curve.
struct Run {
    name: String,
    curves: Vec<Vec<(f64, f64)>>,
}

impl PlotOptions {
    /// Reads the logs and writes the SVG. Fails if a file is not a log.
    pub fn run(&self) -> Result<()> {
        let runs = self.runs.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let mut svg = String::new();
        draw_runs(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area(), &runs)
            .map_err(|error| anyhow!("--out '{}': {error}", self.out.display()))?;
        replace_file(&self.out, svg.as_bytes())
    }
}

fn read(path: &Path) -> Result<Run> {
    let name = || format!("run '{}'", path.display());
    let text = std::fs::read_to_string(path).with_context(name)?;
    let mut curves = vec![Vec::new(); CURVES.len()];
    for (number, line) in (1..).zip(text.lines()) {
        let entry: Value = serde_json::from_str(line)
            .with_context(|| format!("{}, line {number}: not JSON", name()))?;
        let step = entry["run"]["step"].as_f64();
        let step = step.with_context(|| format!("{}, line {number}: no run.step", name()))?;
        for (points, ([part, key], _)) in curves.iter_mut().zip(CURVES) {
            points.extend(entry[part][key].as_f64().map(|value| (step, value)));
        }
    }
    ensure!(curves.iter().any(|points| !points.is_empty()), "{}: nothing to draw in it", name());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Run { name, curves })
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw_runs(area: &DrawingArea<SVGBackend<'_>, Shift>, runs: &[Run]) -> Drawn {
    area.fill(&WHITE)?;
    let (legend, panels) = area.split_vertically(LEGEND_ROW * 2);
    let width = i32::try_from(SIZE.0)? / i32::try_from(runs.len())?.max(1);
    for (number, run) in runs.iter().enumerate() {
        let (left, middle) = (12 + width * i32::try_from(number)?, 20);
        let line = vec![(left, middle), (left + 20, middle)];
        legend.draw(&PathElement::new(line, colour(number).stroke_width(3)))?;
        legend.draw(&Text::new(run.name.clone(), (left + 26, middle - 8), ("sans-serif", 15)))?;
    }
    let rows = CURVES.len().div_ceil(COLUMNS);
    for (index, panel) in panels.split_evenly((rows, COLUMNS)).iter().enumerate() {
        draw_panel(panel, index, runs)?;
    }
    area.present()?;
    Ok(())
}

fn draw_panel(panel: &DrawingArea<SVGBackend<'_>, Shift>, index: usize, runs: &[Run]) -> Drawn {
    let points = || runs.iter().flat_map(|run| run.curves[index].iter().copied());
    let (left, right) = range(points().map(|point| point.0));
    let (low, high) = range(points().map(|point| point.1));
    let mut chart = ChartBuilder::on(panel)
        .caption(CURVES[index].1, ("sans-serif", 15))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(58)
        .build_cartesian_2d(left..right, low..high)?;
    let digits = if high - low < 10.0 { 4 } else { 0 };
    chart
        .configure_mesh()
        .x_labels(4)
        .y_labels(5)
        .x_desc("steps")
        .x_label_formatter(&|steps| format!("{steps:.0}"))
        .y_label_formatter(&|value| format!("{value:.digits$}"))
        .light_line_style(WHITE)
        .draw()?;
    for (number, run) in runs.iter().enumerate() {
        let points = run.curves[index].iter().copied();
        chart.draw_series(LineSeries::new(points.clone(), colour(number).stroke_width(2)))?;
        if points.len() <= MOST_MARKED {
            chart.draw_series(points.map(|at| Circle::new(at, 2, colour(number).filled())))?;
        }
    }
    Ok(())
}

fn colour(number: usize) -> RGBAColor {
    Palette99::pick(number).to_rgba()
}

/// The range of the values with a margin on both sides.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.06).max(low.abs() * 1e-3).max(1e-6);
    (low - room, high + room)
}

const CHART_SIZE: (u32, u32) = (820, 460);

/// A chart of a map.
pub struct Chart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub x_range: (f64, f64),
    pub y_range: (f64, f64),
}

/// A line with its points, and optionally a band around it.
pub struct PlotLine {
    /// Its name in the legend; `None` to leave it out.
    pub name: Option<String>,
    pub colour: RGBColor,
    pub points: Vec<(f64, f64)>,
    /// Lower and upper bound at each point.
    pub band: Vec<(f64, [f64; 2])>,
}

pub fn draw_chart(chart: &Chart<'_>, lines: &[PlotLine]) -> Result<String> {
    let mut text = String::new();
    draw_on(&mut text, chart, lines)
        .map_err(|error| anyhow!("chart '{}': {error}", chart.title))?;
    Ok(text)
}

fn draw_on(text: &mut String, chart: &Chart<'_>, lines: &[PlotLine]) -> Drawn {
    let area = SVGBackend::with_string(text, CHART_SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut drawn = ChartBuilder::on(&area)
        .caption(chart.title, ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(chart.x_range.0..chart.x_range.1, chart.y_range.0..chart.y_range.1)?;
    drawn
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1}"))
        .light_line_style(WHITE)
        .draw()?;
    for line in lines {
        let colour = line.colour;
        let upper = line.band.iter().map(|&(x, [_, high])| (x, high));
        let lower = line.band.iter().rev().map(|&(x, [low, _])| (x, low));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        drawn.draw_series(std::iter::once(Polygon::new(band, colour.mix(0.15))))?;
        let points = || line.points.iter().copied();
        let series = drawn.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        if let Some(name) = &line.name {
            series.label(name.as_str()).legend(move |(x, y)| {
                PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
            });
        }
        drawn.draw_series(points().map(|at| Circle::new(at, 2, colour.filled())))?;
    }
    if lines.iter().any(|line| line.name.is_some()) {
        drawn
            .configure_series_labels()
            .position(SeriesLabelPosition::MiddleRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    area.present()?;
    Ok(())
}
