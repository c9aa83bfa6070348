//! The search: chooses a move for a position within limits, and reports while it runs. Two planners
//! implement one interface: `beam` (the paper's) and `selective` (alpha-beta). Both use the other
//! modules.

mod beam;
mod control;
mod explanation;
mod iterative_deepening;
mod planner;
mod scoped_thread;
mod selective;
mod tablebase;
#[cfg(test)]
mod test_workers;
mod value;
mod wdl;

pub use beam::{Beam, BeamSettings, BeamVerify};
pub use control::Handicap;
pub use control::{Control, Limits, Signal, StopSwitch, TimeLimit};
pub use explanation::{ExplainedMove, Explanation, SearchedMove, VerifiedMove};
pub use iterative_deepening::RootMoves;
pub use iterative_deepening::{Deepening, deepen};
pub use planner::{CurrentMove, Report};
pub use planner::{Planner, Resources, THREADS_PER_PROCESSOR};
pub use planner::{PlannerKind, PlannerSettings};
pub use selective::{Parameter, Part, Parts, SearchParameters, Selective, SelectiveSettings};
pub use tablebase::{MOST_PIECES, Probing, Tablebases};
pub use value::Bound;
pub use value::Value;
pub use value::terminal_value;
pub use wdl::{WdlModel, material};
