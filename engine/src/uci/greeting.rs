//! The greeting when the engine is started in a terminal.

use anyhow::Result;

use super::options::Options;
use crate::inference::device_name;
use crate::search::{PlannerKind, PlannerSettings};

/// One line with the name, the version, the encoder and device of the planner for timed games, and
/// the commands to try.
pub fn greeting() -> Result<String> {
    let model = Options::default().model;
    let weights = PlannerSettings::default().embedded(PlannerKind::Selective).weights()?;
    let architecture = &weights.metadata.architecture;
    let (device, _) = model.backend.open(model.precision, architecture, |_| ())?;
    let (version, device) = (env!("CARGO_PKG_VERSION"), device_name(&device));
    Ok(format!("Azimuth {version}, encoder {architecture} on {device}. UCI; type help or quit"))
}
