//! `azimuth report`: analyses games move by move and writes a self-contained HTML page.

mod analysis;
mod command;
mod faults;
mod game;
mod journal;
mod page;
mod path;

pub(crate) use analysis::{Analyst, Judgement, Stop};
pub use command::ReportCommand;
pub use game::{Game, GameMove, Games};
