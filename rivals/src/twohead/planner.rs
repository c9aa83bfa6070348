//! The planner of the two-headed network.

use anyhow::Result;
use azimuth::search::Planner;

use super::model::TwoHeadNetwork;
use crate::monte_carlo::MonteCarlo;
use crate::weights::RivalWeights;

/// The planner that plays with these weights.
pub fn planner(weights: &RivalWeights) -> Result<Box<dyn Planner>> {
    let network = TwoHeadNetwork::new(weights.config()?, &weights.parameters()?)?;
    Ok(Box::new(MonteCarlo(network)))
}
