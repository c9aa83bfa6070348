//! Measurements of a space for its map: the win probability by the depth of the search, the cosine
//! by plies to mate, and the nearest neighbours of each position.

use std::collections::BTreeMap;

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_cli::say;
use azimuth_network::{Inputs, Perspective};
use azimuth_search::inference::Worker;
use azimuth_search::{
    Control, DefaultWeights, Limits, Planner, Resources, Selective, SelectiveSettings,
};
use candle_core::{Device, Tensor};
use cozy_chess::{Board, Color};
use indicatif::ProgressBar;
use plotters::prelude::RGBColor;

use crate::data::packed::Label;
use crate::inspect::EmbeddedPositions;
use crate::inspect::charts::{Chart, PlotLine, draw_chart};

/// Number of positions that are drawn, and the maximum search depth in plies.
const POSITIONS: usize = 40;
const DEPTHS: u32 = 12;

/// Each position's win probability for its side to move, without a search and by depth of the
/// shipped selective search. Lines are red if the last depth predicts a win, blue for a loss.
pub fn depth_figure(space: &EmbeddedPositions) -> Result<String> {
    let every = (space.positions.len() / POSITIONS).max(1);
    let chosen: Vec<_> = space.positions.iter().step_by(every).take(POSITIONS).collect();
    let mut planner = planner()?;
    let bar = ProgressBar::new(chosen.len() as u64);
    let mut lines = Vec::new();
    for packed in chosen {
        bar.inc(1);
        let position = Position::from(packed.board()?);
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
    draw_chart(&chart, &lines)
}

/// A colour between blue (0) and red (1).
fn shade(p: f64) -> RGBColor {
    let between = |low: f64, high: f64| (low + p * (high - low)).round() as u8;
    RGBColor(between(33.0, 178.0), between(102.0, 24.0), between(172.0, 43.0))
}

/// Most plies to mate that are drawn, and fewest positions for a point of the figure.
const MOST_PLIES: u32 = 16;
const LEAST_POSITIONS: usize = 8;

/// Cosines from the mating side's point of view by plies to mate: the median, and the range from
/// the 10th to the 90th percentile. At odd plies the mating side is to move. `None` if no position
/// of the data has a mate that [`MATE_NODES`] nodes prove.
pub fn mate_figure(space: &mut EmbeddedPositions) -> Result<Option<String>> {
    let mates = proven_mates(space)?;
    if mates.is_empty() {
        return Ok(None);
    }
    let mut by_plies: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
    let input = space.encoder.attributes().input;
    let perspective = space.weights.metadata.architecture.perspective();
    for (plies, board) in mates {
        let embedding = space.encoder.encode(&Inputs::of(input, [&board]))?;
        let cosine = space.weights.axis.cosine(&embedding);
        let white_moves = board.side_to_move() == Color::White;
        let for_mover = perspective == Perspective::SideToMove || white_moves;
        let for_mover = if for_mover { cosine } else { -cosine };
        // At an odd number of plies the side to move is the mating side.
        let for_winner = if plies % 2 == 1 { for_mover } else { -for_mover };
        by_plies.entry(plies).or_default().push(for_winner);
    }
    by_plies.retain(|_, cosines| cosines.len() >= LEAST_POSITIONS);
    let sides = [
        ("the side that mates is to move", 1, RGBColor(178, 24, 43)),
        ("the side that is mated is to move", 0, RGBColor(33, 102, 172)),
    ];
    let lines = sides.map(|(name, parity, colour)| {
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for (&plies, cosines) in by_plies.iter_mut().filter(|(plies, _)| *plies % 2 == parity) {
            cosines.sort_by(f32::total_cmp);
            let at = |share: f64| f64::from(cosines[((cosines.len() - 1) as f64 * share) as usize]);
            points.push((plies.into(), at(0.5)));
            band.push((plies.into(), [at(0.1), at(0.9)]));
        }
        PlotLine { name: Some(name.to_owned()), colour, points, band }
    });
    let positions: usize = by_plies.values().map(Vec::len).sum();
    let ends = || lines.iter().flat_map(|line| line.band.iter().flat_map(|(_, ends)| *ends));
    let chart = Chart {
        title: &format!(
            "Cosine with the axis by plies to mate: median and 10th to 90th percentile, {positions} positions"
        ),
        x: "plies to mate",
        y: "cosine, for the side that mates",
        x_range: (0.0, f64::from(MOST_PLIES) + 0.5),
        y_range: (ends().fold(0.0, f64::min) - 0.03, ends().fold(0.1, f64::max) + 0.03),
    };
    draw_chart(&chart, &lines).map(Some)
}

/// Approximate number of positions with forced mates whose proof is tried.
const MATES: usize = 1_500;

/// Nodes of each search for a proof.
pub const MATE_NODES: u64 = 10_000;

/// Positions on the way to proven mates, each with its number of plies to mate.
fn proven_mates(space: &EmbeddedPositions) -> Result<Vec<(u32, Board)>> {
    let is_mate = |label| matches!(label, Label::Mate(_));
    let all: Vec<_> = space.positions.iter().filter(|position| is_mate(position.label())).collect();
    let every = all.len().div_ceil(MATES).max(1);
    let mut planner = planner()?;
    let bar = ProgressBar::new(all.len().div_ceil(every) as u64);
    let mut found = Vec::new();
    for packed in all.into_iter().step_by(every) {
        bar.inc(1);
        let mut position = Position::from(packed.board()?);
        if !position.has_legal_move() {
            continue;
        }
        let limits = Limits { nodes: Some(MATE_NODES), ..Limits::default() };
        let control = &mut Control::without_signals(limits);
        let report = planner.search(&position, control, &mut |_| ())?;
        let plies = report.value.plies_to_mate();
        let Some(mut plies) = plies.filter(|&plies| plies <= MOST_PLIES) else { continue };
        // A line truncated by the transposition table does not show the remaining moves.
        let whole = report.pv.len() as u32 == plies;
        found.push((plies, position.board().clone()));
        for &mv in report.pv.iter().filter(|_| whole) {
            position.play(mv);
            plies -= 1;
            if plies > 0 {
                found.push((plies, position.board().clone()));
            }
        }
    }
    bar.finish_and_clear();
    Ok(found)
}

/// The shipped selective search, which proves mates.
fn planner() -> Result<Selective> {
    let weights = DefaultWeights::Selective.weights()?;
    let worker = Worker::on_cpu(weights, |text| say(text))?;
    let resources = Resources { hash_mb: 64, threads: 1 };
    Selective::new(&worker, SelectiveSettings::default(), resources)
}

/// Number of rows of cosines in memory at a time.
const ROWS: usize = 512;

/// The indices of the `count` nearest neighbours of each of the unit vectors `embeddings`, which are
/// stored row by row, the nearest first. There must be more than `count` vectors.
pub fn nearest(embeddings: &[f32], dim: usize, count: usize) -> Result<Vec<Vec<u32>>> {
    let rows = embeddings.len() / dim;
    let all = Tensor::from_slice(embeddings, (rows, dim), &Device::Cpu)?;
    let columns = all.t()?;
    let mut neighbours = Vec::with_capacity(rows);
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(count + 1);
    for first in (0..rows).step_by(ROWS) {
        let part = all.narrow(0, first, ROWS.min(rows - first))?.matmul(&columns)?;
        for (row, similar) in part.flatten_all()?.to_vec1::<f32>()?.chunks(rows).enumerate() {
            best.clear();
            let own = (first + row) as u32;
            for (number, &cosine) in (0u32..).zip(similar) {
                let worst = best.last().map_or(f32::MIN, |last| last.0);
                if number == own || best.len() == count && cosine <= worst {
                    continue;
                }
                let place = best.partition_point(|known| known.0 >= cosine);
                best.insert(place, (cosine, number));
                best.truncate(count);
            }
            neighbours.push(best.iter().map(|known| known.1).collect());
        }
    }
    Ok(neighbours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() -> Result<()> {
        // On a circle, at 0, 10, 30, 100 and 190 degrees.
        let angles = [0.0f32, 10.0, 30.0, 100.0, 190.0].map(f32::to_radians);
        let embeddings: Vec<f32> =
            angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        let found = nearest(&embeddings, 2, 2)?;
        assert_eq!([&found[0], &found[2], &found[4]], [&[1, 2], &[1, 0], &[3, 2]]);
        Ok(())
    }
}
