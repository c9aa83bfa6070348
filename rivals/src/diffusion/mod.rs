//! DiffuSearch (seed document 003, section 4; Ye et al. 2025): discrete diffusion over a sequence
//! of state, action, next state, next action and so on. The first state is given. All other tokens
//! start masked (absorbing noise) and are unmasked step by step. The first action is played. The
//! predicted future replaces the search.

mod model;
mod training;

pub use model::planner;
pub use training::train;
