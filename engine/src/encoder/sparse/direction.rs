//! The last layer along one direction. A search needs only the cosine of an embedding with the axis
//! `u`: of `W h + b`, scaled to unit length, that is `(u·W h + u·b) / |W h + b|`. The length
//! follows from the Gram matrix of the layer: `|W h + b|² = h·(WᵀW h + 2 Wᵀb) + b·b`. So the
//! embedding itself need not be computed.

use multiversion::multiversion;

use azimuth_network::normalize::SMALLEST_SQUARE;
use azimuth_network::sparse::HIDDEN;

/// Number of values that are summed in parallel.
const LANES: usize = 8;

/// One head's last layer along a direction.
#[derive(Clone)]
pub(super) struct HeadAlong {
    along: [f32; HIDDEN],
    along_bias: f32,
    /// `WᵀW`, row by row.
    gram: Vec<f32>,
    /// `2 Wᵀb`.
    cross: [f32; HIDDEN],
    bias_square: f32,
}

impl HeadAlong {
    /// Folds a projection (`[HIDDEN][D]`), its bias and the unit vector `axis` into one head.
    pub(super) fn new(projection: &[f32], bias: &[f32], axis: &[f32]) -> Self {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let columns: Vec<&[f32]> = projection.chunks_exact(bias.len()).collect();
        let of_column = |value: &dyn Fn(&[f32]) -> f32| -> [f32; HIDDEN] {
            std::array::from_fn(|input| value(columns[input]))
        };
        Self {
            along: of_column(&|column| dot(column, axis)),
            along_bias: dot(bias, axis),
            gram: columns.iter().flat_map(|a| of_column(&|b| dot(a, b))).collect(),
            cross: of_column(&|column| 2.0 * dot(column, bias)),
            bias_square: dot(bias, bias),
        }
    }

    /// The cosine of the embedding of `hidden` with the direction.
    pub(super) fn cosine(&self, hidden: &[f32; HIDDEN]) -> f32 {
        cosine(self, hidden)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn cosine(head: &HeadAlong, hidden: &[f32; HIDDEN]) -> f32 {
    let mut products = head.cross;
    // Zeros are multiplied too: a branch on each would be mispredicted half the time.
    for (&input, row) in hidden.iter().zip(head.gram.chunks_exact(HIDDEN)) {
        products.iter_mut().zip(row).for_each(|(product, value)| *product += input * value);
    }
    let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
    for (index, &input) in hidden.iter().enumerate() {
        along[index % LANES] += input * head.along[index];
        square[index % LANES] += input * products[index];
    }
    let square = square.iter().sum::<f32>() + head.bias_square;
    (along.iter().sum::<f32>() + head.along_bias) / (square.max(0.0) + SMALLEST_SQUARE).sqrt()
}
