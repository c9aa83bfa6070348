//! Line charts as SVG, and numbers with separators of thousands.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

/// A named line of points, with intervals if known.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub intervals: Vec<(f64, [f64; 2])>,
}

impl Series {
    /// A line without intervals.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, intervals: Vec::new() }
    }
}

pub struct Axes<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    /// Logarithmic scale, base 10.
    pub logarithmic: bool,
    pub legend: SeriesLabelPosition,
}

const SIZE: (u32, u32) = (720, 440);

pub fn draw(axes: &Axes<'_>, series: &[Series]) -> Result<String> {
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
        let colour = colour(number);
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

const COLOURS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 95, 14), RGBColor(44, 140, 60), RGBColor(120, 80, 160)];

/// The colour of a line by its index; colours beyond the first few are harder to distinguish.
fn colour(number: usize) -> RGBAColor {
    COLOURS.get(number).map_or_else(|| Palette99::pick(number).to_rgba(), Color::to_rgba)
}

/// The range of the values with a margin on both sides.
fn range(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * room).max(1e-3);
    (low - room, high + room)
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1000),
    }
}
