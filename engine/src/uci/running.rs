//! Background work: a search or a perft, or an answer that waits.

use super::output::Output;
use super::perft::RunningPerft;
use super::running_search::RunningSearch;
use crate::search::Signal;

/// A background task.
pub enum Running {
    /// A search, which ends with a `bestmove`.
    Search(RunningSearch),
    /// `go perft`.
    Perft(RunningPerft),
    /// The answer to a `go` that needs no search.
    Held(HeldAnswer),
}

/// The `bestmove` of a `go ponder` or `go infinite` that needs no search. UCI does not allow it
/// before `stop` or, while pondering, `ponderhit`.
pub struct HeldAnswer {
    pub answer: String,
    pub output: Output,
    /// Whether `ponderhit` does not release it.
    pub infinite: bool,
    pub is_said: bool,
}

impl HeldAnswer {
    fn say(&mut self) {
        if !std::mem::replace(&mut self.is_said, true) {
            self.output.say(&self.answer);
        }
    }
}

impl Running {
    /// Whether the answer is printed or about to be, so that the next command may wait for it.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::Search(search) => search.is_ending(),
            Self::Perft(perft) => perft.is_ending(),
            Self::Held(held) => held.is_said,
        }
    }

    /// Stops it; it then prints its answer.
    pub fn stop(&mut self) {
        match self {
            Self::Search(search) => search.signal(Signal::Stop),
            Self::Perft(perft) => perft.stop(),
            Self::Held(held) => held.say(),
        }
    }

    /// The opponent has played the move on which the engine ponders. A perft ignores it.
    pub fn ponder_hit(&mut self) {
        match self {
            Self::Search(search) => search.signal(Signal::PonderHit),
            Self::Held(held) if !held.infinite => held.say(),
            Self::Held(_) | Self::Perft(_) => {}
        }
    }
}
