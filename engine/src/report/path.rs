//! A game's path through the embedding space in two dimensions (paper, Figure 3): along the axis,
//! and along the direction orthogonal to it in which the game's positions vary most.

use azimuth_network::axis::Axis;

use super::analysis::Stop;
use crate::plane::{Plane, off_axis};

/// For each position, the cosine with the axis, for White, and the coordinate along the other
/// direction, scaled to a mean square of 1.
pub fn path(stops: &[Stop], axis: &Axis) -> Vec<[f32; 2]> {
    let sides: Vec<usize> =
        stops.iter().map(|stop| stop.position.board().side_to_move() as usize).collect();
    let rests: Vec<Vec<f32>> = stops.iter().map(|stop| off_axis(&stop.embedding, axis)).collect();
    let pairs: Vec<[usize; 2]> = (1..stops.len()).map(|next| [next - 1, next]).collect();
    let plane = Plane::fit(&sides, &rests, &pairs, axis.dim());
    let places = sides.iter().zip(&rests).map(|(&side, rest)| plane.place(side, rest));
    stops.iter().zip(places).map(|(stop, place)| [stop.cosine, place]).collect()
}
