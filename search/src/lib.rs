//! Azimuth's search as a library. [`encoder`] maps a position to a unit vector, [`inference`]
//! batches and caches the scores, and a [`Planner`] chooses a move within [`Limits`]: [`Beam`] (the
//! paper's) or [`Selective`] (alpha-beta). Positions are those of `azimuth-chess`; weights and
//! their networks are those of `azimuth-network`.
//!
//! ```
//! use azimuth_chess::position::Position;
//! use azimuth_search::inference::Worker;
//! use azimuth_search::{Control, DefaultWeights, Limits, PlannerKind, PlannerSettings, Resources};
//!
//! # fn main() -> anyhow::Result<()> {
//! let root = Position::from_fen("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")?;
//! let weights = DefaultWeights::Selective.weights()?;
//! let worker = Worker::on_cpu(weights, |notice| eprintln!("{notice}"))?;
//! let resources = Resources { hash_mb: 16, threads: 1 };
//! let settings = PlannerSettings::default();
//! let mut planner = settings.build(PlannerKind::Selective, &worker, resources, None)?;
//! let limits = Limits { depth: Some(4), ..Limits::default() };
//! let best = planner.search(&root, &mut Control::without_signals(limits), &mut |_| ())?;
//! assert_eq!(best.value.moves_to_mate(), Some(1));
//! assert_eq!(best.pv, [root.parse_move("a1a8")?]);
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use anyhow::Result;

use crate::inference::Worker;

mod beam;
mod control;
pub mod encoder;
mod explanation;
pub mod host;
pub mod inference;
mod iterative_deepening;
mod large_memory;
mod mate_search;
pub mod model;
pub mod names;
mod planner;
mod selective;
mod tablebase;
#[cfg(test)]
mod test_support;
mod value;
mod wdl;

pub use beam::{Beam, BeamSettings, BeamVerify, rank_with_policy};
pub use control::{Control, CurrentMove, Handicap, Limits, Report, Signal, StopSwitch, TimeLimit};
pub use explanation::{ExplainedMove, Explanation, SearchedMove, VerifiedMove};
pub use iterative_deepening::{Deepening, RootMoves, deepen};
pub use mate_search::find_mate;
pub use model::DefaultWeights;
pub use planner::{Planner, PlannerKind, PlannerSettings, Resources, THREADS_PER_PROCESSOR};
pub use selective::{Part, Parts, SearchParameters, Selective, SelectiveSettings};
pub use tablebase::{EmbeddedTables, MOST_PIECES, Probing, Tablebases};
pub use value::{Bound, Value, terminal_value};
pub use wdl::{WdlModel, material};

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
