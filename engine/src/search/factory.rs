//! The planners by name, and how each is built.

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;

use super::beam::{Beam, BeamSettings, BeamVerify};
use super::planner::{Planner, Resources};
use super::selective::{Selective, SelectiveSettings};
use super::tablebase::Tablebases;
use crate::inference::Worker;
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
    /// The weights that a planner plays with where no others are named. A beam that scores children by their own
    /// embeddings needs those that see captures coming; all else leaves captures to a search.
    pub fn embedded(&self, kind: PlannerKind) -> Embedded {
        match (kind, self.beam.verify) {
            (PlannerKind::Beam, BeamVerify::None) => Embedded::Beam,
            _ => Embedded::Selective,
        }
    }

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
