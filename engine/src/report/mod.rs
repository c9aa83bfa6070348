//! `azimuth report`: analyses games move by move and writes a self-contained HTML page.

mod analysis;
mod command;
mod faults;
mod game;
mod journal;
mod judged;
mod page;

pub(crate) use analysis::{Analyst, Stop};
pub use command::ReportCommand;
pub use game::{Game, Games};
pub(crate) use judged::Judged;
