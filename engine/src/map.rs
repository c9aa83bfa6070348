//! The map of the space: a sample of positions, and the plane that it lies in. `x` is the cosine
//! with the axis for White, `y` the coordinate in the direction in which positions vary most.

use anyhow::{Context, Result};
use azimuth_chess::position::{Position, board_after};
use azimuth_network::axis::Axis;
use azimuth_search::inference::ModelClient;
use cozy_chess::{Board, Color, Piece};
use serde::Serialize;

/// Positions of recorded games: a FEN, the move that was played, and for a forced mate the number
/// of moves, negative if Black mates. `cargo run --release --example map_sample` writes it.
const SAMPLE: &str = include_str!("map_sample.txt");

/// Number of neighbours of a position.
const NEAR: usize = 4;

/// The weights that draw a map.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MapWeights {
    /// The embedded weights of the beam.
    Beam,
    /// The weights that the user named.
    User,
}

/// A position of the sample.
#[derive(Clone, Serialize)]
pub struct Sampled {
    fen: &'static str,
    at: [f32; 2],
    /// White's win probability.
    p: f32,
    /// Moves to a forced mate by White, or minus those by Black.
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
}

/// A map for one model.
pub struct Map {
    plane: Plane,
    /// How each side's embeddings change with the cosine, off the axis: White's, then Black's.
    slopes: [Vec<f32>; 2],
    pub sample: Vec<Sampled>,
    /// Embeddings of the sample, row by row.
    embeddings: Vec<f32>,
    /// The positions of the sample.
    boards: Vec<Board>,
}

/// Positions of the sample that are near to a position.
#[derive(Serialize)]
pub struct Neighbours {
    /// Their indices, the nearest first.
    near: Vec<usize>,
    /// Whether they were chosen among the positions of like material.
    alike: bool,
}

/// A position on the map.
pub struct Spot {
    /// Its place.
    pub at: [f32; 2],
    /// White's win probability.
    pub p: f32,
}

impl Map {
    /// Draws the map. Fails if the model does.
    pub fn draw(model: &mut ModelClient) -> Result<Self> {
        let (mut boards, mut fens, mut mates) = (Vec::new(), Vec::new(), Vec::new());
        for line in SAMPLE.lines() {
            let (fen, mv, mate) =
                parse_sampled(line).with_context(|| format!("sample: '{line}'"))?;
            let position = Position::from_fen(fen)?;
            let mv = position.parse_move(mv)?;
            boards.push(position.board().clone());
            boards.push(board_after(position.board(), mv));
            fens.push(fen);
            mates.push(mate);
        }
        let (dim, axis) = (model.space().axis.dim(), model.space().axis.clone());
        let all = model.embeddings(&boards)?;
        let sides: Vec<usize> = boards.iter().map(|board| board.side_to_move() as usize).collect();
        let cosines: Vec<f32> =
            all.chunks_exact(dim).map(|embedding| axis.cosine(embedding)).collect();
        let mut rests: Vec<Vec<f32>> =
            all.chunks_exact(dim).map(|embedding| off_axis(embedding, &axis)).collect();
        let slopes = [0, 1].map(|side| slope(&sides, &cosines, &rests, side, dim));
        for ((&side, &cosine), rest) in sides.iter().zip(&cosines).zip(&mut rests) {
            add(rest, &slopes[side], -cosine);
        }
        let plane = Plane::fit(&sides, &rests, dim);
        let embeddings: Vec<f32> =
            all.chunks_exact(2 * dim).flat_map(|pair| &pair[..dim]).copied().collect();
        let boards = boards.into_iter().step_by(2).collect();
        let mut map = Self { plane, slopes, sample: Vec::new(), embeddings, boards };
        for (index, (fen, mate)) in fens.into_iter().zip(mates).enumerate() {
            let embedding = &map.embeddings[index * dim..][..dim];
            let Spot { at, p } = map.spot(model, embedding, map.boards[index].side_to_move());
            map.sample.push(Sampled { fen, at: at.map(shortened), p: shortened(p), mate });
        }
        Ok(map)
    }

    /// The places of positions.
    pub fn spots(&self, model: &mut ModelClient, boards: &[Board]) -> Result<Vec<Spot>> {
        let embeddings = model.embeddings(boards)?;
        let rows = embeddings.chunks_exact(model.space().axis.dim());
        let spots = boards.iter().zip(rows);
        Ok(spots.map(|(board, row)| self.spot(model, row, board.side_to_move())).collect())
    }

