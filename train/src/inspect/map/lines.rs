//! Charts of lines, bands and points as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

const SIZE: (u32, u32) = (820, 460);

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

pub fn draw(chart: &Chart<'_>, lines: &[PlotLine]) -> Result<String> {
    let mut text = String::new();
    draw_on(&mut text, chart, lines)
        .map_err(|error| anyhow!("chart '{}': {error}", chart.title))?;
    Ok(text)
}

fn draw_on(
    text: &mut String,
    chart: &Chart<'_>,
    lines: &[PlotLine],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
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
