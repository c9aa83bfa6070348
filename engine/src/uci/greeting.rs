//! What a person is told who starts the engine in a terminal.

use anyhow::Result;

use super::options::Options;
use crate::inference::device_name;
use crate::search::{PlannerKind, PlannerSettings};

/// One line: name, version, the encoder and device of the planner that plays by the clock, and what to type.
pub fn greeting() -> Result<String> {
    let model = Options::default().model;
    let weights = PlannerSettings::default().embedded(PlannerKind::Selective).weights()?;
    let architecture = &weights.metadata.architecture;
    let (device, _) = model.backend.open(model.precision, architecture, |_| ())?;
    let (version, device) = (env!("CARGO_PKG_VERSION"), device_name(&device));
    Ok(format!("Azimuth {version}, encoder {architecture} on {device}. UCI; type help or quit"))
}
