//! Checks that a device computes the same scores as the CPU. With a wrong kernel the engine would
//! play badly without an error, so a few positions are scored on both before the device is used.

use anyhow::{Result, anyhow};
use azimuth_chess::bench_positions::BENCH_POSITIONS;
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use cozy_chess::Board;

use super::backend::Notice;
use crate::encoder::{EncodeError, Encoder};

/// Compares an `encoder` of `weights` on a device, in precision `dtype`, with the one on the CPU.
/// If its cosines differ by more than the precision explains, falls back to candle's operations on
/// the device if those agree with the CPU, otherwise to the CPU, and reports this through `notice`.
/// A lack of memory is left to the batcher. Returns the encoder to use, and whether it is on the CPU.
pub fn checked(
    weights: &Weights,
    encoder: Box<dyn Encoder>,
    dtype: DType,
    notice: &Notice,
) -> Result<(Box<dyn Encoder>, bool)> {
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
        Ok(encoder) => return Ok((encoder, false)),
        Err(error) => error,
    };
    if let Some(encoder) = composed.and_then(|composed| verdict(composed).ok()) {
        notice(&format!(
            "the device fails its check ({error:#}), going on with candle's operations, which pass it"
        ));
        return Ok((encoder, false));
    }
    notice(&format!("the device fails its check ({error:#}), going on with the CPU"));
    Ok((exact, true))
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
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::encoder::{Attributes, Scores};
    use crate::test_support::mini;

    /// A fault: the cosine that a device returns, by the index in the batch and the correct cosine.
    type Lie = fn(usize, f32) -> f32;

    /// The CPU encoder in the role of a device, with the faults of the encoder and of its composed
    /// form. Without a fault function, scoring fails.
    struct Device {
        encoder: Box<dyn Encoder>,
        fused: Option<Lie>,
        composed: Option<Option<Lie>>,
    }

    impl Encoder for Device {
        fn attributes(&self) -> Attributes {
            self.encoder.attributes()
        }

        fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
            self.encoder.encode(inputs)
        }

        fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
            let Some(lie) = self.fused else {
                return Err(anyhow!("no kernel image for this card").into());
            };
            let cosines = self.encoder.begin(inputs)?.wait()?;
            let told = cosines.iter().enumerate().map(|(place, &cosine)| lie(place, cosine));
            Ok(Scores::Ready(told.collect()))
        }

        fn composed(&self) -> Option<Box<dyn Encoder>> {
            let encoder = self.encoder.copy()?;
            self.composed.map(|fused| Box::new(Self { encoder, fused, composed: None }) as Box<_>)
        }
    }

    const TRUTH: Lie = |_, cosine| cosine;
    const TURNED: Lie = |_, cosine| -cosine;
    const SHIFTED: Lie = |_, cosine| cosine + 0.2;
    const ONE_WRONG: Lie = |place, cosine| if place == 7 { cosine + 0.2 } else { cosine };
    const NO_NUMBER: Lie = |place, cosine| if place == 3 { f32::NAN } else { cosine };
    const ROUNDED: Lie = |place, cosine| cosine + if place % 2 == 0 { 0.004 } else { -0.004 };

    /// The notices, whether the check falls back to the CPU, and the largest difference between the
    /// resulting cosines and the CPU's.
    fn outcome(
        fused: Option<Lie>,
        composed: Option<Option<Lie>>,
        dtype: DType,
    ) -> Result<(Vec<String>, bool, f32)> {
        let weights = mini()?;
        let own = || crate::encoder::build(&weights, &candle_core::Device::Cpu, DType::F32);
        let said = Arc::new(Mutex::new(Vec::new()));
        let told = said.clone();
        let notice: Notice = Arc::new(move |text: &str| {
            told.lock().expect("no panics").push(text.to_owned());
        });
        let device = Device { encoder: own()?, fused, composed };
        let (mut encoder, on_cpu) = checked(&weights, Box::new(device), dtype, &notice)?;
        let boards = [Board::default(), Board::chess960_startpos(17)];
        let expected = cosines(&mut *own()?, &boards)?;
        let scores = cosines(&mut *encoder, &boards)?;
        let said = said.lock().expect("no panics").clone();
        Ok((said, on_cpu, largest_difference(&scores, &expected)))
    }

    #[test]
    fn an_honest_device_goes_on_in_silence() -> Result<()> {
        // Rounding is no lie where there are few bits.
        for (lie, dtype) in
            [(TRUTH, DType::F32), (TRUTH, DType::F16), (TRUTH, DType::BF16), (ROUNDED, DType::BF16)]
        {
            let (said, on_cpu, off) = outcome(Some(lie), Some(Some(TURNED)), dtype)?;
            assert_eq!((said, on_cpu), (vec![], false));
            assert!(off < 0.005, "{off}");
        }
        Ok(())
    }

    #[test]
    fn a_lie_of_ours_leaves_candles_operations() -> Result<()> {
        let lies = [Some(TURNED), Some(SHIFTED), Some(ONE_WRONG), Some(NO_NUMBER), None];
        let lies = lies.map(|lie| (lie, DType::BF16));
        for (lie, dtype) in lies.into_iter().chain([(Some(ROUNDED), DType::F32)]) {
            let (said, on_cpu, off) = outcome(lie, Some(Some(TRUTH)), dtype)?;
            assert!(!on_cpu);
            assert!(off < 1e-5, "{off}");
            let [line] = said.as_slice() else { panic!("{said:?}") };
            assert!(line.starts_with("the device fails its check ("), "{line}");
            assert!(line.ends_with("going on with candle's operations, which pass it"), "{line}");
        }
        Ok(())
    }

    #[test]
    fn a_device_that_only_lies_leaves_the_cpu() -> Result<()> {
        let shift = "a cosine that is off by 0.20";
        for (fused, composed, fault) in [
            (Some(SHIFTED), Some(Some(SHIFTED)), shift),
            (Some(SHIFTED), Some(None), shift),
            (Some(SHIFTED), None, shift),
            (None, None, "no kernel image for this card"),
        ] {
            let (said, on_cpu, off) = outcome(fused, composed, DType::BF16)?;
            assert!(on_cpu);
            assert_eq!(off, 0.0);
            let line = format!("the device fails its check ({fault}), going on with the CPU");
            assert_eq!(said, [line]);
        }
        Ok(())
    }
}
