//! The selective search: alpha-beta over the latent score with iterative deepening, quiescence
//! search at the leaves, and pruning that increases towards them. The beam cuts to a constant width
//! before it searches the moves; this search prunes by its results.
//!
//! From the root to the leaves: `iteration`, `aspiration`, `search` (one node), `pruning`,
//! `move_loop`, `learning`, `quiescence`. The other modules support these.

mod aspiration;
mod candidate;
mod correction;
mod history;
mod iteration;
mod late_move_table;
mod learning;
mod leaves;
mod move_loop;
mod move_picker;
mod move_pruning;
mod node;
mod parameters;
mod parts;
mod planner;
mod probcut;
mod pruning;
mod quiescence;
mod reductions;
pub(super) mod score;
mod search;
mod settings;
mod shallow;
mod singular;
mod soft_limit;
mod stack;
mod table_tree;
mod tables;
#[cfg(test)]
mod tests;
mod thread;
mod transposition_table;

pub(super) use move_picker::is_quiet;
pub use parameters::{Parameter, SearchParameters};
pub use parts::{Part, Parts};
pub use planner::Selective;
pub(super) use score::{INFINITE, Score};
pub use settings::SelectiveSettings;
pub(super) use shallow::{ANCESTORS, Ancestor, ShallowSearch};
pub(super) use tables::SearchTables;
