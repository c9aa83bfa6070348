//! The two-headed network (seed document 004, sections 2.3.2 and 2.3.3): a residual tower with a
//! policy head and a value head, under Monte Carlo tree search. It learns from labelled games and
//! then from self-play.

mod model;
mod self_play;
mod training;

pub use model::planner;
pub use training::train;
