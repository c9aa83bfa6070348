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
mod scoped_thread;
mod selective;
mod tablebase;
#[cfg(test)]
mod test_support;
mod value;
mod wdl;

pub use beam::{Beam, BeamSettings, BeamVerify, rank_with_policy};
pub use control::{Control, Handicap, Limits, Signal, StopSwitch, TimeLimit};
pub use explanation::{ExplainedMove, Explanation, SearchedMove, VerifiedMove};
pub use iterative_deepening::{Deepening, RootMoves, deepen};
pub use mate_search::find_mate;
pub use model::DefaultWeights;
pub use planner::{
    CurrentMove, Planner, PlannerKind, PlannerSettings, Report, Resources, THREADS_PER_PROCESSOR,
};
pub use selective::{Parameter, Part, Parts, SearchParameters, Selective, SelectiveSettings};
pub use tablebase::{EmbeddedTables, MOST_PIECES, Probing, Tablebases};
pub use value::{Bound, Value, terminal_value};
pub use wdl::{WdlModel, material};
