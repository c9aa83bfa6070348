//! The planners by name, and their settings.

use clap::ValueEnum;

use super::beam::{BeamSettings, BeamVerify};
use super::control::Limits;
use super::selective::SelectiveSettings;
use crate::embedded_weights::EmbeddedWeights;

/// The planners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlannerKind {
    /// The paper's beam search.
    Beam,
    /// Selective alpha-beta search.
    Selective,
}

/// The settings of both planners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannerSettings {
    /// Settings of the beam.
    pub beam: BeamSettings,
    /// Settings of the selective search.
    pub selective: SelectiveSettings,
}

impl PlannerSettings {
    /// Whether the beam suits these limits: only a depth ends the search, and it is at most the
    /// beam's configured depth.
    pub fn is_for_the_beam(&self, limits: &Limits) -> bool {
        let depth = self.beam.depth;
        !limits.are_open_ended() && limits.depth.unwrap_or(depth) <= depth
    }

    /// The default weights of a planner. A beam that scores children by their own embeddings needs
    /// weights that foresee captures; the other configurations resolve captures by search.
    pub fn embedded(&self, kind: PlannerKind) -> EmbeddedWeights {
        match (kind, self.beam.verify) {
            (PlannerKind::Beam, BeamVerify::None) => EmbeddedWeights::Beam,
            _ => EmbeddedWeights::Selective,
        }
    }
}
