//! The kernels, run on the CPU, against candle's operations: values and gradients, in every
//! precision, with shapes that do and do not divide evenly.

use candle_core::{DType, Device, Result, Tensor, Var};

use super::*;
use crate::fused::reference;
use crate::fused::tests::{self, masks};

const PRECISIONS: [(DType, f32); 3] =
    [(DType::F32, 1e-5), (DType::F16, 2e-3), (DType::BF16, 1.5e-2)];

/// Numbers that every precision represents exactly, so that only the rounding of the operation is
/// measured.
fn wave(shape: &[usize], step: f32, dtype: DType) -> Result<Tensor> {
    let coarse = tests::wave(shape, step)?.to_dtype(DType::BF16)?;
    coarse.to_dtype(DType::F32)?.to_dtype(dtype)
}

fn wide(tensor: &Tensor) -> Result<Tensor> {
    tensor.to_dtype(DType::F32)
}

/// Runs `work` with both orders of the threads: a missing barrier changes the result of one of
/// them.
fn in_both_orders(work: impl Fn() -> Result<()>) -> Result<()> {
    for backwards in [false, true] {
        emulated::BACKWARDS.set(backwards);
        work()?;
    }
    Ok(())
}

fn check(what: &str, found: &Tensor, expected: &Tensor, tolerance: f32) -> Result<()> {
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let difference = (wide(found)? - expected)?.abs()?;
    // candle's maximum ignores NaN, its sum does not.
    assert!(difference.sum_all()?.to_scalar::<f32>()?.is_finite(), "{what}: not finite");
    let difference = difference.max_all()?.to_scalar::<f32>()?;
    let largest = expected.abs()?.max_all()?.to_scalar::<f32>()?;
    assert!(difference <= tolerance * (1.0 + largest), "{what}: {difference} of {largest}");
    Ok(())
}

#[test]
fn attention_equals_candles() -> Result<()> {
    in_both_orders(|| {
        for (dtype, tolerance) in PRECISIONS {
            for (batch, length, heads, head) in [(2, 78, 2, 16), (1, 80, 1, 64), (2, 5, 3, 32)] {
                let hidden = heads * head;
                let packed = wave(&[batch, length, 3 * hidden], 0.61, dtype)?;
                let bias = wave(&[3 * hidden], 0.3, dtype)?;
                let gradient = wave(&[batch, length, hidden], 0.77, dtype)?;
                assert!(takes_attention(&packed, heads)? && takes_attention_back(&packed, heads)?);
                for mask in masks() {
                    let what = format!("{dtype:?} {length} x {head}");
                    let (exact, exact_bias) = (wide(&packed)?, wide(&bias)?);
                    let expected = reference::attention(&exact, &exact_bias, heads, mask)?;
                    let found = attention(&packed, &bias, heads, mask)?;
                    check(&what, &found, &expected, tolerance)?;
                    let attend =
                        |x: &[Tensor]| reference::attention(&x[0], &exact_bias, heads, mask);
                    let [expected] = reference::gradients(attend, [&exact], &wide(&gradient)?)?;
                    let found = attention_back(&packed, &bias, heads, mask, &gradient)?;
                    check(&format!("{what}, gradient"), &found, &expected, tolerance)?;
                }
            }
        }
        Ok(())
    })
}

#[test]
fn embedding_equals_candles() -> Result<()> {
    in_both_orders(|| {
        let ids = Tensor::from_vec(vec![2u8, 0, 1, 4, 4, 3], (2, 3), &Device::Cpu)?;
        for (dtype, tolerance) in PRECISIONS {
            let (table, positional) = (wave(&[5, 12], 0.3, dtype)?, wave(&[3, 12], 0.7, dtype)?);
            let expected = reference::embed(&ids, &wide(&table)?, &wide(&positional)?)?;
            check("values", &embed(&ids, &table, &positional)?, &expected, tolerance)?;
        }
        Ok(())
    })
}

#[test]
fn gelu_equals_candles() -> Result<()> {
    in_both_orders(|| {
        for (dtype, tolerance) in PRECISIONS {
            let (x, bias) = (wave(&[70, 36], 0.113, dtype)?, wave(&[36], 0.7, dtype)?);
            let gradient = wave(&[70, 36], 0.77, dtype)?;
            assert!(takes_rows(&x)?);
            for mask in masks() {
                let (exact, exact_bias) = (wide(&x)?, wide(&bias)?);
                let expected = reference::gelu(&exact, &exact_bias, mask)?;
                check("values", &gelu(&x, &bias, mask)?, &expected, tolerance)?;
                let activate = |x: &[Tensor]| reference::gelu(&x[0], &exact_bias, mask);
                let [expected] = reference::gradients(activate, [&exact], &wide(&gradient)?)?;
                let found = gelu_back(&x, &bias, mask, &gradient)?;
                check("gradient", &found, &expected, tolerance)?;
            }
        }
        Ok(())
    })
}

