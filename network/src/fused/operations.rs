//! The code that the fused operations and their reference share: the choice between them, their
//! inputs, sums of columns, and dropout masks.

use candle_core::{Device, Result, Shape, Tensor};

/// The operations of a transformer, from tokens to the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operations {
    /// Fused operations where they exist for the shape and device.
    #[default]
    Fused,
    /// Only candle's operations.
    Composed,
}

/// The inputs of a softmax attention and of its gradient.
#[derive(Clone, Copy)]
pub struct Attention<'a> {
    /// Queries, keys and values without their bias: (batch, length, 3H).
    pub packed: &'a Tensor,
    /// Their bias: 3H.
    pub bias: &'a Tensor,
    /// Number of heads, of H / heads values each.
    pub heads: usize,
    /// Drops attention weights.
    pub mask: DropoutMask,
}

/// The inputs of `mask(GELU(x + bias))` and of its gradient.
#[derive(Clone, Copy)]
pub struct Gelu<'a> {
    /// (rows, width).
    pub x: &'a Tensor,
    /// Bias of the matrix product whose result is `x`.
    pub bias: &'a Tensor,
    /// Drops results.
    pub mask: DropoutMask,
}

/// The inputs of the layer norm of `x + mask(branch + bias)` and of its gradient.
#[derive(Clone, Copy)]
pub struct Residual<'a> {
    /// (rows, width).
    pub x: &'a Tensor,
    /// (rows, width).
    pub branch: &'a Tensor,
    /// The bias, and the parameters of the layer norm.
    pub norm: &'a AddNorm,
    /// Drops values of the branch.
    pub mask: DropoutMask,
}

/// Added to the variance in a layer norm (PyTorch's default).
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// The parameters of a residual connection and its layer norm. Each has the width of the rows.
#[derive(Clone, Debug)]
pub struct AddNorm {
    /// Bias of the matrix product whose result is added.
    pub bias: Tensor,
    /// Scale of the normalised values.
    pub weight: Tensor,
    /// Added to the scaled values.
    pub shift: Tensor,
}

/// Gradients of [`super::add_norm`].
pub struct AddNormBack {
    /// Gradient of the residual `x`.
    pub x: Tensor,
    /// Gradient of `branch`; the sum of its rows is the gradient of the bias.
    pub branch: Tensor,
    /// Gradient of [`AddNorm::weight`].
    pub weight: Tensor,
    /// Gradient of [`AddNorm::shift`].
    pub shift: Tensor,
}

/// Sums over the rows of `x` (rows, width), as a matrix product: on a device it is faster than
/// candle's reduction for thousands of rows, and accumulates in 32 bits at every precision of `x`.
pub fn column_sums(x: &Tensor) -> Result<Tensor> {
    let (rows, width) = x.dims2()?;
    Tensor::ones((1, rows), x.dtype(), x.device())?.matmul(x)?.reshape(width)
}

/// Sets values to 0 at random and scales the others up to preserve the mean (inverted dropout). No
/// mask is stored: whether a value is dropped depends only on the seeds and the value's index, on
/// every device. So the backward pass drops the same values as the forward pass.
// The kernels read it as `Mask` of `common.cuh`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct DropoutMask {
    /// Values whose 32 random bits are below this are dropped.
    threshold: u32,
    /// Factor of the other values.
    scale: f32,
    seeds: [u32; 2],
}

impl DropoutMask {
    /// Drops nothing.
    pub const NONE: Self = Self { threshold: 0, scale: 1.0, seeds: [0; 2] };

    /// Drops values with probability `rate`, in [0, 1).
    pub fn new(rate: f32, seed: u64) -> Self {
        let threshold = (f64::from(rate) * 2f64.powi(32)) as u32;
        let scale = 1.0 / (1.0 - rate);
        Self { threshold, scale, seeds: [seed as u32, (seed >> 32) as u32] }
    }

    /// Whether nothing is dropped.
    pub fn is_none(self) -> bool {
        self.threshold == 0
    }

    /// Factor of the value at `index` of its tensor.
    #[inline(always)]
    pub fn factor(self, index: u32) -> f32 {
        let bits = scramble(scramble(index.wrapping_add(self.seeds[0])) ^ self.seeds[1]);
        if bits < self.threshold { 0.0 } else { self.scale }
    }

    /// The factors of a whole tensor.
    pub fn factors(self, shape: &Shape, device: &Device) -> Result<Tensor> {
        let factors: Vec<f32> = (0..shape.elem_count() as u32).map(|i| self.factor(i)).collect();
        Tensor::from_vec(factors, shape, device)
    }
}

/// A permutation of 32 bits without visible pattern ("lowbias32", Wellons 2018, hash-prospector).
#[inline(always)]
fn scramble(mut bits: u32) -> u32 {
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
    bits ^ (bits >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `hits` is within four standard deviations of the expected number.
    fn close(hits: u32, trials: u32, chance: f64) -> bool {
        let (trials, hits) = (f64::from(trials), f64::from(hits));
        (hits - trials * chance).abs() < 4.0 * (trials * chance * (1.0 - chance)).sqrt()
    }

    #[test]
    fn values_are_dropped_at_the_rate_and_independently() {
        const COUNT: u32 = 1 << 16;
        let drops = |mask: DropoutMask, index: u32| mask.factor(index) == 0.0;
        for (seed, other) in [(1, 2), (1, 1 << 32 | 1), (77, 78 << 32)] {
            let (mask, other) = (DropoutMask::new(0.1, seed), DropoutMask::new(0.1, other));
            let dropped = |i: &u32| drops(mask, *i);
            assert!(close((0..COUNT).filter(dropped).count() as u32, COUNT, 0.1));
            for apart in [1, 2, 78, 512] {
                let both = (0..COUNT).filter(|&i| drops(mask, i) && drops(mask, i + apart));
                assert!(close(both.count() as u32, COUNT, 0.01), "{seed}: {apart} apart");
            }
            let both = (0..COUNT).filter(|&i| drops(mask, i) && drops(other, i));
            assert!(close(both.count() as u32, COUNT, 0.01), "{seed}: two masks");
        }
    }

    #[test]
    fn nothing_is_dropped_at_rate_0_and_the_mean_stays() {
        assert!((0..1000).all(|index| DropoutMask::NONE.factor(index) == 1.0));
        assert!(DropoutMask::new(0.0, 5).is_none());
        assert_eq!((0..100).map(|i| DropoutMask::new(0.5, 3).factor(i)).fold(0.0, f32::max), 2.0);
    }
}