    /// The positions of the sample that are nearest to a position, among those with the same side to
    /// move: among those of like material, if there are enough.
    pub fn near(&self, model: &mut ModelClient, board: &Board) -> Result<Neighbours> {
        let own = model.embeddings(std::slice::from_ref(board))?;
        let rows = self.embeddings.chunks_exact(own.len()).zip(&self.boards).enumerate();
        let mut found: Vec<(f32, usize)> = rows
            .filter(|(_, (_, other))| other.side_to_move() == board.side_to_move())
            .map(|(index, (row, _))| (dot(row, &own), index))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all = found.into_iter().map(|(_, index)| index);
        let like = all.clone().filter(|&index| is_alike(&self.boards[index], board));
        let near: Vec<usize> = like.take(NEAR).collect();
        let alike = near.len() == NEAR;
        Ok(Neighbours { near: if alike { near } else { all.take(NEAR).collect() }, alike })
    }

    fn spot(&self, model: &ModelClient, embedding: &[f32], side: Color) -> Spot {
        let space = model.space();
        let cosine = space.axis.cosine(embedding);
        let value = space.value(cosine, side);
        let for_white = if side == Color::White { value } else { -value };
        let mut rest = off_axis(embedding, &space.axis);
        add(&mut rest, &self.slopes[side as usize], -cosine);
        let y = self.plane.place(side as usize, &rest);
        Spot { at: [space.cosine_for_white(cosine, side), y], p: (1.0 + for_white) / 2.0 }
    }
}

/// Pieces, and how many of them a side may have more or fewer in positions of like material.
const LIKE_MATERIAL: [(&[Piece], u32); 4] = [
    (&[Piece::Queen], 0),
    (&[Piece::Rook], 0),
    (&[Piece::Bishop, Piece::Knight], 2),
    (&[Piece::Pawn], 2),
];

/// Whether two positions have like material.
fn is_alike(one: &Board, other: &Board) -> bool {
    [Color::White, Color::Black].into_iter().all(|side| {
        LIKE_MATERIAL.iter().all(|&(pieces, most)| {
            let count = |board: &Board| -> u32 {
                pieces.iter().map(|&piece| board.colored_pieces(side, piece).len()).sum()
            };
            count(one).abs_diff(count(other)) <= most
        })
    })
}

/// How the embeddings of a side's positions change per unit of the cosine, by least squares. This
/// part is removed: with it, `y` would mostly repeat `x`, because the space bends around the axis.
fn slope(
    sides: &[usize],
    cosines: &[f32],
    rests: &[Vec<f32>],
    side: usize,
    dim: usize,
) -> Vec<f32> {
    let own = || (0..sides.len()).filter(|&index| sides[index] == side);
    let mean = own().map(|index| cosines[index]).sum::<f32>() / own().count().max(1) as f32;
    let squares: f32 = own().map(|index| (cosines[index] - mean).powi(2)).sum();
    let mut slope = vec![0.0; dim];
    for index in own() {
        add(&mut slope, &rests[index], (cosines[index] - mean) / squares.max(f32::EPSILON));
    }
    slope
}

/// A number to four decimal places: the thousands of points of the sample need no more, and their
/// text is shorter.
fn shortened(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}

fn parse_sampled(line: &'static str) -> Option<(&'static str, &'static str, Option<i32>)> {
    let mut fields = line.split(';');
    let (fen, mv) = (fields.next()?, fields.next()?);
    let mate = fields.next().map(str::parse).transpose().ok()?;
    Some((fen, mv, mate))
}

/// The second coordinate: the direction orthogonal to the axis in which positions vary most. An
/// encoder that sees positions from the side to move embeds each side's positions differently, so
/// each side has its own mean and its own half of the direction, and the halves are found together.
struct Plane {
    means: [Vec<f32>; 2],
    /// White's half, then Black's.
    direction: Vec<f32>,
    /// The spread of each side's coordinates.
    spreads: [f32; 2],
}

