//! Azimuth: a UCI chess engine that plans in a learned space.
//!
//! [`encoder`] maps a position to a unit vector, [`inference`] batches and caches the scores, and
//! [`search`] chooses a move. [`uci`] is the protocol, [`explain`] gives reasons for moves,
//! [`play`] runs games in a terminal, [`report`] turns games into [`pages`], and [`serve`] shows a
//! board in the browser. Positions are those of `azimuth-chess`; weights and their networks are
//! those of `azimuth-network`. [`command_line`] has functions for the programs' command lines.
//!
//! ```
//! use azimuth::embedded_weights::EmbeddedWeights;
//! use azimuth::inference::Worker;
//! use azimuth::search::{Control, Limits, PlannerKind, PlannerSettings, Resources};
//! use azimuth_chess::position::Position;
//!
//! # fn main() -> anyhow::Result<()> {
//! let root = Position::from_fen("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")?;
//! let weights = EmbeddedWeights::Selective.weights()?;
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

pub mod command_line;
pub mod embedded_weights;
pub mod encoder;
pub mod explain;
pub mod inference;
mod large_memory;
mod map;
pub mod model;
pub mod pages;
pub mod play;
pub mod program;
#[cfg(test)]
mod refusals;
pub mod report;
pub mod search;
pub mod serve;
pub mod session;
pub mod space;
pub mod uci;
