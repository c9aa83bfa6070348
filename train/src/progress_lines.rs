//! Progress lines where standard error is no terminal for a bar.

use std::time::{Duration, Instant};

use azimuth_cli::say;
use indicatif::ProgressBar;

/// Time between lines.
const BETWEEN: Duration = Duration::from_secs(15);

/// Prints a line at intervals.
pub struct ProgressLines {
    last: Instant,
}

impl ProgressLines {
    /// Lines that begin one interval from now.
    pub fn start() -> Self {
        Self { last: Instant::now() }
    }

    /// Prints `line` if `bar` is not visible and the last line is old enough.
    pub fn show(&mut self, bar: &ProgressBar, line: impl FnOnce() -> String) {
        if bar.is_hidden() && self.last.elapsed() > BETWEEN {
            say(line());
            self.last = Instant::now();
        }
    }
}
