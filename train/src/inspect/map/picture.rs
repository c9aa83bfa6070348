//! A map as SVG: points coloured by win probability, the axis, mates and trajectories of games. The
//! same points as a page.

use std::fmt::Write as _;

use anyhow::Result;
use askama::Template;
use azimuth_chess::position::fen_of;
use azimuth_cli::page::{BOARD_CREDIT, BOARD_SCRIPT, STYLE, policy};
use azimuth_network::Perspective;
use serde::Serialize;

use super::measures::nearest;
use super::projection::Plane;
use crate::data::packed::Label;
use crate::inspect::EmbeddedPositions;
use crate::space::labels;

const SIZE: (f32, f32) = (900.0, 640.0);
const ROOM: f32 = 30.0;

/// Height of the text below a map, in pixels.
const LEGEND: f32 = 44.0;

/// Number of colours for the win probability.
const SHADES: usize = 21;

/// The positions coloured by their labels, with mates outlined and the axis (paper, Figure 1).
pub fn space_figure(space: &EmbeddedPositions, plane: &Plane, cosines: &[f32]) -> String {
    let frame = Frame::around(plane, [0.0, 0.0], (SIZE.0, SIZE.1));
    let labels = labels(&space.positions, space.weights.metadata.architecture.perspective());
    let is_mate = |index: &usize| matches!(space.positions[*index].label(), Label::Mate(_));
    let mut svg = begin_svg(
        (SIZE.0, SIZE.1 + LEGEND),
        &format!("{} positions in the space, by win probability of {}", labels.len(), whose(space)),
    );
    let all: Vec<usize> = (0..labels.len()).collect();
    dots(&mut svg, &frame, plane, &labels, &all, 2.6);
    let mates: Vec<usize> = all.into_iter().filter(is_mate).collect();
    marks(&mut svg, &frame, plane, &mates);
    axis(&mut svg, &frame, plane);
    legend(&mut svg, SIZE.1, whose(space), "○ forced mate   ⇢ advantage axis");
    let (low, high) = cosines.iter().fold((1f32, -1f32), |(a, b), &c| (a.min(c), b.max(c)));
    text(&mut svg, SIZE.0 - 10.0, SIZE.1 + 24.0, "end", &format!("cosines {low:.2} to {high:.2}"));
    svg.push_str("</svg>\n");
    svg
}

/// Trajectories of games through the space, each on a separate map (paper, Figure 3). Each of `games`
/// is a title and a number of positions; their points come after those of the space.
pub fn games_figure(
    space: &EmbeddedPositions,
    plane: &Plane,
    cosines: &[f32],
    games: &[(&str, usize)],
) -> String {
    let (width, height) = (440.0, 420.0);
    let labels = labels(&space.positions, space.weights.metadata.architecture.perspective());
    // A sample of positions is enough for the background.
    let every = labels.len().div_ceil(4_000);
    let shown: Vec<usize> = (0..labels.len()).step_by(every).collect();
    let size = (width * games.len() as f32, height + LEGEND + 24.0);
    let mut svg = begin_svg(size, &format!("the ways of {} games through the space", games.len()));
    let mut first = labels.len();
    for (number, &(title, count)) in games.iter().enumerate() {
        let left = width * number as f32;
        let frame = Frame::around(plane, [left, 24.0], (width, height));
        text(&mut svg, left + width / 2.0, 20.0, "middle", title);
        svg.push_str("<g opacity=\"0.35\">");
        dots(&mut svg, &frame, plane, &labels, &shown, 2.2);
        svg.push_str("</g>");
        axis(&mut svg, &frame, plane);
        let places: Vec<[f32; 2]> =
            (first..first + count).map(|index| frame.place(plane.points[index])).collect();
        let line: Vec<String> = places.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.3\" marker-mid=\"url(#step)\" \
             marker-end=\"url(#step)\"/>",
            line.join(" ")
        );
        for (place, name) in [(places.first(), "start"), (places.last(), "end")] {
            let Some([x, y]) = place else { continue };
            let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"#111\"/>");
            text(&mut svg, x + 8.0, y - 6.0, "start", name);
        }
        let ends = [first, first + count - 1].map(|index| cosines[index]);
        let caption = format!("cosine {:+.2} at the start, {:+.2} at the end", ends[0], ends[1]);
        text(&mut svg, left + width / 2.0, height + 36.0, "middle", &caption);
        first += count;
    }
    legend(&mut svg, height + 36.0, whose(space), "");
    svg.push_str("</svg>\n");
    svg
}

