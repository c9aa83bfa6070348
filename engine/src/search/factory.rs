//! Builds the planners.

use std::sync::Arc;

use anyhow::Result;

use super::beam::Beam;
use super::planner::{Planner, Resources};
use super::selective::Selective;
use super::settings::{PlannerKind, PlannerSettings};
use super::tablebase::Tablebases;
use crate::inference::Worker;

impl PlannerSettings {
    /// Builds a planner. Fails if memory for its tables is missing.
    pub fn build(
        &self,
        kind: PlannerKind,
        worker: &Worker,
        resources: Resources,
        tablebases: Option<Arc<Tablebases>>,
    ) -> Result<Box<dyn Planner>> {
        Ok(match kind {
            PlannerKind::Beam => {
                let mut beam = Beam::new(worker, self, resources)?;
                beam.set_tablebases(tablebases);
                Box::new(beam)
            }
            PlannerKind::Selective => {
                let mut selective = Selective::new(worker, self.selective, resources)?;
                selective.set_tablebases(tablebases);
                Box::new(selective)
            }
        })
    }
}
