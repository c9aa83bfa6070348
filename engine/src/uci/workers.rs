//! The encoders at work, each loaded when it is first needed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use anyhow::Result;

use super::options::Model;
use super::output::Output;
use crate::inference::Worker;
use crate::search::PlannerKind;
use crate::weights::{Embedded, Weights};

/// One worker for each planner's own weights, or one for both where a weights file is named.
#[derive(Default)]
pub struct Workers(BTreeMap<Embedded, Worker>);

impl Workers {
    /// The worker of a planner. What is to be said of its device goes to `output`.
    pub fn get(&mut self, model: &Model, kind: PlannerKind, output: &Output) -> Result<&Worker> {
        let which = if model.weights.is_some() { Embedded::Beam } else { kind.embedded() };
        Ok(match self.0.entry(which) {
            Entry::Occupied(worker) => worker.into_mut(),
            Entry::Vacant(place) => place.insert(load(model, which, output)?),
        })
    }
}

fn load(model: &Model, which: Embedded, output: &Output) -> Result<Worker> {
    let weights = Weights::read_or_embedded(model.weights.as_deref(), which)?;
    let architecture = &weights.metadata.architecture;
    let (device, dtype) =
        model.backend.open(model.precision, architecture, |text| output.inform(text))?;
    let output = output.clone();
    let notice = Box::new(move |text: &str| output.inform(text));
    Worker::start(Arc::new(weights), &device, dtype, notice)
}