fn begin_svg((width, height): (f32, f32), title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"14\"><title>{title}</title>\
         <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"8\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#111\"/></marker>\
         <marker id=\"step\" viewBox=\"0 0 10 10\" refX=\"8\" refY=\"5\" markerWidth=\"5\" markerHeight=\"5\" \
         orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#c01\"/></marker></defs>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    )
}

/// Draws the points of each colour as one path, which takes a tenth of the bytes of circles.
fn dots(svg: &mut String, frame: &Frame, plane: &Plane, p: &[f32], of: &[usize], size: f32) {
    let shade = |p: f32| (p * (SHADES - 1) as f32).round() as usize;
    for number in 0..SHADES {
        let colour = colour(number as f32 / (SHADES - 1) as f32);
        let mut path = String::new();
        for &index in of.iter().filter(|&&index| shade(p[index]) == number) {
            let [x, y] = frame.place(plane.points[index]);
            let _ = write!(path, "M{x:.0} {y:.0}h0");
        }
        if !path.is_empty() {
            let _ = write!(
                svg,
                "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{size}\" stroke-linecap=\"round\"/>"
            );
        }
    }
}

fn marks(svg: &mut String, frame: &Frame, plane: &Plane, of: &[usize]) {
    // Overlapping rings look like one, so only one is drawn.
    let rounded = |at: f32| (at / 4.0).round() as i32 * 4;
    let places = of.iter().map(|&index| frame.place(plane.points[index]).map(rounded));
    let mut places: Vec<[i32; 2]> = places.collect();
    places.sort_unstable();
    places.dedup();
    svg.push_str("<g fill=\"none\" stroke=\"#111\" stroke-width=\"0.6\">");
    for [x, y] in places {
        let _ = write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.4\"/>");
    }
    svg.push_str("</g>");
}

fn axis(svg: &mut String, frame: &Frame, plane: &Plane) {
    let [[x1, y1], [x2, y2]] = plane.axis.map(|end| frame.place(end));
    let _ = write!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#111\" stroke-width=\"2\" \
         stroke-dasharray=\"8 6\" marker-end=\"url(#tip)\"/>"
    );
}

fn legend(svg: &mut String, top: f32, whose: &str, marks: &str) {
    let top = top + 12.0;
    text(svg, 10.0, top + 12.0, "start", "0%");
    for number in 0..SHADES {
        let colour = colour(number as f32 / (SHADES - 1) as f32);
        let x = 36.0 + 9.0 * number as f32;
        let size = "width=\"9\" height=\"14\"";
        let _ = write!(svg, "<rect x=\"{x}\" y=\"{top}\" {size} fill=\"{colour}\"/>");
    }
    let label = format!("100% win probability of {whose}   {marks}");
    text(svg, 42.0 + 9.0 * SHADES as f32, top + 12.0, "start", &label);
}

fn text(svg: &mut String, x: f32, y: f32, anchor: &str, words: &str) {
    let escaped = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#222\">{escaped}</text>"
    );
}

/// The transformation from the plane to pixels.
struct Frame {
    scale: f32,
    middle: [f32; 2],
    origin: [f32; 2],
}

