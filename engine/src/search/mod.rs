//! The search: chooses a move for a position within limits, and reports while it runs. Two planners
//! implement one interface: `beam` (the paper's) and `selective` (alpha-beta). Both use the other
//! modules.

mod beam;
mod bound;
mod control;
mod explanation;
mod factory;
mod handicap;
mod iterative_deepening;
mod planner;
mod report;
mod root_moves;
mod scoped_thread;
mod selective;
mod settings;
mod static_value;
mod tablebase;
mod terminal;
#[cfg(test)]
mod test_workers;
mod value;
mod wdl;
mod wdl_fit;

pub use beam::{Beam, BeamSettings, BeamVerify};
pub use bound::Bound;
pub use control::{Control, Limits, Signal, StopSwitch, TimeLimit};
pub use explanation::{ExplainedMove, Explanation, SearchedMove, VerifiedMove};
pub use handicap::Handicap;
pub use iterative_deepening::{Deepening, deepen};
pub use planner::{Planner, Resources, THREADS_PER_PROCESSOR};
pub use report::{CurrentMove, Report};
pub use root_moves::RootMoves;
pub use selective::{Parameter, Part, Parts, SearchParameters, Selective, SelectiveSettings};
pub use settings::{PlannerKind, PlannerSettings};
pub use tablebase::{MOST_PIECES, Probing, Tablebases};
pub use terminal::terminal_value;
pub use value::Value;
pub use wdl::{WdlModel, material};
