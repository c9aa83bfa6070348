//! Plots as SVG.

use anyhow::Result;
use plotters::prelude::SeriesLabelPosition;

use super::strength::PAPER;
use crate::plot::{Axes, Series, draw};
use crate::rating::Rating;
use crate::speed::results::SpeedResults;

/// Elo by depth with 95% intervals, with and without verification, beside the paper's values.
pub fn elo_by_depth([own_embedding, verified]: &[Vec<(u32, Rating)>; 2]) -> Result<String> {
    let curve = |name: &str, ratings: &[(u32, Rating)]| Series {
        name: name.to_owned(),
        points: ratings.iter().map(|(depth, rating)| ((*depth).into(), rating.elo)).collect(),
        intervals: ratings
            .iter()
            .map(|(depth, rating)| ((*depth).into(), [rating.low, rating.high]))
            .collect(),
    };
    let mut series = vec![
        curve("Azimuth, verified", verified),
        curve("Azimuth, scored by the child's own embedding", own_embedding),
    ];
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
