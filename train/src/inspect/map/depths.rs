//! The score of positions by the depth of the search.

use anyhow::Result;
use azimuth::search::{Control, Limits, Planner};
use azimuth_chess::position::{Position, fen_of};
use indicatif::ProgressBar;
use plotters::prelude::RGBColor;

use super::lines::{Chart, PlotLine, draw};
use super::mates::planner;
use crate::inspect::positions::EmbeddedPositions;

/// Number of positions that are drawn, and the maximum search depth in plies.
const POSITIONS: usize = 40;
const DEPTHS: u32 = 12;

/// Each position's win probability for its side to move, without a search and at each depth of the
/// shipped selective search. Lines are red if the last depth predicts a win, blue if it predicts a
/// loss.
pub fn figure(space: &EmbeddedPositions) -> Result<String> {
    let every = (space.len() / POSITIONS).max(1);
    let chosen: Vec<_> = space.positions().iter().step_by(every).take(POSITIONS).collect();
    let mut planner = planner()?;
    let bar = ProgressBar::new(chosen.len() as u64);
    let mut lines = Vec::new();
    for packed in chosen {
        bar.inc(1);
        let position = Position::from_fen(&fen_of(&packed.board()?))?;
        if !position.has_legal_move() {
            continue;
        }
        planner.new_game();
        let percent = |p: f32| 100.0 * f64::from(p);
        let mut points = vec![(0.0, percent(planner.evaluate(&position)?.win_probability()))];
        let limits = Limits { depth: Some(DEPTHS), ..Limits::default() };
        planner.search(&position, &mut Control::without_signals(limits), &mut |report| {
            points.push((report.depth.into(), percent(report.value.win_probability())));
        })?;
        let (_, last) = points[points.len() - 1];
        lines.push(PlotLine { name: None, colour: shade(last / 100.0), points, band: Vec::new() });
    }
    bar.finish_and_clear();
    let chart = Chart {
        title: &format!("Win probability by depth of the search, {} positions", lines.len()),
        x: "plies (0: no search)",
        y: "win probability of the side to move, %",
        x_range: (-0.2, f64::from(DEPTHS) + 0.2),
        y_range: (-2.0, 102.0),
    };
    draw(&chart, &lines)
}

/// A colour between blue (0) and red (1).
fn shade(p: f64) -> RGBColor {
    let between = |low: f64, high: f64| (low + p * (high - low)).round() as u8;
    RGBColor(between(33.0, 178.0), between(102.0, 24.0), between(172.0, 43.0))
}
