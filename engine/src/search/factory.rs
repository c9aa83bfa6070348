//! The planners by name, and how each is built.

use std::sync::Arc;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::beam::{Beam, BeamSettings};
use super::planner::{Planner, Resources};
use super::selective::{Selective, SelectiveSettings};
use super::tablebase::Tablebases;
use crate::inference::{Evaluator, Worker};
use crate::weights::Embedded;

/// The planners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// The paper's.
    Beam,
    /// Alpha-beta that is selective.
    Selective,
}

impl PlannerKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Beam => "beam",
            Self::Selective => "selective",
        }
    }

    /// The weights that it plays with where no others are named.
    pub fn embedded(self) -> Embedded {
        match self {
            Self::Beam => Embedded::Beam,
            Self::Selective => Embedded::Selective,
        }
    }
}

/// The settings of both planners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannerSettings {
    /// The beam's.
    pub beam: BeamSettings,
    /// The selective search's.
    pub selective: SelectiveSettings,
}

impl PlannerSettings {
    /// Builds a planner. Fails where memory for its tables is missing.
    pub fn build(
        &self,
        kind: PlannerKind,
        worker: &Worker,
        resources: Resources,
        tablebases: Option<Arc<Tablebases>>,
    ) -> Result<Box<dyn Planner>> {
        Ok(match kind {
            PlannerKind::Beam => {
                let evaluator = Evaluator::new(worker, resources.hash_mb)?;
                let mut evaluators = evaluator.for_threads(worker, resources.threads);
                let helpers = evaluators.split_off(1);
                let first = evaluators.pop().context("one evaluator is the planner's own")?;
                let mut beam = Beam::new(first, self.beam);
                beam.set_helpers(helpers);
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