impl Plane {
    /// Finds the direction for positions whose embeddings, without their part along the axis, are
    /// `rests`. `sides` are their sides to move, 0 for White. Each position before a move is
    /// followed by the one after it; White's and Black's halves of the direction agree on them.
    fn fit(sides: &[usize], rests: &[Vec<f32>], dim: usize) -> Self {
        let of_side = |side| {
            sides.iter().zip(rests).filter(move |(of, _)| **of == side).map(|(_, rest)| rest)
        };
        let means = [0, 1].map(|side| {
            let mut mean = vec![0.0f32; dim];
            let share = 1.0 / of_side(side).count().max(1) as f32;
            of_side(side).for_each(|rest| add(&mut mean, rest, share));
            mean
        });
        let pairs = sides.chunks(2).zip(rests.chunks(2)).map(|(sides, rests)| {
            let mut joined = vec![0.0; 2 * dim];
            for (&side, rest) in sides.iter().zip(rests) {
                let half = &mut joined[side * dim..][..dim];
                half.copy_from_slice(rest);
                add(half, &means[side], -1.0);
            }
            joined
        });
        let direction = main_direction(&pairs.collect::<Vec<_>>(), 2 * dim);
        let mut plane = Self { means, direction, spreads: [1.0; 2] };
        plane.spreads = [0, 1].map(|side| {
            let squares: f32 = of_side(side).map(|rest| plane.place(side, rest).powi(2)).sum();
            (squares / of_side(side).count().max(1) as f32).sqrt().max(f32::EPSILON)
        });
        plane
    }

    /// The coordinate of a position with this side to move, scaled so that the mean square of the
    /// fitted positions is 1.
    fn place(&self, side: usize, rest: &[f32]) -> f32 {
        let dim = rest.len();
        let half = &self.direction[side * dim..][..dim];
        (dot(rest, half) - dot(&self.means[side], half)) / self.spreads[side]
    }
}

/// The part of an embedding that is orthogonal to the axis.
fn off_axis(embedding: &[f32], axis: &Axis) -> Vec<f32> {
    let mut rest = embedding.to_vec();
    add(&mut rest, axis.unit(), -axis.cosine(embedding));
    rest
}

/// Iterations of the power method; enough for a plot.
const POWER_ITERATIONS: usize = 100;

/// The direction of largest variance, of length 1: the first principal component by power
/// iteration.
fn main_direction(vectors: &[Vec<f32>], dim: usize) -> Vec<f32> {
    // A fixed start vector makes the result reproducible.
    let mut direction: Vec<f32> = (0..dim).map(|index| 1.0 + (index as f32 * 0.7).sin()).collect();
    for _ in 0..POWER_ITERATIONS {
        let mut next = vec![0.0; dim];
        for vector in vectors {
            add(&mut next, vector, dot(vector, &direction));
        }
        let length = dot(&next, &next).sqrt();
        if length < f32::EPSILON {
            break;
        }
        direction = next.into_iter().map(|value| value / length).collect();
    }
    direction
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f32], vector: &[f32], factor: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += factor * value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_positions_share_a_scale() {
        // White's positions vary in the first number, Black's in the second with the opposite sign.
        let sides = [0, 1, 0, 1, 0, 1];
        let rests = [[3.0, 0.1], [0.0, -6.1], [1.0, 0.0], [0.1, -2.0], [-4.0, -0.1], [-0.1, 8.1]];
        let rests = rests.map(Vec::from);
        let plane = Plane::fit(&sides, &rests, 2);
        let places: Vec<f32> =
            sides.iter().zip(&rests).map(|(&side, rest)| plane.place(side, rest)).collect();
        for pair in places.chunks(2) {
            assert!((pair[0] - pair[1]).abs() < 0.2, "{places:?}");
        }
        assert!((places[0] - places[4]).abs() > 2.0, "{places:?}");
    }

    #[test]
    fn like_material_has_the_same_queens_and_rooks() -> Result<()> {
        let board = |fen| Position::from_fen(fen).map(|position| position.board().clone());
        let rooks = board("4k2r/ppp5/8/8/8/8/PPP5/R3K3 w - - 0 1")?;
        for (fen, expected) in [
            ("4k2r/5ppp/8/8/8/8/5PPP/R3K3 w - - 0 1", true),
            ("4k2r/p7/8/8/8/8/PPP3PP/R3KBN1 w - - 0 1", true),
            ("4k2r/8/8/8/8/8/PPP5/R3K3 w - - 0 1", false),
            ("4k2r/ppp5/8/8/8/8/PPP5/R2BKBN1 w - - 0 1", false),
            ("4k2q/ppp5/8/8/8/8/PPP5/R3K3 w - - 0 1", false),
            ("4k3/ppp5/8/8/8/8/PPP5/RR2K3 w - - 0 1", false),
        ] {
            assert_eq!(is_alike(&rooks, &board(fen)?), expected, "{fen}");
        }
        Ok(())
    }

    #[test]
    fn the_main_direction_is_the_longest() {
        let vectors = [[3.0, 0.1, 0.0], [-3.0, 0.2, 0.0], [0.0, -0.3, 0.1]].map(Vec::from);
        let direction = main_direction(&vectors, 3);
        assert!(direction[0].abs() > 0.99, "{direction:?}");
        let length = dot(&direction, &direction);
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
}
