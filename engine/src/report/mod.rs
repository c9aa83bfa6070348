//! `azimuth report`: analyses games move by move and writes a self-contained HTML page.

mod analysis;
#[cfg(not(target_family = "wasm"))]
mod command;
mod game;
mod page;

pub use analysis::{Analyst, CLOSER_LOOK, Judged, Stop};
#[cfg(not(target_family = "wasm"))]
pub use command::ReportCommand;
pub use game::{Game, LONGEST_GAME};
#[cfg(not(target_family = "wasm"))]
pub use page::{PAGE_SCRIPT, PAGE_STYLE};
