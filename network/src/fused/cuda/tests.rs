//! The kernels, run on the CPU, against candle's operations, or those of the CPU: values and
//! gradients, in every precision, with shapes that do and do not divide evenly.

use candle_core::{DType, Device, Result, Tensor};

use super::*;
use crate::embedding_bag::DeviceSums;
use crate::fused::operations::DropoutMask;
use crate::fused::reference;
use crate::fused::tests::{self, Precision, check, coarse, wave};

const PRECISIONS: [Precision; 3] = [(DType::F32, 1e-5), (DType::F16, 2e-3), (DType::BF16, 1.5e-2)];

/// Runs `work` with both orders of the threads: a missing barrier changes the result of one of
/// them.
fn in_both_orders(work: impl Fn() -> Result<()>) -> Result<()> {
    for backwards in [false, true] {
        emulated::BACKWARDS.set(backwards);
        work()?;
    }
    Ok(())
}

fn in_every_precision(work: impl Fn(Precision) -> Result<()>) -> Result<()> {
    in_both_orders(|| PRECISIONS.into_iter().try_for_each(&work))
}

#[test]
fn attention_equals_candles() -> Result<()> {
    let sizes = [(2, 78, 2, 16), (1, 80, 1, 64), (2, 5, 3, 32)];
    in_every_precision(|precision| {
        tests::compare_attention(attention, attention_back, precision, sizes)
    })
}

#[test]
fn embedding_equals_candles() -> Result<()> {
    in_every_precision(|precision| tests::compare_embedding(embed, precision, 12))
}

#[test]
fn gelu_equals_candles() -> Result<()> {
    in_every_precision(|precision| tests::compare_gelu(gelu, gelu_back, precision, [70, 36]))
}

#[test]
fn add_norm_equals_candles() -> Result<()> {
    let sizes = [[9, 128], [5, 100], [3, 512], [6, 1024], [2, 260]];
    in_every_precision(|precision| {
        let compare = |size| tests::compare_add_norm(add_norm, add_norm_back, precision, size);
        sizes.into_iter().try_for_each(compare)
    })
}

#[test]
fn activated_sums_equal_those_of_the_cpu() -> Result<()> {
    // Bags of several sizes, one of them empty; one row is in many bags, and one is twice in a bag.
    let rows = vec![0, 3, 8, 8, 8, 1, 2, 3, 4, 5, 6, 7, 0, 2, 5, 5, 8];
    let bags = || Bags::new(rows.clone(), vec![3, 3, 4, 14, 16, 17]);
    in_both_orders(|| {
        for width in [128, 256, 640] {
            // The sums lie below, inside and above the interval of the clamp.
            let (table, bias) = ((wave(&[9, width], 0.37)? * 0.5)?, (wave(&[width], 0.9)? * 0.5)?);
            assert!(takes_sums(&table)?);
            let expected = DeviceSums::new(bags(), &table, &bias)?;
            let bags = bags();
            let found = activated_sums(&table, &bias, &bags)?;
            check("values", &found, &expected.activations, 1e-5)?;
            let clipped = |at: f32| found.eq(at)?.to_dtype(DType::F32)?.mean_all()?.to_scalar();
            let (low, high): (f32, f32) = (clipped(0.0)?, clipped(1.0)?);
            assert!(low > 0.1 && high > 0.1 && low + high < 0.9, "{low} {high}");

            let gradient = coarse(&[bags.len(), width], 0.77, DType::F32)?;
            let (table_slopes, bias_slopes) = expected.backward(&gradient, 9)?;
            let activations = &expected.activations;
            let (in_table, in_bias) = activated_sums_back(activations, &gradient, &bags, 9)?;
            check("table", &in_table, &table_slopes, 1e-5)?;
            check("bias", &in_bias, &bias_slopes, 1e-5)?;
        }
        Ok(())
    })
}

#[test]
fn shapes_that_no_kernel_takes_are_told() -> Result<()> {
    let packed = |length: usize, width: usize| {
        Tensor::zeros((1, length, 3 * width), DType::F32, &Device::Cpu)
    };
    let rows = |width: usize| Tensor::zeros((2, width), DType::F32, &Device::Cpu);
    assert!(takes_attention(&packed(80, 64)?, 1)? && takes_attention_back(&packed(80, 64)?, 1)?);
    assert!(takes_rows(&rows(36)?)? && takes_norm(&rows(100)?)? && takes_norm(&rows(1024)?)?);
    assert!(!takes_attention(&packed(81, 16)?, 1)?, "longer than a warp holds");
    assert!(!takes_attention(&packed(78, 24)?, 1)?, "half a tile wide");
    assert!(!takes_rows(&rows(6)?)?);
    assert!(!takes_sums(&rows(64)?)?);
    assert!(!takes_norm(&rows(1028)?)?);
    assert!(!takes_norm(&rows(6)?)?);
    Ok(())
}

#[test]
fn parts_of_tensors_are_read_where_they_begin() -> Result<()> {
    let all = wave(&[3 + 20 * 36], 0.3)?;
    let (bias, x) = (wave(&[36], 0.2)?, all.narrow(0, 3, 20 * 36)?.reshape((20, 36))?);
    let input = Gelu { x: &x, bias: &bias, mask: DropoutMask::NONE };
    let expected = reference::gelu(input)?;
    check("from the third value on", &gelu(input)?, &expected, 1e-5)?;
    let turned = x.t()?.contiguous()?.t()?;
    check("by columns", &gelu(Gelu { x: &turned, ..input })?, &expected, 1e-5)
}
