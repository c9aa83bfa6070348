//! Builds an encoder for play from weights.

use anyhow::Result;
use azimuth_network::Architecture;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};

use super::interface::Encoder;
use super::sparse::QuantisedEncoder;
use super::transformer::CpuTransformer;
#[cfg(feature = "cuda")]
use super::transformer::GpuTransformer;

/// The encoder of `weights` on `device`: the integer path for a sparse encoder on the CPU, candle
/// otherwise. Fails where the parameters do not fit the integer path, or the device fails.
pub fn build(weights: &Weights, device: &Device, dtype: DType) -> Result<Box<dyn Encoder>> {
    let (parameters, axis) = (&weights.parameters, &weights.axis);
    Ok(match &weights.metadata.architecture {
        Architecture::Sparse(config) => Box::new(QuantisedEncoder::new(config, parameters, axis)?),
        Architecture::Transformer(config) => match device {
            #[cfg(feature = "cuda")]
            Device::Cuda(_) => {
                Box::new(GpuTransformer::new(config, parameters, axis, device, dtype)?)
            }
            _ => Box::new(CpuTransformer::new(config, parameters, axis, dtype)?),
        },
    })
}
