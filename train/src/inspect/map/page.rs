//! A map as an HTML page: selecting a point shows its board, label and score, and highlights its
//! neighbours.

use anyhow::Result;
use askama::Template;
use azimuth::pages::{BOARD_CREDIT, BOARD_SCRIPT, STYLE, policy};
use azimuth_chess::position::fen_of;
use serde::Serialize;

use super::nearest::Nearest;
use super::picture::whose;
use super::projection::Plane;
use crate::data::label::Label;
use crate::inspect::positions::EmbeddedPositions;

/// Maximum number of positions on a page, so that it stays well below two megabytes.
const MOST_POSITIONS: usize = 8_000;

/// Number of highlighted neighbours of a position.
const LIT: usize = 8;

/// Coordinates in the plane are rounded to integers of at most this magnitude.
const EXTENT: f32 = 10_000.0;

#[derive(Template)]
#[template(path = "map.html")]
struct Page<'a> {
    policy: String,
    style: &'static str,
    map_style: &'static str,
    script: &'a str,
    board_credit: &'static str,
    whose: &'static str,
    count: usize,
    all: usize,
    data: Data,
}

#[derive(Serialize)]
struct Data {
    /// The axis, from the lowest cosines to the highest.
    axis: [[i32; 2]; 2],
    points: Vec<Point>,
}

/// A position; its probabilities are from the encoder's perspective.
#[derive(Serialize)]
struct Point {
    at: [i32; 2],
    fen: String,
    label: f32,
    mate: bool,
    score: f32,
    cosine: f32,
    near: Vec<u32>,
}

/// The page for a sample of the positions.
pub fn page(
    space: &EmbeddedPositions,
    plane: &Plane,
    cosines: &[f32],
    embeddings: &[f32],
) -> Result<String> {
    let dim = space.dim();
    let every = space.len().div_ceil(MOST_POSITIONS).max(1);
    let shown: Vec<usize> = (0..space.len()).step_by(every).collect();
    let rows = shown.iter().flat_map(|&index| &embeddings[index * dim..][..dim]);
    let rows: Vec<f32> = rows.copied().collect();
    let nearest = Nearest::find(&rows, dim, LIT)?;
    let perspective = space.weights.metadata.architecture.perspective();
    let most = plane.points.iter().flatten().fold(f32::EPSILON, |most, at| most.max(at.abs()));
    let whole = |[x, y]: [f32; 2]| [x, y].map(|at| (at / most * EXTENT).round() as i32);
    let rounded = |value: f32| (value * 1e4).round() / 1e4;
    let mut points = Vec::with_capacity(shown.len());
    for (number, &index) in shown.iter().enumerate() {
        let position = &space.positions()[index];
        points.push(Point {
            at: whole(plane.points[index]),
            fen: fen_of(&position.board()?),
            label: rounded(position.win_probability(perspective)),
            mate: matches!(position.label(), Label::Mate(_)),
            score: rounded(space.weights.calibration.win_probability(cosines[index])),
            cosine: rounded(cosines[index]),
            near: nearest.of(number).to_vec(),
        });
    }
    let script = format!("{BOARD_SCRIPT}\n{}", include_str!("../../../pages/map.js"));
    let page = Page {
        policy: policy(&script),
        style: STYLE,
        map_style: include_str!("../../../pages/map.css"),
        script: &script,
        board_credit: BOARD_CREDIT,
        whose: whose(space),
        count: points.len(),
        all: space.len(),
        data: Data { axis: plane.axis.map(whole), points },
    };
    Ok(page.render()?)
}
