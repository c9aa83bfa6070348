//! L2 normalisation: embeddings of unit length.

use candle_core::{D, Result, Tensor};

/// The lengths of rows, and the rows scaled to unit length.
pub(super) fn normalize(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let lengths = (x.sqr()?.sum_keepdim(D::Minus1)? + 1e-12)?.sqrt()?;
    let unit = x.broadcast_div(&lengths)?;
    Ok((lengths, unit))
}
