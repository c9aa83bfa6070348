//! `azimuth report`: analyses games move by move and writes a self-contained HTML page.

mod analysis;
mod command;
mod game;
mod journal;
mod page;

pub use analysis::{Analyst, Judged, Stop};
pub use command::ReportCommand;
pub use game::{Game, LONGEST_GAME};

pub use crate::explain::expected_score;
