//! Projection of a space to the plane, by PCA or t-SNE.

use bhtsne::tSNE;
use clap::ValueEnum;
use nalgebra::{DMatrix, SymmetricEigen};

/// The drawn axis joins two centroids: of this share of the positions at each end of the cosines.
const AXIS_ENDS: f32 = 0.02;

/// Perplexity of t-SNE, if there are at least three times that number of positions.
const PERPLEXITY: f32 = 30.0;

/// Standard deviation of t-SNE's initial coordinates, the usual value after PCA.
const FIRST_DEVIATION: f32 = 1e-4;

/// Projection of a space to the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Projection {
    /// The two principal components: distances approximate those of the space.
    Pca,
    /// t-SNE (van der Maaten and Hinton, 2008), which preserves neighbourhoods but not large
    /// distances; initialised with the principal components, so that pictures of a space are alike.
    #[value(name = "t-sne")]
    TSne,
}

/// Coordinates of every embedding in the plane.
pub struct Plane {
    pub points: Vec<[f32; 2]>,
    /// The projected axis, from the centroid of the lowest cosines to that of the highest.
    pub axis: [[f32; 2]; 2],
}

impl Plane {
    /// Projects vectors of `dim` values, row by row, to the plane, in which the axis points right.
    pub fn lay(embeddings: &[f32], dim: usize, cosines: &[f32], projection: Projection) -> Self {
        let components = principal_components(embeddings, dim);
        let mut points = match projection {
            Projection::Pca => components,
            Projection::TSne => neighbour_embedding(embeddings, dim, &components),
        };
        let mut order: Vec<usize> = (0..cosines.len()).collect();
        order.sort_by(|&a, &b| cosines[a].total_cmp(&cosines[b]));
        let ends = ((order.len() as f32 * AXIS_ENDS) as usize).max(1);
        let middle = |of: &[usize], points: &[[f32; 2]]| {
            [0, 1].map(|axis| {
                of.iter().map(|&index| points[index][axis]).sum::<f32>() / of.len() as f32
            })
        };
        let (low, high) = (&order[..ends], &order[order.len() - ends..]);
        let (from, to) = (middle(low, &points), middle(high, &points));
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let length = x.hypot(y).max(f32::EPSILON);
        let (cos, sin) = (x / length, y / length);
        for [x, y] in &mut points {
            (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
        }
        let axis = [middle(low, &points), middle(high, &points)];
        Self { points, axis }
    }
}

/// t-SNE of the rows by interpolation (FIt-SNE, Linderman et al., 2019), initialised with `places`.
fn neighbour_embedding(embeddings: &[f32], dim: usize, places: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let rows: Vec<&[f32]> = embeddings.chunks_exact(dim).collect();
    let square = places.iter().map(|[x, _]| x * x).sum::<f32>() / places.len() as f32;
    let scale = FIRST_DEVIATION / square.sqrt().max(f32::EPSILON);
    let first: Vec<f32> = places.iter().flatten().map(|place| place * scale).collect();
    let perplexity = PERPLEXITY.min((rows.len() - 1) as f32 / 3.0);
    let embedding = tSNE::<f32, &[f32], 2>::new(&rows)
        .perplexity(perplexity)
        .initial_embedding(first)
        .fit_sne(|a, b| a.iter().zip(*b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt())
        .embedding();
    embedding.chunks_exact(2).map(|place| [place[0], place[1]]).collect()
}

fn principal_components(embeddings: &[f32], dim: usize) -> Vec<[f32; 2]> {
    let rows = embeddings.len() / dim;
    let mut mean = vec![0.0f64; dim];
    for embedding in embeddings.chunks_exact(dim) {
        mean.iter_mut().zip(embedding).for_each(|(sum, &z)| *sum += f64::from(z) / rows as f64);
    }
    let mut covariance = DMatrix::<f64>::zeros(dim, dim);
    for embedding in embeddings.chunks_exact(dim) {
        for i in 0..dim {
            let zi = f64::from(embedding[i]) - mean[i];
            for j in 0..=i {
                covariance[(i, j)] += zi * (f64::from(embedding[j]) - mean[j]);
            }
        }
    }
    covariance.fill_upper_triangle_with_lower_triangle();
    let eigen = SymmetricEigen::new(covariance);
    let mut order: Vec<usize> = (0..dim).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let along = |embedding: &[f32], component: usize| -> f32 {
        let direction = eigen.eigenvectors.column(order[component]);
        let from_mean = embedding.iter().zip(&mean).map(|(&z, mean)| f64::from(z) - mean);
        from_mean.zip(direction.iter()).map(|(z, d)| z * d).sum::<f64>() as f32
    };
    let second = 1.min(dim - 1);
    embeddings.chunks_exact(dim).map(|row| [along(row, 0), along(row, second)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on an arc of a circle in three dimensions, and their positions along it.
    fn arc() -> (Vec<f32>, Vec<f32>) {
        let along: Vec<f32> = (0..200).map(|step| step as f32 / 100.0 - 1.0).collect();
        let embeddings = along.iter().flat_map(|t| [t.cos() * 0.6, t.cos() * 0.8, t.sin()]);
        (embeddings.collect(), along)
    }

    #[test]
    fn the_axis_points_to_the_right() {
        let (embeddings, along) = arc();
        let plane = Plane::lay(&embeddings, 3, &along, Projection::Pca);
        let [from, to] = plane.axis;
        assert!(to[0] > from[0] && (to[1] - from[1]).abs() < 1e-3 * (to[0] - from[0]));
        // The order along the arc is kept, and so is the distance between its ends.
        assert!(plane.points.is_sorted_by(|a, b| a[0] < b[0]));
        let width = plane.points[199][0] - plane.points[0][0];
        assert!((width - 2.0 * 1f32.sin()).abs() < 0.02, "{width}");
    }

    #[test]
    fn t_sne_keeps_neighbours_together() {
        // Three clusters in ten dimensions, with rows alternating between them.
        let point = |row: usize| {
            let (heap, inside) = (row % 3, row / 3);
            (0..10).map(move |axis| {
                let wave = ((inside * 10 + axis) as f32 * 1.7).sin() * 0.1;
                wave + if axis == heap { 3.0 } else { 0.0 }
            })
        };
        let embeddings: Vec<f32> = (0..300).flat_map(point).collect();
        let places = Plane::lay(&embeddings, 10, &[0.0; 300], Projection::TSne).points;
        let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        for (row, &place) in places.iter().enumerate() {
            let others = (0..300).filter(|&other| other != row);
            let nearest = others
                .min_by(|&a, &b| distance(places[a], place).total_cmp(&distance(places[b], place)));
            assert_eq!(nearest.map(|nearest| nearest % 3), Some(row % 3));
        }
    }
}
