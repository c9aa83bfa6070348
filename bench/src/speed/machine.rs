//! The machine's limit: a large matrix product through candle.

use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth::inference::device_name;
use candle_core::{DType, Device, Tensor};

use super::results::Machine;

/// Duration of one measurement.
const TIME: Duration = Duration::from_millis(400);

/// Describes the machine; the limit is measured later.
pub fn describe(device: &Device, dtype: DType) -> Machine {
    Machine {
        processor: processor(),
        threads: candle_core::utils::get_num_threads(),
        device: device_name(device),
        precision: dtype.as_str().to_owned(),
        limit: 0.0,
        limit_size: if device.is_cpu() { 1536 } else { 8192 },
    }
}

/// Operations per second of a product of two `size` x `size` matrices.
pub fn limit(size: usize, device: &Device, dtype: DType) -> Result<f64> {
    let matrix = || Tensor::randn(0f32, 1f32, (size, size), device)?.to_dtype(dtype);
    let (one, other) = (matrix()?, matrix()?);
    one.matmul(&other)?;
    device.synchronize()?;
    let began = Instant::now();
    let mut products = 0;
    while began.elapsed() < TIME {
        one.matmul(&other)?;
        device.synchronize()?;
        products += 1;
    }
    let operations = 2.0 * (size as f64).powi(3);
    Ok(operations * f64::from(products) / began.elapsed().as_secs_f64())
}

/// The processor's name, if the system reports it.
fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    known.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
