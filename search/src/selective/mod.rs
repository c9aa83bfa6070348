//! The selective search: alpha-beta over the latent score with iterative deepening, quiescence
//! search at the leaves, and pruning that increases towards them. The beam cuts to a constant width
//! before it searches the moves; this search prunes by its results.
//!
//! From the root to the leaves: `iteration`, `search` (one node and its pruning), `move_loop`,
//! `quiescence`. The other modules support these.

mod history;
mod iteration;
mod learning;
mod move_loop;
mod move_picker;
mod parameters;
mod planner;
mod quiescence;
pub(super) mod score;
mod search;
mod shallow;
#[cfg(test)]
mod tests;
mod thread;
mod transposition_table;

pub(super) use move_picker::is_quiet;
pub use parameters::{Part, Parts, SearchParameters, SelectiveSettings};
pub use planner::Selective;
pub(super) use score::{INFINITE, Score};
pub(super) use shallow::{ANCESTORS, Ancestor, ShallowSearch};
pub(super) use thread::SearchTables;
