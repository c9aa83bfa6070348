//! Output of labelling progress.

use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::progress_lines::ProgressLines;

/// Whether progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// Show progress on standard error.
    Aloud,
    /// Show nothing, because another task reports progress.
    Silent,
}

impl Talk {
    /// Prints a line.
    pub fn say(self, line: &str) {
        if self == Self::Aloud {
            eprintln!("{line}");
        }
    }

    /// The progress of work in `all` parts.
    pub fn shown(self, all: u64) -> Result<Shown> {
        let style = "{bar:30} {pos}/{len} parts, {msg}, {eta} left";
        let bar = match self {
            Self::Aloud => ProgressBar::new(all),
            Self::Silent => ProgressBar::hidden(),
        };
        bar.set_style(ProgressStyle::with_template(style)?);
        let lines = (self == Self::Aloud).then(ProgressLines::start);
        Ok(Shown { bar, lines, all, began: Instant::now() })
    }
}

/// A progress bar; without a terminal, lines at intervals.
pub struct Shown {
    bar: ProgressBar,
    /// `None` if nothing is shown.
    lines: Option<ProgressLines>,
    all: u64,
    began: Instant,
}

impl Shown {
    /// Shows that `done` parts are done, and `message`.
    pub fn reached(&mut self, done: u64, message: String) {
        let Self { bar, lines, all, began } = self;
        bar.set_position(done);
        if let Some(lines) = lines {
            lines.show(bar, || {
                let left = humantime::format_duration(left(began.elapsed(), done, *all));
                format!("{done} of {all} parts, {message}, {left} left")
            });
        }
        bar.set_message(message);
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// The time left, in whole seconds, if `done` of `all` parts took `elapsed`.
fn left(elapsed: Duration, done: u64, all: u64) -> Duration {
    let seconds = elapsed.as_secs_f64() * (all - done) as f64 / done as f64;
    Duration::from_secs(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_in_proportion() {
        let left = |done| left(Duration::from_secs(60), done, 8).as_secs();
        assert_eq!([1, 2, 7, 8].map(left), [420, 180, 8, 0]);
    }
}
