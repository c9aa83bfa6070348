//! Checks that a device computes the same scores as the CPU. With a wrong kernel the engine would
//! play badly without an error, so a few positions are scored on both before the device is used.

use anyhow::{Result, anyhow};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::Board;

use super::worker::Notice;
use crate::encoder::{EncodeError, Encoder};

/// The encoder to use after the check.
pub struct Checked {
    pub encoder: Box<dyn Encoder>,
    pub on_cpu: bool,
}

/// Compares an `encoder` of `weights` on a device, in precision `dtype`, with the one on the CPU.
/// If its cosines differ by more than the precision explains, falls back to candle's operations on
/// the device if those agree with the CPU, otherwise to the CPU, and reports this through `notice`.
/// A lack of memory is left to the batcher.
pub fn checked(
    weights: &Weights,
    encoder: Box<dyn Encoder>,
    dtype: DType,
    notice: &Notice,
) -> Result<Checked> {
    let mut exact = crate::encoder::build(weights, &Device::Cpu, DType::F32)?;
    let boards = BENCH_POSITIONS.map(|fen| fen.parse().expect("a legal position"));
    let expected = cosines(&mut *exact, &boards)?;
    let verdict = |mut encoder: Box<dyn Encoder>| -> Result<Box<dyn Encoder>> {
        let found = match cosines(&mut *encoder, &boards) {
            Err(EncodeError::OutOfMemory(_)) => return Ok(encoder),
            found => found?,
        };
        let difference = largest_difference(&found, &expected);
        match difference <= tolerance(dtype) {
            true => Ok(encoder),
            false => Err(anyhow!("a cosine that is off by {difference:.2}")),
        }
    };
    let composed = encoder.composed();
    let error = match verdict(encoder) {
        Ok(encoder) => return Ok(Checked { encoder, on_cpu: false }),
        Err(error) => error,
    };
    if let Some(encoder) = composed.and_then(|composed| verdict(composed).ok()) {
        notice(&format!(
            "the device fails its check ({error:#}), going on with candle's operations, which pass it"
        ));
        return Ok(Checked { encoder, on_cpu: false });
    }
    notice(&format!("the device fails its check ({error:#}), going on with the CPU"));
    Ok(Checked { encoder: exact, on_cpu: true })
}

fn cosines(encoder: &mut dyn Encoder, boards: &[Board]) -> Result<Vec<f32>, EncodeError> {
    let inputs = Inputs::of(encoder.attributes().input, boards);
    encoder.begin(&inputs)?.wait()
}

/// The largest absolute difference; infinite if a score is missing or not a number.
fn largest_difference(found: &[f32], expected: &[f32]) -> f32 {
    if found.len() != expected.len() {
        return f32::INFINITY;
    }
    let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
    differences.fold(0.0, |most, next| if next.is_nan() { f32::INFINITY } else { most.max(next) })
}

/// Tolerated error of a cosine, above that of rounding: on an H100, embeddings were off by at most
/// 2e-7 in f32 and 3e-3 in bf16.
fn tolerance(dtype: DType) -> f32 {
    match dtype {
        DType::BF16 => 0.05,
        DType::F16 => 0.01,
        _ => 1e-3,
    }
}

#[cfg(test)]
mod tests;
