//! The planner of the two-headed network.

use anyhow::Result;
use azimuth::search::Planner;
use candle_core::Device;

use super::model::TwoHeadNetwork;
use crate::monte_carlo::MonteCarlo;
use crate::weights::RivalWeights;

/// The planner that plays with these weights on a device.
pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = TwoHeadNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MonteCarlo(network)))
}