#[test]
fn add_norm_equals_candles() -> Result<()> {
    in_both_orders(|| {
        for (dtype, tolerance) in PRECISIONS {
            for (rows, width) in [(9, 128), (5, 100), (3, 512), (6, 1024), (2, 260)] {
                let [x, branch, gradient] =
                    [0.37, 1.1, 0.7].map(|step| wave(&[rows, width], step, dtype));
                let (x, branch, gradient) = (x?, branch?, gradient?);
                let [bias, weight, shift] = [0.5, 0.9, 0.2].map(|step| wave(&[width], step, dtype));
                let parameters = AddNorm { bias: bias?, weight: weight?, shift: shift? };
                let exact = AddNorm {
                    bias: wide(&parameters.bias)?,
                    weight: wide(&parameters.weight)?,
                    shift: wide(&parameters.shift)?,
                };
                assert!(takes_norm(&x)?);
                for mask in masks() {
                    let (x32, branch32) = (wide(&x)?, wide(&branch)?);
                    let expected = reference::add_norm(&x32, &branch32, &exact, mask)?;
                    let found = add_norm(&x, &branch, &parameters, mask)?;
                    check(&format!("{dtype:?} {width}"), &found, &expected, tolerance)?;
                    let slopes = wide(&gradient)?;
                    let expected =
                        reference::add_norm_back(&x32, &branch32, &exact, mask, &slopes)?;
                    let found = add_norm_back(&x, &branch, &parameters, mask, &gradient)?;
                    check("x", &found.x, &expected.x, tolerance)?;
                    check("branch", &found.branch, &expected.branch, tolerance)?;
                    check("weight", &found.weight, &expected.weight, tolerance)?;
                    check("shift", &found.shift, &expected.shift, tolerance)?;
                }
            }
        }
        Ok(())
    })
}

#[test]
fn activated_sums_equal_candles() -> Result<()> {
    // Bags of several sizes, one of them empty; one row is in many bags, and one is twice in a bag.
    let bags: [&[u32]; 6] = [&[0, 3, 8], &[], &[8], &[8, 1, 2, 3, 4, 5, 6, 7, 0, 2], &[5, 5], &[8]];
    let rows = bags.concat().into_iter().map(|row| row as u16).collect();
    let ends = bags.iter().scan(0, |end, bag| {
        *end += bag.len() as u32;
        Some(*end)
    });
    let on_device = Bags::new(rows, ends.collect());
    in_both_orders(|| {
        for width in [128, 256, 640] {
            // The sums lie below, inside and above the interval of the clamp.
            let table = Var::from_tensor(&(tests::wave(&[9, width], 0.37)? * 0.5)?)?;
            let bias = Var::from_tensor(&(tests::wave(&[width], 0.9)? * 0.5)?)?;
            assert!(takes_sums(&table)?);
            let sums = bags.iter().map(|bag| match bag {
                [] => Ok(bias.as_tensor().clone()),
                bag => table.index_select(&Tensor::new(*bag, &Device::Cpu)?, 0)?.sum(0)? + &*bias,
            });
            let sums = Tensor::stack(&sums.collect::<Result<Vec<_>>>()?, 0)?;
            let expected = sums.clamp(0f32, 1f32)?.sqr()?;
            let found = activated_sums(&table, &bias, &on_device)?;
            check("values", &found, &expected.detach(), 1e-5)?;
            let clipped = |at: f32| expected.eq(at)?.to_dtype(DType::F32)?.mean_all()?.to_scalar();
            let (low, high): (f32, f32) = (clipped(0.0)?, clipped(1.0)?);
            assert!(low > 0.1 && high > 0.1 && low + high < 0.9, "{low} {high}");

            let gradient = wave(&[bags.len(), width], 0.77, DType::F32)?;
            let slopes = (&expected * &gradient)?.sum_all()?.backward()?;
            let (table_slopes, bias_slopes) =
                activated_sums_back(&found, &gradient, &on_device, 9)?;
            check("table", &table_slopes, slopes.get(&table).expect("tracked"), 1e-5)?;
            check("bias", &bias_slopes, slopes.get(&bias).expect("tracked"), 1e-5)?;
        }
        Ok(())
    })
}

#[test]
fn shapes_that_no_kernel_takes_are_told() -> Result<()> {
    let packed = |length: usize, width: usize| {
        Tensor::zeros((1, length, 3 * width), DType::F32, &Device::Cpu)
    };
    assert!(!takes_attention(&packed(81, 16)?, 1)?, "longer than a warp holds");
    assert!(!takes_attention(&packed(78, 24)?, 1)?, "half a tile wide");
    assert!(!takes_rows(&Tensor::zeros((2, 6), DType::F32, &Device::Cpu)?)?);
    assert!(!takes_sums(&Tensor::zeros((2, 64), DType::F32, &Device::Cpu)?)?);
    assert!(!takes_norm(&Tensor::zeros((2, 1028), DType::F32, &Device::Cpu)?)?);
    assert!(!takes_norm(&Tensor::zeros((2, 6), DType::F32, &Device::Cpu)?)?);
    Ok(())
}

#[test]
fn parts_of_tensors_are_read_where_they_begin() -> Result<()> {
    let all = wave(&[3 + 20 * 36], 0.3, DType::F32)?;
    let (bias, x) = (wave(&[36], 0.2, DType::F32)?, all.narrow(0, 3, 20 * 36)?.reshape((20, 36))?);
    let expected = reference::gelu(&x, &bias, DropoutMask::NONE)?;
    check("from the third value on", &gelu(&x, &bias, DropoutMask::NONE)?, &expected, 1e-5)?;
    let turned = x.t()?.contiguous()?.t()?;
    check("by columns", &gelu(&turned, &bias, DropoutMask::NONE)?, &expected, 1e-5)
}
