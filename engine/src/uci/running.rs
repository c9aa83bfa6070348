//! Whatever runs beside the conversation: a search, or a count of lines.

use super::perft::RunningPerft;
use super::running_search::RunningSearch;
use crate::search::Signal;

/// What runs.
pub enum Running {
    /// A search, which ends with a `bestmove`.
    Search(RunningSearch),
    /// `go perft`.
    Perft(RunningPerft),
}

impl Running {
    /// Whether its answer is out or soon will be, so that what follows may wait for it.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::Search(search) => search.is_ending(),
            Self::Perft(perft) => perft.is_ending(),
        }
    }

    /// Tells it to answer now.
    pub fn stop(&mut self) {
        match self {
            Self::Search(search) => search.signal(Signal::Stop),
            Self::Perft(perft) => perft.stop(),
        }
    }
}
