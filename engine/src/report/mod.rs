//! `azimuth report`: games looked at move by move, as one page that needs nothing else.

mod analysis;
mod command;
mod game;
mod page;
mod path;

pub use command::ReportCommand;
pub use game::{Game, GameMove, read_games};
