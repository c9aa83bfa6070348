//! A session: a planner and its worker.

use std::sync::Arc;

use anyhow::Result;
use azimuth_cli::say;
use azimuth_search::inference::{ModelSource, Worker};
use azimuth_search::{Planner, PlannerKind, PlannerSettings, Resources, Tablebases};

use crate::embedded_weights;

/// A planner with the worker that evaluates its positions.
pub struct Session {
    pub planner: Box<dyn Planner>,
    /// The worker, which also gives access to the model.
    pub worker: Worker,
}

pub fn notice(text: &str) {
    say(format_args!("azimuth: {text}"));
}

impl Session {
    /// Loads the model and builds the planner, with the threads that [`Resources::on_this_machine`]
    /// allows. Fails if the model cannot be loaded, or if memory for the planner's tables is
    /// missing.
    pub fn new(
        kind: PlannerKind,
        settings: &PlannerSettings,
        source: &ModelSource,
        resources: Resources,
        tablebases: Tablebases,
    ) -> Result<Self> {
        let worker =
            source.start(|| embedded_weights::read(settings.default_weights(kind)), notice)?;
        let resources = resources.on_this_machine();
        let planner = settings.build(kind, &worker, resources, Some(Arc::new(tablebases)))?;
        Ok(Self { planner, worker })
    }
}
