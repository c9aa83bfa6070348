//! The second coordinate of pictures of a space: the direction orthogonal to the axis in which
//! positions vary most.

use azimuth_network::axis::Axis;

/// Iterations of the power method; enough for a plot.
const STEPS: usize = 100;

/// The direction of largest variance. An encoder that sees positions from the side to move embeds
/// each side's positions differently, so each side has its own mean and its own half of the
/// direction, and the halves are found together.
pub struct Plane {
    means: [Vec<f32>; 2],
    /// White's half, then Black's.
    direction: Vec<f32>,
    /// The spread of each side's coordinates.
    spreads: [f32; 2],
}

impl Plane {
    /// Finds the direction for positions whose embeddings, without their part along the axis, are
    /// `rests`. `sides` are their sides to move, 0 for White. Each pair joins the positions before
    /// and after a move; White's and Black's halves of the direction agree on them.
    pub fn fit(sides: &[usize], rests: &[Vec<f32>], pairs: &[[usize; 2]], dim: usize) -> Self {
        let of_side = |side| {
            sides.iter().zip(rests).filter(move |(of, _)| **of == side).map(|(_, rest)| rest)
        };
        let means = [0, 1].map(|side| {
            let mut mean = vec![0.0f32; dim];
            let share = 1.0 / of_side(side).count().max(1) as f32;
            of_side(side).for_each(|rest| add(&mut mean, rest, share));
            mean
        });
        let pairs: Vec<Vec<f32>> = pairs
            .iter()
            .map(|pair| {
                let mut joined = vec![0.0; 2 * dim];
                for &index in pair {
                    let half = &mut joined[sides[index] * dim..][..dim];
                    half.copy_from_slice(&rests[index]);
                    add(half, &means[sides[index]], -1.0);
                }
                joined
            })
            .collect();
        let direction = main_direction(&pairs, 2 * dim);
        let mut plane = Self { means, direction, spreads: [1.0; 2] };
        plane.spreads = [0, 1].map(|side| {
            let squares: f32 = of_side(side).map(|rest| plane.place(side, rest).powi(2)).sum();
            (squares / of_side(side).count().max(1) as f32).sqrt().max(f32::EPSILON)
        });
        plane
    }

    /// The coordinate of a position with this side to move, scaled so that the mean square of the
    /// fitted positions is 1.
    pub fn place(&self, side: usize, rest: &[f32]) -> f32 {
        let dim = rest.len();
        let half = &self.direction[side * dim..][..dim];
        (dot(rest, half) - dot(&self.means[side], half)) / self.spreads[side]
    }
}

/// The part of an embedding that is orthogonal to the axis.
pub fn off_axis(embedding: &[f32], axis: &Axis) -> Vec<f32> {
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
        // White's positions vary in the first number, Black's in the second with the opposite sign.
        let sides = [0, 1, 0, 1, 0, 1];
        let rests = [[3.0, 0.1], [0.0, -6.1], [1.0, 0.0], [0.1, -2.0], [-4.0, -0.1], [-0.1, 8.1]];
        let rests = rests.map(Vec::from);
        let plane = Plane::fit(&sides, &rests, &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 2);
        let places: Vec<f32> =
            sides.iter().zip(&rests).map(|(&side, rest)| plane.place(side, rest)).collect();
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
