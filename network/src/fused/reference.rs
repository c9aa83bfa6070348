//! The fused operations composed of candle's own, for any device and precision.

use candle_core::{D, Result, Tensor, Var};
use candle_nn::ops;

use super::operations::{
    AddNorm, AddNormBack, Attention, DropoutMask, Gelu, LAYER_NORM_EPSILON, Residual,
};

/// Reference for [`super::embed`].
pub(super) fn embed(ids: &Tensor, table: &Tensor, positional: &Tensor) -> Result<Tensor> {
    let ((batch, length), width) = (ids.dims2()?, table.dim(1)?);
    let rows = table.index_select(&ids.flatten_all()?, 0)?.reshape((batch, length, width))?;
    rows.broadcast_add(positional)?.reshape((batch * length, width))
}

/// Reference for [`super::attention`].
pub fn attention(Attention { packed, bias, heads, mask }: Attention<'_>) -> Result<Tensor> {
    let (batch, length, width) = packed.dims3()?;
    let (hidden, head) = (width / 3, width / 3 / heads);
    // (batch, length, 3H) -> q, k, v of (batch, heads, length, head).
    let packed = packed.broadcast_add(bias)?;
    let packed = packed.reshape((batch, length, 3, heads, head))?.permute((2, 0, 3, 1, 4))?;
    let part = |index: usize| packed.get(index)?.contiguous();
    let (q, k, v) = (part(0)?, part(1)?, part(2)?);
    let scores = (q * (head as f64).powf(-0.5))?.matmul(&k.transpose(2, 3)?)?;
    let weights = drop(&ops::softmax(&scores, D::Minus1)?, mask)?;
    weights.matmul(&v)?.transpose(1, 2)?.reshape((batch, length, hidden))
}

/// Reference for [`super::attention_back`].
pub(super) fn attention_back(input: Attention<'_>, gradient: &Tensor) -> Result<Tensor> {
    let attend = |x: &[Tensor]| attention(Attention { packed: &x[0], ..input });
    let [gradients] = gradients(attend, [input.packed], gradient)?;
    Ok(gradients)
}

/// Reference for [`super::gelu`].
pub(super) fn gelu(Gelu { x, bias, mask }: Gelu<'_>) -> Result<Tensor> {
    drop(&x.broadcast_add(bias)?.gelu_erf()?, mask)
}

/// Reference for [`super::gelu_back`].
pub(super) fn gelu_back(input: Gelu<'_>, gradient: &Tensor) -> Result<Tensor> {
    let activate = |x: &[Tensor]| gelu(Gelu { x: &x[0], ..input });
    let [gradients] = gradients(activate, [input.x], gradient)?;
    Ok(gradients)
}

/// Reference for [`super::add_norm`].
pub(super) fn add_norm(Residual { x, branch, norm, mask }: Residual<'_>) -> Result<Tensor> {
    let AddNorm { bias, weight, shift } = norm;
    let sum = (x + drop(&branch.broadcast_add(bias)?, mask)?)?;
    let centred = sum.broadcast_sub(&sum.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let scaled = centred.broadcast_div(&(variance + f64::from(LAYER_NORM_EPSILON))?.sqrt()?)?;
    scaled.broadcast_mul(weight)?.broadcast_add(shift)
}

/// Reference for [`super::add_norm_back`].
pub(super) fn add_norm_back(
    Residual { x, branch, norm, mask }: Residual<'_>,
    gradient: &Tensor,
) -> Result<AddNormBack> {
    let AddNorm { bias, weight, shift } = norm;
    let normed = |inputs: &[Tensor]| {
        let norm =
            AddNorm { bias: bias.clone(), weight: inputs[2].clone(), shift: inputs[3].clone() };
        add_norm(Residual { x: &inputs[0], branch: &inputs[1], norm: &norm, mask })
    };
    let [x, branch, weight, shift] = gradients(normed, [x, branch, weight, shift], gradient)?;
    Ok(AddNormBack { x, branch, weight, shift })
}

/// The gradients of `f` with respect to its inputs, given the gradient of its result, by candle's
/// differentiation.
pub(super) fn gradients<const N: usize>(
    f: impl Fn(&[Tensor]) -> Result<Tensor>,
    inputs: [&Tensor; N],
    gradient: &Tensor,
) -> Result<[Tensor; N]> {
    let variables = inputs.iter().map(|input| Var::from_tensor(input));
    let variables = variables.collect::<Result<Vec<_>>>()?;
    let tracked: Vec<Tensor> = variables.iter().map(|v| v.as_tensor().clone()).collect();
    let found = (f(&tracked)? * gradient)?.sum_all()?.backward()?;
    let mut gradients = inputs.map(Tensor::clone);
    for (gradient, variable) in gradients.iter_mut().zip(&variables) {
        *gradient = match found.get(variable) {
            Some(gradient) => gradient.clone(),
            None => gradient.zeros_like()?,
        };
    }
    Ok(gradients)
}

fn drop(x: &Tensor, mask: DropoutMask) -> Result<Tensor> {
    if mask.is_none() {
        return Ok(x.clone());
    }
    x * mask.factors(x.shape(), x.device())?.to_dtype(x.dtype())?
}
