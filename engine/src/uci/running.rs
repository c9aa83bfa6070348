//! Background work: a search or a perft.

use super::perft::RunningPerft;
use super::running_search::RunningSearch;
use crate::search::Signal;

/// A background task.
pub enum Running {
    /// A search, which ends with a `bestmove`.
    Search(RunningSearch),
    /// `go perft`.
    Perft(RunningPerft),
}

impl Running {
    /// Whether the answer is printed or about to be, so that the next command may wait for it.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::Search(search) => search.is_ending(),
            Self::Perft(perft) => perft.is_ending(),
        }
    }

    /// Stops it; it then prints its answer.
    pub fn stop(&mut self) {
        match self {
            Self::Search(search) => search.signal(Signal::Stop),
            Self::Perft(perft) => perft.stop(),
        }
    }
}
