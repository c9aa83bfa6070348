//! The fused operations against candle's: values and gradients.

use candle_core::{Device, Tensor};

use super::*;

/// Irregular numbers, the same in every run.
pub(super) fn wave(shape: &[usize], step: f32) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| (i as f32 * step).sin() * 1.5).collect();
    Tensor::from_vec(values, shape, &Device::Cpu)
}

fn check(what: &str, found: &Tensor, expected: &Tensor) -> Result<()> {
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let difference = (found - expected)?.abs()?.max_all()?.to_scalar::<f32>()?;
    let largest = expected.abs()?.max_all()?.to_scalar::<f32>()?;
    assert!(difference < 1e-5 * (1.0 + largest), "{what}: {difference} of {largest}");
    Ok(())
}

pub(super) fn masks() -> [DropoutMask; 2] {
    [DropoutMask::NONE, DropoutMask::new(0.3, 7 << 33 | 5)]
}

#[test]
fn attention_equals_candles() -> Result<()> {
    for (batch, length, heads, head) in [(2, 7, 2, 4), (1, 78, 1, 16), (3, 5, 3, 9)] {
        let hidden = heads * head;
        let packed = wave(&[batch, length, 3 * hidden], 0.61)?;
        let (bias, gradient) = (wave(&[3 * hidden], 0.3)?, wave(&[batch, length, hidden], 0.77)?);
        for mask in masks() {
            let expected = reference::attention(&packed, &bias, heads, mask)?;
            check("values", &attention(&packed, &bias, heads, mask)?, &expected)?;
            let attend = |x: &[Tensor]| reference::attention(&x[0], &x[1], heads, mask);
            let [slopes, bias_slopes] = reference::gradients(attend, [&packed, &bias], &gradient)?;
            let found = attention_back(&packed, &bias, heads, mask, &gradient)?;
            check("gradient", &found, &slopes)?;
            let found = found.reshape((batch * length, 3 * hidden))?;
            check("gradient of the bias", &column_sums(&found)?, &bias_slopes)?;
        }
    }
    Ok(())
}

#[test]
fn embedding_equals_candles() -> Result<()> {
    let ids = Tensor::from_vec(vec![2u8, 0, 1, 4, 4, 3], (2, 3), &Device::Cpu)?;
    let (table, positional) = (wave(&[5, 7], 0.3)?, wave(&[3, 7], 0.7)?);
    check(
        "values",
        &embed(&ids, &table, &positional)?,
        &reference::embed(&ids, &table, &positional)?,
    )
}

#[test]
fn gelu_equals_candles() -> Result<()> {
    let (x, bias, gradient) = (wave(&[9, 20], 0.113)?, wave(&[20], 0.7)?, wave(&[9, 20], 0.77)?);
    for mask in masks() {
        check("values", &gelu(&x, &bias, mask)?, &reference::gelu(&x, &bias, mask)?)?;
        let activate = |x: &[Tensor]| reference::gelu(&x[0], &x[1], mask);
        let [slopes, bias_slopes] = reference::gradients(activate, [&x, &bias], &gradient)?;
        let found = gelu_back(&x, &bias, mask, &gradient)?;
        check("gradient", &found, &slopes)?;
        check("gradient of the bias", &column_sums(&found)?, &bias_slopes)?;
    }
    Ok(())
}

#[test]
fn add_norm_equals_candles() -> Result<()> {
    let (x, branch, gradient) = (wave(&[7, 24], 0.37)?, wave(&[7, 24], 1.1)?, wave(&[7, 24], 0.7)?);
    let parameters =
        AddNorm { bias: wave(&[24], 0.5)?, weight: wave(&[24], 0.9)?, shift: wave(&[24], 0.2)? };
    for mask in masks() {
        let expected = reference::add_norm(&x, &branch, &parameters, mask)?;
        check("values", &add_norm(&x, &branch, &parameters, mask)?, &expected)?;
        let expected = reference::add_norm_back(&x, &branch, &parameters, mask, &gradient)?;
        let found = add_norm_back(&x, &branch, &parameters, mask, &gradient)?;
        check("x", &found.x, &expected.x)?;
        check("branch", &found.branch, &expected.branch)?;
        check("weight", &found.weight, &expected.weight)?;
        check("shift", &found.shift, &expected.shift)?;
    }
    Ok(())
}

/// The other tests compare all gradients with candle's differentiation. This test compares candle's
/// differentiation with finite differences.
#[test]
fn the_references_have_the_gradients_of_their_values() -> Result<()> {
    let (packed, bias) = (wave(&[2, 5, 24], 0.61)?, wave(&[24], 0.2)?);
    let weights = wave(&[2, 5, 8], 0.77)?;
    let mask = DropoutMask::new(0.2, 3);
    let attend = |packed: &[Tensor]| reference::attention(&packed[0], &bias, 2, mask);
    let [slopes] = reference::gradients(attend, [&packed], &weights)?;
    let (slopes, values) = (slopes.flatten_all()?, packed.flatten_all()?);
    let (slopes, values) = (slopes.to_vec1::<f32>()?, values.to_vec1::<f32>()?);
    for index in (0..values.len()).step_by(5) {
        let moved = |by: f32| -> Result<f32> {
            let mut values = values.clone();
            values[index] += by;
            let packed = Tensor::from_vec(values, packed.shape(), &Device::Cpu)?;
            (attend(&[packed])? * &weights)?.sum_all()?.to_scalar::<f32>()
        };
        let slope = (moved(1e-2)? - moved(-1e-2)?) / 2e-2;
        assert!((slope - slopes[index]).abs() < 2e-2 * (1.0 + slope.abs()), "{index}: {slope}");
    }
    Ok(())
}
