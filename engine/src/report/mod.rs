//! `azimuth report`: analyses games move by move and writes a self-contained HTML page.

mod analysis;
#[cfg(not(target_family = "wasm"))]
mod command;
mod game;
mod journal;
mod page;

pub use analysis::{Analyst, CLOSER_LOOK, Judged, Stop};
#[cfg(not(target_family = "wasm"))]
pub use command::ReportCommand;
pub use game::{Game, LONGEST_GAME};

pub use crate::explain::expected_score;
