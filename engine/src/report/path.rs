//! A game's path through the embedding space in two dimensions (paper, Figure 3): along the axis,
//! and along the direction orthogonal to it in which the game's positions vary most.

use azimuth_network::axis::Axis;

use super::analysis::Stop;

/// Iterations of the power method; enough for a plot.
const STEPS: usize = 100;

/// For each position, the cosine with the axis, for White, and the coordinate along the other
/// direction, scaled to a mean square of 1.
pub fn path(stops: &[Stop], axis: &Axis) -> Vec<[f32; 2]> {
    let sides: Vec<usize> =
        stops.iter().map(|stop| stop.position.board().side_to_move() as usize).collect();
    let rests: Vec<Vec<f32>> = stops.iter().map(|stop| off_axis(&stop.embedding, axis)).collect();
    let places = places(&sides, rests, axis.dim());
    stops.iter().zip(places).map(|(stop, place)| [stop.cosine, place]).collect()
}

/// The positions' coordinates along the direction of largest variance. An encoder that sees
/// positions from the side to move embeds each side's positions differently: the mean of each side
/// is subtracted, and the direction is found over pairs of consecutive positions, concatenated as
/// White's half and Black's half.
fn places(sides: &[usize], mut rests: Vec<Vec<f32>>, dim: usize) -> Vec<f32> {
    for side in [0, 1] {
        let own = |rests: &[Vec<f32>]| -> Vec<usize> {
            (0..rests.len()).filter(|&index| sides[index] == side).collect()
        };
        let own = own(&rests);
        let mut mean = vec![0.0f32; dim];
        for &index in &own {
            add(&mut mean, &rests[index], 1.0 / own.len() as f32);
        }
        own.iter().for_each(|&index| add(&mut rests[index], &mean, -1.0));
    }
    let pairs: Vec<Vec<f32>> = (1..rests.len())
        .map(|next| {
            let mut pair = vec![0.0; 2 * dim];
            for index in [next - 1, next] {
                pair[sides[index] * dim..][..dim].copy_from_slice(&rests[index]);
            }
            pair
        })
        .collect();
    let direction = main_direction(&pairs, 2 * dim);
    let mut places: Vec<f32> = (sides.iter().zip(&rests))
        .map(|(&side, rest)| dot(rest, &direction[side * dim..][..dim]))
        .collect();
    // Scales both sides' coordinates alike.
    for side in [0, 1] {
        let own = || sides.iter().zip(&places).filter(|(of, _)| **of == side).map(|(_, at)| at);
        let spread = (own().map(|at| at * at).sum::<f32>() / own().count().max(1) as f32).sqrt();
        for (_, place) in sides.iter().zip(&mut places).filter(|(of, _)| **of == side) {
            *place /= spread.max(f32::EPSILON);
        }
    }
    places
}

fn off_axis(embedding: &[f32], axis: &Axis) -> Vec<f32> {
    let mut rest = embedding.to_vec();
    add(&mut rest, axis.unit(), -axis.cosine(embedding));
    rest
}

/// The direction of largest variance, of length 1: the first principal component by power
/// iteration.
fn main_direction(vectors: &[Vec<f32>], dim: usize) -> Vec<f32> {
    // A fixed start vector makes the result reproducible.
    let mut direction: Vec<f32> = (0..dim).map(|index| 1.0 + (index as f32 * 0.7).sin()).collect();
    for _ in 0..STEPS {
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
        // Black's side has the second number, seen from the other side.
        let sides = [0, 1, 0, 1, 0, 1];
        let rests = [[3.0, 0.1], [0.0, -6.1], [1.0, 0.0], [0.1, -2.0], [-4.0, -0.1], [-0.1, 8.1]];
        let places = places(&sides, rests.map(Vec::from).into(), 2);
        for pair in places.chunks(2) {
            assert!((pair[0] - pair[1]).abs() < 0.2, "{places:?}");
        }
        assert!((places[0] - places[4]).abs() > 2.0, "{places:?}");
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
