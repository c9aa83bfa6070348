//! The operations on the CPU against candle's: values and gradients. The tests of the CUDA kernels
//! make the same comparisons.

use candle_core::{Device, Tensor};

use super::*;

/// A data type, and the error of an operation that is tolerated in it.
pub(super) type Precision = (DType, f32);

const F32: Precision = (DType::F32, 1e-5);

/// Irregular numbers, the same in every run.
pub(crate) fn wave(shape: &[usize], step: f32) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| (i as f32 * step).sin() * 1.5).collect();
    Tensor::from_vec(values, shape, &Device::Cpu)
}

/// Such numbers that every precision represents exactly, so that only the rounding of the operation
/// is measured.
pub(super) fn coarse(shape: &[usize], step: f32, dtype: DType) -> Result<Tensor> {
    wave(shape, step)?.to_dtype(DType::BF16)?.to_dtype(DType::F32)?.to_dtype(dtype)
}

fn wide(tensor: &Tensor) -> Result<Tensor> {
    tensor.to_dtype(DType::F32)
}

pub(crate) fn check(what: &str, found: &Tensor, expected: &Tensor, tolerance: f32) -> Result<()> {
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let difference = (wide(found)? - expected)?.abs()?;
    // candle's maximum ignores NaN, its sum does not.
    assert!(difference.sum_all()?.to_scalar::<f32>()?.is_finite(), "{what}: not finite");
    let difference = difference.max_all()?.to_scalar::<f32>()?;
    let largest = expected.abs()?.max_all()?.to_scalar::<f32>()?;
    assert!(difference <= tolerance * (1.0 + largest), "{what}: {difference} of {largest}");
    Ok(())
}

fn masks() -> [DropoutMask; 2] {
    [DropoutMask::NONE, DropoutMask::new(0.3, 7 << 33 | 5)]
}

/// Compares attentions of the sizes batch, length, heads and width of a head.
pub(super) fn compare_attention(
    attention: impl Fn(Attention<'_>) -> Result<Tensor>,
    back: impl Fn(Attention<'_>, &Tensor) -> Result<Tensor>,
    (dtype, tolerance): Precision,
    sizes: [(usize, usize, usize, usize); 3],
) -> Result<()> {
    for (batch, length, heads, head) in sizes {
        let hidden = heads * head;
        let packed = coarse(&[batch, length, 3 * hidden], 0.61, dtype)?;
        let bias = coarse(&[3 * hidden], 0.3, dtype)?;
        let gradient = coarse(&[batch, length, hidden], 0.77, dtype)?;
        let (exact, exact_bias) = (wide(&packed)?, wide(&bias)?);
        let what = format!("{dtype:?} {length} x {head}");
        for mask in masks() {
            let input = Attention { packed: &packed, bias: &bias, heads, mask };
            let exact = Attention { packed: &exact, bias: &exact_bias, heads, mask };
            let expected = reference::attention(exact)?;
            check(&what, &attention(input)?, &expected, tolerance)?;
            let expected = reference::attention_back(exact, &wide(&gradient)?)?;
            let found = back(input, &gradient)?;
            check(&format!("{what}, gradient"), &found, &expected, tolerance)?;
        }
    }
    Ok(())
}

/// Compares embeddings of this width.
pub(super) fn compare_embedding(
    embed: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>,
    (dtype, tolerance): Precision,
    width: usize,
) -> Result<()> {
    let ids = Tensor::from_vec(vec![2u8, 0, 1, 4, 4, 3], (2, 3), &Device::Cpu)?;
    let (table, positional) = (coarse(&[5, width], 0.3, dtype)?, coarse(&[3, width], 0.7, dtype)?);
    let expected = reference::embed(&ids, &wide(&table)?, &wide(&positional)?)?;
    check("values", &embed(&ids, &table, &positional)?, &expected, tolerance)
}

/// Compares the activation of rows of this width.
pub(super) fn compare_gelu(
    gelu: impl Fn(Gelu<'_>) -> Result<Tensor>,
    back: impl Fn(Gelu<'_>, &Tensor) -> Result<Tensor>,
    (dtype, tolerance): Precision,
    [rows, width]: [usize; 2],
) -> Result<()> {
    let (x, bias) = (coarse(&[rows, width], 0.113, dtype)?, coarse(&[width], 0.7, dtype)?);
    let gradient = coarse(&[rows, width], 0.77, dtype)?;
    let (exact, exact_bias) = (wide(&x)?, wide(&bias)?);
    for mask in masks() {
        let (input, exact) =
            (Gelu { x: &x, bias: &bias, mask }, Gelu { x: &exact, bias: &exact_bias, mask });
        check("values", &gelu(input)?, &reference::gelu(exact)?, tolerance)?;
        let expected = reference::gelu_back(exact, &wide(&gradient)?)?;
        check("gradient", &back(input, &gradient)?, &expected, tolerance)?;
    }
    Ok(())
}

/// Compares layer norms of rows of this width.
pub(super) fn compare_add_norm(
    add_norm: impl Fn(Residual<'_>) -> Result<Tensor>,
    back: impl Fn(Residual<'_>, &Tensor) -> Result<AddNormBack>,
    (dtype, tolerance): Precision,
    [rows, width]: [usize; 2],
) -> Result<()> {
    let [x, branch, gradient] = [0.37, 1.1, 0.7].map(|step| coarse(&[rows, width], step, dtype));
    let (x, branch, gradient) = (x?, branch?, gradient?);
    let [bias, weight, shift] = [0.5, 0.9, 0.2].map(|step| coarse(&[width], step, dtype));
    let norm = AddNorm { bias: bias?, weight: weight?, shift: shift? };
    let exact_norm =
        AddNorm { bias: wide(&norm.bias)?, weight: wide(&norm.weight)?, shift: wide(&norm.shift)? };
    let (x32, branch32, slopes) = (wide(&x)?, wide(&branch)?, wide(&gradient)?);
    for mask in masks() {
        let input = Residual { x: &x, branch: &branch, norm: &norm, mask };
        let exact = Residual { x: &x32, branch: &branch32, norm: &exact_norm, mask };
        let expected = reference::add_norm(exact)?;
        check(&format!("{dtype:?} {width}"), &add_norm(input)?, &expected, tolerance)?;
        let expected = reference::add_norm_back(exact, &slopes)?;
        let found = back(input, &gradient)?;
        check("x", &found.x, &expected.x, tolerance)?;
        check("branch", &found.branch, &expected.branch, tolerance)?;
        check("weight", &found.weight, &expected.weight, tolerance)?;
        check("shift", &found.shift, &expected.shift, tolerance)?;
    }
    Ok(())
}

#[test]
fn operations_equal_candles() -> Result<()> {
    let sizes = [(2, 7, 2, 4), (1, 78, 1, 16), (3, 5, 3, 9)];
    compare_attention(cpu::attention, cpu::attention_back, F32, sizes)?;
    compare_embedding(cpu::embed, F32, 7)?;
    compare_gelu(cpu::gelu, cpu::gelu_back, F32, [9, 20])?;
    compare_add_norm(cpu::add_norm, cpu::add_norm_back, F32, [7, 24])
}
