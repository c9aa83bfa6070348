//! L2 normalisation to unit length.

use candle_core::{D, Result, Tensor};

/// Added to the square of a length, so that the length is never 0.
pub const SMALLEST_SQUARE: f32 = 1e-12;

/// The lengths of rows, and the rows scaled to unit length.
pub(super) fn normalize(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let lengths = (x.sqr()?.sum_keepdim(D::Minus1)? + f64::from(SMALLEST_SQUARE))?.sqrt()?;
    let unit = x.broadcast_div(&lengths)?;
    Ok((lengths, unit))
}