impl Frame {
    /// Fits the plane without its outermost points into a box of pixels with a corner at `origin`.
    fn around(plane: &Plane, origin: [f32; 2], (width, height): (f32, f32)) -> Self {
        let range = |axis: usize| {
            let mut values: Vec<f32> = plane.points.iter().map(|point| point[axis]).collect();
            values.sort_by(f32::total_cmp);
            let outermost = values.len() / 500;
            [values[outermost], values[values.len() - 1 - outermost]]
        };
        let [[left, right], [low, high]] = [range(0), range(1)];
        let scale = ((width - 2.0 * ROOM) / (right - left).max(f32::EPSILON))
            .min((height - 2.0 * ROOM) / (high - low).max(f32::EPSILON));
        let middle = [(left + right) / 2.0, (low + high) / 2.0];
        Self { scale, middle, origin: [origin[0] + width / 2.0, origin[1] + height / 2.0] }
    }

    fn place(&self, point: [f32; 2]) -> [f32; 2] {
        [
            self.origin[0] + self.scale * (point[0] - self.middle[0]),
            self.origin[1] - self.scale * (point[1] - self.middle[1]),
        ]
    }
}

/// Red for probable wins and blue for probable losses, as in the paper.
fn colour(p: f32) -> String {
    const LOST: [f32; 3] = [33.0, 102.0, 172.0];
    const EVEN: [f32; 3] = [214.0, 210.0, 205.0];
    const WON: [f32; 3] = [178.0, 24.0, 43.0];
    let p = p.clamp(0.0, 1.0);
    let (from, to, share) =
        if p < 0.5 { (LOST, EVEN, 2.0 * p) } else { (EVEN, WON, 2.0 * p - 1.0) };
    let [r, g, b] = [0, 1, 2].map(|i| (from[i] + share * (to[i] - from[i])).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The side whose win probability the colours show.
fn whose(space: &EmbeddedPositions) -> &'static str {
    match space.weights.metadata.architecture.perspective() {
        Perspective::White => "White",
        Perspective::SideToMove => "the side to move",
    }
}

/// Maximum number of positions on a page, so that it stays well below two megabytes.
const MOST_POSITIONS: usize = 8_000;

/// Number of highlighted neighbours of a position.
const LIT: usize = 8;

/// Coordinates in the plane are rounded to integers of at most this magnitude.
const EXTENT: f32 = 10_000.0;

/// The page for a sample of the positions.
pub fn space_page(
    space: &EmbeddedPositions,
    plane: &Plane,
    cosines: &[f32],
    embeddings: &[f32],
) -> Result<String> {
    let dim = space.dim();
    let every = space.positions.len().div_ceil(MOST_POSITIONS).max(1);
    let shown: Vec<usize> = (0..space.positions.len()).step_by(every).collect();
    let rows = shown.iter().flat_map(|&index| &embeddings[index * dim..][..dim]);
    let rows: Vec<f32> = rows.copied().collect();
    let neighbours = nearest(&rows, dim, LIT)?;
    let perspective = space.weights.metadata.architecture.perspective();
    let most = plane.points.iter().flatten().fold(f32::EPSILON, |most, at| most.max(at.abs()));
    let whole = |[x, y]: [f32; 2]| [x, y].map(|at| (at / most * EXTENT).round() as i32);
    let rounded = |value: f32| (value * 1e4).round() / 1e4;
    let mut points = Vec::with_capacity(shown.len());
    for (index, near) in shown.into_iter().zip(neighbours) {
        let position = &space.positions[index];
        points.push(Point {
            at: whole(plane.points[index]),
            fen: fen_of(&position.board()?),
            label: rounded(position.win_probability(perspective)),
            mate: matches!(position.label(), Label::Mate(_)),
            score: rounded(space.weights.calibration.win_probability(cosines[index])),
            cosine: rounded(cosines[index]),
            near,
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
        all: space.positions.len(),
        data: Data { axis: plane.axis.map(whole), points },
    };
    Ok(page.render()?)
}

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
