//! The tasks of [`super::protocol`]. Each runs on a thread that may block.

mod analyse;
mod beam;
mod play;
mod report;
mod space;
mod why;

use anyhow::{Result, ensure};

use super::outlet::Outlet;
use super::seat::Seat;
use super::task::Line;

pub use analyse::analyse;
pub use beam::beam;
pub use play::play;
pub use report::report;
pub use space::space;
pub use why::why;

/// A task in progress.
pub struct Job<'a> {
    /// The seat that runs its search.
    pub seat: &'a mut Seat,
    /// The page that asked for it.
    pub page: u64,
    /// The page's number for it.
    pub id: u32,
    /// The position, with its game.
    pub line: &'a Line,
    /// Sends the events to the page.
    pub outlet: &'a Outlet,
}

impl Job<'_> {
    /// Fails if the position has no legal move.
    fn ensure_goes_on(&self) -> Result<()> {
        ensure!(self.line.last.has_legal_move(), "the game is over");
        Ok(())
    }
}
